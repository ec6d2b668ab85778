"""Work stealing between ranks (Blumofe and Leiserson, JACM 1999): a rank without work sends a request to another rank.

The victim is random. It sends half of its queue; if the queue is empty, it delays its answer, and requests more from
its own engines (tree.py). A thief has one open request at a time. After each refusal it waits longer, up to a limit:
when work is scarce everywhere, requests do not fill the network.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Protocol

from turbo_fzn.engine.parcels import Path
from turbo_fzn.ranks.tuning import TUNING
from turbo_fzn.ranks.wire import Kind, Wire


class Store(Protocol):
    """A rank's part of the tree (SharedTree)."""

    thieves: int

    @property
    def is_starving(self) -> bool: ...

    def spare(self, most: int) -> list[Path]: ...

    def accept(self, paths: Sequence[Path]) -> None: ...


class Stealing:
    """One rank's part of work stealing. `sent` and `received` count subproblems, for the census."""

    def __init__(self, wire: Wire, store: Store, clock: Callable[[], float]):
        self.wire, self.store, self.clock = wire, store, clock
        self.random = random.Random(wire.rank)
        self.sent = self.received = 0
        self.asked = False
        self.refusals = 0
        self.next_try = 0.0
        self.waiting: dict[int, float] = {}  # for each waiting thief, the time when it is refused

    def step(self) -> None:
        self._serve()
        if self.asked or self.wire.size == 1 or not self.store.is_starving or self.clock() < self.next_try:
            return
        victim = self.random.randrange(self.wire.size - 1)
        self.asked = True
        self.wire.send(Kind.STEAL, victim + (victim >= self.wire.rank))

    def _serve(self) -> None:
        """Answers the waiting thieves from the queue, or refuses them."""
        now = self.clock()
        for thief, until in list(self.waiting.items()):
            paths = self.store.spare(TUNING.paths)
            if paths or now >= until or self.store.is_starving:
                del self.waiting[thief]
                self.sent += len(paths)
                self.wire.send(Kind.WORK, thief, paths)
        self.store.thieves = len(self.waiting)

    def on_steal(self, thief: int) -> None:
        self.waiting[thief] = self.clock() + TUNING.hold_seconds

    def on_work(self, paths: Sequence[Path]) -> None:
        self.asked = False
        self.received += len(paths)
        self.store.accept(paths)
        self.refusals = 0 if paths else self.refusals + 1
        pause = TUNING.first_pause_seconds * 2 ** min(self.refusals - 1, 10) if self.refusals else 0.0
        self.next_try = self.clock() + min(pause, TUNING.refused_pause_seconds)
