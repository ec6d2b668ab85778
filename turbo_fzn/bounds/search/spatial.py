"""Branch and bound over boxes with real variables (spatial branch and bound: Horst and Tuy 1990; Tawarmalani and
Sahinidis 2002), every leaf of it proved.

For each box, narrowed by propagation, the linear rows of envelopes.py are made anew, since they are tighter in smaller
boxes. HiGHS suggests multipliers of the rows; the bound is computed from the sum of the rows with these multipliers in
exact integers (`prove`), so rounding cannot make it false. A box is divided at an integer variable that is fractional
at the linear program's point, else at a factor of the product that the point violates most. The point itself is
offered: propagation in a small box around it may find a solution.

Bounds of the objective are here the bounds in the store, times the sense: codes where the objective is real.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from turbo_fzn.base import floats
from turbo_fzn.base.domains import INFINITY
from turbo_fzn.bounds.lp.exact import Row
from turbo_fzn.bounds.lp.highs import Answer, Outcome, solve_reals
from turbo_fzn.bounds.reals.certificate import FAR, is_refuted, limits, prove
from turbo_fzn.bounds.reals.elimination import reaches_far
from turbo_fzn.bounds.reals.envelopes import Box, Envelopes, real_variables
from turbo_fzn.bounds.search.listener import NO_SOLUTION
from turbo_fzn.bounds.search.tuning import TUNING
from turbo_fzn.tnf.language import FLOAT_MUL, MUL, TNF

Store = tuple[np.ndarray, np.ndarray]  # the bounds (int64 [n] each) of all variables


class Search(Protocol):
    """The interface through which the tree uses its driver."""

    best: int  # solutions with a sense * objective below this are wanted

    def narrow(self, lower: np.ndarray, upper: np.ndarray) -> Store | None: ...

    def offer(self, lower: np.ndarray, upper: np.ndarray, point: np.ndarray) -> None: ...

    def is_done(self) -> bool: ...

    def count_ray(self, is_proof: bool) -> None: ...


class SpatialTree:
    """The open boxes of a TNF's root. `bound` is a lower bound of sense * objective in solutions better than the best
    known; None where no such solution exists."""

    def __init__(self, tnf: TNF, search: Search):
        assert tnf.floats is not None
        self.tnf, self.search, self.real = tnf, search, real_variables(tnf)
        self.numbers = itertools.count()
        self.open: list[tuple[int, int, Store]] = []
        self.enclosed: Store | None = None  # bounds of better solutions from linear programs
        self.stuck: int | None = None  # the least bound of boxes that cannot be divided
        self.n_nodes, self.probing = 0, 0.0
        self.envelopes, self.diving = Envelopes(tnf), Envelopes(tnf)
        self.accuracy = tnf.floats.width / 8  # an error of a product up to this is ignored; relative beyond 1
        self.products = np.flatnonzero((tnf.op == MUL) | (tnf.op == FLOAT_MUL))
        self.is_constant = (tnf.op == FLOAT_MUL)[self.products] & ~self.real[tnf.x[self.products]]
        self.push(-INFINITY, (tnf.lower, tnf.upper))

    def push(self, bound: int, store: Store) -> None:
        heapq.heappush(self.open, (bound, next(self.numbers), store))

    @property
    def bound(self) -> int | None:
        bounds = [self.open[0][0]] if self.open else []
        bounds += [] if self.stuck is None else [self.stuck]
        return min(bounds, default=None)

    def can_rise(self) -> bool:
        """Whether dividing a box can raise the bound."""
        return bool(self.open) and (self.stuck is None or self.open[0][0] < self.stuck)

    def is_full(self) -> bool:
        return len(self.open) * self.tnf.n_vars * 16 > TUNING.box_bytes

    def step(self) -> None:
        """Takes the box with the least bound, and replaces it by its parts where it is not closed."""
        bound, _, store = heapq.heappop(self.open)
        if bound >= self.search.best:
            return
        self.n_nodes += 1
        narrowed = self.search.narrow(*self.within(store))
        if narrowed is None:
            return
        box = Box(self.tnf, *narrowed)
        rows = self.envelopes.rows(box)
        answer = self.solve(box, rows)
        if answer.outcome is Outcome.INFEASIBLE:
            refuted = is_refuted(rows, box, answer.duals)
            self.search.count_ray(refuted)
            if refuted:
                return
        if answer.outcome is Outcome.OPTIMAL:
            bound = max(bound, self.prove(rows, box, answer.duals))
            self.search.offer(*narrowed, answer.values)
        if bound < self.search.best:
            self.divide(bound, narrowed, box, answer)
            if self.n_nodes & (self.n_nodes - 1) == 0 and answer.outcome is Outcome.OPTIMAL:
                self.dive(narrowed, answer.values)

    def within(self, store: Store) -> Store:
        """The part of a box within the bounds of better solutions from linear programs of the root. They are solved
        once, when a solution is known."""
        if self.enclosed is None and self.search.best < NO_SOLUTION:
            self.enclosed = self.tnf.lower, self.tnf.upper
            if reaches_far(self.tnf):
                from turbo_fzn.bounds.reals.enclosure import (
                    enclose,  # only here: few models have variables without bounds
                )

                self.enclosed = enclose(self.tnf, self.search.best, self.search.is_done)
        if self.enclosed is None:
            return store
        (low, high), (lower, upper) = self.enclosed, store
        return np.maximum(low, lower), np.minimum(high, upper)

    def dive(self, store: Store, values: np.ndarray) -> None:
        """Seeks a first solution (Achterberg 2007, section 9.2): fixes the fractional integer nearest to an integer,
        and solves the linear program again, until none is left."""
        while not self.search.is_done():
            lower, upper = store
            apart = np.where(self.real | (lower == upper), np.inf, np.abs(values - np.rint(values)))
            v = int(np.where(apart > TUNING.box_fractional, apart, np.inf).argmin())
            if not TUNING.box_fractional < apart[v] < 1:
                return self.search.offer(lower, upper, values)
            nearest, other = sorted(
                (int(np.floor(values[v])), int(np.ceil(values[v]))), key=lambda n: abs(n - values[v])
            )
            found = self.fix(store, v, nearest) or self.fix(store, v, other)
            if found is None:
                return None
            store, values = found
        return None

    def fix(self, store: Store, v: int, value: int) -> tuple[Store, np.ndarray] | None:
        """The narrowed box and its linear program's point where a variable has this value; None where the box is empty
        or the program has no optimum."""
        lower, upper = store[0].copy(), store[1].copy()
        lower[v] = upper[v] = value
        narrowed = self.search.narrow(lower, upper)
        if narrowed is None:
            return None
        box = Box(self.tnf, *narrowed)
        answer = self.solve(box, self.diving.rows(box))
        return (narrowed, answer.values) if answer.outcome is Outcome.OPTIMAL else None

    def solve(self, box: Box, rows: Sequence[Row]) -> Answer:
        cost = np.zeros(self.tnf.n_vars)
        cost[self.tnf.objective] = self.tnf.sense
        return solve_reals(cost, *limits(box), rows, self.search.is_done)

    def prove(self, rows: Sequence[Row], box: Box, duals: np.ndarray) -> int:
        """A proved bound of the box, or -INFINITY."""
        tnf = self.tnf
        least = prove(rows, {tnf.objective: tnf.sense}, box, duals)
        if least is None:
            return -INFINITY
        return floats.below(least) if self.real[tnf.objective] else -(-least.numerator // least.denominator)

    def divide(self, bound: int, store: Store, box: Box, answer: Answer) -> None:
        """Pushes two boxes: x <= value and x > value, or x >= value for a real variable."""
        lower, upper = store
        low, high = np.clip(box.lower, -FAR, FAR), np.clip(box.upper, -FAR, FAR)
        is_point = answer.outcome is Outcome.OPTIMAL and bool(np.all(np.isfinite(answer.values)))
        values = np.clip(answer.values if is_point else np.zeros(len(low)), low, high)
        v = self.choose(store, high - low, values, is_point)
        if v is None:
            self.stuck = bound if self.stuck is None else min(bound, self.stuck)
            return
        below, above = self.cut(int(lower[v]), int(upper[v]), v, (float(low[v]), float(high[v])), float(values[v]))
        for side, end in ((upper, below), (lower, above)):
            changed = side.copy()
            changed[v] = end
            self.push(bound, (lower, changed) if side is upper else (changed, upper))

    def cut(self, lower: int, upper: int, v: int, between: tuple[float, float], value: float) -> tuple[int, int]:
        """The upper bound of the lower part and the lower bound of the upper part."""
        if not self.real[v]:
            below = min(max(int(np.floor(value + TUNING.box_fractional)), lower), upper - 1)
            return below, below + 1
        low, high = between
        margin = TUNING.box_margin * (high - low)
        code = floats.below(min(max(value, low + margin), high - margin))
        code = min(max(code, lower + 1), upper - 1)
        return code, code

    def choose(self, store: Store, width: np.ndarray, values: np.ndarray, is_point: bool) -> int | None:
        """The variable to divide: the most fractional integer, else a factor of the most violated product, else any
        integer that is not fixed; None where there is none. `width` (float64 [n]) is the width of the box."""
        lower, upper = store
        apart = np.where(self.real | (lower == upper), 0, np.abs(values - np.rint(values)))
        if is_point and apart.max(initial=0) > TUNING.box_fractional:
            return int(apart.argmax())
        factor = self.factor(store, width, values)
        if factor is not None:
            return factor
        free = np.flatnonzero(~self.real & (lower < upper))
        return int(free[0]) if len(free) else None

    def factor(self, store: Store, width: np.ndarray, values: np.ndarray) -> int | None:
        """The wider factor of the product that the point violates most; None where all are accurate enough."""
        tnf, at = self.tnf, self.products
        lower, upper = store
        x, y, z = tnf.x[at], tnf.y[at], tnf.z[at]
        free = (upper[y] - lower[y] > 1) & (upper[z] - lower[z] > 1)
        wanted = np.where(self.is_constant, floats.numbers(lower[x]), values[x])
        missed = np.where(free, np.abs(wanted - values[y] * values[z]), 0) / np.maximum(np.abs(wanted), 1)
        if missed.max(initial=0) <= self.accuracy:
            return None
        worst = int(missed.argmax())
        return int(max(y[worst], z[worst], key=lambda v: width[v] / max(1.0, abs(values[v]))))
