"""The builtins of FlatZinc on integers and Booleans: the signature of each (signature.py).

For a predicate with two forms, "name/n" is the form with n arguments. `array_bool_and` and `array_bool_or` have a truth
value already, so `_imp` replaces it: by convention of solvers `array_bool_and_imp(xs, r)` is r -> all(xs).
"""

from __future__ import annotations

from turbo_fzn.predicates.signature import IMPLIED, PLAIN, REIFIED, row

LINEAR = "c [i] n, x [I] n, k i"
OF_INTEGERS = "x I, y I, z I"
OF_BOOLEANS = "x B, y B, r B"

BUILTINS = (
    row("int_eq", "x I, y I", commutes=True, defined="y"),
    row("int_ne", "x I, y I", commutes=True),
    row("int_le", "x I, y I"),
    row("int_lt", "x I, y I"),
    row("int_lin_eq", LINEAR, unordered=("c x",), defined="k"),
    row("int_lin_ne", LINEAR, unordered=("c x",)),
    row("int_lin_le", LINEAR, unordered=("c x",)),
    row("int_plus", OF_INTEGERS, commutes=True, defined="z"),
    row("int_times", OF_INTEGERS, commutes=True, defined="z"),
    row("int_div", OF_INTEGERS, defined="z"),
    row("int_mod", OF_INTEGERS, defined="z"),
    row("int_min", OF_INTEGERS, commutes=True, defined="z"),
    row("int_max", OF_INTEGERS, commutes=True, defined="z"),
    row("int_abs", "x I, y I", defined="y"),
    row("int_pow", OF_INTEGERS, defined="z"),
    row("int_pow_fixed", "x I, y i, z I", defined="z"),
    row("set_in", "x I, y s"),
    row("bool2int", "x B, y I", defined="y"),
    row("array_int_element", "i I, x [i], y I", defined="y"),
    row("array_var_int_element", "i I, x [I], y I", defined="y"),
    row("array_bool_element", "i I, x [b], y B", defined="y"),
    row("array_var_bool_element", "i I, x [B], y B", defined="y"),
    row("array_int_maximum", "m I, x [I]", unordered=("x",), defined="m"),
    row("array_int_minimum", "m I, x [I]", unordered=("x",), defined="m"),
    row("bool_eq", "x B, y B", commutes=True, defined="y"),
    row("bool_le", "x B, y B"),
    row("bool_lt", "x B, y B"),
    row("bool_not", "x B, y B", commutes=True, defined="y"),
    row("bool_and", OF_BOOLEANS, commutes=True, defined="r"),
    row("bool_or", OF_BOOLEANS, commutes=True, defined="r"),
    row("bool_xor", OF_BOOLEANS, commutes=True, defined="r"),
    row("bool_xor/2", "x B, y B", commutes=True, defined="y"),
    row("bool_clause", "as [B], bs [B]", unordered=("as", "bs")),
    row("array_bool_and", "as [B], r B", unordered=("as",), defined="r", forms=(PLAIN, REIFIED)),
    row("array_bool_and/1", "as [B]", unordered=("as",), forms=(IMPLIED,)),
    row("array_bool_or", "as [B], r B", unordered=("as",), defined="r", forms=(PLAIN, REIFIED)),
    row("array_bool_or/1", "as [B]", unordered=("as",), forms=(IMPLIED,)),
    row("array_bool_xor", "as [B]", unordered=("as",)),
    row("bool_lin_eq", "as [i] n, bs [B] n, c I", unordered=("as bs",), defined="c"),
    row("bool_lin_le", "as [i] n, bs [B] n, c i", unordered=("as bs",)),
)
