"""Rows of a TNF as columns, and computations on all of them at once: ranges of results, dead rows, values.

All arrays are int64; bounds at ±INFINITY mean none, and arithmetic saturates there. Ranges are sound, and exact where
this is cheap; a row of unknown range has [-INFINITY, INFINITY].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from turbo_fzn.base.domains import INFINITY
from turbo_fzn.tnf.language import ADD, COMMUTATIVE, DIV, ELEMENT, EQ, LEQ, MAX, MIN, MOD, MUL, FloatOp, Op, truncated
from turbo_fzn.tnf.tuning import TUNING

SUBTRACT = len(Op)  # only in reconstructions: x = y - z
IS_COMMUTATIVE = np.isin(np.arange(max(FloatOp) + 1), list(COMMUTATIVE))


@dataclass(eq=False, repr=False)
class Rows:
    """Columns of equal length: x = y op z."""

    op: np.ndarray
    x: np.ndarray
    y: np.ndarray
    z: np.ndarray

    def select(self, mask: np.ndarray) -> Rows:
        return Rows(self.op[mask], self.x[mask], self.y[mask], self.z[mask])


class View:
    """Rows with the bounds of their variables."""

    def __init__(self, rows: Rows, lower: np.ndarray, upper: np.ndarray, tables: np.ndarray):
        self.rows, self.tables = rows, tables
        self.lx, self.ux = lower[rows.x], upper[rows.x]
        self.ly, self.uy = lower[rows.y], upper[rows.y]
        z = np.where(rows.op == ELEMENT, rows.y, rows.z)  # the offset of a table is no variable
        self.lz, self.uz = lower[z], upper[z]

    def is_total(self) -> np.ndarray:
        """Whether the result is defined for all values of the operands."""
        partial = (self.rows.op == DIV) | (self.rows.op == MOD)
        return ~(partial & (self.lz <= 0) & (self.uz >= 0))

    def is_sum_with_itself(self) -> tuple[np.ndarray, np.ndarray]:
        """The rows x = x + z, and the rows x = y + x."""
        rows = self.rows
        return (rows.op == ADD) & (rows.x == rows.y), (rows.op == ADD) & (rows.x == rows.z)

    def negations(self) -> tuple[np.ndarray, np.ndarray]:
        """The rows x = (b = 0) for a Boolean b, and a column with b."""
        is_eq = self.rows.op == EQ
        by_z = is_eq & (self.lz == 0) & (self.uz == 0) & (self.ly >= 0) & (self.uy <= 1)
        by_y = is_eq & (self.ly == 0) & (self.uy == 0) & (self.lz >= 0) & (self.uz <= 1)
        return by_z | by_y, np.where(by_z, self.rows.y, self.rows.z)

    def result(self) -> tuple[np.ndarray, np.ndarray]:
        """(lower, upper) bounds of y op z."""
        low = np.full(len(self.rows.op), -INFINITY)
        high = np.full(len(self.rows.op), INFINITY)
        for op, rule in RANGES.items():
            mask = self.rows.op == op
            if np.any(mask):
                ends = rule(self.ly[mask], self.uy[mask], self.lz[mask], self.uz[mask])
                low[mask], high[mask] = (np.clip(end, -INFINITY, INFINITY) for end in ends)
        square = (self.rows.op == MUL) & (self.rows.y == self.rows.z)
        low[square] = np.maximum(low[square], 0)
        element = np.flatnonzero(self.rows.op == ELEMENT)
        if len(element):
            low[element], high[element] = self.table_range(element)
        return low, high

    def table_range(self, element: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The least and the greatest entry that an index within its bounds reaches."""
        start, end = self.rows.z[element] + self.ly[element], self.rows.z[element] + self.uy[element] + 1
        order = np.argsort(start, kind="stable")
        cuts = np.column_stack((start[order], end[order])).reshape(-1)
        low, high = np.empty(len(element), np.int64), np.empty(len(element), np.int64)
        for result, reduce in ((low, np.minimum), (high, np.maximum)):
            result[order] = reduce.reduceat(np.append(self.tables, 0), cuts)[::2]
        return low, high


