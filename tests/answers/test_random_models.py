"""Random whole models: all solutions and the optimum are those that enumeration finds.

A model has a few variables over small domains (holes, negative values, one perhaps without bounds), an array and an
alias of them, a handful of constraints over all builtins, and any search annotation, which must never change what
the solutions are.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.flatzinc_text import make_model
from support.oracle import all_solutions, fingerprint, objective_of, optimum, outputs_of
from support.random_models import VALUE_CHOICES, VARIABLE_CHOICES, draw_shown, models, solve
from turbo_fzn.base.domains import IntSet
from turbo_fzn.read.model import Call, Goal, Ref

# (blocks, simplify). A GPU gets few: each solve costs it a launch.
CONFIGURATIONS = [(1, True), (4, True), (1, False), (4, False)]
GPU_CONFIGURATIONS = [(4, True), (4, False)]


def configurations(engine: str) -> list[tuple[int, bool]]:
    return GPU_CONFIGURATIONS if engine == "gpu" else CONFIGURATIONS


@pytest.mark.covers("F3", "O7")
@pytest.mark.parametrize("simplify", [pytest.param(True, marks=pytest.mark.slow), False])
@given(model=models(["satisfy"]))
def test_all_solutions_of_a_random_model_are_those_of_the_oracle(engine, simplify, model):
    expected = sorted(fingerprint(outputs_of(model, solution)) for solution in all_solutions(model))
    for blocks in [blocks for blocks, simplifies in configurations(engine) if simplifies == simplify]:
        result = solve(model, engine, blocks, simplify, all_solutions=True)
        assert sorted(map(fingerprint, result.solutions)) == expected, (blocks, simplify, model.text)
        assert result.status == ("ALL_SOLUTIONS" if expected else "UNSATISFIABLE")


@pytest.mark.covers("F2", "O8")
@pytest.mark.parametrize("goal", ["minimize", "maximize"])
@given(data=st.data())
@settings(max_examples=settings.default.max_examples // 2)  # for each of two goals
def test_the_optimum_of_a_random_model_is_that_of_the_oracle(engine, goal, data):
    model = data.draw(models([goal]))
    solutions = all_solutions(model)
    objectives = {fingerprint(outputs_of(model, solution)): objective_of(model, solution) for solution in solutions}
    best = optimum(model, solutions)
    for blocks, simplify in configurations(engine):
        result = solve(model, engine, blocks, simplify, intermediate=True)
        where = (blocks, simplify, model.text)
        assert result.status == ("UNSATISFIABLE" if best is None else "OPTIMAL_SOLUTION"), where
        found = [fingerprint(solution) for solution in result.solutions]
        assert set(found) <= objectives.keys(), where
        values = [objectives[solution] for solution in found]
        assert values == sorted(set(values), reverse=model.goal.method == "minimize"), where
        if best is not None:
            assert (values[-1], result.objective) == (best, best), where


@pytest.mark.covers("F3", "A7")
@given(model=models(["satisfy"]), data=st.data())
def test_solutions_of_which_a_part_is_shown_are_those_of_the_oracle(engine, model, data):
    draw_shown(data, model)
    expected = {fingerprint(outputs_of(model, solution)) for solution in all_solutions(model)}
    for blocks, simplify in configurations(engine)[:2]:
        result = solve(model, engine, blocks, simplify, all_solutions=True)
        assert set(map(fingerprint, result.solutions)) == expected, (blocks, simplify, model.text)


@pytest.mark.parametrize("variable_choice", VARIABLE_CHOICES)
@pytest.mark.parametrize("value_choice", VALUE_CHOICES)
def test_no_search_annotation_loses_or_repeats_a_solution(engine, variable_choice, value_choice):
    xs = {"x": IntSet.interval(-2, 2), "y": IntSet.of_values([-3, 0, 1, 4]), "z": IntSet.interval(0, 3)}
    names = [Ref(name) for name in xs]
    search = Call("int_search", [names, Ref(variable_choice), Ref(value_choice), Ref("complete")])
    items = [("int_lin_le", [1, 1, -1], names, 0), ("int_ne", Ref("x"), Ref("z"))]
    model = make_model(xs, items, Goal("satisfy", None, [search], 0))
    expected = sorted(fingerprint(outputs_of(model, solution)) for solution in all_solutions(model))
    result = solve(model, engine, 1, True, all_solutions=True)
    assert sorted(map(fingerprint, result.solutions)) == expected
    best = make_model(xs, items, Goal("maximize", Ref("x"), [search], 0))
    assert solve(best, engine, 1, True).objective == optimum(best, all_solutions(best))
