"""The presolve of a model: bounds by all cases of an if-then-else, so that threads can learn from conflicts."""

from __future__ import annotations

import re
from itertools import combinations

import numpy as np
import pytest

from support.command import write
from support.relaxations import beside_a, prepared_of, unsolved
from support.warm import ask
from turbo_fzn import Model, solve_text
from turbo_fzn.run.bounding import root_bounds

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


# Nobody but probing sees that a fails (it needs b and c, which are not both), that e and f are the same (each is
# implied by the other one's way through g and h), and that of t1, t2, t3 at most one is true: each gives y its value.
TRUTHS = """
var bool: a :: output_var; var bool: b :: output_var; var bool: c :: output_var;
var bool: e :: output_var; var bool: f :: output_var; var bool: g; var bool: h;
var 0..1: t1 :: output_var; var 0..1: t2 :: output_var; var 0..1: t3 :: output_var; var 1..3: y :: output_var;
var 0..3: total :: output_var;
constraint bool_clause([b], [a]);
constraint bool_clause([c], [a]);
constraint bool_clause([], [b, c]);
constraint bool_clause([g], [e]);
constraint bool_clause([f], [g]);
constraint bool_clause([h], [f]);
constraint bool_clause([e], [h]);
constraint int_lin_le([-1, 1], [y, t1], 0);
constraint int_lin_le([1, 2], [y, t1], 3);
constraint int_lin_le([-1, 2], [y, t2], 0);
constraint int_lin_le([1, 1], [y, t2], 3);
constraint int_lin_le([-1, 3], [y, t3], 0);
constraint int_lin_eq([1, 1, 1, -1], [t1, t2, t3, total], 0);
"""


def all_of(text: str, **settings) -> set[tuple]:
    result = solve_text(text, all_solutions=True, arch="cpu", **settings)
    assert result.status == "ALL_SOLUTIONS"
    found = [tuple(sorted(solution.items())) for solution in result.solutions]
    assert len(found) == len(set(found))
    return set(found)


def test_the_line_tells_what_was_found(tmp_path):
    line = presolve_line(ask("-v", write(tmp_path, f"{TRUTHS}solve maximize total;\n")).errors)
    assert re.search(r" \d+ probes, \d failed, 1 variables fixed, 3 equal$", line)


def test_all_solutions_stay_and_each_is_found_once():
    text = f"{TRUTHS}solve satisfy;\n"
    plain = all_of(text, simplify=False)
    assert all_of(text) == plain and len(plain) == 3 * 2 * (3 + 3)  # b, c; e; of each y no t or its own


def test_warm_calls_know_what_was_found():
    model = Model(f"{TRUTHS}solve satisfy;\n", arch="cpu")
    assert model.solve(assume={"a": True}).status == "UNSATISFIABLE"
    assert model.solve(assume={"e": True, "f": False}).status == "UNSATISFIABLE"
    assert model.solve(assume={"e": True}).solutions[-1]["f"] is True
    assert model.solve(assume={"t2": 1}, goal="maximize total").objective == 1


def test_a_core_names_the_constraints_and_not_what_follows_from_them(tmp_path):
    """Each clause of a and b is needed, though probing alone refutes the model."""
    clauses = ["[a,b],[]", "[a],[b]", "[b],[a]", "[],[a,b]"]
    text = "var bool: a; var bool: b; var bool: c;\nconstraint bool_clause([c],[a]);\n"
    text += "".join(f"constraint bool_clause({clause});\n" for clause in clauses) + "solve satisfy;\n"
    answer = ask("--explain", write(tmp_path, text))
    assert all(f"bool_clause({clause})" in answer.text for clause in clauses)
    assert "bool_clause([c],[a])" not in answer.text


def test_a_projection_has_each_assignment_once(tmp_path):
    answer = ask("-a", "--project", "e,f,y", write(tmp_path, f"{TRUTHS}solve satisfy;\n"))
    assert answer.text.count("----------") == 2 * 3 and "==========" in answer.text


@pytest.mark.slow  # kernels of their own
def test_a_proof_has_no_presolve_of_truths(tmp_path):
    answer = ask("--proof", tmp_path / "p.pbp", "-v", write(tmp_path, f"{TRUTHS}solve maximize total;\n"))
    assert presolve_line(answer.errors) == "" and "==========" in answer.text


def test_the_relaxation_cuts_by_truths_that_exclude_each_other():
    prepared = prepared_of(f"{TRUTHS}solve maximize total;\n")
    relaxation = unsolved(beside_a(prepared)).relaxation
    variables, (numbers, _, _) = relaxation.variables.tolist(), root_bounds(prepared)
    columns = [variables.index(numbers[name]) for name in ("t1", "t2", "t3")]
    pairs = set(map(frozenset, relaxation.conflicts.pairs.tolist()))
    assert {frozenset((2 * one, 2 * other)) for one, other in combinations(columns, 2)} <= pairs
    point = np.zeros(relaxation.n_columns)
    point[columns], point[relaxation.objective] = 0.5, 1
    found = [(entries, side) for entries, side, _ in relaxation.conflicts.cuts(point)]
    assert (dict.fromkeys(columns, 1), 1) in found
