"""How ranks speak to each other: kinds of messages, and whom a rank passes news on to."""

from __future__ import annotations

from enum import IntEnum, auto
from typing import Any, NamedTuple, Protocol


class Kind(IntEnum):
    STEAL = auto()  # has nothing left, and asks for subproblems
    WORK = auto()  # subproblems; none: there are none to spare
    FOUND = auto()  # solutions, for rank 0
    NEWS = auto()  # what is known of the objective, for all
    COUNT = auto()  # what is under way? for the ranks below in the tree of ranks
    SUM = auto()  # the answer, for the one above
    SETTLE = auto()  # the tree is exhausted
    PROVED = auto()  # there is no more than what this rank has found: without an objective, for rank 0
    STOP = auto()  # the search is over
    ALIVE = auto()  # what was counted so far, for rank 0
    FINAL = auto()  # the same, at the end
    LOST = auto()  # an engine has failed, for rank 0


class Message(NamedTuple):
    kind: Kind
    source: int
    payload: Any


class Wire(Protocol):
    """The messages of one search. Those of one rank to another arrive in their order."""

    @property
    def rank(self) -> int: ...

    @property
    def size(self) -> int: ...

    def send(self, kind: Kind, target: int, payload: Any = None) -> None:
        """Does not wait for the other one."""
        ...

    def receive(self) -> list[Message]:
        """What has arrived."""
        ...


def children(rank: int, size: int, origin: int = 0) -> list[int]:
    """Whom a rank passes on to what comes from `origin`: a binomial tree of all ranks, so that news is everywhere after
    log2(size) steps, and nobody sends more than so many messages."""
    place = (rank - origin) % size
    below = place & -place or size
    steps = (1 << k for k in range(size.bit_length()))
    return [(place + step + origin) % size for step in steps if step < below and place + step < size]


def parent(rank: int) -> int:
    """Who passes on to a rank what comes from rank 0."""
    return rank & (rank - 1)


def spread(wire: Wire, kind: Kind, payload: Any, origin: int = 0) -> None:
    """Passes on to the ranks below what comes from `origin`, which may be this one."""
    for target in children(wire.rank, wire.size, origin):
        wire.send(kind, target, payload)
