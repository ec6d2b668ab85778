"""FlatZinc model -> linear relaxation.

A column is an integer variable of the caller, which says by which number it knows each name: names that it holds for
equal share a column (a Boolean and its bool2int, for instance). A column has the caller's bounds; what is fixed is a
constant.

`FORMS` says which rows a constraint gives (those of logical.py, nonlinear.py, counting.py, flows.py, tours.py and
energy.py); what is not in it gives none, which is always allowed. Literals "x = v" come first (encoding.py), so that
every constraint sees those that the model has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations, product

import numpy as np

from turbo_fzn.bounds import counting, energy, flows, logical, nonlinear, tours
from turbo_fzn.bounds.cliques import Conflicts, groups
from turbo_fzn.bounds.encoding import Encoding
from turbo_fzn.bounds.relaxation import FALSE, Affine, Builder, Relaxation, negation
from turbo_fzn.domains import INFINITY, IntSet
from turbo_fzn.read.model import Constraint, Index, Model, Ref

Stopped = Callable[[], bool]

SENSES = {"minimize": 1, "maximize": -1}
SMALL_DOMAIN = 12
MOST_ENTRIES = 4_000_000  # of the rows; a larger relaxation would not be solved in time

FORMS = logical.FORMS | nonlinear.FORMS | counting.FORMS | flows.FORMS | tours.FORMS | energy.FORMS


class Linearizer:
    """What the functions of FORMS see: `builder`, `encoding`, and the arguments of constraints as affine terms.

    `numbers` gives the caller's variable of each name, `lower` and `upper` (int64) bound those. `stopped` is
    asked on the way: then what comes is of no use any more.
    """

    def __init__(
        self, model: Model, numbers: Mapping[str, int], lower: np.ndarray, upper: np.ndarray, stopped: Stopped
    ):
        self.model, self.numbers = model, numbers
        self.lower, self.upper, self.stopped = lower, upper, stopped
        self.builder = Builder()
        self.encoding = Encoding(self.builder, self.domain)
        self.terms: dict[str, Affine] = {}
        self.columns: dict[int, Affine] = {}
        self.domains: dict[int, IntSet] = {}
        self.arrays: dict[str, list[Affine]] = {}
        self.conflicts = Conflicts()
        self.differences: dict[tuple[int, int, int], tuple[Affine, Affine]] = {}
        self.distinct: list[list[Affine]] = []  # terms that all differ
        self.machines: list[energy.Machine] = []
        self.steps: energy.Steps | None = None
        self.places: list[tuple[list[int], list[Affine], int]] = []  # equations that may make an index of others
        self.n_ordered = 0  # pairs of tasks
        self.n_split = 0  # values of equations that were looked at
        self.reads: dict[tuple[Affine, ...], dict[int, Affine]] = {}  # of each array: what is read by each index
        # Of each index: what is read by it, z, and by value v of z the truths of the places where v stands.
        self.tables: dict[int, list[tuple[Affine, dict[int, list[Affine]]]]] = {}

    def run(self) -> Relaxation | None:
        """None where the objective is no column of any row, or when stopped."""
        goal = self.model.goal
        assert goal is not None
        self.find_holes()
        self.find_images()
        objective = self.term(goal.objective)
        if objective.column < 0:
            return None
        self.name_literals()
        self.add_constraints()
        self.add_differences()
        self.add_meetings()
        nonlinear.add_places(self)
        for machine in self.machines:
            energy.add_machine(self, machine)
        self.encoding.finish()
        builder = self.builder
        if self.stopped() or not any(objective.column in entries for entries, _, _ in builder.rows):
            return None
        relaxation = builder.finish(objective.column, SENSES[goal.method], self.conflicts)
        self.conflicts.add_rows(relaxation.rows, relaxation.lower, relaxation.upper)
        return relaxation

    def add_constraints(self) -> None:
        n_entries = 0
        for constraint in self.model.constraints:
            form = FORMS.get(constraint.name)
            if form is not None and n_entries < MOST_ENTRIES and not self.stopped():
                before = len(self.builder.rows)
                form(self, *constraint.args)
                n_entries += sum(len(entries) for entries, _, _ in self.builder.rows[before:])

    def name_literals(self) -> None:
        for constraint in self.model.constraints:
            if constraint.name in LITERALS and len(constraint.args) == 3:
                self.name_literal(constraint)

    def name_literal(self, constraint: Constraint) -> None:
        """b = (x = c), b = (x != c)."""
        x, y = self.term(constraint.args[0]), self.term(constraint.args[1])
        literal = self.term(constraint.args[2])
        literal = literal if LITERALS[constraint.name] else negation(literal)
        if x.column < 0:
            x, y = y, x
        if y.column < 0 <= x.column:
            if literal == FALSE:
                others = IntSet.of_ranges([(-INFINITY, y.constant - 1), (y.constant + 1, INFINITY)])
                self.domains[x.column] = self.domain(x.column) & others
            elif literal.column >= 0:
                self.encoding.name(x, y.constant, literal)

    def find_holes(self) -> None:
        """Domains with holes, as the model declares them."""
        for variable in self.model.variables.values():
            if isinstance(variable.domain, IntSet) and variable.domain.has_holes:
                column = self.term(Ref(variable.name)).column
                if column >= 0:
                    self.domains[column] = self.domain(column) & variable.domain

    def find_images(self) -> None:
        """Equations of two variables, before any truth is named."""
        for constraint in self.model.constraints:
            if constraint.name == "int_lin_eq":
                factors, terms = self.integers(constraint.args[0]), self.array(constraint.args[1])
                k = self.term(constraint.args[2])
                if len(terms) == 2 and k.column < 0:
                    self.encoding.relate(factors[0], terms[0], factors[1], terms[1], k.constant)
                elif 3 <= len(terms) <= nonlinear.MOST_PLACES and k.column < 0:
                    self.places.append((factors, terms, k.constant))

    def domain(self, column: int) -> IntSet:
        """The values that a column may have."""
        values = self.domains.get(column)
        return IntSet.interval(self.builder.lower[column], self.builder.upper[column]) if values is None else values

    def is_named(self, term: Affine) -> bool:
        """Whether the model has a truth value for some value of the term."""
        return bool(self.encoding.named(term))

    def is_small(self, term: Affine) -> bool:
        """Whether it may have a column for each value."""
        return term.column >= 0 and self.domain(term.column).size <= SMALL_DOMAIN

    def differ(self, x: Affine, y: Affine, k: int) -> None:
        """x - y != k, to be seen to at the end."""
        if x.column >= 0 and y.column >= 0:
            self.differences[x.column, y.column, k] = x, y

    def add_differences(self) -> None:
        """Of variables that all differ, at most one has a given value, and one has it if there are as many values."""
        equal = {(x, y) for x, y, k in self.differences if k == 0}
        for columns in groups(equal, self.stopped):
            self.distinct.append([Affine(column, 1, 0) for column in columns])
        for terms in self.distinct:
            if not self.stopped():
                counting.add_distinct(self, terms)
        for (x, y, k), _ in self.differences.items():
            if k and not self.stopped():
                self.add_conflicts_of(x, y, k)

    def add_conflicts_of(self, x: int, y: int, k: int) -> None:
        """x - y != k: the truths of x = v + k and y = v."""
        first, second = (self.encoding.named(Affine(column, 1, 0)) for column in (x, y))
        for value in first.keys() & {value + k for value in second}:
            self.conflicts.add([first[value], second[value - k]])

    def add_meetings(self) -> None:
        """Values of two columns of a table that are in no row of it together."""
        for columns in self.tables.values():
            found = [[(self.encoding.known(x, value), set(at)) for value, at in rows.items()] for x, rows in columns]
            for one, other in combinations(found, 2):
                for (first, rows), (second, rows_there) in product(one, other):
                    if first is not None and second is not None and rows.isdisjoint(rows_there):
                        self.conflicts.add([first, second])

    # Arguments

    def term(self, expression: object) -> Affine:
        """A variable, parameter or literal, as coefficient * column + constant."""
        if type(expression) is Ref:
            term = self.terms.get(expression)
            if term is None:
                term = self.terms[expression] = self.new_term(expression)
            return term
        if type(expression) is Index:
            return self.term(self.model.arrays[expression.array].elements[expression.index - 1])
        return Affine(-1, 0, int(expression))  # type: ignore[call-overload]

    def new_term(self, name: str) -> Affine:
        number = self.numbers.get(name)
        if number is None:
            return Affine(-1, 0, int(self.model.parameters[name]))  # type: ignore[call-overload]
        if number not in self.columns:
            low, high = int(self.lower[number]), int(self.upper[number])
            fixed = low == high
            self.columns[number] = Affine(-1, 0, low) if fixed else Affine(self.builder.column(low, high, number), 1, 0)
        return self.columns[number]

    def array(self, expression: object) -> list[Affine]:
        if type(expression) is Ref:
            if expression not in self.arrays:
                self.arrays[expression] = list(map(self.term, self.model.arrays[expression].elements))
            return self.arrays[expression]
        return list(map(self.term, expression))  # type: ignore[call-overload]

    def integers(self, expression: object) -> list[int]:
        return [term.constant for term in self.array(expression)]

    def set(self, expression: object) -> IntSet:
        return expression if isinstance(expression, IntSet) else self.model.parameters[expression]  # type: ignore

    def sets(self, expression: object) -> list[IntSet]:
        elements = self.model.arrays[expression].elements if type(expression) is Ref else expression
        return list(map(self.set, elements))  # type: ignore[call-overload]


LITERALS = {"int_eq_reif": True, "int_ne_reif": False}


def linearise(
    model: Model, numbers: Mapping[str, int], lower: np.ndarray, upper: np.ndarray, stopped: Stopped = lambda: False
) -> Relaxation | None:
    """The relaxation of a model with an objective, or None where that is in no row, or where it is told to stop.

    `numbers` maps the name of each variable to its place in `lower` and `upper` (int64), the bounds that hold in all
    solutions; ±INFINITY for none."""
    assert np.all(np.abs(lower) <= INFINITY) and np.all(np.abs(upper) <= INFINITY)
    return Linearizer(model, numbers, lower, upper, stopped).run()
