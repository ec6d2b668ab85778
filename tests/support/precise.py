"""exp, sin and tan of rational numbers to hundreds of digits, in integers alone: the judge of the kernels' functions.

Each gives (low, high), fractions that enclose the exact value.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import isqrt, perm

BITS = 800  # behind the point: the least code's number is 2**-511, and has 53 bits
UNIT = 1 << BITS
SLACK = 1 << 40  # of the last places, more than all roundings together


def fixed(x: Fraction) -> int:
    return x.numerator * UNIT // x.denominator


def enclosed(value: int) -> tuple[Fraction, Fraction]:
    return Fraction(value - SLACK, UNIT), Fraction(value + SLACK, UNIT)


def taylor(first: int, factor: int, start: int, step: int, sign: int) -> int:
    """The series whose term k is first * (sign * factor)^k * start! / (start + k step)!; first and factor are >= 0."""
    total, term, n = 0, first, start
    while term:
        total += term
        n += step
        term = (abs(term) * factor >> BITS) // perm(n, step) * (sign if term > 0 else 1)
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
    value = taylor(UNIT, abs(fixed(x / 512)), 0, 1, 1 if x > 0 else -1)
    for _ in range(9):
        value = value * value >> BITS
    error = (value >> 600) + SLACK
    return Fraction(value - error, UNIT), Fraction(value + error, UNIT)


def reduced(x: Fraction) -> tuple[int, int]:
    """(quarters, rest) with x = quarters * π/2 + rest, as fixed numbers."""
    quarters = (2 * fixed(x) + half_pi()) // (2 * half_pi())
    return quarters, fixed(x) - quarters * half_pi()


def sine_and_cosine(x: Fraction) -> tuple[int, int]:
    quarters, rest = reduced(x)
    s = taylor(abs(rest), rest * rest >> BITS, 1, 2, -1) * (1 if rest > 0 else -1)
    c = isqrt(UNIT * UNIT - s * s)  # positive: the rest is at most an eighth of a turn, to either side
    return {0: (s, c), 1: (c, -s), 2: (-s, -c), 3: (-c, s)}[quarters % 4]


def sin(x: Fraction) -> tuple[Fraction, Fraction]:
    return enclosed(sine_and_cosine(x)[0])


def tan(x: Fraction) -> tuple[Fraction, Fraction]:
    s, c = sine_and_cosine(x)
    value = s * UNIT // c
    error = (abs(value) >> 500) + SLACK
    return Fraction(value - error, UNIT), Fraction(value + error, UNIT)
