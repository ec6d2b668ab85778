"""An enumerating oracle: all solutions of a small FlatZinc model, by trying every assignment.

It is the judge of the solver, so it is written for independence: it shares nothing with the solver but the parsed
Model, and its meaning of the predicates (`MEANING`) is written a second time, in other formulas than those of
turbo_fzn/relations.py. Assignments are rows of a table with one NumPy column a variable; a variable is added at a
time, and a constraint filters the table as soon as all its variables are there. Values are small, so 64 bits do.

An unbounded variable is tried in -WINDOW..WINDOW; a solution at the window's edge fails the test that asked, because
solutions may then lie outside.

The module also writes a Model as FlatZinc text, so that the models of the tests do not depend on the parser.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction

import numpy as np

from turbo_fzn.domains import BOOLEAN, IntSet
from turbo_fzn.model import Array, Call, Constraint, Goal, Model, Ref, Variable

WINDOW = 60

Column = np.ndarray


def quotient(x: Column, y: Column) -> Column:
    """x / y without its fraction; 0 where y = 0 (the caller excludes it)."""
    return np.fix(x / np.where(y == 0, 1, y)).astype(np.int64)


def is_power(x: Column, y: Column, z: Column) -> Column:
    def holds(base: int, exponent: int, result: int) -> bool:
        return not (base == 0 and exponent < 0) and int(Fraction(base) ** exponent) == result

    return np.array([holds(*map(int, row)) for row in zip(x, y, z)], dtype=bool)


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
    "int_mod": lambda x, y, z: (y != 0) & (np.fmod(x, np.where(y == 0, 1, y)) == z),
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


def meaning_of(name: str) -> Callable:
    """The meaning of a predicate, its forms with a suffix included."""
    if name in MEANING:
        return MEANING[name]
    if name.endswith("_reif"):
        return lambda *args: (args[-1] == 1) == MEANING[name[:-5]](*args[:-1])
    assert name.endswith("_imp")
    return lambda *args: (args[-1] == 0) | MEANING[name[:-4]](*args[:-1])


class Table:
    """Assignments to the variables added so far, one column each."""

    def __init__(self, model: Model):
        self.model = model
        self.columns: dict[str, Column] = {}
        self.length = 1

    def add_variable(self, name: str) -> None:
        values = np.array(list(candidates(self.model.variables[name])), dtype=np.int64)
        self.columns = {other: np.repeat(column, len(values)) for other, column in self.columns.items()}
        self.columns[name] = np.tile(values, self.length)
        self.length *= len(values)

    def filter(self, holds: Column | bool) -> None:
        mask = np.broadcast_to(holds, self.length)
        self.columns = {name: column[mask] for name, column in self.columns.items()}
        self.length = int(mask.sum())

    def evaluate(self, expression: object) -> object:
        """A column for a scalar, a list of columns for an array, the set itself for a set."""
        if isinstance(expression, list):
            return [self.evaluate(element) for element in expression]
        if isinstance(expression, IntSet):
            return expression
        if not isinstance(expression, Ref):
            return np.full(self.length, int(expression), dtype=np.int64)  # type: ignore[call-overload]
        if expression in self.columns:
            return self.columns[expression]
        if expression in self.model.parameters:
            return self.evaluate(self.model.parameters[expression])
        return self.evaluate(self.model.arrays[expression].elements)


def candidates(variable: Variable) -> Iterable[int]:
    if variable.kind == "bool":
        return BOOLEAN
    return range(-WINDOW, WINDOW + 1) if variable.domain is None else variable.domain


def names_in(model: Model, expression: object) -> set[str]:
    """The variables that an expression depends on."""
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
        return lambda table: np.isin(table.evaluate(element), list(domain))

    found = [(names_in(model, list(item.args)), of_constraint(item)) for item in model.constraints]
    for name, variable in model.variables.items():
        if variable.value is not None:
            found.append(({name} | names_in(model, variable.value), of_value(name, variable.value)))
    for array in model.arrays.values():
        if array.is_variable and array.domain is not None:
            found += [(names_in(model, element), of_domain(element, array.domain)) for element in array.elements]
    return found


def all_solutions(model: Model) -> list[dict[str, int]]:
    """Every assignment to all variables that satisfies the model."""
    table = Table(model)
    waiting = requirements(model)
    # Unbounded variables last: by then their definitions filter at once.
    order = sorted(model.variables, key=lambda name: len(list(candidates(model.variables[name]))))
    for name in [None, *order]:
        if name is not None:
            table.add_variable(name)
        ready = [test for names, test in waiting if names <= table.columns.keys()]
        waiting = [item for item in waiting if not item[0] <= table.columns.keys()]
        for test in ready:
            table.filter(test(table))
    assert not waiting
    for name, variable in model.variables.items():
        if variable.kind == "int" and variable.domain is None:
            assert not np.any(np.abs(table.columns[name]) == WINDOW), f"{name}: the oracle's window is too small"
    names = list(model.variables)
    return (
        [dict(zip(names, map(int, row))) for row in zip(*(table.columns[name] for name in names))]
        if names
        else ([{}] * table.length)
    )


def objective_of(model: Model, solution: Mapping[str, int]) -> int:
    assert model.goal is not None
    value = model.goal.objective
    value = model.parameters.get(value, value) if isinstance(value, Ref) else value
    return solution[value] if isinstance(value, Ref) else int(value)  # type: ignore[call-overload]


def optimum(model: Model, solutions: list[dict[str, int]]) -> int | None:
    """The best objective among the solutions; None without solutions."""
    assert model.goal is not None and model.goal.method != "satisfy"
    best = min if model.goal.method == "minimize" else max
    return best((objective_of(model, solution) for solution in solutions), default=None)


def outputs_of(model: Model, solution: Mapping[str, int]) -> dict[str, object]:
    """What the solver shows of a solution: Booleans as bool, arrays as flat lists."""

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


def make_model(
    domains: Mapping[str, IntSet | None],
    constraints: Iterable[tuple],
    goal: Goal | None = None,
    arrays: Iterable[Array] = (),
    parameters: Mapping[str, object] | None = None,
) -> Model:
    """A model with its text: `domains` by variable (BOOLEAN itself means a bool), constraints as (name, *args)."""
    model = Model(parameters=dict(parameters or {}), goal=goal or Goal("satisfy", None, [], 0), file="test.fzn")
    for name, domain in domains.items():
        kind = "bool" if domain is BOOLEAN else "int"
        model.variables[name] = Variable(
            name, kind, None if domain is BOOLEAN else domain, [Ref("output_var")], None, 0
        )
    model.arrays = {array.name: array for array in arrays}
    model.constraints = [Constraint(name, args, [], 0) for name, *args in constraints]
    return with_text(model)


def with_text(model: Model) -> Model:
    """The model with `text`, and the positions of its constraints in it."""
    model.text = write(model)
    position = 0
    for number, constraint in enumerate(model.constraints):
        position = model.text.index("constraint ", position + 1 if number else 0)
        model.constraints[number] = constraint._replace(position=position)
    return model


def write(model: Model) -> str:
    """The model as FlatZinc text, in the order that the language demands."""
    arrays = list(model.arrays.values())
    lines = [f"{kind_of(value)}: {name} = {show(value)};" for name, value in model.parameters.items()]
    lines += [write_array(array) for array in arrays if not array.is_variable]
    lines += [write_variable(variable) for variable in model.variables.values()]
    lines += [write_array(array) for array in arrays if array.is_variable]
    lines += [
        f"constraint {item.name}({','.join(map(show, item.args))}){annotate(item.annotations)};"
        for item in model.constraints
    ]
    goal = model.goal
    assert goal is not None
    objective = "" if goal.objective is None else " " + show(goal.objective)
    lines.append(f"solve{annotate(goal.annotations)} {goal.method}{objective};")
    return "\n".join(lines) + "\n"


def write_variable(variable: Variable) -> str:
    value = "" if variable.value is None else f" = {show(variable.value)}"
    kind = variable.kind if variable.domain is None else show(variable.domain)
    return f"var {kind}: {variable.name}{annotate(variable.annotations)}{value};"


def write_array(array: Array) -> str:
    kind = array.kind if array.domain is None else show(array.domain)
    kind = f"var {kind}" if array.is_variable else kind
    size = f"array [1..{len(array.elements)}]"
    return f"{size} of {kind}: {array.name}{annotate(array.annotations)} = {show(array.elements)};"


def kind_of(value: object) -> str:
    return "bool" if isinstance(value, bool) else "int" if isinstance(value, int) else "set of int"


def annotate(annotations: list) -> str:
    return "".join(f" :: {show(item)}" for item in annotations)


def show(value: object) -> str:
    """An expression as FlatZinc writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "[" + ",".join(map(show, value)) + "]"
    if isinstance(value, Call):
        return f"{value.name}({','.join(map(show, value.args))})"
    if isinstance(value, IntSet):
        if len(value.ranges) == 1:
            return f"{value.lower}..{value.upper}"
        return "{" + ",".join(map(str, value)) + "}"
    return str(value)
