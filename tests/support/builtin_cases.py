"""The builtins of FlatZinc as a table, and the small models that exercise each of them.

Each predicate is a row of `PREDICATES`: the kinds of its arguments, of its signature in other words (KINDS). From it
come the cases, by one change at a time
to a default call: another domain (holes, wide, none at all), a constant in the place of a variable, two arguments
that are the same variable, empty and odd arrays, arrays and parameters by name. The kinds:

| kind   | argument           |     | kind    | argument                                    |
|--------|--------------------|-----|---------|---------------------------------------------|
| int    | a variable         |     | ints    | an array of variables                       |
| bool   | a Boolean variable |     | bools   | an array of Boolean variables               |
| number | a constant         |     | numbers | an array of constants                       |
| set    | a constant set     |     | truths  | an array of Boolean constants               |
|        |                    |     | linear  | coefficients and `ints`: two arguments      |
|        |                    |     | counted | coefficients and `bools`: two arguments     |
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import combinations
from typing import NamedTuple

from support.flatzinc_text import make_model
from turbo_fzn.base.domains import BOOLEAN, IntSet
from turbo_fzn.predicates.builtins import BUILTINS
from turbo_fzn.predicates.signature import Predicate
from turbo_fzn.read.model import Array, Call, Model, Ref

PLAIN = IntSet.interval(-2, 3)
HOLES = IntSet.of_values([-3, -1, 0, 2])
# Beyond 32 bits; sums, products and quotients of some are in it again.
WIDE = IntSet.of_values([-(2**31) - 1, -(2**31), -1, 0, 1, 2**31])

KINDS = {"I": "int", "B": "bool", "i": "number", "s": "set"}
KINDS |= {"[I]": "ints", "[B]": "bools", "[i]": "numbers", "[b]": "truths"}
SUMS = {("[i]", "[I]"): "linear", ("[i]", "[B]"): "counted"}


def kinds_of(predicate: Predicate) -> str:
    """The kinds of its arguments; coefficients and what they belong to are one."""
    kinds = predicate.kinds
    head = [SUMS[kinds[:2]]] if predicate.alike else []
    return " ".join([*head, *(KINDS[kind] for kind in kinds[2 * len(head) :])])


PREDICATES: dict[str, str] = {one.name: kinds_of(one) for one in BUILTINS if "" in one.forms}
# The forms that MiniZinc's library declares, or that ours may declare.
COMPARED = ["int_eq", "int_ne", "int_le", "int_lin_eq", "int_lin_ne", "int_lin_le", "set_in", "bool_eq"]
REIFIED = [*COMPARED, "int_lt", "bool_le", "bool_lt", "bool_clause"]
IMPLIED = [*COMPARED, "array_var_int_element"]
PREDICATES |= {f"{name}_reif": PREDICATES[name] + " bool" for name in REIFIED}
PREDICATES |= {f"{name}_imp": PREDICATES[name] + " bool" for name in IMPLIED}
# Those that are understood half reified alone.
PREDICATES |= {
    f"{one.name.partition('/')[0]}_imp": f"{kinds_of(one)} bool" for one in BUILTINS if one.forms == ("_imp",)
}

# Those that fix their last argument once the others are fixed, so that it may be unbounded.
FUNCTIONAL = [one.name for one in BUILTINS if one.defined == len(one.kinds) - 1 and one.kinds[-1] == "I"]


def ints(*numbers: int) -> list:
    return [Ref(f"a{number}") for number in numbers]


def bools(*numbers: int) -> list:
    return [Ref(f"q{number}") for number in numbers]


# By kind: the default first, then what may take its place.
ARGUMENTS: dict[str, list] = {
    "int": [0, -2, 3],
    "bool": [True, False],
    "number": [1, -2, 0, 9],
    "set": [IntSet.of_values([-1, 1, 2]), IntSet(()), IntSet.interval(-1, 1), IntSet.interval(5, 9), PLAIN],
    "numbers": [[3, -1, 2], [], [2], [-1, -1]],
    "truths": [[True, False, True], [], [False], [True, True]],
    "ints": [ints(0, 1), [], ints(0), ints(0, 0), [*ints(0), -1], [1, 3], [*ints(0), Ref("x1")]],
    "bools": [
        bools(0, 1),
        [],
        bools(0),
        bools(0, 0),
        [*bools(0), True],
        [*bools(0), False],
        [True, True],
        bools(1, 2, 3),
    ],
    "linear": [
        ([2, -3, 1], ints(0, 1, 2)),
        ([], []),
        ([-1], ints(0)),
        ([0, 1], ints(0, 1)),
        ([1, 1], ints(0, 0)),
        ([2, -2], ints(0, 0)),
        ([3, -2], [*ints(0), -1]),
        ([1, 2], [1, 0]),
    ],
    "counted": [
        ([2, -3, 1], bools(0, 1, 2)),
        ([], []),
        ([-1], bools(0)),
        ([1, 1], bools(0, 0)),
        ([3, -2], [*bools(0), True]),
    ],
}
SHARED_KINDS = ("int", "bool")


class Case(NamedTuple):
    """One call of a predicate in a model where all variables are shown."""

    predicate: str
    label: str
    model: Model


def default_argument(kind: str, position: int) -> object:
    if kind in SHARED_KINDS:
        return Ref(f"{'x' if kind == 'int' else 'p'}{position}")
    return ARGUMENTS[kind][0]


def alternatives(kind: str) -> list:
    return ARGUMENTS[kind] if kind in SHARED_KINDS else ARGUMENTS[kind][1:]


def calls_of(predicate: str) -> Iterator[tuple[str, list]]:
    """(label, arguments by kind) of the default call and of every single change to it."""
    kinds = PREDICATES[predicate].split()
    default = [default_argument(kind, position) for position, kind in enumerate(kinds)]
    yield "default", default
    for position, kind in enumerate(kinds):
        for number, value in enumerate(alternatives(kind)):
            yield f"argument {position} variant {number}", default[:position] + [value] + default[position + 1 :]
    shared = [position for position, kind in enumerate(kinds) if kind in SHARED_KINDS]
    pairs = [pair for pair in combinations(shared, 2) if kinds[pair[0]] == kinds[pair[1]]]
    for first, second in pairs:
        call = list(default)
        call[second] = call[first]
        yield f"argument {second} is argument {first}", call
    if len(pairs) == 3:
        yield "all arguments the same", [default[shared[0]]] * 3


def flatten(call: list) -> list:
    """The arguments as the predicate takes them: `linear` and `counted` are two."""
    return [part for argument in call for part in (argument if isinstance(argument, tuple) else (argument,))]


def names_in(argument: object) -> Iterator[str]:
    if isinstance(argument, list):
        for element in argument:
            yield from names_in(element)
    elif isinstance(argument, Ref):
        yield str(argument)


def domains_of(arguments: list, domain: IntSet | None) -> dict[str, IntSet | None]:
    return {name: BOOLEAN if name[0] in "pq" else domain for name in sorted(names_in(arguments))}


def model_of(predicate: str, call: list, domain: IntSet | None = PLAIN, **special: IntSet | None) -> Model:
    arguments = flatten(call)
    domains = domains_of(arguments, domain) | special
    bounds = [
        constraint
        for name, own in domains.items()
        if own is None and name not in special
        for constraint in [("int_le", -2, Ref(name)), ("int_lin_le", [1], [Ref(name)], 3)]
    ]
    return make_model(domains, [(predicate.removesuffix("/2"), *arguments), *bounds])


def model_by_names(predicate: str, call: list) -> Model:
    """Constants and arrays by name, the arrays of variables shown."""
    parameters: dict[str, object] = {}
    arrays: list[Array] = []
    arguments: list[object] = []
    for number, argument in enumerate(flatten(call)):
        name = Ref(f"n{number}")
        arguments.append(argument if isinstance(argument, Ref) else name)
        if isinstance(argument, list):
            is_variable = any(isinstance(element, Ref) for element in argument)
            is_bool = any(isinstance(element, bool) or str(element)[0] == "q" for element in argument)
            shown = [Call("output_array", [[IntSet.interval(1, len(argument))]])] if is_variable else []
            kind = "bool" if is_bool else "int"
            arrays.append(Array(name, kind, is_variable, None, argument, shown, 0))
        elif not isinstance(argument, Ref):
            parameters[name] = argument
    domains: Mapping[str, IntSet | None] = domains_of(flatten(call), PLAIN)
    return make_model(domains, [(predicate.removesuffix("/2"), *arguments)], arrays=arrays, parameters=parameters)


def cases_of(predicate: str) -> Iterator[Case]:
    kinds = PREDICATES[predicate].split()
    base = predicate.removesuffix("_reif").removesuffix("_imp")
    calls = list(calls_of(predicate))
    default = calls[0][1]
    for label, call in calls:
        yield Case(predicate, label, model_of(predicate, call))
    yield Case(predicate, "by names", model_by_names(predicate, default))
    if any(kind in ("int", "ints", "linear") for kind in kinds):
        yield Case(predicate, "holes", model_of(predicate, default, HOLES))
        if not base.startswith("int_pow"):
            yield Case(predicate, "wide", model_of(predicate, default, WIDE))
        yield Case(predicate, "unbounded but constrained", model_of(predicate, default, None))
    if base in FUNCTIONAL:
        last = len(PREDICATES[base].split()) - 1
        call = default if base == predicate else [*default[:-1], True]
        yield Case(predicate, "unbounded result", model_of(predicate, call, **{f"x{last}": None}))


@cache
def all_cases() -> list[Case]:
    return [case for predicate in PREDICATES for case in cases_of(predicate)]
