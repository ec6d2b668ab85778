"""table: some row of a table equals x.

Each row has a truth value: all variables have the row's values. A value is taken exactly when some row with it is
true, so a value that has no row left is lost at once: the supports of generalised arc consistency (Bessiere and Régin
1997) as Booleans, c * r of them for c columns and r rows within the domains. Where that is too much there is one
variable for the number of the row, and an ELEMENT row for each column, which find little before the row is known.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from turbo_fzn.lower import bulk
from turbo_fzn.lower.builder import MAX, MIN, Builder, Infeasible

CELLS_LIMIT = 20_000  # of a table of truth values


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
    if len(x) == 1 or len(rows) == 1:
        return
    if rows.size > CELLS_LIMIT:
        row = b.variable(0, len(rows) - 1)
        for variable, column in zip(x, rows.T):
            b.define_element(variable, row, column.tolist(), 0)
        return
    true, columns = truths_of_rows(b, x, rows)
    b.merge(b.true, bulk.tree(b, MAX, true))
    for truth_of_value, place in columns:
        bulk.merge(b, truth_of_value, bulk.grouped(b, MAX, true, place, len(truth_of_value)))


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
