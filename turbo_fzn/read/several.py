"""Annotations of the solve item that ask for several objectives, of a model that is to be satisfied:

    solve :: lex_minimize([late, cost]) satisfy;      % the best in the first one, of those the best in the second, …
    solve :: pareto_maximize([speed, -cost]) satisfy; % what no other solution is better than (the Pareto front)

The names were proposed as keywords of MiniZinc (libminizinc, issue 741). turbo.mzn of the library declares them, and
goals.py implements them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from turbo_fzn.base.errors import ModelError
from turbo_fzn.read.model import Call, Goal, Index, Model, Ref

# Name of an annotation -> the method of its objectives, and whether the front is wanted.
ANNOTATIONS = {
    "lex_minimize": ("minimize", False),
    "lex_maximize": ("maximize", False),
    "pareto_minimize": ("minimize", True),
    "pareto_maximize": ("maximize", True),
}


class Several(NamedTuple):
    """Goals as in "minimize x", and whether the front is wanted, otherwise the lexicographic best solution."""

    goals: list[str]
    is_front: bool


def several_of(model: Model) -> Several | None:
    """The objectives that the annotations ask for, or None without such annotations; without goals if all objectives
    are constants. Raises ModelError."""
    asked = [] if model.goal is None else _asking(model.goal)
    if not asked:
        return None
    assert model.goal is not None
    place = model.locate(model.goal.position)
    if len(asked) > 1 or model.goal.method != "satisfy":
        raise ModelError(f"{asked[-1].name} has to be the only objective of the model", *place)
    call = asked[0]
    method, is_front = ANNOTATIONS[call.name]
    names = [_name(model, part) for argument in call.args for part in _parts(model, argument)]
    if None in names:
        raise ModelError(f"{call.name} takes an array of variables", *place)
    return Several([f"{method} {name}" for name in names if name], is_front)


def without_several(model: Model) -> Model:
    """The model without these annotations, whose objectives count as declared by the user."""
    if model.goal is None:
        return model
    rest = [one for one in model.goal.annotations if one not in _asking(model.goal)]
    return replace(model, goal=replace(model.goal, annotations=rest))


def with_declared(model: Model, names: set[str]) -> Model:
    """The model with these variables as if the user had declared them, so that they can be named."""
    variables = dict(model.variables)
    for name in names & set(variables):
        kept = [one for one in variables[name].annotations if one != "var_is_introduced"]
        variables[name] = replace(variables[name], annotations=kept)
    return replace(model, variables=variables)


def _asking(goal: Goal) -> list[Call]:
    return [one for one in goal.annotations if isinstance(one, Call) and one.name in ANNOTATIONS]


def _parts(model: Model, argument: object) -> list:
    """The elements of an array; another expression as the only element."""
    if isinstance(argument, Ref) and argument in model.arrays:
        return list(model.arrays[argument].elements)
    return argument if isinstance(argument, list) else [argument]


def _name(model: Model, part: object) -> str | None:
    """The name of a variable; empty for a constant, which is no goal; None for other expressions."""
    if isinstance(part, Index) and part.array in model.arrays:
        elements = model.arrays[part.array].elements
        part = elements[part.index - 1] if 0 < part.index <= len(elements) else None
    if isinstance(part, Ref):
        if part in model.variables:
            return str(part)
        part = model.parameters.get(part)
    return "" if isinstance(part, int) else None
