"""The records of a block's search: decisions, its trail, its choice points. A part of abi.py."""

from typing import Annotated

from turbo_fzn.engine.abi.records import Bounded, Times, bound_t, i32, record


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
