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
    """The ring of these records, from the blocks that learn to the host, which empties it."""

    words: Annotated[pointer, "i64"]
    roots: Annotated[pointer, "i64"]  # by side, the best bound of level 0 in the log
    capacity: i64  # a power of two
    written: i64
    taken: i64
    writer: i64  # 1 while a learner appends
    clauses: i64  # the number of clauses that have been named
    n_roots: i64  # the number of bounds of level 0 in the log
    best: i64  # the least sense * objective of its solutions
    learners: i32  # those that have not given up
    stopped: i32  # nothing more is wanted; set by the host, or where the last learner gives up


class HintKind(IntEnum):
    """What a hint is about: its lowest bits. LAST: the bit of the last use of that; its number begins behind it."""

    EVENT = 0
    STEP = 1
    CHAIN = 2
    LAST = 4


class TrimFault(IntEnum):
    """Why the hints of a clause cannot be told (turbo_fzn/proof/hints.py)."""

    MEMORY = 1
    HOST = 2
    DAMAGED = 3
    UNPROVED = 4
    UNKNOWN = 5
    SILENT = 6


@record()
class ProofTrim(ctypes.Structure):
    """What the host knows of a log that is trimmed, by event, side, name of a clause, or bound of level 0."""

    first: Annotated[pointer, "const i64"]  # by side, its bound in the model
    now: Annotated[pointer, "i64"]  # by side, its bound at level 0 before the event that is looked at
    places: Annotated[pointer, "const i64"]  # by event, its place in the log, in words
    ends: Annotated[pointer, "const i64"]
    clauses: Annotated[pointer, "const i64"]  # by name, the event
    needed: Annotated[pointer, "char"]  # by event
    last_roots: Annotated[pointer, "const i64"]  # by side, its last bound of level 0, or -1
    root_bounds: Annotated[pointer, "const i64"]
    root_events: Annotated[pointer, "const i64"]
    root_before: Annotated[pointer, "const i64"]  # the bound before of the same side, or -1
    given: Annotated[pointer, "i64"]  # the literals of clauses that replace rows, whose names are -1, -2, ...
    given_starts: Annotated[pointer, "const i64"]  # of each, and the end
    n_given: i64
    n_sides: i64
    n_clauses: i64
    most_explained: i64  # explanations whose steps are remembered
    most_clauses: i64  # clauses that are remembered
    event: i64  # that is looked at
    log_file: i64  # its descriptor
    hints: Annotated[pointer, "i64"]  # those of the event
    n_hints: i64
    chains: Annotated[pointer, "i64"]  # side, higher, lower: that the side is the one implies that it is the other
    n_chains: i64
