"""Memory that host and kernels share: its alignment and its initial values."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from turbo_fzn.engine.abi.abi import METHODS, N_DEPTHS, Common, DepthCounts, MethodBook
from turbo_fzn.engine.abi.records import CACHE_LINE, align, fields_of, offset
from turbo_fzn.engine.tuning import TUNING


def line_aligned(size: int) -> np.ndarray:
    """Zeros (uint8 [size]) that begin with a cache line, for records that many blocks write to."""
    memory = np.zeros(size + CACHE_LINE, np.uint8)
    start = -memory.ctypes.data % CACHE_LINE
    return memory[start : start + size]


def make_common(**values: int) -> Common:
    """A Common with these values that begins with a cache line, as abi.py requires."""
    common = Common.from_buffer(line_aligned(ctypes.sizeof(Common)).data)
    for name, value in values.items():
        setattr(common, name, value)
    return common


def first_books() -> np.ndarray:
    """The books (int64 [methods, words]) at the start of a run."""
    books = line_aligned(len(METHODS) * ctypes.sizeof(MethodBook)).view(np.int64).reshape(len(METHODS), -1)
    start = offset(MethodBook, "share") // 4
    books.view(np.int32)[:, start : start + 8] = TUNING.first_share
    return books


def first_depths() -> np.ndarray:
    """The counts of PROFILE builds by classes of depths (int64 [classes, fields]), at the start of a run."""
    return np.zeros((N_DEPTHS, ctypes.sizeof(DepthCounts) // 8), np.int64)


def align16(size: int) -> int:
    return align(size, 16)


def power_of_two(least: int) -> int:
    return 1 << max(least - 1, 1).bit_length()


def columns(record: type[ctypes.Structure], **values: Any) -> np.ndarray:
    """An array of a record whose fields are all int32: int32 [records, fields], from the values of each field."""
    return np.ascontiguousarray(np.stack([values[field.name] for field in fields_of(record)], axis=1), np.int32)
