"""table: some row of a table equals x.

Each row has a truth value: all variables have the row's values. A value is taken exactly when some row with it is true,
so a value that has no row left is lost at once: the supports of generalised arc consistency (Bessiere and Régin 1997)
as Booleans, c * r of them for c columns and r rows within the domains. Where nearly every combination of values is a
row, a clause for each that is none says it in less. Where both are too much there is one variable for the number of the
row, and an ELEMENT row for each column, which find little before the row is known.

A table that many constraints share is looked at once for all variables with the same domains. The first of them is
stated at once, and the others all together, in whole columns (`flush`), until there are too many truth values: the
rest have a variable for the number of the row.

Of a table of what is not allowed, each row is a clause.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from turbo_fzn.lower import bulk
from turbo_fzn.lower.builder import Builder
from turbo_fzn.lower.variables import Infeasible
from turbo_fzn.tnf.arrays import distinct_rows, ranked
from turbo_fzn.tnf.language import ELEMENT, EQ, MAX, MIN

CELLS_LIMIT = 20_000  # of a table of truth values
MOST_CELLS = 2**21  # that are stated at once
ALL_CELLS = 2**22  # of tables that several constraints have
FEW_CELLS = 64  # of a table that is not worth array operations
ROWS_FOR_EACH_CONFLICT = 3  # at least, where the combinations that are no rows are stated instead


@dataclass
class Plan:
    """What a table is for variables with certain domains: its possible rows, each once, and for each column the
    distinct values, which of them each row has, and whether the domain has others. `conflicts` are the combinations of
    places that are no rows, where these are few. `cells` is kept, since its identity is part of the plan's key.
    """

    cells: Sequence[int]
    rows: np.ndarray
    values: list[np.ndarray]
    places: list[np.ndarray]
    narrows: list[bool]
    n_combinations: int
    truths: dict[tuple[int, int], np.ndarray] = field(default_factory=dict)
    waiting: list[Sequence[int]] = field(default_factory=list)  # the variables of the constraints after the first
    excluded: list[Sequence[int]] = field(default_factory=list)  # those that are none of the rows
    is_known: bool = False  # the first is stated
    is_shared: bool = False  # it is kept, for others and for `flush`

    def truths_of(self, b: Builder, column: int, variable: int) -> np.ndarray:
        """The truths of the column's values."""
        key = column, b.find(variable)
        if key not in self.truths:
            self.truths[key] = bulk.truths_of_values(b, key[1], self.values[column])
        return self.truths[key]

    def has_few_conflicts(self) -> bool:
        return ROWS_FOR_EACH_CONFLICT * (self.n_combinations - len(self.rows)) <= len(self.rows)

    @cached_property
    def conflicts(self) -> np.ndarray:
        is_row = np.zeros(tuple(map(len, self.values)), dtype=bool)
        is_row[tuple(self.places)] = True
        return np.argwhere(~is_row).T


def plan_of(b: Builder, x: Sequence[int], n_rows: int, cells: Sequence[int]) -> Plan:
    variables = [b.find(v) for v in x]
    domains = [(b.lower[v], b.upper[v], b.domains.get(v)) for v in variables]
    key = (id(cells), n_rows, *domains) if len(set(variables)) == len(variables) else ()
    plan = b.plans.get(key) if key else None
    if plan is None:
        plan = make_plan(b, x, cells, np.array(cells, np.int64).reshape(n_rows, len(x)))
        if key:
            b.plans[key] = plan
            plan.is_shared = True
    return plan


def make_plan(b: Builder, x: Sequence[int], cells: Sequence[int], every: np.ndarray) -> Plan:
    rows = possible_rows(b, x, every)
    columns = [ranked(column) for column in rows.T]
    values, places = [values for values, _ in columns], [place for _, place in columns]
    narrows = [len(one) < bulk.domain(b, v).size for v, one in zip(x, values)]
    return Plan(cells, rows, values, places, narrows, math.prod(map(len, values)))


def table(b: Builder, x: Sequence[int], n_rows: int, cells: Sequence[int], r: int) -> None:
    """r = (x is one of the n_rows rows, whose cells follow one after the other)."""
    if not x:
        return b.merge(r, b.true if n_rows else b.false)
    if len(cells) <= FEW_CELLS and b.value(r) is not None:
        variables = list(map(b.find, x))
        rows = few_rows(b, variables, cells)
        if b.value(r) == 0:
            return exclude_few(b, variables, rows)
        if len(set(rows)) <= 1 and len(set(variables)) == len(x):
            return state_few(b, variables, rows)
    plan = plan_of(b, x, n_rows, cells)
    if b.value(r) == 1:
        return state_table(b, x, plan)
    if not len(plan.rows):
        return b.merge(r, b.false)
    if b.value(r) == 0 and len(x) > 1:
        return exclude(b, x, plan)
    true, _ = truths_of_rows(b, x, plan)
    return b.merge(r, bulk.tree(b, MAX, true))


def possible_rows(b: Builder, x: Sequence[int], rows: np.ndarray) -> np.ndarray:
    """The rows that the domains allow, each once; a variable that is in two columns has the same value in both."""
    first: dict[int, int] = {}
    allowed = np.ones(len(rows), dtype=bool)
    for column, variable in enumerate(map(b.find, x)):
        allowed &= bulk.possible(b, variable, rows[:, column])
        if first.setdefault(variable, column) != column:
            allowed &= rows[:, column] == rows[:, first[variable]]
    return distinct_rows(rows[allowed])


