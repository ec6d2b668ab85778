"""Random models without a solution, of named constraints, with which part of the text belongs to which name.

As MiniZinc writes them: a constraint of the source is one constraint with its name, and definitions of introduced
variables, which the constraints of the same expression share.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from random import Random

from support.flatzinc_text import with_text
from support.oracle import all_solutions
from turbo_fzn.base.domains import BOOLEAN, IntSet
from turbo_fzn.read.model import Call, Constraint, Goal, Model, Ref, Text, Variable

NAMES = ["x", "y", "z", "w"]
VALUES = 3


@dataclass
class NamedModel:
    """`needed`: of each name, the numbers of the constraints that belong to it."""

    model: Model
    needed: dict[str, set[int]]

    def only(self, names: Iterable[str]) -> Model:
        """The model with the constraints of these names alone, written anew."""
        numbers = set().union(*(self.needed[name] for name in names))
        chosen = [constraint for number, constraint in enumerate(self.model.constraints) if number in numbers]
        named = {*NAMES, *self.model.names_in(argument for constraint in chosen for argument in constraint.args)}
        variables = {name: variable for name, variable in self.model.variables.items() if name in named}
        return with_text(replace(self.model, constraints=chosen, variables=variables))


@dataclass
class _Drawer:
    random: Random
    constraints: list[Constraint] = field(default_factory=list)
    variables: dict[str, Variable] = field(default_factory=dict)
    shared: dict[tuple, tuple[Ref, set[int]]] = field(default_factory=dict)

    def variable(self) -> Ref:
        return Ref(self.random.choice(NAMES))

    def some(self, count: int) -> list[Ref]:
        return [Ref(name) for name in self.random.sample(NAMES, count)]

    def add(self, name: str, arguments: list, annotation: Call) -> int:
        self.constraints.append(Constraint(name, arguments, [annotation], 0))
        return len(self.constraints) - 1

    def define(self, predicate: str, arguments: list, domain: IntSet) -> tuple[Ref, set[int]]:
        """A variable of its own for an expression, and the number of its definition; the same for the same one."""
        key = (predicate, str(arguments))
        if key not in self.shared:
            name = Ref(f"X{len(self.shared)}")
            introduced = [Ref("var_is_introduced"), Ref("is_defined_var")]
            kind = "bool" if domain is BOOLEAN else "int"
            self.variables[name] = Variable(name, kind, None if kind == "bool" else domain, introduced, None, 0)
            number = self.add(predicate, [*arguments, name], Call("defines_var", [name]))
            self.shared[key] = name, {number}
        return self.shared[key]

    def shared_one(self, kind: str) -> tuple[Ref, set[int]] | None:
        """Every other time, one that there is already."""
        known = [one for one in self.shared.values() if self.variables[one[0]].kind == kind]
        return self.random.choice(known) if known and self.random.random() < 0.5 else None

    def literal(self) -> tuple[Ref, set[int]]:
        if known := self.shared_one("bool"):
            return known
        if self.random.random() < 0.5:
            return self.define("int_eq_reif", [self.variable(), self.random.randint(1, VALUES)], BOOLEAN)
        return self.define("int_lt_reif", self.some(2), BOOLEAN)

    def product(self) -> tuple[Ref, set[int]]:
        """A product, or an element of an array, which is not total: an index beyond the array has no value."""
        if known := self.shared_one("int"):
            return known
        if self.random.random() < 0.5:
            return self.define("int_times", [self.variable(), self.variable()], IntSet.interval(1, VALUES**2))
        entries = [self.random.randint(1, 4) for _ in range(2)]
        return self.define("array_int_element", [self.variable(), entries], IntSet.interval(1, 4))

    def constraint(self, name: str) -> set[int]:
        """Adds one of the source; the numbers of all that belongs to it."""
        random, named = self.random, Call("mzn_constraint_name", [Text(name)])
        form = random.choice(("int_ne", "int_lt", "bound", "sum", "different", "or", "product", "product"))
        if form == "or":
            (first, ours), (second, theirs) = self.literal(), self.literal()
            return {self.add("bool_clause", [[first], [second]], named)} | ours | theirs
        if form == "product":
            result, ours = self.product()
            terms = [random.choice((1, -1)), -1], [result, self.variable()]
            return {self.add("int_lin_le", [*terms, random.randint(-3, 1)], named)} | ours
        arguments = {
            "int_ne": self.some(2),
            "int_lt": self.some(2),
            "bound": [[random.choice((1, -1))], [self.variable()], random.choice((1, -3))],
            "sum": [[1, 1, -1], self.some(3), random.randint(1, 5)],
            "different": [self.some(3)],
        }
        predicates = {"bound": "int_lin_le", "sum": "int_lin_eq", "different": "turbo_all_different"}
        return {self.add(predicates.get(form, form), arguments[form], named)}


def draw(random: Random) -> NamedModel:
    """Draws until there is no solution, as enumeration says."""
    while True:
        drawer = _Drawer(random)
        needed = {f"c{number}": drawer.constraint(f"c{number}") for number in range(random.randint(4, 9))}
        shown = [Ref("output_var")]
        named = {name: Variable(name, "int", IntSet.interval(1, VALUES), shown, None, 0) for name in NAMES}
        goal = Goal("satisfy", None, [], 0)
        if random.random() < 0.3:
            goal = Goal("minimize", Ref(random.choice(NAMES)), [], 0)
        variables = {**named, **drawer.variables}
        model = with_text(Model(variables=variables, constraints=drawer.constraints, goal=goal, file="test.fzn"))
        if not all_solutions(model):
            return NamedModel(model, needed)
