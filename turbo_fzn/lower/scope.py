"""Names and types: binds the arguments of constraints to the builder's variables.

FlatZinc has no coercion: for var int in a signature (predicates/), a Boolean is an error. A parameter is allowed where
a literal is. The methods named by `BINDERS` take an expression of model.py and return the argument of a lowering
function; they raise ModelError without a position, which the caller adds. The common case (an array of names) is one
dictionary look-up for each element.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from turbo_fzn.base import floats
from turbo_fzn.base.domains import BOOLEAN, INFINITY, UNBOUNDED, IntSet
from turbo_fzn.base.errors import ModelError, UnsupportedError
from turbo_fzn.lower.builder import RowBuilder
from turbo_fzn.read.model import Array, Call, Expression, FloatRange, FloatSet, Index, Model, Ref, Text, Variable

REFUSED = {
    "set": "set variables are not supported in FlatZinc;"
    " compile with turbo's MiniZinc library, which makes Booleans of them",
}
# MiniZinc computes the bounds of variables that it introduces by doubles rounded to nearest, so the bounds of a
# variable and of its definition may contradict each other in the last digits.
DEFINED_PARTS = 2**40  # formula: one of so many parts of a bound is their slack
ONLY_NAMES = {Ref}
LITERAL_TYPES = {"int": (int,), "bool": (bool,), "float": (int, float)}


class Scope:
    """The names of a model; `variables[kind]` maps a scalar's name to its TNF variable, `kind` being int, bool or
    float."""

    def __init__(self, model: Model, builder: RowBuilder):
        self.model = model
        self.builder = builder
        self.variables: dict[str, dict[str, int]] = {"int": {}, "bool": {}, "float": {}}
        self.domains: list[tuple[int, IntSet]] = []  # domains with holes, and their variables
        self.arrays: dict[tuple[str, str], list[int]] = {}
        self.infeasible = False
        self.binders: dict[str, Callable[[Any], Any]] = {
            "I": self.scalar_binder("int"),
            "B": self.scalar_binder("bool"),
            "i": lambda expression: expression if type(expression) is int else self.parameter("int", expression),
            "F": self.scalar_binder("float"),
            "f": lambda expression: self.parameter("float", expression),
            "s": self.set_parameter,
            "e": self.expression,
            "[I]": partial(self.array, "int"),
            "[B]": partial(self.array, "bool"),
            "[F]": partial(self.array, "float"),
            "[f]": lambda expression: self.parameter_array("float", expression),
            "[i]": self.coefficients_binder(),
            "[b]": lambda expression: self.parameter_array("bool", expression),
            "[s]": self.set_array,
        }
        self.binders |= {f"[{kind}]": self.binders[kind] for kind in ("[I]", "[i]", "[b]")}  # row by row
        for name, value in model.parameters.items():
            if isinstance(value, int) and abs(value) < INFINITY:
                self.variables[kind_of(value)][name] = self.builder.constant(int(value))
        for variable in model.variables.values():
            self.declare(variable)

    def declare(self, variable: Variable) -> None:
        """Makes the TNF variable of a declaration."""
        if variable.kind in REFUSED:
            raise UnsupportedError(
                f"`{variable.name}`: {REFUSED[variable.kind]}", *self.model.locate(variable.position)
            )
        domain = variable.domain
        if variable.kind == "float":
            self.variables["float"][variable.name] = self.declare_float(variable)
            return
        if not isinstance(domain, IntSet):
            domain = BOOLEAN if variable.kind == "bool" else UNBOUNDED
        elif not domain:
            self.infeasible = True
            domain = BOOLEAN
        elif domain is not UNBOUNDED and (domain.lower <= -INFINITY or domain.upper >= INFINITY):
            raise UnsupportedError(
                f"the domain of `{variable.name}` goes beyond ±(2**62 - 1)", *self.model.locate(variable.position)
            )
        ranges = domain.ranges
        number = self.builder.variable(ranges[0][0], ranges[-1][1])
        self.variables[variable.kind][variable.name] = number
        if len(ranges) > 1:
            self.domains.append((number, domain))

    def declare_float(self, variable: Variable) -> int:
        if variable.domain is None:
            return self.builder.real()
        from fractions import Fraction  # only here: few models have float variables

        low, high = map(Fraction, self.float_range(variable.domain, variable.name, variable.position))
        if low > high:
            self.infeasible = True
            low = high
        if "is_defined_var" in map(str, variable.annotations):
            low, high = low - abs(low) / DEFINED_PARTS, high + abs(high) / DEFINED_PARTS
        return self.builder.real(floats.below(low), floats.above(high))

    def float_range(self, domain: IntSet | FloatSet, name: str, position: int) -> tuple[float, float]:
        """The ends of the domain of a float variable."""
        if not isinstance(domain, FloatRange):
            raise UnsupportedError(f"the domain of `{name}` is no range", *self.model.locate(position))
        low, high = domain.values
        return low, high

    def is_float(self, expression: object) -> bool:
        """Whether an objective is a float."""
        if isinstance(expression, Index):
            array = self.model.arrays.get(expression.array)
            return array is not None and array.kind == "float"
        value = self.model.parameters.get(expression) if isinstance(expression, Ref) else expression
        return isinstance(value, float) or (isinstance(expression, Ref) and expression in self.variables["float"])

    def rename(self, find: Callable[[int], int]) -> None:
        """Replaces the variable of every name by the representative of its class; arrays of constants stay unchanged,
        since tables are identified by them."""
        for names in self.variables.values():
            for name, number in names.items():
                names[name] = find(number)
        for key in [key for key in self.arrays if not key[0].startswith("par ")]:
            del self.arrays[key]

    # Expressions

    # The binders treat the most common arguments, and leave the others to the methods below.

    def scalar_binder(self, kind: str) -> Callable[[object], int]:
        names, scalar = self.variables[kind], self.scalar

        def bind(expression: object) -> int:
            number = names.get(expression) if type(expression) is Ref else None
            return scalar(kind, expression) if number is None else number

        return bind

    def coefficients_binder(self) -> Callable[[object], list[int]]:
        arrays, parameter_array = self.arrays, self.parameter_array

        def bind(expression: object) -> list[int]:
            known = arrays.get(("par int", expression)) if type(expression) is Ref else None
            return parameter_array("int", expression) if known is None else known

        return bind

    def scalar(self, kind: str, expression: object) -> int:
        """The TNF variable of a variable, parameter or literal."""
        if type(expression) is Ref:
            number = self.variables[kind].get(expression)
            if number is not None:
                return number
            value = self.model.parameters.get(expression)
            if type(value) is int and kind == "int":
                return self.builder.constant(value)  # raises the error: the value is too large
            if kind == "float" and type(value) in LITERAL_TYPES[kind]:
                return self.builder.real_constant(value)
        elif type(expression) in LITERAL_TYPES[kind]:
            if kind == "float":
                return self.builder.real_constant(expression)
            return self.builder.constant(int(expression))  # type: ignore[call-overload]
        elif type(expression) is Index:
            return self.element(kind, expression)
        raise self.mismatch(f"var {kind}", expression)

    def element(self, kind: str, expression: Index) -> int:
        members = self.array(kind, Ref(expression.array))
        if not 1 <= expression.index <= len(members):
            raise ModelError(f"index {expression.index} of `{expression.array}` is out of 1..{len(members)}")
        return members[expression.index - 1]

    def array(self, kind: str, expression: object) -> list[int]:
        """The TNF variables of an array of variables or parameters; the list must not be modified."""
        if type(expression) is list:
            if set(map(type, expression)) == ONLY_NAMES:  # the usual case
                try:
                    return list(map(self.variables[kind].__getitem__, expression))
                except KeyError:
                    pass
            return [self.scalar(kind, element) for element in expression]
        if type(expression) is Ref:
            key = (kind, expression)
            if key not in self.arrays:
                declaration = self.model.arrays.get(expression)
                if declaration is None or not self.holds(declaration, kind):
                    raise self.mismatch(f"array of var {kind}", expression)
                self.arrays[key] = self.in_declaration(declaration, lambda: self.array(kind, declaration.elements))
            return self.arrays[key]
        raise self.mismatch(f"array of var {kind}", expression)

    def holds(self, declaration: Array, kind: str) -> bool:
        """Whether an array is of that kind; integers are allowed where floats are expected."""
        integers = kind == "float" and declaration.kind == "int" and not declaration.is_variable
        return declaration.kind == kind or integers

    def in_declaration(self, declaration: Array, bind: Callable[[], list]) -> list:
        """Calls `bind`; errors in elements of an array get the place of its declaration."""
        try:
            return bind()
        except ModelError as error:
            raise type(error)(error.message, *self.model.locate(declaration.position)) from None

    def parameter(self, kind: str, expression: object) -> Any:
        """The value of a parameter or literal: an int, or a float where that is the kind."""
        value = self.model.parameters.get(expression) if type(expression) is Ref else expression
        if type(value) in LITERAL_TYPES[kind]:
            return value if kind == "float" else int(value)  # type: ignore[call-overload]
        raise self.mismatch(kind, expression)

    def parameter_array(self, kind: str, expression: object) -> list:
        if type(expression) is list:
            if kind == "int" and set(map(type, expression)) == {int}:
                return expression
            return [self.parameter(kind, element) for element in expression]
        if type(expression) is Ref:
            key = ("par " + kind, expression)
            if key not in self.arrays:
                declaration = self.model.arrays.get(expression)
                if declaration is None or not self.holds(declaration, kind) or declaration.is_variable:
                    raise self.mismatch(f"array of {kind}", expression)
                self.arrays[key] = self.in_declaration(
                    declaration, lambda: self.parameter_array(kind, declaration.elements)
                )
            return self.arrays[key]
        raise self.mismatch(f"array of {kind}", expression)

    def set_array(self, expression: object) -> list[IntSet]:
        if type(expression) is Ref:
            declaration = self.model.arrays.get(expression)
            if declaration is None or declaration.kind != "set" or declaration.is_variable:
                raise self.mismatch("array of set of int", expression)
            return self.in_declaration(declaration, lambda: self.set_array(declaration.elements))
        if type(expression) is list:
            return [self.set_parameter(element) for element in expression]
        raise self.mismatch("array of set of int", expression)

    def set_parameter(self, expression: object) -> IntSet:
        value = self.model.parameters.get(expression) if type(expression) is Ref else expression
        if type(value) is not IntSet:
            raise self.mismatch("set of int", expression)
        return value

    def expression(self, expression: object) -> Expression:
        if type(expression) is not Expression:
            raise self.mismatch("an expression", expression)
        return expression

    def mismatch(self, expected: str, expression: object) -> ModelError:
        """The error for an expression that is not of the kind expected."""
        if isinstance(expression, Ref) and not self.is_known(expression):
            return ModelError(f"undefined identifier `{expression}`")
        return ModelError(f"expected {expected}, found {self.describe(expression)}")

    def is_known(self, name: str) -> bool:
        return name in self.model.variables or name in self.model.parameters or name in self.model.arrays

    def describe(self, expression: object) -> str:
        """A description of an expression, for error messages."""
        if isinstance(expression, Ref):
            if expression in self.model.arrays:
                array = self.model.arrays[expression]
                return f"the array of {'var ' if array.is_variable else ''}{array.kind} `{expression}`"
            if expression in self.model.variables:
                return f"the var {self.model.variables[expression].kind} `{expression}`"
            return f"the {kind_of(self.model.parameters[expression])} `{expression}`"
        if isinstance(expression, bool):
            return f"the bool {str(expression).lower()}"
        if isinstance(expression, (int, float)):
            return f"the {kind_of(expression)} {expression}"
        return kind_of(expression)


KIND_NAMES: list[tuple[type, str]] = [
    (bool, "bool"),
    (int, "int"),
    (float, "float"),
    (IntSet, "set of int"),
    (FloatSet, "set of float"),
    (list, "an array"),
    (Text, "a string"),
    (Index, "an array access"),
    (Call, "a call"),
]


def kind_of(value: object) -> str:
    return next((name for kind, name in KIND_NAMES if isinstance(value, kind)), type(value).__name__)
