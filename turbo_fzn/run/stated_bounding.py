"""Connects a search that is logged for a proof with the relaxation whose bound the proof can state (proof/relaxed.py):
with its cuts, and its branch and bound, but without propagation and reduced costs in nodes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from turbo_fzn.bounds.lp.relaxation import LinearRows, Relaxation
from turbo_fzn.bounds.search.listener import Store
from turbo_fzn.bounds.thread.boxes import Boxes
from turbo_fzn.bounds.thread.relaxation_thread import Bounder
from turbo_fzn.engine.contract import Engine, Found, Inequality
from turbo_fzn.proof.relaxed import Relaxed
from turbo_fzn.run.bounding import Bounding, EngineBoxes
from turbo_fzn.run.judge import Judge


class StatedBounding(Bounding):
    """The relaxation of a proof's model beside the search. It passes on bounds, and points that are solutions."""

    def __init__(self, judge: Judge, relaxed: Relaxed, share: float = 1):
        self.relaxed = relaxed
        super().__init__(judge, share)

    def begin(self, judge: Judge, share: float) -> None:
        of_rows = replace(judge.prepared, reconstruction=None, implications=np.empty((0, 2), np.int32))
        self.boxes = boxes = EngineBoxes(of_rows, judge.exports)
        self.beside = StatedBounder(self.relaxed, self.tnf.sense, boxes, share)

    def hand_over(
        self, engine: Engine, bound: int, new: list[Found], wishes: np.ndarray | None, rows: list[Inequality]
    ) -> None:
        """Passes what the relaxation has; of the bounds that leave no value, the least, which a log can state."""
        super().hand_over(engine, min(bound, self.relaxed.beyond), new, wishes, rows)


class StatedBounder(Bounder):
    """The thread that proves bounds; the relaxation has the proof of each before it is published. `boxes` find whether
    points are solutions."""

    def __init__(self, relaxed: Relaxed, sense: int, boxes: Boxes | None = None, share: float = 1):
        super().__init__(share)
        self.relaxed, self.sense, self.boxes = relaxed, sense, boxes

    def work(self) -> None:
        from turbo_fzn.bounds.search.tree import Node
        from turbo_fzn.proof.recorded import StatedRoot, StatedTree

        relaxation = self.relaxed.make(lambda: self.stopped)
        if relaxation is None:
            return
        if self.boxes is not None:
            self.boxes.attach(relaxation)
        root = StatedRoot(relaxation, self, self.relaxed)
        root.settle()
        root.cut()
        self.n_cuts = root.n_cuts
        self.say("relaxation with cuts")
        if not self.is_done():
            tree = StatedTree(root, self, self.relaxed)
            tree.push(Node(root.bound, (), None))
            self.divide(tree)
        self.say("relaxation ends")

    def publish(self, bound: int) -> None:
        bound = min(bound, self.best)
        if bound > self.bound and self.relaxed.take(bound):
            super().publish(bound)

    def narrow(self, lower: np.ndarray, upper: np.ndarray) -> Store | None:
        """The box as it is: no step would say why it is narrower."""
        return lower.copy(), upper.copy()

    def offer(self, relaxation: Relaxation, values: np.ndarray) -> None:
        point = np.rint(values).astype(np.int64)
        if self.boxes is None or np.any(point < relaxation.lower) or np.any(point > relaxation.upper):
            return
        self.boxes.narrow(point, point, self.best - 1)
        found = self.boxes.take_best()
        if found is not None:
            self.tell(found)

    def suggest(self, values: np.ndarray) -> None:
        """Does nothing: the search goes its way."""

    def wants_reason(self) -> bool:
        return False

    def reason(
        self, multipliers: np.ndarray, rows: LinearRows, lower: np.ndarray, upper: np.ndarray, name: str = ""
    ) -> None:
        """Does nothing: a learner that logs takes no rows."""
