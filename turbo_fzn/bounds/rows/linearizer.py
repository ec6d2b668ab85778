"""The interface to a model through which constraints add their rows to a linear relaxation (see linearise.py).

A column is an integer variable of the caller, which passes the number of each name: names with the same number share a
column (a Boolean and its bool2int, for instance). A column has the caller's bounds; a fixed variable is a constant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from turbo_fzn.base.domains import IntSet
from turbo_fzn.bounds.lp.relaxation import Affine, RelaxationBuilder
from turbo_fzn.bounds.rows.cliques import Conflicts
from turbo_fzn.bounds.rows.encoding import Encoding
from turbo_fzn.bounds.rows.tuning import TUNING
from turbo_fzn.lower.globals.table_relation import Relation
from turbo_fzn.read.model import Index, Model, Ref

Stopped = Callable[[], bool]
Steps = dict[int, list[tuple[int, int]]]  # for each column x: (y, k) of the rows y - x >= k

LITERAL_TYPES = frozenset((int, bool))


class Task(NamedTuple):
    """A task with its least length and its least use of the capacity."""

    start: Affine
    length: int
    use: int


class Machine(NamedTuple):
    """A resource that tasks share, with its capacity."""

    tasks: list[Task]
    capacity: int


class Linearizer:
    """Converts the arguments of constraints to affine terms, and collects rows, truths and rows to add at the end.

    `numbers` gives the caller's variable of each name; `lower` and `upper` (int64) are the bounds of these variables.
    Once `stopped` returns true, the relaxation is not needed any more.
    """

    def __init__(
        self, model: Model, numbers: Mapping[str, int], lower: np.ndarray, upper: np.ndarray, stopped: Stopped
    ):
        self.model, self.numbers = model, numbers
        self.lower, self.upper, self.stopped = lower, upper, stopped
        self.builder = RelaxationBuilder()
        self.encoding = Encoding(self.builder, self.domain)
        self.terms: dict[str, Affine] = {}
        self.columns: dict[int, Affine] = {}
        self.domains: dict[int, IntSet] = {}
        self.arrays: dict[str, list[Affine]] = {}
        self.conflicts = Conflicts()
        self.differences: dict[tuple[int, int, int], tuple[Affine, Affine]] = {}
        self.distinct: list[list[Affine]] = []  # terms that all differ
        self.thresholds: dict[int, dict[int, list[Affine]]] = {}  # by column and limit: truths of "at most"
        self.relations: dict[tuple[str, int], Relation] = {}  # the relations of tables by name and width
        self.late: list[Callable[[], None]] = []  # adds rows that depend on which values have truths
        # Of each column: its terms in hulls of tables and paths, with the 0-1 columns that give a term each value.
        self.hulls: dict[int, list[tuple[Affine, list[tuple[int, Affine]]]]] = {}
        self.machines: list[Machine] = []
        self.steps: Steps | None = None
        self.places: list[tuple[list[int], list[Affine], int]] = []  # equations that may compute an index from others
        self.n_ordered = 0  # pairs of tasks
        self.n_split = 0  # values of equations that were split by value
        self.reads: dict[tuple[Affine, ...], dict[int, Affine]] = {}  # for each array: the element read by each index
        # For each index: the element z read by it, and for each value v of z the truths of the places that hold v.
        self.tables: dict[int, list[tuple[Affine, dict[int, list[Affine]]]]] = {}

    def domain(self, column: int) -> IntSet:
        """The set of values of a column."""
        values = self.domains.get(column)
        return IntSet.interval(self.builder.lower[column], self.builder.upper[column]) if values is None else values

    def is_named(self, term: Affine) -> bool:
        """Whether the model has a truth value for some value of the term."""
        return bool(self.encoding.named(term))

    def is_small(self, term: Affine) -> bool:
        """Whether the term has few enough values that each may get a column."""
        return term.column >= 0 and self.domain(term.column).size <= TUNING.small_values

    def differ(self, x: Affine, y: Affine, k: int) -> None:
        """Records x - y != k; linearise.py adds the conflicts at the end."""
        if x.column >= 0 and y.column >= 0:
            self.differences[x.column, y.column, k] = x, y

    # Arguments

    def term(self, expression: object) -> Affine:
        """A variable, parameter or literal as coefficient * column + constant."""
        if type(expression) is Ref:
            term = self.terms.get(expression)
            if term is None:
                term = self.terms[expression] = self.new_term(expression)
            return term
        if type(expression) is Index:
            return self.term(self.model.arrays[expression.array].elements[expression.index - 1])
        return Affine(-1, 0, int(expression))  # type: ignore[call-overload]

    def new_term(self, name: str) -> Affine:
        """The term of a name, with a new column if it has none yet; a constant for parameters and fixed variables."""
        number = self.numbers.get(name)
        if number is None:
            return Affine(-1, 0, int(self.model.parameters[name]))  # type: ignore[call-overload]
        if number not in self.columns:
            low, high = int(self.lower[number]), int(self.upper[number])
            fixed = low == high
            self.columns[number] = Affine(-1, 0, low) if fixed else Affine(self.builder.column(low, high, number), 1, 0)
        return self.columns[number]

    def array(self, expression: object) -> list[Affine]:
        """The terms of an array, which is given by name or as a list."""
        if type(expression) is Ref:
            if expression not in self.arrays:
                self.arrays[expression] = list(map(self.term, self.model.arrays[expression].elements))
            return self.arrays[expression]
        return list(map(self.term, expression))  # type: ignore[call-overload]

    def integers(self, expression: object) -> list[int]:
        """The values of an array of parameters and literals, of which there may be millions."""
        elements = self._elements(expression)
        if LITERAL_TYPES.issuperset(map(type, elements)):
            return list(map(int, elements))
        return [term.constant for term in self.array(expression)]

    def set(self, expression: object) -> IntSet:
        return expression if isinstance(expression, IntSet) else self.model.parameters[expression]  # type: ignore

    def sets(self, expression: object) -> list[IntSet]:
        return list(map(self.set, self._elements(expression)))

    def _elements(self, expression: Any) -> Any:
        """The elements of an array, given by name or as a list."""
        return self.model.arrays[expression].elements if type(expression) is Ref else expression
