"""table: some row of a table equals x.

A table is analysed once for all constraints that name it (table_relation.py, table_plan.py). It may be equivalent to
another constraint: all_different, a comparison of two columns, elements of an index (table_index.py), or relations of
pairs of columns. Otherwise it has the forms of table_forms.py: strong forms, by truth values, with at most `table_rows`
rows in a model, and weak forms of a few rows a constraint, for the other constraints, and for a single table that would
take `table_rows_alone` rows; or it is a diagram (table_diagram.py), where that is small.

Of the constraints of a table that have strong forms, the first is stated at once, and the others all together, in whole
columns (`flush`), tables of few rows first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from turbo_fzn.base.domains import IntSet
from turbo_fzn.lower import bulk, linear
from turbo_fzn.lower.builder import RowBuilder
from turbo_fzn.lower.globals import table_forms as forms
from turbo_fzn.lower.globals.different import all_different
from turbo_fzn.lower.globals.table_diagram import diagram_of, n_rows_of, state_diagram
from turbo_fzn.lower.globals.table_index import index_of, state_by_index
from turbo_fzn.lower.globals.table_plan import Plan, Sets, all_plans, plan_of
from turbo_fzn.lower.globals.table_relation import Pairs, Relation, relation_of, relation_of_pair
from turbo_fzn.lower.narrow import Left, Narrower
from turbo_fzn.lower.tuning import TUNING
from turbo_fzn.lower.variables import Infeasible
from turbo_fzn.tnf.language import EQ, MAX, MIN


def table(b: RowBuilder, x: Sequence[int], n_rows: int, cells: Sequence[int], r: int) -> None:
    """r = (x is one of the n_rows rows, whose cells are given row by row)."""
    if not x:
        return b.merge(r, b.true if n_rows else b.false)
    if len(cells) <= TUNING.few_cells and b.value(r) is not None:
        variables = list(map(b.find, x))
        rows = _few_rows(b, variables, cells)
        if b.value(r) == 0:
            return _exclude_few(b, variables, rows)
        if len(set(rows)) <= 1 and len(set(variables)) == len(x):
            return _state_few(b, variables, rows)
    relation = relation_of(b, cells, n_rows, len(x))
    if relation.is_all_different and _have_values(b, x, relation.values[0], r):
        return all_different(b, x, r)
    plan = plan_of(b, x, relation)
    if b.value(r) == 1:
        return _state_table(b, x, plan)
    if not plan.n_rows:
        return b.merge(r, b.false)
    if b.value(r) == 0 and len(x) > 1:
        return exclude(b, x, plan)
    return _define_truth(b, x, plan, r)


def _state_table(b: RowBuilder, x: Sequence[int], plan: Plan) -> None:
    if not plan.n_rows:
        raise Infeasible
    if plan.n_rows > TUNING.indexed_tuples and len(x) > 1 and index_of(b, plan) is not None:
        return state_by_index(b, [x], plan)
    for variable, values, narrows in zip(x, plan.values, plan.narrows):
        if narrows:
            bulk.restrict_to(b, variable, values)
    if len(x) == 1 or plan.n_rows == plan.n_combinations:
        return None
    if plan.comparison is not None:
        i, j, c = plan.comparison
        linear.le(b, [1, -1], [x[i], x[j]], -c, b.true)
    elif not plan.has_few_conflicts and (
        plan.n_rows > TUNING.table_rows_alone or plan.cost_alone > TUNING.table_rows_alone
    ):
        _state_large(b, x, plan)
    elif _pays_as_diagram(b, plan):
        _state_as_diagram(b, x, plan)
    elif plan.is_shared and plan.is_known:
        plan.waiting.append(x)
    else:
        plan.is_known = True
        state_members(b, [x], plan)
    return None


def _have_values(b: RowBuilder, x: Sequence[int], values: np.ndarray, r: int) -> bool:
    """Whether the variables can have these values only, which is stated if r is true."""
    if b.value(r) == 1:
        for v in x:
            bulk.restrict_to(b, v, values)
    allowed = IntSet.of_values(values.tolist())
    return all(bulk.domain(b, v) & allowed == bulk.domain(b, v) for v in x)


def _state_large(b: RowBuilder, x: Sequence[int], plan: Plan) -> None:
    """States the table by an index, by its relations of pairs of columns if they suffice, as a diagram, or by the
    number of the row."""
    relation = plan.relation
    if index_of(b, plan) is not None:
        return state_by_index(b, [x], plan)
    if plan.width > 2 and relation.pairs is not None:
        return _state_pairs(b, x, relation, relation.pairs)
    return _state_as_diagram(b, x, plan)


def _pays_as_diagram(b: RowBuilder, plan: Plan) -> bool:
    """Whether a decision diagram needs far fewer truth values than the other forms, which need many."""
    if plan.width == 2 or plan.cost_alone < TUNING.diagram_rows:
        return False
    diagram = diagram_of(b, plan.relation)
    return diagram is not None and TUNING.diagram_gain * n_rows_of(diagram) <= plan.cost_alone


def _state_as_diagram(b: RowBuilder, x: Sequence[int], plan: Plan) -> None:
    diagram = diagram_of(b, plan.relation)
    if diagram is not None and _afford(b, [x], n_rows_of(diagram), []):
        return state_diagram(b, x, diagram)
    return state_by_index(b, [x], plan)


def _state_pairs(b: RowBuilder, x: Sequence[int], relation: Relation, pairs: Pairs) -> None:
    if relation.different:
        all_different(b, [x[column] for column in relation.different], b.true)
    for pair, go_together in pairs.items():
        if not set(pair) <= set(relation.different):
            two = [x[column] for column in pair]
            _state_table(b, two, plan_of(b, two, relation_of_pair(b, relation, pair, go_together)))


def state_members(b: RowBuilder, members: list[Sequence[int]], plan: Plan) -> None:
    """States that each of the lists of variables is a row: by truth values up to the limits, else by few rows."""
    n = _afford(b, members, plan.cost, plan.sets)
    size = max(TUNING.table_rows_at_once // max(plan.cost, 1), 1)
    for start in range(0, n, size):
        forms.state_plan(b, members[start : min(start + size, n)], plan)
    if n < len(members):
        state_by_index(b, members[n:], plan)


def exclude(b: RowBuilder, x: Sequence[int], plan: Plan) -> None:
    if plan.is_shared:
        plan.excluded.append(x)
    else:
        exclude_members(b, [x], plan)


def exclude_members(b: RowBuilder, members: list[Sequence[int]], plan: Plan) -> None:
    """States that no list of variables is one of the rows, as `state_members` does."""
    has_codes = forms.has_codes(plan)
    n = _afford(b, members, plan.cost_excluded, [plan.heads.sets]) if has_codes else len(members)
    size = max(TUNING.table_rows_at_once // max(plan.cost_excluded, 1), 1)
    for start in range(0, n, size):
        forms.state_excluded(b, members[start : min(start + size, n)], plan)
    for x in members[n:]:
        forms.compare_codes(b, x, plan, b.false)


def _define_truth(b: RowBuilder, x: Sequence[int], plan: Plan, r: int) -> None:
    """r = (x is one of the rows)."""
    if len(x) == 1:
        return b.merge(r, bulk.tree(b, MAX, plan.truths_of(b, 0, x[0])))
    if forms.has_codes(plan) and not _afford(b, [x], plan.cost_excluded + len(plan.heads), [plan.heads.sets]):
        return forms.compare_codes(b, x, plan, r)
    return b.merge(r, bulk.tree(b, MAX, forms.truths_of_heads(b, x, plan)))


def _afford(b: RowBuilder, members: Sequence[Sequence[int]], cost: int, every: Sequence[Sets]) -> int:
    """The number of first constraints for which the limits allow `cost` rows each and the rows of disjunctions that are
    new for their variables. Adds these rows to the count."""
    seen = {(number, v) for number, sets in enumerate(every) for v, _ in sets.unions}
    for n, x in enumerate(members):
        new = {(number, b.find(x[sets.column])) for number, sets in enumerate(every)} - seen
        rows = cost + sum(every[number].n_rows for number, _ in new)
        if b.rows_of_tables + rows > TUNING.table_rows:
            return n
        b.rows_of_tables += rows
        seen |= new
    return len(members)


def flush(b: RowBuilder) -> None:
    """States the waiting constraints, beginning with tables of few rows."""
    plans = all_plans(b)
    for plan in sorted((plan for plan in plans if plan.excluded), key=lambda plan: plan.cost_excluded):
        exclude_members(b, plan.excluded, plan)
        plan.excluded.clear()
    for plan in sorted((plan for plan in plans if plan.waiting), key=lambda plan: plan.cost):
        state_members(b, plan.waiting, plan)
        plan.waiting.clear()


def _few_rows(b: RowBuilder, x: Sequence[int], cells: Sequence[int]) -> list[tuple[int, ...]]:
    """The rows that the domains allow, with repetitions."""
    rows = list(zip(*[iter(cells)] * len(x)))
    for column, v in enumerate(x):
        low, high = b.lower[v], b.upper[v]
        rows = [row for row in rows if low <= row[column] <= high]
    for column, v in enumerate(x):
        if v in b.domains:
            rows = [row for row in rows if row[column] in b.domains[v]]
    return rows


def _exclude_few(b: RowBuilder, x: Sequence[int], rows: list[tuple[int, ...]]) -> None:
    """States that x is none of the rows, row by row, since each row may remove values of the next."""
    for row in rows:
        if _few_rows(b, x, row):
            truths = [bulk.shared(b, EQ, v, b.constant(value)) for v, value in zip(x, row)]
            b.define(b.false, MIN, b.tree(MIN, truths[:-1], 1), truths[-1])


def _state_few(b: RowBuilder, x: Sequence[int], rows: list[tuple[int, ...]]) -> None:
    """States that x is the first row, the only row that the domains allow. Raises Infeasible without a row."""
    if not rows:
        raise Infeasible
    for v, value in zip(x, rows[0]):
        b.restrict(v, value, value)


def supported(b: RowBuilder, x: Sequence[int], n_rows: int, cells: Sequence[int]) -> Left:
    """The values of the rows that the domains allow; only their ends where the other columns will be functions of an
    index, which need no holes."""
    if len(cells) <= TUNING.few_cells:
        rows = _few_rows(b, list(map(b.find, x)), cells)
        for column, v in enumerate(x):
            yield v, IntSet.of_values(row[column] for row in rows)
        return
    plan = plan_of(b, x, relation_of(b, cells, n_rows, len(x)))
    index = index_of(b, plan) if plan.n_rows > TUNING.indexed_tuples else None
    for column, (v, values, narrows) in enumerate(zip(x, plan.values, plan.narrows)):
        if narrows and index is not None and column not in index.columns:
            yield v, IntSet.interval(int(values[0]), int(values[-1]))
        elif narrows:
            yield v, IntSet.of_values(values.tolist())


NARROWERS: dict[str, Narrower] = {"turbo_table_int": supported, "turbo_table_bool": supported}
LOWERINGS: dict[str, Callable[..., None]] = {
    "turbo_table_int": table,
    "turbo_table_bool": table,
}
