"""The table of constraints: FlatZinc predicate -> kinds of its arguments and the function that lowers it.

To add a constraint, add a row here and its meaning to relations.py; the global constraints are rows of
globals/catalogue.py and meanings.py, those on floats of float_table.py and check/reals.py. Kinds of arguments:

| kind | FlatZinc type | what the function gets |     | kind  | FlatZinc type       | what the function gets |
|------|---------------|------------------------|-----|-------|---------------------|------------------------|
| `I`  | var int       | a variable             |     | `[I]` | array of var int    | list of variables      |
| `B`  | var bool      | a variable             |     | `[B]` | array of var bool   | list of variables      |
| `i`  | int           | int                    |     | `[i]` | array of int        | list of int            |
| `s`  | set of int    | IntSet                 |     | `[b]` | array of bool       | list of 0 and 1        |
| `F`  | var float     | a variable             |     | `[F]` | array of var float  | list of variables      |
| `f`  | float         | float or int           |     | `[f]` | array of float      | list of float or int   |
| `e`  | an expression | Expression             |     | `[s]` | array of set of int | list of IntSet         |

Every function is called with the builder, the arguments, and last the variable r that is the relation's truth value.
So a row gives three predicates: the plain one (r = true), `_reif` (r is its last argument) and `_imp` (its last
argument implies r). Functions such as `x + y = z` are written as definitions of their result, and `function` makes
relations of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from turbo_fzn.domains import INFINITY
from turbo_fzn.lower import constraints_bool as boolean
from turbo_fzn.lower import constraints_int as integer
from turbo_fzn.lower import linear, power
from turbo_fzn.lower.builder import Builder
from turbo_fzn.lower.float_table import FLOAT_CONSTRAINTS
from turbo_fzn.lower.globals.catalogue import GLOBALS, SHAPES, same_length
from turbo_fzn.lower.globals.own import OWN, OWN_SHAPES
from turbo_fzn.tnf.language import ADD, EQ, LEQ, MAX, MIN, MUL

Post = Callable[..., Any]


def function(define: Post) -> Post:
    """The relation of a total function: `define(builder, *arguments, result)` states the plain constraint."""

    def post(b: Builder, *arguments: Any) -> None:
        *inputs, result, r = arguments
        if b.value(r) == 1:
            return define(b, *inputs, result)
        computed = b.variable(-INFINITY, INFINITY)
        define(b, *inputs, computed)
        return b.define(r, EQ, computed, result)

    return post


def operator(op: int) -> Post:
    """x op y = z."""
    return function(lambda b, x, y, z: b.define(z, op, x, y))


CONSTRAINTS: dict[str, tuple[str, Post]] = {
    "int_eq": ("I I", integer.eq),
    "int_ne": ("I I", integer.ne),
    "int_le": ("I I", integer.le),
    "int_lt": ("I I", integer.lt),
    "int_lin_eq": ("[i] [I] i", linear.eq),
    "int_lin_ne": ("[i] [I] i", linear.ne),
    "int_lin_le": ("[i] [I] i", linear.le),
    "int_plus": ("I I I", operator(ADD)),
    "int_times": ("I I I", operator(MUL)),
    "int_div": ("I I I", integer.divide),
    "int_mod": ("I I I", integer.modulo),
    "int_min": ("I I I", operator(MIN)),
    "int_max": ("I I I", operator(MAX)),
    "int_abs": ("I I", function(integer.absolute)),
    "int_pow": ("I I I", power.power),
    "int_pow_fixed": ("I i I", power.power_fixed),
    "array_int_minimum": ("I [I]", integer.array_minimum),
    "array_int_maximum": ("I [I]", integer.array_maximum),
    "array_int_element": ("I [i] I", integer.constant_element),
    "array_bool_element": ("I [b] B", integer.constant_element),
    "array_var_int_element": ("I [I] I", integer.element),
    "array_var_bool_element": ("I [B] B", integer.element),
    "set_in": ("I s", integer.member),
    "bool2int": ("B I", integer.eq),
    "bool_eq": ("B B", boolean.eq),
    "bool_le": ("B B", boolean.le),
    "bool_lt": ("B B", boolean.lt),
    "bool_not": ("B B", boolean.ne),
    "bool_and": ("B B B", operator(MIN)),
    "bool_or": ("B B B", operator(MAX)),
    "bool_xor": ("B B B", function(boolean.ne)),
    "bool_xor/2": ("B B", boolean.ne),
    "bool_clause": ("[B] [B]", linear.clause),
    "bool_lin_eq": ("[i] [B] I", linear.eq_variable),
    "bool_lin_le": ("[i] [B] i", linear.le),
    "array_bool_and": ("[B] B", function(boolean.conjunction)),
    "array_bool_or": ("[B] B", function(boolean.disjunction)),
    "array_bool_xor": ("[B]", boolean.parity),
    **FLOAT_CONSTRAINTS,
    **GLOBALS,
    **OWN,
}


class Predicate(NamedTuple):
    """What a FlatZinc predicate takes, `post(builder, *arguments)`, and whether the sizes of arguments fit, if they may
    not."""

    kinds: tuple[str, ...]
    post: Post
    fits: Callable[..., bool] | None


def plain(relation: Post) -> Post:
    return lambda b, *arguments: relation(b, *arguments, b.true)


def implied(relation: Post) -> Post:
    """The last argument implies the relation of the others."""

    def post(b: Builder, *arguments: Any) -> None:
        *inputs, condition = arguments
        if b.value(condition) == 1:
            relation(b, *inputs, b.true)
        elif b.value(condition) is None:
            truth = b.variable(0, 1)
            relation(b, *inputs, truth)
            b.define(b.true, LEQ, condition, truth)

    return post


def all_forms() -> dict[str, Predicate]:
    """The predicates by name; a name with "/n" is the form with n arguments of one that has two."""
    predicates = {}
    for name, (kinds, relation) in CONSTRAINTS.items():
        name, _, _ = name.partition("/")
        for suffix, more, post in (
            ("", "", plain(relation)),
            ("_reif", " B", relation),
            ("_imp", " B", implied(relation)),
        ):
            predicate = Predicate(tuple((kinds + more).split()), post, SIZES.get(name))
            key = name + suffix
            predicates[key if key not in predicates else f"{key}/{len(predicate.kinds)}"] = predicate
    # These two are half of their base, not a form of it: the last argument is already a truth value.
    predicates["array_bool_and_imp"] = Predicate(("[B]", "B"), implied(boolean.conjunction), None)
    predicates["array_bool_or_imp"] = Predicate(("[B]", "B"), implied(boolean.disjunction), None)
    return predicates


SIZES = {**SHAPES, **OWN_SHAPES, **{name: same_length(0, 1) for name in CONSTRAINTS if "_lin_" in name}}
PREDICATES = all_forms()
