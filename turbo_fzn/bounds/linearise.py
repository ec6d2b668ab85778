"""FlatZinc model -> linear relaxation.

A column is an integer variable of the caller, which says by which number it knows each name: names that it holds for equal
share a column (a Boolean and its bool2int, for instance). A column has the caller's bounds; what is fixed is a constant.

`FORMS` says which rows a constraint gives (those of linear.py and nonlinear.py); what is not in it gives none, which is always
allowed. Literals "x = v" come first (encoding.py), so that every constraint sees those that the model has.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from turbo_fzn.bounds import logical, nonlinear
from turbo_fzn.bounds.encoding import Encoding
from turbo_fzn.bounds.relaxation import FALSE, Affine, Builder, Relaxation, negation
from turbo_fzn.domains import INFINITY, IntSet
from turbo_fzn.read.model import Constraint, Index, Model, Ref

SENSES = {"minimize": 1, "maximize": -1}
MOST_ENTRIES = 4_000_000  # of the rows; a larger relaxation would not be solved in time

FORMS = {**logical.FORMS, **nonlinear.FORMS}


class Linearizer:
    """What the functions of FORMS see: `builder`, `encoding`, and the arguments of constraints as affine terms.

    `numbers` gives the caller's variable of each name, `lower` and `upper` (int64) bound those.
    """

    def __init__(self, model: Model, numbers: Mapping[str, int], lower: np.ndarray, upper: np.ndarray):
        self.model, self.numbers = model, numbers
        self.lower, self.upper = lower, upper
        self.builder = Builder()
        self.encoding = Encoding(self.builder, self.domain)
        self.terms: dict[str, Affine] = {}
        self.columns: dict[int, Affine] = {}
        self.domains: dict[int, IntSet] = {}
        self.arrays: dict[str, list[Affine]] = {}

    def run(self) -> Relaxation | None:
        """None where the objective is no column of any row."""
        goal = self.model.goal
        assert goal is not None
        self.find_holes()
        objective = self.term(goal.objective)
        if objective.column < 0:
            return None
        self.name_literals()
        self.add_constraints()
        self.builder.source = -1
        self.encoding.finish()
        builder = self.builder
        if not any(objective.column in entries for entries, _, _ in builder.rows):
            return None
        return builder.finish(objective.column, SENSES[goal.method])

    def add_constraints(self) -> None:
        n_entries = 0
        for number, constraint in enumerate(self.model.constraints):
            form = FORMS.get(constraint.name)
            if form is not None and n_entries < MOST_ENTRIES:
                before = len(self.builder.rows)
                self.builder.source = number
                form(self, *constraint.args)
                n_entries += sum(len(entries) for entries, _, _ in self.builder.rows[before:])

    def name_literals(self) -> None:
        for number, constraint in enumerate(self.model.constraints):
            if constraint.name in LITERALS and len(constraint.args) == 3:
                self.builder.source = number
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
                self.domains[x.column] = self.domain(x.column).without(y.constant)
            elif literal.column >= 0:
                self.encoding.name(x, y.constant, literal)

    def find_holes(self) -> None:
        """Domains with holes, as the model declares them."""
        for variable in self.model.variables.values():
            if isinstance(variable.domain, IntSet) and variable.domain.has_holes:
                column = self.term(Ref(variable.name)).column
                if column >= 0:
                    self.domains[column] = self.domain(column) & variable.domain

    def domain(self, column: int) -> IntSet:
        """The values that a column may have."""
        values = self.domains.get(column)
        return IntSet.interval(self.builder.lower[column], self.builder.upper[column]) if values is None else values

    def is_named(self, term: Affine) -> bool:
        """Whether the model has a truth value for some value of the term."""
        return term.column in self.encoding.literals

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


LITERALS = {"int_eq_reif": True, "int_ne_reif": False}


def linearise(model: Model, numbers: Mapping[str, int], lower: np.ndarray, upper: np.ndarray) -> Relaxation | None:
    """The relaxation of a model with an objective, or None where that is in no row.

    `numbers` maps the name of each variable to its place in `lower` and `upper` (int64), the bounds that hold in all
    solutions; ±INFINITY for none."""
    assert np.all(np.abs(lower) <= INFINITY) and np.all(np.abs(upper) <= INFINITY)
    return Linearizer(model, numbers, lower, upper).run()
