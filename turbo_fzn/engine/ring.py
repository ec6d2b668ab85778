"""The ring by which solutions reach the host while the kernel is running."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import numpy as np

from turbo_fzn.engine.abi.abi import METHODS, RingSlot
from turbo_fzn.engine.layout.layout import Layout


class Ring:
    """Reads the solution ring (kernels/search/mailbox.h), over a writable uint8 array.

    `take` returns the solutions that have arrived, in the order of their tickets, as (objective, block, method,
    values); the caller then writes `taken`, the number of all taken so far, where the blocks read it.
    """

    def __init__(self, layout: Layout, memory: np.ndarray, fence: Callable[[], None]):
        self.slots, self.slot_bytes = layout.ring_slots, layout.ring_slot_bytes
        self.values_type, self.n_values = layout.bound_type, len(layout.exports)
        self.memory, self.fence = memory, fence
        self.taken = 0

    def take(self) -> list[tuple[int, int, str, np.ndarray]]:
        arrived: list[tuple[int, int, str, np.ndarray]] = []
        while len(arrived) < self.slots:
            place = self.taken % self.slots * self.slot_bytes
            slot = RingSlot.from_buffer(self.memory.data, place)
            if slot.sequence != self.taken + 1:
                break
            self.fence()
            place += ctypes.sizeof(RingSlot)
            stored = self.memory[place : place + self.n_values * self.values_type().itemsize]
            values = stored.view(self.values_type).astype(np.int64)
            arrived.append((slot.objective, slot.block, METHODS[slot.method], values))
            self.taken += 1
        self.fence()
        return arrived
