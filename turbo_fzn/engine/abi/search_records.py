"""The records of a block's search: decisions, its trail, its choice points. A part of abi.py."""

import ctypes
from enum import IntEnum
from typing import Annotated

from turbo_fzn.engine.abi.records import Bounded, Times, bound_t, i32, i64, pointer, record


@record()
class Decision(Bounded):
    """`var` is restricted to lower..upper."""

    lower: bound_t
    upper: bound_t
    var: i32


@record()
class TrailEntry(Bounded):
    """The bounds that `var` had."""

    lower: bound_t
    upper: bound_t
    var: i32


@record()
class Level(Bounded):
    """A choice point: the alternatives not tried yet, and the state to restore when it is left."""

    lower: Annotated[bound_t, Times(2)]  # alternatives, the last one in place 0
    upper: Annotated[bound_t, Times(2)]
    var: i32
    pending: i32

    trail_start: i32
    path_start: i32
    retired_start: i32

    strategy: i32
    position: i32
    output_position: i32  # place of the first unfixed output variable before the choice


class Implied(IntEnum):
    """A consequence of a literal: a truth is false, or true; a variable gets its first lower, or upper bound."""

    FALSE = 0
    TRUE = 1
    LOWER = 2
    UPPER = 3


@record()
class Probes(ctypes.Structure):
    """A task of probing at the root (search/presolve.h): groups of literals, what they may cost, and what was found.
    Work is counted in propagations, and in variables that a case changes. A literal is twice a truth, plus its value.
    """

    literals: Annotated[pointer, "const i32"]
    starts: Annotated[pointer, "const i32"]  # for each group and one more: where its literals begin
    implied: Annotated[pointer, "i32"]  # three numbers each: a literal, another variable, and an Implied
    work: i64  # that is left
    reward: i64  # more of it, for each variable of the root that becomes fixed
    most_rewards: i64  # in total
    probe_work: i64  # of a case, at most
    n_groups: i32
    next: i32  # the first group that was not looked at
    n_probes: i32  # groups that were probed
    n_failed: i32  # cases without a solution
    n_implied: i32
    most_implied: i32
    infeasible: i32  # whether the root has no solution
