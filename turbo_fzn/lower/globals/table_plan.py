"""The analysis of a table, once for all constraints that name it and all variables with the same domains: its rows, the
values of its columns, and its rows grouped by all columns but one.

Tables with equal sets of tuples are one table, whatever their order and names. table_forms.py states the constraints by
a plan; `Plan.cost` is the number of rows for each.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from turbo_fzn.lower import bulk
from turbo_fzn.lower.builder import Builder
from turbo_fzn.tnf.arrays import distinct_rows, ranked

ROWS_FOR_EACH_CONFLICT = 3  # at least, for stating the combinations that are not rows instead


@dataclass
class _Relation:
    """The distinct tuples of a table in lexicographic order. `cells` is kept, since its identity is a key."""

    number: int
    cells: Sequence[int]
    rows: np.ndarray


@dataclass
class Sets:
    """Sets of values of one column, given as places in its values; set k has the places where `number` is k."""

    column: int
    places: np.ndarray
    number: np.ndarray  # in ascending order
    sizes: np.ndarray
    unions: dict[tuple[int, bool], np.ndarray] = field(default_factory=dict)  # made by table_forms.py

    @cached_property
    def n_rows(self) -> int:
        """The rows of the disjunctions of all sets, for one variable."""
        return int((self.sizes - 1).sum())


@dataclass
class Heads:
    """Rows grouped by all columns but the last one of `columns`: a head is the common values of a group."""

    columns: list[int]
    places: list[np.ndarray]  # for each column but the last: the place of each head's value
    of_row: np.ndarray  # the head of each row
    last: np.ndarray  # the place of each row's value in the last column
    sets: Sets  # of the values of the last column that the heads allow
    set_of: np.ndarray  # the set of each head

    def __len__(self) -> int:
        return len(self.set_of)

    @property
    def is_function(self) -> bool:
        """Whether each head allows one value of the last column only."""
        return len(self) == len(self.of_row)


def _heads_of(places: Sequence[np.ndarray], last: int) -> Heads:
    """The distinct rows with these places, grouped by all columns but `last`."""
    others = [column for column in range(len(places)) if column != last]
    order = np.lexsort([places[last], *(places[column] for column in reversed(others))])
    begins = np.zeros(len(order), bool)
    begins[:1] = True
    for column in others:
        begins[1:] |= np.diff(places[column][order]) != 0
    starts = np.flatnonzero(begins)
    values = places[last][order]
    known: dict[bytes, int] = {}
    ends = [*starts[1:].tolist(), len(order)]
    parts = [values[start:end] for start, end in zip(starts.tolist(), ends)]
    set_of = np.array([known.setdefault(part.tobytes(), len(known)) for part in parts], np.int64)
    distinct = [np.frombuffer(text, values.dtype) for text in known]
    sizes = np.array([len(one) for one in distinct], np.int64)
    flat = np.concatenate([np.zeros(0, values.dtype), *distinct])
    sets = Sets(last, flat, np.repeat(np.arange(len(sizes)), sizes), sizes)
    first = [places[column][order][starts] for column in others]
    return Heads([*others, last], first, np.cumsum(begins) - 1, values, sets, set_of)


@dataclass
class Plan:
    """A table for variables with certain domains: its possible rows, and for each column the distinct values, the place
    of each row's value among them, and whether the domain has others. The other fields are the state of a builder."""

    relation: _Relation
    rows: np.ndarray
    values: list[np.ndarray]
    places: list[np.ndarray]
    narrows: list[bool]
    bounds: list[tuple[int, int]]  # of the domains
    truths: dict[tuple[int, int], np.ndarray] = field(default_factory=dict)
    waiting: list[Sequence[int]] = field(default_factory=list)  # the variables of the constraints after the first
    excluded: list[Sequence[int]] = field(default_factory=list)  # variables that must be none of the rows
    offset: int | None = None  # the place of the rows' codes in the builder's tables
    is_known: bool = False  # whether the first constraint is stated
    is_shared: bool = False  # whether the plan is kept for other constraints and for `table.flush`

    @cached_property
    def n_combinations(self) -> int:
        return math.prod(map(len, self.values))

    @cached_property
    def has_few_conflicts(self) -> bool:
        return ROWS_FOR_EACH_CONFLICT * (self.n_combinations - len(self.rows)) <= len(self.rows)

    @cached_property
    def conflicts(self) -> Heads:
        """The combinations of values that are not rows, if these are few."""
        is_row = np.zeros(tuple(map(len, self.values)), dtype=bool)
        is_row[tuple(self.places)] = True
        return _heads_of(list(np.argwhere(~is_row).T), self.widest)

    @cached_property
    def heads(self) -> Heads:
        return _heads_of(self.places, self.widest)

    @cached_property
    def backwards(self) -> Heads:
        """The rows of a table of two columns, grouped by the other column than `heads`."""
        return _heads_of(self.places, 1 - self.widest)

    @property
    def widest(self) -> int:
        """The last one of the columns with the most values; grouping by the others gives the fewest heads."""
        return max(range(len(self.values)), key=lambda column: (len(self.values[column]), column))

    @property
    def width(self) -> int:
        return len(self.values)

    @cached_property
    def takes_heads(self) -> bool:
        """Whether truth values of heads need fewer rows than those of rows."""
        return self.width == 2 or self.rows_of_heads < self.rows_of_rows

    @cached_property
    def rows_of_heads(self) -> int:
        return (2 * self.width - 2) * len(self.heads) + len(self.rows)

    @property
    def rows_of_rows(self) -> int:
        return (2 * self.width - 1) * len(self.rows)

    @cached_property
    def cost(self) -> int:
        """The number of rows of a constraint "the variables are a row", without those of `unions`."""
        if self.has_few_conflicts:
            return len(self.conflicts) * (self.width - 1)
        if self.width == 2:
            return sum(map(len, self.values))
        return self.rows_of_heads if self.takes_heads else self.rows_of_rows

    @cached_property
    def cost_excluded(self) -> int:
        """The number of rows of a constraint "the variables are no row", without those of `unions`."""
        return len(self.heads) * (self.width - 1)

    @cached_property
    def sets(self) -> list[Sets]:
        """The sets whose disjunctions a constraint "the variables are a row" needs."""
        if self.has_few_conflicts:
            return [self.conflicts.sets]
        if self.width == 2:
            return [self.heads.sets, self.backwards.sets]
        return [self.heads.sets] if self.takes_heads else []

    @property
    def cost_alone(self) -> int:
        """The number of rows if there is only one constraint."""
        return self.cost + sum(sets.n_rows for sets in self.sets)

    def truths_of(self, b: Builder, column: int, variable: int) -> np.ndarray:
        """The truths of the column's values."""
        key = column, b.find(variable)
        if key not in self.truths:
            self.truths[key] = bulk.truths_of_values(b, key[1], self.values[column])
        return self.truths[key]


