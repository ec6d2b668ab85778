"""Proves a bound from the duals of a linear program.

Any finite multipliers y of the rows prove a bound (safe bounds: Jansson 2004, Neumaier and Shcherbina 2004). For every
x within the rows,

    y A x  >=  sum over y_i > 0 of y_i row_lower_i  +  sum over y_i < 0 of y_i row_upper_i  =  side,

so for r = c - y A, within the bounds of the columns,

    c x  =  y A x + r x  >=  side  +  sum over r_j > 0 of r_j lower_j  +  sum over r_j < 0 of r_j upper_j.

The solver's duals are floating-point numbers without any guarantee. They are rounded to integers over one denominator,
and all further arithmetic is exact: in 64-bit integers where no sum can reach 2^62, else in Python's. Errors in the
duals make the bound weaker, never false. With c = 0 a bound above 0 proves that there is no solution (Farkas). From r
follow bounds of each column in solutions with a given objective (reduced-cost fixing).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from turbo_fzn.base.domains import INFINITY
from turbo_fzn.bounds.lp.relaxation import LinearRows, Relaxation
from turbo_fzn.bounds.prove.tuning import TUNING

FINEST = 2**60  # formula: denominator of multipliers in 64 bits, whose sums take Python's integers
LEAST_DENOMINATOR = 2**12  # formula: below this the rounded multipliers prove nothing
LARGEST_MULTIPLIER = 2.0**62  # formula: larger duals are taken for errors
SAFE_SUM = 2.0**61  # formula: sums of floating-point numbers below this fit into 64 bits, with their errors


@dataclass
class Certificate:
    """The inequality denominator * sense * objective >= reduced x + side, which holds for all solutions.

    `multipliers` (of the rows) and `reduced` are arrays of integers. `value` is the least value of the right side
    within the columns' bounds, None where a column without a bound makes it infinite; `bound` is value / denominator,
    rounded up. `objective` is the factor of the objective: 0 in a certificate that there is no solution."""

    denominator: int
    multipliers: np.ndarray
    reduced: np.ndarray
    side: int
    value: int | None
    objective: int = 1

    @property
    def bound(self) -> int | None:
        return None if self.value is None else -(-self.value // self.denominator)

    @property
    def refutes(self) -> bool:
        """Whether there is no solution within the bounds."""
        return self.objective == 0 and self.value is not None and self.value > 0


class Certifier:
    """The rows of a relaxation sorted by column, so that many certificates over the same rows are cheap."""

    def __init__(self, relaxation: Relaxation, rows: LinearRows):
        self.relaxation = relaxation
        self.n_columns, self.rows = relaxation.n_columns, rows
        order = np.argsort(rows.columns, kind="stable")
        self.row_of = np.repeat(np.arange(len(rows)), np.diff(rows.start))[order]
        self.values = rows.values[order]
        columns = rows.columns[order]
        self.present, self.first = np.unique(columns, return_index=True)
        self.sizes = np.zeros(self.n_columns)
        if len(columns):
            self.sizes[self.present] = np.add.reduceat(np.abs(self.values).astype(float), self.first)
        self.largest = float(self.sizes.max(initial=1.0))
        self.without_lower, self.without_upper = rows.lower <= -INFINITY, rows.upper >= INFINITY

    def certify(
        self, duals: np.ndarray, lower: np.ndarray, upper: np.ndarray, objective: int = 1, fine: bool = False
    ) -> Certificate:
        """The certificate of these duals (float [m]) within these bounds (int64 [n]). `fine`: with the least rounding,
        which takes longer."""
        return self.certify_with(*self.integers(duals, fine), lower, upper, objective)

    def certify_with(
        self, denominator: int, multipliers: np.ndarray, lower: np.ndarray, upper: np.ndarray, objective: int = 1
    ) -> Certificate:
        """The certificate of these multipliers (int64 [m]), over a denominator."""
        reduced = self.combine(multipliers)
        cost = objective * denominator * self.relaxation.sense
        reduced[self.relaxation.objective] += cost
        side = self.side(multipliers)
        return Certificate(denominator, multipliers, reduced, side, least(reduced, lower, upper, side), objective)

    def total(self, duals: np.ndarray, column: int) -> float:
        """The column's coefficient in the sum of the rows."""
        place = np.searchsorted(self.present, column)
        if place == len(self.present) or self.present[place] != column:
            return 0.0
        entries = slice(self.first[place], self.first[place + 1] if place + 1 < len(self.first) else None)
        return float(duals[self.row_of[entries]] @ self.values[entries])

    def integers(self, duals: np.ndarray, fine: bool = False) -> tuple[int, np.ndarray]:
        """(denominator, multipliers) of the rounded duals; 0 for a dual that is not finite or needs a missing side.

        The denominator is as large as 64-bit sums allow, or `fine` 64-bit multipliers, but no smaller than
        LEAST_DENOMINATOR."""
        duals = _usable(duals)
        largest = max(float(np.abs(duals).max(initial=0.0)), 1.0) * (1.0 if fine else self.largest)
        denominator = FINEST if fine else TUNING.denominator
        while denominator > LEAST_DENOMINATOR and largest * denominator > SAFE_SUM:
            denominator //= 2
        return denominator, self._rounded(duals, denominator)

    def multiples(self, duals: np.ndarray, denominator: int) -> np.ndarray:
        """The multipliers of `integers` for a denominator that is at most the tunable one."""
        return self._rounded(_usable(duals), denominator)

    def _rounded(self, duals: np.ndarray, denominator: int) -> np.ndarray:
        multipliers = np.rint(duals * denominator).astype(np.int64)
        multipliers[(multipliers > 0) & self.without_lower] = 0
        multipliers[(multipliers < 0) & self.without_upper] = 0
        return multipliers

    def combine(self, multipliers: np.ndarray) -> np.ndarray:
        """-multipliers A, as int64 where that cannot overflow, else as Python's integers."""
        small = float(np.abs(multipliers).max(initial=0)) * self.largest < SAFE_SUM
        kind = np.int64 if small else object
        reduced = np.zeros(self.n_columns, kind)
        if len(self.values):
            products = multipliers[self.row_of].astype(kind) * self.values.astype(kind)
            reduced[self.present] = -np.add.reduceat(products, self.first)
        return reduced

    def side(self, multipliers: np.ndarray) -> int:
        used = np.flatnonzero(multipliers)
        chosen = np.where(multipliers[used] > 0, self.rows.lower[used], self.rows.upper[used])
        return dot(multipliers[used], chosen)


