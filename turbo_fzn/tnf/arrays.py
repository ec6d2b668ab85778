"""Distinct values of arrays, faster than np.unique: that imports numpy.ma, a tenth of the time to a first answer, and
takes longer than Python for a few numbers.
"""

from __future__ import annotations

import math

import numpy as np

from turbo_fzn.tnf.tuning import TUNING


def distinct(values: np.ndarray) -> np.ndarray:
    """The distinct values in ascending order."""
    ascending = np.sort(values)
    is_first = np.ones(len(ascending), bool)
    np.not_equal(ascending[1:], ascending[:-1], out=is_first[1:])
    return ascending[is_first]


def ranked(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct values in ascending order, and the place among them of each value (int64 [n])."""
    if len(values) > TUNING.few_numbers:
        low, high = int(values.min()), int(values.max())
        if high - low < TUNING.counted_range * len(values):
            return _ranked_by_counting(values, low, high)
        known, places = np.unique(values, return_inverse=True)
        return known, places.reshape(-1)
    every = values.tolist()
    rank = {value: place for place, value in enumerate(sorted(set(every)))}
    return np.array(list(rank), values.dtype), np.array([rank[value] for value in every], np.int64)


def _ranked_by_counting(values: np.ndarray, low: int, high: int) -> tuple[np.ndarray, np.ndarray]:
    is_taken = np.zeros(high - low + 1, bool)
    is_taken[values - low] = True
    return (np.flatnonzero(is_taken) + low).astype(values.dtype), (np.cumsum(is_taken) - 1)[values - low]


def distinct_rows(rows: np.ndarray) -> np.ndarray:
    """The distinct rows of a matrix in lexicographic order."""
    if rows.size > TUNING.few_numbers:
        codes = _codes(rows)
        if codes is None:
            return np.unique(rows, axis=0)
        if np.all(codes[1:] > codes[:-1]):  # most matrices are sorted already
            return rows
        return rows[np.unique(codes, return_index=True)[1]]
    every = sorted(set(map(tuple, rows.tolist())))
    return np.array(every, rows.dtype).reshape(len(every), rows.shape[1])


def _codes(rows: np.ndarray) -> np.ndarray | None:
    """64-bit numbers in the same order as the rows, or None if they do not fit."""
    least, most = rows.min(axis=0).tolist(), rows.max(axis=0).tolist()
    sizes = [high - low + 1 for low, high in zip(least, most)]
    if math.prod(sizes) > TUNING.largest_code:
        return None
    codes = np.zeros(len(rows), np.int64)
    for column, low, size in zip(rows.T, least, sizes):
        codes *= size
        codes += column - low
    return codes
