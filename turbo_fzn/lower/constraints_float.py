"""Lowering of the constraints on real variables: comparisons, sums, arithmetic, elements.

docs/design/floats.md describes the rows. A `<=` or `=` that holds needs no row of floats: LEQ works on codes too, and
equal variables are merged. A comparison that does not hold needs such a row, since there are numbers between two codes:
`not y <= z` allows z to end where y begins. The model's numbers are exact doubles; numbers computed from them here are
exact, too, or intervals (RowBuilder.real_constant).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from turbo_fzn.base import floats
from turbo_fzn.base.domains import INFINITY
from turbo_fzn.base.errors import UnsupportedError
from turbo_fzn.lower.builder import RowBuilder
from turbo_fzn.lower.constraints_int import clamp
from turbo_fzn.tnf.language import FLOAT_ADD, FLOAT_EQ, FLOAT_LEQ, FLOAT_MUL, INT2FLOAT, LEQ, MAX, MIN

TOP = INFINITY - 1  # the greatest code
ROUNDING = Fraction(1, 2**52)  # the relative error of a product of two rounded numbers
SHORT = 2**20  # formula: a fraction with a denominator up to this is taken as exact


# Rows


def real_row(b: RowBuilder, op: int, y: int, z: int) -> int:
    """A real variable that equals y op z."""
    key = ordered(op, y, z)
    known = b.known(*key) if b.share else None
    if known is not None:
        return b.find(known)
    x = b.real()
    b.emit(x, *key)
    return x


def real_define(b: RowBuilder, x: int, op: int, y: int, z: int) -> None:
    """States x = y op z."""
    key = ordered(op, y, z)
    known = b.known(*key) if b.share else None
    if known is not None:
        return b.merge(x, known)
    return b.emit(x, *key)


def ordered(op: int, y: int, z: int) -> tuple[int, int, int]:
    return (op, z, y) if z < y and op in (FLOAT_ADD, FLOAT_MUL, FLOAT_EQ) else (op, y, z)


def truth(b: RowBuilder, op: int, y: int, z: int, r: int) -> None:
    """r = (y op z) for FLOAT_LEQ or FLOAT_EQ."""
    y, z = b.find(y), b.find(z)
    below, apart = b.upper[y] <= b.lower[z], b.lower[y] > b.upper[z]
    if b.value(r) == 1:
        return b.merge(y, z) if op == FLOAT_EQ else b.define(b.true, LEQ, y, z)
    if y == z or (op == FLOAT_LEQ and below and not apart):
        return b.merge(r, b.true)
    if apart or (op == FLOAT_EQ and b.lower[z] > b.upper[y]):
        return b.merge(r, b.false)
    key = ordered(op, y, z)
    known = b.known(*key) if b.share else None
    return b.emit(r, *key) if known is None else b.merge(r, known)


def _untruth(b: RowBuilder, op: int, y: int, z: int, r: int) -> None:
    """r = not (y op z)."""
    value = b.value(r)
    truth(b, op, y, z, b.negation(r) if value is None else b.constant(1 - value))


def real_negative(b: RowBuilder, x: int) -> int:
    """A real variable that equals -x, by the row 0 = x + (-x)."""
    known = b.negatives.get(x)
    if known is None:
        known = b.negatives[x] = b.real(-b.upper[x], -b.lower[x])
        b.negatives[known] = x
        b.emit(b.false, *ordered(FLOAT_ADD, x, known))
    return known


def real_function(define: Callable[..., Any]) -> Callable[..., Any]:
    """The relation of a total function; `define` states its result."""

    def post(b: RowBuilder, *arguments: Any) -> None:
        *inputs, result, r = arguments
        if b.value(r) == 1:
            return define(b, *inputs, result)
        computed = b.real()
        define(b, *inputs, computed)
        return truth(b, FLOAT_EQ, computed, result, r)

    return post


def partial_function(define: Callable[..., Any]) -> Callable[..., Any]:
    """The relation of a partial function; `define` states its result. Reified it raises UnsupportedError."""

    def post(b: RowBuilder, *arguments: Any) -> None:
        *rest, r = arguments
        if b.value(r) != 1:
            raise UnsupportedError("a partial function on floats cannot be reified")
        return define(b, *rest)

    return post


def real_operator(op: int) -> Callable[..., Any]:
    """x op y = z."""
    return real_function(lambda b, x, y, z: real_define(b, z, op, x, y))


# Comparisons


def eq(b: RowBuilder, x: int, y: int, r: int) -> None:
    truth(b, FLOAT_EQ, x, y, r)


def ne(b: RowBuilder, x: int, y: int, r: int) -> None:
    _untruth(b, FLOAT_EQ, x, y, r)


def le(b: RowBuilder, x: int, y: int, r: int) -> None:
    truth(b, FLOAT_LEQ, x, y, r)


def lt(b: RowBuilder, x: int, y: int, r: int) -> None:
    _untruth(b, FLOAT_LEQ, y, x, r)


def within(b: RowBuilder, x: int, low: floats.Real, high: floats.Real, r: int) -> None:
    """r = (low <= x <= high)."""
    in_ranges(b, x, [low, high], r)


def in_ranges(b: RowBuilder, x: int, ends: Sequence[floats.Real], r: int) -> None:
    """r = x lies in one of the ranges, whose ends come one after the other; some may be empty."""
    ends = [end for low, high in zip(ends[::2], ends[1::2]) if low <= high for end in (low, high)]
    if b.value(r) == 1 and ends:
        b.restrict(x, floats.below(min(ends)), floats.above(max(ends)))
        if len(ends) == 2:
            return None
    numbers = [b.real_constant(end) for end in ends]
    pairs = [(comparison(b, low, x), comparison(b, x, high)) for low, high in zip(numbers[::2], numbers[1::2])]
    return b.define_tree(r, MAX, [b.row(MIN, *pair) for pair in pairs], 0)


def comparison(b: RowBuilder, y: int, z: int) -> int:
    """The truth value of y <= z."""
    r = b.variable(0, 1)
    truth(b, FLOAT_LEQ, y, z, r)
    return b.find(r)


# Sums


def lin_eq(b: RowBuilder, coefficients: Sequence[float], variables: Sequence[int], k: float, r: int) -> None:
    truth(b, FLOAT_EQ, *sides(b, coefficients, variables, k), r)


def lin_ne(b: RowBuilder, coefficients: Sequence[float], variables: Sequence[int], k: float, r: int) -> None:
    _untruth(b, FLOAT_EQ, *sides(b, coefficients, variables, k), r)


def lin_le(b: RowBuilder, coefficients: Sequence[float], variables: Sequence[int], k: float, r: int) -> None:
    truth(b, FLOAT_LEQ, *sides(b, coefficients, variables, k), r)


def lin_lt(b: RowBuilder, coefficients: Sequence[float], variables: Sequence[int], k: float, r: int) -> None:
    left, right = sides(b, coefficients, variables, k)
    _untruth(b, FLOAT_LEQ, right, left, r)


def sides(b: RowBuilder, coefficients: Sequence[float], variables: Sequence[int], k: float) -> tuple[int, int]:
    """Two variables: the sum of the positive terms, and the negated sum of the others. The constant is on the side
    where it is positive, or on the right where rounding hides its sign."""
    total: dict[int, tuple[Fraction, Fraction]] = {}  # the coefficient as a double, and as its shortest decimal text
    rest = Fraction(k)
    size, numbers = abs(rest), [rest, *map(Fraction, coefficients)]
    for c, v in zip(coefficients, map(b.find, variables)):
        if b.value(v) is not None:
            value = Fraction(floats.number(b.lower[v]))
            rest -= Fraction(c) * value
            size += abs(Fraction(c) * value)
            numbers.append(value)
        else:
            double, decimal = total.get(v, (Fraction(0), Fraction(0)))
            total[v] = double + Fraction(c), decimal + Fraction(repr(c))
    slack = Fraction(0) if all(number.denominator <= SHORT for number in numbers) else size * ROUNDING
    left = [scaled(b, double, decimal, v) for v, (double, decimal) in total.items() if double > 0]
    right = [scaled(b, -double, -decimal, v) for v, (double, decimal) in total.items() if double < 0]
    if rest or slack:
        side, size = (left, -rest) if rest < -slack else (right, rest)
        side.append(b.real(floats.below(size - slack), floats.above(size + slack)) if slack else b.real_constant(size))
    return _sum_of(b, left), _sum_of(b, right)


def scaled(b: RowBuilder, double: Fraction, decimal: Fraction, v: int) -> int:
    """A number times v; a number such as 0.1 becomes the interval from its double to its decimal value."""
    if double == decimal == 1:
        return v
    ends = floats.below(min(double, decimal)), floats.above(max(double, decimal))
    return real_row(b, FLOAT_MUL, v, b.real_between(*ends))


def _sum_of(b: RowBuilder, terms: list[int]) -> int:
    """A balanced tree of sums."""
    while len(terms) > 1:
        odd = terms[-1:] if len(terms) % 2 else []
        terms = [real_row(b, FLOAT_ADD, y, z) for y, z in zip(terms[::2], terms[1::2])] + odd
    return terms[0] if terms else b.real_constant(0)


# Arithmetic


def int2float(b: RowBuilder, x: int, y: int) -> None:
    real_define(b, y, INT2FLOAT, x, x)


def divide(b: RowBuilder, x: int, y: int, z: int) -> None:
    """x / y = z: x = z * y, and y is not 0."""
    real_define(b, x, FLOAT_MUL, z, y)
    exclude_zero(b, y)


def exclude_zero(b: RowBuilder, y: int) -> None:
    if b.lower[b.find(y)] <= 0 <= b.upper[b.find(y)]:
        truth(b, FLOAT_EQ, y, b.real_constant(0), b.false)


def absolute(b: RowBuilder, x: int, y: int) -> None:
    """y = max(x, -x)."""
    x = b.find(x)
    if b.lower[x] >= 0:
        return b.merge(y, x)
    b.restrict(y, 0, INFINITY)
    return b.define(y, MAX, x, real_negative(b, x))


def extreme(op: int) -> Callable[..., Any]:
    """r = (m is the least or the greatest member), false without members."""

    def post(b: RowBuilder, m: int, members: Sequence[int], r: int) -> None:
        if not members:
            return b.merge(r, b.false)
        if b.value(r) == 1:
            return define_extreme(b, m, op, members)
        result = b.real()
        define_extreme(b, result, op, members)
        return truth(b, FLOAT_EQ, result, m, r)

    return post


def real_extreme(op: int) -> Callable[..., Any]:
    """min(x, y) = z, or max."""
    return real_function(lambda b, x, y, z: b.define(z, op, x, y))


def define_extreme(b: RowBuilder, x: int, op: int, members: Sequence[int]) -> None:
    """States that x is the least or the greatest of some real variables, by rows whose results are real, too."""
    rest = [b.find(v) for v in members]
    while len(rest) > 2:
        odd = rest[-1:] if len(rest) % 2 else []
        rest = [real_row(b, op, y, z) for y, z in zip(rest[::2], rest[1::2])] + odd
    return b.merge(x, rest[0]) if len(rest) == 1 else b.define(x, op, *rest)


# Elements


def element(b: RowBuilder, i: int, members: Sequence[int], z: int, r: int) -> None:
    """r = (i is an index, from 1, and z = members[i])."""
    if not members:
        return b.merge(r, b.false)
    if b.value(r) == 1:
        return define_element(b, z, i, members)
    inside, index = clamp(b, i, len(members))
    result, same = b.real(), b.variable(0, 1)
    define_element(b, result, index, members)
    truth(b, FLOAT_EQ, result, z, same)
    return b.define(r, MIN, inside, same)


def constant_element(b: RowBuilder, i: int, values: Sequence[float], z: int, r: int) -> None:
    element(b, i, [b.real_constant(value) for value in values], z, r)


def define_element(b: RowBuilder, z: int, i: int, members: Sequence[int]) -> None:
    """States z = members[i], where the first index is 1. Each member bounds z only if i is its index:
    `min(member, switch) <= z`, where the switch is a table of i."""
    b.restrict(i, 1, len(members))
    i = b.find(i)
    low, high = b.lower[i], b.upper[i]
    reached = [b.find(v) for v in members[low - 1 : high]]
    if low == high:
        return b.merge(z, reached[0])
    values = [value for value in map(b.value, reached) if value is not None]
    if len(values) == len(reached):
        return b.define_element(z, i, values, low)
    b.restrict(z, min(b.lower[v] for v in reached), max(b.upper[v] for v in reached))
    for place, v in enumerate(reached):
        for op, sign in ((MIN, 1), (MAX, -1)):
            switch, bound = b.real(-TOP, TOP), b.real()
            is_on = [TOP if other == place else -TOP for other in range(len(reached))]
            b.define_element(switch, i, [sign * end for end in is_on], low)
            b.define(bound, op, v, switch)
            b.define(b.true, LEQ, *((bound, z) if op == MIN else (z, bound)))
    return None
