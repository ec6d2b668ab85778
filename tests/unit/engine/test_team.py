"""Several engines on one model: the team of them, driven event by event, in every order, with engines that do what
they are told (scripted.py). With models it is tested in test_gpu_joins.py, what a failing GPU does to the command in
test_gpu_faults.py.
"""

from __future__ import annotations

import math
import threading

import numpy as np
import pytest

from support.command import PATIENCE
from support.scripted import Scene, Scripted, found
from turbo_fzn.base.errors import EngineError
from turbo_fzn.engine.abi.abi import METHODS, NO_INCUMBENT
from turbo_fzn.engine.contract import Engine, Found, Roots, method_statistics
from turbo_fzn.engine.together.team import Team


def objectives(solutions: list[Found]) -> list[int]:
    return [solution.objective for solution in solutions]


def test_a_model_that_is_solved_before_the_second_is_ready_never_starts_it():
    scene = Scene(sense=1)
    scene.first.arrived = [found(7)]
    scene.first.finish(complete=True)
    assert not scene.team.running and scene.team.complete
    assert objectives(scene.team.poll()) == [7]
    scene.ready()
    assert scene.team.poll() == [] and not scene.team.running and scene.team.name == "first"
    scene.team.close()
    assert scene.second.asked == ["close"]


def test_the_nodes_of_one_that_fails_meanwhile_are_not_told():
    scene = Scene(0).joined()
    scene.second.failing.add("statistics")
    assert scene.team.shape["nodesBy"] == "first 10"


@pytest.mark.parametrize(("sense", "best"), [(1, 4), (-1, 9), (0, None)])
def test_the_second_begins_with_the_best_solution_that_was_handed_out_and_the_first_goes_on(sense, best):
    scene = Scene(sense)
    scene.first.arrived = [found(9), found(4)]
    assert objectives(scene.team.poll()) == [9, 4]
    scene.joined()
    assert scene.second.asked == [("start", best)] and "stop" not in scene.first.asked
    assert scene.team.shape["joinTime"] >= 0 and scene.team.shape["nodesBy"] == "first 10, second 10"
    scene.first.arrived, scene.second.arrived = [found(3)], [found(2)]
    assert objectives(scene.team.poll()) == [3, 2]
    assert scene.team.running and not scene.team.complete
    assert scene.team.statistics() == {"nodes": 20, "peak_level": 3}
    assert scene.team.bound == 6 and scene.team.methods()[:2].tolist() == [[3, 2 * 10**9, 1], [4, 2 * 10**9, 5]]


def test_what_one_finds_is_told_to_the_other_where_it_is_better():
    scene = Scene(sense=1).joined()
    scene.first.arrived, scene.second.arrived = [found(5)], [found(6), found(4)]
    assert objectives(scene.team.poll()) == [5, 6, 4]
    assert scene.first.asked[1:] == [("adopt", 4)]
    assert scene.second.asked == [("start", None)]
    scene.first.arrived, scene.second.arrived = [found(3), found(2)], [found(7)]
    assert objectives(scene.team.poll()) == [3, 2, 7]
    assert scene.first.asked[2:] == [] and scene.second.asked[1:] == [("adopt", 2)]
    scene.team.poll()
    assert scene.first.asked[2:] == [] and scene.second.asked[2:] == [], "once"


def test_what_one_proves_is_told_to_the_other_now_and_then():
    scene = Scene(sense=1).joined()
    scene.team.poll()
    assert scene.first.asked[1:] == scene.second.asked[1:] == []
    scene.exchange()
    assert scene.first.asked[1:] == [("bound", 6)] and scene.second.asked[1:] == []
    scene.first.lowest = 8
    scene.exchange()
    assert scene.first.asked[2:] == [] and scene.second.asked[1:] == [("bound", 8)]
    scene.second.lowest = 8
    scene.exchange()
    assert scene.first.asked[2:] == [] and scene.second.asked[2:] == []


def test_to_satisfy_nothing_is_told():
    scene = Scene(sense=0).joined()
    scene.first.arrived, scene.second.arrived = [found(0)], [found(0)]
    assert len(scene.team.poll()) == 2
    scene.team.next_exchange = 0.0
    scene.team.poll()
    assert scene.first.asked[1:] == scene.second.asked[1:] == []


def roots(*sides: int, under: int) -> Roots:
    return Roots(np.array(sides), under)


def test_root_bounds_are_told_when_a_solution_as_good_as_they_leave_out_is_handed_out():
    scene = Scene(sense=1).joined()
    scene.first.lowest = scene.second.lowest
    scene.first.known, scene.first.arrived = roots(1, -9, under=5), [found(7)]
    scene.exchange()
    assert scene.second.asked[1:] == [("adopt", 7)], "a solution of 5 is still on its way"
    scene.first.known, scene.first.arrived = roots(2, -9, under=4), [found(5)]
    scene.exchange()
    assert scene.second.asked[2:] == [("adopt", 5)], "the newer ones leave out more"
    scene.second.arrived = [found(4)]
    scene.exchange()
    assert scene.second.asked[3:] == [("roots", [2, -9], 4)]
    assert scene.first.asked[1:] == [("adopt", 4)], "who has told them knows them"
    scene.second.known = roots(0, -8, under=4)
    scene.exchange()
    assert scene.first.asked[2:] == [("roots", [2, -8], 4)] and scene.second.asked[4:] == []


