"""Waking the GPU beside everything else: while a large model is being read, or while the CPU searches a small one.

Making a CUDA context takes the driver some tenths of a second, in which it needs neither the model nor Python. PyCUDA
holds Python's lock for as long, so the driver is called here by ctypes, which does not. What wakes is the primary
context of the first GPU, which belongs to the process: whoever asks for it later, PyCUDA that is, finds it awake. It is
never given back, since it is wanted until the process ends.

Where a small model may be solved first, nobody wakes the driver before the search has had a head start (maker.py): the
system takes a tenth of a second to clear up after it, in which it is busy, though nobody waits for that (worker.py).

Imports nothing heavy, so that it can begin before what is heavy is imported.
"""

from __future__ import annotations

import atexit
import ctypes
import threading
import time
from functools import lru_cache

LIBRARY = "libcuda.so.1"
PATIENCE_SECONDS = 2.0  # of an orderly exit with a driver that is still at work


class Waking:
    """The driver at work in a thread, for `seconds` in the end.

    `failure` says why there will be no GPU, as soon as that is known.
    """

    def __init__(self) -> None:
        self.failure: str | None = None
        self.seconds = 0.0
        self.thread: threading.Thread | None = None
        try:
            self.driver = ctypes.CDLL(LIBRARY)
        except OSError as error:
            self.failure = f"no NVIDIA driver: {error}"
        else:
            self.thread = threading.Thread(target=self._run, name="wake", daemon=True)
            self._start(self.thread)

    def _start(self, thread: threading.Thread) -> None:
        try:
            thread.start()
        except RuntimeError as error:
            self.failure = f"the driver cannot be woken: {error}"
        else:
            atexit.register(thread.join, PATIENCE_SECONDS)  # else it would be taken down while it is at work

    def wait(self) -> None:
        """Until it is known whether there is a GPU. Python's lock is free meanwhile."""
        if self.thread is not None and self.failure is None:
            self.thread.join()

    def _run(self) -> None:
        start = time.monotonic()
        device, context = ctypes.c_int(), ctypes.c_void_p()
        for name, arguments in (
            ("cuInit", (0,)),
            ("cuDeviceGet", (ctypes.byref(device), 0)),
            ("cuDevicePrimaryCtxRetain", (ctypes.byref(context), device)),
        ):
            try:
                status = getattr(self.driver, name)(*arguments)
            except AttributeError:
                self.failure = f"no usable NVIDIA driver: {LIBRARY} has no {name}"
                return
            if status != 0:
                self.failure = f"no usable NVIDIA driver: {name} returns error {status}"
                return
        self.seconds = time.monotonic() - start


@lru_cache(maxsize=1)
def absence() -> str | None:
    """Why there is no driver; None where there is one, which is left asleep."""
    try:
        ctypes.CDLL(LIBRARY)
    except OSError as error:
        return f"no NVIDIA driver: {error}"
    return None


@lru_cache(maxsize=1)
def begin() -> Waking:
    """Starts to wake the first GPU, and returns at once; once a process."""
    return Waking()


def seconds() -> float:
    """How long the driver was at work; 0 when it was not asked, or still is."""
    return begin().seconds if begin.cache_info().currsize else 0.0
