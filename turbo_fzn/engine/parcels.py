"""The host's end of outbox and inbox: subproblems on their way from one engine to another (kernels/search/parcels.h).

A path is the decisions that lead to a subproblem from the root, as the kernels write them; that of the root is empty.
All engines of a model write them alike, so that what one has sent is brought to another as it is.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from turbo_fzn.engine.abi.abi import Common, Parcel
from turbo_fzn.engine.contract import Engine
from turbo_fzn.engine.layout.layout import Layout
from turbo_fzn.errors import InternalError

Path = bytes
ROOT: Path = b""


class _Reach(Protocol):
    """How an engine's memory is reached while it runs."""

    def common(self) -> Common:
        """As it is now, or a copy of it that is not older than the call."""
        ...

    def send_word(self, name: str, value: int) -> None:
        """Sets a word of Common that the host alone writes; after all that was put into the inbox before."""
        ...

    def put_parcel(self, place: int, parcel: np.ndarray) -> None:
        """Copies bytes (uint8) to a place in the inbox."""
        ...


class Load(NamedTuple):
    """How much an engine has to do: subproblems that lie ready in its pool (less than 0: so many blocks wait for one),
    those that it has in all, and parcels that it has room for."""

    ready: int
    open: int
    room: int


class Parcels:
    """What one engine sends and gets. `outbox` (uint8) is the memory that its blocks write to."""

    def __init__(self, layout: Layout, outbox: np.ndarray, reach: _Reach, fence: Callable[[], None]):
        self.slots, self.slot_bytes = layout.parcels, layout.parcel_bytes
        self.decision_bytes, self.longest = layout.decision_bytes, layout.parcel_path
        self.blocks = layout.tree_blocks  # that send and take
        self.outbox, self.reach, self.fence = outbox, reach, fence
        self.taken = self.brought = 0
        self.wanted = self.most = 0  # the word, and what it was at most: a block may have read it then

    def take(self) -> list[Path]:
        """What has been sent since the last call."""
        paths = []
        while self.taken < self.most:
            place = self.taken % self.slots * self.slot_bytes
            parcel = Parcel.from_buffer(self.outbox.data, place)
            if parcel.sequence != self.taken + 1:
                break
            self.fence()
            place += ctypes.sizeof(Parcel)
            paths.append(self.outbox[place : place + parcel.length * self.decision_bytes].tobytes())
            self.taken += 1
        return paths

    def want(self, count: int) -> None:
        """From now on so many more than were taken would be welcome, as far as there is room for them."""
        wanted = self.taken + min(count, self.slots)
        if wanted != self.wanted:
            self.wanted, self.most = wanted, max(self.most, wanted)
            self.reach.send_word("wanted", wanted)

    def bring(self, paths: Sequence[Path]) -> None:
        """Gives the engine subproblems, of which it must have room for all. Nothing is cut off one that is too long."""
        if not all(map(self.fits, paths)):
            raise InternalError(f"a subproblem of another engine has more than {self.longest} decisions")
        for path in paths:
            parcel = np.zeros(ctypes.sizeof(Parcel) + len(path), np.uint8)
            Parcel.from_buffer(parcel.data).length = len(path) // self.decision_bytes
            parcel[ctypes.sizeof(Parcel) :] = np.frombuffer(path, np.uint8)
            self.reach.put_parcel(self.brought % self.slots * self.slot_bytes, parcel)
            self.brought += 1
        self.reach.send_word("brought", self.brought)

    def fits(self, path: Path) -> bool:
        return len(path) <= self.longest * self.decision_bytes

    def load(self) -> Load:
        common = self.reach.common()
        unfetched = self.brought - common.fetched // 2
        ready = common.pool_tail - common.pool_head + unfetched
        return Load(ready, common.outstanding + unfetched, self.slots - unfetched)

    def is_dry(self) -> bool:
        """Whether there is nothing left in the engine, and nothing on the way from it: as long as nothing is brought
        to it. What was fetched is counted, what is counted may be sent, so it is asked in this order."""
        return (
            self.reach.common().fetched == 2 * self.brought
            and self.reach.common().outstanding == 0
            and self.reach.common().sent == self.taken
        )

    def best(self) -> int:
        """sense * objective of the best solution that the engine has found or was told."""
        return int(self.reach.common().best)

    def gave_up(self) -> bool:
        """Whether the engine has left out a part of what it had."""
        return bool(self.reach.common().incomplete)

    def release(self) -> None:
        """The tree is exhausted: nothing will come any more, nobody need wait."""
        self.reach.send_word("shared", 0)


class Sharer(Engine, Protocol):
    """An engine that shares a tree with others (layout.Settings.shares)."""

    parcels: Parcels
