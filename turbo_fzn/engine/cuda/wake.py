"""Initialises the GPUs in the background, while a large model is being read, or while the CPU searches a small one.

Making a CUDA context takes the driver some tenths of a second, in which it needs neither the model nor Python. PyCUDA
holds Python's lock during this time, so the driver is called here by ctypes, which releases it. It makes the primary
contexts of the named GPUs in parallel; these belong to the process, so PyCUDA later finds them ready. They are never
released, since they are needed until the process ends.

If a small model may be solved first, the driver is not initialised before the search has had a head start (maker.py):
the system takes a tenth of a second to clean up after the driver, which uses a processor, though no process waits
(worker.py).

Imports nothing heavy, so that it can begin before heavy modules are imported.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import threading
import time
from functools import lru_cache

from turbo_fzn.base.errors import UsageError
from turbo_fzn.engine.cuda.devices import chosen
from turbo_fzn.engine.tuning import TUNING

LIBRARY = "libcuda.so.1"
LINKER_CACHE = "/etc/ld.so.cache"


class Waking:
    """Initialises the driver and the GPUs in a thread.

    `seconds` is the time that it took; `failure` is the reason why there will be no GPU, once that is known.
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
            # Otherwise the thread would be ended during its work.
            atexit.register(thread.join, TUNING.driver_patience_seconds)

    def wait(self) -> None:
        """Waits until it is known whether there is a GPU, without holding Python's lock."""
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
        """The reason why no named GPU can be used, or None."""
        try:
            numbers = chosen(self.wanted, count)
        except UsageError:
            return None  # making the engine will report it
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
        """Calls a function of the driver. Returns the reason of its failure, or None."""
        try:
            status = getattr(self.driver, name)(*arguments)
        except AttributeError:
            return f"no usable NVIDIA driver: {LIBRARY} has no {name}"
        return f"no usable NVIDIA driver: {name} returns error {status}" if status else None


def _is_listed() -> bool:
    """Whether the dynamic linker's path or its cache has the driver's library."""
    folders = filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(":"))
    if any(os.path.exists(os.path.join(folder, LIBRARY)) for folder in folders):
        return True
    try:
        with open(LINKER_CACHE, "rb") as file:
            return f"/{LIBRARY}\0".encode() in file.read()
    except OSError:
        return False


@lru_cache(maxsize=1)
def absence() -> str | None:
    """The reason why there is no driver, or None; loads the driver, and does not initialise it."""
    try:
        ctypes.CDLL(LIBRARY)
    except OSError as error:
        return f"no NVIDIA driver: {error}"
    return None


def foreseen_absence() -> str | None:
    """The reason why there is no driver, or None. A driver that the linker would find is not loaded, which takes a
    while: if it cannot be loaded later, the search goes on without it."""
    return None if _is_listed() else absence()


_begun: Waking | None = None


def begin(wanted: str = "all") -> Waking:
    """Starts to initialise the named GPUs (devices.chosen), once in a process, and returns at once."""
    global _begun
    _begun = _begun or Waking(wanted)
    return _begun


def seconds() -> float:
    """The seconds that the initialisation took; 0 if it was not begun or has not ended."""
    return _begun.seconds if _begun is not None else 0.0
