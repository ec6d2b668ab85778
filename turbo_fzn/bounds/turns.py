"""The relaxation in turns with a search that is alone, so that equal runs do the same however busy the machine is.

Both have a clock that counts work, in seconds that it would take on some machine. The search goes on to the end of its
turn, and waits there until the relaxation has declared that nothing of it is to be seen before a later time. The
relaxation works until its own clock has reached what it has declared, and waits for the search to come there. Then it
hears of the best solution and delivers what it has found. So neither sees of the other what depends on the machine, and
both may work at once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from math import inf

from turbo_fzn.bounds.beside import Beside, Boxes
from turbo_fzn.bounds.listener import NO_SOLUTION
from turbo_fzn.bounds.relaxation import Relaxation

TURN_SECONDS = 0.05
LOOK_SECONDS = 0.1  # between two looks whether it is to stop


class BesideInTurns(Beside):
    """`making` is what `make` takes (counted); `deliver` is called in the thread, while the search waits."""

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
        self.reached = 0.0  # by the search, which waits there or has gone on
        self.heard = NO_SOLUTION  # the best solution, then
        self.clock = TURN_SECONDS  # the search has a head start
        self.declared = TURN_SECONDS  # nothing is to be seen at or before that
        self.spent = 0.0

    # ---- the side of the search

    def arrive(self, reached: float, best: int) -> None:
        """The search waits at the end of a turn; sense * objective of its best solution, or NO_SOLUTION."""
        with self.moved:
            self.reached, self.heard = reached, best
            self.moved.notify_all()

    def is_behind(self) -> bool:
        """Whether there may be something to be seen at the time that the search has reached."""
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

    # ---- that of the thread

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
        """The search comes to where the clock is."""
        self.declared = max(self.declared, self.clock)
        with self.moved:
            while not self.stopped and self.reached < self.declared:
                self.moved.wait(LOOK_SECONDS)
            if self.stopped:
                return
            self.clock = self.reached
            self.tell(self.heard)
            self.deliver()
            self.declared = self.reached + TURN_SECONDS

    def account(self, seconds: float) -> None:
        self.spent += seconds
        self.clock += seconds
        if self.clock >= self.declared:
            self.meet()

    def now(self) -> float:
        return self.clock

    def work_time(self) -> float:
        return self.spent

    def rest(self) -> None:
        """Dividing has its share: the clock says what it would have been with the rest."""
        behind = (self.work_time() - self.worked) / self.share - (self.now() - self.began)
        if behind > 0:
            self.clock += behind
            if self.clock >= self.declared:
                self.meet()
