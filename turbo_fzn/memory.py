"""Whether there is memory, asked before what would not say so itself.

NumPy tells of missing memory by pages of advice, OpenBLAS ends the process without a status line, and Python calls a
thread without room for its stack just one that cannot be started. So the room is tried first.
"""

from __future__ import annotations

import mmap

LIBRARIES_BYTES = 96 << 20  # of address space that NumPy and OpenBLAS take, and the kernels
STACK_BYTES = 8 << 20  # of a thread, by the usual limit


def require(size: int) -> None:
    """MemoryError where the process cannot have so many bytes more. They are not touched, and given back."""
    try:
        mmap.mmap(-1, max(size, 1), flags=mmap.MAP_PRIVATE).close()
    except (OSError, OverflowError):
        raise MemoryError from None
