"""Wide rows (tnf/wide.py) as lowering makes them, and the variables that only the rows of such constraints name.

A constraint is lowered in one step, so its variables, and its rows of both kinds that the builder keeps apart, lie
between two marks. A variable that was made there is inner if every row that names it was made there as well, and if no
later constraint restricts it. A later constraint that has the same expression may do so without a row: it narrows the
bounds, or merges two variables.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from turbo_fzn.lower.variables import Variables
from turbo_fzn.tnf.language import ELEMENT
from turbo_fzn.tnf.links import NOBODY
from turbo_fzn.tnf.wide import Wide, WideKind


class Mark(NamedTuple):
    """The numbers of variables, of rows made one by one, and of rows made in bulk, which come after these."""

    variables: int
    rows: int
    bulk: int


class Span(NamedTuple):
    """The variables and rows of a constraint, and the `state` of the variables at that time: the representative of
    each, and its bounds (int64 [3, k])."""

    first: Mark
    last: Mark
    state: np.ndarray


def span(variables: Variables, first: Mark, last: Mark) -> Span:
    """The variables and rows made between two marks, the last of which is the current state."""
    found = [variables.find(v) for v in range(first.variables, last.variables)]
    bounds = ([ends[v] for v in found] for ends in (variables.lower, variables.upper))
    return Span(first, last, np.array([found, *bounds], np.int64))


class Element(NamedTuple):
    """result = values[at - first], for all values that the index `at` may have."""

    result: int
    at: int
    values: Sequence[int]
    first: int


class Choice(NamedTuple):
    """A constraint that rows and a wide row can state: the cells of its rows, a function that states it, with the wide
    row alone or not, and whether learners gain by rows."""

    cells: Callable[[], int]
    state: Callable[[bool], None]
    gains: bool


class WideRows:
    """The wide rows of a model during lowering, over the builder's variables, and the spans of their constraints. Only
    `wanted` rows are kept; `may_stand_alone`: a wide row may take the place of ternary rows. `elements` may become wide
    rows at the end (elements.py), and `waiting` constraints compete for rows (budget.py)."""

    def __init__(self, wanted: bool, may_stand_alone: bool):
        self.wanted = wanted
        self.may_stand_alone = wanted and may_stand_alone
        self.rows: list[Wide] = []
        self.spans: list[Span] = []
        self.elements: list[Element] = []
        self.waiting: list[Choice] = []

    def add(
        self,
        kind: WideKind,
        head: Sequence[int],
        groups: Sequence[Sequence[int]] | np.ndarray,
        span: Span | None = None,
        alone: bool = False,
    ) -> None:
        """Adds a wide row for a constraint that ternary rows state, unless it stands `alone`. `span`: the span of these
        rows, if all were made for the constraint."""
        if self.wanted:
            self.rows.append(Wide(kind, np.array(head, np.int64), np.array(groups, np.int64), alone))
            if span is not None:
                self.spans.append(span)


def inner_variables(
    spans: Sequence[Span],
    rows: Sequence[np.ndarray],
    n_single: int,
    representative: np.ndarray,
    bounds: tuple[np.ndarray, np.ndarray],
) -> np.ndarray:
    """The variables (bool [n]) in a class of inner variables. `rows` are the columns op, x, y, z, of which the first
    `n_single` were made one by one; `representative` and `bounds` are values of all variables at the end."""
    owner = np.full(len(representative), NOBODY)
    maker = np.full(len(rows[0]), NOBODY)
    for number, (first, last, _) in enumerate(spans):
        owner[first.variables : last.variables] = number
        maker[first.rows : last.rows] = number
        maker[n_single + first.bulk : n_single + last.bulk] = number
    of_class = owner.copy()
    of_class[representative[owner != owner[representative]]] = NOBODY
    for first, last, state in spans:
        now = representative[first.variables : last.variables]
        of_class[now[np.any(state != [now, *(ends[now] for ends in bounds)], axis=0)]] = NOBODY
    op, *columns = rows
    for column in (*columns[:2], np.where(op == ELEMENT, columns[1], columns[2])):
        variable = representative[column]
        of_class[variable[of_class[variable] != maker]] = NOBODY
    return of_class[representative] != NOBODY
