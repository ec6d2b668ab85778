"""Two engines on one model: the pair of them, driven event by event, in every order, with engines that do what they
are told. With models it is tested in test_gpu_joins.py, what a failing GPU does to the command in test_gpu_faults.py.
"""

from __future__ import annotations

import threading

import numpy as np
import pytest
from command import PATIENCE

from turbo_fzn.engine.contract import Engine, Found
from turbo_fzn.engine.pair import Pair
from turbo_fzn.errors import EngineError


class Scripted:
    """An engine that finds what it is told to find; `finish` ends it. It says what it was asked, and fails where it is
    told to."""

    def __init__(self, name: str = "first"):
        self.name, self.shape, self.asked = name, {"blocks": 1}, []
        self.is_running = self.is_complete = False
        self.lowest = 5 if name == "first" else 6
        self.arrived: list[Found] = []
        self.failing: set[str] = set()

    def meet(self, question: str) -> None:
        if question in self.failing:
            raise RuntimeError(f"no {question}")

    def start(self, incumbent: Found | None = None) -> None:
        self.meet("start")
        self.asked.append(("start", incumbent and incumbent.objective))
        self.is_running = True

    def finish(self, complete: bool) -> None:
        self.is_running, self.is_complete = False, complete

    @property
    def running(self) -> bool:
        self.meet("running")
        return self.is_running

    @property
    def complete(self) -> bool:
        self.meet("complete")
        return self.is_complete

    @property
    def bound(self) -> int:
        self.meet("bound")
        return self.lowest

    def poll(self) -> list[Found]:
        self.meet("poll")
        found, self.arrived = self.arrived, []
        return found

    def stop(self) -> None:
        self.meet("stop")
        self.asked.append("stop")

    def raise_bound(self, bound: int) -> None:
        self.meet("raise_bound")
        self.asked.append(("bound", bound))

    def adopt(self, found: Found) -> None:
        self.meet("adopt")
        self.asked.append(("adopt", found.objective))

    def statistics(self) -> dict[str, int]:
        self.meet("statistics")
        return {"nodes": 10, "peak_level": 3 if self.name == "first" else 2}

    def methods(self) -> dict[str, float]:
        self.meet("methods")
        return {"treeTries": 1 if self.name == "first" else 2}

    def close(self) -> None:
        self.meet("close")
        self.asked.append("close")
        self.is_running = False


def found(objective: int) -> Found:
    return Found(objective, 0, "tree", np.array([objective]))


class Scene:
    """A pair of scripted engines; the second is ready when `ready` is called, or cannot be made."""

    def __init__(self, sense: int, failure: Exception | None = None):
        self.first, self.second = Scripted(), Scripted("second")
        self.begun, self.gate, self.failure = threading.Event(), threading.Event(), failure
        self.pair = Pair(self.first, self._make, sense)
        self.pair.start()

    def _make(self) -> Engine:
        self.begun.set()
        assert self.gate.wait(PATIENCE)
        if self.failure is not None:
            raise self.failure
        return self.second

    def ready(self) -> None:
        self.gate.set()
        self.pair.maker.thread.join(PATIENCE)

    def joined(self) -> Scene:
        """The same, later."""
        self.ready()
        assert self.pair.poll() == [] and self.pair.name == "first+second"
        return self


def objectives(solutions: list[Found]) -> list[int]:
    return [solution.objective for solution in solutions]


def test_a_model_that_is_solved_before_the_second_is_ready_never_starts_it():
    scene = Scene(sense=1)
    scene.first.arrived = [found(7)]
    scene.first.finish(complete=True)
    assert not scene.pair.running and scene.pair.complete
    assert objectives(scene.pair.poll()) == [7]
    scene.ready()
    assert scene.pair.poll() == [] and not scene.pair.running and scene.pair.name == "first"
    scene.pair.close()
    assert scene.second.asked == ["close"]


@pytest.mark.parametrize(("sense", "best"), [(1, 4), (-1, 9), (0, None)])
def test_the_second_begins_with_the_best_solution_that_was_handed_out_and_the_first_goes_on(sense, best):
    scene = Scene(sense)
    scene.first.arrived = [found(9), found(4)]
    assert objectives(scene.pair.poll()) == [9, 4]
    scene.joined()
    assert scene.second.asked == [("start", best)] and "stop" not in scene.first.asked
    assert scene.pair.shape["joinTime"] >= 0
    scene.first.arrived, scene.second.arrived = [found(3)], [found(2)]
    assert objectives(scene.pair.poll()) == [3, 2]
    assert scene.pair.running and not scene.pair.complete
    assert scene.pair.statistics() == {"nodes": 20, "peak_level": 3}
    assert scene.pair.bound == 6 and scene.pair.methods() == {"treeTries": 2}


def test_what_the_second_finds_is_told_to_the_first_where_it_is_better():
    scene = Scene(sense=1).joined()
    scene.first.arrived, scene.second.arrived = [found(5)], [found(6), found(4)]
    assert objectives(scene.pair.poll()) == [5, 6, 4]
    assert scene.first.asked[1:] == [("adopt", 4)]
    assert scene.second.asked == [("start", None)]


def test_what_the_caller_has_proved_and_found_is_told_to_both():
    scene = Scene(sense=1)
    scene.pair.raise_bound(3)
    scene.pair.raise_bound(2)
    scene.pair.adopt(found(8))
    assert scene.first.asked[1:] == [("bound", 3), ("bound", 2), ("adopt", 8)]
    scene.joined()
    assert scene.second.asked == [("start", 8), ("bound", 3)]
    scene.pair.raise_bound(5)
    scene.pair.adopt(found(7))
    assert scene.first.asked[4:] == scene.second.asked[2:] == [("bound", 5), ("adopt", 7)]


