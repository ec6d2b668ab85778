"""Whether there is memory, asked before what would not say so itself.

NumPy tells of missing memory by pages of advice, OpenBLAS ends the process without a status line, and Python calls a
thread without room for its stack just one that cannot be started. So the room is tried first.
"""

from __future__ import annotations

import mmap

LIBRARIES_BYTES = 96 << 20  # of address space that NumPy and OpenBLAS take, and the kernels
STACK_BYTES = 8 << 20  # of a thread, by the usual limit


def has_room(size: int) -> bool:
    """Whether the process can have so many bytes more. They are not touched, and given back."""
    try:
        mmap.mmap(-1, max(size, 1), flags=mmap.MAP_PRIVATE).close()
    except (OSError, OverflowError):
        return False
    return True


def require(size: int) -> None:
    """Raises MemoryError where there is no room for so many bytes."""
    if not has_room(size):
        raise MemoryError
