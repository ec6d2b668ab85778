"""A model built in Python, without a text: `from turbo_fzn import Builder`.

    build = Builder()
    square = build.ints("square", 1, 9, (3, 3))
    build.all_different(square)
    for row in square:
        build.int_lin_eq([1, 1, 1], row, 15, name="a row")
    build.maximize(square[0, 0])
    result = build.model(arch="cpu").solve()
    print(build.values(result.solutions[-1])["square"])

The methods that post a constraint are the predicates of the tables (turbo_fzn/predicates/), by their names, with or
without `turbo_`, and in their forms: `int_le`, `int_le_reif`, `int_le_imp`. `Builder.signature` returns the arguments
of each, and `dir` lists them. The result is the model that a reader would make of the equivalent FlatZinc.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, Union

import numpy as np

from turbo_fzn.base.domains import IntSet
from turbo_fzn.base.errors import UsageError
from turbo_fzn.explain.groups import CONSTRAINT_NAME
from turbo_fzn.interface.api import Result, solve_model
from turbo_fzn.interface.listening import Values
from turbo_fzn.interface.model import NOWHERE, Model
from turbo_fzn.options.spellings import no_such
from turbo_fzn.predicates.globals import PREFIX
from turbo_fzn.predicates.signature import TRUTH
from turbo_fzn.predicates.table import FORMS, Form, find
from turbo_fzn.read.model import Array, Call, Constraint, FloatRange, Goal, Ref, Text, Variable
from turbo_fzn.read.model import Model as ParsedModel
from turbo_fzn.run.projection import with_output

Shape = tuple[int, ...]
KINDS = {"I": "int", "B": "bool", "F": "float"}  # kinds of variables by the letters of signatures
TYPES: dict[str, Any] = {"int": np.int64, "bool": bool, "float": np.float64}


class Var(NamedTuple):
    """A variable: its name, and its kind, bool, int or float."""

    name: str
    kind: str


Anything = Union[Var, np.ndarray]


class Builder:
    """A model under construction. Variables are single, or in a NumPy array of `Var` objects, which may be sliced and
    reshaped; constraints take both, and numbers in the place of variables. `model` makes a `Model` of the variables and
    constraints so far."""

    def __init__(self) -> None:
        self._parsed = ParsedModel(goal=Goal("satisfy", None, [], NOWHERE))
        self._shapes: dict[str, Shape] = {}
        self._output: set[str] | None = None  # None: all variables

    def ints(self, name: str, least: int, greatest: int, shape: Shape = ()) -> Any:
        """Integer variables between two values: a `Var`, or an array of that shape. Raises UsageError for a name that
        is in use."""
        return self._declare(name, "int", IntSet.interval(least, greatest), shape)

    def ints_of(self, name: str, values: Iterable[int], shape: Shape = ()) -> Any:
        """Integer variables with these values as domain; otherwise as `ints`."""
        return self._declare(name, "int", IntSet.of_values(values), shape)

    def bools(self, name: str, shape: Shape = ()) -> Any:
        """Boolean variables; otherwise as `ints`."""
        return self._declare(name, "bool", None, shape)

    def floats(self, name: str, least: float, greatest: float, shape: Shape = ()) -> Any:
        """Float variables between two values; otherwise as `ints`."""
        return self._declare(name, "float", FloatRange([float(least), float(greatest)]), shape)

    def _declare(self, name: str, kind: str, domain: IntSet | FloatRange | None, shape: Shape) -> Any:
        if not name or "," in name or name in self._shapes or name in self._parsed.variables:
            raise UsageError(f"{name!r} cannot be the name of a variable, or is one already")
        self._shapes[name] = shape
        names = [name + "".join(f"[{place}]" for place in at) for at in np.ndindex(*shape)]
        shown = [] if shape else [Ref("output_var")]
        for one in names:
            self._parsed.variables[one] = Variable(one, kind, domain, [*shown], None, NOWHERE)
        if not shape:
            return Var(name, kind)
        sizes = Call("output_array", [[IntSet.interval(0, size - 1) for size in shape]])
        elements = [*map(Ref, names)]
        self._parsed.arrays[name] = Array(name, kind, True, None, elements, [sizes], NOWHERE)
        variables = np.empty(len(names), object)
        variables[:] = [Var(one, kind) for one in names]
        return variables.reshape(shape)

    def post(self, predicate: str, *arguments: object, name: str = "") -> None:
        """Adds a constraint, which explanations call `name`. Raises UsageError for an unknown predicate, and for
        arguments that do not fit its signature."""
        full = _known(predicate)
        form = find(full, len(arguments))
        if form is None or len(form.kinds) != len(arguments):
            raise UsageError(f"{predicate} takes {self.signature(predicate)}, not {len(arguments)} arguments")
        args = [self._argument(predicate, kind, argument) for kind, argument in zip(form.kinds, arguments)]
        fits = form.predicate.fits
        plain = args[: len(form.predicate.kinds)]
        if fits is not None and not fits(*plain):
            raise UsageError(f"{predicate}: the sizes of its arguments do not fit each other")
        notes = [Call(CONSTRAINT_NAME, [Text(name)])] if name else []
        self._parsed.constraints.append(Constraint(full, args, notes, NOWHERE))

    def __getattr__(self, name: str) -> Callable[..., None]:
        if name.startswith("_") or _full(name) is None:
            raise AttributeError(f"Builder has no attribute {name!r}")

        def method(*arguments: object, name: str = "") -> None:
            self.post(predicate, *arguments, name=name)

        predicate = name
        method.__name__, method.__doc__ = name, f"Posts {name}({self.signature(name)})."
        return method

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(name.removeprefix(PREFIX) for name in FORMS)]

    @staticmethod
    def signature(predicate: str) -> str:
        """The arguments of a predicate, each with its name and kind as in turbo_fzn/predicates/signature.py: I, B, F
        are variables, i, b, f numbers, s sets, and brackets mean arrays."""
        forms = FORMS[_known(predicate)]
        return " or ".join(
            ", ".join(f"{name} {kind}" for name, kind in zip(_names(form), form.kinds)) for form in forms
        )

    def _argument(self, predicate: str, kind: str, argument: object) -> object:
        letter, depth = kind.strip("[]"), kind.count("[")
        if not depth:
            return _scalar(predicate, letter, argument)
        if letter == "s":
            return [_scalar(predicate, letter, one) for one in argument]  # type: ignore[attr-defined]
        if isinstance(argument, (Var, str)) or not hasattr(argument, "__len__"):
            raise UsageError(f"{predicate}: expected an array, found {argument!r}")
        return [_scalar(predicate, letter, one) for one in _flat(argument)]

    def minimize(self, variable: Var) -> None:
        """Sets the objective, in the place of another one."""
        self._parsed.goal = Goal("minimize", Ref(variable.name), [], NOWHERE)

    def maximize(self, variable: Var) -> None:
        """Sets the objective, in the place of another one."""
        self._parsed.goal = Goal("maximize", Ref(variable.name), [], NOWHERE)

    @property
    def size(self) -> tuple[int, int]:
        """The numbers of variables and of constraints so far."""
        return len(self._parsed.variables), len(self._parsed.constraints)

    def output(self, variables: Iterable[Var]) -> None:
        """Sets the variables in solutions, by default all declared variables; of arrays, the elements."""
        self._output = {variable.name for variable in variables}

    def model(self, **settings: Any) -> Model:
        """The model so far, ready to be solved many times; settings as in `Model`."""
        return Model(self._copied(), **settings)

    def solve(self, **settings: Any) -> Result:
        """Solves the model so far once, simplified more than `model` may do; settings as in `solve_model`."""
        return solve_model(self._copied(), **settings)

    def _copied(self) -> ParsedModel:
        parsed = self._parsed
        copied = ParsedModel({}, {**parsed.variables}, {**parsed.arrays}, [*parsed.constraints], parsed.goal)
        return copied if self._output is None else with_output(copied, self._output)

    def values(self, solution: Values) -> dict[str, Any]:
        """A solution with its arrays (int64, bool or float64) in the shapes in which they were declared."""
        found: dict[str, Any] = dict(solution)
        for name, shape in self._shapes.items():
            if shape and name in solution:
                kind = self._parsed.arrays[name].kind
                found[name] = np.array(solution[name], TYPES[kind]).reshape(shape)
        return found


def _full(name: str) -> str | None:
    """The name in the table."""
    return next((one for one in (name, PREFIX + name) if one in FORMS), None)


def _known(name: str) -> str:
    full = _full(name)
    if full is None:
        raise UsageError(no_such("no predicate", [name], sorted(one.removeprefix(PREFIX) for one in FORMS)))
    return full


def _names(form: Form) -> Sequence[str]:
    return [*(argument.name for argument in form.predicate.arguments), "truth"]


def _flat(array: Any) -> list[object]:
    """The elements of an array, row by row; of nested lists, too."""
    if isinstance(array, np.ndarray):
        return array.ravel().tolist() if array.dtype != object else [*array.ravel()]
    return [one for part in array for one in (_flat(part) if isinstance(part, (list, np.ndarray)) else [part])]


def _scalar(predicate: str, letter: str, value: Any) -> object:
    """An argument in the form of the readers. Raises UsageError if it is of another kind."""
    if isinstance(value, Var):
        if KINDS.get(letter) == value.kind:
            return Ref(value.name)
    elif letter == "s" and isinstance(value, Iterable):
        return IntSet.of_values(map(int, value))
    elif letter in ("b", TRUTH) and value in (0, 1):
        return bool(value)
    elif letter in "iI" and hasattr(value, "__index__"):
        return int(value)
    elif letter in "fF" and isinstance(value, (int, float, np.floating)):
        return float(value)
    raise UsageError(f"{predicate}: {value!r} is not of kind {letter}")
