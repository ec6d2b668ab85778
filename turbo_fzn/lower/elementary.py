"""Lowering of powers, roots, exponentials, logarithms, trigonometric and hyperbolic functions of real variables.

There are rows for e^y, sin, tan and the inverses of these two; the other functions are composed of them. Most inverses
are rows of their function, since a row has no direction: y = ln(x) is x = e^y. Irrational constants are variables
between two doubles.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from turbo_fzn.base import floats
from turbo_fzn.base.domains import INFINITY
from turbo_fzn.base.errors import UnsupportedError
from turbo_fzn.lower.builder import RowBuilder
from turbo_fzn.lower.constraints_float import exclude_zero, real_define, real_negative, real_row
from turbo_fzn.tnf.language import FLOAT_ADD, FLOAT_ASIN, FLOAT_EXP, FLOAT_MUL, FLOAT_SIN

LN_2 = "0.693147180559945309417232121458"  # truncated digits
LN_10 = "2.302585092994045684017991454684"
HALF_PI = "1.570796326794896619231321691639"
MOST_FACTORS = 64  # formula: factors of a power that becomes products
ROOTS = (1, 2, 4, 8)  # formula: denominators of exponents that become roots and products


def between(b: RowBuilder, digits: str) -> int:
    """A real constant with these first digits, as an interval."""
    low = Fraction(digits)
    return b.real(floats.below(low), floats.above(low + Fraction(1, 10 ** (len(digits) - 2))))


def unary(b: RowBuilder, op: int, x: int, y: int) -> None:
    """y = op(x)."""
    real_define(b, y, op, x, x)


def root(b: RowBuilder, x: int, y: int) -> None:
    b.restrict(x, 0, INFINITY)
    b.restrict(y, 0, INFINITY)
    real_define(b, x, FLOAT_MUL, y, y)


def logarithm(b: RowBuilder, x: int, y: int) -> None:
    b.restrict(x, 0, INFINITY)
    unary(b, FLOAT_EXP, y, x)


def logarithm_to(base: str) -> Callable[[RowBuilder, int, int], None]:
    """log x = y for a base whose natural logarithm has these digits: x = e^(y * ln base)."""
    return lambda b, x, y: logarithm(b, x, real_row(b, FLOAT_MUL, y, between(b, base)))


def cosine(b: RowBuilder, x: int, y: int) -> None:
    """States y = cos(x) as sin(x + π/2)."""
    unary(b, FLOAT_SIN, real_row(b, FLOAT_ADD, x, between(b, HALF_PI)), y)


def arc_cosine(b: RowBuilder, x: int, y: int) -> None:
    """States y = arccos(x) as π/2 - arcsin(x), which is not negative."""
    b.restrict(x, floats.below(-1), floats.above(1))
    b.restrict(y, 0, INFINITY)
    real_define(b, between(b, HALF_PI), FLOAT_ADD, real_row(b, FLOAT_ASIN, x, x), y)


def arc_sine(b: RowBuilder, x: int, y: int) -> None:
    b.restrict(x, floats.below(-1), floats.above(1))
    unary(b, FLOAT_ASIN, x, y)


def _exponentials(b: RowBuilder, x: int) -> tuple[int, int]:
    """Two variables, e^x and e^-x, whose product is 1."""
    rising, falling = (real_row(b, FLOAT_EXP, v, v) for v in (x, real_negative(b, b.find(x))))
    real_define(b, b.real_constant(1), FLOAT_MUL, rising, falling)
    return rising, falling


def hyperbolic_sine(b: RowBuilder, x: int, y: int) -> None:
    """States y = sinh(x) as e^x = 2 y + e^-x."""
    rising, falling = _exponentials(b, x)
    real_define(b, rising, FLOAT_ADD, real_row(b, FLOAT_MUL, y, b.real_constant(2)), falling)


def hyperbolic_cosine(b: RowBuilder, x: int, y: int) -> None:
    """States y = cosh(x) as 2 y = e^x + e^-x."""
    b.restrict(y, floats.below(1), INFINITY)
    rising, falling = _exponentials(b, x)
    real_define(b, real_row(b, FLOAT_MUL, y, b.real_constant(2)), FLOAT_ADD, rising, falling)


def hyperbolic_tangent(b: RowBuilder, x: int, y: int) -> None:
    """States y = tanh(x) as sinh(x) = y cosh(x)."""
    b.restrict(y, floats.below(-1), floats.above(1))
    rising, falling = _exponentials(b, x)
    product = real_row(b, FLOAT_MUL, y, real_row(b, FLOAT_ADD, rising, falling))
    real_define(b, rising, FLOAT_ADD, product, falling)


def area_cosine(b: RowBuilder, x: int, y: int) -> None:
    b.restrict(y, 0, INFINITY)
    hyperbolic_cosine(b, y, x)


def power(b: RowBuilder, x: int, y: int, z: int) -> None:
    """States x^y = z: for a fixed exponent by products, and by roots where it is a multiple of 1/8; else as e^(y ln x),
    which requires a positive base."""
    x, y = b.find(x), b.find(y)
    exponent = None if b.value(y) is None else Fraction(floats.number(b.lower[y]))
    if exponent is not None and exponent.denominator in ROOTS and abs(exponent.numerator) <= MOST_FACTORS:
        return _rational_power(b, x, exponent, z)
    if b.lower[x] <= 0:
        raise UnsupportedError("float_pow of a base that may be 0 or negative, with an exponent that is no few eighths")
    unary(b, FLOAT_EXP, real_row(b, FLOAT_MUL, y, _inverse_exponential(b, x)), z)
    return None


def _inverse_exponential(b: RowBuilder, x: int) -> int:
    y = b.real()
    unary(b, FLOAT_EXP, y, x)
    return y


def _rational_power(b: RowBuilder, x: int, exponent: Fraction, z: int) -> None:
    if exponent.denominator > 1:  # x^(p / q) is the q-th root of x^p
        b.restrict(x, 0, INFINITY)
        b.restrict(z, 0, INFINITY)
    if exponent < 0:
        exclude_zero(b, x)
    raised, result = (_whole_power(b, v, n) for v, n in ((x, abs(exponent.numerator)), (z, exponent.denominator)))
    if exponent < 0:
        return real_define(b, b.real_constant(1), FLOAT_MUL, raised, result)
    return b.merge(raised, result)


def _whole_power(b: RowBuilder, x: int, n: int) -> int:
    """A variable that equals x^n, by squares and products."""
    if n == 0:
        return b.real_constant(1)
    half = _whole_power(b, x, n // 2) if n > 1 else x
    square = real_row(b, FLOAT_MUL, half, half) if n > 1 else x
    return real_row(b, FLOAT_MUL, square, x) if n > 1 and n % 2 else square
