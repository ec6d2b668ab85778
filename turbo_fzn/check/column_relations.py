"""The meaning of the predicates on whole columns: relations.py for thousands of constraints at once.

A large model has 10^5 constraints to check for each solution. So the constraints of one predicate are a table with a
column for each argument, and NumPy evaluates the relation on whole columns. Columns may have a leading dimension, with
an entry for each solution. A relation is evaluated on columns only if 64-bit arithmetic cannot overflow (`OVERFLOWS`
finds where it may); predicates without a form here are evaluated row by row (tables.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from turbo_fzn.base.domains import INFINITY, IntSet
from turbo_fzn.check.relations import RELATIONS, divide


class ArrayColumn:
    """The array arguments of a group in one position, as starts and lengths in the vector of all elements."""

    def __init__(self, spans: Sequence[tuple[int, int]]):
        pairs = np.array(spans, dtype=np.int64).reshape(-1, 2)
        self.start: np.ndarray = pairs[:, 0]
        self.length: np.ndarray = pairs[:, 1]
        self.offset = np.cumsum(self.length) - self.length

    @cached_property
    def flat(self) -> np.ndarray:
        """Positions of all elements of all rows, row after row."""
        return np.repeat(self.start - self.offset, self.length) + np.arange(int(self.length.sum()))


class ArrayRows:
    """A column of arrays: row k holds `contents[start[k] : start[k] + length[k]]`, all rows joined in `flat`.

    `contents` may have further leading dimensions; then the results have them too.
    """

    def __init__(self, contents: np.ndarray, column: ArrayColumn):
        self.contents, self.column = contents, column
        self.start: np.ndarray = column.start
        self.length: np.ndarray = column.length

    @cached_property
    def flat(self) -> np.ndarray:
        return self.contents[..., self.column.flat]

    def reduce(self, operation: np.ufunc, neutral: int, flat: np.ndarray | None = None) -> np.ndarray:
        """The operation over each row; `neutral` for an empty row, for which `reduceat` would use its neighbour."""
        flat = self.flat if flat is None else flat
        result = np.full((*flat.shape[:-1], len(self.length)), neutral, dtype=flat.dtype)
        filled = self.length > 0
        if filled.any():
            result[..., filled] = operation.reduceat(flat, self.column.offset[filled], axis=-1)
        return result

    def any(self) -> np.ndarray:
        return self.reduce(np.maximum, 0) != 0

    def all(self) -> np.ndarray:
        return self.reduce(np.minimum, 1) != 0

    def dot(self, other: ArrayRows) -> np.ndarray:
        return self.reduce(np.add, 0, self.flat * other.flat)

    def dot_overflows(self, other: ArrayRows) -> np.ndarray:
        """The rows (bool) whose sum of absolute terms may exceed 2**62; a cheap bound for all rows is tried first."""
        limits = [int(np.abs(rows.flat).max(initial=0)) for rows in (self, other)]
        if limits[0] * limits[1] * int(self.length.max(initial=0)) < INFINITY:
            return np.zeros((*self.flat.shape[:-1], len(self.length)), dtype=bool)
        return self.reduce(np.add, 0, np.abs(self.flat.astype(float) * other.flat.astype(float))) >= INFINITY

    def has_at(self, i: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Whether element i of each row exists and equals z."""
        inside = (1 <= i) & (i <= self.length)
        if not inside.any():
            return inside
        return inside & (np.take_along_axis(self.contents, np.where(inside, self.start + i - 1, 0), -1) == z)


class Sets:
    """A column of sets."""

    def __init__(self, sets: Sequence[IntSet]):
        ends = [np.array(one.ranges, dtype=object).reshape(-1, 2).clip(-INFINITY, INFINITY) for one in sets]
        self.lows, self.highs = ([pairs[:, side].astype(np.int64) for pairs in ends] for side in (0, 1))

    def has(self, x: np.ndarray) -> np.ndarray:
        """Whether each row's value is in its set (bool)."""
        result = np.zeros(x.shape, dtype=bool)
        for row, (lows, highs) in enumerate(zip(self.lows, self.highs)):
            if len(lows):
                values = x[..., row]
                place = np.searchsorted(lows, values, side="right") - 1
                result[..., row] = (place >= 0) & (values <= highs[place])
        return result


def _divide_columns(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x div y, truncated towards 0; any number where y is 0."""
    return divide(x, np.where(y == 0, 1, y))


# Relations whose definition works on columns as on values, and column forms of the others.
ELEMENTWISE = (
    *("int_eq", "int_ne", "int_le", "int_lt", "int_plus", "int_times", "int_abs", "bool2int"),
    *("bool_eq", "bool_le", "bool_lt", "bool_not", "bool_xor", "bool_xor/2"),
)
COLUMN_RELATIONS: dict[str, Callable] = {name: RELATIONS[name] for name in ELEMENTWISE} | {
    "int_lin_eq": lambda c, x, k: c.dot(x) == k,
    "int_lin_ne": lambda c, x, k: c.dot(x) != k,
    "int_lin_le": lambda c, x, k: c.dot(x) <= k,
    "bool_lin_eq": lambda c, x, k: c.dot(x) == k,
    "bool_lin_le": lambda c, x, k: c.dot(x) <= k,
    "set_in": lambda x, sets: sets.has(x),
    "int_div": lambda x, y, z: (y != 0) & (_divide_columns(x, y) == z),
    "int_mod": lambda x, y, z: (y != 0) & (x - y * _divide_columns(x, y) == z),
    "int_min": lambda x, y, z: np.minimum(x, y) == z,
    "int_max": lambda x, y, z: np.maximum(x, y) == z,
    "bool_and": lambda x, y, r: (x & y) == r,
    "bool_or": lambda x, y, r: (x | y) == r,
    "bool_clause": lambda positive, negative: positive.any() | ~negative.all(),
    "array_bool_and": lambda xs, r: xs.all() == r,
    "array_bool_or": lambda xs, r: xs.any() == r,
    "array_bool_and/1": lambda xs: xs.all(),
    "array_bool_or/1": lambda xs: xs.any(),
    "array_bool_xor": lambda xs: xs.reduce(np.add, 0) % 2 == 1,
    "array_int_element": lambda i, xs, z: xs.has_at(i, z),
    "array_var_int_element": lambda i, xs, z: xs.has_at(i, z),
    "array_bool_element": lambda i, xs, z: xs.has_at(i, z),
    "array_var_bool_element": lambda i, xs, z: xs.has_at(i, z),
    "array_int_maximum": lambda m, xs: (xs.length > 0) & (xs.reduce(np.maximum, 0) == m),
    "array_int_minimum": lambda m, xs: (xs.length > 0) & (xs.reduce(np.minimum, 0) == m),
}
# The rows that 64-bit arithmetic may get wrong although every value is within +-2**62.
OVERFLOWS: dict[str, Callable] = {
    "int_times": lambda x, y, *_: np.maximum(np.abs(x), np.abs(y)) >= 2**31,
    **{name: lambda c, x, *_: c.dot_overflows(x) for name in COLUMN_RELATIONS if "_lin_" in name},
}


# The type of a column of arguments of each kind.
COLUMNS: dict[str, Callable] = {"a": ArrayColumn, "s": Sets, "i": lambda slots: np.array(slots, dtype=np.int64)}
