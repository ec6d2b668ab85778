"""Presolve of the root by probing: cases of which one must hold are propagated, and the consequences of all cases are
kept (kernels/search/presolve.h, docs/design/presolve.md).

It works between two fixpoints of the simplifier, on the rows of the first fixpoint.

* All truths are probed: failed literals, bounds that both values have, and truths that imply each other.
* Where a variable has no bounds, the truths within two rows of it are probed. An if-then-else bounds its result in each
  of its branches, and propagation alone does not find these bounds; but without bounds no block could learn.

Work is counted and not timed, so that runs can be repeated; it ends sooner only after too many seconds, as on a slow
machine.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from turbo_fzn.base.domains import INFINITY
from turbo_fzn.engine import root
from turbo_fzn.engine.abi.search_records import Implied
from turbo_fzn.engine.probing import Budget, Found, equal_truths, probe
from turbo_fzn.engine.root import Box, Propagator
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.run.interruptible import call_kernels
from turbo_fzn.run.roles import NO_BOUNDS, obstacle_to_learning
from turbo_fzn.run.tuning import TUNING
from turbo_fzn.tnf.language import ELEMENT, TNF
from turbo_fzn.tnf.simplify import Probed

log = logging.getLogger("turbo_fzn")

NO_PAIRS = np.empty((0, 2), np.int64)


class Presolve:
    """The presolve of one model, as callbacks of the simplifier: `propagate`, then `probe`."""

    def __init__(self, tnf: TNF, options: Options, interrupt: Interrupt):
        self.interrupt = interrupt
        self.wants_truths = options.proof is None and tnf.floats is None
        self.wants_bounds = options.proof is None and obstacle_to_learning(tnf, options) == NO_BOUNDS
        self.box: Box | None = None  # the box of the root so far; None if it has no solution
        self.n_probes = self.n_failed = 0
        self.n_unbounded = (0, 0)  # variables without bounds, before and after
        self.n_fixed = 0
        self.equal = NO_PAIRS
        self.implications = np.empty((0, 2), np.int32)  # pairs of literals, of which the first implies the second
        self.seconds = 0.0

    def propagate(self, tnf: TNF) -> Box | None:
        """The root fixpoint, from which `probe` begins."""
        self.tnf = tnf
        self.box = call_kernels(tnf, self.interrupt, self._propagated)
        return self.box

    def _propagated(self, stop: root.Stop) -> Box | None:
        self.propagator = Propagator(self.tnf, stop)
        return self.propagator(self.tnf.lower, self.tnf.upper)

    def probe(self) -> Probed | None:
        """Facts about all solutions found by probing; None if there is no solution."""
        before = self.box
        if self.wants_bounds:
            self._bound_variables()
        if self.wants_truths and self.box is not None:
            self._probe_truths()
        if self.box is None or before is None:
            return None
        self.n_fixed = int(np.count_nonzero((self.box[0] == self.box[1]) & (before[0] < before[1])))
        return Probed(*self.box, self.equal)

    def report(self) -> None:
        """Logs the line of `-v`, if something was probed."""
        if self.n_probes == 0:
            return
        counts = self.seconds, self.n_probes, self.n_failed, self.n_fixed, len(self.equal)
        before, after = self.n_unbounded
        bounded = f", variables without bounds: {before}, then {after}" if before else ""
        log.info("presolve: %.2f s, %d probes, %d failed, %d variables fixed, %d equal%s", *counts, bounded)

    def _run(self, groups: Sequence[Sequence[int]] | np.ndarray, budget: Budget, seconds: float) -> Found:
        """Probes the groups from the root, which becomes tighter."""

        def work(stop: root.Stop) -> Found:
            self.propagator.obey(stop)
            assert self.box is not None, "the root has no solution"
            return probe(self.propagator, self.box, groups, budget)

        start = time.monotonic()
        found = call_kernels(self.tnf, self.interrupt, work, seconds)
        self.seconds += time.monotonic() - start
        self.box = found.box
        self.n_probes += found.n_probes
        self.n_failed += found.n_failed
        return found

    # All truths

    def _probe_truths(self) -> None:
        """Probes all truths, in an order that mixes the truths of different constraints, while that is worth the
        work."""
        truths = mixed(np.flatnonzero(truths_in(self.box)))
        if len(truths) == 0:
            return
        work = TUNING.truth_work + TUNING.truth_work_per_row * self.tnf.n_rows
        most = TUNING.most_rewards * work
        budget = Budget(work, TUNING.reward, most, probe_work=max(work // TUNING.truth_cases, 1))
        found = self._run(2 * truths + 1, budget, self._seconds_left())
        if self.box is not None and len(found.implied):
            self.implications = found.implications()
            equal = equal_truths(self.propagator, self.tnf.n_vars, self.implications)
            self.box = None if equal is None else self.box
            self.equal = NO_PAIRS if equal is None else equal

    def _seconds_left(self) -> float:
        seconds = TUNING.presolve_seconds + TUNING.presolve_seconds_per_row * self.tnf.n_rows
        return max(seconds - self.seconds, 0)

    # Variables without bounds

    def _bound_variables(self) -> None:
        """Probes truths near variables without bounds, while that finds bounds."""
        n_before = n_left = int(self._unbounded().sum())
        budget = budget_for(TUNING.probe_work + TUNING.probe_work_per_row * self.tnf.n_rows)
        while n_left and budget.work > 0:
            found = self._bounding(2 * self._truths_near() + 1, budget)
            if self.box is not None:
                found = self._bounding(self._choices(found.implied), replace(budget, work=found.work))
            budget = replace(budget, work=found.work)
            n_last, n_left = n_left, int(self._unbounded().sum())
            if n_left == n_last:
                break
        self.n_unbounded = n_before, n_left

    def _bounding(self, groups: Sequence[Sequence[int]] | np.ndarray, budget: Budget) -> Found:
        return self._run(groups, budget, self._seconds_left())

    def _unbounded(self) -> np.ndarray:
        """The variables (bool [n]) that lack a bound; all False if there is no solution."""
        if self.box is None:
            return np.zeros(self.tnf.n_vars, bool)
        return (self.box[0] <= -INFINITY) | (self.box[1] >= INFINITY)

    def _truths_near(self) -> np.ndarray:
        """The truths within two rows of a variable without bounds (int64 [k]); the second row is the row of a truth."""
        is_truth = truths_in(self.box)
        near = beside(self.tnf, self._unbounded()) & is_truth
        return np.flatnonzero((near | beside(self.tnf, near)) & is_truth)

    def _choices(self, implied: np.ndarray) -> list[list[int]]:
        """For each missing bound: the literals that imply it, as a group whose cases may all have the bound."""
        unbounded = self._unbounded()
        literals: dict[tuple[int, int], set[int]] = {}
        for literal, variable, kind in implied[implied[:, 2] >= Implied.LOWER].tolist():
            if unbounded[variable]:
                literals.setdefault((variable, kind), set()).add(literal)
        groups = {tuple(sorted(group)) for group in literals.values() if 1 < len(group) <= TUNING.group}
        return [list(group) for group in sorted(groups)]


def budget_for(work: int) -> Budget:
    return Budget(work, probe_work=max(work // TUNING.probe_cases, 1))


def truths_in(box: Box | None) -> np.ndarray:
    """The variables (bool [n]) that may be 0 or 1."""
    assert box is not None, "the root has no solution"
    return (box[0] == 0) & (box[1] == 1)


def mixed(numbers: np.ndarray) -> np.ndarray:
    """The numbers (int64 [k], none negative) in an order that scatters neighbours, by multiplicative hashing (Knuth,
    The Art of Computer Programming 3, 6.4): numpy.random would take time to import."""
    golden = np.uint64(0x9E3779B97F4A7C15)  # 2^64 by the golden ratio, odd
    return numbers[np.argsort(numbers.astype(np.uint64) * golden, kind="stable")]


def beside(tnf: TNF, variables: np.ndarray) -> np.ndarray:
    """The variables in a row with one of these (bool [n] each)."""
    named = np.stack((tnf.x, tnf.y, np.where(tnf.op == ELEMENT, tnf.y, tnf.z)), axis=1)
    found = np.zeros(len(variables), bool)
    found[named[variables[named].any(axis=1)]] = True
    return found
