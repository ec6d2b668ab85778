"""The meaning of the constraints on floats at a point, within the precision: the reference for printed solutions.

Each relation is a measure of the amount by which a point misses it, at most 0 where it holds, with the size of the
compared numbers. Within the precision p it may hold if the measure is at most p * max(1, size), and may not hold if it
is at least -p * max(1, size); near the border both are accepted. An equality is missed by a distance, so it never
certainly holds. This is the δ-satisfiability of docs/guide/floats.md.

This module uses no intervals or codes, and nothing of the search: numbers are doubles, sums are fractions, and
functions are those of Python's math.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from turbo_fzn.predicates.signature import IMPLIED, PLAIN
from turbo_fzn.predicates.table import find
from turbo_fzn.read.model import Constraint, FloatSet, Index, Model, Ref


class Missed(NamedTuple):
    """The amount by which a relation is missed, and the size of the compared numbers."""

    measure: float
    size: float


NEVER = Missed(math.inf, 0.0)  # a partial function outside of its domain


def distance(x: float, y: float) -> Missed:
    return Missed(abs(x - y), max(abs(x), abs(y)))


def excess(x: float, y: float) -> Missed:
    """The measure of x <= y."""
    return Missed(x - y, max(abs(x), abs(y)))


def linear(coefficients: Sequence[float], values: Sequence[float], k: float) -> Missed:
    from fractions import Fraction  # only here: few models have real variables

    terms = [Fraction(c) * Fraction(x) for c, x in zip(coefficients, values)]
    measure, size = sum(terms) - Fraction(k), sum(map(abs, terms)) + abs(Fraction(k))
    try:
        return Missed(float(measure), float(size))
    except OverflowError:
        return Missed(float(measure / size), 1.0)


def _linear_distance(coefficients: Sequence[float], values: Sequence[float], k: float) -> Missed:
    measure, size = linear(coefficients, values, k)
    return Missed(abs(measure), size)


def outside(x: float, ends: Sequence[float]) -> Missed:
    """The measure of "x is in one of the ranges", whose ends are given in pairs."""
    return min((Missed(max(low - x, x - high), abs(x)) for low, high in zip(ends[::2], ends[1::2])), default=NEVER)


def _of_function(function: Callable[..., float]) -> Callable[..., Missed]:
    """The measure of "the last number is the function of the others"."""

    def measure(*values: float) -> Missed:
        *inputs, result = values
        try:
            computed = function(*inputs)
        except (ValueError, OverflowError, ZeroDivisionError):
            return NEVER
        sizes = [abs(v) for v in inputs] if function in SUMS else []
        measure, size = distance(computed, result)
        return Missed(measure, max(size, *sizes, 0.0))

    return measure


def add(x: float, y: float) -> float:
    return x + y


def _clamped(function: Callable[[float], float], low: float, high: float) -> Callable[[float], float]:
    """The function with its argument clamped to the domain, which a point may miss slightly."""
    return lambda x: function(min(max(x, low), high)) if low - NEAR <= x <= high + NEAR else math.nan


NEAR = 1e-9  # formula: as far a number may lie outside of the domain of a function, by rounding
SUMS = {add}
FUNCTIONS: dict[str, Callable[[float], float]] = {
    "abs": abs,
    "sqrt": _clamped(math.sqrt, 0.0, math.inf),
    "exp": math.exp,
    "ln": math.log,
    "log2": math.log2,
    "log10": math.log10,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "asin": _clamped(math.asin, -1.0, 1.0),
    "acos": _clamped(math.acos, -1.0, 1.0),
    "atan": math.atan,
    "sinh": math.sinh,
    "cosh": math.cosh,
    "tanh": math.tanh,
    "asinh": math.asinh,
    "acosh": _clamped(math.acosh, 1.0, math.inf),
    "atanh": math.atanh,
}


def extreme(choose: Callable) -> Callable[..., Missed]:
    return lambda m, xs: distance(m, choose(xs)) if xs else NEVER


def element(i: float, values: Sequence[float], z: float) -> Missed:
    return distance(values[int(i) - 1], z) if 1 <= i <= len(values) else NEVER


# For each predicate: the measure, and whether the predicate is its negation.
RELATIONS: dict[str, tuple[Callable[..., Missed], bool]] = {
    "float_eq": (distance, False),
    "float_ne": (distance, True),
    "float_le": (excess, False),
    "float_lt": (lambda x, y: excess(y, x), True),
    "float_lin_eq": (_linear_distance, False),
    "float_lin_ne": (_linear_distance, True),
    "float_lin_le": (linear, False),
    "float_lin_lt": (lambda c, x, k: linear([-a for a in c], x, -k), True),
    "float_in": (lambda x, low, high: outside(x, [low, high]), False),
    "float_dom": (outside, False),
    "float_plus": (_of_function(add), False),
    "float_times": (_of_function(lambda x, y: x * y), False),
    "float_div": (_of_function(lambda x, y: x / y), False),
    "float_pow": (_of_function(math.pow), False),
    "float_min": (_of_function(min), False),
    "float_max": (_of_function(max), False),
    "int2float": (distance, False),
    "bool2float": (distance, False),
    "array_float_minimum": (extreme(min), False),
    "array_float_maximum": (extreme(max), False),
    "array_float_element": (element, False),
    "array_var_float_element": (element, False),
    **{f"float_{name}": (_of_function(function), False) for name, function in FUNCTIONS.items()},
}


class Form(NamedTuple):
    """A predicate in one of its forms."""

    n_args: int
    measure: Callable[..., Missed]
    negated: bool
    suffix: str


@cache
def find_form(name: str) -> Form | None:
    """The form with this name; None if it is not a constraint on floats."""
    found = find(name)
    if found is None or found.predicate.name not in RELATIONS:
        return None
    return Form(len(found.kinds), *RELATIONS[found.predicate.name], found.suffix)


def may_be(truth: bool, missed: Missed, precision: float) -> bool:
    """Whether a relation may have this truth value, within the precision."""
    measure, size = missed
    within = precision * max(1.0, min(size, sys.float_info.max))  # infinity is not a valid size
    return measure <= within if truth else measure >= -within


class RealConstraints:
    """The constraints on floats of a model (`constraints`), and the declarations of its float variables."""

    def __init__(self, model: Model):
        self.model = model
        self.constraints: list[tuple[Constraint, Form]] = []

    def misplaced(self, values: Mapping[str, float], precision: float) -> Iterator[str]:
        """A line for every declaration that does not hold."""
        for name, domain in self.domains():
            x = self.value(values, name)
            low, high = domain.values
            inside = low <= x <= high or self.is_close_to(name, outside(x, [low, high]), precision)
            if not (math.isfinite(x) and inside):
                yield f"{name} = {x} is outside its domain {low}..{high}"
        for variable in self.model.variables.values():
            if variable.kind == "float" and not math.isfinite(values[variable.name]):
                yield f"{variable.name} has no finite value"
            if variable.kind == "float" and variable.value is not None:
                x, y = values[variable.name], self.value(values, variable.value)
                if not may_be(True, distance(x, y), precision):
                    yield f"{variable.name} = {x} differs from its right-hand side {y}"

    def is_close_to(self, name: Any, missed: Missed, precision: float) -> bool:
        """Whether MiniZinc has introduced the variable and computed its bounds, and it misses them only slightly."""
        variable = self.model.variables.get(name)
        defined = variable is not None and "is_defined_var" in map(str, variable.annotations)
        return defined and may_be(True, missed, precision)

    def domains(self) -> Iterator[tuple[Any, FloatSet]]:
        for variable in self.model.variables.values():
            if isinstance(variable.domain, FloatSet):
                yield Ref(variable.name), variable.domain
        for array in self.model.arrays.values():
            if array.is_variable and isinstance(array.domain, FloatSet):
                yield from ((element, array.domain) for element in array.elements)

    def violated(self, values: Mapping[str, float], precision: float) -> Iterator[Constraint]:
        """The constraints that a point misses by more than the precision."""
        for constraint, form in self.constraints:
            args = [self.argument(values, arg) for arg in constraint.args]
            condition = args.pop() if form.suffix != PLAIN else True
            if form.suffix == IMPLIED and not condition:
                continue
            if not may_be(bool(condition) != form.negated, form.measure(*args), precision):
                yield constraint

    def argument(self, values: Mapping[str, float], arg: Any) -> Any:
        if isinstance(arg, Ref) and arg in self.model.arrays:
            arg = self.model.arrays[arg].elements
        return [self.value(values, one) for one in arg] if isinstance(arg, list) else self.value(values, arg)

    def value(self, values: Mapping[str, float], arg: Any) -> float:
        """The value of a variable, a parameter, an element of an array or a literal."""
        if isinstance(arg, Index):
            arg = self.model.arrays[arg.array].elements[arg.index - 1]
        if isinstance(arg, Ref):
            return values[arg] if arg in values else self.model.parameters[arg]  # type: ignore[return-value]
        return arg
