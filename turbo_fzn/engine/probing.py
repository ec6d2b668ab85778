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


@dataclass(frozen=True)
class Budget:
    """The work that probing may cost: propagations, and variables that a case changes.

    work: without rewards; reward: more, for each variable of the root that becomes tighter; most_rewards: in total;
    probe_work: of one case, at most."""

    work: int
    reward: int = 0
    most_rewards: int = 0
    probe_work: int = 2**62


@dataclass
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

    def equal(self) -> np.ndarray:
        """Pairs of truths (int64 [k, 3]): two variables, and 1 where they are opposite, 0 where they are equal."""
        literal, variable, kind = self.implied[self.implied[:, 2] <= Implied.TRUE].astype(np.int64).T
        truth, value = literal >> 1, literal & 1
        keys = np.stack((truth, variable, kind ^ value), axis=1)
        pairs = [np.unique(keys[value == one], axis=0) for one in (0, 1)]
        rows, counts = np.unique(np.concatenate(pairs), axis=0, return_counts=True)
        return rows[counts == 2]


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
