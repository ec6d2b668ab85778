"""The table of constraints on floats, as that of table.py: kinds of the arguments, and what lowers them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from turbo_fzn.lower import constraints_float as real
from turbo_fzn.lower import elementary
from turbo_fzn.lower.builder import Builder
from turbo_fzn.lower.constraints_float import partial_function, real_function
from turbo_fzn.tnf.language import FLOAT_ADD, FLOAT_ATAN, FLOAT_EXP, FLOAT_MUL, FLOAT_SIN, FLOAT_TAN, MAX, MIN


def row_of(op: int) -> Callable[[Builder, int, int], Any]:
    """y = op(x)."""
    return lambda b, x, y: elementary.unary(b, op, x, y)


# Functions of one number: those that are defined everywhere, and the others.
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

FLOAT_CONSTRAINTS: dict[str, tuple[str, Callable[..., Any]]] = {
    "float_eq": ("F F", real.eq),
    "float_ne": ("F F", real.ne),
    "float_le": ("F F", real.le),
    "float_lt": ("F F", real.lt),
    "float_lin_eq": ("[f] [F] f", real.lin_eq),
    "float_lin_ne": ("[f] [F] f", real.lin_ne),
    "float_lin_le": ("[f] [F] f", real.lin_le),
    "float_lin_lt": ("[f] [F] f", real.lin_lt),
    "float_in": ("F f f", real.within),
    "float_dom": ("F [f]", real.in_ranges),
    "float_plus": ("F F F", real.real_operator(FLOAT_ADD)),
    "float_times": ("F F F", real.real_operator(FLOAT_MUL)),
    "float_div": ("F F F", partial_function(real.divide)),
    "float_pow": ("F F F", partial_function(elementary.power)),
    "float_min": ("F F F", real.real_extreme(MIN)),
    "float_max": ("F F F", real.real_extreme(MAX)),
    "int2float": ("I F", real_function(real.int2float)),
    "bool2float": ("B F", real_function(real.int2float)),
    "array_float_minimum": ("F [F]", real.extreme(MIN)),
    "array_float_maximum": ("F [F]", real.extreme(MAX)),
    "array_float_element": ("I [f] F", real.constant_element),
    "array_var_float_element": ("I [F] F", real.element),
    **{f"float_{name}": ("F F", real_function(define)) for name, define in TOTAL.items()},
    **{f"float_{name}": ("F F", partial_function(define)) for name, define in PARTIAL.items()},
}
