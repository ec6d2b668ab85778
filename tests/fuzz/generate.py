"""Random FlatZinc models: small enough to be enumerated, and odd enough to find what nobody thought of.

A model has a few variables of one *flavour* of numbers, a handful of constraints over all builtins, arrays, parameters
and aliases by name, any search annotation, and a goal. Random constraints rarely have a solution together, so most
models are built around a witness: an assignment that every constraint is made to satisfy. What a predicate means is
taken from turbo_fzn/check/relations.py here; the judge has formulas of its own. A third of the models has a global
constraint or two (global_calls.py), and some variables of their own for these.

| flavour   | numbers                                                                                       |
|-----------|-----------------------------------------------------------------------------------------------|
| small     | -6..9, with holes                                                                             |
| wide      | the same, and one variable with some hundred values                                           |
| large     | around ±2^30, ±2^31, ±2^40, ±2^61 and ±(2^62 - 1), few values a variable, coefficients to 2^40 |
| unbounded | the small ones, and variables without bounds that constraints define or enclose               |
| mixed     | all of it                                                                                     |
| big       | many variables with up to 30 values each, too many to enumerate; only when asked for         |
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import numpy as np

from fuzz.drawer import Drawer
from fuzz.global_calls import CALLS
from fuzz.scope import (
    LIMIT,
    Scope,
    a_bool,
    add_variable,
    an_int,
    draw_domain,
    draw_number,
    resolve,
    small_number,
    value_in,
)
from support.builtin_cases import FUNCTIONAL, PREDICATES
from turbo_fzn.base.domains import BOOLEAN, IntSet
from turbo_fzn.check.relations import find_signature
from turbo_fzn.read.model import Array, Call, Constraint, Goal, Index, Model, Ref, Variable

FLAVOURS = {"small": 50, "wide": 10, "large": 15, "unbounded": 15, "mixed": 10}
MOST_ASSIGNMENTS = {"small": 700, "wide": 3000, "large": 300, "unbounded": 300, "mixed": 300, "big": 10**9}
VARIABLE_CHOICES = [
    *("input_order", "first_fail", "anti_first_fail", "smallest", "largest", "occurrence", "most_constrained"),
    *("max_regret", "dom_w_deg", "impact"),
]
VALUE_CHOICES = [
    *("indomain", "indomain_min", "indomain_max", "indomain_median", "indomain_middle", "indomain_random"),
    *("indomain_split", "indomain_reverse_split", "indomain_split_random", "indomain_interval"),
    *("outdomain_min", "outdomain_max", "outdomain_median", "outdomain_random"),
]
COSTLY = {"int_pow", "int_pow_fixed"}  # by large numbers
WITH_GLOBALS = 1 / 3  # of the models
MORE_ROOM = 4  # for globals: times the assignments of a model without them
FORMS = {"": 12, "_reif": 6, "_imp": 2}  # of globals


def draw_model(random: Random, flavour: str | None = None, with_globals: float = WITH_GLOBALS) -> Model:
    """A model without text; `with_globals` is the share of those that have global constraints."""
    flavour = flavour or random.choices(list(FLAVOURS), list(FLAVOURS.values()))[0]
    scope = Scope(random, flavour)
    model = Model(file="fuzz.fzn")
    declare_variables(model, scope)
    declare_named(model, scope)
    with_witness = random.random() < 0.8
    for _ in range(random.randint(8, 20) if flavour == "big" else random.randint(1, 6)):
        for constraint in draw_constraint(scope, model, with_witness):
            model.constraints.append(constraint)
    has_globals = random.random() < with_globals
    late = random.random() < 0.3  # over the variables without bounds, too, so that the witness says nothing
    if has_globals and not late:
        draw_globals(scope, model, with_witness)
    if flavour in ("unbounded", "mixed"):
        declare_unbounded(model, scope)
    if has_globals and late:
        draw_globals(scope, model, with_witness and flavour not in ("unbounded", "mixed"))
    declare_aliases(model, scope)
    model.goal = draw_goal(scope, model)
    hide_some(model, random)
    return model


# ---- declarations


def declare_variables(model: Model, scope: Scope) -> None:
    """Variables until the number of assignments is used up."""
    random, room = scope.random, MOST_ASSIGNMENTS[scope.flavour]
    if scope.flavour == "wide":
        low = random.randint(-150, 0)
        add_variable(model, scope, "w0", IntSet.interval(low, low + random.randint(60, 200)))
        room //= model.variables["w0"].domain.size  # type: ignore[union-attr]
    big = scope.flavour == "big"
    for number in range(random.randint(5, 8) if big else random.randint(1, 4)):
        domain = draw_domain(scope)
        if domain.size <= room:
            room //= domain.size
            add_variable(model, scope, f"x{number}", domain)
    for number in range(random.randint(2, 8) if big else random.randint(0, 4)):
        if room >= 2:
            room //= 2
            add_variable(model, scope, f"b{number}", BOOLEAN)
    if not scope.ints:
        add_variable(model, scope, "x0", IntSet.interval(0, 1))
    if not scope.bools:
        add_variable(model, scope, "b0", BOOLEAN)
    scope.room = room


def declare_named(model: Model, scope: Scope) -> None:
    """Arrays and parameters, so that arguments can be names."""
    random = scope.random
    if random.random() < 0.3:
        model.parameters["n"] = scope.witness["n"] = draw_number(scope)
        scope.numbers.append(Ref("n"))
    for kind, element in (("ints", "int"), ("bools", "bool"), ("numbers", "int"), ("truths", "bool")):
        if random.random() < 0.25:
            is_variable = kind in ("ints", "bools")
            elements = ARGUMENTS[kind](scope)
            domain = wide_domain(scope, elements) if kind == "ints" and random.random() < 0.3 else None
            shown = [Call("output_array", [[IntSet.interval(1, len(elements))]])] if is_variable else []
            model.arrays[kind] = Array(kind, element, is_variable, domain, elements, shown, 0)
            scope.arrays[kind].append(Ref(kind))


def wide_domain(scope: Scope, elements: list) -> IntSet:
    """One that the witness's values of the elements lie in, and that may cut off others."""
    values = [value_in(scope, element) for element in elements]
    low, high = min(values, default=0), max(values, default=0)
    random = scope.random
    values = [low - random.randint(0, 3), high + random.randint(0, 3), *values]
    return IntSet.of_values(values) if random.random() < 0.5 else IntSet.interval(min(values), max(values))


