"""The structs that host and kernels share: the mirror of kernels/core/abi.h."""

from __future__ import annotations

import ctypes
from ctypes import c_int32, c_int64, c_void_p

import numpy as np

NO_INCUMBENT = 2**63 - 1
PHASE, HINT = 11, 12  # VALUE_PHASE and VALUE_HINT of abi.h, for the strategies of restarts and the warm start


def _fields(names: str, kind: type) -> list[tuple[str, type]]:
    return [(name, kind) for name in names.split()]


class Common(ctypes.Structure):
    _fields_ = [
        ("best", c_int64),
        ("stop", c_int32),
        *_fields("consumed ring_head", c_int64),
        ("incomplete", c_int32),
        *_fields("bound improved_ns", c_int64),
        ("padding_0", c_int64),
        ("pool_head", c_int64),
        ("padding_1", c_int64 * 7),
        ("pool_tail", c_int64),
        ("padding_2", c_int64 * 7),
        ("outstanding", c_int32),
        ("padding_3", c_int32 * 15),
    ]

    @property
    def is_complete(self) -> bool:
        """After the last block has left: nothing better than what was published exists."""
        return (self.outstanding == 0 or self.bound >= self.best) and not self.incomplete


COMMON_BYTES = 256
PHASES = ("fixpoint", "choice", "backtrack", "solution", "dive", "wait")


class Statistics(ctypes.Structure):
    _fields_ = _fields(
        "nodes failures propagations iterations solutions donations replays restarts peak_level busy_ns idle_ns "
        "fixpoint_errors " + " ".join(f"{phase}_ticks" for phase in PHASES),
        c_int64,
    )


# The enum Method of abi.h: how a block searches.
METHODS = ("tree", "random", "window", "graph", "objective", "weighted", "annotated", "probe")


class Island(ctypes.Structure):
    _fields_ = [*_fields("version value patience", c_int64), ("padding", c_int64 * 5)]


class MethodBook(ctypes.Structure):
    _fields_ = [
        *_fields("tries busy_ns improvements recent_ns recent_gain running", c_int64),
        ("share", c_int32 * 8),  # by extent and size
        ("padding", c_int64 * 6),
    ]



class PoolSlot(ctypes.Structure):
    _fields_ = [("length", c_int32), ("padding", c_int32 * 3)]


class RingSlot(ctypes.Structure):
    _fields_ = _fields("sequence objective block method", c_int64)


POINTERS = (
    "rows watches watchers tables root_lower root_upper strategies strategy_vars exports neighbours neighbour_groups owners hints "
    "weights islands incumbents phases books common statistics pool_sequences pool ring workspace"
)


class StrategyRecord(ctypes.Structure):
    _fields_ = _fields("var_choice value_choice start count", c_int32)


class Problem(ctypes.Structure):
    _fields_ = [
        *_fields(POINTERS, c_void_p),
        *_fields("workspace_bytes pool_slot_bytes ring_slot_bytes seed", c_int64),
        *_fields(
            "n_vars n_rows n_strategies n_exports n_neighbours n_groups n_islands objective sense changed_capacity queue_capacity "
            "trail_capacity level_capacity path_capacity pool_slots pool_path ring_slots lns_percent n_blocks use_weights "
            "project methods n_hints",
            c_int32,
        ),
        ("padding", c_int32 * 5),
        ("outputs", StrategyRecord),
    ]


# A node of the search tree and what the host shares with the block that writes them: kernels/trace.h.
TRACE_RECORD = np.dtype(
    [(name, np.int64) for name in ("lower", "upper")]
    + [(name, np.int32) for name in "tree node parent alternative children status var padding".split()]
)


class Trace(ctypes.Structure):
    _fields_ = [
        *_fields("records branches", c_void_p),
        *_fields("capacity written taken lower upper", c_int64),
        *_fields("tree next parent alternative var padding", c_int32),
    ]


def struct_sizes(bits: int) -> list[int]:
    """sizeof of the structs of abi.h in the order in which `abi_sizes` of solve.cpp lists them."""
    bound = bits // 8
    decision = 12 if bits == 32 else 24
    level = 4 * bound + 32
    return [bound, 16, 16, 16, decision, decision, level, COMMON_BYTES, ctypes.sizeof(Statistics),
            ctypes.sizeof(Island), ctypes.sizeof(MethodBook), ctypes.sizeof(PoolSlot), ctypes.sizeof(RingSlot), ctypes.sizeof(Problem)]  # fmt: skip
