"""The analysis of a table, made once for all variables with the same domains: the rows that these leave, the values of
its columns, and its rows grouped by all columns but one.

table_forms.py makes the rows, which depend on the variables; `Plan.cost` is their number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from turbo_fzn.lower import bulk
from turbo_fzn.lower.builder import RowBuilder
from turbo_fzn.lower.globals.table_relation import Relation, ranked_columns
from turbo_fzn.lower.tuning import TUNING

Columns = Sequence[np.ndarray] | np.ndarray


@dataclass(eq=False, repr=False)
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


@dataclass(eq=False, repr=False)
class Heads:
    """Rows grouped by all columns but the last of `columns`: a head is the common values of a group."""

    columns: list[int]
    places: list[np.ndarray]  # for each column but the last: the place of each head's value
    of_row: np.ndarray  # the head of each row
    last: np.ndarray  # the place of each row's value in the last column
    sets: Sets  # the sets of values of the last column that the heads allow
    set_of: np.ndarray  # the set of each head

    def __len__(self) -> int:
        return len(self.set_of)

    @property
    def is_function(self) -> bool:
        """Whether each head allows one value of the last column only."""
        return len(self) == len(self.of_row)


def _heads_of(places: Columns, last: int) -> Heads:
    """The rows with these places, each once, grouped by all columns but `last`."""
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


@dataclass(eq=False, repr=False)
class Plan:
    """A table for variables with certain domains: for each column the distinct values of the rows that the domains
    leave, the places of the rows' values among them, and whether the domain has other values. The other fields record
    the constraints that a builder has stated."""

    relation: Relation
    values: list[np.ndarray]
    places: np.ndarray
    narrows: list[bool]
    bounds: list[tuple[int, int]]  # the bounds of the domains
    truths: dict[tuple[int, int], np.ndarray] = field(default_factory=dict)
    waiting: list[Sequence[int]] = field(default_factory=list)  # the variables of the constraints after the first
    excluded: list[Sequence[int]] = field(default_factory=list)  # the variables of constraints that exclude the rows
    offset: int | None = None  # the offset of the codes of its rows in the builder's tables
    offsets: list[int] | None = None  # the offsets of its columns in the builder's tables
    indices: list[Any] = field(default_factory=list)  # the indices of its rows (table_index.py), if searched for
    is_known: bool = False  # the first constraint is stated
    is_shared: bool = False  # the plan is kept, for other constraints and for `table.flush`

    @property
    def n_rows(self) -> int:
        return self.places.shape[1]

    def column(self, column: int) -> np.ndarray:
        """The values of all rows, one after the other."""
        return self.values[column][self.places[column]]

    @cached_property
    def n_combinations(self) -> int:
        return math.prod(map(len, self.values))

    @cached_property
    def has_few_conflicts(self) -> bool:
        return TUNING.rows_per_conflict * (self.n_combinations - self.n_rows) <= self.n_rows

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

    @cached_property
    def comparison(self) -> tuple[int, int, int] | None:
        """The columns i and j and the number c of a table of two columns that is all of x[i] + c <= x[j]."""
        ends = [abs(int(values[end])) for values in self.values for end in (0, -1)]
        if self.width == 2 and max(ends) <= TUNING.compared_value:
            for i, j in ((0, 1), (1, 0)):
                c = int((self.column(j) - self.column(i)).min())
                below = np.searchsorted(self.values[j], self.values[i] + c)  # values too small for the other column
                if int((len(self.values[j]) - below).sum()) == self.n_rows:
                    return i, j, c
        return None

    @property
    def widest(self) -> int:
        """The last of the columns with the most values; grouping by the others gives the fewest heads."""
        return max(range(len(self.values)), key=lambda column: (len(self.values[column]), column))

    @property
    def width(self) -> int:
        return len(self.values)

    @cached_property
    def takes_heads(self) -> bool:
        """Whether truth values of heads need fewer rows than truth values of rows."""
        return self.width == 2 or self.rows_of_heads < self.rows_of_rows

    @cached_property
    def rows_of_heads(self) -> int:
        return (2 * self.width - 2) * len(self.heads) + self.n_rows

    @property
    def rows_of_rows(self) -> int:
        return (2 * self.width - 1) * self.n_rows

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

    @cached_property
    def cost_alone(self) -> int:
        """The number of rows if there is only one constraint."""
        return self.cost + sum(sets.n_rows for sets in self.sets)

    def truths_of(self, b: RowBuilder, column: int, variable: int) -> np.ndarray:
        """The truths of the column's values."""
        key = column, b.find(variable)
        if key not in self.truths:
            self.truths[key] = bulk.truths_of_values(b, key[1], self.values[column])
        return self.truths[key]


def plan_of(b: RowBuilder, x: Sequence[int], relation: Relation) -> Plan:
    """The plan of this table for these variables."""
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


def all_plans(b: RowBuilder) -> list[Plan]:
    """The plans that several constraints may share."""
    return [plan for plan in b.plans.values() if isinstance(plan, Plan)]


def _make_plan(b: RowBuilder, x: Sequence[int], relation: Relation) -> Plan:
    variables = list(map(b.find, x))
    kept = _possible_rows(b, variables, relation)
    values, places = relation.values, relation.places
    if kept is not None:
        ranks, places = ranked_columns(places[:, kept])
        values = [every[rank] for every, rank in zip(values, ranks)]
    narrows = [len(some) < bulk.domain(b, v).size for v, some in zip(variables, values)]
    return Plan(relation, values, places, narrows, [(b.lower[v], b.upper[v]) for v in variables])


def _possible_rows(b: RowBuilder, x: Sequence[int], relation: Relation) -> np.ndarray | None:
    """The numbers of the rows that the domains allow, None for all; a variable that is in two columns has the same
    value in both."""
    kept: np.ndarray | None = None
    first: dict[int, int] = {}
    for column, (variable, places) in enumerate(zip(x, relation.places)):
        allowed = bulk.possible(b, variable, relation.values[column])
        if not allowed.all():
            kept = _narrowed(kept, allowed[places if kept is None else places[kept]])
        other = first.setdefault(variable, column)
        if other != column:
            kept = _narrowed(kept, _column(relation, other, kept) == _column(relation, column, kept))
    return kept


def _column(relation: Relation, column: int, kept: np.ndarray | None) -> np.ndarray:
    places = relation.places[column]
    return relation.values[column][places if kept is None else places[kept]]


def _narrowed(kept: np.ndarray | None, holds: np.ndarray) -> np.ndarray:
    return np.flatnonzero(holds) if kept is None else kept[holds]
