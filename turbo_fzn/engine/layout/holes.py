"""The variables with holes, and the places of their words: see kernels/core/holes.h (variant `bitset`)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from turbo_fzn.engine.abi.abi import HOLE_BITS, MOST_HOLE_VALUES
from turbo_fzn.tnf.arrays import distinct_rows
from turbo_fzn.tnf.language import TNF, Op

WHOLE_WORD = 2**HOLE_BITS - 1


@dataclass(frozen=True, eq=False, repr=False)
class Holes:
    """`records`: int32 [n, 2], for each variable the place of its first word in the store, or -1, and the value of its
    first bit. `n_words`: the number of words of all variables. `watches`: pairs of a word and a row that it wakes
    (int64 [k] each)."""

    records: np.ndarray
    n_words: int
    watches: tuple[np.ndarray, np.ndarray]


def find_holes(tnf: TNF) -> Holes:
    """The holes of all variables of 3 to MOST_HOLE_VALUES values that are operands of EQ or in ELEMENT rows."""
    eq, element = tnf.op == Op.EQ, tnf.op == Op.ELEMENT
    able = np.zeros(tnf.n_vars, bool)
    for variables, rows in ((tnf.y, eq), (tnf.z, eq), (tnf.x, element), (tnf.y, element)):
        able[variables[rows]] = True
    size = tnf.upper.astype(np.float64) - tnf.lower + 1  # the difference may exceed int64
    able &= (size >= 3) & (size <= MOST_HOLE_VALUES)
    lower, upper = np.where(able, tnf.lower, 0), np.where(able, tnf.upper, -1)
    first = lower // HOLE_BITS
    count = np.where(able, upper // HOLE_BITS - first + 1, 0)
    place = tnf.n_vars + np.cumsum(count) - count
    records = np.column_stack((np.where(able, place, -1), first * HOLE_BITS)).astype(np.int32)
    return Holes(records, int(count.sum()), _watches(tnf, able, place, count))


def _watches(tnf: TNF, able: np.ndarray, place: np.ndarray, count: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The words that wake rows. An EQ row with a constant waits for the constant's word alone."""
    words, rows = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    eq = np.flatnonzero((tnf.op == Op.EQ) & (tnf.upper[tnf.x] == 1))  # an EQ fixed to false makes holes, and reads none
    element = np.flatnonzero(tnf.op == Op.ELEMENT)
    fixed = tnf.lower == tnf.upper
    for own, other in ((tnf.y, tnf.z), (tnf.z, tnf.y)):
        by_value = eq[able[own[eq]] & fixed[other[eq]]]
        value, variable = tnf.lower[other[by_value]], own[by_value]
        inside = (tnf.lower[variable] <= value) & (value <= tnf.upper[variable])
        by_value, value, variable = by_value[inside], value[inside], variable[inside]
        words.append(place[variable] + value // HOLE_BITS - tnf.lower[variable] // HOLE_BITS)
        rows.append(by_value)
        _add_all(words, rows, own, eq[able[own[eq]] & ~fixed[other[eq]]], place, count)
    for own in (tnf.x, tnf.y):
        _add_all(words, rows, own, element[able[own[element]]], place, count)
    both = distinct_rows(np.column_stack((np.concatenate(words), np.concatenate(rows))))  # y and z may be the same
    return both[:, 0], both[:, 1]


def _add_all(words: list, rows: list, own: np.ndarray, found: np.ndarray, place: np.ndarray, count: np.ndarray) -> None:
    """Adds each of these rows once for each word of its variable."""
    repeated = np.repeat(found, count[own[found]])
    ends = np.cumsum(count[own[found]])
    within = np.arange(len(repeated)) - np.repeat(ends - count[own[found]], count[own[found]])
    words.append(place[own[repeated]] + within)
    rows.append(repeated)
