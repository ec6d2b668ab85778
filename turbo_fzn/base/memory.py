"""The machine's memory, and checks for free memory before steps that would not report its lack properly.

Without memory NumPy prints pages of advice, OpenBLAS ends the process without a status line, and Python only reports
that a thread cannot be started. So an allocation is tried first.
"""

from __future__ import annotations

import mmap
import os


def share() -> int:
    """A quarter of the machine's memory, in bytes."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 4


def has_room(size: int) -> bool:
    """Whether the process can allocate `size` further bytes, which are freed without being used."""
    try:
        mmap.mmap(-1, max(size, 1), flags=mmap.MAP_PRIVATE).close()
    except (OSError, OverflowError):
        return False
    return True


def require(size: int) -> None:
    """Raises MemoryError if `size` bytes cannot be allocated."""
    if not has_room(size):
        raise MemoryError
