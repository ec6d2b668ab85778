"""States a table for several lists of variables at once, in whole columns.

All forms use the truths of x = v, which constraints share:

- *two columns*: a value implies that the other variable has one of its supports (Kasif 1990, Gent 2002). The
  disjunction for one variable and one set of values is shared by all constraints of the table, so each constraint only
  needs an implication for each value. Unit propagation is arc consistency;
- *heads*: rows that differ in one column form a group; its head is true if the other variables have the group's values,
  and implies that the variable of that column has one of the group's values;
- *rows*: a truth for each row, if rows have little in common;
- *conflicts*: a head and one of its values are not both true: for excluded rows, or if few combinations are not rows.

A value is removed when no true head or row contains it: in the first three forms this is generalised arc consistency
(Bessière and Régin 1997).

If all these are too large, the table is stated by ELEMENT rows (table_index.py). For a truth value, the values of a row
are encoded as one number, its *code*, and the variables' code is compared with neighbours in the sorted codes, which
propagates little until most variables are fixed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from turbo_fzn.base.domains import INFINITY
from turbo_fzn.lower import bulk
from turbo_fzn.lower.builder import RowBuilder
from turbo_fzn.lower.globals.table_plan import Columns, Heads, Plan, Sets
from turbo_fzn.tnf.language import ADD, ELEMENT, EQ, LEQ, MAX, MIN

Members = Sequence[Sequence[int]]  # the variables of each constraint


def state_plan(b: RowBuilder, members: Members, plan: Plan) -> None:
    """States that each of the lists of variables is one of the rows; the domains must have the plan's values only."""
    if plan.has_few_conflicts:
        _state_conflicts(b, members, plan, plan.conflicts, [False] * plan.width)
    elif plan.width == 2:
        _state_supports(b, members, plan)
    elif plan.takes_heads:
        _state_heads(b, members, plan)
    else:
        _state_rows(b, members, plan)


def state_excluded(b: RowBuilder, members: Members, plan: Plan) -> None:
    """States that each of the lists of variables is none of the rows."""
    _state_conflicts(b, members, plan, plan.heads, plan.narrows)


def _state_conflicts(b: RowBuilder, members: Members, plan: Plan, conflicts: Heads, narrows: Sequence[bool]) -> None:
    """States that no list of variables is a row of `conflicts`; `narrows` is whether each domain has other values."""
    *others, last = conflicts.columns
    held = _held(b, _truths(b, members, plan, others), conflicts)
    one_of = _unions(b, members, plan, conflicts.sets, not narrows[last])[:, conflicts.set_of].reshape(-1)
    bulk.state(b, MIN, b.false, held, one_of)


def truths_of_heads(b: RowBuilder, x: Sequence[int], plan: Plan) -> np.ndarray:
    """For each head the truth of "x is one of its rows"."""
    heads = plan.heads
    *others, last = heads.columns
    held = _held(b, _truths(b, [x], plan, others), heads)
    one_of = _unions(b, [x], plan, heads.sets, not plan.narrows[last])[0, heads.set_of]
    pairs = np.stack([held, one_of], axis=1).reshape(-1)
    return bulk.trees(b, MIN, pairs, np.repeat(np.arange(len(heads)), 2), len(heads))


def _truths(b: RowBuilder, members: Members, plan: Plan, columns: Sequence[int]) -> list[np.ndarray]:
    """The truths of the values of each column: [member, value]."""
    return [np.stack([plan.truths_of(b, column, x[column]) for x in members]) for column in columns]


def _conjunctions(b: RowBuilder, truths: Sequence[np.ndarray], places: Columns) -> np.ndarray:
    """The truths, member by member, of having all of the values in the same place of `places`."""
    leaves = np.stack([truth[:, place].reshape(-1) for truth, place in zip(truths, places)], axis=1)
    n = len(leaves)
    return bulk.trees(b, MIN, leaves.reshape(-1), np.repeat(np.arange(n), leaves.shape[1]), n)


def _held(b: RowBuilder, truths: Sequence[np.ndarray], heads: Heads) -> np.ndarray:
    """The truths of the heads, member by member."""
    return _conjunctions(b, truths, heads.places)


def _unions(b: RowBuilder, members: Members, plan: Plan, sets: Sets, is_whole: bool) -> np.ndarray:
    """The truths of "the variable has a value of the set" ([member, set]). `is_whole` is whether the domain has no
    other values."""
    return np.stack([_unions_of(b, b.find(x[sets.column]), plan, sets, is_whole) for x in members])


def _unions_of(b: RowBuilder, variable: int, plan: Plan, sets: Sets, is_whole: bool) -> np.ndarray:
    key = variable, is_whole
    if key not in sets.unions:
        truths = plan.truths_of(b, sets.column, variable)
        found = np.full(len(sets.sizes), -1)
        if is_whole:
            _find_ends(b, variable, plan.values[sets.column].tolist(), sets, found)
        left = found[sets.number] < 0
        made = bulk.trees(b, MAX, truths[sets.places[left]], sets.number[left], len(found))
        sets.unions[key] = np.where(found < 0, made, found)
    return sets.unions[key]


