"""exp, sin and tan of rational numbers to hundreds of digits, in integers alone: the judge of the kernels' functions.

Each gives (low, high), fractions that enclose the exact value.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

BITS = 1300  # behind the point: the least code's number is 2**-511, and a result is to have 700 bits
UNIT = 1 << BITS
SLACK = 1 << 40  # of the last places, more than all roundings together


def fixed(x: Fraction) -> int:
    return x.numerator * UNIT // x.denominator


def enclosed(value: int) -> tuple[Fraction, Fraction]:
    return Fraction(value - SLACK, UNIT), Fraction(value + SLACK, UNIT)


def taylor(x: int, start: int, first: int, step: int, sign: int) -> int:
    """The sum of sign^k x^(start + k step) / (start + k step)! from the term `start`, which is `first`, on."""
    total, term, n = 0, first, start
    while term:
        total += term
        for _ in range(step):
            n += 1
            term = term * x // (UNIT * n)
        term *= sign
    return total


@lru_cache(maxsize=1)
def half_pi() -> int:
    """By Machin's formula."""

    def arctan_of_inverse(n: int) -> int:
        total, power, k = 0, UNIT // n, 1
        while power:
            total += power // k if k % 4 == 1 else -(power // k)
            power //= n * n
            k += 2
        return total

    return 2 * (4 * arctan_of_inverse(5) - arctan_of_inverse(239))


def exp(x: Fraction) -> tuple[Fraction, Fraction]:
    """For |x| < 400: the square, 9 times over, of e^(x / 512)."""
    value = taylor(fixed(x / 512), 0, UNIT, 1, 1)
    for _ in range(9):
        value = value * value // UNIT
    error = Fraction(value, UNIT) / (1 << 600)
    return Fraction(value, UNIT) - error - Fraction(SLACK, UNIT), Fraction(value, UNIT) + error + Fraction(SLACK, UNIT)


def reduced(x: Fraction) -> tuple[int, int]:
    """(quarters, rest) with x = quarters * π/2 + rest, as fixed numbers."""
    quarters = (2 * fixed(x) + half_pi()) // (2 * half_pi())
    return quarters, fixed(x) - quarters * half_pi()


def sine_and_cosine(x: Fraction) -> tuple[int, int]:
    quarters, rest = reduced(x)
    s, c = taylor(rest, 1, rest, 2, -1), taylor(rest, 0, UNIT, 2, -1)
    return {0: (s, c), 1: (c, -s), 2: (-s, -c), 3: (-c, s)}[quarters % 4]


def sin(x: Fraction) -> tuple[Fraction, Fraction]:
    return enclosed(sine_and_cosine(x)[0])


def tan(x: Fraction) -> tuple[Fraction, Fraction]:
    s, c = sine_and_cosine(x)
    value = Fraction(s, c)
    error = abs(value) / (1 << 500) + Fraction(SLACK, UNIT)
    return value - error, value + error
