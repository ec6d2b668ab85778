"""All or some of the optimal solutions, and which of the solutions that arrive are answers."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.command import LEAST_SUM, grid, run, write
from support.flatzinc_text import make_model, with_text
from support.oracle import all_solutions, fingerprint, objective_of, optimum, outputs_of
from support.random_models import draw_shown, models, solve
from support.warm import ask
from turbo_fzn import solve_text
from turbo_fzn.base.domains import IntSet
from turbo_fzn.engine.contract import Found
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.read.model import Goal, Ref
from turbo_fzn.run.answer.selection import Distinct, Improvements, narrowest, output_determines_all
from turbo_fzn.run.prepare import prepare

FLAT_TOP = """\
var 1..3: x :: output_var;
var 1..4: y :: output_var;
var 1..5: hidden;
var 0..9: worth :: output_var;
constraint int_min(x,2,worth);
constraint int_le(hidden,y);
solve maximize worth;
"""  # worth is 2 for x in 2..3 and any y: 8 optimal outputs, 20 optimal assignments


@pytest.mark.slow
@pytest.mark.covers("F6", "F7")
@given(model=models(["minimize", "maximize"]), data=st.data())
@settings(max_examples=60)
def test_the_optimal_solutions_of_a_random_model_are_those_of_the_oracle(engine, model, data):
    draw_shown(data, model)
    solutions = all_solutions(model)
    best = optimum(model, solutions)
    expected = {fingerprint(outputs_of(model, one)) for one in solutions if objective_of(model, one) == best}
    for options in ({"all_optimal": True}, {"n_optimal": 0}, {"n_optimal": 2}):
        result = solve(model, engine, 2, True, **options)
        found = [fingerprint(one) for one in result.solutions]
        wanted = min(options.get("n_optimal") or len(expected), len(expected))
        optimal = found[-wanted:] if wanted else []
        assert len(set(optimal)) == wanted and set(optimal) <= expected, (options, model.text)
        assert result.objective == best
        assert result.status == ("OPTIMAL_SOLUTION" if solutions else "UNSATISFIABLE")


@pytest.mark.covers("F6", "F7")
@pytest.mark.parametrize(
    ("flags", "count"),
    [
        (["-a-o"], 8),
        (["--all-optimal", "-p", "3"], 8),
        (["-n-o", "0"], 8),
        (["--num-optimal", "3"], 3),
        (["--optimal-solutions", "100"], 8),
        (["-n-o", "1"], 1),
        ([], 1),
        (["-a-o", "--no-simplify"], 8),
    ],
)
def test_only_optimal_solutions_are_printed_each_once_and_then_the_claim(tmp_path, flags, count):
    answer = ask(*flags, write(tmp_path, FLAT_TOP))
    assert (answer.code, answer.errors, answer.markers) == (0, "", ["=========="])
    assert len(answer.solutions) == len(set(answer.solutions)) == count
    assert {solution[2] for solution in answer.solutions} == {"worth = 2;"}


def test_with_i_improving_solutions_come_before_the_optimal_ones(tmp_path):
    model = FLAT_TOP.replace("solve", "solve :: int_search([x,y,hidden],input_order,indomain_min,complete)")
    answer = ask("-a-o", "-i", "-r", 1, write(tmp_path, model))
    assert [solution[2] for solution in answer.solutions] == ["worth = 1;"] + ["worth = 2;"] * 8


def test_a_model_without_solution_has_no_optimal_ones(tmp_path):
    answer = ask("-a-o", write(tmp_path, FLAT_TOP.replace("int_le(hidden,y)", "int_lt(y,y)")))
    assert answer.text == "=====UNSATISFIABLE=====\n"


@pytest.mark.covers("S9")
def test_statistics_are_cumulative_over_both_searches(tmp_path):
    model = FLAT_TOP.replace("solve", "solve :: int_search([x,y,hidden],input_order,indomain_min,complete)")
    answer = ask("-a-o", "-i", "-s", write(tmp_path, model))
    blocks = [
        dict(re.findall(r"^%%%mzn-stat: (\w+)=(.*)$", block, re.MULTILINE))
        for block in answer.text.split("%%%mzn-stat-end\n")[:-1]
    ]
    assert len(blocks) == len(answer.solutions) + 1
    for before, after in zip(blocks, blocks[1:]):
        for name in ("nodes", "failures", "solveTime", "objective"):
            assert float(before[name]) <= float(after[name]), name
        assert float(before["objectiveBound"]) >= float(after["objectiveBound"]) >= float(after["objective"])
    assert int(blocks[-1]["nodes"]) > int(blocks[0]["nodes"]) > 0


# ---- improvements


def found(objective: int, *values: int) -> Found:
    return Found(objective, 0, "tree", np.array(values, np.int64))


def test_of_improvements_that_come_together_the_best_is_an_answer_or_every_one():
    arrived = [found(5), found(7), found(4), found(4), found(3)]
    assert [one.objective for one in Improvements(1).worth_printing(arrived)] == [3]
    assert [one.objective for one in Improvements(1, every=True).worth_printing(arrived)] == [5, 4, 3]
    assert [one.objective for one in Improvements(-1).worth_printing(arrived)] == [7]
    choice = Improvements(-1, every=True)
    assert [one.objective for one in choice.worth_printing(arrived)] == [5, 7]
    assert choice.worth_printing([found(7)]) == choice.worth_printing([]) == []


@pytest.mark.covers("F10", "F4")
def test_with_a_seed_every_improving_solution_is_printed_so_that_runs_are_equal(tmp_path):
    model = "var 0..3000: x :: output_var;\n"
    path = write(tmp_path, f"{model}solve :: int_search([x],input_order,indomain_min,complete) maximize x;\n")
    texts = {run("-i", "-r", 3, path).text for _ in range(2)}
    assert len(texts) == 1
    assert texts.pop().count("----------") == 3001


# ---- distinct outputs


def test_outputs_that_were_seen_are_no_answers():
    choice = Distinct(np.array([0, 2]))
    arrived = [found(0, 1, 1, 1), found(0, 1, 2, 1), found(0, 1, 1, 2)]
    assert choice.worth_printing(arrived) == [arrived[0], arrived[2]]
    assert choice.worth_printing(arrived) == []
    wide = Distinct(np.arange(9))
    assert len(wide.worth_printing([found(0, *range(9)), found(0, *range(1, 10)), found(0, *range(9))])) == 2
    assert len(Distinct(np.arange(0)).worth_printing([found(0), found(0)])) == 1


@pytest.mark.parametrize(
    ("bounds", "kind"),
    [
        ([], np.int8), ([(-128, 127)], np.int8), ([(-129, 0)], np.int16), ([(0, 128), (0, 1)], np.int16),
        ([(5, 2**15)], np.int32), ([(0, 0), (-(2**31) - 1, 0)], np.int64),
    ],
)  # fmt: skip
def test_what_was_seen_is_kept_in_the_smallest_type_that_holds_it(bounds, kind):
    lower, upper = np.array(bounds, np.int64).reshape(-1, 2).T
    assert narrowest(lower, upper) == kind


@given(model=models(["satisfy"]), data=st.data())
@settings(max_examples=60)
def test_where_the_output_determines_all_no_two_solutions_share_it(engine, model, data):
    draw_shown(data, model)
    prepared = prepare(parse_text(model.text), Options(), Interrupt())
    if prepared.tnf.infeasible or not output_determines_all(prepared.tnf):
        return
    expected = {fingerprint(outputs_of(model, one)) for one in all_solutions(model)}
    for blocks in (1, 3):
        found = solve(model, engine, blocks, True, all_solutions=True).solutions
        assert sorted(map(fingerprint, found)) == sorted(expected), model.text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (grid(4), True),
        (LEAST_SUM.replace("minimize z", "satisfy"), True),
        ("var {1,3,7}: x :: output_var;\nvar {2,5,9}: y;\nvar bool: b;\n"
         "constraint int_lin_eq([1,1,-1],[x,y,z],0);\nconstraint int_le_reif(z,9,b);\nvar 0..20: z :: output_var;\n"
         "solve satisfy;\n", True),
        ("var 1..3: x :: output_var;\nvar 1..3: y;\nconstraint int_ne(x,y);\nsolve satisfy;\n", False),
        ("var 1..3: x :: output_var;\nvar -3..3: y;\nconstraint int_abs(y,x);\nsolve satisfy;\n", False),
    ],
)  # fmt: skip
def test_whether_the_output_determines_all_is_seen(text, expected):
    order = sorted(text.splitlines(), key=lambda line: not line.startswith("var"))
    prepared = prepare(parse_text("\n".join(order)), Options(), Interrupt())
    assert output_determines_all(prepared.tnf) == expected


def test_many_solutions_of_which_a_part_is_shown_are_counted_once(engine):
    xs = {f"x{i}": IntSet.interval(0, 3) for i in range(5)}
    names = [Ref(name) for name in xs]
    model = make_model(xs, [("int_lin_le", [1] * 5, names, 9)], Goal("satisfy", None, [], 0))
    for name in ("x3", "x4"):
        model.variables[name].annotations = []
    expected = {fingerprint(outputs_of(model, one)) for one in all_solutions(model)}
    for blocks in (1, 2, 64):
        result = solve_text(with_text(model).text, arch=engine, blocks=blocks, all_solutions=True)
        assert sorted(map(fingerprint, result.solutions)) == sorted(expected)
