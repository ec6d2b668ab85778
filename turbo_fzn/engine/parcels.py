"""The host's side of outbox and inbox, by which engines exchange subproblems (kernels/search/parcels.h).

A path is the sequence of decisions that lead to a subproblem from the root, in the form that the kernels write; the
path of the root is empty. All engines of a model use one form, with the numbers that the TNF gives its variables.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from turbo_fzn.base.errors import InternalError
from turbo_fzn.engine.abi.abi import Common, Parcel
from turbo_fzn.engine.contract import Engine
from turbo_fzn.engine.layout.layout import Layout

Path = bytes
ROOT: Path = b""


class _Reach(Protocol):
    """Access to an engine's memory while it is running."""

    def common(self) -> Common:
        """The engine's Common, or a copy of it that is not older than the call."""
        ...

    def send_word(self, name: str, value: int) -> None:
        """Sets a word of Common that only the host writes; blocks see it after all parcels put into the inbox
        before."""
        ...

    def put_parcel(self, place: int, parcel: np.ndarray) -> None:
        """Copies bytes (uint8) to a place in the inbox."""
        ...


class Load(NamedTuple):
    """The work of an engine: `ready` subproblems in its pool (minus the number of blocks that wait for work), all its
    open subproblems, and the number of parcels that it has room for."""

    ready: int
    open: int
    room: int


class Parcels:
    """The parcels that one engine sends and receives. `outbox` (uint8) is the memory that its blocks write to."""

    def __init__(self, layout: Layout, outbox: np.ndarray, reach: _Reach, fence: Callable[[], None]):
        self.slots, self.slot_bytes = layout.parcels, layout.parcel_bytes
        self.decision_bytes, self.longest = layout.decision_bytes, layout.parcel_path
        self.blocks = layout.tree_blocks  # the blocks that send and receive
        self.outbox, self.reach, self.fence = outbox, reach, fence
        self.bits, self.places = layout.bits, layout.places
        self.taken = self.brought = 0
        self.wanted = self.most = 0  # the word `wanted`, and its largest value so far, which a block may have read

    def take(self) -> list[Path]:
        """The paths that the engine has sent since the last call."""
        paths = []
        while self.taken < self.most:
            place = self.taken % self.slots * self.slot_bytes
            parcel = Parcel.from_buffer(self.outbox.data, place)
            if parcel.sequence != self.taken + 1:
                break
            self.fence()
            place += ctypes.sizeof(Parcel)
            path = self.outbox[place : place + parcel.length * self.decision_bytes].tobytes()
            paths.append(self.places.path_back(path, self.bits))
            self.taken += 1
        return paths

    def want(self, count: int) -> None:
        """Asks the engine for `count` further parcels, as far as the outbox has room."""
        wanted = self.taken + min(count, self.slots)
        if wanted != self.wanted:
            self.wanted, self.most = wanted, max(self.most, wanted)
            self.reach.send_word("wanted", wanted)

    def bring(self, paths: Sequence[Path]) -> None:
        """Sends subproblems to the engine, which must have room for all of them. Raises InternalError if one does not
        fit a parcel."""
        if not all(map(self.fits, paths)):
            raise InternalError(f"a subproblem of another engine has more than {self.longest} decisions")
        for path in (self.places.path_into(path, self.bits) for path in paths):
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
        """Whether the engine has no subproblem left and none on the way from it; this stays true until it receives a
        subproblem. A subproblem is first fetched, then counted, then perhaps sent, so these are checked in this
        order."""
        return (
            self.reach.common().fetched == 2 * self.brought
            and self.reach.common().outstanding == 0
            and self.reach.common().sent == self.taken
        )

    def best(self) -> int:
        """sense * objective of the best solution that the engine has found or was given."""
        return int(self.reach.common().best)

    def gave_up(self) -> bool:
        """Whether the engine has left a part of its subproblems unsearched."""
        return bool(self.reach.common().incomplete)

    def release(self) -> None:
        """Lets waiting blocks leave: the tree is exhausted, so no more subproblems will come."""
        self.reach.send_word("shared", 0)


class Sharer(Engine, Protocol):
    """An engine that shares a tree with others (layout.Settings.shares)."""

    parcels: Parcels
