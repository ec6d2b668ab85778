"""Connects a search that is logged for a proof with the relaxation whose bound the proof can state (proof/relaxed.py):
that of the root, without cuts or branch and bound."""

from __future__ import annotations

from collections import deque

import numpy as np

from turbo_fzn.bounds.thread.relaxation_thread import Bounder
from turbo_fzn.engine.contract import Found, Inequality
from turbo_fzn.proof.relaxed import Relaxed
from turbo_fzn.run.bounding import Bounding
from turbo_fzn.run.judge import Judge


class StatedBounding(Bounding):
    """The relaxation of a proof's model beside the search. It passes on nothing but bounds."""

    def __init__(self, judge: Judge, relaxed: Relaxed):
        self.relaxed = relaxed
        super().__init__(judge)

    def begin(self, judge: Judge, share: float) -> None:
        self.boxes = _NoBoxes()
        self.beside = StatedBounder(self.relaxed, self.tnf.sense)


class StatedBounder(Bounder):
    """The thread that proves the bound, of which the relaxation keeps the certificate before it is published."""

    def __init__(self, relaxed: Relaxed, sense: int):
        super().__init__()
        self.relaxed, self.sense = relaxed, sense

    def work(self) -> None:
        from turbo_fzn.bounds.lp.highs import Outcome, Program
        from turbo_fzn.bounds.prove.certificate import Certifier

        relaxation = self.relaxed.make(lambda: self.stopped)
        if relaxation is None:
            return
        answer = Program(relaxation, self.is_done).solve()
        if answer.outcome is Outcome.OPTIMAL and not self.stopped:
            bound = self.relaxed.prove(Certifier(relaxation, relaxation.rows), answer.duals)
            if bound is not None:
                self.publish(bound)
        self.say("relaxation ends")


class _NoBoxes:
    """No propagation in boxes, which would find solutions and inequalities."""

    def __init__(self) -> None:
        self.found: deque[Found] = deque()
        self.rows: deque[Inequality] = deque()
        self.wishes: np.ndarray | None = None
        self.incumbent: Found | None = None
