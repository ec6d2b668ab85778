"""Checks whether an assignment satisfies the FlatZinc model as it was written, before a solution is printed.

A solver rewrites, simplifies and compiles a model before it searches; a mistake in any of this would print a wrong
answer. So this folder evaluates every solution against the *original* constraints. It shares only the parsed Model and
the signatures of predicates with the solver: relations.py and meanings.py define the predicates, column_relations.py
evaluates them on whole columns, tables.py resolves the model for them.

With `-a` there are many solutions of a small model. `all_hold` checks all of them at once; only if one fails are they
checked one by one, to find the fault.

A new Checker checks names and numbers of arguments only; the tables are built on first use, or by `make_ready`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from itertools import chain, islice

import numpy as np

from turbo_fzn.base.domains import INFINITY, IntSet
from turbo_fzn.base.errors import UnsupportedError
from turbo_fzn.check.meanings import TABLES
from turbo_fzn.check.reals import RealConstraints, find_form
from turbo_fzn.check.relations import find_signature
from turbo_fzn.check.tables import Assignment, Batch, Tables, error_at
from turbo_fzn.read.model import Constraint, Index, Model, Ref

CELLS_A_LITERAL = 100  # formula: of a table, which NumPy looks at
SHOWN_VALUES = 12  # format: of a message
PRECISION = 1e-6  # formula: of floats, as users expect it


class Checker:
    """Evaluates assignments against a model; see the module's docstring."""

    def __init__(self, model: Model, precision: float = PRECISION):
        self.model = model
        self.precision = precision
        self.reals = RealConstraints(model)
        for constraint in model.constraints:
            form = find_form(constraint.name)
            if form is not None and len(constraint.args) == form.n_args:
                self.reals.constraints.append((constraint, form))
                continue
            signature = find_signature(constraint.name, len(constraint.args))
            if signature is None:
                raise error_at(model, constraint.position, f"unknown predicate {constraint.name}")
            if len(constraint.args) != len(signature.kinds):
                text = f"{constraint.name} has {len(signature.kinds)} arguments, not {len(constraint.args)}"
                raise error_at(model, constraint.position, text)
        for variable in model.variables.values():
            if variable.kind not in ("bool", "int", "float"):
                text = f"{variable.kind} variables are not supported"
                raise error_at(model, variable.position, text, UnsupportedError)

    @cached_property
    def cost(self) -> int:
        """The number of literals and array elements that one check touches, or takes the time of."""
        return len(self.model.variables) + sum(map(self.cost_of, self.model.constraints))

    def cost_of(self, constraint: Constraint) -> int:
        sizes = [
            len(arg) if isinstance(arg, list) else self.lengths.get(arg, 1) if isinstance(arg, Ref) else 1
            for arg in constraint.args
        ]
        signature = find_signature(constraint.name, len(sizes))
        if signature is not None and signature.base in TABLES:
            sizes[2] //= CELLS_A_LITERAL
        return sum(sizes)

    @cached_property
    def lengths(self) -> dict[str, int]:
        """The number of elements of each array that has a name."""
        return {name: len(array.elements) for name, array in self.model.arrays.items()}

    @cached_property
    def tables(self) -> Tables:
        """The tables of the constraints on integers and Booleans."""
        return Tables(self.integers)

    def make_ready(self) -> None:
        """Builds the tables, so that the first check need not."""
        for group in self.tables.groups.values():
            group.make_ready()

    @cached_property
    def integers(self) -> Model:
        """The model without its float variables and the constraints on them, or the model itself if it has none."""
        if not self.has_floats:
            return self.model
        model = self.model
        return replace(
            model,
            variables={name: variable for name, variable in model.variables.items() if variable.kind != "float"},
            arrays={name: array for name, array in model.arrays.items() if array.kind != "float"},
            constraints=[constraint for constraint in model.constraints if find_form(constraint.name) is None],
        )

    @cached_property
    def has_floats(self) -> bool:
        return bool(self.reals.constraints) or any(one.kind == "float" for one in self.model.variables.values())

    def violation(self, values: Mapping[str, int]) -> str | None:
        """None if the assignment is a solution, else a line that names a violated constraint or domain. Floats are left
        to `undecided`."""
        return next(self.violations(values), None)

    def undecided(self, values: Mapping[str, float]) -> str | None:
        """For an assignment without `violation`: None, or a line that names a domain or constraint that its float
        variables miss by more than the precision."""
        misplaced = self.reals.misplaced(values, self.precision)
        violated = (self.describe(one, values) for one in self.reals.violated(values, self.precision))
        return next(chain(misplaced, violated), None)

    def violations(self, values: Mapping[str, int]) -> Iterator[str]:
        """A line for every declaration and constraint that does not hold, except those on floats."""
        missing = next((name for name in self.model.variables if name not in values), None)
        if missing is not None:
            yield f"variable {missing} has no value"
            return
        assignment = self.assign(values)
        for name, slot, domain in self.tables.domains.failures(assignment):
            yield f"{name} = {assignment.values[slot]} is outside its domain {show(domain)}"
        for name, slot, other in self.tables.equalities:
            if assignment.values[slot] != assignment.values[other]:
                yield f"{name} = {assignment.values[slot]} differs from its right-hand side {assignment.values[other]}"
        for number in self.failed_constraints(assignment):
            yield self.describe(self.integers.constraints[number], values)

    def all_hold(self, values: np.ndarray) -> bool:
        """Whether every row of `values` (int64 [k, variables], in the model's order) is a solution.

        False means that a row is not, or that its numbers are too large for columns: then check them one by one.
        """
        tables = self.tables
        constants = tables.slots.constants
        if any(abs(constant) >= INFINITY for constant in constants) or np.any(
            (values <= -INFINITY) | (values >= INFINITY)
        ):
            return False
        constant_columns = np.broadcast_to(np.array(constants, np.int64), (len(values), len(constants)))
        batch = Batch(np.concatenate([values, constant_columns], axis=1), tables)
        equal = all(np.array_equal(batch.slots[:, slot], batch.slots[:, other]) for _, slot, other in tables.equalities)
        return equal and tables.domains.all_hold(batch) and all(g.all_hold(batch) for g in tables.groups.values())

    def assign(self, values: Mapping[str, int]) -> Assignment:
        tables = self.tables
        scalars = [int(values[name]) for name in self.integers.variables]
        return Assignment(scalars + tables.slots.constants, tables.elements, tables.elements_vector)

    def declarations_hold(self, assignment: Assignment) -> bool:
        """Whether domains and right-hand sides do, but for those of floats."""
        values, tables = assignment.values, self.tables
        equal = all(values[slot] == values[other] for _, slot, other in tables.equalities)
        return equal and next(iter(tables.domains.failures(assignment)), None) is None

    def failed_constraints(self, assignment: Assignment) -> Iterator[int]:
        for group in self.tables.groups.values():
            yield from group.failures(assignment)

    def describe(self, constraint: Constraint, values: Mapping[str, float]) -> str:
        file, line, _ = self.model.locate(constraint.position)
        text = f"{constraint.name}({','.join(map(show, constraint.args))})"
        names = islice(dict.fromkeys(self.model.names_in(constraint.args)), SHOWN_VALUES)
        where = ", ".join(f"{name} = {values[name]}" for name in names)
        place = f"{file}:{line}" if file else f"line {line}"
        return f"{place}: {text} does not hold with {where or 'its constants'}"


def show(value: object) -> str:
    """A value as FlatZinc text, cut if it is long."""
    if isinstance(value, IntSet):
        parts = [f"{low}..{high}" for low, high in value.ranges[:SHOWN_VALUES]]
        return " union ".join(parts + ["…"] * (len(value.ranges) > SHOWN_VALUES)) or "{}"
    if isinstance(value, list):
        return "[" + ",".join([*map(show, value[:SHOWN_VALUES])] + ["…"] * (len(value) > SHOWN_VALUES)) + "]"
    if isinstance(value, Index):
        return f"{value.array}[{value.index}]"
    return str(value).lower() if isinstance(value, bool) else str(value)
