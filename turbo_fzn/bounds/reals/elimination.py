"""Bounds of real variables by elimination: intervals alone do not bound the unknowns of two equations such as
10 x - 5 y = 15 and 15 y - 5 x = 10, since each of them needs a bound of the other.

The equations of a TNF's root are solved for the variables that reach far (Gauss-Jordan, exactly, in fractions). A
factor such as 0.1 is an interval between two doubles, so an equation has an error: at most the sum of errors[v] * |v|.
If the solved variables have finite bounds without their errors, and the errors are at most a part e < 1 of the largest
of them, M <= B + e M bounds it by B / (1 - e), and then each variable.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from turbo_fzn.base import floats
from turbo_fzn.bounds.reals.envelopes import Box, Envelopes
from turbo_fzn.bounds.reals.tuning import TUNING
from turbo_fzn.tnf.language import FLOAT_MUL, TNF

LARGEST_ERROR = Fraction(1, 2)

Ends = tuple[Fraction | None, Fraction | None]  # the ends of an interval; None without a bound
Store = tuple[np.ndarray, np.ndarray]  # the bounds (int64 [n] each) of all variables


@dataclass
class Equation:
    """0 = constant + the sum of entries[v] * v + an error, which is at most the sum of errors[v] * |v|."""

    constant: Fraction
    entries: dict[int, Fraction]
    errors: dict[int, Fraction] = field(default_factory=dict)

    def add(self, factor: Fraction, other: Equation) -> int:
        """Adds a multiple of another equation. Returns the work, as `elimination_work` counts it."""
        self.constant += factor * other.constant
        work = 1
        for v, value in other.entries.items():
            total = self.entries.get(v, 0) + factor * value
            work += 1 + total.denominator.bit_length() // TUNING.word_bits
            if total:
                self.entries[v] = total
            else:
                del self.entries[v]
        for v, value in other.errors.items():
            self.errors[v] = self.errors.get(v, Fraction(0)) + abs(factor) * value
        return work

    def solve_for(self, v: int) -> None:
        """Divides by a coefficient, which becomes -1: v = the rest."""
        factor = -1 / self.entries[v]
        self.constant *= factor
        self.entries = {u: value * factor for u, value in self.entries.items()}
        self.errors = {u: value * abs(factor) for u, value in self.errors.items()}


def bound_by_equations(tnf: TNF) -> Store | None:
    """The bounds of a TNF's root, narrowed by its linear equations; None where these have no solution."""
    box = Box(tnf, tnf.lower, tnf.upper)
    unknown = set(np.flatnonzero(far(box)).tolist())
    found = bounds_of(Elimination(equations(tnf, box), unknown), box_ends(box))
    if found is None:
        return None
    lower, upper = tnf.lower.copy(), tnf.upper.copy()
    for v, (low, high) in found.items():
        lower[v] = lower[v] if low is None else max(lower[v], floats.below(low))
        upper[v] = upper[v] if high is None else min(upper[v], floats.above(high))
    return (lower, upper) if np.all(lower <= upper) else None


def far(box: Box) -> np.ndarray:
    """The real variables that may be beyond `far` (bool [n])."""
    return box.real & ((box.lower < -TUNING.far) | (box.upper > TUNING.far))


def reaches_far(tnf: TNF) -> bool:
    return bool(np.any(far(Box(tnf, tnf.lower, tnf.upper))))


def box_ends(box: Box) -> Callable[[int], Ends]:
    """The function that gives the ends of a variable in a box."""

    def ends(v: int) -> Ends:
        low, high = float(box.lower[v]), float(box.upper[v])
        return (Fraction(low) if low > -math.inf else None), (Fraction(high) if high < math.inf else None)

    return ends


def equations(tnf: TNF, box: Box) -> Iterator[Equation]:
    """The linear equations of all rows."""
    for entries, low, high in Envelopes(tnf).rows(box):
        if low is not None and low == high and entries:
            yield Equation(-Fraction(low), {v: Fraction(value) for v, value in entries.items()})
    yield from nearly_linear(tnf, box)


def nearly_linear(tnf: TNF, box: Box) -> Iterator[Equation]:
    """The equations of the products with a factor that is nearly a constant."""
    for at in np.flatnonzero(tnf.op == FLOAT_MUL).tolist():
        x, *factors = (box.term(int(side[at]), True) for side in (tnf.x, tnf.y, tnf.z))
        for (_, low, high), other in (factors, factors[::-1]):
            if low < high and is_narrow(low, high) and x.variable >= 0 <= other.variable:
                middle = (Fraction(low) + Fraction(high)) / 2
                entries = {x.variable: Fraction(-1)}
                entries[other.variable] = entries.get(other.variable, Fraction(0)) + middle
                entries = {v: value for v, value in entries.items() if value}
                yield Equation(Fraction(0), entries, {other.variable: Fraction(high) - middle})
                break


