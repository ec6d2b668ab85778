"""Interval arithmetic on the host, in exact Python integers that saturate at plus and minus INFINITY.

For each operator there is a function from the bounds of y and z to bounds of `y op z`, the tightest where that is
cheap. A bound at ±INFINITY is no bound. Where no result can be stored, both bounds are INFINITY, or both -INFINITY
(`is_beyond`): a contradiction for a variable that is bounded on that side, else a reason to refuse the model. An
interval with only one end beyond, such as the square of 1.., is no such reason.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from turbo_fzn.base.domains import INFINITY
from turbo_fzn.tnf.language import Op, truncated

Interval = tuple[int, int]
BEYOND = "an integer expression whose value lies beyond ±2**62"


def _saturate(low: float, high: float) -> Interval:
    """The interval with ends beyond ±INFINITY cut to "no bound"."""
    return cut(low), cut(high)


def cut(end: float) -> int:
    return INFINITY if end >= INFINITY else -INFINITY if end <= -INFINITY else int(end)


def is_beyond(span: Interval) -> bool:
    """Whether no value of the interval can be stored."""
    return span[0] >= INFINITY or span[1] <= -INFINITY


def _widen(bound: int) -> float:
    """The bound as a number, or plus or minus infinity for no bound."""
    return bound if -INFINITY < bound < INFINITY else (inf if bound > 0 else -inf)


def add(ly: int, uy: int, lz: int, uz: int) -> Interval:
    low, high = ly + lz, uy + uz
    if -INFINITY < low and high < INFINITY and ly > -INFINITY < lz and uy < INFINITY > uz:
        return low, high
    return _saturate(_widen(ly) + _widen(lz), _widen(uy) + _widen(uz))


def multiply(ly: int, uy: int, lz: int, uz: int) -> Interval:
    if -INFINITY < ly and uy < INFINITY and -INFINITY < lz and uz < INFINITY:
        products = (ly * lz, ly * uz, uy * lz, uy * uz)
        return _saturate(min(products), max(products))
    y, z = (_widen(ly), _widen(uy)), (_widen(lz), _widen(uz))
    corners = [0 if a == 0 or b == 0 else a * b for a in y for b in z]
    return _saturate(min(corners), max(corners))


def square(ly: int, uy: int) -> Interval:
    ends = abs(_widen(ly)), abs(_widen(uy))
    return _saturate(0 if ly <= 0 <= uy else min(ends) ** 2, max(ends) ** 2)


def quotient(y: float, z: float) -> float:
    """y div z truncated towards 0, for z ≠ 0; an infinite y gives an infinite quotient."""
    if abs(z) == inf:
        return 0
    return truncated(y, z) if abs(y) < inf else y if z > 0 else -y


def divide(ly: int, uy: int, lz: int, uz: int) -> Interval:
    """The bounds of y div z: the extremes are at the ends of y and of the two parts of z without 0."""
    divisors = {end for end in (lz, uz, -1, 1) if lz <= end <= uz and end != 0}
    if not divisors:
        return 0, 0  # z = 0: the row fails anyway
    corners = [quotient(_widen(y), _widen(z)) for y in (ly, uy) for z in divisors]
    return _saturate(min(corners), max(corners))


def modulo(ly: int, uy: int, lz: int, uz: int) -> Interval:
    """The bounds of x = y mod z: x has the sign of y, and |x| < |z|."""
    most = max(abs(lz), abs(uz)) - 1 if max(abs(lz), abs(uz)) < INFINITY else INFINITY
    most = max(most, 0)
    return (0 if ly >= 0 else max(ly, -most)), (0 if uy <= 0 else min(uy, most))


def minimum(ly: int, uy: int, lz: int, uz: int) -> Interval:
    return (ly if ly < lz else lz), (uy if uy < uz else uz)


def maximum(ly: int, uy: int, lz: int, uz: int) -> Interval:
    return (ly if ly > lz else lz), (uy if uy > uz else uz)


def equal(ly: int, uy: int, lz: int, uz: int) -> Interval:
    return (1 if ly == uy == lz == uz else 0), (0 if uy < lz or uz < ly else 1)


def less_or_equal(ly: int, uy: int, lz: int, uz: int) -> Interval:
    return (1 if uy <= lz else 0), (0 if ly > uz else 1)


RESULT: list[Callable[[int, int, int, int], Interval]] = [
    function
    for _, function in sorted(
        {
            Op.ADD: add,
            Op.MUL: multiply,
            Op.DIV: divide,
            Op.MOD: modulo,
            Op.MIN: minimum,
            Op.MAX: maximum,
            Op.EQ: equal,
            Op.LEQ: less_or_equal,
        }.items()
    )
]