def declare_aliases(model: Model, scope: Scope) -> None:
    random = scope.random
    if random.random() < 0.3:
        value = random.choice(scope.ints) if random.random() < 0.8 else draw_number(scope)
        domain = wide_domain(scope, [value]) if value in scope.witness and random.random() < 0.5 else None
        model.variables["alias"] = Variable("alias", "int", domain, [Ref("output_var")], value, 0)


# ---- constraints


def several(scope: Scope, draw: Callable[[Scope], object]) -> list:
    return [draw(scope) for _ in range(scope.random.choice((0, 1, 2, 2, 3, 3, 4)))]


def a_coefficient(scope: Scope) -> int:
    random = scope.random
    if scope.flavour in ("large", "mixed") and random.random() < 0.3:
        return random.choice((-1, 1)) * (1 << random.randint(2, 40))
    return random.choice((-3, -2, -1, -1, 1, 1, 2, 3, 0, 5))


def weighted(scope: Scope, draw: Callable[[Scope], object]) -> tuple[list, list]:
    members = several(scope, draw)
    return [a_coefficient(scope) for _ in members], members


def named_or(kind: str, draw: Callable[[Scope], object]) -> Callable[[Scope], Any]:
    """An array of the model by its name sometimes."""

    def argument(scope: Scope) -> object:
        names = scope.arrays[kind]
        return scope.random.choice(names) if names and scope.random.random() < 0.5 else several(scope, draw)

    return argument


