"""The solver as MiniZinc runs it: every example, against the figure that Gecode found (examples/expected.json).

The real `minizinc` compiles each model with our library and starts the solver through the solver configuration that
`fzn-turbo --install-solver` writes, put into a folder of the test's own.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.command import PATIENCE, ends_soon, time_limits
from support.minizinc_output import count_solutions, objectives, status
from support.needs import needs_minizinc
from support.places import ROOT

EXAMPLES = ROOT / "examples"
EXPECTED = json.loads((EXAMPLES / "expected.json").read_text())


def statistics(run: subprocess.CompletedProcess) -> dict[str, str]:
    """The statistics of the last block, after the values have been seen to be MiniZinc literals."""
    block: dict[str, str] = {}
    for line in run.stdout.splitlines():
        if line.startswith("%%%mzn-stat:"):
            name, value = line.removeprefix("%%%mzn-stat:").strip().split("=", 1)
            assert re.fullmatch(r'-?\d+(\.\d+)?([eE][-+]?\d+)?|true|false|"[^"]*"', value), line
            block[name] = value
    return block


def example(entry: dict) -> list[Path]:
    return [EXAMPLES / entry["model"]] + ([EXAMPLES / entry["data"]] if entry["data"] else [])


def examples_of_kind(kind: str) -> list:
    """Two of three are slow, and among them what takes long; test_corpus.py solves all as MiniZinc flattens them."""
    entries = [entry for entry in EXPECTED if entry["kind"] == kind]
    return [
        pytest.param(entry, id=entry["model"][:-4], marks=[pytest.mark.slow] * (number % 3 != 1))
        for number, entry in enumerate(entries)
    ]


def test_every_example_has_an_expected_figure():
    assert {entry["model"] for entry in EXPECTED} == {path.name for path in EXAMPLES.glob("*.mzn")}
    assert len(EXPECTED) >= 60


@needs_minizinc
@pytest.mark.parametrize("entry", examples_of_kind("optimum"))
def test_the_optimum_of_the_example_is_found_and_proved(minizinc, entry):
    run = minizinc("--output-mode", "dzn", "--output-objective", *example(entry))
    assert run.returncode == 0, run.stderr
    assert status(run) == "==========", run.stdout + run.stderr
    assert objectives(run)[-1] == pytest.approx(entry["figure"], rel=2e-6, abs=2e-6)


@needs_minizinc
@pytest.mark.parametrize("entry", examples_of_kind("count"))
def test_all_solutions_of_the_example_are_found_each_once(minizinc, entry):
    run = minizinc("-a", "--non-unique", "--output-mode", "dzn", *example(entry))
    assert run.returncode == 0, run.stderr
    assert status(run) == ("==========" if entry["figure"] else "=====UNSATISFIABLE====="), run.stdout + run.stderr
    assert count_solutions(run) == entry["figure"]


@pytest.mark.covers("F8", "F9", "F10")
@needs_minizinc
@pytest.mark.parametrize("flags", [["-f"], ["-p", "2"], ["-r", "7"], ["-f", "-p", "1", "-r", "3"]], ids=" ".join)
def test_free_search_threads_and_seed_do_not_change_the_answer(minizinc, flags):
    run = minizinc("-a", *flags, EXAMPLES / "queens.mzn")
    assert (count_solutions(run), status(run)) == (92, "=========="), run.stderr
    run = minizinc("--output-mode", "dzn", "--output-objective", *flags, EXAMPLES / "tsp.mzn")
    assert (objectives(run)[-1], status(run)) == (54, "=========="), run.stderr


@pytest.mark.covers("F1")
@needs_minizinc
def test_one_solution_of_a_satisfaction_model_is_printed_without_a_status(minizinc):
    run = minizinc(EXAMPLES / "queens.mzn")
    assert (count_solutions(run), status(run)) == (1, None), run.stderr


@pytest.mark.covers("F5")
@needs_minizinc
def test_n_solutions_are_printed_and_a_status_only_where_there_are_fewer(minizinc):
    run = minizinc("-n", "2", EXAMPLES / "queens.mzn")
    assert (count_solutions(run), status(run)) == (2, None), run.stderr
    run = minizinc("-n", "100", EXAMPLES / "queens.mzn")
    assert (count_solutions(run), status(run)) == (92, "=========="), run.stderr


@pytest.mark.covers("F4")
@needs_minizinc
def test_intermediate_solutions_improve(minizinc):
    run = minizinc("-i", "--output-mode", "dzn", "--output-objective", EXAMPLES / "demo.mzn", EXAMPLES / "demo.dzn")
    found = objectives(run)
    assert status(run) == "==========", run.stderr
    assert found == sorted(set(found), reverse=True) and found[-1] == 55


@needs_minizinc
def test_statistics_have_the_standard_names(minizinc):
    run = minizinc("-s", "--output-mode", "dzn", "--output-objective", EXAMPLES / "tsp.mzn")
    values = statistics(run)
    assert {"nodes", "failures", "solveTime", "variables", "propagators"} <= values.keys(), run.stdout
    assert int(values["nodes"]) > 0
    assert float(values["objective"]) == 54
    assert float(values["solveTime"]) >= 0


@needs_minizinc
def test_no_statistics_are_printed_unless_asked_for(minizinc):
    assert "%%%mzn-stat" not in minizinc(EXAMPLES / "tsp.mzn").stdout


@pytest.mark.covers("F14")
@needs_minizinc
def test_a_time_limit_leaves_the_best_solution_found(minizinc, model):
    text = (EXAMPLES / "golomb.mzn").read_text()
    assert "int: m = 6;" in text
    hard = model(text.replace("int: m = 6;", "int: m = 14;"))
    for limit in time_limits():
        with ends_soon(after=limit / 1000):
            run = minizinc("--time-limit", limit, "-s", "--output-mode", "dzn", "--output-objective", hard)
        if "engine" in statistics(run):  # else the search has not begun
            break
    assert run.returncode == 0, run.stderr
    assert status(run) is None, run.stdout
    assert 127 <= objectives(run)[-1] <= 196  # 127 is the optimum, 196 the bound in the model


@pytest.mark.covers("O4")
@needs_minizinc
def test_set_variables_are_printed_as_sets(minizinc, model):
    run = minizinc("-a", model("var set of {1, 3, 7}: s; constraint card(s) = 2; solve satisfy;"))
    assert status(run) == "==========", run.stderr
    assert sorted(re.findall("s = (.*);", run.stdout)) == ["{1,3}", "{1,7}", "{3,7}"]


@pytest.mark.covers("O4")
@needs_minizinc
def test_sets_of_enums_unions_and_empty_sets_come_out_right(minizinc, model):
    run = minizinc(
        "-a",
        model(
            "enum COLOUR = { red, green, blue }; var set of COLOUR: a; var set of COLOUR: b;"
            "constraint a union b = COLOUR /\\ a intersect b = {} /\\ green in b /\\ card(a) != 1; solve satisfy;"
        ),
    )
    assert status(run) == "==========", run.stderr
    found = set(re.findall("a = (.*);\nb = (.*);", run.stdout))
    assert found == {("{}", "{red, green, blue}"), ("{red, blue}", "{green}")}


@needs_minizinc
def test_a_value_is_implied_to_be_in_a_known_set_by_one_constraint(minizinc, model, tmp_path):
    """The library that writes sets as Booleans would say it once more with an array of them."""
    path = model("var bool: b; var 0..9: x; constraint b -> x in {2, 3, 7}; constraint x >= 3; solve satisfy;")
    flat = tmp_path / "model.fzn"
    assert minizinc("-c", "--fzn", flat, path).returncode == 0
    assert re.findall("constraint ([a-z_]+)", flat.read_text()) == ["set_in_imp"]
    found = re.findall(r"b = (\w+);\nx = (\d);", minizinc("-a", path).stdout)
    truths = [("false", str(x)) for x in range(3, 10)] + [("true", "3"), ("true", "7")]
    assert sorted(found) == truths


@needs_minizinc
def test_the_truths_of_an_array_of_sets_come_one_set_after_the_other(minizinc, model):
    text = 'include "nosets.mzn"; array [0..1] of var set of 1..2: s; array [int] of var bool: b = setarray2bools(s);'
    text += "constraint b = [true, false, true, true]; solve satisfy; output [show(s), show(set2bools(s[0], 1..3))];"
    run = minizinc("-a", model(text))
    assert run.stdout == "[1..1, 1..2][true, false, false]\n----------\n==========\n", run.stderr


@pytest.mark.covers("O4")
@needs_minizinc
def test_an_empty_array_of_sets_is_printed(minizinc, model):
    text = 'include "global_cardinality.mzn"; array [1..0] of var set of 1..3: x; array [1..2] of var 0..3: c;'
    run = minizinc("-a", model(text + "constraint global_cardinality(x, [1, 2], c); solve satisfy;"))
    assert run.stdout == "x = [];\nc = [0, 0];\n----------\n==========\n", run.stderr


@needs_minizinc
def test_optional_enum_and_tabled_variables_are_printed_by_name(minizinc, model):
    run = minizinc(
        "-a",
        model(
            "enum DAY = { mon, tue, wed }; var DAY: day; var opt 1..2: hour;"
            "constraint occurs(hour) <-> day = tue; constraint occurs(hour) -> deopt(hour) = 2; solve satisfy;"
        ),
    )
    assert status(run) == "==========", run.stderr
    found = set(re.findall("day = (.*);\nhour = (.*);", run.stdout))
    assert found == {("mon", "<>"), ("tue", "2"), ("wed", "<>")}


# Of each the lines that must be among those of an answer.
FLOAT_MODELS = {
    "var 0.0..1.0: x; var 0.0..1.0: y; constraint x + y >= 2.0; solve satisfy;": ["x = 1.0;", "y = 1.0;"],
    "var 0..4: x; var float: y = x; constraint y > 2.5 /\\ y < 3.5; solve satisfy;": ["x = 3;"],
    "var 0..4: x; var float: y = x; solve maximize y;": ["x = 4;", "=========="],
    "var 1..2: i; array [1..2] of float: a = [1.5, 2.5]; constraint a[i] > 2.0; solve satisfy;": ["i = 2;"],
    "var 0.0..1.0: x; constraint sin(x) > 2.0; solve satisfy;": ["=====UNSATISFIABLE====="],
    "var 0.0..1.0: x; var bool: b; constraint b <-> x >= 0.5; constraint x <= 0.25; solve satisfy;": ["b = false;"],
    "var 0.5..1.0: x; solve minimize x;": ["x = 0.5;", "=========="],
    "var 1..3: n; var 1.0..9.0: x; constraint x / n = 2.5; constraint x > 6.0; solve satisfy;": ["n = 3;", "x = 7.5;"],
    "var bool: b; var opt float: z = if b then 1.5 else <> endif; constraint absent(z); solve satisfy;": ["b = false;"],
    "array [1..3] of var 1.0..9.0: a; constraint max(a) = 1.0; constraint min(a) = 1.0; solve satisfy;": [
        "a = [1.0, 1.0, 1.0];"
    ],
}


@pytest.mark.covers("G15")
@needs_minizinc
@pytest.mark.parametrize("text", FLOAT_MODELS)
def test_a_model_with_float_variables_is_solved(minizinc, model, text):
    run = minizinc(model(text))
    assert run.returncode == 0, run.stderr
    assert {*FLOAT_MODELS[text]} <= {*run.stdout.splitlines()}, run.stdout


@needs_minizinc
def test_float_parameters_are_allowed(minizinc, model):
    run = minizinc(
        model("array [1..2] of float: a = [1.5, 2.5]; var 0..9: x; constraint x = floor(sum(a)); solve satisfy;")
    )
    assert run.stdout == "x = 4;\n----------\n", run.stderr


def test_the_shipped_flatzinc_of_the_demo_has_the_same_optimum():
    command = [sys.executable, "-m", "turbo_fzn", str(EXAMPLES / "demo.fzn")]
    run = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert run.returncode == 0, run.stderr
    assert status(run) == "=========="
    assert re.findall(r"^makespan = (\d+);$", run.stdout, re.MULTILINE)[-1] == "55"
