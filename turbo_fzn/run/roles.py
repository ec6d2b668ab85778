"""The blocks of the CPU engine that learn from conflicts, and their roles (kernels/learn, docs/design/learning.md).

A prover restarts often and probes the objective's bound, a finder restarts rarely and stays near the incumbent, a
follower makes the annotation's decisions, a block for cores seeks terms of the objective that cannot all be small; a
soloist does all of these in turn. The other blocks search the tree and neighbourhoods (policy.py decides how many).
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import cycle, islice
from typing import NamedTuple

import numpy as np

from turbo_fzn.base.domains import INFINITY
from turbo_fzn.base.errors import UsageError
from turbo_fzn.engine.abi.abi import DECISION_SETS, LEARNERS
from turbo_fzn.options.options import Options
from turbo_fzn.options.spellings import no_such
from turbo_fzn.run.tuning import TUNING
from turbo_fzn.tnf.goal import goal_of
from turbo_fzn.tnf.language import TNF

# With an annotation and without free search: the roles in optimisation (True) and in satisfaction.
AS_ANNOTATED: dict[bool, tuple[str, ...]] = {True: ("follower",), False: ()}


# The sets of variables that learners decide first, with equal work each
# (docs/design/learning.md#what-is-decided-first).
IN_TURN = ("all", "truths", "labelled")


NO_BOUNDS = "a variable has no bounds"


class Learner(NamedTuple):
    """A block that learns: its role, the sets of variables that it decides first, with equal work each, and whether it
    has fused rows (tnf/fuse.py)."""

    role: str
    sets: tuple[str, ...] = IN_TURN
    fused: bool = True


# The learners of free search, in the order in which they join, and then from the start again. Some keep to one set,
# since a proof that needs it takes several times as long where sets change (docs/measurements/learning.md#teams).
TEAM = (
    Learner("prover"),
    Learner("finder", ("all",)),
    Learner("finder", ("labelled",)),
    Learner("cores", ("labelled",)),
    Learner("follower", ("all",)),
    Learner("finder", ("truths",)),
    Learner("follower", ("labelled",)),
)
# Where only learners search; also used cyclically.
ALONE = (Learner("soloist"), Learner("finder", ("all",)), Learner("prover"), Learner("follower"), Learner("cores"))


def with_rows_by_turns(learners: Iterable[Learner]) -> tuple[Learner, ...]:
    """The learners, about half of which have fused rows, since neither way is better on all models: with fewer
    variables a learner is faster, with more its clauses can be stronger. A learner with an earlier equal has the other
    kind of rows than the last of these; a new learner has the kind of rows that fewer learners have, fused rows if it
    is the first."""
    chosen: list[Learner] = []
    last: dict[Learner, bool] = {}
    for learner in learners:
        fused = not last[learner] if learner in last else 2 * sum(one.fused for one in chosen) <= len(chosen)
        last[learner] = fused
        chosen.append(learner._replace(fused=fused))
    return tuple(chosen)


def named_learner(text: str) -> Learner:
    """The learner of a text such as `finder` or `finder:all+truths`. Raises UsageError for an unknown name."""
    role, colon, sets = text.partition(":")
    learner = Learner(role, tuple(sets.split("+"))) if colon else Learner(role)
    if role not in LEARNERS:
        raise UsageError(no_such("--learn: no role", {role}, LEARNERS, ("auto", "off")))
    if unknown := set(learner.sets) - set(DECISION_SETS):
        raise UsageError(no_such("--learn: no set", unknown, DECISION_SETS))
    return learner


def names_of(options: Options) -> tuple[str, ...]:
    """The names in --learn."""
    return tuple(options.learn.replace(",", " ").split())


def named_learners(options: Options) -> tuple[Learner, ...]:
    """The learners that --learn names; none for `auto` and `off`. Raises UsageError for an unknown name."""
    named = names_of(options)
    return () if named in (("auto",), ("off",)) else tuple(map(named_learner, named))


def choose_learners(
    tnf: TNF, options: Options, blocks: int, free: bool, beside_gpu: bool = False, is_rank: bool = False
) -> tuple[Learner, ...]:
    """The blocks that learn, at most `blocks`; `is_rank`: this is one of several ranks. Raises UsageError for an
    unknown role or set."""
    named = named_learners(options)
    if not can_learn(tnf, options):
        return ()
    if names_of(options) != ("auto",):
        return named[:blocks]
    if free:
        return _team(tnf, blocks, _others(blocks, beside_gpu, is_rank))
    return tuple(map(Learner, AS_ANNOTATED[tnf.sense != 0] if tnf.annotated and not is_rank else ()))


def can_learn(tnf: TNF, options: Options) -> bool:
    """Whether blocks may learn."""
    return obstacle_to_learning(tnf, options) is None


def obstacle_to_learning(tnf: TNF, options: Options) -> str | None:
    """The reason why no block may learn, or None: not if all solutions are wanted, if a bound is infinite, or if there
    are real variables; nor with --variant, which does not affect learners, unless --learn names them."""
    if names_of(options) == ("off",):
        return "--learn off"
    if options.variant and names_of(options) == ("auto",):
        return "--variant is for other engines"
    if tnf.floats is not None:
        return "there are real variables"
    if tnf.sense == 0 and not options.solution_limit() == options.optimal_limit() == 1:
        return "several solutions are wanted"
    return NO_BOUNDS if len(unbounded(tnf)) else None


def unbounded(tnf: TNF) -> np.ndarray:
    """The variables (int64 [k]) without a lower or an upper bound."""
    return np.flatnonzero((tnf.lower <= -INFINITY) | (tnf.upper >= INFINITY))


def choose_alone(options: Options, blocks: int, free: bool, methods: frozenset[str]) -> tuple[Learner, ...]:
    """The blocks where all of them learn: the roles that --learn names, or each of `methods` in turn, after a follower
    where the annotation leads. Empty if --without excludes all."""
    named = tuple(learner for learner in named_learners(options) if learner.role in methods)
    if names_of(options) != ("auto",):
        return named[:blocks]
    members = [learner for learner in ALONE if learner.role in methods]
    first = [] if free else [learner for learner in members if learner.role == "follower"]
    return tuple([*first, *islice(cycle(members), blocks)][:blocks])


def _others(blocks: int, beside_gpu: bool, is_rank: bool) -> int:
    """The number of blocks that do not learn in free search. A GPU has enough blocks for other methods."""
    return 1 if beside_gpu else max(1, blocks // (TUNING.rank_others if is_rank else TUNING.others))


def _team(tnf: TNF, blocks: int, others: int) -> tuple[Learner, ...]:
    """The learners of free search: all blocks but `others`; with few blocks a soloist. Where the objective is no sum, a
    block for cores is replaced by a prover."""
    if blocks < TUNING.least_team:
        return (Learner("soloist"),)
    has_cores = bool(goal_of(tnf))
    members = [one if one.role != "cores" or has_cores else Learner("prover", one.sets) for one in TEAM]
    return tuple(islice(cycle(members), blocks - others))