ARGUMENTS: dict[str, Callable[[Scope], Any]] = {
    "int": an_int,
    "bool": a_bool,
    "number": lambda s: s.random.choice(s.numbers) if s.numbers and s.random.random() < 0.2 else draw_number(s),
    "set": lambda s: IntSet(()) if s.random.random() < 0.05 else draw_domain(s),
    "numbers": named_or("numbers", draw_number),
    "truths": named_or("truths", lambda s: s.random.random() < 0.5),
    "ints": named_or("ints", an_int),
    "bools": named_or("bools", a_bool),
    "linear": lambda s: weighted(s, an_int),
    "counted": lambda s: weighted(s, a_bool),
}


def draw_constraint(scope: Scope, model: Model, with_witness: bool) -> Iterator[Constraint]:
    """A constraint that the witness satisfies, if one is found soon; else none. Without a witness, any."""
    for _ in range(6):
        predicate = scope.random.choice(NAMES)
        if predicate in COSTLY and scope.flavour in ("large", "mixed"):
            continue
        arguments = flatten([ARGUMENTS[kind](scope) for kind in KINDS[predicate]])
        name = predicate.removesuffix("/2")
        if not with_witness or mend(scope, model, name, arguments):
            yield Constraint(name, arguments, [], 0)
            return


KINDS = {name: kinds.split() for name, kinds in PREDICATES.items()}
NAMES = [name for name in KINDS for _ in range(3 if "lin" in name else 1)]


def flatten(arguments: list) -> list:
    return [part for argument in arguments for part in (argument if isinstance(argument, tuple) else (argument,))]


def mend(scope: Scope, model: Model, name: str, arguments: list) -> bool:
    """Whether the witness satisfies the constraint, its constant of a linear one changed so that it does."""
    if "_lin_" in name and not isinstance(arguments[2], Ref) and scope.random.random() < 0.7:
        members = zip(arguments[0], arguments[1], strict=True)
        total = sum(c * value_in(scope, x) for c, x in members)
        if abs(total) < LIMIT - 2:
            slack = scope.random.randint(0, 2) if "_le" in name else 0
            arguments[2] = total + slack
    return is_satisfied(scope, model, name, arguments)


def is_satisfied(scope: Scope, model: Model, name: str, arguments: list) -> bool:
    """Whether the witness satisfies it, by turbo_fzn/check."""
    signature = find_signature(name, len(arguments))
    assert signature is not None, name
    values = [resolve(scope, model, argument) for argument in arguments]
    return bool(signature.relation(*map(as_checked, signature.kinds, values)))


def as_checked(kind: str, value: Any) -> object:
    """Constants are an array for the checker, but for sets."""
    return np.array(value, np.int64) if kind == "t" and not any(isinstance(one, IntSet) for one in value) else value


def draw_globals(scope: Scope, model: Model, with_witness: bool) -> None:
    """Adds one or two global constraints, anywhere among the others; the witness satisfies them `with_witness`."""
    scope.room *= MORE_ROOM
    for _ in range(scope.random.choice((1, 1, 2))):
        place = scope.random.randint(0, len(model.constraints))
        model.constraints.insert(place, draw_global(Drawer(scope, model), with_witness))


def draw_global(drawer: Drawer, with_witness: bool) -> Constraint:
    scope, random = drawer.scope, drawer.random
    name, form = random.choice(list(CALLS)), random.choices(list(FORMS), list(FORMS.values()))[0]
    arguments = CALLS[name](drawer)
    truth = with_witness and is_satisfied(scope, drawer.model, name, arguments)
    if with_witness and not truth:
        form = form or "_reif"
    if form:
        is_free = not with_witness or (form == "_imp" and truth)
        arguments.append(a_bool(scope) if is_free else drawer.truth(truth))
    drawer.give_name(arguments)
    return Constraint(name + form, arguments, [], 0)


# ---- variables without bounds


def declare_unbounded(model: Model, scope: Scope) -> None:
    """One or two variables without bounds, each enclosed by constraints or defined by others."""
    for number in range(scope.random.randint(1, 2)):
        name = Ref(f"u{number}")
        constraints = list(enclose(scope, name) if scope.random.random() < 0.4 else define(scope, name))
        add_variable(model, scope, name, None)
        for constraint in constraints:
            model.constraints.insert(scope.random.randint(0, len(model.constraints)), constraint)
        for _ in range(scope.random.randint(0, 2)):
            model.constraints.extend(draw_constraint(scope, model, False))


