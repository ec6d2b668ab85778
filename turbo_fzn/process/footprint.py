"""The memory of the process, and a watch that ends the run before it exceeds its limit.

Resident memory is counted, since a machine runs out of it. Address space is meaningless (so RLIMIT_AS is useless): a
search with two threads had 1.4 GB of it and 70 MB resident, and the driver of a GPU reserves terabytes. So a thread
polls it, and requests a stop as a signal does: the answer so far is printed. It does so when `memory_share` of the
limit is used, since the work until the end takes memory, too.

Compilers that the process has started are counted as well, and so is all memory of its parent (worker.py), though they
share pages. It has no other children.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator

from turbo_fzn.process import worker
from turbo_fzn.process.tuning import TUNING

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")

_has_helpers = False


def expect_helpers() -> None:
    """Records that this process may have children that work for it."""
    global _has_helpers
    _has_helpers = True


def resident_bytes() -> int:
    """The resident memory in bytes of this process, its parent (worker.py) and its helpers. Raises OSError if the
    system does not report it."""
    own = os.getpid()
    helpers = _descendants(own) if _has_helpers else []
    return sum(map(_resident_bytes, [own, *worker.in_front(), *helpers]))


def _resident_bytes(process: int) -> int:
    """0 of a process that has ended, or is another user's; this process must be known."""
    try:
        with open(f"/proc/{process}/statm", "rb") as file:
            return int(file.read().split()[1]) * PAGE_BYTES
    except OSError:
        if process == os.getpid():
            raise
        return 0


def _descendants(process: int) -> list[int]:
    """Its children, their children, …"""
    children: dict[int, list[int]] = {}
    for name in filter(str.isdecimal, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
            parent = int(file.read().rpartition(b")")[2].split()[1])
            children.setdefault(parent, []).append(int(name))
    found: list[int] = []
    ahead = [process]
    while ahead:
        ahead = [child for parent in ahead for child in children.get(parent, [])]
        found += ahead
    return found


@contextlib.contextmanager
def watched(limit: int | None, end: Callable[[], object]) -> Iterator[None]:
    """A context in which another thread calls `end` before the process takes `limit` bytes; None: no limit. Raises
    OSError if the system does not report its memory."""
    if limit is None:
        yield
        return
    most = int(limit * TUNING.memory_share)
    done = threading.Event()

    def look() -> None:
        while not done.wait(TUNING.helpers_look_seconds if _has_helpers else TUNING.memory_look_seconds):
            if resident_bytes() >= most:
                end()
                return

    resident_bytes()
    threading.Thread(target=look, name="footprint", daemon=True).start()
    try:
        yield
    finally:
        done.set()
