"""More has been found than can be checked before the time is over: what is told then, by a search whose engine is
scripted and whose solutions are checked one by one."""

from __future__ import annotations

import numpy as np
import pytest

from support.engines import search as events_of_search
from support.scripted import Scripted, found
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.run import judge, search
from turbo_fzn.run.prepare import prepare
from turbo_fzn.run.tuning import TUNING

MODEL = "var 0..9: x :: output_var; solve {goal};"
UNDECIDED = 1


@pytest.fixture(params=["before", "meanwhile"])
def late(request, monkeypatch):
    """A function of a goal and objectives found together: those of the solutions told, and whether all is known. The
    time is over when the first one has been told, and nobody waits any longer. The engine has searched all, before
    they are looked at or meanwhile."""
    check = judge.Judge.check
    monkeypatch.setattr(TUNING, "batch_elements", 1)
    monkeypatch.setattr(TUNING, "stop_seconds", 0.0)
    monkeypatch.setattr(judge.Judge, "check", lambda self, batch: check(self, [f for f in batch if f[0] != UNDECIDED]))

    def tell(goal: str, objectives: list[int]) -> tuple[list[int], bool]:
        engine = Scripted()
        engine.repeats = False
        monkeypatch.setattr(engine, "statistics", dict)
        engine.arrived = [found(objective) for objective in objectives]
        if request.param == "before":
            monkeypatch.setattr(engine, "start", lambda: engine.finish(complete=True))
        monkeypatch.setattr(search, "make_engine", lambda *ignored: engine)
        options, interrupt = Options(seed=1, all_solutions=True, relaxation="off"), Interrupt()
        prepared, told = prepare(parse_text(MODEL.format(goal=goal)), options, interrupt), []
        for event in events_of_search(prepared, options, interrupt):
            if isinstance(event, search.Finished):
                return told, event.complete
            told.append(int(np.concatenate([values for _, values in event.outputs])[0]))
            interrupt.request()
            engine.finish(complete=True)

    return tell


def test_of_improvements_the_best_is_told(late):
    """It was the last of them all, each checked and printed, twice as late as the limit on a busy machine."""
    assert late("minimize x", [7, 5, 4, 2]) == ([7, 2], True)


def test_of_improvements_the_best_is_told_that_holds(late):
    assert late("minimize x", [7, 5, 4, UNDECIDED]) == ([7, 4], True)


def test_of_other_solutions_the_rest_is_kept_back_and_nothing_is_claimed(late):
    assert late("satisfy", [7, 5, 4, 2]) == ([7], False)


def test_what_is_told_to_the_end_may_be_claimed(late):
    assert late("satisfy", [7]) == ([7], True)
