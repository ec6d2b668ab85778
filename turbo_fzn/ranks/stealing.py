"""Work stealing between ranks (Blumofe and Leiserson, JACM 1999): a rank that has nothing left asks another one.

Whom is drawn at random. The victim gives half of what its hand holds; where that is nothing, it remembers the thief for
a moment, in which its own engines are asked for more (tree.py). A thief has one request under way. After refusals it
waits ever longer, up to a limit: when all have little, they do not fill the network with questions.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Protocol

from turbo_fzn.engine.parcels import Path
from turbo_fzn.ranks.wire import Kind, Wire

MOST_PATHS = 32  # in a message
HOLD_SECONDS = 0.005  # that a thief is kept waiting
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.0005, 0.01  # after refusals


class Store(Protocol):
    """What a rank has of the tree (tree.Tree)."""

    thieves: int

    @property
    def is_starving(self) -> bool: ...

    def spare(self, most: int) -> list[Path]: ...

    def accept(self, paths: Sequence[Path]) -> None: ...


class Stealing:
    """One rank's. `sent` and `received` count subproblems, for the census."""

    def __init__(self, wire: Wire, store: Store, clock: Callable[[], float]):
        self.wire, self.store, self.clock = wire, store, clock
        self.random = random.Random(wire.rank)
        self.sent = self.received = 0
        self.asked = False
        self.refusals = 0
        self.next_try = 0.0
        self.waiting: dict[int, float] = {}  # thieves, and until when they are kept

    def step(self) -> None:
        self._serve()
        if self.asked or self.wire.size == 1 or not self.store.is_starving or self.clock() < self.next_try:
            return
        victim = self.random.randrange(self.wire.size - 1)
        self.asked = True
        self.wire.send(Kind.STEAL, victim + (victim >= self.wire.rank))

    def _serve(self) -> None:
        """Those that wait, from what the hand has by now."""
        now = self.clock()
        for thief, until in list(self.waiting.items()):
            paths = self.store.spare(MOST_PATHS)
            if paths or now >= until or self.store.is_starving:
                del self.waiting[thief]
                self.sent += len(paths)
                self.wire.send(Kind.WORK, thief, paths)
        self.store.thieves = len(self.waiting)

    def on_steal(self, thief: int) -> None:
        self.waiting[thief] = self.clock() + HOLD_SECONDS

    def on_work(self, paths: Sequence[Path]) -> None:
        self.asked = False
        self.received += len(paths)
        self.store.accept(paths)
        self.refusals = 0 if paths else self.refusals + 1
        pause = FIRST_PAUSE_SECONDS * 2 ** min(self.refusals - 1, 10) if self.refusals else 0.0
        self.next_try = self.clock() + min(pause, LONGEST_PAUSE_SECONDS)
