"""The fuzzer of nested negations notices a lost solution, a wrong one, a wrong optimum; its values are MiniZinc's."""

from __future__ import annotations

from random import Random

import pytest

from fuzz.batches import Flat
from fuzz.judge import Way
from fuzz.nested import Drawn, State, compare, draw_puzzle, draw_truth, puzzle, releases, states, try_nested
from support.needs import needs_minizinc, needs_npm
from support.releases import RELEASES

FLAT = [
    "array [1..2] of var bool: p_1 :: output_array([1..2]) = [a,b];",
    "array [1..2] of var int: x_1 :: output_array([1..2]) = [0,2];",
    "array [1..5] of var int: inc_1 :: output_array([1..5]) = [0,0,1,0,0];",
    "array [1..5] of var int: ind_1 :: output_array([1..5]) = [0,0,1,0,0];",
]
VARIABLES = ["var bool: a;", "var bool: b;"]
ONLY = State((False, True), (0, 2), frozenset({2}), frozenset({2}))


def verdict(constraint: str) -> str:
    """The verdict where the state ONLY is wanted, of FlatZinc with a constraint over a and b."""
    wanted = puzzle(1, [Drawn("true", lambda state: state == ONLY)])
    return compare(wanted, Flat([*VARIABLES, *FLAT, f"constraint {constraint};"]), Way()).kind


def test_the_right_solutions_are_right():
    assert verdict("bool_lt(a,b)") == "right"


@pytest.mark.parametrize("constraint", ["bool_le(a,b)", "bool_lt(b,a)", "bool_eq(a,true)", "bool_eq(b,false)"])
def test_a_solution_lost_or_added_is_a_fault(constraint):
    assert verdict(constraint) == "wrong"


def test_a_definition_by_its_own_negation_says_nothing():
    assert verdict("bool_not(a,a) :: defines_var(a)") == "undecided"
    assert verdict("bool_not(a,a)") == "wrong"


def test_a_contradiction_is_a_fault_where_there_are_solutions():
    wanted = puzzle(1, [Drawn("true", lambda state: state == ONLY)])
    assert compare(wanted, Flat([], True), Way()).kind == "wrong"
    assert compare(wanted._replace(solutions=[]), Flat([], True), Way()).kind == "right"


def test_a_number_draws_the_same_models_everywhere_and_they_nest():
    some = [draw_puzzle(Random(f"nested/1/{number}"), number) for number in range(30)]
    again = [draw_puzzle(Random(f"nested/1/{number}"), number) for number in range(30)]
    assert [one.block.text for one in some] == [one.block.text for one in again]
    assert len({one.block.text for one in some}) == 30
    assert {bool(one.block.cost) for one in some} == {True, False}
    assert any(0 < len(one.solutions) < len(states()) for one in some)
    text = " ".join(draw_truth(Random(number), 4).text for number in range(300))
    assert all(word in text for word in ("not (not", "subset", "symdiff", "<->", "card", "if ", "xorall"))


@needs_minizinc
@pytest.mark.parametrize("release", ["installed", pytest.param("newest", marks=[needs_npm, pytest.mark.slow])])
def test_a_batch_is_right(monkeypatch, release):
    monkeypatch.setattr("fuzz.nested.BATCH", 4)
    monkeypatch.setattr("fuzz.nested.RELEASES", {release: RELEASES[release]})
    releases.cache_clear()
    verdicts, text = try_nested(Random("nested/1/0"))
    releases.cache_clear()
    assert text == "" and not [verdict for verdict in verdicts if verdict.is_fault]
    assert [verdict.kind for verdict in verdicts].count("right") >= 3
