"""The relaxation in turns with a search by one thread, so that runs are reproducible however busy the machine is.

Both have a clock that counts work, as an estimate in seconds. The search works to the end of its turn, and waits until
the relaxation has declared a later time for its next delivery. The relaxation works until its clock has reached the
declared time, and waits until the search has reached it too. Then it takes the best solution and delivers its results.
So no exchange depends on the speed of the machine, and both may work at once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING

from turbo_fzn.bounds.lp.relaxation import Relaxation
from turbo_fzn.bounds.search.listener import NO_SOLUTION
from turbo_fzn.bounds.thread.boxes import Boxes
from turbo_fzn.bounds.thread.relaxation_thread import Beside
from turbo_fzn.bounds.thread.tuning import TUNING

if TYPE_CHECKING:
    from turbo_fzn.bounds.search.root import Root


class BesideInTurns(Beside):
    """`making` is an estimate of the seconds of `make`; `deliver` is called in the thread, while the search waits."""

    def __init__(
        self,
        make: Callable[[], Relaxation | None],
        making: float,
        boxes: Boxes,
        deliver: Callable[[], None],
        share: float,
    ):
        super().__init__(self._make, boxes, share)
        self.make_relaxation, self.making, self.deliver = make, making, deliver
        self.moved = threading.Condition()
        self.reached = 0.0  # the end of the last turn of the search
        self.heard = NO_SOLUTION  # the best solution at that time
        self.clock = TUNING.turn_seconds  # the search has a head start
        self.declared = TUNING.turn_seconds  # nothing is delivered to a search whose clock is before this
        self.spent = 0.0

    # ---- called by the search

    def arrive(self, reached: float, best: int) -> None:
        """Records that the search is at the end of a turn; `best` is sense * objective of its best solution, or
        NO_SOLUTION."""
        with self.moved:
            self.reached, self.heard = reached, best
            self.moved.notify_all()

    def is_behind(self) -> bool:
        """Whether the search must wait: something may be delivered at the time that it has reached."""
        return self.declared <= self.reached

    def has_ended(self) -> bool:
        return self.declared == inf

    def start(self) -> None:
        super().start()
        if self.thread.ident is None:
            self.declared = inf

    def stop(self) -> None:
        super().stop()
        with self.moved:
            self.moved.notify_all()

    # ---- called by the thread

    def _begin(self) -> None:
        try:
            self.meet()
            if not self.stopped:
                self.run()
                self.meet()
        finally:
            self.declared = inf

    def _make(self) -> Relaxation | None:
        self.declared = max(self.declared, self.clock + self.making)
        relaxation = self.make_relaxation()
        self.account(self.making)
        return relaxation

    def meet(self) -> None:
        """Waits until the search has reached the clock, then exchanges the best solution and the results."""
        self.declared = max(self.declared, self.clock)
        with self.moved:
            while not self.stopped and self.reached < self.declared:
                self.moved.wait(TUNING.stop_look_seconds)
            if self.stopped:
                return
            self.clock = self.reached
            self.tell(self.heard)
            self.deliver()
            self.declared = self.reached + TUNING.turn_seconds

    def account(self, seconds: float) -> None:
        self.spent += seconds
        self.clock += seconds
        if self.clock >= self.declared:
            self.meet()

    def now(self) -> float:
        return self.clock

    def work_time(self) -> float:
        return self.spent

    def programs_near(self, root: Root) -> None:
        """None: how far an integer program comes in its seconds depends on the machine."""

    def rest(self) -> None:
        """Advances the clock by the time that a thread with its share of the time would have slept."""
        behind = (self.work_time() - self.worked) / self.share - (self.now() - self.began)
        if behind > 0:
            self.clock += behind
            if self.clock >= self.declared:
                self.meet()
