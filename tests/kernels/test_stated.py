"""A neighbourhood that the model states (relax_and_reconstruct) is searched as stated, and changes no answer."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.engines import OpenEngine
from support.flatzinc_text import with_text
from support.free_search import BEST_GAIN, KNAPSACK, first_solution, tasks
from support.oracle import all_solutions, fingerprint, optimum, outputs_of
from support.random_models import models, solve
from turbo_fzn import solve_text
from turbo_fzn.engine.abi.abi import METHODS, Method
from turbo_fzn.engine.contract import Found
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.read.model import Call, Ref
from turbo_fzn.run.machine import Machine
from turbo_fzn.run.policy import decide
from turbo_fzn.run.prepare import prepare

STATED = KNAPSACK.replace(" maximize", " :: relax_and_reconstruct([a,b,c,d],50) maximize")
FROM_A_SOLUTION = STATED.replace(",50)", ",50,[0,0,1,2])")
WITHOUT = ",".join(method for method in METHODS if method not in ("stated", "weighted", "finder"))
N = 2000  # variables of each of two rows


def two_rows(stated: str) -> str:
    """Two rows of truths that nothing constrains, after an objective that can be 0 at once."""
    names = [f"{row}{i}" for row in "xy" for i in range(N)]
    lines = [f"var 0..1: {name} :: output_var;\n" for name in names]
    order = f"int_search([z,{','.join(names)}],input_order,indomain_min,complete)"
    return f"{''.join(lines)}var 0..1: z :: output_var;\nsolve :: {order}{stated} minimize z;\n"


def row(name: str) -> str:
    return "[" + ",".join(f"{name}{i}" for i in range(N)) + "]"


def kept_shares(stated: str) -> tuple[float, float]:
    """The shares of the two rows that the first neighbourhood fixes to the ones of the incumbent. Half of all
    neighbourhoods try that value first also of free variables, so the smallest of some is what counts."""
    shares = []
    for seed in range(8):
        engine = OpenEngine(two_rows(stated), False, blocks=2, lns_percent=100,
                            methods=frozenset(["stated"]), seed=seed)  # fmt: skip
        ones = Found(1, 0, "tree", np.ones(engine.layout.tnf.n_vars, np.int64))
        values = engine.run_alone(incumbent=ones)[0].values
        places = [[engine.place(f"{name}{i}") for i in range(N)] for name in "xy"]
        shares.append([float(np.mean(values[own])) for own in places])
    return tuple(np.min(shares, axis=0).tolist())


@pytest.mark.covers("A10")
@pytest.mark.parametrize(
    ("first", "second"), [(100, None), (70, None), (25, None), (0, None), (40, 90), (-5, 180)]
)  # 180 means always
def test_each_stated_variable_is_fixed_with_its_probability_and_no_other_is(first, second):
    stated = f" :: relax_and_reconstruct({row('x')},{first})"
    stated += "" if second is None else f" :: relax_and_reconstruct({row('y')},{second})"
    expected = [min(max(percentage or 0, 0), 100) / 100 for percentage in (first, second)]
    assert kept_shares(stated) == pytest.approx(expected, abs=0.06)  # five times the deviation of two thousand draws


@pytest.mark.covers("A10")
@pytest.mark.parametrize(("text", "is_used"), [(STATED, True), (KNAPSACK, False)])
def test_free_search_on_a_cpu_may_use_it_where_a_model_states_one(text, is_used):
    options = Options(arch="auto", free_search=True)
    decision = decide(prepare(parse_text(text), options, Interrupt()).tnf, options, Machine(4, None, False), 1)
    assert decision.engines == ("cpu", "gpu") and "stated" in decision.methods - decision.gpu_methods
    engine = OpenEngine(text, blocks=2, lns_percent=100, methods=decision.methods)
    assert bool(engine.problem.methods >> Method.STATED & 1) == is_used


def test_the_objective_and_what_is_fixed_are_no_part_of_it():
    """The objective must improve; the kernels would look at the others in vain."""
    objective = KNAPSACK.split("maximize ")[1].split(";")[0]
    engine = OpenEngine(STATED.replace("[a,b,c,d]", f"[a,3,{objective},d]"), False)
    assert engine.layout.arrays["stated"][:, 0].tolist() == [engine.place("a"), engine.place("d")]


def test_the_stated_neighbourhood_alone_leads_to_better_solutions_and_claims_nothing():
    engine = OpenEngine(STATED, blocks=2, lns_percent=100, methods=frozenset(["stated"]))
    found = engine.run_alone(enough=lambda: tasks(engine) >= 2000, incumbent=first_solution(STATED))
    assert found[-1].objective == BEST_GAIN and not engine.complete
    assert {solution.method for solution in found} == {"stated"}


@pytest.mark.covers("A10")
@pytest.mark.parametrize(
    ("text", "options", "warnings"),
    [
        (STATED, {"free_search": True}, 0),
        (STATED.replace(":: int_search([a, b, c, d], first_fail, indomain_min, complete)", ""), {}, 0),
        (STATED, {}, 1),
        (STATED, {"free_search": True, "threads": 1}, 1),
        (STATED, {"free_search": True, "lns": "off"}, 1),
        (STATED, {"free_search": True, "without": "stated"}, 1),
        (STATED, {"all_optimal": True}, 1),
        (STATED.replace("maximize gain", "satisfy"), {"free_search": True}, 1),
        (KNAPSACK, {}, 0),
    ],
)
def test_a_stated_neighbourhood_that_is_not_searched_is_named_once(text, options, warnings, caplog):
    with caplog.at_level(logging.WARNING, logger="turbo_fzn"):
        solve_text(text, arch="cpu", **options)
    assert [record.getMessage().startswith("relax_and_reconstruct is ignored: ") for record in caplog.records] == [
        True
    ] * warnings


@pytest.mark.covers("A10")
def test_a_third_argument_is_a_first_solution(engine):
    result = solve_text(FROM_A_SOLUTION, arch=engine, intermediate=True, blocks=1, seed=0)
    assert result.solutions[0]["gain"] == 25


def add_stated(model, data) -> None:
    """A neighbourhood over some variables of a random model."""
    names = [name for name, variable in model.variables.items() if variable.kind == "int" and name != "alias"]
    for _ in range(data.draw(st.integers(1, 2))):
        chosen = data.draw(st.lists(st.sampled_from(names), max_size=4)) if names else []
        percentage = data.draw(st.sampled_from([0, 10, 50, 90, 100]))
        model.goal.annotations.append(Call("relax_and_reconstruct", [[Ref(name) for name in chosen], percentage]))
    with_text(model)


@pytest.mark.covers("A10")
@given(model=models(["minimize", "maximize"]), data=st.data())
@settings(max_examples=50)
def test_a_stated_neighbourhood_keeps_the_optimum_of_a_random_model(engine, model, data):
    add_stated(model, data)
    solutions = all_solutions(model)
    for without in (None, WITHOUT):
        result = solve(model, engine, 3, True, free_search=True, without=without)
        assert result.objective == optimum(model, solutions), model.text
        assert result.status == ("OPTIMAL_SOLUTION" if solutions else "UNSATISFIABLE")


@pytest.mark.covers("A10")
@given(model=models(["satisfy"]), data=st.data())
@settings(max_examples=50)
def test_a_stated_neighbourhood_loses_no_solution_of_a_random_model(engine, model, data):
    add_stated(model, data)
    expected = sorted(fingerprint(outputs_of(model, solution)) for solution in all_solutions(model))
    result = solve(model, engine, 2, True, all_solutions=True)
    assert sorted(map(fingerprint, result.solutions)) == expected, model.text
