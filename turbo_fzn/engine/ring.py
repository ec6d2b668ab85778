"""The host's end of the solution ring (kernels/search/mailbox.h)."""

from __future__ import annotations

import ctypes

import numpy as np

from turbo_fzn.engine.abi import METHODS, RingSlot
from turbo_fzn.engine.layout import Layout


class Ring:
    """The host's end of the solution ring (kernels/mailbox.h), over a writable uint8 array.

    `take` returns the solutions that have arrived, in the order of their tickets, as (objective, block, method, values);
    the caller then tells the blocks `taken`, how many were taken in all.
    """

    def __init__(self, layout: Layout, memory: np.ndarray, fence):
        self.slots, self.slot_bytes = layout.ring_slots, layout.ring_slot_bytes
        self.values_type, self.n_values = layout.bound_type, len(layout.exports)
        self.memory, self.fence = memory, fence
        self.headers = memory.view(np.int64).reshape(self.slots, -1)
        self.taken = 0

    def take(self) -> list[tuple[int, int, str, np.ndarray]]:
        arrived = []
        while len(arrived) < self.slots:
            slot = self.taken % self.slots
            header = self.headers[slot]
            if int(header[0]) != self.taken + 1:
                break
            self.fence()
            start = slot * self.slot_bytes + ctypes.sizeof(RingSlot)
            stored = self.memory[start : start + self.n_values * self.values_type().itemsize]
            arrived.append((int(header[1]), int(header[2]), METHODS[int(header[3])], stored.view(self.values_type).astype(np.int64)))
            self.taken += 1
        self.fence()
        return arrived
