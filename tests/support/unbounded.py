"""Models whose objective has no bound."""

from __future__ import annotations

MODELS = {
    "alone": "var int: x :: output_var; solve minimize x;",
    "bounded on the other side": "var int: x :: output_var; constraint int_le(x,7); solve minimize x;",
    "beside a model": "var int: x :: output_var; var 0..3: y; constraint int_times(y,y,4); solve maximize x;",
    "below another": "var int: x :: output_var; var int: y; constraint int_le(x,y); solve maximize x;",
    "a sum": "var int: x; var int: y; var int: o :: output_var; constraint int_lin_eq([3,2,-1],[x,y,o],0);"
    "constraint int_lin_le([-1,-1],[x,y],-10); constraint int_le(x,5); solve maximize o;",
    "a half": "var int: x :: output_var; var int: y; constraint int_lin_eq([2,-3],[y,x],1); solve maximize x;",
    "a last end": "var 0..5: x; var int: y; var int: o :: output_var; constraint array_int_maximum(o,[x,y]);"
    "solve maximize o;",
    "real": "var float: x :: output_var; solve minimize x;",
    "real, of a model": "var float: x :: output_var; var 0.0..4.0: y; constraint float_times(y,y,4.0);"
    "solve maximize x;",
}