def _relation_of(b: Builder, cells: Sequence[int], n_rows: int, width: int) -> _Relation:
    """The tuples of these cells, analysed once for all tables with these cells."""
    key = "cells", id(cells), width
    relation: Any = b.plans.get(key)
    if relation is None:
        rows = distinct_rows(np.array(cells, np.int64).reshape(n_rows, width))
        content = "rows", rows.shape, zlib.crc32(np.ascontiguousarray(rows).data)
        equal = b.plans.get(content)
        if equal is not None and np.array_equal(equal.rows, rows):
            relation = _Relation(equal.number, cells, equal.rows)
        else:
            relation = b.plans[content] = _Relation(len(b.plans), cells, rows)
        b.plans[key] = relation
    return relation


def plan_of(b: Builder, x: Sequence[int], n_rows: int, cells: Sequence[int]) -> Plan:
    """The plan of this table for these variables."""
    relation = _relation_of(b, cells, n_rows, len(x))
    variables = [b.find(v) for v in x]
    if len(set(variables)) < len(variables):
        return _make_plan(b, x, relation)
    domains = [(b.lower[v], b.upper[v], b.domains.get(v)) for v in variables]
    key = "plan", relation.number, *domains
    plan = b.plans.get(key)
    if plan is None:
        plan = b.plans[key] = _make_plan(b, x, relation)
        plan.is_shared = True
    return plan


def all_plans(b: Builder) -> list[Plan]:
    """The plans that several constraints may share."""
    return [plan for plan in b.plans.values() if isinstance(plan, Plan)]


def _make_plan(b: Builder, x: Sequence[int], relation: _Relation) -> Plan:
    rows = _possible_rows(b, x, relation.rows)
    columns = [ranked(column) for column in rows.T]
    values, places = [values for values, _ in columns], [place for _, place in columns]
    narrows = [len(one) < bulk.domain(b, v).size for v, one in zip(x, values)]
    return Plan(relation, rows, values, places, narrows, [(b.lower[v], b.upper[v]) for v in map(b.find, x)])


def _possible_rows(b: Builder, x: Sequence[int], rows: np.ndarray) -> np.ndarray:
    """The rows that the domains allow; a variable in two columns must have the same value in both."""
    first: dict[int, int] = {}
    allowed = np.ones(len(rows), dtype=bool)
    for column, variable in enumerate(map(b.find, x)):
        allowed &= bulk.possible(b, variable, rows[:, column])
        if first.setdefault(variable, column) != column:
            allowed &= rows[:, column] == rows[:, first[variable]]
    return rows if allowed.all() else rows[allowed]
