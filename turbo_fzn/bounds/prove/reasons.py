"""Inequalities that learners can use, from the certificates of a linear relaxation.

A certificate is a sum of rows: multipliers y, whose signs choose the side of each row. So

    -y A x  <=  -side                                                 (certificate.py)

holds in all solutions, whatever the box is in which its value proved a bound or that nothing is there: decisions of a
branch and bound are bounds of the box, and no part of the sum. With an objective among the rows it reads "reduced costs
are no more than the objective exceeds the bound by", and propagates as reduced-cost fixing at every node of a search;
what it excludes there has a reason, so it is learned from (Perron, Didier, Gay, CP 2023).

For learners its numbers must be small, and its variables theirs. Count each term from the end of its bounds where it is
least: sum of a_j t_j <= b with a_j > 0 and t_j >= 0. Whatever lowers an a_j leaves it true. So a column that learners
do not have is dropped, and so are the smallest terms where they are too many; no a_j is above b + 1; and all are
divided by a power of two and rounded down, as is b. `follows` verifies the result against the sum of rows.
"""

from __future__ import annotations

from math import gcd
from typing import NamedTuple

import numpy as np

from turbo_fzn.base.domains import INFINITY
from turbo_fzn.bounds.lp.relaxation import LinearRows
from turbo_fzn.bounds.prove.tuning import TUNING

Entries = dict[int, int]
Box = dict[int, tuple[int, int]]


class Reason(NamedTuple):
    """sum of `entries` <= `high`, over a learner's variables. It is `divisor` times weaker than the sum it is from."""

    entries: Entries
    high: int
    divisor: int


def sum_of(rows: LinearRows, multipliers: np.ndarray) -> tuple[Entries, int] | None:
    """(entries, high) of the sum of rows, computed from the rows alone; None where a row lacks the side that its
    multiplier needs, or where the sum is too much work."""
    used = np.flatnonzero(multipliers)
    if int((rows.start[used + 1] - rows.start[used]).sum()) > TUNING.reason_entries:
        return None
    entries: Entries = {}
    high = 0
    for number, multiplier in zip(used.tolist(), multipliers[used].tolist()):
        row, low, most = rows.row(number)
        end = low if multiplier > 0 else most
        if abs(end) >= INFINITY:
            return None
        high -= multiplier * end
        for column, value in row.items():
            entries[column] = entries.get(column, 0) - multiplier * value
    return {column: value for column, value in entries.items() if value}, high


def reason_of(
    multipliers: np.ndarray, rows: LinearRows, lower: np.ndarray, upper: np.ndarray, places: np.ndarray
) -> Reason | None:
    """The inequality for learners that follows from the sum of the rows; None if nothing useful follows.

    multipliers (integers [m]): of the rows, as in a certificate. lower, upper (int64 [n]): bounds of the columns in all
    solutions that are wanted. places (int64 [n]): the learners' variable of each column, -1 for none."""
    found = sum_of(rows, multipliers)
    if found is None:
        return None
    entries, high, box = _joined(*found, lower, upper, places)
    if any(abs(end) >= INFINITY for ends in box.values() for end in ends):
        return None
    reason = _weakened(entries, high, box)
    return reason if reason is not None and follows(reason, entries, high, box) else None


def follows(reason: Reason, entries: Entries, high: int, box: Box) -> bool:
    """Whether the reason holds at the integer points of the box where sum of entries <= high: divisor * its sum is at
    most this sum plus the greatest difference of the two in the box."""
    if not reason.entries.keys() <= box.keys():
        return False
    most = 0
    for variable in {**entries, **reason.entries}:
        rest = reason.divisor * reason.entries.get(variable, 0) - entries.get(variable, 0)
        most += max(rest * end for end in box[variable])
    return reason.divisor > 0 and (high + most) // reason.divisor <= reason.high


def _joined(
    entries: Entries, high: int, lower: np.ndarray, upper: np.ndarray, places: np.ndarray
) -> tuple[Entries, int, Box]:
    """The inequality over the learners' variables, and their bounds. A column that learners do not have gets a number
    below 0."""
    joined: Entries = {}
    box: Box = {}
    for column, value in entries.items():
        place = int(places[column])
        key = place if place >= 0 else -1 - column
        low, most = box.get(key, (-INFINITY, INFINITY))
        box[key] = max(low, int(lower[column])), min(most, int(upper[column]))
        joined[key] = joined.get(key, 0) + value
    return joined, high, box


def _weakened(entries: Entries, high: int, box: Box) -> Reason | None:
    """The inequality with small numbers, over variables that are not below 0."""
    slack = high - sum(min(value * low, value * most) for (low, most), value in _with_bounds(entries, box))
    if slack < 0:
        return None  # there is no better solution: the bound proves the same
    terms = [
        (key, min(abs(value), slack + 1), value < 0)
        for key, value in entries.items()
        if value and key >= 0 and box[key][0] < box[key][1]
    ]
    divisor = 1
    while not _is_small(terms, divisor, box):
        divisor *= 2
    small = [(key, size // divisor, negative) for key, size, negative in terms if size >= divisor]
    small.sort(key=lambda term: -term[1] * (box[term[0]][1] - box[term[0]][0]))
    del small[TUNING.reason_terms :]
    if len(small) < 2:
        return None
    return _from_ends(small, slack // divisor, divisor, box)


def _with_bounds(entries: Entries, box: Box) -> list[tuple[tuple[int, int], int]]:
    return [(box[key], value) for key, value in entries.items()]


def _is_small(terms: list[tuple[int, int, bool]], divisor: int, box: Box) -> bool:
    """Whether the numbers of the terms, divided, are in their limits."""
    if max((size for _, size, _ in terms), default=0) // divisor > TUNING.reason_factor:
        return False
    return sum(size // divisor * max(map(abs, box[key])) for key, size, _ in terms) < TUNING.reason_sum


def _from_ends(terms: list[tuple[int, int, bool]], slack: int, divisor: int, box: Box) -> Reason:
    """The inequality sum of size * distance from an end <= slack: from the upper end where `negative`."""
    common = gcd(*(size for _, size, _ in terms))
    slack //= common
    entries = {key: (-size if negative else size) // common for key, size, negative in terms}
    high = slack + sum(min(value * low, value * most) for (low, most), value in _with_bounds(entries, box))
    return Reason(entries, high, divisor * common)
