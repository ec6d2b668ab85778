"""A model that is prepared once: what calls assume, seek and hear, by enumeration; stops; nothing is left behind."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Iterator
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.command import LEAST_SUM, golomb
from support.oracle import all_solutions
from support.random_models import models
from turbo_fzn import Model, solve_text
from turbo_fzn.base.errors import InternalError, ModelError, UsageError
from turbo_fzn.process.footprint import resident_bytes
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.read import model as parsed
from turbo_fzn.run.prepared import Prepared

TEXT = """\
var 1..9: x :: output_var;
var 1..9: y :: output_var;
var 1..99: z :: is_defined_var;
var bool: b;
var bool: c :: var_is_introduced;
array [1..2] of var int: pair :: output_array([1..2]) = [x,y];
constraint int_times(x,y,z) :: defines_var(z);
constraint int_lt_reif(x,y,b);
constraint int_lin_le([1,1],[x,y],12);
solve maximize z;
"""


def drawn_assumption(random: Random, variable: parsed.Variable) -> object:
    if variable.kind == "bool":
        return random.choice((True, False, 0, 1, (None, True)))
    low, high = sorted(random.randint(-5, 6) for _ in range(2))
    return random.choice((low, (low, high), (low, None), (None, high)))


def holds(assumption: object, value: int) -> bool:
    least, greatest = assumption if isinstance(assumption, tuple) else (assumption, assumption)
    return (least is None or value >= least) and (greatest is None or value <= greatest)


@given(models(["satisfy", "minimize", "maximize"]), st.integers(0, 2**20))
def test_calls_with_assumptions_and_goals_agree_with_enumeration(engine, drawn, seed):
    random = Random(seed)
    known = all_solutions(drawn)
    model = Model(drawn.text, arch=engine)
    chosen = random.sample(list(drawn.variables), k=random.randint(0, 2))
    assume = {name: drawn_assumption(random, drawn.variables[name]) for name in chosen}
    left = [one for one in known if all(holds(wanted, one[name]) for name, wanted in assume.items())]
    asked = model.solve(assume, "satisfy", all_solutions=True, project=",".join(drawn.variables))
    found = [{name: int(value) for name, value in one.items()} for one in asked.solutions]
    assert sorted(map(sorted_items, found)) == sorted(map(sorted_items, left))
    name, method = random.choice(list(drawn.variables)), random.choice(("minimize", "maximize"))
    best = model.solve(assume, f"{method} {name}", hint=known[0] if known else None)
    assert best.status == ("OPTIMAL_SOLUTION" if left else "UNSATISFIABLE")
    if left:
        assert best.objective == (min if method == "minimize" else max)(one[name] for one in left)


def sorted_items(solution: dict[str, int]) -> list[tuple[str, int]]:
    return sorted(solution.items())


@given(models(["satisfy"]), st.integers(0, 2**20))
def test_a_projection_has_each_combination_once(engine, drawn, seed):
    names = Random(seed).sample(list(drawn.variables), k=Random(seed).randint(1, len(drawn.variables)))
    expected = {tuple(one[name] for name in names) for one in all_solutions(drawn)}
    result = solve_text(drawn.text, arch=engine, all_solutions=True, project=",".join(names))
    found = [tuple(int(one[name]) for name in names) for one in result.solutions]
    assert len(found) == len(set(found)) and set(found) == expected and result.complete


def test_the_output_is_that_of_the_model_and_what_may_be_assumed_is_all_that_it_declares():
    model = Model(TEXT, arch="cpu")
    assert model.variables == ["x", "y", "z", "b"]
    assert model.solve({"x": 2}).solutions == [{"x": 2, "y": 9, "pair": [2, 9]}]
    assert model.solve({"x": 2}, project="z,b").solutions == [{"z": 18, "b": True}]
    assert Model(TEXT, arch="cpu", project="pair").solve().solutions == solve_text(TEXT, project="pair").solutions


def test_an_array_may_be_named_by_a_projection_also_where_the_model_does_not_print_it():
    text = TEXT.replace("constraint int_times", "array [1..2] of var int: row = [z,3];\nconstraint int_times", 1)
    model = Model(text, arch="cpu")
    assert model.solve({"x": 2}, project="row").solutions == [{"row": [18, 3]}]
    assert Model(text, arch="cpu", project="row").solve().solutions == solve_text(text, project="row").solutions
    assert model.solve({"x": 2}).solutions == [{"x": 2, "y": 9, "pair": [2, 9]}]


def test_an_assumption_holds_for_one_call_alone():
    model = Model(TEXT, arch="cpu")
    assert model.solve({"z": (None, 10)}).objective == 10
    assert model.solve({"z": (1000, None)}).status == "UNSATISFIABLE"
    assert model.solve().objective == 36


def test_an_assumption_that_the_search_loses_is_noticed_by_the_check(monkeypatch):
    model = Model(TEXT, arch="cpu")
    whole = model._prepared.tnf

    def forget(prepared: Prepared, interrupt: object) -> Prepared:
        prepared.tnf.lower, prepared.tnf.upper = whole.lower, whole.upper
        return prepared

    monkeypatch.setattr("turbo_fzn.interface.model.settle_root", forget)
    with pytest.raises(InternalError, match="failed its check"):
        model.solve({"x": 2})


def test_the_reason_may_be_an_assumption():
    core = Model(TEXT, arch="cpu").solve({"x": (7, None), "z": 5, "b": True, "y": (None, 8)}, explain=True).core
    assert core.minimal and core.titles == ["int_times(x,y,z)", "7 <= x", "z = 5"]


def test_the_reason_may_be_assumptions_of_an_xcsp3_instance():
    text = '<instance><variables><var id="x"> 1..9 </var><var id="y"> 1..9 </var></variables><constraints>'
    text += '\n<intension id="up"> gt(add(x,y),10) </intension></constraints></instance>'
    core = Model(text, arch="cpu").solve({"x": 2, "y": (None, 8)}, explain=True).core
    assert core.minimal and [str(one) for one in core.constraints] == ["up (line:2.1)", "x = 2", "y <= 8"]


def test_real_variables_are_assumed_too():
    text = "var -9.0..9.0: r :: output_var; var 1..4: k; constraint int2float(k,r); solve maximize r;"
    model = Model(text, arch="cpu")
    assert model.solve({"r": (None, 2.5)}).objective == 2.0
    assert model.solve({"r": 2.5}).status == "UNSATISFIABLE"
    assert model.solve({"k": 3}).solutions == [{"r": 3.0}]
    assert model.solve({"k": 3}, hint={"r": np.float32(2)}).solutions == [{"r": 3.0}]
    with pytest.raises(UsageError, match="are no numbers for r"):
        model.solve(hint={"r": "a lot"})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"assume": {"q": 1}}, "no variable q; there are b, pair, x, y, z"),
        ({"assume": {"c": 1}}, "no variable c"),
        ({"assume": {"pair": 1}}, "pair is an array"),
        ({"assume": {"x": 1.5}}, "assume: 1.5 is no value of x, which is of kind int"),
        ({"assume": {"x": 2**62}}, "assume: 4611686018427387904 is no value of x"),
        ({"assume": {"b": 2}}, "assume: 2 is no value of b, which is of kind bool"),
        ({"goal": "minimise x"}, "goal: expected satisfy, minimize NAME or maximize NAME, found 'minimise x'"),
        ({"goal": "satisfy x"}, "goal: expected"),
        ({"goal": "minimize"}, "goal: expected"),
        ({"goal": "minimize pair"}, "pair is an array"),
        ({"hint": {"pair": [1]}}, "hint: pair has 2 values, not 1"),
        ({"hint": {"pair": [1, "x"]}}, "hint: [1, 'x'] are no whole numbers"),
        ({"hint": {"pair": [1, 2.5]}}, "hint: [1, 2.5] are no whole numbers"),
        ({"hint": {"pair": [1, float("nan")]}}, "hint: [1, nan] are no whole numbers"),
        ({"hint": {"pair": [[1], [2, 3]]}}, "hint: [[1], [2, 3]] are no whole numbers"),
        ({"hint": {"pair": [1, None]}}, "hint: [1, None] are no whole numbers"),
        ({"project": "q"}, "no variable q"),
    ],
    ids=str,
)
def test_what_a_call_cannot_mean_is_refused(arguments, message):
    with pytest.raises(UsageError) as raised:
        Model(TEXT, arch="cpu").solve(**arguments)
    assert message in str(raised.value)


def test_a_text_that_is_no_model_is_refused_at_once():
    with pytest.raises(ModelError):
        Model("var 1..3: x; constraint once(x); solve satisfy;")


def test_solutions_and_bounds_are_heard_as_they_come():
    heard: list[tuple[str, object]] = []
    result = Model(golomb(7), arch="cpu", threads=1, seed=1).solve(
        on_solution=lambda values, objective: heard.append(("solution", objective)),
        on_bound=lambda bound: heard.append(("bound", bound)),
    )
    solutions = [value for kind, value in heard if kind == "solution"]
    bounds = [value for kind, value in heard if kind == "bound"]
    assert solutions == sorted(solutions, reverse=True) and bounds == sorted(set(bounds))
    assert solutions[-1] == bounds[-1] == result.objective == 25
    assert all(bound <= result.objective for bound in bounds)
    assert solve_text(LEAST_SUM, arch="cpu", on_bound=lambda bound: heard.append(("last", bound))).objective == 7
    assert heard[-1] == ("last", 7)


def test_what_a_callback_raises_ends_the_search_and_nothing_is_lost():
    def refuse(values: object, objective: object) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough") as raised:
        solve_text(golomb(7), arch="cpu", on_solution=refuse)
    assert len(raised.value.result.solutions) == 1


def test_a_call_is_stopped_from_a_callback_and_from_another_thread():
    with Model(golomb(14), arch="cpu") as model:
        result = model.solve(on_solution=lambda values, objective: model.stop())
        assert result.status == "SATISFIED" and result.solutions
        timer = threading.Timer(0.05, model.stop)
        timer.start()
        assert model.solve().status in ("SATISFIED", "UNKNOWN")
        timer.join()
        model.stop()  # of nothing
        assert model.solve({"m13": (None, 3)}).status == "UNSATISFIABLE"


def test_a_stop_of_all_calls_stops_the_next_one_too():
    """It may come when one call has ended and the next has not begun, so that there is nothing to stop."""
    model = Model(golomb(5), arch="cpu")
    model.until = Interrupt()
    assert model.solve().status == "OPTIMAL_SOLUTION"
    model.until.request()
    assert model.solve().status == "UNKNOWN"


def test_a_time_that_is_over_leaves_everything_unknown():
    assert Model(golomb(8), arch="cpu").solve(time_limit=-1).status == "UNKNOWN"


@pytest.fixture
def no_collector() -> Iterator[None]:
    """Without the collector of cycles, which comes the later the more objects a program has."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def test_calls_leave_no_thread_and_no_memory_behind(no_collector):
    """After some, in which the allocator takes what it will keep."""
    model = Model(golomb(6), arch="cpu")
    sizes, threads = [], threading.active_count()
    for number in range(110):
        assert model.solve({"m5": (17 + number % 3, None)}).objective == 17 + number % 3
        if number in (9, 109):
            sizes.append(resident_bytes())
    assert threading.active_count() <= threads
    assert sizes[1] - sizes[0] < 5e6


def test_a_proof_leaves_no_file_open_behind(no_collector, tmp_path):
    def n_open() -> int:
        return len(os.listdir("/proc/self/fd"))

    def prove() -> None:
        assert solve_text(golomb(6), arch="cpu", proof=str(tmp_path / "a.pbp")).objective == 17

    prove()
    before = n_open()
    prove()
    assert n_open() == before


def test_a_callback_cannot_solve_the_model_that_calls_it():
    """It would wait for itself; afterwards the model is as before."""
    model = Model(TEXT, arch="cpu")
    with pytest.raises(UsageError, match="a callback of Model.solve cannot solve the same model"):
        model.solve(on_solution=lambda *_: model.solve())
    assert model.solve().objective == 36
