"""An enumerating oracle: all solutions of a small FlatZinc model, by trying every assignment.

It is the judge of the solver, so it is written for independence: it shares nothing with the solver but the parsed
Model, and its meaning of the predicates (`MEANING`) is written a second time, in other formulas than those of
turbo_fzn/check/relations.py; that of the global constraints is global_meanings.py, row by row. Assignments are rows of
a table with one NumPy column a variable; a variable is added at a time, and a constraint filters the table as soon as
all its variables are there. Columns are 64 bits wide where every number of the model is small, and else Python
integers.

An unbounded variable takes the one value that a constraint leaves it, if one defines it by others (`DEFINITION`).
Otherwise it, and one of very many values, is tried in -WINDOW..WINDOW; a solution at the window's edge is a
`WindowTooSmall`, because solutions may then lie outside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from functools import cache
from itertools import repeat

import numpy as np

from support.global_meanings import GLOBAL_MEANINGS
from turbo_fzn.base.domains import BOOLEAN, IntSet
from turbo_fzn.read.model import Call, Constraint, Index, Model, Ref, Variable

WINDOW = 60
MOST_VALUES = 10_000  # of a domain that is tried; of a larger one, which must be an interval, the window is
SMALL = 2**20  # sums and products of a few numbers up to that fit into 64 bits

Column = np.ndarray


class WindowTooSmall(AssertionError):
    """An unbounded variable may have values that were not tried."""


def quotient(x: Column, y: Column) -> Column:
    """x / y without its fraction, from the floor; any number where y = 0 (the caller excludes it)."""
    y = np.where(y == 0, 1, y)
    floor = x // y
    return floor + ((floor < 0) & (floor * y != x))


def remainder(x: Column, y: Column) -> Column:
    return x - quotient(x, y) * y


def is_power(x: Column, y: Column, z: Column) -> Column:
    @cache
    def holds(base: int, exponent: int, result: int) -> bool:
        return not (base == 0 and exponent < 0) and int(Fraction(base) ** exponent) == result

    return np.array([holds(*row) for row in zip(x.tolist(), y.tolist(), z.tolist())], dtype=bool)


def total(columns: Iterable[Column]) -> Column | int:
    return sum(columns)


def weighted(coefficients: list[Column], columns: list[Column]) -> Column | int:
    return total(c * x for c, x in zip(coefficients, columns, strict=True))


def count_false(columns: list[Column]) -> Column | int:
    return total(1 - x for x in columns)


def is_element(i: Column, columns: list[Column], z: Column) -> Column:
    return total((i == number) & (x == z) for number, x in enumerate(columns, 1)) > 0


def is_extreme(m: Column, columns: list[Column], beyond: Callable) -> Column:
    """m is among the columns, and none of them lies beyond it."""
    return (total(x == m for x in columns) > 0) & (total(beyond(x, m) for x in columns) == 0)


MEANING: dict[str, Callable] = {
    "int_eq": lambda x, y: x - y == 0,
    "int_ne": lambda x, y: x - y != 0,
    "int_le": lambda x, y: y - x >= 0,
    "int_lt": lambda x, y: y - x > 0,
    "int_lin_eq": lambda c, x, k: weighted(c, x) - k == 0,
    "int_lin_ne": lambda c, x, k: weighted(c, x) - k != 0,
    "int_lin_le": lambda c, x, k: weighted(c, x) - k <= 0,
    "int_plus": lambda x, y, z: z - y == x,
    "int_times": lambda x, y, z: np.multiply(x, y) == z,
    "int_div": lambda x, y, z: (y != 0) & (quotient(x, y) == z),
    "int_mod": lambda x, y, z: (y != 0) & (remainder(x, y) == z),
    "int_min": lambda x, y, z: np.where(x < y, x, y) == z,
    "int_max": lambda x, y, z: np.where(x > y, x, y) == z,
    "int_abs": lambda x, y: (y >= 0) & ((x == y) | (x == -y)),
    "int_pow": is_power,
    "int_pow_fixed": is_power,
    "set_in": lambda x, s: total((low <= x) & (x <= high) for low, high in s.ranges) > 0,
    "bool2int": lambda x, y: x - y == 0,
    "array_int_element": is_element,
    "array_var_int_element": is_element,
    "array_bool_element": is_element,
    "array_var_bool_element": is_element,
    "array_int_maximum": lambda m, xs: is_extreme(m, xs, np.greater),
    "array_int_minimum": lambda m, xs: is_extreme(m, xs, np.less),
    "bool_eq": lambda x, y: (x + y) % 2 == 0,
    "bool_le": lambda x, y: (1 - x) + y >= 1,
    "bool_lt": lambda x, y: (1 - x) * y == 1,
    "bool_not": lambda x, y: x + y == 1,
    "bool_and": lambda x, y, r: x * y == r,
    "bool_or": lambda x, y, r: (x + y >= 1) == (r == 1),
    "bool_xor": lambda x, y, r=1: (x + y + r) % 2 == 0,
    "bool_clause": lambda positive, negative: total(positive) + count_false(negative) >= 1,
    "array_bool_and": lambda xs, r: (count_false(xs) == 0) == (r == 1),
    "array_bool_or": lambda xs, r: (total(xs) >= 1) == (r == 1),
    "array_bool_xor": lambda xs: total(xs) % 2 == 1,
    "array_bool_and_imp": lambda xs, r: (count_false(xs) == 0) | (r == 0),
    "array_bool_or_imp": lambda xs, r: (total(xs) >= 1) | (r == 0),
    "bool_lin_eq": lambda c, x, k: weighted(c, x) - k == 0,
    "bool_lin_le": lambda c, x, k: weighted(c, x) - k <= 0,
}


def rows_of(argument: object) -> Iterator:
    """The argument in each row; endless where it has no column."""
    if isinstance(argument, IntSet):
        return repeat(argument)
    if isinstance(argument, list):
        return zip(*map(rows_of, argument)) if argument else repeat(())
    return iter(argument.tolist())  # type: ignore[attr-defined]


def has_column(argument: object) -> bool:
    return any(map(has_column, argument)) if isinstance(argument, list) else isinstance(argument, np.ndarray)


def row_by_row(meaning: Callable[..., bool]) -> Callable:
    """The function that evaluates `meaning` on columns, row by row, and only once for equal rows."""

    def holds(*arguments: object) -> Column | bool:
        known = cache(meaning)
        rows = zip(*map(rows_of, arguments))
        if not any(map(has_column, arguments)):
            return meaning(*next(rows))
        return np.array([known(*row) for row in rows], dtype=bool)

    return holds


MEANING |= {name: row_by_row(meaning) for name, meaning in GLOBAL_MEANINGS.items()}


def meaning_of(name: str) -> Callable:
    """The meaning of a predicate, its forms with a suffix included."""
    if name in MEANING:
        return MEANING[name]
    if name.endswith("_reif"):
        return lambda *args: (args[-1] == 1) == MEANING[name[:-5]](*args[:-1])
    assert name.endswith("_imp")
    return lambda *args: (args[-1] == 0) | MEANING[name[:-4]](*args[:-1])


def chosen(i: Column, columns: list[Column]) -> Column | int:
    return total((i == number) * x for number, x in enumerate(columns, 1))


# What a function makes of its other arguments; what it makes outside its domain does not matter.
DEFINITION: dict[str, Callable] = {
    "int_eq": lambda x: x,
    "int_plus": lambda x, y: x + y,
    "int_times": lambda x, y: x * y,
    "int_div": quotient,
    "int_mod": remainder,
    "int_min": lambda x, y: np.where(x < y, x, y),
    "int_max": lambda x, y: np.where(x > y, x, y),
    "int_abs": lambda x: np.where(x < 0, -x, x),
    "bool2int": lambda x: x,
    "array_int_element": chosen,
    "array_var_int_element": chosen,
    "bool_lin_eq": weighted,
}


def definition_of(model: Model, name: str) -> tuple[set[str], Callable[[Table], Column | int]] | None:
    """(the variables that define this one, how), if a right-hand side or a constraint leaves it one value at most."""
    value = model.variables[name].value
    if value is not None:
        return names_in(model, value), lambda table: table.evaluate(value)
    for item in model.constraints:
        if item.name in DEFINITION and item.args[-1] == name and isinstance(item.args[-1], Ref):
            inputs = names_in(model, item.args[:-1])
            if name not in inputs:
                return inputs, lambda table, item=item: DEFINITION[item.name](*map(table.evaluate, item.args[:-1]))
        if item.name == "int_lin_eq" and all(isinstance(argument, list) for argument in item.args[:2]):
            found = solved(model, name, *item.args)
            if found is not None:
                return found
    return None


def solved(
    model: Model, name: str, coefficients: list, members: list, k: object
) -> tuple[set[str], Callable[[Table], Column | int]] | None:
    """A linear equation solved for a variable with coefficient 1 or -1."""
    places = [place for place, member in enumerate(members) if isinstance(member, Ref) and member == name]
    if len(places) != 1 or coefficients[places[0]] not in (1, -1):
        return None
    place = places[0]
    others = [(c, x) for at, (c, x) in enumerate(zip(coefficients, members, strict=True)) if at != place]
    names = names_in(model, [x for _, x in others])
    return names, lambda t: coefficients[place] * (t.evaluate(k) - total(c * t.evaluate(x) for c, x in others))


class Table:
    """Assignments to the variables added so far, one column each."""

    def __init__(self, model: Model):
        self.model = model
        self.columns: dict[str, Column] = {}
        self.length = 1
        self.kind: type = np.int64 if is_small(model) else object

    def add_definition(self, name: str, define: Callable[[Table], Column | int]) -> None:
        self.columns[name] = np.broadcast_to(define(self), self.length).astype(self.kind)

    def add_variable(self, name: str, values: Column) -> None:
        self.columns = {other: np.repeat(column, len(values)) for other, column in self.columns.items()}
        self.columns[name] = np.tile(values, self.length)
        self.length *= len(values)

    def filter(self, holds: Column | bool) -> None:
        mask = np.broadcast_to(holds, self.length).astype(bool)
        self.columns = {name: column[mask] for name, column in self.columns.items()}
        self.length = int(mask.sum())

    def evaluate(self, expression: object) -> object:
        """A column for a scalar, a list of columns for an array, the set itself for a set."""
        if isinstance(expression, list):
            return [self.evaluate(element) for element in expression]
        if isinstance(expression, IntSet):
            return expression
        if isinstance(expression, Index):
            return self.evaluate(self.model.arrays[expression.array].elements[expression.index - 1])
        if not isinstance(expression, Ref):
            return np.full(self.length, int(expression), dtype=self.kind)  # type: ignore[call-overload]
        if expression in self.columns:
            return self.columns[expression]
        if expression in self.model.parameters:
            return self.evaluate(self.model.parameters[expression])
        return self.evaluate(self.model.arrays[expression].elements)


def is_small(model: Model) -> bool:
    """Whether 64 bits hold whatever the formulas compute of the values that are tried."""

    def numbers(value: object) -> Iterable[int]:
        if isinstance(value, list):
            for element in value:
                yield from numbers(element)
        elif isinstance(value, IntSet) and value:
            yield from (value.lower, value.upper)
        elif isinstance(value, int):
            yield value

    tried = [variable for variable in model.variables.values() if is_tried_whole(variable)]
    declared = [item.domain for item in [*tried, *model.arrays.values()]]
    named = [array.elements for array in model.arrays.values()]
    arguments = [item.args for item in model.constraints]
    return all(abs(n) <= SMALL for n in numbers([*declared, *named, *model.parameters.values(), *arguments]))


def candidates(variable: Variable) -> Iterable[int]:
    """Its values, or of too many those in the window."""
    domain = BOOLEAN if variable.kind == "bool" else variable.domain
    if domain is None:
        return range(-WINDOW, WINDOW + 1)
    return domain if is_tried_whole(variable) else range(max(-WINDOW, domain.lower), min(WINDOW, domain.upper) + 1)


def is_tried_whole(variable: Variable) -> bool:
    return variable.kind == "bool" or (variable.domain is not None and variable.domain.size <= MOST_VALUES)


def names_in(model: Model, expression: object) -> set[str]:
    """The variables that an expression depends on."""
    if isinstance(expression, Index):
        return names_in(model, model.arrays[expression.array].elements[expression.index - 1])
    if isinstance(expression, list):
        return set().union(*(names_in(model, element) for element in expression))
    if isinstance(expression, Ref) and expression in model.arrays:
        return names_in(model, model.arrays[expression].elements)
    return {str(expression)} if isinstance(expression, Ref) and expression in model.variables else set()


def requirements(model: Model) -> list[tuple[set[str], Callable[[Table], Column]]]:
    """(variables, test) of every constraint, right-hand side and domain of an array."""

    def of_constraint(constraint: Constraint) -> Callable[[Table], Column]:
        return lambda table: meaning_of(constraint.name)(*map(table.evaluate, constraint.args))

    def of_value(name: str, value: object) -> Callable[[Table], Column]:
        return lambda table: table.columns[name] == table.evaluate(value)

    def of_domain(element: object, domain: IntSet) -> Callable[[Table], Column]:
        return lambda table: MEANING["set_in"](table.evaluate(element), domain)

    found = [(names_in(model, list(item.args)), of_constraint(item)) for item in model.constraints]
    for name, variable in model.variables.items():
        if variable.value is not None:
            found.append(({name} | names_in(model, variable.value), of_value(name, variable.value)))
    for array in model.arrays.values():
        if array.is_variable and array.domain is not None:
            found += [(names_in(model, element), of_domain(element, array.domain)) for element in array.elements]
    return found


def all_solutions(model: Model) -> list[dict[str, int]]:
    """Every assignment to all variables that satisfies the model. Raises WindowTooSmall where it cannot tell."""
    waiting = requirements(model)
    table = Table(model)
    definitions = {
        name: found
        for name, variable in model.variables.items()
        if variable.kind == "int" and variable.domain is None
        for found in [definition_of(model, name)]
        if found is not None
    }
    values = {name: alone(model, name, waiting) for name in model.variables if name not in definitions}
    order: list[str | None] = [None, *sorted(values, key=lambda name: len(values[name]))]
    while order:
        name = order.pop(0)
        if name in values:
            table.add_variable(name, values[name])
        elif name is not None:
            table.add_definition(name, definitions.pop(name)[1])
        ready = [test for names, test in waiting if names <= table.columns.keys()]
        waiting = [item for item in waiting if not item[0] <= table.columns.keys()]
        for test in ready:
            table.filter(test(table))
        order[:0] = [name for name, (inputs, _) in definitions.items() if inputs <= table.columns.keys()][:1]
    if definitions:
        raise WindowTooSmall(f"{', '.join(definitions)}: defined by each other")
    assert not waiting
    for name in values:
        variable = model.variables[name]
        if not is_tried_whole(variable) and np.any(np.abs(table.columns[name]) == WINDOW):
            raise WindowTooSmall(name)
    names = list(model.variables)
    return (
        [dict(zip(names, map(int, row))) for row in zip(*(table.columns[name].tolist() for name in names))]
        if names
        else ([{}] * table.length)
    )


def alone(model: Model, name: str, tests: list[tuple[set[str], Callable[[Table], Column]]]) -> Column:
    """The values of a variable that the constraints on it alone leave."""
    table = Table(model)
    table.add_variable(name, np.array(list(candidates(model.variables[name])), dtype=table.kind))
    for names, test in tests:
        if names == {name}:
            table.filter(test(table))
    return table.columns[name]


def objective_of(model: Model, solution: Mapping[str, int]) -> int:
    assert model.goal is not None
    value = model.goal.objective
    value = model.arrays[value.array].elements[value.index - 1] if isinstance(value, Index) else value
    value = model.parameters.get(value, value) if isinstance(value, Ref) else value
    return solution[value] if isinstance(value, Ref) else int(value)  # type: ignore[call-overload]


def optimum(model: Model, solutions: list[dict[str, int]]) -> int | None:
    """The best objective among the solutions; None without solutions."""
    assert model.goal is not None and model.goal.method != "satisfy"
    best = min if model.goal.method == "minimize" else max
    return best((objective_of(model, solution) for solution in solutions), default=None)


def outputs_of(model: Model, solution: Mapping[str, int]) -> dict[str, object]:
    """The output of a solution as the solver shows it: Booleans as bool, arrays as flat lists."""

    def value_of(expression: object, kind: str) -> object:
        while isinstance(expression, Ref) and expression in model.parameters:
            expression = model.parameters[expression]
        value = solution[expression] if isinstance(expression, Ref) else expression
        return bool(value) if kind == "bool" else int(value)  # type: ignore[call-overload]

    shown: dict[str, object] = {}
    for name, variable in model.variables.items():
        if "output_var" in variable.annotations:
            shown[name] = value_of(Ref(name), variable.kind)
    for name, array in model.arrays.items():
        if any(isinstance(item, Call) and item.name == "output_array" for item in array.annotations):
            shown[name] = [value_of(element, array.kind) for element in array.elements]
    return shown


def fingerprint(shown: Mapping[str, object]) -> str:
    """Equal for equal solutions only; `True` and `1` differ."""
    return repr(sorted(shown.items()))
