"""Several objectives on the command line and by annotations, against enumeration."""

from __future__ import annotations

import signal
from itertools import product
from random import Random

import pytest

from support.command import SEPARATOR, ends_soon, run, start, value, write
from support.needs import needs_minizinc
from support.objective_models import Drawn, draw, undominated
from support.warm import ask
from turbo_fzn import Front, Model, solve_text
from turbo_fzn.base.errors import ModelError, UnsupportedError, UsageError
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.read.several import Several, several_of

SHOP = """\
var 0..4: fast :: output_var; var 0..4: slow :: output_var;
var 0..99: cost :: var_is_introduced; var 0..99: time :: var_is_introduced;
array [1..2] of var int: goals = [cost,time];
constraint int_lin_eq([1,1],[fast,slow],4);
constraint int_lin_eq([5,2,-1],[fast,slow,cost],0);
constraint int_lin_eq([1,3,-1],[fast,slow,time],0);
solve {asked} satisfy;
"""
FRONT = [(fast, 4 - fast) for fast in range(5)]
MINIZINC = """\
include "turbo.mzn";
var 0..4: fast;
var 0..4: slow;
var int: cost = 5 * fast + 2 * slow;
constraint fast + slow = 4;
solve :: {asked} satisfy;
output ["\\(fast) \\(slow)\\n"];
"""


def shop(folder, asked: str = ""):
    return write(folder, SHOP.format(asked=asked))


def pairs(answer) -> list[tuple[int, ...]]:
    return [tuple(int(line.split(" = ")[1].rstrip(";")) for line in solution) for solution in answer.solutions]


def sums(drawn: Drawn, values: tuple[int, ...], model: Model) -> tuple[int, ...]:
    """What is minimised at the values of x, y, z, by the model itself."""
    names = [goal.split()[1] for goal in drawn.goals]
    result = model.solve(dict(zip("xyz", values)), project=",".join(names))
    return tuple(sign * int(result.solutions[-1][name]) for sign, name in zip(drawn.signs, names))


@pytest.mark.covers("A13")
@pytest.mark.parametrize("seeds", [range(4), pytest.param(range(4, 60), marks=pytest.mark.slow)], ids=str)
def test_the_command_prints_the_front_and_the_lexicographic_best_of_enumeration(tmp_path, seeds):
    for seed in seeds:
        drawn = draw(Random(seed))
        path, goals, model = write(tmp_path, drawn.text), ",".join(drawn.goals), Model(drawn.text, arch="cpu")
        answer = ask("--arch", "cpu", "--front", goals, path)
        found = [sums(drawn, values, model) for values in pairs(answer)]
        assert len(found) == len(set(found)) and set(found) == undominated(drawn.vectors), seed
        end = ["=========="] if drawn.vectors else ["=====UNSATISFIABLE====="]
        assert answer.markers == end, seed
        answer = ask("--arch", "cpu", "--lexicographic", goals, path)
        assert answer.markers == end, seed
        found = [sums(drawn, values, model) for values in pairs(answer)]
        assert found == ([min(drawn.vectors)] if drawn.vectors else []), seed


@pytest.mark.covers("A13")
@pytest.mark.parametrize(
    ("asked", "found"),
    [
        (":: pareto_minimize([cost,time])", FRONT),
        (":: pareto_minimize(goals)", FRONT),
        (":: pareto_maximize([cost,7,goals[2]])", FRONT),
        (":: int_search(goals,input_order,indomain_max,complete) :: lex_minimize(goals)", [(0, 4)]),
        (":: lex_maximize([time,cost])", [(0, 4)]),
        (":: lex_minimize([time,cost])", [(4, 0)]),
    ],
)
def test_annotations_ask_for_several_objectives(tmp_path, asked, found):
    answer = run("--arch", "cpu", shop(tmp_path, asked))
    assert sorted(pairs(answer)) == found and answer.markers == ["=========="] and answer.errors == ""


@needs_minizinc
@pytest.mark.covers("A13")
@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("pareto_minimize([cost, fast + 3 * slow])", {f"{a} {b}" for a, b in FRONT}),
        ("lex_minimize([3 * slow])", {"4 0"}),
    ],
)
def test_minizinc_has_the_annotations(minizinc, tmp_path, asked, said):
    done = minizinc(write(tmp_path, MINIZINC.format(asked=asked), "model.mzn"))
    lines = done.stdout.splitlines()
    assert {line for line in lines if line[0].isdigit()} == said and lines[-1] == "==========", (
        done.stdout + done.stderr
    )


def test_with_i_the_best_of_each_goal_is_printed_and_none_twice(tmp_path):
    text = """\
var 0..9: x :: output_var; var 0..9: y :: output_var; var 0..9: z :: output_var;
constraint int_lin_le([1,1],[x,y],9); constraint int_le(z,x);
solve satisfy;
"""
    path, goals = write(tmp_path, text), "maximize x, maximize z, minimize y"
    every = ask("--arch", "cpu", "-i", "--lexicographic", goals, path)
    assert [one[0] for one in pairs(every)] == [9] * len(every.solutions) and pairs(every)[-1] == (9, 0, 9)
    assert len(set(every.solutions)) == len(every.solutions) and every.markers == ["=========="]
    assert pairs(ask("--arch", "cpu", "--lexicographic", goals, path)) == [(9, 0, 9)]  # x and z have the same value


