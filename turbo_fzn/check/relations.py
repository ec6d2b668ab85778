"""The meaning of every FlatZinc predicate: one table, in exact Python integers.

This is the reference that solutions are checked against, so it shares only the signatures of predicates/ with the
lowering. A row is a function that tests whether a predicate holds; the forms with a suffix follow from their base:
`p_reif(…, b)` is b = p(…), `p_imp(…, b)` is b implies p(…). Booleans are 0 and 1. A partial function outside its domain
(division by zero, index out of range, maximum of an empty array) makes its constraint false. The meanings follow the
comments in MiniZinc's `flatzinc_builtins.mzn`. Global constraints are in meanings.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

from turbo_fzn.check.meanings import MEANINGS, is_member
from turbo_fzn.check.own import OWN_MEANINGS
from turbo_fzn.predicates.signature import IMPLIED, PLAIN, REIFIED
from turbo_fzn.predicates.table import find


def divide(x: Any, y: Any) -> Any:
    """x div y, truncated towards 0, of numbers or of columns of them; y is not 0."""
    return abs(x) // abs(y) * (1 - 2 * ((x < 0) != (y < 0)))


def _is_power(x: int, y: int, z: int) -> bool:
    """Whether x^y = z; for negative y, whether 1 div x^|y| = z, false for x = 0. Computes no power much larger than
    z."""
    if y < 0:
        return x != 0 and z == (0 if abs(x) > 1 else x ** (y % 2))
    return (abs(x) <= 1 or y <= z.bit_length()) and x**y == z


def dot(coefficients: Sequence[int], values: Sequence[int]) -> int:
    return sum(c * x for c, x in zip(coefficients, values))


def _is_element(i: int, values: Sequence[int], z: int) -> bool:
    return 1 <= i <= len(values) and values[i - 1] == z


# The meaning of every predicate on integers and Booleans, by its name in predicates/.
RELATIONS: dict[str, Callable] = {
    "int_eq": lambda x, y: x == y,
    "int_ne": lambda x, y: x != y,
    "int_le": lambda x, y: x <= y,
    "int_lt": lambda x, y: x < y,
    "int_lin_eq": lambda c, x, k: dot(c, x) == k,
    "int_lin_ne": lambda c, x, k: dot(c, x) != k,
    "int_lin_le": lambda c, x, k: dot(c, x) <= k,
    "int_plus": lambda x, y, z: x + y == z,
    "int_times": lambda x, y, z: x * y == z,
    "int_div": lambda x, y, z: y != 0 and divide(x, y) == z,
    "int_mod": lambda x, y, z: y != 0 and x - y * divide(x, y) == z,
    "int_min": lambda x, y, z: min(x, y) == z,
    "int_max": lambda x, y, z: max(x, y) == z,
    "int_abs": lambda x, y: abs(x) == y,
    "int_pow": _is_power,
    "int_pow_fixed": _is_power,
    "set_in": is_member,
    "bool2int": lambda x, y: x == y,
    "array_int_element": _is_element,
    "array_var_int_element": _is_element,
    "array_bool_element": _is_element,
    "array_var_bool_element": _is_element,
    "array_int_maximum": lambda m, xs: len(xs) > 0 and max(xs) == m,
    "array_int_minimum": lambda m, xs: len(xs) > 0 and min(xs) == m,
    "bool_eq": lambda x, y: x == y,
    "bool_le": lambda x, y: x <= y,
    "bool_lt": lambda x, y: x < y,
    "bool_not": lambda x, y: x != y,
    "bool_and": lambda x, y, r: min(x, y) == r,
    "bool_or": lambda x, y, r: max(x, y) == r,
    "bool_xor": lambda x, y, r: (x != y) == r,
    "bool_xor/2": lambda x, y: x != y,
    "bool_clause": lambda positive, negative: any(positive) or not all(negative),
    "array_bool_and": lambda xs, r: all(xs) == r,
    "array_bool_or": lambda xs, r: any(xs) == r,
    "array_bool_and/1": lambda xs: all(xs),
    "array_bool_or/1": lambda xs: any(xs),
    "array_bool_xor": lambda xs: sum(xs) % 2 == 1,
    "bool_lin_eq": lambda c, x, k: dot(c, x) == k,
    "bool_lin_le": lambda c, x, k: dot(c, x) <= k,
    **MEANINGS,
    **OWN_MEANINGS,
}

# The forms with a suffix, from their base; the last argument is the Boolean. Values and columns are both possible.
FORMS: dict[str, Callable[[Callable], Callable]] = {
    REIFIED: lambda relation: lambda *args: args[-1] == relation(*args[:-1]),
    IMPLIED: lambda relation: lambda *args: args[-1] <= relation(*args[:-1]),
    PLAIN: lambda relation: relation,
}


# What a meaning gets for an argument: i a number, a a list of numbers, s a set, t constants in an array that are looked
# at as a whole, e an expression. Booleans are numbers.
KINDS = {
    **dict.fromkeys(("I", "B", "i"), "i"),
    **dict.fromkeys(("[I]", "[B]", "[[I]]", "[i]", "[b]"), "a"),
    **dict.fromkeys(("[[i]]", "[[b]]", "[s]"), "t"),
    "s": "s",
    "e": "e",
}


class Signature(NamedTuple):
    """The signature of a predicate: its base relation, the kinds of its arguments (of KINDS), those that are arrays of
    one length, and the function of its form."""

    base: str
    kinds: str
    alike: tuple[tuple[int, ...], ...]
    form: Callable[[Callable], Callable]

    @property
    def relation(self) -> Callable[..., bool]:
        return self.form(RELATIONS[self.base])


@cache
def find_signature(name: str, n_args: int) -> Signature | None:
    """The signature of a predicate in any of its forms; if it has no form with `n_args` arguments, the signature of
    another form; None for an unknown name and for predicates on floats."""
    found = find(name, n_args)
    if found is None or found.predicate.name not in RELATIONS:
        return None
    kinds = "".join(KINDS[kind] for kind in found.kinds)
    return Signature(found.predicate.name, kinds, found.predicate.alike, FORMS[found.suffix])
