"""What goes into a running GPU kernel: words of Common, solutions and root bounds that were found elsewhere, and parts
of a tree that other engines share.

It is written by copies on a stream of its own, which run beside the kernel. They are made one after the other, and
blocks read what they bring with loads that are never cached: when a word is there, so is what was copied before it.
"""

from __future__ import annotations

import contextlib
import ctypes
from typing import Any

import numpy as np

from turbo_fzn.engine.abi.abi import NO_INCUMBENT, Common, Island, Units
from turbo_fzn.engine.abi.records import offset
from turbo_fzn.engine.cuda.context import Context
from turbo_fzn.engine.cuda.devices import driver
from turbo_fzn.engine.layout.layout import Layout

WORDS = ("stop", "consumed", "host_bound", "host_best", "shared", "wanted", "brought")  # of Common
AGAIN, VALUE, WHOLE = range(3)  # of the host's island: its version while it is written, its value, its version then


class Dispatch:
    """Copies into the `memory` (allocations by name) of the device of the context `here`, on `stream`.

    Made before the kernel starts, since page-locked memory cannot be had while it runs. A copy that fails is dropped:
    a kernel that has failed needs it no more, and its engine says so.
    """

    def __init__(self, here: Context, stream: Any, memory: dict[str, Any], layout: Layout):
        self.here, self.stream, self.memory, self.layout = here, stream, memory, layout
        self.cuda = cuda = driver()
        self.words = cuda.pagelocked_zeros(len(WORDS), np.int64)
        self.island = cuda.pagelocked_zeros(3, np.int64)
        self.values = cuda.pagelocked_zeros(max(layout.tnf.n_vars, 1), layout.bound_type)
        self.sides = cuda.pagelocked_zeros(2 * max(layout.tnf.n_vars, 1), layout.bound_type)
        self.inbox = cuda.pagelocked_zeros(max(layout.parcels * layout.parcel_bytes, 1), np.uint8)
        self.version = cuda.pagelocked_zeros(1, np.int64)  # of the units
        self.best = NO_INCUMBENT  # sense * objective of what was sent last

    def send_word(self, name: str, value: int) -> None:
        """Sets a word of Common."""
        place, size = WORDS.index(name), getattr(Common, name).size
        self.words[place] = value
        source = self.words.view(np.uint8)[8 * place : 8 * place + size]
        self._copy([("common", offset(Common, name), source)])

    def put_parcel(self, place: int, parcel: np.ndarray) -> None:
        """Bytes (uint8) for a place in the inbox. They are there before the next word is."""
        source = self.inbox[place : place + len(parcel)]
        source[:] = parcel
        self._begin_copies([("inbox", place, source)])

    def send_solution(self, value: int, values: np.ndarray) -> None:
        """A solution (int64 [n]) with a smaller sense * objective than those before, first its values, then the bound
        that it is. On the host's island a version that is odd says that the values are being written."""
        if value >= self.best:
            return
        self.best, version = value, int(self.island[WHOLE]) + 2
        self.island[:] = version - 1, value, version
        self.values[:] = values
        place = self.layout.n_islands * ctypes.sizeof(Island)
        start = self.layout.n_islands * self.values.nbytes
        self._copy(
            [
                ("islands", place + offset(Island, "version"), self.island[AGAIN : AGAIN + 1]),
                ("incumbents", start, self.values),
                ("islands", place + offset(Island, "value"), self.island[VALUE : VALUE + 1]),
                ("islands", place + offset(Island, "version"), self.island[WHOLE : WHOLE + 1]),
            ]
        )
        self.send_word("host_best", value)

    def send_roots(self, sides: np.ndarray) -> None:
        """Root bounds (int64 [2 n], as in contract.Roots), at least those before. Each word holds by itself."""
        self.sides[:] = sides
        self.version += 1
        self._copy([("units", ctypes.sizeof(Units), self.sides), ("units", offset(Units, "version"), self.version)])

    def _copy(self, copies: list[tuple[str, int, np.ndarray]]) -> None:
        """Each from host memory to a place in an allocation, in order; returns when they are made."""
        self._begin_copies(copies)
        with contextlib.suppress(self.cuda.Error):
            self.stream.synchronize()

    def _begin_copies(self, copies: list[tuple[str, int, np.ndarray]]) -> None:
        self.here.enter()
        with contextlib.suppress(self.cuda.Error):
            for name, place, source in copies:
                self.cuda.memcpy_htod_async(int(self.memory[name]) + place, source, self.stream)
