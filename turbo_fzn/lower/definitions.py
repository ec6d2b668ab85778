"""Refuses FlatZinc in which a Boolean variable is defined by its own negation.

MiniZinc 2.6 writes `constraint bool_not(p,p) :: defines_var(p);` for `p <-> not g(x)`, where its library gives g_reif a
body: the truth of g(x) was to be another variable. As it stands there, such a model has no solution, and its author's
model may have many. That of `p <-> not p` looks the same, and cannot be told apart. The same constraint without
`defines_var` is meant, and is lowered as any other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from turbo_fzn.base.errors import ModelError
from turbo_fzn.read.model import Call, Constraint, Model, Ref

ADVICE = "MiniZinc 2.6 writes this for `p <-> not G`; type `p != G` in the model, or use a newer MiniZinc"


def clause(positive: Iterable[bool], negative: Iterable[bool]) -> bool:
    return any(positive) or not all(negative)


# Of the constraints that can define a variable by its negation: whether they hold.
MEANINGS: dict[str, Callable[..., bool]] = {
    "bool_not": lambda a, b: a != b,
    "bool_xor": lambda a, b, c=True: (a != b) == c,
    "bool_eq_reif": lambda a, b, r: (a == b) == r,
    "bool_not_reif": lambda a, b, r: (a != b) == r,
    "bool_xor_reif": lambda a, b, c, r=None: ((a != b) == c) == r if r is not None else (a != b) == c,
    "bool_clause_reif": lambda positive, negative, r: clause(positive, negative) == r,
    "array_bool_xor": lambda members: sum(members) % 2 == 1,
}


def refuse_own_negations(model: Model) -> None:
    """Raises ModelError, with its place, where a Boolean variable is defined by its own negation."""
    for constraint in model.constraints:
        if constraint.name in MEANINGS and constraint.annotations:
            for annotation in constraint.annotations:
                if isinstance(annotation, Call) and annotation.name == "defines_var":
                    _refuse_own_negation(model, constraint, annotation.args)


def _refuse_own_negation(model: Model, constraint: Constraint, defined: list) -> None:
    names = {_source(model, name) for name in model.names_in(constraint.args)}
    if len(defined) != 1 or names != {_source(model, defined[0])}:
        return
    holds = MEANINGS[constraint.name]
    try:
        if any(holds(*(_value(model, argument, truth) for argument in constraint.args)) for truth in (False, True)):
            return
    except TypeError:
        return  # its arguments are wrong, which the lowering says
    raise ModelError(f"`{defined[0]}` is defined by its own negation: {ADVICE}", *model.locate(constraint.position))


def _source(model: Model, name: object) -> object:
    """The variable that a name stands for, by right-hand sides such as `var bool: p = q`."""
    seen = set()
    while isinstance(name, Ref) and name in model.variables and name not in seen:
        seen.add(name)
        value = model.variables[name].value
        if not isinstance(value, Ref):
            break
        name = value
    return name


def _value(model: Model, argument: object, truth: bool) -> object:
    """An argument where each variable has this truth."""
    if isinstance(argument, Ref) and argument in model.arrays:
        argument = model.arrays[argument].elements
    if isinstance(argument, list):
        return [_value(model, element, truth) for element in argument]
    if isinstance(argument, Ref):
        return model.parameters.get(argument, truth)
    return argument
