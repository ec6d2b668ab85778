"""Probing of the root by the kernels (kernels/search/presolve.h), on one CPU thread.

A group of literals has the cases that each of them is true, and that all are false; all variables lie in the hull of
these. A literal is twice a variable in 0..1, plus the value that makes it true.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from turbo_fzn.engine.abi.abi import Probes
from turbo_fzn.engine.abi.search_records import Implied
from turbo_fzn.engine.root import Box, Propagator, has_solutions
from turbo_fzn.engine.tuning import TUNING


@dataclass(frozen=True, eq=False, repr=False)
class Budget:
    """The work that probing may cost: propagations, and variables that a case changes.

    work: without rewards; reward: additional work for each variable of the root that becomes fixed; most_rewards: the
    most rewards in total; probe_work: the most work of one case."""

    work: int
    reward: int = 0
    most_rewards: int = 0
    probe_work: int = 2**62


@dataclass(eq=False, repr=False)
class Found:
    """The result of probing: the root's box, None if it has no solution.

    implied: consequences of literals that are groups alone, and of their opposites (int32 [k, 3]: the literal, another
    variable, an Implied), the first `implied`. n_probes: groups that were probed; n_failed: cases of them without a
    solution; n_tried: groups that were visited; work: the remaining work."""

    box: Box | None
    implied: np.ndarray
    n_probes: int
    n_failed: int
    n_tried: int
    work: int

    def implications(self) -> np.ndarray:
        """Pairs of literals (int32 [k, 2]), the first of which implies the second."""
        literal, variable, kind = self.implied[self.implied[:, 2] <= Implied.TRUE].T
        return np.stack((literal, 2 * variable + kind), axis=1)


def equal_truths(propagator: Propagator, n_vars: int, implications: np.ndarray) -> np.ndarray | None:
    """Pairs of truths that have the same value in all solutions (int64 [k, 2]), from pairs of literals of which the
    first implies the second: truths whose literals imply each other, also transitively. None if a literal and its
    negation do, so that there is no solution. As few pairs as connect each class."""
    component = np.empty(2 * n_vars, np.int32)
    pairs = np.ascontiguousarray(implications, np.int32)
    arguments = 2 * n_vars, len(pairs), pairs.ctypes.data, component.ctypes.data
    has_solutions(propagator.library.connect_literals(*arguments))
    if np.any(component[::2] == component[1::2]):
        return None
    order = np.argsort(component[1::2], kind="stable")
    of_order = component[1::2][order]
    same = of_order[1:] == of_order[:-1]
    return np.stack((order[:-1], order[1:]), axis=1)[same]


def probe(propagator: Propagator, box: Box, groups: Sequence[Sequence[int]] | np.ndarray, budget: Budget) -> Found:
    """Probes groups of literals, in order, from a fixpoint of all rows (int64 [n] each); an array [k] has groups of one
    literal each. A stop ends it early, with bounds that hold. Raises EngineError without memory."""
    single = isinstance(groups, np.ndarray)
    sizes = np.ones(len(groups), np.int64) if single else np.array([len(group) for group in groups], np.int64)
    literals = np.array(groups if single else [literal for group in groups for literal in group], np.int32)
    starts = np.concatenate(([0], np.cumsum(sizes))).astype(np.int32)
    implied = np.empty((TUNING.implied, 3), np.int32)
    lower, upper = (bound.astype(propagator.layout.bound_type) for bound in box)
    task = Probes(
        literals=literals.ctypes.data,
        starts=starts.ctypes.data,
        n_groups=len(groups),
        implied=implied.ctypes.data,
        most_implied=len(implied),
        work=budget.work,
        reward=budget.reward,
        most_rewards=budget.most_rewards,
        probe_work=budget.probe_work,
    )
    outcome = propagator.library.probe_root(
        ctypes.byref(propagator.problem), ctypes.byref(task), lower.ctypes.data, upper.ctypes.data
    )
    has_solutions(outcome)
    tightened = None if task.infeasible else (lower.astype(np.int64), upper.astype(np.int64))
    return Found(tightened, implied[: task.n_implied], task.n_probes, task.n_failed, task.next, task.work)
