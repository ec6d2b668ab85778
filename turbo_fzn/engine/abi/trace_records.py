"""The records of the search tree that host and kernels share, for the profiler: a part of abi.py."""

import ctypes
from enum import IntEnum
from typing import Annotated

from turbo_fzn.engine.abi.records import i32, i64, pointer, record


class TraceStatus(IntEnum):
    """The status of a node of the search tree, with the numbers of the profiler's protocol."""

    SOLVED = 0
    FAILED = 1
    BRANCH = 2
    SKIPPED = 3


@record()
class TraceRecord(ctypes.Structure):
    """A node: its place among its siblings and the decision that led to it (var -1: none). Each task searches its own
    tree, and numbers its nodes from 0; the parent of a root is -1."""

    lower: i64
    upper: i64
    tree: i32
    node: i32
    parent: i32
    alternative: i32
    children: i32
    status: i32
    var: i32


@record()
class TraceBranch(ctypes.Structure):
    """The choice point of an open level."""

    node: i32
    children: i32


@record()
class Trace(ctypes.Structure):
    """The ring of the search tree's nodes, from the block that searches to the host."""

    records: Annotated[pointer, "TraceRecord"]
    branches: Annotated[pointer, "TraceBranch"]
    capacity: i64
    written: i64
    taken: i64
    lower: i64  # the decision that leads to the current node
    upper: i64
    tree: i32
    next: i32
    parent: i32
    alternative: i32
    var: i32
