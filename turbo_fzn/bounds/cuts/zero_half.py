"""Zero-half cuts: sums of rows, of which the half is rounded down (Caprara, Fischetti, Mathematical Programming 1996).

If the sides of some rows a t <= b over integers t >= 0 add up to an odd number, their sum A t <= B gives

    sum floor(A_j / 2) t_j  <=  (B - 1) / 2

This gains a half. At a point it loses half of the rows' slacks there, and half of each column whose coefficients add up
to an odd number. So sums are looked for that have few odd columns, and small ones: by elimination modulo 2, of the
largest columns first (Andreello, Caprara and Fischetti, INFORMS Journal on Computing 2007). Here rows are only chosen,
with the help of floating-point numbers; `cutter.py` adds them up and rounds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from turbo_fzn.base.domains import INFINITY
from turbo_fzn.bounds.cuts.tuning import TUNING
from turbo_fzn.bounds.lp.relaxation import LinearRows


class Parity(NamedTuple):
    """A sum of rows modulo 2: the rows and the odd columns, as bits; whether its side is odd; all slacks together."""

    rows: int
    columns: int
    is_odd: bool
    slack: float


def sums_of_rows(
    rows: LinearRows, activity: np.ndarray, ends: np.ndarray, values: np.ndarray
) -> Iterator[dict[int, int]]:
    """Rows to add up, each with 1 for its upper side or -1 for its lower side; sums with the largest gain come first.

    activity: float [m], of the rows at the point `values` (float [n]); ends: int64 [n], the bound that each column is
    counted from.
    """
    over, under = rows.upper - activity, activity - rows.lower
    sign = np.where(over <= under, 1, -1)
    slack = np.maximum(np.minimum(over, under), 0)
    distance = np.abs(values - ends)
    owner = np.repeat(np.arange(len(rows)), np.diff(rows.start))
    is_odd = (rows.values % 2 != 0) & (distance[rows.columns] > TUNING.half_zero)
    usable = slack < TUNING.half_loss
    usable[owner[np.abs(ends[rows.columns]) >= INFINITY]] = False
    usable &= np.bincount(owner[is_odd], minlength=len(rows)) > 0
    chosen = np.flatnonzero(usable)
    chosen = chosen[np.argsort(slack[chosen], kind="stable")[: TUNING.half_rows]]

    columns = np.unique(rows.columns[is_odd & np.isin(owner, chosen)])
    columns = columns[np.argsort(-distance[columns], kind="stable")]
    bit_of = {column: 1 << place for place, column in enumerate(columns.tolist())}
    parities = []
    for place, row in enumerate(chosen.tolist()):
        entries = slice(rows.start[row], rows.start[row + 1])
        odd_columns = sum(bit_of[column] for column in rows.columns[entries][is_odd[entries]].tolist())
        side = int((rows.upper if sign[row] > 0 else rows.lower)[row])
        side -= int((rows.values[entries] % 2) @ (ends[rows.columns[entries]] % 2))
        parities.append(Parity(1 << place, odd_columns, side % 2 != 0, float(slack[row])))
    for found in eliminate(parities, distance[columns].tolist()):
        yield {int(row): int(sign[row]) for row in (chosen[place] for place in bits(found))}


def eliminate(parities: list[Parity], values: list[float]) -> list[int]:
    """The sums with the largest gain, as bits of rows, at most `half_sums`; `values` of the columns, falling."""
    slacks = [parity.slack for parity in parities]
    n_left = TUNING.half_additions
    found: dict[int, float] = {}
    by_first: list[list[Parity]] = [[] for _ in range(len(values) + 1)]  # odd column

    def take(parity: Parity) -> None:
        found[parity.rows] = gain(parity, values)
        by_first[(parity.columns & -parity.columns).bit_length() - 1].append(parity)

    for parity in parities:
        take(parity)
    for column in range(len(values)):
        n_left -= len(by_first[column])
        if n_left < 0:
            break
        if len(by_first[column]) > 1:
            pivot = min(by_first[column], key=lambda parity: parity.slack)
            for parity in by_first[column]:
                if parity is not pivot and parity.slack + pivot.slack <= TUNING.half_loss:
                    take(add(parity, pivot, slacks))
    best = sorted((rows for rows in found if found[rows] > 0), key=lambda rows: (-found[rows], rows))
    return best[: TUNING.half_sums]


def add(one: Parity, other: Parity, slacks: list[float]) -> Parity:
    """The sum of two sums modulo 2: a row in both of them cancels out."""
    twice = sum(slacks[row] for row in bits(one.rows & other.rows))
    slack = one.slack + other.slack - 2 * twice
    return Parity(one.rows ^ other.rows, one.columns ^ other.columns, one.is_odd != other.is_odd, slack)


def gain(parity: Parity, values: list[float]) -> float:
    """How much is left of `half_loss`, at least 0; an even side wins nothing."""
    left = TUNING.half_loss - parity.slack if parity.is_odd else 0.0
    for column in bits(parity.columns):
        if left <= 0:
            return 0.0
        left -= values[column]
    return max(left, 0.0)


def bits(number: int) -> Iterator[int]:
    """The positions of the bits of a number that are 1, lowest first."""
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest
