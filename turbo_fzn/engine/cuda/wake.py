"""Waking the GPU beside everything else: while a large model is being read, or while the CPU searches a small one.

Making a CUDA context takes the driver some tenths of a second, in which it needs neither the model nor Python. PyCUDA
holds Python's lock for as long, so the driver is called here by ctypes, which does not. What wakes are the primary
contexts of the GPUs that are wanted, side by side, which belong to the process: whoever asks for them later, PyCUDA
that is, finds them awake. They are never given back, since they are wanted until the process ends.

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

from turbo_fzn.engine.cuda.devices import chosen
from turbo_fzn.errors import UsageError

LIBRARY = "libcuda.so.1"
PATIENCE_SECONDS = 2.0  # of an orderly exit with a driver that is still at work


class Waking:
    """The driver at work in a thread, for `seconds` in the end.

    `failure` says why there will be no GPU, as soon as that is known.
    """

    def __init__(self, wanted: str = "all") -> None:
        self.wanted = wanted
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
        count = ctypes.c_int()
        failure = self._call("cuInit", 0) or self._call("cuDeviceGetCount", ctypes.byref(count))
        if failure is None and count.value == 0:
            failure = "no NVIDIA GPU found"
        if failure is None:
            failure = self._retain_all(count.value)
        self.seconds = time.monotonic() - start
        self.failure = failure

    def _retain_all(self, count: int) -> str | None:
        """Why none of those that are wanted can be used; None where one can."""
        try:
            numbers = chosen(self.wanted, count)
        except UsageError:
            return None  # whoever is to make the engine says so
        failures: dict[int, str | None] = {}
        threads = [
            threading.Thread(target=lambda number=number: failures.update({number: self._retain(number)}), daemon=True)
            for number in numbers
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return failures[numbers[0]] if all(failures.values()) else None

    def _retain(self, number: int) -> str | None:
        device, context = ctypes.c_int(), ctypes.c_void_p()
        failure = self._call("cuDeviceGet", ctypes.byref(device), number)
        return failure or self._call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)

    def _call(self, name: str, *arguments: object) -> str | None:
        """Why the function of the driver has not done what it should."""
        try:
            status = getattr(self.driver, name)(*arguments)
        except AttributeError:
            return f"no usable NVIDIA driver: {LIBRARY} has no {name}"
        return f"no usable NVIDIA driver: {name} returns error {status}" if status else None


@lru_cache(maxsize=1)
def absence() -> str | None:
    """Why there is no driver; None where there is one, which is left asleep."""
    try:
        ctypes.CDLL(LIBRARY)
    except OSError as error:
        return f"no NVIDIA driver: {error}"
    return None


_begun: Waking | None = None


def begin(wanted: str = "all") -> Waking:
    """Starts to wake the GPUs that are wanted (devices.chosen), and returns at once; once a process."""
    global _begun
    _begun = _begun or Waking(wanted)
    return _begun


def seconds() -> float:
    """How long the driver was at work; 0 when it was not asked, or still is."""
    return _begun.seconds if _begun is not None else 0.0
