"""Messages to a running GPU kernel: words of Common, solutions and root bounds of other engines, and subproblems of a
shared tree.

They are copied on a separate stream, beside the kernel. Copies are made in order, and blocks read them by loads that
are never cached: a block that sees a word also sees everything that was copied before it.
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

WORDS = ("stop", "consumed", "host_bound", "host_best", "shared", "wanted", "brought")  # fields of Common
AGAIN, VALUE, WHOLE = range(3)  # words of the host's island: version during a write, value, version afterwards


class Dispatch:
    """Copies into the `memory` (allocations by name) of the device of the context `here`, on `stream`.

    Create it before the kernel starts, since page-locked memory cannot be allocated while the kernel is running. A copy
    that fails is dropped: then the kernel has failed, which its engine reports.
    """

    def __init__(self, here: Context, stream: Any, memory: dict[str, Any], layout: Layout):
        self.here, self.stream, self.memory, self.layout = here, stream, memory, layout
        self.cuda = cuda = driver()
        self.words = cuda.pagelocked_zeros(len(WORDS), np.int64)
        self.island = cuda.pagelocked_zeros(3, np.int64)
        self.values = cuda.pagelocked_zeros(max(layout.tnf.n_vars, 1), layout.bound_type)
        self.sides = cuda.pagelocked_zeros(2 * max(layout.tnf.n_vars, 1), layout.bound_type)
        self.inbox = cuda.pagelocked_zeros(max(layout.parcels * layout.parcel_bytes, 1), np.uint8)
        self.version = cuda.pagelocked_zeros(1, np.int64)  # version of the units
        self.best = NO_INCUMBENT  # sense * objective of the last solution sent

    def send_word(self, name: str, value: int) -> None:
        """Sets a word of Common."""
        place, size = WORDS.index(name), getattr(Common, name).size
        self.words[place] = value
        source = self.words.view(np.uint8)[8 * place : 8 * place + size]
        self._copy([("common", offset(Common, name), source)])

    def put_parcel(self, place: int, parcel: np.ndarray) -> None:
        """Copies bytes (uint8) to a place in the inbox, before the next word is set."""
        source = self.inbox[place : place + len(parcel)]
        source[:] = parcel
        self._begin_copies([("inbox", place, source)])

    def send_solution(self, value: int, values: np.ndarray) -> None:
        """Sends a solution (int64 [n]) with a smaller sense * objective than all before: first its values, then its
        objective. While the values are being written, the version of the host's island is odd."""
        if value >= self.best:
            return
        self.best, version = value, int(self.island[WHOLE]) + 2
        self.island[:] = version - 1, value, version
        self.values[:] = self.layout.places.into(values)
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
        """Sends root bounds (int64 [2 n], as in contract.Roots), no weaker than the bounds before. Each bound is valid
        by itself, so blocks may read a mixture."""
        self.sides[:] = self.layout.places.into(sides.reshape(-1, 2)).reshape(-1)
        self.version += 1
        self._copy([("units", ctypes.sizeof(Units), self.sides), ("units", offset(Units, "version"), self.version)])

    def _copy(self, copies: list[tuple[str, int, np.ndarray]]) -> None:
        """Makes copies from host memory to places in allocations, in order, and waits for their end."""
        self._begin_copies(copies)
        with contextlib.suppress(self.cuda.Error):
            self.stream.synchronize()

    def _begin_copies(self, copies: list[tuple[str, int, np.ndarray]]) -> None:
        self.here.enter()
        with contextlib.suppress(self.cuda.Error):
            for name, place, source in copies:
                self.cuda.memcpy_htod_async(int(self.memory[name]) + place, source, self.stream)
