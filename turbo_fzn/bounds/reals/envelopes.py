"""Linear rows that every solution of a TNF with real variables satisfies in a box.

Sums, comparisons and conversions are linear. A product x = y z lies between four planes (McCormick, Mathematical
Programming 1976), a square above its tangents and below its secant; with a fixed factor it is linear. Operators without
rows (functions, division, tables) only make the relaxation weaker. All numbers are exact: integers, or fractions over a
power of two, as doubles are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from turbo_fzn.base import floats
from turbo_fzn.bounds.lp.exact import Exact, Row
from turbo_fzn.bounds.reals.tuning import TUNING
from turbo_fzn.tnf.language import (
    ADD,
    ELEMENT,
    EQ,
    FLOAT_ADD,
    FLOAT_EQ,
    FLOAT_LEQ,
    FLOAT_MUL,
    INT2FLOAT,
    LEQ,
    MAX,
    MIN,
    MUL,
    TNF,
)

LARGEST_INTEGER = 2**53  # formula: doubles do not hold all larger integers: such a bound counts as none


class Term(NamedTuple):
    """A variable, or a constant (variable -1), with its bounds."""

    variable: int
    low: float
    high: float

    @property
    def value(self) -> Fraction | None:
        """The value of a fixed term, None for other terms."""
        return Fraction(self.low) if self.low == self.high and math.isfinite(self.low) else None

    @property
    def is_bounded(self) -> bool:
        return math.isfinite(self.low) and math.isfinite(self.high)

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        return Fraction(self.low), Fraction(self.high)

    @property
    def is_truth(self) -> bool:
        return 0 <= self.low and self.high <= 1


class Box:
    """Bounds of the variables of a TNF as numbers: `lower` and `upper` (float64 [n]), infinite where there is none."""

    def __init__(self, tnf: TNF, lower: np.ndarray, upper: np.ndarray):
        self.tnf, self.real, self.codes = tnf, real_variables(tnf), lower
        self.lower, self.upper = (numbers_of(ends, self.real) for ends in (lower, upper))

    def term(self, v: int, real: bool) -> Term:
        """The term of a variable that is used as a real number, or as an integer. A constant may be used as both: then
        its place in the row decides whether it is a code or an integer."""
        if real and not self.real[v]:
            number = floats.number(int(self.codes[v]))
            return Term(-1, number, number)
        return Term(v, float(self.lower[v]), float(self.upper[v]))

    def is_integer(self, v: int) -> bool:
        """Whether the variable is an integer; False for constants, which may be codes."""
        return bool(not self.real[v] and self.tnf.lower[v] < self.tnf.upper[v])

    def terms(self, *variables: int) -> list[Term]:
        """The terms of variables of one kind, which are real if any of them is."""
        real = any(self.real[v] for v in variables)
        return [self.term(v, real) for v in variables]


class Envelopes:
    """Makes the rows of successive boxes; rows made from a row of the TNF are kept while the bounds of its variables
    stay."""

    def __init__(self, tnf: TNF):
        chosen = np.isin(tnf.op, list(FORMS))
        self.names = np.stack((tnf.x, tnf.y, np.where(tnf.op == ELEMENT, tnf.y, tnf.z)))[:, chosen]
        columns = (column[chosen].tolist() for column in (tnf.op, tnf.x, tnf.y, tnf.z))
        self.operators = list(zip(*columns))
        self.known: list[tuple[Row, ...]] = [()] * len(self.operators)
        self.ends = np.full((6, len(self.operators)), np.nan)

    def rows(self, box: Box) -> list[Row]:
        """The rows of all operators in the box; only operators whose bounds have changed are computed again."""
        ends = np.concatenate((box.lower[self.names], box.upper[self.names]))
        for at in np.flatnonzero(np.any(ends != self.ends, axis=0)).tolist():
            op, x, y, z = self.operators[at]
            self.known[at] = tuple(FORMS[op](box, x, y, z))
        self.ends = ends
        return [row for rows in self.known for row in rows]


def real_variables(tnf: TNF) -> np.ndarray:
    """The real variables (bool [n]) without constants: a constant may also be used as the integer of the same code."""
    assert tnf.floats is not None
    return tnf.floats.mask & (tnf.lower < tnf.upper)


def numbers_of(ends: np.ndarray, real: np.ndarray) -> np.ndarray:
    """The numbers (float64) of bounds (int64), which are codes of reals where `real` (bool) is set."""
    integers = np.where(np.abs(ends) > LARGEST_INTEGER, np.copysign(np.inf, ends), ends)
    return np.where(real, floats.numbers(ends), integers)


def row(terms: Iterable[tuple[Exact, Term]], low: Exact | None = None, high: Exact | None = None) -> Row:
    """The row low <= sum of value * term <= high, with constant terms moved to the sides."""
    entries: dict[int, Exact] = {}
    constant: Exact = 0
    for value, term in terms:
        if term.variable < 0:
            constant += value * Fraction(term.low)
        else:
            entries[term.variable] = entries.get(term.variable, 0) + value
    low, high = (side if side is None else side - constant for side in (low, high))
    return Row({v: value for v, value in entries.items() if value}, low, high)


def add(box: Box, *names: int) -> Iterable[Row]:
    yield _sum_row(*(box.term(v, False) for v in names))


def _float_add(box: Box, *names: int) -> Iterable[Row]:
    yield _sum_row(*(box.term(v, True) for v in names))


def _sum_row(x: Term, y: Term, z: Term) -> Row:
    return row([(1, x), (-1, y), (-1, z)], 0, 0)


def int2float(box: Box, x: int, y: int, _: int) -> Iterable[Row]:
    yield row([(1, box.term(x, True)), (-1, box.term(y, False))], 0, 0)


def mul(box: Box, *names: int) -> Iterable[Row]:
    return product(*(box.term(v, False) for v in names))


def _float_mul(box: Box, *names: int) -> Iterable[Row]:
    return product(*(box.term(v, True) for v in names))


def product(x: Term, y: Term, z: Term) -> Iterable[Row]:
    """The rows of x = y z: a plane for a fixed factor, else the McCormick envelope if both factors are bounded."""
    for factor, other in ((y, z), (z, y)):
        if factor.value is not None:
            return [row([(1, x), (-factor.value, other)], 0, 0)]
    if not (y.is_bounded and z.is_bounded):
        return []
    (a, b), (c, d) = y.ends, z.ends
    if max(map(abs, (a, b, c, d))) > TUNING.factor:
        return []
    if y == z:
        tangents = [row([(1, x), (-2 * at, y)], low=-at * at) for at in (a, b, (a + b) / 2)]
        return [*tangents, row([(1, x), (-(a + b), y)], high=-a * b)]
    below = [row([(1, x), (-low, z), (-at, y)], low=-low * at) for low, at in ((a, c), (b, d))]
    return below + [row([(1, x), (-low, z), (-at, y)], high=-low * at) for low, at in ((a, d), (b, c))]


def leq(box: Box, x: int, y: int, z: int) -> Iterable[Row]:
    first, second = box.terms(y, z)
    return comparison(box.term(x, False), first, second, int(box.is_integer(y) or box.is_integer(z)))


def _float_leq(box: Box, x: int, y: int, z: int) -> Iterable[Row]:
    return comparison(box.term(x, False), box.term(y, True), box.term(z, True), 0)


def comparison(x: Term, y: Term, z: Term, apart: int) -> Iterable[Row]:
    """The rows of x = (y <= z). Where x is 0, y - z >= `apart`: 1 for integers, 0 for reals (closed intervals)."""
    if x.value is not None:
        yield row([(1, y), (-1, z)], high=0) if x.value else row([(1, y), (-1, z)], low=apart)
    elif y.is_bounded and z.is_bounded:
        (a, b), (c, d) = y.ends, z.ends
        yield row([(1, y), (-1, z), (b - c, x)], high=b - c)
        yield row([(1, z), (-1, y), (-(d - a + apart), x)], high=-apart)


def eq(box: Box, x: int, y: int, z: int) -> Iterable[Row]:
    return equality(box.term(x, False), *box.terms(y, z))


def float_eq(box: Box, x: int, y: int, z: int) -> Iterable[Row]:
    return equality(box.term(x, False), box.term(y, True), box.term(z, True))


def equality(x: Term, y: Term, z: Term) -> Iterable[Row]:
    if x.value == 1:
        yield row([(1, y), (-1, z)], 0, 0)


def least(box: Box, *names: int) -> Iterable[Row]:
    """The rows of x = min(y, z)."""
    x, y, z = box.terms(*names)
    for operand in (y, z):
        yield row([(1, x), (-1, operand)], high=0)
    if y.is_truth and z.is_truth and not box.real[names[0]]:
        yield row([(1, x), (-1, y), (-1, z)], low=-1)


def greatest(box: Box, *names: int) -> Iterable[Row]:
    """The rows of x = max(y, z)."""
    x, y, z = box.terms(*names)
    for operand in (y, z):
        yield row([(1, x), (-1, operand)], low=0)
    if y.is_truth and z.is_truth and not box.real[names[0]]:
        yield row([(1, x), (-1, y), (-1, z)], high=0)


def element(box: Box, x: int, y: int, z: int) -> Iterable[Row]:
    """The row of x = tables[y + z] where the index has two values: a line."""
    index = box.term(y, False)
    if not index.is_bounded or index.high - index.low != 1:
        return
    start = int(index.low)
    entries = numbers_of(box.tnf.tables[start + z : start + z + 2], np.full(2, box.real[x]))
    if np.all(np.abs(entries) <= TUNING.factor):
        first, second = map(Fraction, entries.tolist())
        at_zero = first - (second - first) * start
        yield row([(1, box.term(x, False)), (first - second, index)], at_zero, at_zero)


FORMS: dict[int, Callable[[Box, int, int, int], Iterable[Row]]] = {
    ADD: add,
    FLOAT_ADD: _float_add,
    MUL: mul,
    FLOAT_MUL: _float_mul,
    INT2FLOAT: int2float,
    LEQ: leq,
    FLOAT_LEQ: _float_leq,
    EQ: eq,
    FLOAT_EQ: float_eq,
    MIN: least,
    MAX: greatest,
    ELEMENT: element,
}