def enclose(scope: Scope, name: Ref) -> Iterator[Constraint]:
    low = small_number(scope.random)
    high = low + scope.random.randint(0, 3)
    yield scope.random.choice(
        [Constraint("int_le", [low, name], [], 0), Constraint("int_lin_le", [[-2], [name], -2 * low], [], 0)]
    )
    yield scope.random.choice(
        [Constraint("int_lt", [name, high + 1], [], 0), Constraint("int_lin_le", [[1], [name], high], [], 0)]
    )


def define(scope: Scope, name: Ref) -> Iterator[Constraint]:
    """name = f(others), which leaves it one value at most."""
    random = scope.random
    if random.random() < 0.3:
        coefficients, members = weighted(scope, an_int)
        place, sign = random.randint(0, len(members)), random.choice((-1, 1))
        coefficients, members = list(coefficients), list(members)
        coefficients.insert(place, sign)
        members.insert(place, name)
        yield Constraint("int_lin_eq", [coefficients, members, draw_number(scope)], [], 0)
        return
    predicate = random.choice([name for name in FUNCTIONAL if name not in COSTLY])
    arguments = flatten([ARGUMENTS[kind](scope) for kind in KINDS[predicate]])
    arguments[-1] = name
    yield Constraint(predicate, arguments, [], 0)


# ---- goal and output


def draw_goal(scope: Scope, model: Model) -> Goal:
    random = scope.random
    method = random.choice(("satisfy", "satisfy", "minimize", "maximize"))
    objective = None if method == "satisfy" else draw_objective(scope, model)
    return Goal(method, objective, draw_searches(scope, model), 0)


def draw_objective(scope: Scope, model: Model) -> object:
    random = scope.random
    array = model.arrays.get("ints")
    if array is not None and array.elements and random.random() < 0.2:
        return Index("ints", random.randint(1, len(array.elements)))
    return random.choice(scope.ints) if random.random() < 0.95 else draw_number(scope)


def draw_searches(scope: Scope, model: Model) -> list:
    searches = [draw_search(scope, model) for _ in range(scope.random.choice((0, 0, 1, 1, 2, 3)))]
    if scope.random.random() < 0.2:
        searches.insert(0, draw_warm_start(scope))
    return [Call("seq_search", [searches])] if searches and scope.random.random() < 0.5 else searches


def draw_warm_start(scope: Scope) -> Call:
    """Values for some variables, mostly near the witness's; a variable may have two, and one beyond its domain."""
    random = scope.random
    calls = []
    for kind, names, spread in (("int", scope.ints, (0, 0, 0, 1, -2)), ("bool", scope.bools, (0, 0, 1))):
        chosen = random.choices(names, k=random.randint(0, 4)) if names else []
        values = [scope.witness.get(name, 0) + random.choice(spread) for name in chosen]
        values = [bool(value % 2) for value in values] if kind == "bool" else values
        calls.append(Call(random.choice(("warm_start", f"warm_start_{kind}")), [chosen, values]))
    return Call("warm_start_array", [calls]) if random.random() < 0.3 else random.choice(calls)


def draw_search(scope: Scope, model: Model) -> Call:
    random = scope.random
    kind = random.choice(("int", "int", "bool"))
    names = (scope.ints if kind == "int" else scope.bools) + scope.arrays[f"{kind}s"][:0]
    variables: object = random.choices(names, k=random.randint(0, 5))
    if scope.arrays[f"{kind}s"] and random.random() < 0.3:
        variables = scope.arrays[f"{kind}s"][0]
    choices = Ref(random.choice(VARIABLE_CHOICES)), Ref(random.choice(VALUE_CHOICES))
    return Call(f"{kind}_search", [variables, *choices, Ref("complete")])


def hide_some(model: Model, random: Random) -> None:
    """Sometimes only a part of the variables is shown, and then solutions are counted by what is shown."""
    if random.random() < 0.3:
        for item in [*model.variables.values(), *model.arrays.values()]:
            if random.random() < 0.5:
                item.annotations = []
