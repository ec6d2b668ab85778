"""What each operator of an expression means, pinned by hand, and what no FlatZinc has of constraints."""

from __future__ import annotations

import numpy as np
import pytest

from turbo_fzn.check.expressions import OPERATIONS, Undefined, holds, value_of
from turbo_fzn.check.own import OWN_MEANINGS
from turbo_fzn.lower.expressions import BINARY, PARTIAL
from turbo_fzn.lower.expressions import OPERATIONS as LOWERED
from turbo_fzn.read.xcsp3.expressions import ARITY, read_expression

PINS = {
    "add(1,2,-4)": -1,
    "sub(1,3)": -2,
    "mul(2,-3,4)": -24,
    "div(-7,2)": -3,
    "div(7,-2)": -3,
    "mod(-7,2)": -1,
    "mod(7,-2)": 1,
    "pow(-2,3)": -8,
    "pow(-1,-3)": -1,
    "pow(5,-2)": 0,
    "pow(0,0)": 1,
    "neg(4)": -4,
    "abs(-4)": 4,
    "sqr(-3)": 9,
    "dist(2,7)": 5,
    "min(3,1,2)": 1,
    "max(3,1,2)": 3,
    "if(0,5,6)": 6,
    "if(2,5,6)": 5,
    "eq(1,1,1)": 1,
    "eq(1,1,2)": 0,
    "ne(1,2)": 1,
    "lt(1,1)": 0,
    "le(1,1)": 1,
    "ge(1,2)": 0,
    "gt(2,1)": 1,
    "not(0)": 1,
    "not(3)": 0,
    "and(1,2)": 1,
    "and(1,0)": 0,
    "or(0,0,1)": 1,
    "xor(1,1,1)": 1,
    "xor(1,1)": 0,
    "iff(0,0,0)": 1,
    "iff(1,0)": 0,
    "imp(0,0)": 1,
    "imp(1,0)": 0,
    "in(3,set(1,3))": 1,
    "in(3,set())": 0,
    "in(3,set(1,2..4))": 1,
    "in(3,4..9)": 0,
    "notin(3,set(1,2))": 1,
}


@pytest.mark.parametrize("text", PINS)
def test_an_expression_of_constants_has_its_value(text):
    assert int(value_of(read_expression(text).expression, [])) == PINS[text]


@pytest.mark.parametrize("text", ["div(1,0)", "mod(1,0)", "pow(0,-1)", "or(1,eq(div(1,0),1))"])
def test_what_is_not_defined_does_not_hold(text):
    expression = read_expression(text).expression
    assert not holds(expression, [])
    with pytest.raises(Undefined):
        value_of(expression, [])


def test_every_operator_is_pinned_read_and_lowered():
    pinned = {text.partition("(")[0] for text in PINS} | {"set"}
    assert pinned == set(OPERATIONS) == set(ARITY) == set(LOWERED) | set(BINARY) | set(PARTIAL)


def test_an_expression_is_shown_as_it_is_written():
    assert str(read_expression("le(add(x,3),in(y,set(1,2..5)))").expression) == "le(add(%0,3),in(%1,set(1,2..5)))"


def test_elements_and_interval_tables_hold_as_pinned():
    is_at, is_within = OWN_MEANINGS["turbo_element"], OWN_MEANINGS["turbo_table_interval"]
    assert is_at([4, 5, 6], 0, 2, 6)
    assert not is_at([4, 5, 6], 0, 3, 6)
    assert not is_at([4, 5, 6], 1, 0, 6)
    low, high = np.array([0, 2, 5, 5]), np.array([3, 2, 9, 5])
    assert is_within([3, 2], 2, low, high)
    assert not is_within([3, 5], 2, low, high)
    assert is_within([7, 5], 2, low, high)
    assert not is_within([], 0, low[:0], high[:0])
