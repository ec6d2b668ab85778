"""Branch and bound over boxes with real variables (spatial branch and bound: Horst and Tuy 1990; Tawarmalani and
Sahinidis 2002), every leaf of it proved.

Of each box, narrowed by propagation, the linear rows of envelopes.py are made anew, since they are the closer to the
model the smaller the box is. HiGHS suggests multipliers of the rows; what is claimed is the sum of the rows with these,
reckoned in integers (`prove`), so no rounding has a say in it. A box is divided at an integer that the linear
program's point breaks, else at a factor of the product that the point is farthest from. The point itself is offered:
a small box about it, propagated, may be a solution.

Bounds of the objective are those of the store here: codes where it is real, times the sense.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Protocol

import numpy as np

from turbo_fzn import floats
from turbo_fzn.bounds.envelopes import Box, Envelopes, Exact, Row, real_variables
from turbo_fzn.bounds.highs import Answer, Outcome, solve_reals
from turbo_fzn.domains import INFINITY
from turbo_fzn.tnf.language import FLOAT_MUL, MUL, TNF

DENOMINATOR = 2**40  # of multipliers
LARGEST_MULTIPLIER = 1e15
MOST_BYTES = 2**28  # of open boxes
FRACTIONAL = 1e-6
MARGIN = 0.1  # of an interval, from its ends, in which it is not divided
FAR = 1e19  # beyond, a bound is none: HiGHS takes 1e20 for infinite, and refuses a lower bound of as much

Store = tuple[np.ndarray, np.ndarray]  # the bounds (int64 [n] each) of all variables


class Search(Protocol):
    """What the tree knows of the search that it helps."""

    best: int  # solutions with a sense * objective below this are wanted

    def narrow(self, lower: np.ndarray, upper: np.ndarray) -> Store | None: ...

    def offer(self, lower: np.ndarray, upper: np.ndarray, point: np.ndarray) -> None: ...

    def is_done(self) -> bool: ...


class Tree:
    """The boxes that are left of a TNF's root. `bound` is what sense * objective is at least in solutions that are
    better than the best one known; None where there are none."""

    def __init__(self, tnf: TNF, search: Search):
        assert tnf.floats is not None
        self.tnf, self.search, self.real = tnf, search, real_variables(tnf)
        self.numbers = itertools.count()
        self.open: list[tuple[int, int, Store]] = []
        self.stuck: int | None = None  # the least bound of boxes that cannot be divided
        self.n_nodes = 0
        self.envelopes, self.diving = Envelopes(tnf), Envelopes(tnf)
        self.accuracy = tnf.floats.width / 8  # of a product: what it is missed by, in relation to numbers beyond 1
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
        """Whether there is a box to divide that the bound depends on."""
        return bool(self.open) and (self.stuck is None or self.open[0][0] < self.stuck)

    def is_full(self) -> bool:
        return len(self.open) * self.tnf.n_vars * 16 > MOST_BYTES

    def step(self) -> None:
        """Takes the box with the least bound, and leaves what is to be done of it."""
        bound, _, store = heapq.heappop(self.open)
        if bound >= self.search.best:
            return
        self.n_nodes += 1
        narrowed = self.search.narrow(*store)
        if narrowed is None:
            return
        box = Box(self.tnf, *narrowed)
        rows = self.envelopes.rows(box)
        answer = self.solve(box, rows)
        if answer.outcome is Outcome.INFEASIBLE and is_refuted(rows, box, answer.duals):
            return
        if answer.outcome is Outcome.OPTIMAL:
            bound = max(bound, self.prove(rows, box, answer.duals))
            self.search.offer(*narrowed, answer.values)
        if bound < self.search.best:
            self.divide(bound, narrowed, box, answer)
            if self.n_nodes & (self.n_nodes - 1) == 0 and answer.outcome is Outcome.OPTIMAL:
                self.dive(narrowed, answer.values)

    def dive(self, store: Store, values: np.ndarray) -> None:
        """Fixes one broken integer after the other, what is nearest to a value first, and looks where the rest then
        goes (Achterberg 2007, section 9.2): a solution to begin with."""
        while not self.search.is_done():
            lower, upper = store
            apart = np.where(self.real | (lower == upper), np.inf, np.abs(values - np.rint(values)))
            v = int(np.where(apart > FRACTIONAL, apart, np.inf).argmin())
            if not FRACTIONAL < apart[v] < 1:
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
        """The box and the point where a variable has this value."""
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
        lower = np.where(box.lower > -FAR, np.minimum(box.lower, FAR), -np.inf)
        upper = np.where(box.upper < FAR, np.maximum(box.upper, -FAR), np.inf)
        return solve_reals(cost, lower, upper, rows, self.search.is_done)

    def prove(self, rows: Sequence[Row], box: Box, duals: np.ndarray) -> int:
        """A bound of the box."""
        tnf = self.tnf
        least = prove(rows, {tnf.objective: tnf.sense}, box, duals)
        if least is None:
            return -INFINITY
        return floats.below(least) if self.real[tnf.objective] else -(-least.numerator // least.denominator)

    def divide(self, bound: int, store: Store, box: Box, answer: Answer) -> None:
        """Two boxes: one variable up to a value, and from it on; the value itself is in both where it is real."""
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
        """The last bound of the lower part and the first one of the upper part."""
        if not self.real[v]:
            below = min(max(int(np.floor(value + FRACTIONAL)), lower), upper - 1)
            return below, below + 1
        low, high = between
        margin = MARGIN * (high - low)
        code = floats.below(min(max(value, low + margin), high - margin))
        code = min(max(code, lower + 1), upper - 1)
        return code, code

    def choose(self, store: Store, width: np.ndarray, values: np.ndarray, is_point: bool) -> int | None:
        """The variable to divide: an integer that is between two, else a factor of the product that is missed by most,
        else any integer; None where the point breaks nothing. `width` (float64 [n]) is that of the box."""
        lower, upper = store
        apart = np.where(self.real | (lower == upper), 0, np.abs(values - np.rint(values)))
        if is_point and apart.max(initial=0) > FRACTIONAL:
            return int(apart.argmax())
        factor = self.factor(store, width, values)
        if factor is not None:
            return factor
        free = np.flatnonzero(~self.real & (lower < upper))
        return int(free[0]) if len(free) else None

    def factor(self, store: Store, width: np.ndarray, values: np.ndarray) -> int | None:
        """The wider factor of the product that the point is farthest from."""
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


def prove(rows: Sequence[Row], cost: dict[int, int], box: Box, duals: np.ndarray) -> Fraction | None:
    """What `cost` is at least in the box: of multipliers d of the rows, whatever they are,

        cost x  =  d A x + (cost - d A) x  >=  the ends of the rows times d + the ends of the box times (cost - d A).

    None where an end is missing. All numbers are integers over powers of two, so the sums are ones of integers."""
    used = [(row, factor) for row, factor in zip(rows, multipliers(duals)) if _is_usable(row, factor)]
    scale = max((value.denominator for row, _ in used for value in _numbers_in(row)), default=1)
    total, reduced = 0, {v: value * scale * DENOMINATOR for v, value in cost.items()}
    for (entries, low, high), factor in used:
        total += factor * scaled(low if factor > 0 else high, scale)
        for v, value in entries.items():
            reduced[v] = reduced.get(v, 0) - factor * scaled(value, scale)
    ends = [(value, float(box.lower[v] if value > 0 else box.upper[v])) for v, value in reduced.items() if value]
    if not all(math.isfinite(end) for _, end in ends):
        return None
    ratios = [(value, *end.as_integer_ratio()) for value, end in ends]
    finest = max((denominator for _, _, denominator in ratios), default=1)
    total = total * finest + sum(
        value * numerator * (finest // denominator) for value, numerator, denominator in ratios
    )
    return Fraction(total, finest * scale * DENOMINATOR)


def multipliers(duals: np.ndarray) -> list[int]:
    """Duals as integers over DENOMINATOR; 0 for what is no number or absurd."""
    sensible = np.abs(duals) < LARGEST_MULTIPLIER  # False for nan
    return [round(dual * DENOMINATOR) for dual in np.where(sensible, duals, 0.0).tolist()]


def _is_usable(row: Row, factor: int) -> bool:
    """Whether the row has the side that the multiplier asks for."""
    return factor != 0 and (row.low if factor > 0 else row.high) is not None


def _numbers_in(row: Row) -> Iterator[Exact]:
    yield from row.entries.values()
    yield from (side for side in (row.low, row.high) if side is not None)


def scaled(number: Exact | None, scale: int) -> int:
    """A number that is there, times a scale that its denominator divides."""
    assert number is not None and scale % number.denominator == 0
    return number.numerator * (scale // number.denominator)


def is_refuted(rows: Sequence[Row], box: Box, ray: np.ndarray) -> bool:
    """Whether the ray shows that nothing is in the box (Farkas), whichever way it points."""
    largest = float(np.abs(ray).max(initial=0))
    if not 0 < largest < np.inf:
        return False
    found = (prove(rows, {}, box, direction) for direction in (ray / largest, -ray / largest))
    return any(least is not None and least > 0 for least in found)