def test_statistics_are_those_of_all_calls_together(tmp_path):
    answer = ask("--arch", "cpu", "-s", "--front", "minimize cost,minimize time", shop(tmp_path))
    assert answer.statistics["solutions"] == "5" and int(answer.statistics["nodes"]) > 5


def test_what_was_found_is_printed_when_the_time_is_up(tmp_path):
    """A front has 4,001 points here."""
    lines = [
        "var 0..4000: a :: output_var; var 0..4000: b;",
        "constraint int_lin_eq([1,1],[a,b],4000);",
        "solve satisfy;\n",
    ]
    path = write(tmp_path, "\n".join(lines))
    with start("--arch", "cpu", "--front", "minimize a,minimize b", path) as process:
        first = process.stdout.readline()
        assert process.stdout.readline() == f"{SEPARATOR}\n"
        process.send_signal(signal.SIGTERM)
        with ends_soon():
            rest = process.stdout.read()
        assert process.wait() == 0
    assert first.startswith("a = ") and "==========" not in rest
    found = [line for line in [first, *rest.splitlines()] if line.startswith("a")]
    assert len(found) == len(set(found)) == rest.count(SEPARATOR) + 1


@pytest.mark.parametrize(
    ("flags", "asked", "said"),
    [
        (["--front", "minimize cost", "--lexicographic", "minimize time"], "", "exclude each other"),
        (["--front", "minimize nothing"], "", "nothing"),
        (["--front", ""], "", "expected minimize NAME"),
        (["--front", "cost"], "", "expected minimize NAME"),
        (["--lexicographic", "minimize cost", "-a-o"], "", "-a-o"),
        (["--front", "minimize cost", "--count"], "", "--count"),
        (["--front", "minimize cost", "--dump-tnf", "x.tnf"], "", "--dump-tnf"),
        ([], ":: lex_minimize(goals) :: pareto_minimize(goals)", "the only objective"),
        ([], ":: lex_minimize(nothing)", "takes an array of variables"),
        ([], ":: lex_minimize([x,1.5])", "takes an array of variables"),
    ],
)
def test_what_cannot_be_asked_is_said(tmp_path, flags, asked, said):
    answer = ask("--arch", "cpu", *flags, shop(tmp_path, asked))
    assert answer.markers == ["=====ERROR====="] and answer.code == 1 and said in answer.errors


@pytest.mark.parametrize("asked", ["lex_minimize([3])", "pareto_maximize([])", "pareto_minimize([true,4])"])
def test_where_all_objectives_are_constants_any_solution_is_an_answer(tmp_path, asked):
    answer = ask("--arch", "cpu", shop(tmp_path, f":: {asked}"))
    assert len(answer.solutions) == 1 and answer.code == 0 and answer.errors == ""


def test_a_goal_without_a_bound_ends_the_front_without_a_claim(tmp_path):
    lines = ["var int: x :: output_var;", "var 0..3: y :: output_var;", "constraint int_le(y,x);", "solve satisfy;\n"]
    answer = ask("--arch", "cpu", "--front", "maximize x", write(tmp_path, "\n".join(lines)))
    assert len(answer.solutions) == 1 and answer.markers == []


def test_the_settings_of_the_command_are_refused_in_python():
    for setting in ("front", "lexicographic"):
        with pytest.raises(UsageError, match="Front and lexicographic"):
            solve_text(SHOP.format(asked=""), arch="cpu", **{setting: "minimize cost"})


def test_the_objective_of_the_model_cannot_stand_beside_such_an_annotation():
    with pytest.raises(ModelError, match="the only objective"):
        several_of(parse_text("var 0..1: x; solve :: lex_minimize([x]) minimize x;"))


def test_a_single_answer_of_python_does_not_ignore_several_objectives():
    with pytest.raises(UnsupportedError, match="Front and lexicographic"):
        solve_text(SHOP.format(asked=":: lex_minimize(goals)"), arch="cpu")
    model = Model(SHOP.format(asked=":: pareto_minimize(goals)"), arch="cpu")
    assert len(list(Front(model, ["minimize fast", "minimize slow"]))) == 5


def test_indices_and_constants_of_annotations_are_resolved():
    text = SHOP.format(asked=":: lex_maximize([goals[1],true,goals[2]])")
    assert several_of(parse_text(text)) == Several(["maximize cost", "maximize time"], False)
    assert several_of(parse_text(SHOP.format(asked=""))) is None


def test_a_front_of_a_model_is_the_same_as_that_of_all_of_its_solutions(tmp_path):
    """The whole way, where the model has an objective of its own, which goals take the place of."""
    lines = [f"var 1..6: {name} :: output_var;" for name in "ab"] + ["var 1..36: p; constraint int_times(a,b,p);"]
    path = write(tmp_path, "\n".join([*lines, "constraint int_le(p,20);", "solve maximize p;\n"]))
    answer = ask("--arch", "cpu", "--front", "maximize a,maximize b", path)
    good = {(-a, -b) for a, b in product(range(1, 7), repeat=2) if a * b <= 20}
    assert {(-a, -b) for a, b in pairs(answer)} == undominated(good)
    best = ask("--arch", "cpu", path)
    assert value(best, "a") * value(best, "b") == 20
