"""Models as FlatZinc text, so that the models of the tests do not depend on the parser."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from turbo_fzn.domains import BOOLEAN, IntSet
from turbo_fzn.read.model import Array, Call, Constraint, Goal, Index, Model, Ref, Variable


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
    if isinstance(value, Index):
        return f"{value.array}[{value.index}]"
    if isinstance(value, Call):
        return f"{value.name}({','.join(map(show, value.args))})"
    if isinstance(value, IntSet):
        if len(value.ranges) == 1:
            return f"{value.lower}..{value.upper}"
        return "{" + ",".join(map(str, value)) + "}"
    return str(value)
