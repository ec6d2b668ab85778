"""Constraints that only the reader of XCSP3 writes, not MiniZinc: elements with any first index, and interval tables.

A cell of an interval table is an interval: one value, `*`, or the values that a comparison with a constant allows. The
truth of a row is the conjunction of its cells' truths, without cells that the domains decide; one row must be true. As
in table.py, each value of a variable must have a row that allows it; all rows with an open cell in a column share one
truth there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from turbo_fzn.lower import bulk
from turbo_fzn.lower import constraints_int as integer
from turbo_fzn.lower.builder import RowBuilder
from turbo_fzn.lower.tuning import TUNING
from turbo_fzn.tnf.language import ADD, ELEMENT, EQ, LEQ, MAX, MIN


def element(b: RowBuilder, x: Sequence[int], first: int, i: int, z: int, r: int) -> None:
    """r = (i is an index of x, whose first element has index `first`, and z is that element)."""
    if b.value(r) == 1:
        b.restrict(i, first, first + len(x) - 1)
        return integer.define_element(b, z, i, x, first)
    index = i if first == 1 else b.row(ADD, i, b.constant(1 - first))
    return integer.element(b, index, x, z, r)


@dataclass(eq=False, repr=False)
class Intervals:
    """The distinct rows of an interval table that certain bounds allow ([row, column]). `ends` are kept, since their
    identity is part of the key."""

    ends: tuple[Sequence[int], Sequence[int]]
    low: np.ndarray
    high: np.ndarray
    is_open: bool  # whether a row allows all values
    offsets: list[tuple[int, int]] = field(default_factory=list)  # for each column: the place of its ends in `tables`

    @cached_property
    def n_truths(self) -> int:
        """An estimate of the truth values of a constraint: the conjunctions of cells, and the supports of values."""
        supports = (self.high - self.low + 1).astype(float).sum(axis=0)
        return self.low.size + int(supports[supports <= TUNING.column_supports].sum())


def _intervals_of(b: RowBuilder, x: Sequence[int], n_rows: int, low: Sequence[int], high: Sequence[int]) -> Intervals:
    """The Intervals of a table, made once for all variables with the same bounds."""
    lower, upper = bulk.bounds(b, x)
    key = "intervals", id(low), id(high), n_rows, lower.tobytes(), upper.tobytes()
    known = b.plans.get(key)
    if known is None:
        ends = [np.array(side, np.int64).reshape(n_rows, len(x)) for side in (low, high)]
        ends = [np.maximum(ends[0], lower), np.minimum(ends[1], upper)]
        possible = (ends[0] <= ends[1]).all(axis=1)
        rows = np.unique(np.stack([side[possible] for side in ends], axis=1), axis=0)
        is_open = bool((rows == np.stack([lower, upper])).all(axis=(1, 2)).any())
        known = b.plans[key] = Intervals((low, high), rows[:, 0], rows[:, 1], is_open)
    return known


def _table_interval(
    b: RowBuilder, x: Sequence[int], n_rows: int, low: Sequence[int], high: Sequence[int], r: int
) -> None:
    """r = (some row has each of x within low to high; cells are given row by row)."""
    if not x:
        return b.merge(r, b.true if n_rows else b.false)
    rows = _intervals_of(b, x, n_rows, low, high)
    if rows.is_open or not len(rows.low):
        return b.merge(r, b.true if rows.is_open else b.false)
    if b.value(r) == 1 and (
        rows.low.size > TUNING.interval_rows or b.rows_of_tables + rows.n_truths > TUNING.table_rows
    ):
        return _number_of_row(b, x, rows)
    b.rows_of_tables += rows.n_truths
    cells, is_open = _truths_of_cells(b, x, rows.low, rows.high)
    group = np.repeat(np.arange(len(rows.low)), len(x))[~is_open.reshape(-1)]
    rows_hold = bulk.trees(b, MIN, cells.reshape(-1)[~is_open.reshape(-1)], group, len(rows.low))
    b.merge(r, bulk.tree(b, MAX, rows_hold))
    if b.value(b.find(r)) == 1:
        for column, v in enumerate(x):
            _support_values(b, v, rows.low[:, column], rows.high[:, column], is_open[:, column], rows_hold)
    return None


def _truths_of_cells(
    b: RowBuilder, x: Sequence[int], low: np.ndarray, high: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The truth of each cell, and whether it allows all values of its variable."""
    truths, is_open = np.full(low.shape, b.true), np.zeros(low.shape, dtype=bool)
    for column, v in enumerate(map(b.find, x)):
        pairs = np.stack([low[:, column], high[:, column]], axis=1)
        distinct, place = np.unique(pairs, axis=0, return_inverse=True)
        of_pair = [truth_of_interval(b, v, one, other) for one, other in distinct.tolist()]
        truths[:, column] = np.array(of_pair, np.int64)[place.reshape(-1)]
        is_open[:, column] = (pairs == (b.lower[v], b.upper[v])).all(axis=1)
    return truths, is_open


def truth_of_interval(b: RowBuilder, v: int, low: int, high: int) -> int:
    if low == high:
        return bulk.shared(b, EQ, v, b.constant(low))
    return b.truth_of_interval(v, low, high)


def _support_values(
    b: RowBuilder, v: int, low: np.ndarray, high: np.ndarray, is_open: np.ndarray, rows_hold: np.ndarray
) -> None:
    """States that each value of the variable has a true row that allows it."""
    values = bulk.domain(b, v)
    closed = np.flatnonzero(~is_open)
    if values.size * max(len(closed), 1) > TUNING.column_supports:
        return
    shared = bulk.tree(b, MAX, rows_hold[is_open]) if is_open.any() else b.false
    for value in values:
        having = rows_hold[closed[(low[closed] <= value) & (value <= high[closed])]]
        if shared == b.false and not len(having):
            b.define(b.false, EQ, v, b.constant(value))
            continue
        some = b.tree(MAX, [shared, *having.tolist()], 0)
        b.define(b.true, LEQ, bulk.shared(b, EQ, v, b.constant(value)), some)


def _number_of_row(b: RowBuilder, x: Sequence[int], rows: Intervals) -> None:
    """States the table by a variable for the number of the row: each of x lies between two elements at this index."""
    if not rows.offsets:
        rows.offsets = [(b.table(low), b.table(high)) for low, high in zip(rows.low.T.tolist(), rows.high.T.tolist())]
    row = b.variable(0, len(rows.low) - 1)
    for v, offsets, low, high in zip(x, rows.offsets, rows.low.T, rows.high.T):
        below, above = (b.variable(int(side.min()), int(side.max())) for side in (low, high))
        b.emit(below, ELEMENT, row, offsets[0])
        b.emit(above, ELEMENT, row, offsets[1])
        b.define(b.true, LEQ, below, v)
        b.define(b.true, LEQ, v, above)


LOWERINGS: dict[str, Callable[..., None]] = {
    "turbo_element": element,
    "turbo_table_interval": _table_interval,
}
