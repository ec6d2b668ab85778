"""The wish to stop, from a signal, the time limit or the caller.

A search asks for it between two looks at the engine, preparation only between its steps, which may be far apart. So the
command line wants to know whether answers are due already (`settled`): as long as there are none, it can leave at once.

Imports nothing heavy, so that signals are caught before what is heavy is imported.
"""

from __future__ import annotations

import time


class Interrupted(Exception):
    """Raised between the steps of preparation when a stop was asked for."""


class Interrupt:
    """`deadline` is on the clock of time.monotonic."""

    def __init__(self, deadline: float | None = None):
        self.deadline = deadline
        self.requested = False
        self.settled = False

    def request(self) -> None:
        self.requested = True

    def settle(self) -> None:
        """From now on there may be answers, which a stop must not lose."""
        self.settled = True

    def __bool__(self) -> bool:
        return self.requested or (self.deadline is not None and time.monotonic() >= self.deadline)