def _find_ends(b: RowBuilder, variable: int, values: list[int], sets: Sets, found: np.ndarray) -> None:
    """Sets `found` to comparisons for sets that are the first or the last values of the domain; these propagate as
    well as disjunctions."""
    ends = np.cumsum(sets.sizes)
    first, last = sets.places[ends - sets.sizes].tolist(), sets.places[ends - 1].tolist()
    for number, size in enumerate(sets.sizes.tolist()):
        if size == len(values):
            found[number] = b.true
        elif size > 1 and last[number] == size - 1:
            found[number] = bulk.shared(b, LEQ, variable, b.constant(values[last[number]]))
        elif size > 1 and first[number] == len(values) - size:
            found[number] = bulk.shared(b, LEQ, b.constant(values[first[number]]), variable)


def _imply(b: RowBuilder, condition: np.ndarray, conclusion: np.ndarray) -> None:
    open_ones = conclusion != b.true
    bulk.imply(b, condition[open_ones], conclusion[open_ones])


def _state_supports(b: RowBuilder, members: Members, plan: Plan) -> None:
    for heads in (plan.heads, plan.backwards):
        if heads.is_function:  # each value of the other column is the disjunction of the values that imply it
            return _state_function(b, members, plan, heads)
    for heads in (plan.heads, plan.backwards):
        (held,) = _truths(b, members, plan, heads.columns[:1])
        one_of = _unions(b, members, plan, heads.sets, True)[:, heads.set_of]
        _imply(b, held.reshape(-1), one_of.reshape(-1))  # each value is a head, in the order of values
    return None


def _state_function(b: RowBuilder, members: Members, plan: Plan, heads: Heads) -> None:
    back = plan.backwards if heads is plan.heads else plan.heads
    (values,) = _truths(b, members, plan, back.columns[:1])
    bulk.merge(b, values.reshape(-1), _unions(b, members, plan, back.sets, True)[:, back.set_of].reshape(-1))


def _state_heads(b: RowBuilder, members: Members, plan: Plan) -> None:
    heads, n = plan.heads, len(members)
    *others, last = heads.columns
    truths = _truths(b, members, plan, others)
    held = _held(b, truths, heads)
    one_of = _unions(b, members, plan, heads.sets, True)[:, heads.set_of]
    _imply(b, held, one_of.reshape(-1))
    _define_values(b, truths, heads.places, held)
    (values,) = _truths(b, members, plan, [last])
    rows = (np.arange(n)[:, None] * len(heads) + heads.of_row).reshape(-1)
    group = (np.arange(n)[:, None] * values.shape[1] + heads.last).reshape(-1)
    _imply(b, values.reshape(-1), bulk.grouped(b, MAX, held[rows], group, values.size))


def _state_rows(b: RowBuilder, members: Members, plan: Plan) -> None:
    truths = _truths(b, members, plan, range(plan.width))
    _define_values(b, truths, plan.places, _conjunctions(b, truths, plan.places))


def _define_values(b: RowBuilder, truths: list[np.ndarray], places: Columns, held: np.ndarray) -> None:
    """A value is taken where a head (or row) that contains it holds; `held`: the truths of the heads, member by
    member."""
    for truth, place in zip(truths, places):
        group = (np.arange(len(truth))[:, None] * truth.shape[1] + place).reshape(-1)
        bulk.merge(b, truth.reshape(-1), bulk.grouped(b, MAX, held, group, truth.size))


# Without truths of values


def has_codes(plan: Plan) -> bool:
    """Whether each combination of values in the domains can be encoded as one number."""
    code = 1
    for low, high in plan.bounds:
        if low <= -INFINITY or high >= INFINITY:
            return False
        code *= high - low + 1
    reach = sum(factor * max(map(abs, ends)) for factor, ends in zip(_factors(plan), plan.bounds))
    return max(code, reach) < INFINITY // 4


def compare_codes(b: RowBuilder, x: Sequence[int], plan: Plan, r: int) -> None:
    """States r = (x is one of the rows), by codes."""
    factors, n = _factors(plan), plan.n_rows
    least, most = (sum(f * ends[side] for f, ends in zip(factors, plan.bounds)) for side in (0, 1))
    if plan.offset is None:
        rows = np.stack([plan.column(column) for column in range(plan.width)])
        codes = np.array(factors, np.int64) @ rows  # ascend, as rows do
        plan.offset = b.table([least - 1, *codes.tolist(), most + 1])
    code = b.tree(ADD, b.scaled(list(zip(factors, map(b.find, x)))), 0)
    place, below, above = b.variable(0, n), b.variable(least - 1, most), b.variable(least, most + 1)
    b.emit(below, ELEMENT, place, plan.offset)
    b.emit(above, ELEMENT, place, plan.offset + 1)
    b.define(b.true, LEQ, below, code)
    b.define(b.false, LEQ, above, code)
    b.define(r, EQ, below, code)


def _factors(plan: Plan) -> list[int]:
    """The factor of each column in the code of a row."""
    factors = [1]
    for low, high in reversed(plan.bounds[1:]):
        factors.append(factors[-1] * (high - low + 1))
    return factors[::-1]
