"""The table of constraints on floats, in the form of table.py: the function that lowers each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from turbo_fzn.lower import constraints_float as real
from turbo_fzn.lower import elementary
from turbo_fzn.lower.builder import RowBuilder
from turbo_fzn.lower.constraints_float import partial_function, real_function
from turbo_fzn.tnf.language import FLOAT_ADD, FLOAT_ATAN, FLOAT_EXP, FLOAT_MUL, FLOAT_SIN, FLOAT_TAN, MAX, MIN


def row_of(op: int) -> Callable[[RowBuilder, int, int], Any]:
    """The function that states y = op(x) by one row."""
    return lambda b, x, y: elementary.unary(b, op, x, y)


# Functions of one number: total functions, and partial functions.
TOTAL = {
    "abs": real.absolute,
    "exp": row_of(FLOAT_EXP),
    "sin": row_of(FLOAT_SIN),
    "cos": elementary.cosine,
    "atan": row_of(FLOAT_ATAN),
    "sinh": elementary.hyperbolic_sine,
    "cosh": elementary.hyperbolic_cosine,
    "tanh": elementary.hyperbolic_tangent,
    "asinh": lambda b, x, y: elementary.hyperbolic_sine(b, y, x),
}
PARTIAL = {
    "sqrt": elementary.root,
    "ln": elementary.logarithm,
    "log2": elementary.logarithm_to(elementary.LN_2),
    "log10": elementary.logarithm_to(elementary.LN_10),
    "tan": row_of(FLOAT_TAN),
    "asin": elementary.arc_sine,
    "acos": elementary.arc_cosine,
    "acosh": elementary.area_cosine,
    "atanh": lambda b, x, y: elementary.hyperbolic_tangent(b, y, x),
}

LOWERINGS: dict[str, Callable[..., Any]] = {
    "float_eq": real.eq,
    "float_ne": real.ne,
    "float_le": real.le,
    "float_lt": real.lt,
    "float_lin_eq": real.lin_eq,
    "float_lin_ne": real.lin_ne,
    "float_lin_le": real.lin_le,
    "float_lin_lt": real.lin_lt,
    "float_in": real.within,
    "float_dom": real.in_ranges,
    "float_plus": real.real_operator(FLOAT_ADD),
    "float_times": real.real_operator(FLOAT_MUL),
    "float_div": partial_function(real.divide),
    "float_pow": partial_function(elementary.power),
    "float_min": real.real_extreme(MIN),
    "float_max": real.real_extreme(MAX),
    "int2float": real_function(real.int2float),
    "bool2float": real_function(real.int2float),
    "array_float_minimum": real.extreme(MIN),
    "array_float_maximum": real.extreme(MAX),
    "array_float_element": real.constant_element,
    "array_var_float_element": real.element,
    **{f"float_{name}": real_function(define) for name, define in TOTAL.items()},
    **{f"float_{name}": partial_function(define) for name, define in PARTIAL.items()},
}
