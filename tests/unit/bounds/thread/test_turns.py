"""The relaxation in turns with a learner that is alone: what each sees of the other does not depend on the machine."""

from __future__ import annotations

import time
from collections.abc import Callable
from random import Random

import numpy as np
import pytest

from support.command import PATIENCE, golomb, wait_until, write
from support.places import CORPUS
from support.warm import ask
from turbo_fzn.bounds.lp import highs
from turbo_fzn.bounds.lp.highs import Program
from turbo_fzn.bounds.lp.tuning import TUNING
from turbo_fzn.bounds.rows.linearise import linearise
from turbo_fzn.bounds.search.listener import NO_SOLUTION
from turbo_fzn.bounds.thread.tuning import TUNING as THREAD
from turbo_fzn.bounds.thread.turns import BesideInTurns
from turbo_fzn.engine.cpu import CpuEngine
from turbo_fzn.engine.layout.layout import Settings
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.ranks.job import Job
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.read.languages import parse_file
from turbo_fzn.run import engines
from turbo_fzn.run.answer.outcome import Finished
from turbo_fzn.run.arrangement import arranged
from turbo_fzn.run.bounding import Bounding, root_bounds
from turbo_fzn.run.judge import Judge
from turbo_fzn.run.prepare import prepare
from turbo_fzn.run.search import Search
from turbo_fzn.run.turns import TurnBounding


def knapsack(seed: int, items: int = 40) -> str:
    """Bounded. The tree, by failure weights, searches for minutes."""
    random = Random(seed)
    weights = [random.randint(20, 100) for _ in range(items)]
    values = [-weight - random.randint(-10, 15) for weight in weights]
    names = [f"x{i}" for i in range(items)]
    return "\n".join(
        [
            *(f"var 0..5: {name} :: output_var;" for name in names),
            f"var 0..{-6 * sum(values)}: worth :: output_var;",
            f"constraint int_lin_le({weights},[{','.join(names)}],{2 * sum(weights)});",
            f"constraint int_lin_eq({[*values, 1]},[{','.join(names)},worth],0);",
            "solve maximize worth;\n",
        ]
    )


# ---- linear programs


def linear_program(account: Callable[[float], None]) -> Program:
    """One that takes hundreds of iterations."""
    model = parse_file(str(CORPUS / "demo.fzn"))
    relaxation = linearise(model, *root_bounds(prepare(model, Options(), Interrupt(None))))
    assert relaxation is not None
    return Program(relaxation, lambda: False, account)


def test_iterations_are_accounted_for_while_a_linear_program_is_being_solved():
    parts: list[tuple[float, bool]] = []  # and whether the solver has returned
    program = linear_program(lambda seconds: parts.append((seconds, returned)))
    returned = False
    solve, unit = program.solver.run, TUNING.iteration_seconds + TUNING.entry_seconds * program.solver.getNumNz()
    program.solver.run = lambda: (solve(), returned_now())

    def returned_now() -> None:
        nonlocal returned
        returned = True

    assert program.solve().outcome is highs.Outcome.OPTIMAL
    iterations = program.solver.getInfo().simplex_iteration_count
    assert sum(seconds for seconds, _ in parts) == pytest.approx(iterations * unit)
    assert sum(seconds for seconds, late in parts if not late) > 0.9 * iterations * unit and iterations > 100


def test_a_linear_program_that_takes_long_is_solved_by_an_interior_point(monkeypatch):
    seconds: list[float] = []
    program = linear_program(seconds.append)
    expected = program.solve()
    by_simplex = sum(seconds)
    monkeypatch.setattr(TUNING, "iterations", 10)
    seconds.clear()
    program = linear_program(seconds.append)
    answer = program.solve()
    assert program.solver.getInfo().ipm_iteration_count > 0 and sum(seconds) > 0 and by_simplex > 0
    assert answer.outcome is expected.outcome is highs.Outcome.OPTIMAL
    objective = int(np.argmax(program.solver.getLp().col_cost_))
    assert answer.values[objective] == pytest.approx(expected.values[objective])
    positions, columns = program.basic_rows()
    assert len(positions) == len(columns) > 0  # a vertex, from which it goes on, and cuts can be made


def test_what_fails_while_a_linear_program_is_being_solved_is_raised_behind_it():
    """Within the callback of HiGHS an exception would end the process."""

    def fail(seconds: float) -> None:
        raise ZeroDivisionError

    program = linear_program(fail)
    with pytest.raises(ZeroDivisionError):
        program.solve()
    assert program.solver.getInfo().simplex_iteration_count < 10


# ---- the search


def learner(text: str) -> CpuEngine:
    tnf = prepare(parse_text(text), Options(), Interrupt(None)).tnf
    return CpuEngine(tnf, np.arange(tnf.n_vars), Settings(roles=("soloist",)))


def test_a_learner_waits_at_the_end_of_its_turn_for_the_next_one():
    engine = learner(golomb(8))
    engine.end_turn_at(10**6)
    engine.start()
    wait_until(lambda: engine.turn_over)
    done = [engine.statistics()["nodes"]]
    time.sleep(0.05)
    done += [engine.statistics()["nodes"]]
    engine.end_turn_at(2 * 10**6)
    wait_until(lambda: engine.turn_over)
    done += [engine.statistics()["nodes"]]
    assert 0 < done[0] == done[1] < done[2]
    engine.end_turn_at(0)
    wait_until(lambda: not engine.running)
    assert engine.complete
    engine.close()


