"""Refuses FlatZinc in which a Boolean variable is defined by its own negation, or in a direction that no use needs.

MiniZinc 2.6 writes `constraint bool_not(p,p) :: defines_var(p);` for `p <-> not g(x)`, where its library gives g_reif a
body: the truth of g(x) was to be another variable. As written, such a model has no solution, and its author's model may
have many. The FlatZinc of `p <-> not p` is the same, and cannot be distinguished. The same constraint without
`defines_var` is intended, and is lowered as any other.

Of `(not (not (p /\\ q))) <- p` it writes, up to 2.10, `bool_clause([],[p,X])` and `bool_clause([],[p,q,X]) ::
defines_var(X)`, which are true wherever X is false: the direction of the definition that the other clause needs is
lost, and so are constraints of the model. No intended definition has this form, since it would restrict nothing. 2.10
also writes it for `not (false xor (s superset t))`. An implication `p_imp(x, X)` is a direction as a clause is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator

from turbo_fzn.base.errors import ModelError
from turbo_fzn.predicates.signature import IMPLIED
from turbo_fzn.read.model import Call, Constraint, Model, Ref

LOST = "MiniZinc loses the other direction of some negations within each other; simplify them in the model"
ADVICE = "MiniZinc 2.6 writes this for `p <-> not G`; type `p != G` in the model, or use a newer MiniZinc"


def clause(positive: Iterable[bool], negative: Iterable[bool]) -> bool:
    return any(positive) or not all(negative)


# Constraints that can define a variable by its negation: whether they hold for given values.
MEANINGS: dict[str, Callable[..., bool]] = {
    "bool_not": lambda a, b: a != b,
    "bool_xor": lambda a, b, c=True: (a != b) == c,
    "bool_eq_reif": lambda a, b, r: (a == b) == r,
    "bool_not_reif": lambda a, b, r: (a != b) == r,
    "bool_xor_reif": lambda a, b, c, r=None: ((a != b) == c) == r if r is not None else (a != b) == c,
    "bool_clause_reif": lambda positive, negative, r: clause(positive, negative) == r,
    "array_bool_xor": lambda members: sum(members) % 2 == 1,
}


def refuse_wrong_definitions(model: Model) -> None:
    """Raises ModelError, with its place, where a Boolean variable is defined by its own negation, or without effect."""
    in_one_direction: dict[str, Constraint] = {}
    for constraint in model.constraints:
        for annotation in constraint.annotations:
            if isinstance(annotation, Call) and annotation.name == "defines_var":
                if constraint.name in MEANINGS:
                    _refuse_own_negation(model, constraint, annotation.args)
                elif _is_one_direction(constraint, annotation.args) and _is_introduced(model, annotation.args):
                    in_one_direction[annotation.args[0]] = constraint
    if in_one_direction:
        _refuse_vain_definitions(model, in_one_direction)


def _refuse_vain_definitions(model: Model, definitions: dict[str, Constraint]) -> None:
    """Raises ModelError where a clause or an implication defines a variable without effect: where it has other uses,
    all of them literals with the same sign as in the definition."""
    signs: defaultdict[object, list[bool | None]] = defaultdict(list)
    for name, sign in _signs(model):
        signs[name].append(sign)
    for name, constraint in definitions.items():
        uses = signs[name]
        if len(uses) > 1 and None not in uses and len(set(uses)) == 1:
            raise ModelError(f"nothing needs this definition of `{name}`: {LOST}", *model.locate(constraint.position))


def _is_one_direction(constraint: Constraint, defined: list) -> bool:
    """Whether a constraint is a clause, or an implication of which the defined variable is the condition."""
    return constraint.name == "bool_clause" or constraint.name.endswith(IMPLIED) and defined == constraint.args[-1:]


def _is_introduced(model: Model, defined: list) -> bool:
    """Whether an annotation defines a variable that MiniZinc has introduced."""
    variable = model.variables.get(defined[0]) if len(defined) == 1 and isinstance(defined[0], Ref) else None
    return variable is not None and "var_is_introduced" in variable.annotations


def _signs(model: Model) -> Iterator[tuple[object, bool | None]]:
    """(variable, its sign) of each literal of a clause, also of the condition of an implication, and (variable, None)
    of all other uses."""
    for constraint in model.constraints:
        sides = _literals(constraint)
        for literals, sign in zip(sides, (True, False, None)):
            yield from ((name, sign) for name in model.names_in([literals]))
    yield from ((variable.value, None) for variable in model.variables.values() if isinstance(variable.value, Ref))


def _literals(constraint: Constraint) -> tuple[object, ...]:
    """The positive and the negative literals of a constraint, and its other arguments."""
    match constraint.name, constraint.args:
        case "bool_clause", [positive, negative]:
            return positive, negative, []
        case "array_bool_or", [positive, True]:
            return positive, [], []
        case "array_bool_and", [negative, False]:
            return [], negative, []
        case name, [*others, condition] if name.endswith(IMPLIED):
            return [], condition, others
    return [], [], constraint.args


def _refuse_own_negation(model: Model, constraint: Constraint, defined: list) -> None:
    names = {_source(model, name) for name in model.names_in(constraint.args)}
    if len(defined) != 1 or names != {_source(model, defined[0])}:
        return
    holds = MEANINGS[constraint.name]
    try:
        if any(holds(*(_value(model, argument, truth) for argument in constraint.args)) for truth in (False, True)):
            return
    except TypeError:
        return  # its arguments are wrong, which the lowering reports
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
    """An argument in which each variable is replaced by this truth."""
    if isinstance(argument, Ref) and argument in model.arrays:
        argument = model.arrays[argument].elements
    if isinstance(argument, list):
        return [_value(model, element, truth) for element in argument]
    if isinstance(argument, Ref):
        return model.parameters.get(argument, truth)
    return argument
