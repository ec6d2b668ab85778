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
        self.slots = memory.view(_slot(layout))
        self.fence = fence
        self.taken = 0

    def take(self) -> list[tuple[int, int, str, np.ndarray]]:
        """(objective, block, method, values) of each solution that has arrived."""
        arrived = self._take_from(self.taken % len(self.slots))
        if arrived and self.taken % len(self.slots) == 0:  # the slots taken reach the end of the ring
            arrived += self._take_from(0)
        self.fence()
        return arrived

    def _take_from(self, first: int) -> list[tuple[int, int, str, np.ndarray]]:
        """The contents of the next slots, up to an incomplete slot or the end of the ring."""
        sequences = self.slots["head"]["sequence"][first:]
        if sequences[0] != self.taken + 1:
            return []
        is_there = sequences == self.taken + 1 + np.arange(len(sequences))
        count = len(is_there) if is_there.all() else int(is_there.argmin())
        self.fence()
        complete = self.slots[first : first + count]
        head, values = complete["head"], complete["values"].astype(np.int64)
        methods = [METHODS[number] for number in head["method"].tolist()]
        self.taken += count
        return list(zip(head["objective"].tolist(), head["block"].tolist(), methods, values))


def _slot(layout: Layout) -> np.dtype:
    """The NumPy dtype of a slot."""
    values = np.dtype((layout.bound_type, (len(layout.exports),)))
    offsets, size = [0, ctypes.sizeof(RingSlot)], layout.ring_slot_bytes
    return np.dtype({"names": ["head", "values"], "formats": [RingSlot, values], "offsets": offsets, "itemsize": size})
