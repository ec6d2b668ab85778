"""Model -> a coloured graph whose automorphisms are symmetries of the model.

A vertex is a variable or a constraint. An arc connects a variable with a constraint that has it, and its label is the
place in the constraint. Variables of one colour have the same domain; constraints of one colour have the same name, and
the same constants at the same places. Arguments that may be permuted by their signature (predicates/) share a label.

So a permutation of the variables that keeps colours and maps the constraints to the constraints maps solutions to
solutions; the objective has its own colour, so its value is kept, too.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from turbo_fzn.predicates.table import find
from turbo_fzn.read.model import Call, Constraint, Index, Model, Ref
from turbo_fzn.symmetry.tuning import TUNING

NAMES = frozenset((Ref, Index))
# The groups of arguments whose elements may be permuted together, the arguments in them, and whether the first two of
# the others commute.
Plan = tuple[tuple[tuple[int, ...], ...], set[int], bool]


@dataclass(eq=False, repr=False)
class Graph:
    """The graph of a model. colours: int64 [variables]; kinds: int64 [constraints]; an arc is a constraint, a variable
    and a label, int64 [arcs] each, sorted by constraint; every constraint has arcs. `names` are the names of the
    variables; `rank` (int64 [variables]) is their place in the order of the search."""

    names: list[str]
    colours: np.ndarray
    kinds: np.ndarray
    constraint: np.ndarray
    variable: np.ndarray
    label: np.ndarray
    rank: np.ndarray


def graph_of(model: Model) -> Graph | None:
    """The graph of a model; None if the model is too large, has other variables than integers and Booleans, or is
    wrong, which the lowering reports."""
    kinds = {variable.kind for variable in model.variables.values()}
    if len(model.constraints) > TUNING.constraints or not kinds <= {"int", "bool"}:
        return None
    try:
        return _Reader(model).read()
    except (LookupError, TypeError):
        return None


class _Reader:
    """Reads the model, and numbers colours and labels in the order of their occurrence."""

    def __init__(self, model: Model):
        self.model = model
        self.number = {name: number for number, name in enumerate(model.variables)}
        self.known: dict[Hashable, int] = {}
        self.plans: dict[tuple[str, int], Plan] = {}
        self.arrays: dict[str, list] = {}
        self.constants: dict[str, Hashable] = {}  # for arrays without variables, their keys in a kind
        self.labels: dict[tuple[int, ...], dict[Hashable, list[int]]] = {}  # by group, constants and place
        self.constraint: list[int] = []
        self.variable: list[int] = []
        self.label: list[int] = []

    def read(self) -> Graph | None:
        variables, goal = self.model.variables, self.model.goal
        objective = None if goal is None else self.scalar(goal.objective)
        colours = [self.name(("domain", v.kind, v.domain, v.name == objective)) for v in variables.values()]
        kinds = []
        for number, constraint in enumerate(self.constraints()):
            kinds.append(self.add(number, constraint.name, constraint.args))
            if len(self.variable) > TUNING.arcs:
                return None
        present, constraints = np.unique(np.array(self.constraint, np.int64), return_inverse=True)
        return Graph(
            names=list(variables),
            colours=np.array(colours, np.int64),
            kinds=np.array(kinds, np.int64)[present],
            constraint=constraints,
            variable=np.array(self.variable, np.int64),
            label=np.array(self.label, np.int64),
            rank=self.rank(),
        )

    def constraints(self) -> Iterator[Constraint]:
        """The constraints of the model, and its declarations as further constraints."""
        yield from self.model.constraints
        for variable in self.model.variables.values():
            if variable.value is not None:
                yield Constraint("is", [Ref(variable.name), variable.value], [], 0)
        for array in self.model.arrays.values():
            if array.is_variable and array.domain is not None:
                yield from (Constraint("in", [element, array.domain], [], 0) for element in array.elements)

    def name(self, key: Hashable) -> int:
        """The number of a key; a new key gets the next number."""
        return self.known.setdefault(key, len(self.known))

    def add(self, number: int, name: str, arguments: list) -> int:
        """Adds the arcs of a constraint. Returns its kind."""
        groups, grouped, commutes = self.plans.get((name, len(arguments))) or self.plan(name, len(arguments))
        kind: list[Hashable] = [name]
        for group in groups:
            kind.append(self.add_group(number, group, [self.elements(arguments[place]) for place in group]))
        for place, argument in enumerate(arguments):
            if place not in grouped:
                kind.append(self.add_argument(number, 0 if commutes and place == 1 else place, argument))
        if commutes:
            kind[1:3] = sorted(kind[1:3], key=repr)
        return self.name(tuple(kind))

    def plan(self, name: str, n_arguments: int) -> Plan:
        """The permutations of arguments that a constraint of that name and number of arguments allows."""
        form = find(name, n_arguments)
        groups = () if form is None else form.predicate.unordered
        commutes = form is not None and form.predicate.commutes
        plan = self.plans[name, n_arguments] = groups, {place for group in groups for place in group}, commutes
        return plan

    def add_group(self, number: int, group: tuple[int, ...], columns: list[list]) -> Hashable:
        """Adds the arcs of a group of arguments whose elements may be permuted together; the label of a variable is
        made of the constants beside it. If several arguments of an element are variables, none is permuted."""
        constants: list[Hashable] = []
        labels = self.labels.setdefault(group, {})
        for i, members in enumerate(zip(*columns)):
            others = tuple([None if type(member) is Ref else member for member in members])
            n_variables = others.count(None)
            if n_variables == 0:
                constants.append(members)
                continue
            where = others if n_variables == 1 else (others, i)
            known = labels.get(where)
            if known is None:
                known = labels[where] = [self.name(("label", group, where, place)) for place in range(len(members))]
            for place, other in enumerate(others):
                if other is None:
                    self.arc(number, members[place], known[place])
        return tuple(map(len, columns)), tuple(sorted(constants, key=repr))

    def add_argument(self, number: int, label: Hashable, argument: object) -> Hashable:
        """Adds the variables with the labels of their places. Returns the keys of constants for the kind."""
        if type(argument) is Ref and argument in self.constants:
            return self.constants[argument]
        if type(argument) is list or (type(argument) is Ref and argument in self.model.arrays):
            elements = self.elements(argument)
            if Ref not in map(type, elements):
                return self.name_constants(argument, elements)
            return tuple(self.add_argument(number, (label, i), element) for i, element in enumerate(elements))
        member = self.scalar(argument)
        if type(member) is not Ref:
            return member
        self.arc(number, member, self.name(("label", label)))
        return Ref("")

    def name_constants(self, argument: object, elements: list) -> Hashable:
        """A key that equal constants share. A named array, which many constraints may have, is visited once."""
        key = "constants", self.name(("constants", *elements))
        if type(argument) is Ref:
            self.constants[argument] = key
        return key

    def arc(self, number: int, variable: Ref, label: int) -> None:
        self.constraint.append(number)
        self.variable.append(self.number[variable])
        self.label.append(label)

    def scalar(self, argument: object) -> object:
        """The value of a parameter or literal; a Ref for a variable."""
        if type(argument) is Index:
            return self.scalar(self.model.arrays[argument.array].elements[argument.index - 1])
        if type(argument) is Ref and argument not in self.number:
            return self.model.parameters[argument]
        return argument

    def elements(self, argument: object) -> list:
        """The elements of an array, given by its name or as a list."""
        if type(argument) is Ref:
            if argument not in self.arrays:
                self.arrays[argument] = self.scalars(self.model.arrays[argument].elements)
            return self.arrays[argument]
        return self.scalars(argument)  # type: ignore[arg-type]

    def scalars(self, elements: list) -> list:
        """A list of literals, such as a large table, is itself."""
        return elements if NAMES.isdisjoint(map(type, elements)) else list(map(self.scalar, elements))

    def rank(self) -> np.ndarray:
        """The ranks of the variables: first the variables of the search annotation, in order, then the others;
        variables that others define come last."""
        goal = self.model.goal
        annotated = dict.fromkeys(self.mentioned(goal.annotations if goal is not None else []))
        place = {number: i for i, number in enumerate(annotated)}
        n = len(self.number)
        rank = np.zeros(n, np.int64)
        for variable, number in self.number.items():
            defined = "is_defined_var" in self.model.variables[variable].annotations
            rank[number] = place.get(number, n + number + n * defined)
        return rank

    def mentioned(self, expressions: Iterable) -> Iterator[int]:
        for expression in expressions:
            if isinstance(expression, Call):
                yield from self.mentioned(expression.args)
            elif isinstance(expression, list):
                yield from self.mentioned(expression)
            elif type(expression) is Ref and expression in self.model.arrays:
                yield from self.mentioned(self.elements(expression))
            elif type(expression) is Ref and expression in self.number:
                yield self.number[expression]
