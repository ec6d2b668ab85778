"""The interface of the hybrid engine's threads, their blocks on the GPU, and the host: a part of abi.py."""

import ctypes
from typing import Annotated

from turbo_fzn.engine.abi.records import CACHE_LINE, OWN_LINE, i32, i64, pointer, record


@record(alignment=CACHE_LINE)
class Mailbox(ctypes.Structure):
    """The messages between a thread that searches and the block that propagates for it (hybrid/mailbox.h), in mapped
    memory of the host; followed by the lists of changes, first those for the block."""

    asked: Annotated[i64, OWN_LINE]  # the thread's last message
    answered: Annotated[i64, OWN_LINE]  # the block's last one
    propagations: i64  # of the block for all its answers
    iterations: i64
    busy_ns: i64
    checksum: i64  # of its store; in CHECK_ASSERTIONS builds only
    culprit: i32  # a row that has failed, or -1


@record()
class Mailboxes(ctypes.Structure):
    """One mailbox for each thread, `bytes` apart. A list has room for `entries` changes."""

    memory: Annotated[pointer, "char"]
    bytes: i64
    entries: i32


@record()
class RoundTrips(ctypes.Structure):
    """The counts of a thread on its block's answers."""

    round_trips: i64
    round_trip_ns: i64  # that the thread has waited
    propagation_ns: i64  # of that, the block was at work
    messages: i64  # to the block; more than round trips, where lists were sent in parts
    sent_bytes: i64
    returned_bytes: i64


ROUND_TRIPS = list(RoundTrips.__annotations__)