def state_table(b: Builder, x: Sequence[int], plan: Plan) -> None:
    rows = plan.rows
    if not len(rows):
        raise Infeasible
    for variable, values, narrows in zip(x, plan.values, plan.narrows):
        if narrows:
            bulk.restrict_to(b, variable, values)
    if len(x) == 1 or len(rows) == plan.n_combinations:
        return
    if not plan.has_few_conflicts() and rows.size > CELLS_LIMIT:
        numbers_of_rows(b, [x], plan)
    elif plan.is_known:
        plan.waiting.append(x)
    else:
        plan.is_known = True
        state_plan(b, [x], plan)


def numbers_of_rows(b: Builder, members: list[Sequence[int]], plan: Plan) -> None:
    """State the same table for several lists of variables, whose domains are the values of the columns."""
    rows = bulk.variables(b, [0] * len(members), [len(plan.rows) - 1] * len(members))
    for column, values in enumerate(plan.rows.T):
        variables = np.array([b.find(x[column]) for x in members], np.int64)
        bulk.state(b, ELEMENT, variables, rows, b.table(values.tolist()))


def flush(b: Builder) -> None:
    """State the constraints that wait, so many at once that their columns fit into memory; small tables come first."""
    left = ALL_CELLS
    for plan in sorted(b.plans.values(), key=lambda plan: plan.rows.size):
        cells = max(plan.rows.size, 1)
        size, most = max(MOST_CELLS // cells, 1), left // cells
        for start in range(0, len(plan.excluded), size):
            state_excluded(b, plan.excluded[start : start + size], plan)
        for start in range(0, len(plan.waiting[:most]), size):
            state_plan(b, plan.waiting[start : min(start + size, most)], plan)
        if len(plan.waiting) > most:
            numbers_of_rows(b, plan.waiting[most:], plan)
        left -= cells * len(plan.waiting[:most])
        plan.waiting.clear()
        plan.excluded.clear()


def state_plan(b: Builder, members: list[Sequence[int]], plan: Plan) -> None:
    """State the same table for several lists of variables."""
    truths = [
        np.stack([plan.truths_of(b, column, x[column]) for x in members]) for column in range(len(plan.values))
    ]  # [member, value]
    if plan.has_few_conflicts():
        return state_conflicts(b, [truth[:, place].reshape(-1) for truth, place in zip(truths, plan.conflicts)])
    leaves = np.stack([truth[:, place].reshape(-1) for truth, place in zip(truths, plan.places)], axis=1)
    n = len(leaves)
    true = bulk.trees(b, MIN, leaves.reshape(-1), np.repeat(np.arange(n), leaves.shape[1]), n)
    member = np.repeat(np.arange(len(members)), len(plan.rows))
    bulk.merge(b, np.full(len(members), b.true), bulk.trees(b, MAX, true, member, len(members)))
    for truth, place in zip(truths, plan.places):
        group = member * truth.shape[1] + np.tile(place, len(members))
        bulk.merge(b, truth.reshape(-1), bulk.grouped(b, MAX, true, group, truth.size))
    return None


def state_excluded(b: Builder, members: list[Sequence[int]], plan: Plan) -> None:
    """State for several lists of variables that they are none of the rows."""
    truths = [np.stack([plan.truths_of(b, column, x[column]) for x in members]) for column in range(len(plan.values))]
    state_conflicts(b, [truth[:, place].reshape(-1) for truth, place in zip(truths, plan.places)])


def exclude(b: Builder, x: Sequence[int], plan: Plan) -> None:
    if plan.is_shared:
        plan.excluded.append(x)
    else:
        state_excluded(b, [x], plan)


def few_rows(b: Builder, x: Sequence[int], cells: Sequence[int]) -> list[tuple[int, ...]]:
    """The rows that the domains allow, each as often as it is there."""
    rows = list(zip(*[iter(cells)] * len(x)))
    for column, v in enumerate(x):
        low, high = b.lower[v], b.upper[v]
        rows = [row for row in rows if low <= row[column] <= high]
    for column, v in enumerate(x):
        if v in b.domains:
            rows = [row for row in rows if row[column] in b.domains[v]]
    return rows


def exclude_few(b: Builder, x: Sequence[int], rows: list[tuple[int, ...]]) -> None:
    """State that x is none of the rows, one at a time: the one before may leave no values for the next."""
    for row in rows:
        if few_rows(b, x, row):
            truths = [bulk.shared(b, EQ, v, b.constant(value)) for v, value in zip(x, row)]
            b.define(b.false, MIN, b.tree(MIN, truths[:-1], 1), truths[-1])


def state_few(b: Builder, x: Sequence[int], rows: list[tuple[int, ...]]) -> None:
    """State that x is the only row, as for most where each constraint has a table of its own."""
    if not rows:
        raise Infeasible
    for v, value in zip(x, rows[0]):
        b.restrict(v, value, value)


def state_conflicts(b: Builder, truths: list[np.ndarray]) -> None:
    """Not all of the truths in the same place of the columns hold."""
    *others, last = truths
    n, width = len(last), len(others)
    left = bulk.trees(b, MIN, np.stack(others, axis=1).reshape(-1), np.repeat(np.arange(n), width), n)
    bulk.state(b, MIN, b.false, left, last)


def truths_of_rows(b: Builder, x: Sequence[int], plan: Plan) -> tuple[np.ndarray, list[tuple[np.ndarray, np.ndarray]]]:
    """The truth of each row; and for each column the truths of its values, and which of them each row has."""
    columns = [(plan.truths_of(b, column, v), plan.places[column]) for column, v in enumerate(x)]
    leaves = np.stack([truth_of_value[place] for truth_of_value, place in columns], axis=1)
    group = np.repeat(np.arange(len(plan.rows)), len(x))
    return bulk.trees(b, MIN, leaves.reshape(-1), group, len(plan.rows)), columns
