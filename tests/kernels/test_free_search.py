"""Each mechanism of free search is at work: switched off, it would change no answer, only the time to find it.

A block of neighbourhoods and restarts runs alone, so that what it does follows from its seed; what is drawn at random
is counted over hundreds of draws. The clock is the number of tasks that a block has finished.
"""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given

from support.command import wait_until
from support.engines import OpenEngine, labelled
from support.free_search import BEST_GAIN, KNAPSACK, NEIGHBOURHOODS, RESTARTS, first_solution, tasks
from support.market_split import market_split_model
from support.oracle import all_solutions, optimum
from support.random_models import models
from turbo_fzn.engine.contract import Found
from turbo_fzn.engine.tuning import TUNING

MANY = 10**9  # tries on the books, so that what a try takes is what the books say, and not what the machine takes
APART = 3  # an island that takes no notice of the record


def alone(text: str, *methods: str, simplify: bool = True, blocks: int = 2, **settings: object) -> OpenEngine:
    """An engine whose blocks search by these methods only."""
    return OpenEngine(text, simplify, blocks=blocks, lns_percent=100, methods=frozenset(methods), **settings)


def pigeons(number: int, holes: int, more: str = "", goal: str = "satisfy") -> str:
    names = [f"p{i}" for i in range(number)]
    pairs = "".join(f"constraint int_ne({a},{b});\n" for i, a in enumerate(names) for b in names[i + 1 :])
    return labelled(dict.fromkeys(names, f"1..{holes}"), more + pairs, goal)


def few_holes(number: int, holes: int) -> str:
    """A model of pigeons that try the highest holes first, where the objective is the highest hole used."""
    highest = "".join(f"constraint int_le(p{i},z);\n" for i in range(number))
    text = pigeons(number, holes, f"var 1..{holes}: z :: output_var;\n" + highest, "minimize z")
    return text.replace("indomain_min", "indomain_max")


