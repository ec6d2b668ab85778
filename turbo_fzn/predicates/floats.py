"""The builtins of FlatZinc on floats: the signature of each (signature.py).

Symmetries are not searched in models with floats, so no permutations of arguments are given.
"""

from __future__ import annotations

from turbo_fzn.predicates.signature import row

LINEAR = "c [f] n, x [F] n, k f"
OF_FLOATS = "x F, y F, z F"
FUNCTIONS = (
    *("abs", "exp", "sin", "cos", "atan", "sinh", "cosh", "tanh", "asinh"),
    *("sqrt", "ln", "log2", "log10", "tan", "asin", "acos", "acosh", "atanh"),
)

FLOATS = (
    row("float_eq", "x F, y F", defined="y"),
    row("float_ne", "x F, y F"),
    row("float_le", "x F, y F"),
    row("float_lt", "x F, y F"),
    row("float_lin_eq", LINEAR, defined="k"),
    row("float_lin_ne", LINEAR),
    row("float_lin_le", LINEAR),
    row("float_lin_lt", LINEAR),
    row("float_in", "x F, low f, high f"),
    row("float_dom", "x F, ends [f]"),
    row("float_plus", OF_FLOATS, defined="z"),
    row("float_times", OF_FLOATS, defined="z"),
    row("float_div", OF_FLOATS, defined="z"),
    row("float_pow", OF_FLOATS, defined="z"),
    row("float_min", OF_FLOATS, defined="z"),
    row("float_max", OF_FLOATS, defined="z"),
    row("int2float", "x I, y F", defined="y"),
    row("bool2float", "x B, y F", defined="y"),
    row("array_float_minimum", "m F, x [F]", defined="m"),
    row("array_float_maximum", "m F, x [F]", defined="m"),
    row("array_float_element", "i I, x [f], y F", defined="y"),
    row("array_var_float_element", "i I, x [F], y F", defined="y"),
    *(row(f"float_{name}", "x F, y F", defined="y") for name in FUNCTIONS),
)
