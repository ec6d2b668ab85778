"""The presolve of a model: bounds by all cases of an if-then-else, so that threads can learn from conflicts."""

from __future__ import annotations

import pytest

from support.command import write
from support.warm import ask
from turbo_fzn import Model, solve_text

DECLARED = """
var 0..9: x :: output_var;
var int: cost :: output_var;
var bool: b1; var bool: b2; var bool: b3;
var bool: e1; var bool: e2; var bool: e3;
"""
# cost is x + 3, 30 - x or 100 where b1, b2 or b3 holds; one of them does, and b2 just for x <= 4.
CASES = """
constraint bool_clause([b1, b2, b3], []);
constraint bool_clause([e1], [b1]);
constraint bool_clause([e2], [b2]);
constraint bool_clause([e3], [b3]);
constraint int_lin_eq_reif([1, -1], [cost, x], 3, e1);
constraint int_lin_eq_reif([1, 1], [cost, x], 30, e2);
constraint int_eq_reif(cost, 100, e3);
constraint int_le_reif(x, 4, b2);
"""
FIRST = ":: int_search([x], input_order, indomain_min, complete) "


def cases(goal: str, more: str = "") -> str:
    return f"{DECLARED}{more}{CASES}solve {goal};\n"


def presolve_line(errors: str) -> str:
    return next((line for line in errors.splitlines() if "presolve: " in line), "")


@pytest.mark.parametrize("goal", ["minimize cost", "maximize cost", "satisfy"])
@pytest.mark.parametrize("annotation", ["", FIRST])
def test_a_variable_that_all_cases_bound_lets_threads_learn(tmp_path, goal, annotation):
    answer = ask("--arch", "cpu", "-v", write(tmp_path, cases(annotation + goal)))
    assert "no learning" not in answer.errors
    assert presolve_line(answer.errors).endswith("variables without bounds: 2, then 0")


@pytest.mark.parametrize(("goal", "cost"), [("minimize cost", 8), ("maximize cost", 100)])
@pytest.mark.parametrize("settings", [{}, {"learn": "soloist", "threads": 1}, {"free_search": True}])
def test_the_optimum_stays(goal, cost, settings):
    result = solve_text(cases(goal), arch="cpu", **settings)
    assert result.status == "OPTIMAL_SOLUTION" and result.objective == cost


def test_a_proof_is_about_the_model_without_what_probing_finds(tmp_path):
    answer = ask("--proof", tmp_path / "p.pbp", "-v", write(tmp_path, cases("minimize cost")))
    assert "finite bounds" in answer.errors and presolve_line(answer.errors) == ""


def test_a_model_that_is_solved_often_is_bounded_once_and_for_all():
    model = Model(cases("minimize cost"), arch="cpu")
    costs = [model.solve(assume={"x": value}).objective for value in (0, 7, 9)]
    assert costs == [30, 10, 12]
    assert [model.solve(assume={"x": value}, goal="maximize cost").objective for value in (2, 9)] == [28, 100]
    assert model.solve(assume={"cost": (29, 99)}).objective == 29
    assert model.solve(assume={"cost": (101, None)}).status == "UNSATISFIABLE"


@pytest.mark.parametrize("constraint", ["int_le(0, free)", "int_le(free, cost)", "int_lin_le([1, -1], [free, x], 5)"])
def test_what_nothing_bounds_is_blamed(tmp_path, constraint):
    text = f"{DECLARED}var int: free :: output_var;\n{CASES}constraint {constraint};\nsolve satisfy;\n"
    errors = ask("--arch", "cpu", "-v", "-t", "20000", write(tmp_path, text)).errors
    assert "no learning: free has no bounds" in errors


@pytest.mark.parametrize(
    ("flags", "reason"), [(("-a",), "several solutions are wanted"), (("--learn", "off"), "--learn off")]
)
def test_other_reasons_are_told_too(tmp_path, flags, reason):
    text = "var 0..3: x :: output_var;\nconstraint int_ne(x, 2);\nsolve satisfy;\n"
    assert f"no learning: {reason}" in ask("--arch", "cpu", "-v", *flags, write(tmp_path, text)).errors
    assert "no learning" not in ask("--arch", "cpu", "-v", write(tmp_path, text)).errors
