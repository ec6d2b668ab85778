"""A short run of the fuzzer, the faults that it found before, and the fuzzer itself: it must see a fault.

The long runs are `make fuzz`; docs/measurements/random-tests.md says how many instances have been tried.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from fuzz import damage
from fuzz.drawer import Drawer
from fuzz.float_peers import try_float_peers
from fuzz.generate import FLAVOURS, FORMS, declare_variables, draw_model, is_satisfied
from fuzz.global_calls import CALLS
from fuzz.judge import Expected, Way, every_way, judge
from fuzz.peers import try_flatzinc, try_minizinc
from fuzz.reals import try_reals
from fuzz.run import instance, try_damage, try_instance
from fuzz.scope import Scope, resolve
from fuzz.shrink import shrink
from support.command import PATIENCE
from support.flatzinc_text import with_text
from support.global_meanings import GLOBAL_MEANINGS
from support.needs import needs_gecode, needs_minizinc
from support.oracle import WindowTooSmall
from support.places import DATA, TESTS
from turbo_fzn.lower import table as constraints
from turbo_fzn.predicates.globals import GLOBALS
from turbo_fzn.predicates.table import PREDICATES
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.read.model import Model

REGRESSIONS = sorted((DATA / "regressions").glob("*.fzn"))
FOUND_IN = re.compile(r"^% (\{.*\})$", re.MULTILINE)  # the way in which the fuzzer found it
SEED = 20
COUNT, COUNT_ON_GPU, PART = 600, 200, 50


def parts(count: int) -> list:
    """The first numbers of parts of so many; all but the first part are slow."""
    return [pytest.param(first, marks=[pytest.mark.slow] * (first > 0)) for first in range(0, count, PART)]


@pytest.mark.parametrize("first", parts(COUNT))
def test_random_models_are_solved_as_enumeration_says(engine, first):
    numbers = range(first, first + PART) if engine == "cpu" or first < COUNT_ON_GPU else ()
    faults = [failure for number in numbers if (failure := try_instance(SEED, number, engine, None)[1])]
    assert not faults, f"{len(faults)} faults, first: {faults[0]}"


@pytest.mark.parametrize("first", parts(300))
def test_random_models_are_solved_by_learning_as_enumeration_says(first):
    numbers = range(first, first + PART)
    faults = [failure for number in numbers if (failure := try_instance(SEED, number, "cpu", None, "learn")[1])]
    assert not faults, f"{len(faults)} faults, first: {faults[0]}"


@pytest.mark.parametrize("numbers", [range(20), pytest.param(range(20, 120), marks=pytest.mark.slow)])
def test_random_models_are_solved_by_several_ranks_as_enumeration_says(numbers):
    faults = [failure for number in numbers if (failure := try_instance(SEED, number, "cpu", None, "ranks")[1])]
    assert not faults, f"{len(faults)} faults, first: {faults[0]}"


@pytest.mark.parametrize("first", [0, *(pytest.param(first, marks=pytest.mark.slow) for first in (500, 1000))])
def test_damaged_input_is_refused_or_solved(first):
    kinds = Counter()
    for number in range(first, first + 500):
        kind, failure = try_damage(SEED, number)
        assert failure is None, failure
        kinds[kind] += 1
    assert kinds["solved"] > 15 and kinds["refused"] > 150


def test_a_text_answers_for_the_memory_that_it_takes_and_for_no_other(monkeypatch):
    monkeypatch.setattr(damage, "MEGABYTES", 100)
    text, parse = b"var 1..2: x; solve satisfy;", damage.parse_file
    np.ones(200 << 20, np.uint8)  # what ran before in this process
    assert damage.judge_text(text).kind == "solved"
    monkeypatch.setattr(damage, "parse_file", lambda path: (np.ones(200 << 20, np.uint8), parse(path))[1])
    assert damage.judge_text(text).kind == "large"


def test_models_with_floats_are_solved_about_the_point_that_satisfies_them():
    verdicts = [try_reals(Random(f"floats/{SEED}/{number}")) for number in range(25)]
    assert [(verdict.fault, text) for verdict, text in verdicts if verdict.is_fault] == []
    assert sum(verdict.kind == "right" for verdict, _ in verdicts) > 12


@needs_gecode
def test_small_models_with_floats_are_solved_as_gecode_says():
    verdicts = [try_float_peers(Random(f"float-peers/{SEED}/{number}")) for number in range(60)]
    assert [(verdict.fault, text) for verdict, text in verdicts if verdict.is_fault] == []
    assert sum(verdict.kind == "right" for verdict, _ in verdicts) > 20


@needs_gecode
def test_larger_models_are_solved_as_gecode_says():
    verdicts = [try_flatzinc(Random(f"flatzinc/{SEED}/{number}"), "cpu") for number in range(10)]
    assert [text for verdict, text in verdicts if verdict.is_fault] == []
    assert any(verdict.kind == "right" for verdict, _ in verdicts)


@needs_minizinc
@needs_gecode
@pytest.mark.parametrize("numbers", [range(2), pytest.param(range(2, 8), marks=pytest.mark.slow)])
def test_models_over_globals_are_solved_as_gecode_says(numbers):
    verdicts = [try_minizinc(Random(f"minizinc/{SEED}/{number}")) for number in numbers]
    assert [text for verdict, text in verdicts if verdict.is_fault] == []
    assert any(verdict.kind == "right" for verdict, _ in verdicts)


@pytest.mark.parametrize("path", REGRESSIONS, ids=lambda path: path.stem)
def test_what_was_wrong_once_is_right(path):
    text = path.read_text()
    model, found_in = parse_text(text, path.name), [Way(**json.loads(way)) for way in FOUND_IN.findall(text)]
    expected = Expected(model)
    for way in (*found_in, *every_way()):
        assert judge(model, way, expected).fault == "", way


def test_the_command_counts_what_it_tried():
    command = [sys.executable, str(TESTS / "fuzz"), "--count", "30", "--processes", "2", "--seed", "7"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 30 instances " in done.stdout.splitlines()[-1]


# ---- the fuzzer itself


@pytest.mark.parametrize("flavour", FLAVOURS)
def test_models_are_solvable_often_enough_and_have_every_predicate(flavour):
    solvable, names = 0, set()
    for number in range(200):
        model = draw_model(Random(f"{flavour}/{number}"), flavour)
        names |= {constraint.name for constraint in model.constraints}
        try:
            solvable += bool(Expected(model).objectives)
        except WindowTooSmall:
            continue
    assert 60 < solvable < 200
    assert len(names) > 50


def test_globals_are_drawn_in_every_form():
    models = (draw_model(Random(f"globals/{number}"), "small", with_globals=1) for number in range(1000))
    drawn = {constraint.name for model in models for constraint in model.constraints}
    names = {one.name for one in GLOBALS}
    assert set(CALLS) == names
    assert {name for name in names if name in drawn and f"{name}_reif" in drawn} == names
    assert all(any(name.startswith("turbo_") and name.endswith(form) for name in drawn) for form in FORMS)


@pytest.mark.parametrize("name", CALLS)
def test_calls_of_a_global_have_sizes_that_fit_and_the_meaning_of_the_oracle(name):
    """Values that satisfy it are drawn, and values that do not; the checker and the oracle agree on all."""
    truths = Counter()
    for number in range(60):
        model, scope = Model(file="fuzz.fzn"), Scope(Random(f"{name}/{number}"), "small")
        declare_variables(model, scope)
        call = CALLS[name](Drawer(scope, model))
        fits = PREDICATES[name].fits
        assert fits is None or fits(*call)
        for _ in range(4):
            truth = is_satisfied(scope, model, name, call)
            assert GLOBAL_MEANINGS[name](*(resolve(scope, model, argument) for argument in call)) == truth, call
            truths[truth] += 1
            domains = {key: model.variables[key].domain or (0, 1) for key in scope.witness}
            scope.witness = {key: scope.random.choice(list(domain)) for key, domain in domains.items()}
    assert truths[True] > 10 and truths[False] > 10


def test_a_call_of_a_global_is_shrunk_with_sizes_that_fit():
    text = "var 0..2: x; var 0..2: y; var bool: b; constraint turbo_cumulative_reif([x,y,1],[1,2,1],[x,1,1],2,b);"
    small = shrink(parse_text(text + "solve satisfy;"), lambda model: bool(model.constraints))
    assert [(item.name, item.args[:3]) for item in small.constraints] == [("turbo_cumulative", [[], [], []])]


def test_a_number_of_a_seed_is_always_the_same_instance():
    first, second = (with_text(instance(3, 14, "cpu", None)[0]).text for _ in range(2))
    assert first == second != with_text(instance(3, 15, "cpu", None)[0]).text


def with_wrong_maximum(monkeypatch) -> None:
    """A solver that takes array_int_maximum for array_int_minimum."""
    wrong = constraints.PREDICATES["array_int_minimum"]
    monkeypatch.setitem(constraints.PREDICATES, "array_int_maximum", wrong)


def test_learners_that_lack_memory_may_leave_a_model_whose_constraints_only_they_know():
    text = "var 0..0: x :: output_var;\nconstraint turbo_disjunctive([0,0,0],[0,0,0]);\nsolve minimize x;\n"
    ours = Way(blocks=3, learn="auto", free_search=True, n_solutions=1, memory=1, thresholds={"lower.budget_cells": 0})
    assert judge(parse_text(text), ours).kind == "unclaimed"
    for other in (replace(ours, memory=3), replace(ours, blocks=1), replace(ours, thresholds={})):
        assert judge(parse_text(text), other).kind == "right"


def test_a_wrong_constraint_is_found_and_shrunk(monkeypatch):
    with_wrong_maximum(monkeypatch)
    failures = (try_instance(SEED, number, "cpu", "small")[1] for number in range(2000))
    failure = next(failure for failure in failures if failure is not None)
    model, way = instance(SEED, failure.number, "cpu", "small")
    small = shrink(model, lambda candidate: judge(candidate, way).kind == "wrong")
    assert judge(small, way).is_fault
    assert [constraint.name for constraint in small.constraints] == ["array_int_maximum"]
    monkeypatch.undo()
    assert not judge(small, way).is_fault


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("var 1..2: x :: output_var; solve satisfy;", "missing"),
        ("var 1..4: x :: output_var; solve satisfy;", "no solution"),
        ("var 1..3: x :: output_var; solve maximize x;", "objective"),
        ("var 1..3: x :: output_var; constraint int_lt(x,x); solve satisfy;", "missing"),
    ],
)
def test_the_judge_sees_another_answer(text, fault):
    """The answers of these models, judged as answers of one with the solutions 1, 2 and 3."""
    right = "satisfy" if "satisfy" in text else "minimize x"
    expected = Expected(parse_text(f"var 1..3: x :: output_var; solve {right};"))
    assert fault in judge(parse_text(text), Way(), expected).fault
