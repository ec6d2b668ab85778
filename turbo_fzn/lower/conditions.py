"""Implications `c -> p(x)` become equivalences where nothing wants c to be false.

MiniZinc writes `p_imp(x, c)`, or a clause with the literal `not c` that defines c, where a model needs no other
direction. The search would have to find a value of c, beside the truth of p(x), which the rows compute in any case: the
equivalence is a variable and a row less.

A condition is *raised* if MiniZinc has introduced it for an expression, it is not shown, and constraints on it that
hold still hold when it becomes true, as a clause does in which it is a positive literal. So does the definition of a
conjunction or disjunction that is raised in turn. Let every raised variable of a solution have the truth of its
definition, again and again until nothing changes: none becomes false, since each implies its definition, and so no
constraint is violated. Hence both models have the same solutions in all other variables. New variables have names with
a dot, as no others have.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from turbo_fzn.predicates.signature import IMPLIED, REIFIED
from turbo_fzn.predicates.table import find
from turbo_fzn.read.model import Call, Constraint, Model, Ref, Variable

# The places of the arguments that may become true, where the result may: the last argument, unless it is a clause.
GROWING = {
    "bool_clause": (0,),
    "array_bool_and": (0,),
    "array_bool_or": (0,),
    "array_bool_and_imp": (0,),
    "array_bool_or_imp": (0,),
    "bool_clause_reif": (0,),
    "bool_clause_imp": (0,),
    "bool_and": (0, 1),
    "bool_or": (0, 1),
}
CLAUSE = "bool_clause"
IN_REIFIED_FORM = {"array_bool_and_imp": "array_bool_and", "array_bool_or_imp": "array_bool_or"}


class Uses(NamedTuple):
    """The uses of candidates: the places of the implications of which each is the condition, and of the equivalences of
    which each is the result; the results of which each is an operand; and those that may not become true."""

    implied: defaultdict[str, list[int]]
    defined: defaultdict[str, list[int]]
    above: defaultdict[str, set[str | bool]]
    fixed: set[str]


def complete_implications(model: Model) -> Model:
    """The model with equivalences in the place of the implications of raised conditions."""
    candidates = _candidates(model)
    if not candidates:
        return model
    uses = _uses_of(model, candidates)
    constraints, variables = list(model.constraints), dict(model.variables)
    for name in sorted(_raised(candidates, uses) & uses.implied.keys()):
        places = uses.implied[name]
        parts = [Ref(f"{name}.{i}") for i in range(len(places))] if len(places) > 1 else [Ref(name)]
        for place, part in zip(places, parts):
            constraints[place] = _equivalence(constraints[place], name, part)
        if len(places) > 1:
            variables |= {part: replace(variables[name], name=part) for part in parts}
            constraints.append(Constraint("array_bool_and", [parts, Ref(name)], [], constraints[places[0]].position))
    return replace(model, variables=variables, constraints=constraints)


def _equivalence(constraint: Constraint, condition: str, truth: Ref) -> Constraint:
    """The equivalence of this truth in the place of the implication of a condition."""
    name, args = constraint.name, constraint.args
    if name == CLAUSE:
        return constraint._replace(name=CLAUSE + REIFIED, args=[args[0], _without(args[1], condition), truth])
    reified = IN_REIFIED_FORM.get(name, name.removesuffix(IMPLIED) + REIFIED)
    return constraint._replace(name=reified, args=[*args[:-1], truth])


def _without(literals: object, condition: str | None) -> list[object]:
    """The literals of one sign but for the condition itself, by its name."""
    return [one for one in literals if one != condition] if isinstance(literals, list) else [literals]


def _candidates(model: Model) -> set[str]:
    """The Booleans that MiniZinc has introduced and that are not shown, if one of them is a condition."""
    hidden = {name for name, variable in model.variables.items() if _is_hidden(variable)}
    if not any(_condition_of(one) in hidden for one in model.constraints):
        return set()
    for array in model.arrays.values():
        if any(isinstance(one, Call) and one.name == "output_array" for one in array.annotations):
            hidden.difference_update(model.names_in(array.elements))
    return hidden


def _is_hidden(variable: Variable) -> bool:
    """Whether MiniZinc has introduced a Boolean for an expression, that is not shown. A local variable of the model has
    no definition: it is left to the search, which needs fewer conflicts so."""
    if variable.kind != "bool" or variable.value is not None or "output_var" in variable.annotations:
        return False
    return "var_is_introduced" in variable.annotations and "is_defined_var" in variable.annotations


def _condition_of(constraint: Constraint) -> Ref | None:
    """The condition of an implication: the last argument, or, of a clause, the literal `not c` if it defines c."""
    name, args, annotations, _ = constraint
    if name.endswith(IMPLIED):
        return args[-1] if _is_discrete(name, len(args)) and isinstance(args[-1], Ref) else None
    if name == CLAUSE and annotations and len(args) == 2 and isinstance(args[1], list):
        defined = (one.args[0] for one in annotations if isinstance(one, Call) and one.name == "defines_var")
        return next((one for one in defined if isinstance(one, Ref) and one in args[1]), None)
    return None


@cache
def _is_discrete(name: str, n_arguments: int) -> bool:
    """Whether a predicate has so many arguments, none of them real. Whether a relation of reals is violated can take
    long to decide, and no condition that is false needs it."""
    form = find(name, n_arguments)
    return form is not None and len(form.kinds) == n_arguments and "F" not in "".join(form.kinds)


def _uses_of(model: Model, candidates: set[str]) -> Uses:
    uses = Uses(defaultdict(list), defaultdict(list), defaultdict(set), set())
    if model.goal is not None:
        uses.fixed.update(model.names_in([model.goal.objective]))
    uses.fixed.update(model.names_in(variable.value for variable in model.variables.values()))
    for place, constraint in enumerate(model.constraints):
        if not candidates.isdisjoint(model.names_in(constraint.args)):
            _add(model, uses, place)
    return uses


def _add(model: Model, uses: Uses, place: int) -> None:
    """Adds the uses of variables in a constraint."""
    name, args = model.constraints[place][:2]
    condition = _condition_of(model.constraints[place])
    has_truth = name != CLAUSE and (condition is not None or name in GROWING)
    result = args[-1] if has_truth and condition is None else None
    if condition is not None:
        uses.implied[condition].append(place)
    elif isinstance(result, Ref):
        uses.defined[result].append(place)
    else:
        uses.fixed.update(model.names_in([result]))
    above = True if result is None else result
    for at, argument in enumerate(args[:-1] if has_truth else args):
        named = list(model.names_in(_without(argument, condition) if name == CLAUSE else [argument]))
        if at in GROWING.get(name, ()) and isinstance(above, (bool, Ref)):
            for one in named:
                uses.above[one].add(above)
        else:
            uses.fixed.update(named)


def _raised(candidates: set[str], uses: Uses) -> set[str]:
    """The raised variables: the candidates without those that may not become true, or of which a result may not."""
    raised = {name for name in uses.above.keys() & (candidates - uses.fixed) if _is_once(uses, name)}
    while True:
        allowed = raised | {True}
        left = {name for name in raised if not uses.above[name] <= allowed}
        if not left:
            return raised
        raised -= left


def _is_once(uses: Uses, name: str) -> bool:
    """Whether a variable is the condition of implications, or the result of a single equivalence, but not both."""
    return len(uses.defined.get(name, ())) == (0 if name in uses.implied else 1)