def _usable(duals: np.ndarray) -> np.ndarray:
    """The duals, with 0 for one that is not finite or taken for an error."""
    usable = np.isfinite(duals) & (np.abs(duals) < LARGEST_MULTIPLIER / TUNING.denominator)
    return np.where(usable, duals, 0.0)


def least(reduced: np.ndarray, lower: np.ndarray, upper: np.ndarray, side: int) -> int | None:
    """The least value of reduced x + side within the bounds, None where it is unbounded."""
    used = np.flatnonzero(reduced)
    ends = np.where(reduced[used] > 0, lower[used], upper[used])
    if np.any(np.abs(ends) >= INFINITY):
        return None
    return side + dot(reduced[used], ends)


def dot(first: np.ndarray, second: np.ndarray) -> int:
    """The exact sum of the products of two arrays of integers."""
    if len(first) == 0:
        return 0
    estimate = float(np.abs(first.astype(float)) @ np.abs(second.astype(float)))
    if first.dtype == object or estimate >= SAFE_SUM:
        return sum(a * b for a, b in zip(first.tolist(), second.tolist()))
    return int(first @ second)


def fix(
    certificate: Certificate, most: int, lower: np.ndarray, upper: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Reduced-cost fixing: bounds of the columns in solutions with sense * objective <= most.

    Returns (columns, lower, upper) for the columns whose bounds get narrower; an empty interval means that there is no
    such solution. The certificate must have been made with the same bounds.
    """
    nothing = np.empty(0, np.int64)
    if certificate.value is None or certificate.objective == 0:
        return nothing, nothing, nothing
    slack = most * certificate.denominator - certificate.value
    costs = certificate.reduced
    if slack < 0:
        used = np.flatnonzero(upper >= lower)[:1]
        return used, upper[used] + 1, upper[used]
    width = upper.astype(float) - lower.astype(float)
    tight = np.flatnonzero(np.abs(costs.astype(float)) * width > slack * (1 - 1e-9))
    columns, lows, highs = [], [], []
    for column in tight.tolist():
        cost, low, high = int(costs[column]), int(lower[column]), int(upper[column])
        steps = slack // abs(cost) if cost else high - low
        if steps < high - low:
            columns.append(column)
            lows.append(low if cost > 0 else high - steps)
            highs.append(low + steps if cost > 0 else high)
    return tuple(np.array(side, np.int64) for side in (columns, lows, highs))  # type: ignore[return-value]
