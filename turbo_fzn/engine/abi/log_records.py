"""The log of a learner's conclusions that host and kernels share, for proofs: a part of abi.py."""

import ctypes
from enum import IntEnum
from typing import Annotated

from turbo_fzn.engine.abi.records import i32, i64, pointer, record


class LogKind(IntEnum):
    """What a record of the log says. Each begins with its size in words and its kind (kernels/learn/state/log.h)."""

    BY_ROW = 1  # entry, side, k, row, premises: how the row made the side reach k
    BY_CLAUSE = 2  # entry, side, k, clause: likewise
    LEARNED = 3  # clause, literals: it follows from the explanations since the last one
    ROOT = 4  # side, k, reason: a bound of level 0
    REFUTED = 5  # reason: it fails at level 0
    SOLUTION = 6  # the values of all variables
    ENDED = 7  # the space is exhausted


@record()
class ProofLog(ctypes.Structure):
    """The ring of these records, from the block that learns to the host, which empties it."""

    words: Annotated[pointer, "i64"]
    capacity: i64  # a power of two
    written: i64
    taken: i64
    clauses: i64  # the number of clauses that have been named
    stopped: i32  # nothing more is wanted; set by the host, or where the learner gives up
