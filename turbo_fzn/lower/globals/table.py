"""table: some row of a table equals x.

Each row has a truth value: all variables have the row's values. A value is taken exactly when some row with it is true,
so a value that has no row left is lost at once: the supports of generalised arc consistency (Bessiere and Régin 1997)
as Booleans, c * r of them for c columns and r rows within the domains. Where nearly every combination of values is a
row, a clause for each that is none says it in less. Where both are too much there is one variable for the number of the
row, and an ELEMENT row for each column, which find little before the row is known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from turbo_fzn.lower import bulk
from turbo_fzn.lower.builder import Builder
from turbo_fzn.lower.variables import Infeasible
from turbo_fzn.tnf.language import MAX, MIN

CELLS_LIMIT = 20_000  # of a table of truth values
ROWS_FOR_EACH_CONFLICT = 3  # at least, where the combinations that are no rows are stated instead


def table(b: Builder, x: Sequence[int], n_rows: int, cells: Sequence[int], r: int) -> None:
    """r = (x is one of the n_rows rows, whose cells follow one after the other)."""
    if not x:
        return b.merge(r, b.true if n_rows else b.false)
    rows = possible_rows(b, x, np.array(cells, np.int64).reshape(n_rows, len(x)))
    if b.value(r) == 1:
        return state_table(b, x, rows)
    if not len(rows):
        return b.merge(r, b.false)
    true, _ = truths_of_rows(b, x, rows)
    return b.merge(r, bulk.tree(b, MAX, true))


def possible_rows(b: Builder, x: Sequence[int], rows: np.ndarray) -> np.ndarray:
    """The rows that the domains allow, each once; a variable that is in two columns has the same value in both."""
    first: dict[int, int] = {}
    allowed = np.ones(len(rows), dtype=bool)
    for column, variable in enumerate(map(b.find, x)):
        allowed &= bulk.possible(b, variable, rows[:, column])
        allowed &= rows[:, column] == rows[:, first.setdefault(variable, column)]
    return np.unique(rows[allowed], axis=0)


def state_table(b: Builder, x: Sequence[int], rows: np.ndarray) -> None:
    if not len(rows):
        raise Infeasible
    for variable, column in zip(x, rows.T):
        bulk.restrict_to(b, variable, np.unique(column))
    n_combinations = math.prod(len(np.unique(column)) for column in rows.T)
    if len(x) == 1 or len(rows) == n_combinations:
        return
    if ROWS_FOR_EACH_CONFLICT * (n_combinations - len(rows)) <= len(rows):
        return state_conflicts(b, x, rows)
    if rows.size > CELLS_LIMIT:
        row = b.variable(0, len(rows) - 1)
        for variable, column in zip(x, rows.T):
            b.define_element(variable, row, column.tolist(), 0)
        return
    true, columns = truths_of_rows(b, x, rows)
    b.merge(b.true, bulk.tree(b, MAX, true))
    for truth_of_value, place in columns:
        bulk.merge(b, truth_of_value, bulk.grouped(b, MAX, true, place, len(truth_of_value)))


def state_conflicts(b: Builder, x: Sequence[int], rows: np.ndarray) -> None:
    """Not all of x have the values of a combination that is no row."""
    values = [np.unique(column) for column in rows.T]
    shape = tuple(map(len, values))
    is_row = np.zeros(shape, dtype=bool)
    is_row[tuple(np.searchsorted(*pair) for pair in zip(values, rows.T))] = True
    places = np.argwhere(~is_row)
    truths = [bulk.truths_of_values(b, variable, several) for variable, several in zip(x, values)]
    leaves = np.stack([truth[place] for truth, place in zip(truths, places.T)], axis=1)
    group = np.repeat(np.arange(len(places)), len(x))
    conflicts = bulk.trees(b, MIN, leaves.reshape(-1), group, len(places))
    bulk.merge(b, conflicts, np.full(len(places), b.false))


def truths_of_rows(
    b: Builder, x: Sequence[int], rows: np.ndarray
) -> tuple[np.ndarray, list[tuple[np.ndarray, np.ndarray]]]:
    """The truth of each row; and for each column the truths of its values, and which of them each row has."""
    columns = []
    for variable, column in zip(x, rows.T):
        values, place = np.unique(column, return_inverse=True)
        columns.append((bulk.truths_of_values(b, variable, values), place.reshape(-1)))
    leaves = np.stack([truth_of_value[place] for truth_of_value, place in columns], axis=1)
    group = np.repeat(np.arange(len(rows)), len(x))
    return bulk.trees(b, MIN, leaves.reshape(-1), group, len(rows)), columns