def test_a_learner_that_waits_leaves_when_it_is_told_to():
    engine = learner(golomb(8))
    engine.end_turn_at(10**6)
    engine.start()
    wait_until(lambda: engine.turn_over)
    engine.close()
    assert not engine.running and not engine.complete


# ---- the relaxation


class Counting(BesideInTurns):
    """Proves 1, 2, 3, ... with work of two fifths of a turn each, and keeps what it knew of the best solution."""

    def __init__(self) -> None:
        self.delivered: list[int] = []
        self.knew: list[int] = []
        deliver = lambda: self.delivered.append(self.bound)  # noqa: E731
        super().__init__(lambda: None, 0.0, None, deliver, 1)  # type: ignore[arg-type]

    def work(self) -> None:
        for bound in range(1, 6):
            self.knew.append(self.best)
            self.publish(bound)
            self.account(0.4 * THREAD.turn_seconds)


@pytest.mark.parametrize("pause", [0, 0.02])
def test_what_is_proved_in_a_turn_is_delivered_at_its_end(pause):
    """However long the search takes: work that begins behind turn 1 is at 1.4, 1.8 and 2.2, and seen at the end of
    turn 3; from there on it is at 3.4 and 3.8."""
    beside, seen = Counting(), []
    beside.start()
    for turn in range(1, 5):
        time.sleep(pause)
        beside.arrive(turn * THREAD.turn_seconds, 100 - turn)
        wait_until(lambda: not beside.is_behind())
        seen.append(beside.delivered[-1])
    beside.thread.join(PATIENCE)
    assert beside.fault is None and beside.has_ended()
    assert seen == [-NO_SOLUTION, -NO_SOLUTION, 3, 5]
    assert beside.knew == [99, 99, 99, 97, 97]


def test_one_that_is_told_to_stop_waits_for_nobody():
    beside = Counting()
    beside.start()
    beside.stop()
    beside.thread.join(PATIENCE)
    assert not beside.thread.is_alive() and beside.has_ended() and beside.delivered == []


# ---- both


def steps(text: str, monkeypatch: pytest.MonkeyPatch, restless: int | None) -> list[tuple]:
    """The solutions of a run with a seed, and the end; `restless` seeds pauses of the relaxation."""
    with monkeypatch.context() as patch:
        if restless is not None:
            random, account = Random(restless), BesideInTurns.account

            def slowly(beside: BesideInTurns, seconds: float) -> None:
                time.sleep(random.choice((0, 0, 0.01)))
                account(beside, seconds)

            patch.setattr(BesideInTurns, "account", slowly)
        options = Options(arch="cpu", seed=3, intermediate=True)
        search = Search(arranged(prepare(parse_text(text), options, Interrupt(None))), options, Interrupt(None))
        told: list[tuple] = []
        for event in search.events():
            if isinstance(event, Finished):
                told.append((event.complete, event.n_solutions))
            else:
                told.append((event.objective, event.method, *np.concatenate([v for _, v in event.outputs]).tolist()))
        search.close()
        return told


@pytest.mark.parametrize("seed", [1, pytest.param(5, marks=pytest.mark.slow)])
def test_equal_seeds_find_the_same_however_slow_the_relaxation_is(seed, monkeypatch):
    runs = [steps(knapsack(seed), monkeypatch, restless) for restless in (None, 1, 2)]
    assert runs[0][-1][0] and len(runs[0]) > 10
    assert runs[0] == runs[1] == runs[2]


@pytest.mark.parametrize("arguments", [["-r", 5], ["-p", 1], ["-p", 1, "-r", 5]], ids=str)
def test_one_thread_proves_a_knapsack_without_annotation(tmp_path, arguments):
    answer = ask("--arch", "cpu", *arguments, "-s", write(tmp_path, knapsack(1)))
    assert answer.markers == ["=========="] and answer.statistics["blocks"] == "1"


@pytest.mark.parametrize(
    ("asked", "has_gpu", "kind"),
    [
        ({"arch": "auto"}, False, TurnBounding),
        ({"arch": "auto", "blocks": 1}, False, TurnBounding),
        ({"arch": "cpu", "blocks": 1}, True, TurnBounding),
        ({"arch": "auto", "blocks": 1, "relaxation": "on"}, True, Bounding),
        ({"arch": "gpu", "blocks": 1, "relaxation": "on"}, True, Bounding),
    ],
)
def test_turns_are_taken_with_a_learner_that_no_gpu_joins(monkeypatch, asked, has_gpu, kind):
    monkeypatch.setattr(engines.wake, "absence", lambda: None if has_gpu else "there is none")
    options = Options(seed=1, **asked)
    prepared = prepare(parse_text(knapsack(1, items=4)), options, Interrupt(None))
    judge = Judge(prepared, options)
    decision = engines.decide_job(Job(prepared.tnf, judge.exports, options, 1))
    assert type(engines.begin_bounding(judge, decision)) is kind