def is_narrow(low: float, high: float) -> bool:
    return math.isfinite(low) and math.isfinite(high) and high - low <= TUNING.narrow * min(abs(low), abs(high))


class Elimination:
    """Solves equations (`rows`) for unknown variables, as many as `elimination_work` allows. `pivots` has the variable
    of each row that is solved, by the row's place. All rows follow from the given ones."""

    def __init__(self, rows: Iterable[Equation], unknown: set[int]):
        self.unknown, self.rows = unknown, list(rows)
        self.pivots: dict[int, int] = {}
        self.places: dict[int, set[int]] = {v: set() for v in unknown}  # the rows that have contained it
        self.waiting: list[tuple[int, int]] = []  # (the number of unknowns in a row when it was noted, its place)
        for place in range(len(self.rows)):
            self.note(place)
        work = 0
        while self.waiting and work < TUNING.elimination_work:
            count, place = heapq.heappop(self.waiting)
            if place not in self.pivots and count == len(self.unknowns_of(place)):
                work += self.solve(place)

    def unknowns_of(self, place: int) -> list[int]:
        return [v for v in self.rows[place].entries if v in self.unknown]

    def note(self, place: int) -> None:
        """Records the unknowns of the row at a place, and queues the row if it can be solved for one of them."""
        unknowns = self.unknowns_of(place)
        for v in unknowns:
            self.places[v].add(place)
        if unknowns and place not in self.pivots:
            heapq.heappush(self.waiting, (len(unknowns), place))

    def solve(self, place: int) -> int:
        """Solves a row for the unknown that the fewest rows have, and replaces it in these. Returns the work."""
        pivot = min(self.unknowns_of(place), key=lambda v: (len(self.places[v]), v))
        row, work = self.rows[place], 0
        row.solve_for(pivot)
        self.pivots[place] = pivot
        for other in self.places.pop(pivot) - {place}:
            factor = self.rows[other].entries.get(pivot)
            if factor is not None:
                work += self.rows[other].add(factor, row)
                self.note(other)
        self.unknown.remove(pivot)
        return work


@dataclass
class Sum:
    """The bounds of a row without its pivot and without its errors; the known part of the error, and the errors by
    variables without bounds."""

    low: Fraction | None
    high: Fraction | None
    error: Fraction
    open: dict[int, Fraction]

    @property
    def size(self) -> Fraction:
        assert self.low is not None and self.high is not None
        return max(abs(self.low), abs(self.high)) + self.error

    @property
    def ends(self) -> Ends:
        low = None if self.low is None or self.open else self.low - self.error
        return low, None if self.high is None or self.open else self.high + self.error


def sum_of(row: Equation, pivot: int | None, ends: Callable[[int], Ends]) -> Sum:
    """The sum of a row without its pivot, where variables have these ends."""
    low: Fraction | None = row.constant
    high: Fraction | None = row.constant
    for v, value in row.entries.items():
        if v != pivot:
            first, last = ends(v) if value > 0 else ends(v)[::-1]
            low = None if low is None or first is None else low + value * first
            high = None if high is None or last is None else high + value * last
    result = Sum(low, high, Fraction(0), {})
    for v, value in row.errors.items():
        first, last = ends(v)
        if first is None or last is None:
            result.open[v] = value
        else:
            result.error += value * max(abs(first), abs(last))
    return result


def bounds_of(elimination: Elimination, ends: Callable[[int], Ends]) -> dict[int, Ends] | None:
    """Bounds of the solved variables from the bounds known before (`ends`); None where some row cannot be 0."""
    pivots = elimination.pivots
    sums = [sum_of(row, pivots.get(place), ends) for place, row in enumerate(elimination.rows)]
    for place, total in enumerate(sums):
        low, high = total.ends
        if place not in pivots and ((low is not None and low > 0) or (high is not None and high < 0)):
            return None
    named = {pivot: sums[place] for place, pivot in pivots.items()}
    largest = largest_of(named)
    for total in named.values():
        if total.open.keys() <= largest.keys():
            total.error += sum((value * largest[v] for v, value in total.open.items()), Fraction(0))
            total.open = {}
    return {v: total.ends for v, total in named.items()}


def largest_of(sums: dict[int, Sum]) -> dict[int, Fraction]:
    """The greatest absolute value of the variables whose sums have bounds, and errors only by each other. Each value is
    at most B + e M, where M is the greatest of all, so M is at most B / (1 - e)."""
    closed = {v for v, total in sums.items() if total.low is not None and total.high is not None}
    while True:
        left = {v for v in closed if sums[v].open.keys() <= closed and sum(sums[v].open.values()) <= LARGEST_ERROR}
        if left == closed:
            break
        closed = left
    part = max((sum(sums[v].open.values(), Fraction(0)) for v in closed), default=Fraction(0))
    base = max((sums[v].size for v in closed), default=Fraction(0))
    return dict.fromkeys(closed, base / (1 - part))
