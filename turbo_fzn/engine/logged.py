"""The log of learners (kernels/learn/state/log.h), taken out of its ring into a file while it works."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from array import array
from collections.abc import Callable

import numpy as np

from turbo_fzn.engine.abi.abi import NO_INCUMBENT
from turbo_fzn.engine.abi.log_records import ProofLog
from turbo_fzn.engine.tuning import TUNING
from turbo_fzn.tnf.language import TNF

WORD = 8  # format: bytes
HEAD = 3  # format: the words of a learned clause before its literals


class Log:
    """The ring, and the file that it is emptied into. The file has no name, and is removed with the process."""

    def __init__(self, tnf: TNF, limit: int, bits: int = 32, learners: int = 1):
        """`tnf`: the learners' model. `limit`: the bytes of the file after which nothing more is logged. `bits`: the
        width of the learners' stores, whose kernels will look through the log."""
        self.tnf = tnf
        largest = 4 * tnf.n_vars + HEAD  # a clause of all sides
        self.ring = np.zeros(max(TUNING.log_words, 1 << largest.bit_length()), np.int64)
        self.roots = np.full(2 * tnf.n_vars, np.iinfo(np.int64).min)
        rings = self.ring.ctypes.data, self.roots.ctypes.data, len(self.ring)
        self.shared = ProofLog(*rings, best=NO_INCUMBENT, learners=learners)
        self.file = tempfile.TemporaryFile(prefix="turbo_fzn-proof-")
        self.limit, self.n_bytes, self.bits = limit, 0, bits
        self.over = False  # the limit was reached
        self.failure: OSError | MemoryError | None = None
        self.closing = threading.Event()
        self.thread = threading.Thread(target=self._empty, name="proof", daemon=True)

    def start(self, fence: Callable[[], None]) -> None:
        self.fence = fence
        self.thread.start()

    def _empty(self) -> None:
        while not self.shared.stopped:
            last = self.closing.is_set()  # before the look, so that no record is missed
            moved = self._take()
            if last and not moved:
                return
            if not moved:
                time.sleep(TUNING.log_pause_seconds)

    def _take(self) -> bool:
        """Moves the records written so far to the file. Returns whether there were any."""
        taken, written = self.shared.taken, self.shared.written
        self.fence()
        if taken == written:
            return False
        start, end = taken % len(self.ring), (written - 1) % len(self.ring) + 1
        pieces = [self.ring[start:end]] if start < end else [self.ring[start:], self.ring[:end]]
        try:
            for piece in pieces:
                self.file.write(piece.data)
        except (OSError, MemoryError) as error:  # the learners must not wait for a reader that has ended
            self.failure, self.shared.stopped = error, 1
        self.n_bytes += (written - taken) * WORD
        self.fence()
        self.shared.taken = written
        if self.n_bytes > self.limit:
            self.over, self.shared.stopped = True, 1
        return True

    def finish(self) -> None:
        """Waits until all records are moved; the learners have ended. `failure` is set if some of them are missing."""
        self.closing.set()
        self.thread.join()
        try:
            self.file.flush()
        except OSError as error:  # the last records did not fit on the disk
            self.failure = error

    @property
    def is_abandoned(self) -> bool:
        """Whether all learners have given up, so that the log has no end."""
        return bool(self.shared.stopped) and not self.over and self.failure is None

    def read(self, first: int, last: int) -> bytes:
        """The records between two places of the file, in words; less where it ends."""
        return os.pread(self.file.fileno(), (last - first) * WORD, first * WORD)

    def words(self, first: int, last: int) -> list[int]:
        """The words of the records between two places of the file; fewer where it ends."""
        return array("q", self.read(first, last)).tolist()
