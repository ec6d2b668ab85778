"""Bounds from the linear relaxation in turns with a single learner, so that runs are reproducible.

The engine waits at the end of each turn (learn/search/turns.h). Then the relaxation gets the best solution so far,
the engine gets the results that the relaxation has delivered, and the next turn begins (bounds/thread/turns.py).
"""

from __future__ import annotations

import numpy as np

from turbo_fzn.bounds.search.listener import NO_SOLUTION
from turbo_fzn.bounds.thread.tuning import TUNING as THREAD
from turbo_fzn.bounds.thread.turns import BesideInTurns
from turbo_fzn.engine.contract import Engine, Found, Inequality
from turbo_fzn.engine.cpu import CpuEngine
from turbo_fzn.run.bounding import Bounding, EngineBoxes, emptied, relaxation_of
from turbo_fzn.run.judge import Judge
from turbo_fzn.run.tuning import TUNING

TURN_WORK = round(THREAD.turn_seconds * 1e9)  # in the kernels' unit


class TurnBounding(Bounding):
    """A relaxation in turns with a CpuEngine of one block, a learner, on a model without real variables."""

    beside: BesideInTurns

    def begin(self, judge: Judge, share: float) -> None:
        """Makes the relaxation that takes turns, and its boxes."""
        self.boxes = boxes = EngineBoxes(judge.prepared, judge.exports)
        making = TUNING.making_seconds * judge.prepared.tnf.n_rows
        self.beside = BesideInTurns(lambda: relaxation_of(judge.prepared), making, boxes, self.deliver, share)
        self.delivered: list[Found] = []
        self.rows: list[Inequality] = []
        self.bound = -NO_SOLUTION
        self.wishes: np.ndarray | None = None
        self.arrived_at = 0  # the end of the last turn that was passed to the relaxation

    def deliver(self) -> None:
        """Takes the relaxation's results; called in its thread, while the engine waits."""
        self.delivered += emptied(self.boxes.found)
        self.rows += emptied(self.boxes.rows)
        self.bound = self.beside.bound
        wishes, self.boxes.wishes = self.boxes.wishes, None
        self.wishes = self.wishes if wishes is None else wishes

    def pace(self, engine: Engine) -> None:
        assert isinstance(engine, CpuEngine)
        engine.end_turn_at(TURN_WORK)

    def exchange(self, engine: Engine, best: int | None, arrived: list[Found]) -> list[Found]:
        """At the end of a turn, passes the best solution to the relaxation, and its results to the engine."""
        assert isinstance(engine, CpuEngine)
        end = engine.turn_over
        if not end:
            return []
        new = []
        if end != self.arrived_at:
            self.arrived_at, new = end, engine.poll()
            self.beside.arrive(end / 1e9, self.best_of(best, [*arrived, *new]))
        if self.beside.is_behind():
            return new
        delivered, self.delivered, wishes, self.wishes = self.delivered, [], self.wishes, None
        rows, self.rows = self.rows, []
        self.hand_over(engine, self.bound, delivered, wishes, rows)
        engine.end_turn_at(0 if self.beside.has_ended() else end + TURN_WORK)
        return [*new, *delivered]

    def best_of(self, best: int | None, arrived: list[Found]) -> int:
        """The least sense * objective that is no improvement on the best solution, including solutions that have
        arrived."""
        objectives = [] if best is None else [best]
        objectives += [found.objective for found in arrived]
        return min((self.least_of_no_use(objective) for objective in objectives), default=NO_SOLUTION)
