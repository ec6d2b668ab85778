"""What every FlatZinc predicate means: one table, in exact Python integers.

This is the reference that solutions are checked against, so it shares nothing with the lowering. A row says the kinds
of a predicate's arguments and when it holds; the forms with a suffix follow from their base: `p_reif(…, b)` is
b = p(…), `p_imp(…, b)` is b implies p(…). Booleans are 0 and 1. A partial function outside its domain (division by
zero, index out of range, maximum of nothing) makes its constraint false. The meanings are those of the comments in
MiniZinc's `flatzinc_builtins.mzn`. Those of the global constraints have a file of their own, meanings.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

from turbo_fzn.check.meanings import MEANINGS, is_member
from turbo_fzn.check.own import OWN_MEANINGS


def divide(x: Any, y: Any) -> Any:
    """x div y, truncated towards 0, of numbers or of columns of them; y is not 0."""
    return abs(x) // abs(y) * (1 - 2 * ((x < 0) != (y < 0)))


def is_power(x: int, y: int, z: int) -> bool:
    """x^y = z, and for negative y: 1 div x^|y| = z, false for x = 0. Never computes a power much larger than z."""
    if y < 0:
        return x != 0 and z == (0 if abs(x) > 1 else x ** (y % 2))
    return (abs(x) <= 1 or y <= z.bit_length()) and x**y == z


def dot(coefficients: Sequence[int], values: Sequence[int]) -> int:
    return sum(c * x for c, x in zip(coefficients, values))


def is_element(i: int, values: Sequence[int], z: int) -> bool:
    return 1 <= i <= len(values) and values[i - 1] == z


# The meaning of every predicate. Kinds of arguments: i a scalar, a an array, s a set, t constants in an array, e an
# expression.
# A name with "/n" is the form with n arguments of a predicate that has two. The Boolean connectives have it because
# their last argument is a reification already: solvers agree that `array_bool_and_imp(xs, r)` is r -> all(xs).
RELATIONS: dict[str, tuple[str, Callable]] = {
    "int_eq": ("ii", lambda x, y: x == y),
    "int_ne": ("ii", lambda x, y: x != y),
    "int_le": ("ii", lambda x, y: x <= y),
    "int_lt": ("ii", lambda x, y: x < y),
    "int_lin_eq": ("aai", lambda c, x, k: dot(c, x) == k),
    "int_lin_ne": ("aai", lambda c, x, k: dot(c, x) != k),
    "int_lin_le": ("aai", lambda c, x, k: dot(c, x) <= k),
    "int_plus": ("iii", lambda x, y, z: x + y == z),
    "int_times": ("iii", lambda x, y, z: x * y == z),
    "int_div": ("iii", lambda x, y, z: y != 0 and divide(x, y) == z),
    "int_mod": ("iii", lambda x, y, z: y != 0 and x - y * divide(x, y) == z),
    "int_min": ("iii", lambda x, y, z: min(x, y) == z),
    "int_max": ("iii", lambda x, y, z: max(x, y) == z),
    "int_abs": ("ii", lambda x, y: abs(x) == y),
    "int_pow": ("iii", is_power),
    "int_pow_fixed": ("iii", is_power),
    "set_in": ("is", is_member),
    "bool2int": ("ii", lambda x, y: x == y),
    "array_int_element": ("iai", is_element),
    "array_var_int_element": ("iai", is_element),
    "array_bool_element": ("iai", is_element),
    "array_var_bool_element": ("iai", is_element),
    "array_int_maximum": ("ia", lambda m, xs: len(xs) > 0 and max(xs) == m),
    "array_int_minimum": ("ia", lambda m, xs: len(xs) > 0 and min(xs) == m),
    "bool_eq": ("ii", lambda x, y: x == y),
    "bool_le": ("ii", lambda x, y: x <= y),
    "bool_lt": ("ii", lambda x, y: x < y),
    "bool_not": ("ii", lambda x, y: x != y),
    "bool_and": ("iii", lambda x, y, r: min(x, y) == r),
    "bool_or": ("iii", lambda x, y, r: max(x, y) == r),
    "bool_xor": ("iii", lambda x, y, r: (x != y) == r),
    "bool_and/2": ("ii", lambda x, y: min(x, y) == 1),
    "bool_or/2": ("ii", lambda x, y: max(x, y) == 1),
    "bool_xor/2": ("ii", lambda x, y: x != y),
    "bool_clause": ("aa", lambda positive, negative: any(positive) or not all(negative)),
    "array_bool_and": ("ai", lambda xs, r: all(xs) == r),
    "array_bool_or": ("ai", lambda xs, r: any(xs) == r),
    "array_bool_and/1": ("a", lambda xs: all(xs)),
    "array_bool_or/1": ("a", lambda xs: any(xs)),
    "array_bool_xor": ("a", lambda xs: sum(xs) % 2 == 1),
    "bool_lin_eq": ("aai", lambda c, x, k: dot(c, x) == k),
    "bool_lin_le": ("aai", lambda c, x, k: dot(c, x) <= k),
    **MEANINGS,
    **OWN_MEANINGS,
}
EQUAL_LENGTHS = {"int_lin_eq", "int_lin_ne", "int_lin_le", "bool_lin_eq", "bool_lin_le"}

# How a form with a suffix follows from its base; the last argument is the Boolean. Works on values and on columns.
FORMS: dict[str, Callable[[Callable], Callable]] = {
    "_reif": lambda relation: lambda *args: args[-1] == relation(*args[:-1]),
    "_imp": lambda relation: lambda *args: args[-1] <= relation(*args[:-1]),
    "": lambda relation: relation,
}


class Signature(NamedTuple):
    """What a predicate's name says: its base relation, the kinds of its arguments, and how its form follows."""

    base: str
    kinds: str
    form: Callable[[Callable], Callable]

    @property
    def relation(self) -> Callable[..., bool]:
        return self.form(RELATIONS[self.base][1])


@cache
def find_signature(name: str, n_args: int) -> Signature | None:
    """The signature of a predicate in any of its forms, or None where there is none of that name."""
    suffix = next(suffix for suffix in FORMS if name.endswith(suffix))
    base = name.removesuffix(suffix)
    binary = f"{base}/{n_args - bool(suffix)}"
    base = binary if binary in RELATIONS else base
    if base not in RELATIONS:
        return None
    return Signature(base, RELATIONS[base][0] + "i" * bool(suffix), FORMS[suffix])
