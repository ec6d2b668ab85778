"""Values that no store can hold: the answer is an error or unknown, never a claim."""

from __future__ import annotations

import pytest

from support.overflow import BY_BRANCHING, sum_text
from turbo_fzn import solve_text
from turbo_fzn.base.errors import EngineError, UnsupportedError

UNBOUNDED_PRODUCT = """
var 0..1099511627776: y :: output_var;
var 0..1099511627776: z :: output_var;
var int: x :: output_var;
constraint int_times(y,z,x);
constraint int_lin_le([-1,-1],[y,z],-2199023255552);
solve satisfy;
"""
UNBOUNDED_SQUARE = """
var 0..4000000000: y :: output_var;
var 0..4000000000: w :: output_var;
var int: x :: output_var;
constraint int_lin_le([-1,-1],[y,w],-7000000000);
constraint int_times(y,y,x);
solve satisfy;
"""
UNBOUNDED_TERM = """
var {low}: first :: output_var;
var {high}: second :: output_var;
var 4611686018427387000..4611686018427387900: x :: output_var;
constraint int_plus(first,second,x);
solve satisfy;
"""
NEGATIVE = "-4611686018427387900..-2000"


AT_THE_ROOT = "constraint bool_eq(s,true);"
TEXTS = [
    sum_text(AT_THE_ROOT),
    sum_text(BY_BRANCHING),
    UNBOUNDED_PRODUCT,
    UNBOUNDED_SQUARE,
    UNBOUNDED_TERM.format(low="int", high=NEGATIVE),
    UNBOUNDED_TERM.format(low=NEGATIVE, high="int"),
]


@pytest.mark.covers("G3")
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("simplify", [True, False])
def test_a_solution_beyond_the_store_is_never_called_unsatisfiable(engine, text, simplify):
    try:
        result = solve_text(text, arch=engine, blocks=1, simplify=simplify)
    except (EngineError, UnsupportedError):
        return
    assert result.status == "UNKNOWN"
