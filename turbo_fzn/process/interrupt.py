"""The wish to stop, from a signal, the time limit or the caller.

A search asks for it between two looks at the engine, preparation only between its steps, which may be far apart. So the
command line wants to know whether answers are due already (`settled`): as long as there are none, it can leave at once.

A time limit may be spent before the search begins, on a busy machine above all. Then preparation goes on for a moment,
and if it comes to its end the search has the time of one dive: a small model is answered all the same.

Imports nothing heavy, so that signals are caught before what is heavy is imported.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable


class Interrupted(Exception):
    """Raised between the steps of preparation when a stop was asked for."""


OVERTIME_SECONDS = 0.28  # that preparation may take beyond the deadline: with the way out, 0.2 s behind the limit
DIVE_SECONDS = 0.05  # that the search has at least, within the overtime


def deadline(milliseconds: int | None, start: float, margin: float = 0.0) -> float | None:
    """When to stop, for a time limit that counts from `start`, so many seconds early; None where there is no limit,
    which 0 says too, as in MiniZinc. A limit below 0 is spent, however soon a model could be answered."""
    if milliseconds is not None and milliseconds < 0:
        return -math.inf
    return start + max(milliseconds / 1000 - margin, 0.0) if milliseconds else None


class Interrupt:
    """`deadline` is on the clock of time.monotonic."""

    def __init__(self, deadline: float | None = None):
        self.deadline = deadline
        self.requested = False
        self.settled = False
        self.halt: Callable[[], None] | None = None  # has what is at work leave at once; called in a signal handler

    def request(self) -> None:
        self.requested = True
        if self.halt is not None:
            self.halt()

    def settle(self) -> None:
        """From now on there may be answers, which a stop must not lose."""
        if self.deadline is not None and not self.settled:
            self.deadline = max(self.deadline, min(time.monotonic() + DIVE_SECONDS, self.deadline + OVERTIME_SECONDS))
        self.settled = True

    @property
    def end(self) -> float | None:
        """When the time is up, as things stand."""
        return self.deadline if self.deadline is None or self.settled else self.deadline + OVERTIME_SECONDS

    @property
    def is_late(self) -> bool:
        """Whether the time is up."""
        end = self.end
        return end is not None and time.monotonic() >= end

    def __bool__(self) -> bool:
        return self.requested or self.is_late
