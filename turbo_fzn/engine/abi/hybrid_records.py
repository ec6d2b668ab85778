"""What the hybrid engine's threads, their blocks on the GPU and the host agree on: a part of abi.py."""

import ctypes
from typing import Annotated

from turbo_fzn.engine.abi.records import CACHE_LINE, OWN_LINE, i32, i64, pointer, record


@record(alignment=CACHE_LINE)
class Mailbox(ctypes.Structure):
    """Between a thread that searches and the block that propagates for it (hybrid/mailbox.h), in memory of the host
    that both reach; followed by the lists of changes, first those for the block."""

    asked: Annotated[i64, OWN_LINE]  # the thread's last message
    answered: Annotated[i64, OWN_LINE]  # the block's last one
    propagations: i64  # what the block has done for all its answers
    iterations: i64
    busy_ns: i64
    checksum: i64  # of its store; in CHECK_ASSERTIONS builds only
    culprit: i32  # of a failure: a row that has seen it, or -1


@record()
class Mailboxes(ctypes.Structure):
    """One a thread, so many bytes apart. A list has room for so many changes."""

    memory: Annotated[pointer, "char"]
    bytes: i64
    entries: i32


@record()
class RoundTrips(ctypes.Structure):
    """What a thread has counted of its block's answers."""

    round_trips: i64
    round_trip_ns: i64  # that the thread has waited
    propagation_ns: i64  # of that, the block was at work
    messages: i64  # to the block; more than round trips, where lists were sent in parts
    sent_bytes: i64
    returned_bytes: i64


ROUND_TRIPS = list(RoundTrips.__annotations__)