@pytest.mark.parametrize("winner", ["first", "second"])
def test_one_that_has_searched_the_whole_space_is_enough(winner):
    scene = Scene(sense=1).joined()
    getattr(scene, winner).finish(complete=True)
    assert scene.pair.complete and scene.pair.running, "until the other has been stopped"
    scene.pair.stop()
    assert scene.first.asked[-1] == scene.second.asked[-1] == "stop"
    for engine in (scene.first, scene.second):
        engine.is_running = False
    assert scene.pair.complete and not scene.pair.running


@pytest.mark.parametrize("loser", ["first", "second"])
def test_one_that_gave_up_a_part_leaves_the_search_to_the_other(loser):
    scene = Scene(sense=1).joined()
    getattr(scene, loser).finish(complete=False)
    assert scene.pair.running and not scene.pair.complete
    {"first": scene.second, "second": scene.first}[loser].finish(complete=True)
    assert not scene.pair.running and scene.pair.complete


def test_a_first_that_gave_up_a_part_waits_for_the_second():
    scene = Scene(sense=1)
    scene.first.finish(complete=False)
    assert scene.pair.running and scene.pair.poll() == []
    scene.ready()
    assert scene.pair.running
    scene.pair.poll()
    assert scene.second.asked == [("start", None)]


@pytest.mark.parametrize("failure", [EngineError("no GPU"), RuntimeError("a fault")])
def test_without_a_second_the_first_goes_on(failure, caplog):
    scene = Scene(sense=1, failure=failure)
    scene.ready()
    assert scene.pair.running and scene.pair.poll() == [] and scene.first.asked == [("start", None)]
    assert ("a fault" in caplog.text) == isinstance(failure, RuntimeError)
    scene.first.finish(complete=False)
    assert not scene.pair.running and not scene.pair.complete


def test_after_a_stop_nothing_joins():
    scene = Scene(sense=1)
    scene.pair.stop()
    scene.ready()
    scene.first.finish(complete=False)
    assert not scene.pair.running and not scene.pair.complete
    scene.pair.poll()
    assert scene.second.asked == [] and scene.pair.name == "first"


# What the pair asks of a second, and what it says itself when the second fails there.
QUESTIONS = {
    "running": (lambda pair: pair.running, True),
    "complete": (lambda pair: pair.complete, False),
    "poll": (lambda pair: pair.poll(), []),
    "bound": (lambda pair: pair.bound, 5),
    "statistics": (lambda pair: pair.statistics()["nodes"], 10),
    "methods": (lambda pair: pair.methods(), {"treeTries": 1}),
    "stop": (lambda pair: pair.stop(), None),
    "raise_bound": (lambda pair: pair.raise_bound(3), None),
    "adopt": (lambda pair: pair.adopt(found(9)), None),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_second_that_fails_is_left_out_and_said_so_once(question, caplog):
    scene = Scene(sense=1).joined()
    scene.second.lowest, scene.second.is_complete = 100, True
    scene.second.failing = {question}
    ask, answer = QUESTIONS[question]
    assert ask(scene.pair) == answer
    assert scene.pair.running and not scene.pair.complete and scene.pair.name == "first"
    assert scene.pair.bound == 5 and "joinTime" not in scene.pair.shape
    assert caplog.text.count("the GPU engine has failed, the CPU engine goes on: RuntimeError: no") == 1
    scene.first.arrived = [found(3)]
    assert objectives(scene.pair.poll()) == [3]
    scene.pair.close()
    assert scene.second.asked[-1] == "close"


def test_a_second_that_cannot_be_started_is_left_out_too(caplog):
    scene = Scene(sense=1)
    scene.second.failing = {"start"}
    scene.ready()
    assert scene.pair.poll() == [] and scene.pair.running and scene.pair.name == "first"
    assert "the CPU engine goes on: RuntimeError: no start" in caplog.text
    scene.first.finish(complete=False)
    assert not scene.pair.running, "nothing else is waited for"


def test_what_a_failing_second_has_published_is_handed_out():
    scene = Scene(sense=1).joined()
    scene.second.arrived, scene.second.failing = [found(2)], {"running"}
    assert scene.pair.running
    assert objectives(scene.pair.poll()) == [2] and scene.pair.best.objective == 2
    assert scene.pair.poll() == []


def test_a_second_that_cannot_be_closed_costs_nothing():
    scene = Scene(sense=1).joined()
    scene.second.failing = {"close"}
    scene.pair.close()
    assert scene.first.asked[-1] == "close"


# ---- nobody waits for an engine that is being made


def test_a_second_that_nobody_wants_any_more_is_closed_by_the_thread_that_made_it():
    scene = Scene(sense=1)
    assert scene.begun.wait(PATIENCE)
    scene.pair.close()
    assert scene.first.asked[-1] == "close" and scene.pair.maker.at_work()
    scene.ready()
    assert scene.second.asked == ["close"]


def test_a_second_that_is_unwanted_before_its_time_is_not_made():
    scene = Scene(sense=1)
    scene.pair.close()  # within its head start, but on a very busy machine
    scene.ready()
    assert not scene.begun.is_set() or scene.second.asked == ["close"]


def test_seconds_are_made_one_after_the_other_and_an_unwanted_one_not_at_all():
    earlier, later, unwanted = (Scene(sense=1) for _ in range(3))
    unwanted.pair.close()
    for scene in (later, unwanted):
        scene.gate.set()
    assert later.pair.maker.at_work() and later.pair.maker.engine is None
    earlier.ready()
    later.ready()
    unwanted.ready()
    assert later.pair.maker.engine is later.second
    assert unwanted.pair.maker.engine is None and unwanted.second.asked == []
