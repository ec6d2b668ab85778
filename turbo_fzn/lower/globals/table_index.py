"""A table as ELEMENT rows: for each column its values at each place of an index, arrays that all constraints of the
table share.

The index consists of variables of the model, where some columns identify the rows and all combinations of their values
occur: a column with another value in each row (the key of a data base), or n a + b of two columns (a matrix of
distances, written as a table). Then a list of variables is a row if and only if the other columns have the values at
the place given by these columns. Else the index is a new variable for the number of the row, which propagates little
until most variables are fixed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, combinations, islice

import numpy as np

from turbo_fzn.lower import bulk
from turbo_fzn.lower.builder import RowBuilder
from turbo_fzn.lower.globals.table_plan import Columns, Plan
from turbo_fzn.lower.inner import Element
from turbo_fzn.lower.tuning import TUNING
from turbo_fzn.tnf.arrays import distinct
from turbo_fzn.tnf.language import ADD, ELEMENT

Members = Sequence[Sequence[int]]  # the variables of each constraint


@dataclass(eq=False, repr=False)
class Index:
    """The place of a row is the sum of factor * value of `columns`, less `first`. `cells` has for each other column the
    value at each place, and where the array begins in the builder's tables."""

    columns: list[int]
    factors: list[int]
    first: int
    cells: list[tuple[int, list[int], int]]


def columns_that_tell(values: Sequence[np.ndarray], places: Columns) -> list[int] | None:
    """The fewest columns of which each combination of values is in exactly one row, or None.

    There are as many combinations as rows, and no two rows have the same combination: so each occurs.
    """
    n_rows = len(places[0])
    sizes = [len(some) for some in values]
    parts = [column for column, size in enumerate(sizes) if size > 1 and n_rows % size == 0]
    sets = chain.from_iterable(combinations(parts, size) for size in range(1, TUNING.index_columns + 1))
    for columns in islice(sets, TUNING.index_sets):
        if math.prod(sizes[column] for column in columns) == n_rows:
            code = np.ravel_multi_index([places[c] for c in columns], [sizes[c] for c in columns])
            if len(distinct(code)) == n_rows:
                return list(columns)
    return None


def index_of(b: RowBuilder, plan: Plan) -> Index | None:
    """The index of the table, which all constraints share, or of the rows that the domains leave, or None."""
    relation = plan.relation
    key = "index", relation.number
    if key not in b.plans:
        b.plans[key] = _make_index(b, relation.values, relation.places)
    if b.plans[key] is not None:
        return b.plans[key]
    if not plan.indices:
        plan.indices.append(_make_index(b, plan.values, plan.places))
    return plan.indices[0]


def _make_index(b: RowBuilder, values: Sequence[np.ndarray], places: Columns) -> Index | None:
    columns = columns_that_tell(values, places)
    if columns is None:
        return None
    spans = [int(values[c][-1]) - int(values[c][0]) + 1 for c in columns]
    factors = [math.prod(spans[k + 1 :]) for k in range(len(spans))]
    first = sum(factor * int(values[c][0]) for factor, c in zip(factors, columns))
    if math.prod(spans) > TUNING.index_cells * len(places[0]) or abs(first) >= TUNING.offset_limit:
        return None
    place = sum(factor * values[c][places[c]] for factor, c in zip(factors, columns)) - first
    cells = []
    for column in range(len(values)):
        if column not in columns and len(values[column]) > 1:
            every = np.full(math.prod(spans), values[column][0])  # no domain has the values in the gaps
            every[place] = values[column][places[column]]
            cells.append((column, every.tolist(), b.table(every.tolist())))
    return Index(columns, factors, first, cells)


def state_by_index(b: RowBuilder, members: Members, plan: Plan) -> None:
    """States that each of the lists of variables is a row. The other columns need no domains with holes, since they are
    functions of the index."""
    index = index_of(b, plan)
    if index is None:
        return numbers_of_rows(b, members, plan)
    for x in members:
        for column, values in enumerate(plan.values):
            if column in index.columns:
                bulk.restrict_to(b, x[column], values)
            else:
                b.restrict(x[column], int(values[0]), int(values[-1]))
        place = b.tree(ADD, b.scaled([(f, b.find(x[c])) for f, c in zip(index.factors, index.columns)]), 0)
        for column, cells, offset in index.cells:
            b.emit(b.find(x[column]), ELEMENT, place, offset - index.first)
            b.wides.elements.append(Element(x[column], place, cells, index.first))
    return None


def numbers_of_rows(b: RowBuilder, members: Members, plan: Plan) -> None:
    """States that each of the lists of variables is the row of some number, a new variable."""
    if plan.offsets is None:
        plan.offsets = [b.table(plan.column(column).tolist()) for column in range(plan.width)]
    rows = bulk.variables(b, [0] * len(members), [plan.n_rows - 1] * len(members))
    for column, offset in enumerate(plan.offsets):
        variables = np.array([b.find(x[column]) for x in members], np.int64)
        bulk.state(b, ELEMENT, variables, rows, offset)
