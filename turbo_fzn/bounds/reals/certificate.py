"""Proofs over boxes of real variables: bounds and refutations by sums of linear rows, in exact integers.

A solver's multipliers of the rows may be anything: the sum of the rows times the multipliers is computed exactly, so
that rounding cannot make a bound false.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from turbo_fzn.bounds.lp.exact import Exact, Row
from turbo_fzn.bounds.prove.farkas import within_one
from turbo_fzn.bounds.reals.envelopes import Box

DENOMINATOR = 2**40  # formula: of multipliers
LARGEST_MULTIPLIER = 1e15  # formula: larger duals are taken for errors
FAR = 1e19  # format: a larger bound counts as none: HiGHS takes 1e20 for infinite, and refuses a lower bound of 1e20


def limits(box: Box) -> tuple[np.ndarray, np.ndarray]:
    """The bounds (float64 [n] each) of a box as HiGHS takes them."""
    lower = np.where(box.lower > -FAR, np.minimum(box.lower, FAR), -np.inf)
    return lower, np.where(box.upper < FAR, np.maximum(box.upper, -FAR), np.inf)


def prove(rows: Sequence[Row], cost: dict[int, int], box: Box, duals: np.ndarray) -> Fraction | None:
    """A lower bound of `cost` x in the box. For any multipliers d of the rows,

        cost x  =  d A x + (cost - d A) x  >=  the ends of the rows times d + the ends of the box times (cost - d A).

    None where an end is missing. All numbers are integers over powers of two, so the sums are computed in integers."""
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
    """The duals as integers over DENOMINATOR; 0 for a dual that is not a number or too large."""
    sensible = np.abs(duals) < LARGEST_MULTIPLIER  # False for nan
    return [round(dual * DENOMINATOR) for dual in np.where(sensible, duals, 0.0).tolist()]


def _is_usable(row: Row, factor: int) -> bool:
    """Whether the row has the side that the multiplier asks for."""
    return factor != 0 and (row.low if factor > 0 else row.high) is not None


def _numbers_in(row: Row) -> Iterator[Exact]:
    yield from row.entries.values()
    yield from (side for side in (row.low, row.high) if side is not None)


def scaled(number: Exact | None, scale: int) -> int:
    """number * scale as an integer; the denominator must divide the scale."""
    assert number is not None and scale % number.denominator == 0
    return number.numerator * (scale // number.denominator)


def is_refuted(rows: Sequence[Row], box: Box, ray: np.ndarray) -> bool:
    """Whether the ray, or its negation, proves that the box has no solution (Farkas)."""
    scaled = within_one(ray)
    if scaled is None:
        return False
    found = (prove(rows, {}, box, direction) for direction in (scaled, -scaled))
    return any(least is not None and least > 0 for least in found)
