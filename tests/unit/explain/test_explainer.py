"""How sets are tested: what a solution spares, what is tried again with more time, and what cannot be tried at all."""

from __future__ import annotations

import pytest

from turbo_fzn.base.errors import EngineError
from turbo_fzn.check.checker import Checker
from turbo_fzn.explain.explainer import Explainer
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.read.languages import parse_named
from turbo_fzn.run.answer.outcome import Core

CONFLICT = [10, 25]  # of 32 constraints


def model_text() -> str:
    lines = [f"var 1..3: x{i};" for i in range(32)]
    bounds = ["int_lin_le([1],[x0],1)", "int_lin_le([-1],[x0],-2)"]
    others = iter([f"int_ne(x{i},x{i + 1})" for i in range(1, 31)])
    lines += [f"constraint {bounds[CONFLICT.index(i)] if i in CONFLICT else next(others)};" for i in range(32)]
    return "\n".join([*lines, "solve satisfy;\n"])


@pytest.fixture
def explainer() -> Explainer:
    return Explainer(parse_named(model_text()), Options(arch="cpu"), Interrupt(), 0.0)


def is_the_conflict(core: Core) -> bool:
    return core.titles == ["int_lin_le([1],[x0],1)", "int_lin_le([-1],[x0],-2)"]


def wheel(rim: int) -> str:
    """A hub and an odd rim in three colours, of which each edge is to blame."""
    edges = [*((f"v{i}", f"v{(i + 1) % rim}") for i in range(rim)), *(("hub", f"v{i}") for i in range(rim))]
    lines = [f"var 1..3: {name};" for name in ("hub", *(f"v{i}" for i in range(rim)))]
    return "\n".join([*lines, *(f"constraint int_ne({a},{b});" for a, b in edges), "solve satisfy;\n"])


def test_a_solution_of_some_constraints_spares_the_tests_of_all_that_hold_in_it(monkeypatch):
    options = Options(arch="cpu", threads=1, seed=1)
    with_solutions, without = (Explainer(parse_named(wheel(9)), options, Interrupt(), 0.0) for _ in range(2))
    monkeypatch.setattr(without, "satisfied", lambda solution: frozenset())
    cores = [explainer.run() for explainer in (with_solutions, without)]
    assert [(len(core.constraints), core.minimal) for core in cores] == [(18, True)] * 2
    assert with_solutions.n_tests < without.n_tests


def test_variables_that_no_constraint_of_a_test_names_have_a_value_of_their_domains():
    text = "var -5..-3: a; var {2,7}: b; var int: c; var bool: d; var 1..3: e; constraint int_lt(e,e); solve satisfy;"
    explainer = Explainer(parse_named(text), Options(arch="cpu"), Interrupt(), 0.0)
    assert explainer.parts.values == {"a": -5, "b": 2, "c": 0, "d": 0, "e": 1}


def test_values_that_an_array_forbids_say_nothing_of_any_constraint():
    text = "var int: a; array [1..1] of var 3..5: row = [a]; constraint int_le(a,1); solve satisfy;"
    explainer = Explainer(parse_named(text), Options(arch="cpu"), Interrupt(), 0.0)
    assert explainer.parts.failed({}) is None
    assert explainer.parts.failed({"a": 3}) == {0}


def test_the_options_of_a_run_change_no_core():
    options = Options(arch="cpu", project="x1", check="never", all_solutions=True, statistics=True)
    assert is_the_conflict(Explainer(parse_named(model_text()), options, Interrupt(), 0.0).run())


def test_a_test_that_had_not_enough_time_is_made_again_with_more(explainer, monkeypatch):
    """The first tests end without an answer, but for that of the whole."""
    whole, seconds = explainer.solve, []

    def solve(model: object, share: Interrupt) -> object:
        seconds.append(explainer.seconds)
        return False if len(seconds) <= 12 else whole(model, share)

    monkeypatch.setattr(explainer, "solve", solve)
    core = explainer.run()
    assert is_the_conflict(core) and core.minimal
    assert seconds[-1] > seconds[0]


def test_what_no_engine_can_search_is_left_in_the_core_which_is_not_called_minimal(explainer, monkeypatch):
    def solve(model: object, share: Interrupt) -> object:
        raise EngineError("no GPU")

    monkeypatch.setattr(explainer, "solve", solve)
    core = explainer.run()
    assert (len(core.constraints), core.minimal) == (32, False)


def test_boxes_that_stay_undecided_are_not_searched_again_and_again(monkeypatch):
    """Their search ends by itself, without an answer: more time changes nothing."""
    monkeypatch.setattr(Checker, "undecided", lambda self, values: "never mind")
    text = "var 1.0..2.0: x; var 1..9: z; constraint float_times(x,x,2.0); constraint int_le(5,z);"
    model = parse_named(f"{text} constraint int_le(z,4); solve satisfy;")
    explainer = Explainer(model, Options(arch="cpu"), Interrupt(), 0.0)
    whole = explainer.solve

    def solve(model: object, share: Interrupt) -> object:
        assert explainer.n_tests < 50
        return whole(model, share)

    monkeypatch.setattr(explainer, "solve", solve)
    assert explainer.run().titles == ["int_le(5,z)", "int_le(z,4)"]


def test_a_stop_reaches_the_test_that_is_under_way(explainer, monkeypatch):
    whole = explainer.solve

    def solve(model: object, share: Interrupt) -> object:
        explainer.interrupt.request()
        assert share.requested and share
        return whole(model, share)

    monkeypatch.setattr(explainer, "solve", solve)
    core = explainer.run()
    assert explainer.n_tests == 1 and (len(core.constraints), core.minimal) == (32, False)