@pytest.mark.parametrize(("sense", "under"), [(1, NO_INCUMBENT), (-1, NO_INCUMBENT), (-1, -4), (0, NO_INCUMBENT)])
def test_root_bounds_that_leave_out_no_solution_are_told_at_once(sense, under):
    scene = Scene(sense).joined()
    scene.first.arrived = [found(4)] if under < NO_INCUMBENT else []
    scene.first.known = roots(1, -9, under=under)
    scene.exchange()
    assert scene.second.asked[-1] == ("roots", [1, -9], under)


def test_one_that_joins_late_is_told_the_root_bounds_of_before():
    scene = ThreeAtWork(late=True)
    scene.first.known = roots(1, -9, under=NO_INCUMBENT)
    scene.exchange()
    scene.let_third_join()
    assert scene.third.asked[0] == ("start", None) and scene.third.asked[-1] == ("roots", [1, -9], NO_INCUMBENT)


def test_a_team_is_a_member_like_any_other():
    scene = Scene(sense=1).joined()
    scene.team.tighten(roots(0, -9, under=NO_INCUMBENT))
    assert scene.first.asked[-1] == scene.second.asked[-1] == ("roots", [0, -9], NO_INCUMBENT)
    assert scene.team.roots() is None, "who has told them knows them"
    scene.first.known = roots(1, -10, under=NO_INCUMBENT)
    scene.exchange()
    news = scene.team.roots()
    assert news is not None and news.sides.tolist() == [1, -9] and scene.team.roots() is None


class ThreeAtWork(Scene):
    """Two that join, the third under the name `third`."""

    def __init__(self, late: bool = False) -> None:
        super().__init__(sense=1)
        self.ready()
        self.third, self.third_gate = Scripted("third"), threading.Event()
        self.team = Team(self.first, [lambda: self.second, self._make_third], 1)
        self.team.start()
        self.team.others[0].maker.thread.join(PATIENCE)
        self.team.next_exchange = math.inf
        self.team.poll()
        if not late:
            self.let_third_join()

    def _make_third(self) -> Engine:
        assert self.third_gate.wait(PATIENCE)
        return self.third

    def let_third_join(self) -> None:
        self.third_gate.set()
        self.team.others[1].maker.thread.join(PATIENCE)
        self.team.poll()


def test_three_tell_each_other_and_one_that_fails_is_missed_alone():
    scene = ThreeAtWork()
    assert scene.team.name == "first+second+third"
    scene.second.arrived, scene.third.lowest = [found(4)], 9
    scene.exchange()
    for engine in (scene.first, scene.third):
        assert ("adopt", 4) in engine.asked and ("adopt", 4) not in scene.second.asked
    assert ("bound", 9) in scene.first.asked and ("bound", 9) in scene.second.asked
    scene.second.failing = {"running"}
    assert scene.team.running and scene.team.name == "first+third"
    scene.third.finish(complete=True)
    assert scene.team.complete


def test_what_the_caller_has_proved_and_found_is_told_to_both():
    scene = Scene(sense=1)
    scene.team.raise_bound(3)
    scene.team.raise_bound(2)
    scene.team.adopt(found(8))
    assert scene.first.asked[1:] == [("bound", 3), ("bound", 2), ("adopt", 8)]
    scene.joined()
    assert scene.second.asked == [("start", 8), ("bound", 3)]
    scene.team.raise_bound(5)
    scene.team.adopt(found(7))
    assert scene.first.asked[4:] == scene.second.asked[2:] == [("bound", 5), ("adopt", 7)]


@pytest.mark.parametrize("winner", ["first", "second"])
def test_one_that_has_searched_the_whole_space_is_enough(winner):
    scene = Scene(sense=1).joined()
    getattr(scene, winner).finish(complete=True)
    assert scene.team.complete and scene.team.running, "until the other has been stopped"
    scene.team.stop()
    assert scene.first.asked[-1] == scene.second.asked[-1] == "stop"
    for engine in (scene.first, scene.second):
        engine.is_running = False
    assert scene.team.complete and not scene.team.running


@pytest.mark.parametrize("loser", ["first", "second"])
def test_one_that_gave_up_a_part_leaves_the_search_to_the_other(loser):
    scene = Scene(sense=1).joined()
    getattr(scene, loser).finish(complete=False)
    assert scene.team.running and not scene.team.complete
    {"first": scene.second, "second": scene.first}[loser].finish(complete=True)
    assert not scene.team.running and scene.team.complete


def test_a_first_that_gave_up_a_part_waits_for_the_second():
    scene = Scene(sense=1)
    scene.first.finish(complete=False)
    assert scene.team.running and scene.team.poll() == []
    scene.ready()
    assert scene.team.running
    scene.team.poll()
    assert scene.second.asked == [("start", None)]


