"""Restarts that a model or the user asks for come after so many failures, and change no answer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.engines import OpenEngine, labelled
from support.free_search import BEST_GAIN, KNAPSACK, first_solution, tasks
from support.market_split import market_split_model
from support.oracle import all_solutions, optimum
from support.random_models import models, solve
from turbo_fzn import solve_text
from turbo_fzn.engine.layout.stated import N_LIMITS, UNLIMITED, limits
from turbo_fzn.engine.layout.stated import luby as luby_sequence
from turbo_fzn.tnf.language import RESTARTS, Restarts

SCHEDULES = [
    Restarts("constant", 7),
    Restarts("linear", 3),
    Restarts("luby", 5),
    Restarts("geometric", 2, 1.5),
    Restarts("none"),
]


def luby(i: int) -> int:
    """By the definition, for i >= 1."""
    k = i.bit_length()
    return 1 << (k - 1) if i == (1 << k) - 1 else luby(i - (1 << (k - 1)) + 1)


@pytest.mark.parametrize(
    ("restarts", "first"),
    [
        (Restarts("constant", 7), [7]),
        (Restarts("linear", 7), [7, 14, 21, 28]),
        (Restarts("luby", 7), [7, 7, 14, 7, 7, 14, 28, 7]),
        (Restarts("geometric", 10, 2.5), [10, 25, 62, 156]),
        (Restarts("none"), [UNLIMITED]),
        (Restarts("constant", -3), [1]),
        (Restarts("geometric", 9, 0.5), [9, 4, 2, 1, 1]),
        (Restarts("geometric", 2**40, 1e9), [UNLIMITED, UNLIMITED]),
        (Restarts("geometric", 100, -2.0), [100, 1, 400, 1]),
    ],
)
@pytest.mark.filterwarnings("error")
def test_the_limits_of_a_schedule_are_those_of_its_kind(restarts, first):
    found = limits(restarts)
    assert found[: len(first)].tolist() == first
    assert found.min() >= 1 and found.max() <= UNLIMITED


def test_the_sequence_of_luby_is_that_of_its_definition():
    assert luby_sequence().tolist() == [luby(i) for i in range(1, N_LIMITS + 1)]


def pigeons(number: int) -> str:
    names = [f"p{i}" for i in range(number)]
    pairs = "".join(f"constraint int_ne({a},{b});\n" for i, a in enumerate(names) for b in names[i + 1 :])
    return labelled(dict.fromkeys(names, f"1..{number - 1}"), pairs)


@pytest.mark.covers("A9")
@pytest.mark.parametrize("restarts", SCHEDULES)
def test_a_learner_restarts_after_the_failures_of_the_schedule(restarts):
    """Where a failure has led back to level 0, the next may come before there is anything to undo."""
    engine = OpenEngine(pigeons(7), False, blocks=1, roles=("finder",), restarts=restarts)
    assert engine.run() == [] and engine.complete
    (failures,), (count,) = engine.counted("failures"), engine.counted("restarts")
    due = np.resize(limits(restarts), max(count + 2, 1)) if restarts.kind == "constant" else limits(restarts)
    assert failures > 40
    assert due[:count].sum() <= failures <= due[: count + 1].sum() + count


@pytest.mark.covers("A9")
@pytest.mark.parametrize("method", ["weighted", "annotated", "stated"])
def test_restarts_and_stated_neighbourhoods_of_free_search_end_after_the_failures_of_the_schedule(method):
    text = market_split_model()
    names = [line.split(":")[1].strip(" ;") for line in text.splitlines() if line.startswith("var 0..1:")]
    assert len(names) > 5
    text = text.replace("solve ", f"solve :: relax_and_reconstruct([{','.join(names)}],10) ")
    engine = OpenEngine(text, blocks=2, lns_percent=100, methods=frozenset([method]), restarts=Restarts("constant", 7))
    engine.run_alone(enough=lambda: tasks(engine) >= 200, incumbent=first_solution(text))
    each = sum(engine.counted("failures")) / tasks(engine)
    assert 7 < each <= 8  # the failure after the last one ends the task


@pytest.mark.covers("A9")
def test_without_restarts_the_tasks_of_free_search_have_their_usual_ends():
    methods = ("random", "weighted", "annotated")
    engine = OpenEngine(
        market_split_model(), blocks=2, lns_percent=100, methods=frozenset(methods), restarts=Restarts("none")
    )
    engine.run_alone(enough=lambda: min(engine.book(method).tries for method in methods) > 2)


def test_the_schedule_of_the_user_takes_the_place_of_the_models():
    """And the model's counts where it states a neighbourhood."""
    annotated = KNAPSACK.replace(" maximize", " :: restart_luby(9) maximize")
    stated = annotated.replace(" maximize", " :: relax_and_reconstruct([a,b],50) maximize")
    asked = [
        OpenEngine(text, restarts=one).layout.arrays["restart_limits"][:3].tolist()
        for text in (annotated, stated) for one in (None, Restarts("linear", 4))
    ]  # fmt: skip
    assert asked == [[], [4, 8, 12], [9, 9, 18], [4, 8, 12]]
    assert len(OpenEngine(KNAPSACK).layout.arrays["restart_limits"]) == 0


@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("kind", ["auto", *RESTARTS])
def test_the_options_choose_the_schedule(engine, kind, free):
    text = KNAPSACK.replace(" maximize", " :: restart_constant(2) maximize")
    result = solve_text(text, arch=engine, free_search=free, restart=kind, restart_scale=3, restart_base=1.25)
    assert (result.status, result.objective) == ("OPTIMAL_SOLUTION", BEST_GAIN)


def test_a_follower_without_restarts_has_none():
    counts = {
        kind: solve_text(pigeons(7), arch="cpu", learn="follower", blocks=1, seed=0, restart=kind, restart_scale=3)
        for kind in ("none", "constant")
    }
    assert counts["none"].statistics["restarts"] == 0 < counts["constant"].statistics["restarts"]


@pytest.mark.covers("A9")
@given(model=models(["minimize", "maximize"]), data=st.data())
@settings(max_examples=50)
def test_a_schedule_keeps_the_optimum_of_a_random_model(engine, model, data):
    kind, scale = data.draw(st.sampled_from(RESTARTS)), data.draw(st.integers(1, 9))
    best = optimum(model, all_solutions(model))
    for free in (True, False):
        result = solve(model, engine, 3, True, free_search=free, restart=kind, restart_scale=scale)
        assert result.objective == best, model.text
        assert result.status == ("UNSATISFIABLE" if best is None else "OPTIMAL_SOLUTION")
