"""Distinct values of arrays, faster than np.unique: that imports numpy.ma, a tenth of the time to a first answer, and
takes longer than Python for a few numbers.
"""

from __future__ import annotations

import numpy as np

FEW = 256  # Python sorts up to so many numbers faster


def distinct(values: np.ndarray) -> np.ndarray:
    """The distinct values in ascending order."""
    ascending = np.sort(values)
    is_first = np.ones(len(ascending), bool)
    np.not_equal(ascending[1:], ascending[:-1], out=is_first[1:])
    return ascending[is_first]


def ranked(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct values in ascending order, and the place among them of each value (int64 [n])."""
    if len(values) > FEW:
        known, places = np.unique(values, return_inverse=True)
        return known, places.reshape(-1)
    every = values.tolist()
    rank = {value: place for place, value in enumerate(sorted(set(every)))}
    return np.array(list(rank), values.dtype), np.array([rank[value] for value in every], np.int64)


def distinct_rows(rows: np.ndarray) -> np.ndarray:
    """The distinct rows of a matrix in lexicographic order."""
    if rows.size > FEW:
        return np.unique(rows, axis=0)
    every = sorted(set(map(tuple, rows.tolist())))
    return np.array(every, rows.dtype).reshape(len(every), rows.shape[1])