def _add_range(ly: np.ndarray, uy: np.ndarray, lz: np.ndarray, uz: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    with np.errstate(over="ignore"):
        low = np.where((ly <= -INFINITY) | (lz <= -INFINITY), -INFINITY, ly + lz)
        high = np.where((uy >= INFINITY) | (uz >= INFINITY), INFINITY, uy + uz)
    return low, high


def _multiply_range(ly: np.ndarray, uy: np.ndarray, lz: np.ndarray, uz: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    small = np.ones(len(ly), dtype=bool)
    for bound in (ly, uy, lz, uz):
        small &= np.abs(bound) <= TUNING.small_factor
    corners = [np.where(small, a, 0) * np.where(small, b, 0) for a in (ly, uy) for b in (lz, uz)]
    low, high = np.minimum.reduce(corners), np.maximum.reduce(corners)
    return np.where(small, low, -INFINITY), np.where(small, high, INFINITY)


def _divide_range(ly: np.ndarray, uy: np.ndarray, lz: np.ndarray, uz: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The range of a quotient x = y div z: exact for a positive constant z, else from |x| <= |y|."""
    reach = np.maximum(np.abs(ly), np.abs(uy))
    constant = (lz == uz) & (lz > 0)
    divisor = np.where(constant, lz, 1)
    finite = reach < INFINITY
    low = np.where(constant & finite, truncated(ly, divisor), -reach)
    return low, np.where(constant & finite, truncated(uy, divisor), reach)


def _modulo_range(ly: np.ndarray, uy: np.ndarray, lz: np.ndarray, uz: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    most = np.maximum(np.maximum(np.abs(lz), np.abs(uz)) - 1, 0)
    fixed = (ly == uy) & (lz == uz) & (lz != 0) & (most < INFINITY - 1)
    divisor = np.where(fixed, lz, 1)
    value = ly - divisor * truncated(np.where(fixed, ly, 0), divisor)
    low = np.where(fixed, value, np.where(ly >= 0, 0, np.maximum(ly, -most)))
    return low, np.where(fixed, value, np.where(uy <= 0, 0, np.minimum(uy, most)))


RANGES = {
    ADD: _add_range,
    MUL: _multiply_range,
    DIV: _divide_range,
    MOD: _modulo_range,
    MIN: lambda ly, uy, lz, uz: (np.minimum(ly, lz), np.minimum(uy, uz)),
    MAX: lambda ly, uy, lz, uz: (np.maximum(ly, lz), np.maximum(uy, uz)),
    EQ: lambda ly, uy, lz, uz: ((ly == uy) & (lz == uz) & (ly == lz), (uy >= lz) & (uz >= ly)),
    LEQ: lambda ly, uy, lz, uz: (uy <= lz, ly <= uz),
}


def dead_rows(
    rows: Rows, lower: np.ndarray, upper: np.ndarray, tables: np.ndarray, mentioned: np.ndarray
) -> tuple[np.ndarray, Rows]:
    """(dead, definitions): the rows (bool) that only define a variable which occurs nowhere else and may take any
    result, and their definitions.

    A sum defines any of its three variables: y = x - z.
    """
    n = len(lower)
    z = np.where(rows.op == ELEMENT, rows.y, rows.z)
    count = np.bincount(rows.x, minlength=n) + np.bincount(rows.y, minlength=n) + np.bincount(z, minlength=n)
    free = (count == 1) & ~mentioned
    view = View(rows, lower, upper, tables)
    low, high = view.result()
    dead_x = free[rows.x] & view.is_total() & fits(low, high, view.lx, view.ux)
    is_sum = (rows.op == ADD) & ~dead_x
    dead_y = is_sum & free[rows.y] & fits(*_subtract_range(view.lx, view.ux, view.lz, view.uz), view.ly, view.uy)
    dead_z = (
        is_sum
        & ~dead_y
        & free[rows.z * is_sum]
        & fits(*_subtract_range(view.lx, view.ux, view.ly, view.uy), view.lz, view.uz)
    )
    parts = [
        rows.select(dead_x),
        Rows(np.full(dead_y.sum(), SUBTRACT), rows.y[dead_y], rows.x[dead_y], rows.z[dead_y]),
        Rows(np.full(dead_z.sum(), SUBTRACT), rows.z[dead_z], rows.x[dead_z], rows.y[dead_z]),
    ]
    definitions = Rows(*(np.concatenate([getattr(part, name) for part in parts]) for name in ("op", "x", "y", "z")))
    return dead_x | dead_y | dead_z, definitions


def fits(low: np.ndarray, high: np.ndarray, into_low: np.ndarray, into_high: np.ndarray) -> np.ndarray:
    return (low >= into_low) & (high <= into_high) & (low > -INFINITY) & (high < INFINITY)


def _subtract_range(lx: np.ndarray, ux: np.ndarray, lz: np.ndarray, uz: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    low, high = _add_range(lx, ux, -uz, -lz)
    return np.clip(low, -INFINITY, INFINITY), np.clip(high, -INFINITY, INFINITY)


def evaluate(op: np.ndarray, y: np.ndarray, z: np.ndarray, values: np.ndarray, tables: np.ndarray) -> np.ndarray:
    """The results of rows for given values ([n] or [k, n]) of the variables; no divisor may be 0."""
    result = np.empty((*values.shape[:-1], len(op)), np.int64)
    for code, rule in VALUES.items():
        mask = op == code
        if np.any(mask):
            result[..., mask] = rule(values[..., y[mask]], values[..., z[mask]])
    element = op == ELEMENT
    result[..., element] = tables[z[element] + values[..., y[element]]]
    return result


VALUES: dict[int, Callable] = {
    ADD: np.add,
    SUBTRACT: np.subtract,
    MUL: np.multiply,
    DIV: truncated,
    MOD: lambda y, z: y - z * truncated(y, z),
    MIN: np.minimum,
    MAX: np.maximum,
    EQ: np.equal,
    LEQ: np.less_equal,
}


def compact_tables(
    rows: Rows, lower: np.ndarray, upper: np.ndarray, tables: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The table entries that some row can reach, and a column of the rows' new offsets (0 for rows without a table)."""
    element = rows.op == ELEMENT
    start, end = rows.z + lower[rows.y], rows.z + upper[rows.y] + 1
    change = np.zeros(len(tables) + 1, np.int64)
    np.add.at(change, start[element], 1)
    np.add.at(change, end[element], -1)
    used = np.cumsum(change)[: len(tables)] > 0
    position = np.append(np.cumsum(used) - used, 0)
    offsets = np.zeros(len(rows.op), np.int64)
    offsets[element] = position[start[element]] - lower[rows.y[element]]
    return tables[used], offsets