def alternating(number: int) -> str:
    """The best of all assignments of 0 and 1 is 0 1 0 1 ..., with nothing amiss."""
    names, signs = [f"x{i}" for i in range(number)], [1, -1] * (number // 2)
    terms = f"{[*signs, -1]},[{','.join(names)},amiss],{-(number // 2)}"
    total = f"var 0..{number}: amiss;\nconstraint int_lin_eq({terms});\n"
    return labelled(dict.fromkeys(names, "0..1"), total, "minimize amiss")


# ---- who is next


def shares(**books: dict[str, int]) -> dict[str, float]:
    """The share of 1000 tasks that each of two methods gets, when their books say this at the start."""
    engine = alone(market_split_model(), "random", "window")
    for method in ("random", "window"):
        for name, figure in {"tries": MANY, "busy_ns": MANY * 10**6, **books.get(method, {})}.items():
            setattr(engine.book(method), name, figure)
    drawn = lambda method: engine.book(method).tries - MANY  # noqa: E731
    found = first_solution(market_split_model())
    engine.run_alone(enough=lambda: drawn("random") + drawn("window") >= 1000, incumbent=found)
    total = drawn("random") + drawn("window")
    return {method: drawn(method) / total for method in ("random", "window")}


PAYS, DOES_NOT_PAY = {"recent_gain": 10**6}, {"recent_ns": 10**15}


@pytest.mark.parametrize(("better", "worse"), [("random", "window"), ("window", "random")])
def test_a_method_that_improved_gets_the_time_but_for_an_even_part(better, worse):
    drawn = shares(**{better: PAYS, worse: DOES_NOT_PAY})
    assert drawn[better] == pytest.approx(0.85, abs=0.06)  # five times the deviation of a thousand draws


def test_a_method_whose_tries_take_longer_is_drawn_more_rarely():
    assert shares(random={"busy_ns": MANY * 10**8})["random"] < 0.05


def test_a_method_that_many_blocks_are_at_waits():
    assert shares(random={"running": 1000})["random"] == 0


def test_what_a_method_brought_is_forgotten_in_time():
    engine = alone(market_split_model(), "random")
    book = engine.book("random")
    book.recent_gain, book.recent_ns = 10**6, 10**15
    engine.run_alone(enough=lambda: tasks(engine) >= 50, incumbent=first_solution(market_split_model()))
    assert book.recent_gain < 10**3 and book.recent_ns < 10**14


# ---- neighbourhoods


@pytest.mark.parametrize("method", NEIGHBOURHOODS)
def test_each_kind_of_neighbourhood_leads_to_better_solutions(method):
    engine = alone(KNAPSACK, method)
    found = engine.run_alone(enough=lambda: tasks(engine) >= 2000, incumbent=first_solution(KNAPSACK))
    assert found[-1].objective == BEST_GAIN and not engine.complete
    assert {solution.method for solution in found} == {method}


def test_neighbourhoods_that_are_searched_to_their_end_become_larger():
    engine = alone(KNAPSACK, "random")
    engine.run_alone(enough=lambda: tasks(engine) >= 2000, incumbent=first_solution(KNAPSACK))
    tried = [share for sizes in engine.book("random").share for share in sizes if share != TUNING.first_share]
    assert tried and max(tried) < TUNING.first_share


def test_neighbourhoods_that_are_cut_become_smaller():
    engine = alone(market_split_model(), "random")
    engine.run_alone(enough=lambda: tasks(engine) >= 500, incumbent=first_solution(market_split_model()))
    assert (
        engine.book("random").share[0][0] > TUNING.first_share
    )  # of those that may fail least often: every second task


def islands(engine: OpenEngine) -> np.ndarray:
    """version, value, patience of each (int64 [islands, 8]), to be read and written."""
    return engine.memory["islands"].view(np.int64).reshape(engine.layout.n_islands + 1, -1)  # the last is the host's


def test_nobody_reads_an_incumbent_that_is_being_written(monkeypatch):
    """Its version is odd as long as the test says so."""
    engine = alone(KNAPSACK, "random")
    first_islands = engine.layout.first_islands

    def half_written(incumbent: Found) -> tuple[np.ndarray, np.ndarray]:
        made, values = first_islands(incumbent)
        made.view(np.int64)[0] = 3
        return made, values

    monkeypatch.setattr(engine.layout, "first_islands", half_written)
    engine.threads = engine.threads[:1]
    engine.start(first_solution(KNAPSACK))
    time.sleep(0.2)
    assert tasks(engine) == 0
    islands(engine)[0, 0] = 4
    engine.search_until(lambda: tasks(engine) >= 100)


def test_one_at_a_time_writes_an_incumbent():
    """A block that finds a solution waits until the other block, which the test plays, has written its own."""
    engine = OpenEngine(KNAPSACK, blocks=2, lns_percent=50)
    islands(engine)[0, 0] = 1
    engine.threads = engine.threads[:1]
    engine.start()
    wait_until(lambda: engine.common.ring_head == 1)
    time.sleep(0.2)
    assert engine.common.ring_head == 1
    islands(engine)[0, 0] = 0
    found = engine.search_until(lambda: False)
    assert engine.complete and islands(engine)[0, :2].tolist() == [2 * len(found), -found[-1].objective]


def test_an_island_apart_is_settled_anew_when_its_patience_is_at_an_end():
    """Its value is one that nothing can improve on, so it changes only by being given up."""
    engine = alone(market_split_model(), *NEIGHBOURHOODS, "annotated", blocks=4)
    island, impossible, spoilt = islands(engine)[APART], -5, False

    def is_settled_anew() -> bool:
        nonlocal spoilt
        if not spoilt and island[0] > 1 and island[0] % 2 == 0:
            island[1:3] = impossible, 0
            spoilt = True
        return (spoilt and island[1] != impossible) or tasks(engine) >= 20_000

    engine.run_alone(block=APART - 1, enough=is_settled_anew)
    assert spoilt and island[1] >= 0


# ---- restarts


@pytest.mark.parametrize("method", ["weighted", "annotated"])
def test_restarts_become_long_enough_for_a_proof(method):
    """Luby's limits: this one takes more failures than most restarts have."""
    engine = alone(pigeons(8, 7), method)
    engine.run_alone(enough=lambda: tasks(engine) >= 1000)
    assert engine.complete and engine.counted("failures")[0] > 5040


def test_a_failure_is_looked_at_first_until_it_is_settled():
    """Three pigeons behind twenty free choices: in their order, a million failures (last conflict)."""
    more = "".join(f"var 1..2: {name};\n" for name in "uvw")
    more += "".join(f"constraint int_ne({a},{b});\n" for a, b in ("uv", "vw", "uw"))
    engine = alone(labelled({f"x{i}": "0..1" for i in range(20)}, more), "annotated", simplify=False)
    engine.run_alone(enough=lambda: tasks(engine) >= 1000)
    assert engine.complete


def test_restarts_along_the_annotation_reverse_some_branches():
    """The first choice is never undone within a restart, and is its first branch but for the reversed ones."""
    text = pigeons(12, 11).replace("int_search([", "int_search([first,")
    engine = alone("var 1..2: first :: output_var;\n" + text, "annotated", simplify=False)
    last, tried, seen = engine.memory["phases"], engine.place("first"), set()
    engine.run_alone(enough=lambda: seen.add(int(last[tried])) or seen >= {1, 2} or tasks(engine) >= 5000)
    assert seen >= {1, 2}


def test_a_probe_asks_for_so_much_that_it_can_be_refuted():
    """Twelve pigeons want as few holes as possible: that eleven are too few cannot be proved, that four are can."""
    lowest = "".join(f"constraint int_le(p{i},z);\n" for i in range(12))
    text = pigeons(12, 30, "var 1..30: z :: output_var;\n" + lowest, "minimize z")
    engine = alone(text, "probe")
    found = engine.run_alone(enough=lambda: engine.common.bound >= 5 or tasks(engine) >= 300)
    assert 5 <= engine.common.bound <= 12 <= found[-1].objective


@pytest.mark.parametrize("least", range(2, 6))
@pytest.mark.parametrize("worst", range(5, 9))
def test_what_a_probe_refutes_bounds_no_more_than_its_aim(least, worst):
    """So many pigeons need `least` holes, and the bound begins at 1: soon a probe aims at one hole less."""
    text = few_holes(least, worst)
    engine = alone(text, "probe", seed=worst)
    found = engine.run_alone(incumbent=first_solution(text))
    assert engine.complete and (engine.common.bound, engine.common.best) == (least, least)
    assert all(solution.objective >= least for solution in found)


@given(model=models(["minimize", "maximize"]))
def test_probes_of_a_random_model_prove_its_optimum_and_no_more(model):
    """They begin with the first solution, whatever it is worth."""
    best = optimum(model, all_solutions(model))
    if best is None:
        return
    engine = alone(model.text, "probe", seed=len(model.text))
    engine.run_alone(incumbent=first_solution(model.text))
    assert engine.complete and engine.common.bound == engine.common.best == engine.layout.tnf.sense * best


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("method", RESTARTS)
def test_a_restart_that_gave_something_up_proves_nothing(method, seed):
    """There is room for one level, so that most of the space is left out."""
    engine = alone(alternating(20), method, level_capacity=1, seed=seed)
    found = engine.run_alone(enough=lambda: tasks(engine) >= 500)
    assert found[0].objective > 0 >= engine.common.bound
    assert engine.complete == (engine.common.best == 0)


# ---- what is learnt on the way


def test_variables_with_more_failures_are_labelled_first():
    text = labelled({"x": "1..3", "y": "1..3"}).replace("input_order", "dom_w_deg")
    for name, other in ("xy", "yx"):
        engine = OpenEngine(text, simplify=False, blocks=1)
        first, second = engine.place(name), engine.place(other)
        engine.memory["weights"][[first, second]] = 100, 1
        values = [solution.values[[first, second]].tolist() for solution in engine.run()]
        assert values == sorted(values) and len(values) == 9


@pytest.mark.parametrize(("choice", "charged"), [("dom_w_deg", True), ("input_order", False)])
def test_each_failure_of_the_tree_is_charged_to_one_variable_where_the_model_looks_at_them(choice, charged):
    engine = OpenEngine(pigeons(6, 5).replace("input_order", choice), blocks=1)
    before = int(engine.memory["weights"].sum())
    engine.run()
    failures = engine.counted("failures")[0]
    assert failures == 120 and engine.memory["weights"].sum() - before == (failures if charged else 0)


def test_restarts_try_the_value_that_was_last_used_anywhere():
    """The value is one of a thousand, so it is almost never found by chance."""
    text = labelled({f"x{i}": "0..1000" for i in range(20)})
    met = 0
    for seed in range(20):
        engine = alone(text, "weighted", ring_slots=1, seed=seed)
        engine.memory["phases"][:] = 777
        found = engine.run_alone(enough=lambda engine=engine: engine.common.consumed)
        met += int((found[0].values == 777).sum())
    assert met > 50


def test_a_value_that_was_used_is_kept():
    engine = alone(labelled({"x": "5..9"}), "weighted")
    assert len(engine.run_alone()) >= 5 and engine.memory["phases"][0] in range(5, 10)
