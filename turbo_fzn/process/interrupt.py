"""A request to stop, from a signal, the time limit or the caller.

The search checks for it between two polls of the engine, preparation only between its steps, which may take long. So
the command uses `settled`, whether there may be answers already: before that, it can leave at once.

A time limit may be over before the search begins, especially on a busy machine. Then preparation goes on for a limited
overtime, and if it ends in this time the search has the time of one dive: so a small model is still answered.

Imports nothing heavy, so that signals are caught before heavy modules are imported.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from turbo_fzn.process.tuning import TUNING

T = TypeVar("T")


class Interrupted(Exception):
    """Raised between the steps of preparation, or of the writing of a proof, when a stop was requested."""


def deadline(milliseconds: int | None, start: float, margin: float = 0.0) -> float | None:
    """The time to stop, `margin` seconds before a time limit that counts from `start`; None without a limit, which 0
    means too, as in MiniZinc. A limit below 0 is over at once, even for a small model."""
    if milliseconds is not None and milliseconds < 0:
        return -math.inf
    return start + max(milliseconds / 1000 - margin, 0.0) if milliseconds else None


class Interrupt:
    """The request to stop; true once it was made or the `deadline`, on the clock of time.monotonic, has passed."""

    def __init__(self, deadline: float | None = None):
        self.deadline = deadline
        self.requested = False
        self.settled = False
        self.halt: Callable[[], None] | None = None  # makes engine and relaxation leave; called in a signal handler

    def request(self) -> None:
        self.requested = True
        halt = self.halt  # read once: another thread may end the search
        if halt is not None:
            halt()

    def settle(self) -> None:
        """Records that from now on there may be answers, which a stop must not lose; extends a deadline that has passed
        or is near."""
        if self.deadline is not None and not self.settled:
            self.deadline = max(
                self.deadline, min(time.monotonic() + TUNING.dive_seconds, self.deadline + TUNING.overtime_seconds)
            )
        self.settled = True

    @property
    def end(self) -> float | None:
        """The current end of the time, with the overtime if preparation is not over; None without a limit."""
        return self.deadline if self.deadline is None or self.settled else self.deadline + TUNING.overtime_seconds

    @property
    def is_late(self) -> bool:
        """Whether the end of the time has passed."""
        end = self.end
        return end is not None and time.monotonic() >= end

    def __bool__(self) -> bool:
        return self.requested or self.is_late

    def between(self, items: Iterable[T]) -> Iterator[T]:
        """The items; raises Interrupted before one of them when there is a stop."""
        for item in items:
            if self:
                raise Interrupted
            yield item
