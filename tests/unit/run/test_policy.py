"""What is decided of a run, on which machine and with which flags, and that it is decided once."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from types import SimpleNamespace

import numpy as np
import pytest

from support.command import LEAST_SUM, THREE_SOLUTIONS, golomb
from tools.decision_table import FILE, MODELS, lines
from turbo_fzn import solve_text
from turbo_fzn.base.errors import EngineError
from turbo_fzn.engine.together import fleet
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.ranks import world
from turbo_fzn.ranks.job import Job
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.run import engines, machine
from turbo_fzn.run.machine import Machine
from turbo_fzn.run.policy import check_names, decide, plan
from turbo_fzn.run.prepare import prepare


def test_the_decisions_are_those_of_the_table():
    """One that is meant to be another is written by `python tests/tools/decision_table.py --write`."""
    table = FILE.read_text(encoding="utf-8").splitlines()
    assert lines(table) == table and {case.partition(" | ")[0] for case in table if " | " in case} == MODELS.keys()


@pytest.mark.parametrize(
    ("arch", "no_gpu"), [("cpu", "--arch wants none"), ("auto", "no driver"), ("gpu", "no driver")]
)
def test_a_machine_has_the_processors_that_this_process_may_use(monkeypatch, arch, no_gpu):
    monkeypatch.setattr(machine.os, "sched_getaffinity", lambda process: range(3))
    monkeypatch.setattr(machine.wake, "absence", lambda: "no driver")
    assert machine.here(Options(arch=arch)) == Machine(3, no_gpu, is_rank=False)


@pytest.mark.parametrize(
    ("text", "settings", "status", "searches"),
    [
        (THREE_SOLUTIONS, {}, "SATISFIED", 1),
        (THREE_SOLUTIONS, {"all_solutions": True}, "ALL_SOLUTIONS", 1),
        (golomb(5), {"seed": 1}, "OPTIMAL_SOLUTION", 1),
        (golomb(5), {"free_search": True}, "OPTIMAL_SOLUTION", 1),
        (golomb(5), {"seed": 1, "threads": 1, "free_search": True, "intermediate": True}, "OPTIMAL_SOLUTION", 1),
        ("var int: x :: output_var; constraint int_le(3,x); solve minimize x;", {"seed": 1}, "OPTIMAL_SOLUTION", 1),
        ("var 0.0..9.0: x :: output_var; constraint float_le(3.0,x); solve minimize x;", {}, "OPTIMAL_SOLUTION", 1),
        (LEAST_SUM, {"all_optimal": True}, "OPTIMAL_SOLUTION", 2),
    ],
)
def test_a_run_decides_once_for_each_search(monkeypatch, text, settings, status, searches):
    """The second one is for the other optima."""
    decisions = []

    def remember(*arguments):
        decisions.append(decide(*arguments))
        return decisions[-1]

    monkeypatch.setattr(engines, "decide", remember)
    assert solve_text(text, arch="cpu", **settings).status == status
    assert len(decisions) == searches


@pytest.mark.parametrize(
    ("options", "different"),
    [
        ({}, {}),
        ({"simplify": False}, {"simplifies": False}),
        ({"variant": "unsimplified"}, {"simplifies": False}),
        ({"free_search": True}, {"breaks_symmetry": True, "suggests_tours": True}),
        ({"free_search": True, "symmetry": "off"}, {"suggests_tours": True}),
        ({"free_search": True, "proof": "x.opb"}, {"may_stand_alone": False, "suggests_tours": True}),
        ({"arch": "gpu"}, {"may_stand_alone": False}),
        ({"all_optimal": True}, {"may_stand_alone": False}),
        ({"variant": "octagon"}, {"closes_octagons": True}),
        ({"free_search": True, "cp_profiler": "1,6565"}, {"may_stand_alone": False}),
    ],
)
def test_what_is_chosen_before_a_model_is_lowered(options, different):
    usual = {"simplifies": True, "breaks_symmetry": False, "may_stand_alone": True,
             "closes_octagons": False, "closes_holes": False, "suggests_tours": False}  # fmt: skip
    model = parse_text(LEAST_SUM)
    assert plan(model, Options(**options), for_once=True)._asdict() == {**usual, **different}
    assert not plan(model, Options(**options), for_once=False).may_stand_alone


def test_a_variant_without_the_simplifier_has_none_however_it_is_prepared():
    """Only a `Run` looked at the variant."""
    model = parse_text(LEAST_SUM)
    ways: list[dict] = [{"variant": "unsimplified"}, {"simplify": False}]
    prepared = [prepare(model, Options(**way), Interrupt()) for way in ways]
    assert [one.reconstruction for one in prepared] == [None, None]
    assert len({one.tnf.n_rows for one in prepared}) == 1


def test_what_is_decided_stays():
    tnf = prepare(parse_text(LEAST_SUM), Options(), Interrupt()).tnf
    decision = decide(tnf, Options(), Machine(2, "there is none"), wanted=1)
    with pytest.raises(FrozenInstanceError):
        decision.threads = 2  # type: ignore[misc]


def test_a_rank_whose_gpu_cannot_be_used_has_threads_as_one_without(monkeypatch, caplog):
    caplog.set_level("INFO", "turbo_fzn")
    tnf = prepare(parse_text(LEAST_SUM), Options(), Interrupt()).tnf
    job = Job(tnf, np.arange(tnf.n_vars, dtype=np.int32), Options(free_search=True, blocks=1), wanted=1)
    monkeypatch.setattr(world, "_world", SimpleNamespace(rank=1, place=0, neighbours=1))
    monkeypatch.setattr(engines.wake, "absence", lambda: None)
    monkeypatch.setattr(fleet, "devices", lambda wanted: [0])
    monkeypatch.setattr(fleet, "make_all", broken)
    decision = engines.decide_job(job)
    assert decision.engines == ("gpu", "cpu")
    team = engines.own_team(job, decision)
    assert [member.engine.name for member in team.core] == ["cpu"] and team.shape["blocks"] == 2
    assert caplog.messages[-2:] == ["no GPU engine on rank 1: it is broken", "search of rank 1: free search, by -f"]
    team.close()


def broken(*arguments: object) -> None:
    raise EngineError("it is broken")


def test_the_profiler_takes_what_does_not_change_the_kernels():
    check_names(Options(arch="cpu", variant="retire,sort=operator,unsimplified", cp_profiler=(1, 6565)))