@pytest.mark.parametrize("failure", [EngineError("no GPU"), RuntimeError("a fault")])
def test_without_a_second_the_first_goes_on(failure, caplog):
    scene = Scene(sense=1, failure=failure)
    scene.ready()
    assert scene.team.running and scene.team.poll() == [] and scene.first.asked == [("start", None)]
    assert ("a fault" in caplog.text) == isinstance(failure, RuntimeError)
    scene.first.finish(complete=False)
    assert not scene.team.running and not scene.team.complete


def test_after_a_stop_nothing_joins():
    scene = Scene(sense=1)
    scene.team.stop()
    scene.ready()
    scene.first.finish(complete=False)
    assert not scene.team.running and not scene.team.complete
    scene.team.poll()
    assert scene.second.asked == [] and scene.team.name == "first"


def test_who_has_searched_all_is_named_and_not_who_was_told_so():
    scene = Scene(sense=1).joined()
    assert scene.team.prover == ""
    scene.first.finish(complete=True)
    scene.first.proof = ""
    assert scene.team.complete and scene.team.prover == ""
    scene.second.finish(complete=True)
    scene.second.proof = "weighted"
    assert scene.team.prover == "second weighted"


# What the team asks of a second, and what it says itself when the second fails there.
QUESTIONS = {
    "running": (lambda team: team.running, True),
    "complete": (lambda team: team.complete, False),
    "poll": (lambda team: team.poll(), []),
    "bound": (lambda team: team.bound, 5),
    "statistics": (lambda team: team.statistics()["nodes"], 10),
    "methods": (lambda team: team.methods()[:2].tolist(), [[1, 10**9, 0], [0, 0, 0]]),
    "stop": (lambda team: team.stop(), None),
    "raise_bound": (lambda team: team.raise_bound(3), None),
    "adopt": (lambda team: team.adopt(found(9)), None),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_second_that_fails_is_left_out_and_said_so_once(question, caplog):
    scene = Scene(sense=1).joined()
    scene.second.lowest, scene.second.is_complete = 100, True
    scene.second.failing = {question}
    ask, answer = QUESTIONS[question]
    assert ask(scene.team) == answer
    assert scene.team.running and not scene.team.complete and scene.team.name == "first"
    assert scene.team.bound == 5 and "joinTime" not in scene.team.shape
    assert caplog.text.count("the SECOND engine has failed, the search goes on without it: RuntimeError: no") == 1
    scene.first.arrived = [found(3)]
    assert objectives(scene.team.poll()) == [3]
    scene.team.close()
    assert scene.second.asked[-1] == "close"


def test_a_second_that_cannot_be_started_is_left_out_too(caplog):
    scene = Scene(sense=1)
    scene.second.failing = {"start"}
    scene.ready()
    assert scene.team.poll() == [] and scene.team.running and scene.team.name == "first"
    assert "the search goes on without it: RuntimeError: no start" in caplog.text
    scene.first.finish(complete=False)
    assert not scene.team.running, "nothing else is waited for"


def test_what_a_failing_second_has_published_is_handed_out():
    scene = Scene(sense=1).joined()
    scene.second.arrived, scene.second.failing = [found(2)], {"running"}
    assert scene.team.running
    assert objectives(scene.team.poll()) == [2] and scene.team.best.objective == 2
    assert scene.team.poll() == []


def test_a_second_that_cannot_be_closed_costs_nothing():
    scene = Scene(sense=1).joined()
    scene.second.failing = {"close"}
    scene.team.close()
    assert scene.first.asked[-1] == "close"


# ---- nobody waits for an engine that is being made


def test_a_second_that_nobody_wants_any_more_is_closed_by_the_thread_that_made_it():
    scene = Scene(sense=1)
    assert scene.begun.wait(PATIENCE)
    scene.team.close()
    assert scene.first.asked[-1] == "close" and scene.team.others[0].maker.thread.is_alive()
    scene.ready()
    assert scene.second.asked == ["close"]


def test_a_second_that_is_unwanted_before_its_time_is_not_made():
    scene = Scene(sense=1)
    scene.team.close()  # within its head start, but on a very busy machine
    scene.ready()
    assert not scene.begun.is_set() or scene.second.asked == ["close"]


def test_seconds_are_made_one_after_the_other_and_an_unwanted_one_not_at_all():
    earlier, later, unwanted = (Scene(sense=1) for _ in range(3))
    unwanted.team.close()
    for scene in (later, unwanted):
        scene.gate.set()
    assert later.team.others[0].maker.thread.is_alive() and later.team.others[0].maker.engine is None
    earlier.ready()
    later.ready()
    unwanted.ready()
    assert later.team.others[0].maker.engine is later.second
    assert unwanted.team.others[0].maker.engine is None and unwanted.second.asked == []


def test_the_shares_of_methods_are_of_all_members_together():
    statistics = method_statistics(Scene(sense=1).joined().team.methods())
    first, second = METHODS[:2]
    assert statistics == {
        f"{first}Tries": 3, f"{first}Share": 0.5, f"{first}Improvements": 1,
        f"{second}Tries": 4, f"{second}Share": 0.5, f"{second}Improvements": 5,
    }  # fmt: skip
