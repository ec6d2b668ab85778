"""The table of constraints: FlatZinc predicate -> the functions that lower it. Its signature is in predicates/.

A global constraint is lowered by the module of its family in globals/, which has its own table at its end.

Every function `post` is called with the builder, the bound arguments (by kind, see signature.py), and last the variable
r that is the relation's truth value. So a row defines three predicates: the plain form (r = true), `_reif` (r is its
last argument) and `_imp` (its last argument implies r). Functions such as `x + y = z` are written as definitions of
their result, and `function` turns them into relations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from turbo_fzn.base.domains import INFINITY
from turbo_fzn.lower import constraints_bool as boolean
from turbo_fzn.lower import constraints_int as integer
from turbo_fzn.lower import early, linear, power
from turbo_fzn.lower.builder import RowBuilder
from turbo_fzn.lower.expressions import int_expression
from turbo_fzn.lower.families import narrowers, posts
from turbo_fzn.lower.narrow import Narrower
from turbo_fzn.predicates.signature import IMPLIED, PLAIN, REIFIED, Fits
from turbo_fzn.predicates.table import PREDICATES as SIGNATURES
from turbo_fzn.predicates.table import Form
from turbo_fzn.tnf.language import ADD, EQ, LEQ, MAX, MIN, MUL

Post = Callable[..., Any]
States = Mapping[str, Callable[..., None]]


def function(define: Post) -> Post:
    """The relation of a total function: `define(builder, *arguments, result)` states the plain constraint."""

    def post(b: RowBuilder, *arguments: Any) -> None:
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


class Lowering(NamedTuple):
    """The lowering of a predicate.

    `post(builder, *arguments, r)` states it. `early` may state the plain form before any row exists (early.py). A plain
    form that is `late` is lowered after the others, so that it can use their results. `columns` has, by the suffix of a
    form, the function that states many constraints of that form at once (runs.py)."""

    post: Post
    early: early.Handler | None = None
    late: bool = False
    columns: States = {}


AT_MOST: States = {
    PLAIN: lambda c, x, y: c.define(0, c.b.true, LEQ, x, y),
    REIFIED: lambda c, x, y, r: c.define(0, r, LEQ, x, y),
}
EQUAL: States = {REIFIED: lambda c, x, y, r: c.define(0, r, EQ, x, y)}
DIFFERENT: States = {PLAIN: lambda c, x, y: c.define(0, c.b.false, EQ, x, y)}
LESS: States = {PLAIN: lambda c, x, y: c.define_less(0, x, y)}

CONSTRAINTS: dict[str, Lowering] = {
    "int_eq": Lowering(integer.eq, early.equal, columns=EQUAL),
    "int_ne": Lowering(integer.ne, early.different, columns=DIFFERENT),
    "int_le": Lowering(integer.le, early.less_or_equal, columns=AT_MOST),
    "int_lt": Lowering(integer.lt, early.less, columns=LESS),
    "int_lin_eq": Lowering(linear.eq, early.single_equal, late=True),
    "int_lin_ne": Lowering(linear.ne, early.single_different, late=True),
    "int_lin_le": Lowering(linear.le, early.single_less_or_equal, late=True),
    "int_plus": Lowering(operator(ADD)),
    "int_times": Lowering(operator(MUL)),
    "int_div": Lowering(integer.divide),
    "int_mod": Lowering(integer.modulo),
    "int_min": Lowering(operator(MIN)),
    "int_max": Lowering(operator(MAX)),
    "int_abs": Lowering(function(integer.absolute)),
    "int_pow": Lowering(power.power),
    "int_pow_fixed": Lowering(power.power_fixed),
    "array_int_minimum": Lowering(integer.array_minimum),
    "array_int_maximum": Lowering(integer.array_maximum),
    "array_int_element": Lowering(integer.constant_element),
    "array_bool_element": Lowering(integer.constant_element),
    "array_var_int_element": Lowering(integer.element),
    "array_var_bool_element": Lowering(integer.element),
    "set_in": Lowering(integer.member, early.member),
    "bool2int": Lowering(integer.eq, early.equal),
    "bool_eq": Lowering(boolean.eq, early.equal, columns=EQUAL),
    "bool_le": Lowering(boolean.le, columns=AT_MOST),
    "bool_lt": Lowering(boolean.lt),
    "bool_not": Lowering(boolean.ne),
    "bool_and": Lowering(operator(MIN)),
    "bool_or": Lowering(operator(MAX)),
    "bool_xor": Lowering(function(boolean.ne)),
    "bool_xor/2": Lowering(boolean.ne),
    "bool_clause": Lowering(linear.clause, late=True),
    "bool_lin_eq": Lowering(linear.eq_variable, late=True),
    "bool_lin_le": Lowering(linear.le, late=True),
    "array_bool_and": Lowering(function(boolean.conjunction)),
    "array_bool_and/1": Lowering(boolean.conjunction),
    "array_bool_or": Lowering(function(boolean.disjunction), late=True),
    "array_bool_or/1": Lowering(boolean.disjunction),
    "array_bool_xor": Lowering(boolean.parity),
    "int_expression": Lowering(int_expression),
    **{name: Lowering(post) for name, post in posts().items()},
}
EARLY = {name: how.early for name, how in CONSTRAINTS.items() if how.early is not None}
NARROWERS: dict[str, Narrower] = narrowers()
LATE = frozenset(name for name, how in CONSTRAINTS.items() if how.late)


class Predicate(NamedTuple):
    """A FlatZinc predicate: the kinds of its arguments, `post(builder, *arguments)`, and a check of the arguments'
    sizes where these may be wrong."""

    kinds: tuple[str, ...]
    post: Post
    fits: Fits | None


def plain(relation: Post) -> Post:
    return lambda b, *arguments: relation(b, *arguments, b.true)


def implied(relation: Post) -> Post:
    """The implied form of a relation: the last argument implies the relation of the others."""

    def post(b: RowBuilder, *arguments: Any) -> None:
        *inputs, condition = arguments
        if b.value(condition) == 1:
            relation(b, *inputs, b.true)
        elif b.value(condition) is None:
            truth = b.variable(0, 1)
            relation(b, *inputs, truth)
            b.define(b.true, LEQ, condition, truth)

    return post


IN_FORM: dict[str, Callable[[Post], Post]] = {PLAIN: plain, REIFIED: lambda relation: relation, IMPLIED: implied}


def _all_forms() -> dict[str, Predicate]:
    """The predicates by name; for a name with two forms, "name/n" is the form with n arguments."""
    predicates: dict[str, Predicate] = {}
    for name, how in CONSTRAINTS.items():
        signature = SIGNATURES[name]
        for suffix in signature.forms:
            kinds = Form(signature, suffix).kinds
            key = name.partition("/")[0] + suffix
            key = key if key not in predicates else f"{key}/{len(kinds)}"
            predicates[key] = Predicate(kinds, IN_FORM[suffix](how.post), signature.fits)
    return predicates


PREDICATES = _all_forms()
