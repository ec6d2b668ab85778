"""Messages between ranks: their kinds, and the trees by which they are passed on."""

from __future__ import annotations

from enum import IntEnum, auto
from typing import Any, NamedTuple, Protocol


class Kind(IntEnum):
    STEAL = auto()  # a request for subproblems
    WORK = auto()  # subproblems; an empty list is a refusal
    FOUND = auto()  # solutions, for rank 0
    NEWS = auto()  # a solution or a bound of the objective, for all
    COUNT = auto()  # a request for counts, for the ranks below in the tree of ranks
    SUM = auto()  # the answer, for the rank above
    SETTLE = auto()  # the tree is exhausted
    PROVED = auto()  # without an objective: this rank has searched the whole space, for rank 0
    STOP = auto()  # the search is over
    ALIVE = auto()  # current statistics, for rank 0
    FINAL = auto()  # final statistics, for rank 0
    LOST = auto()  # all engines have failed, for rank 0


class Message(NamedTuple):
    kind: Kind
    source: int
    payload: Any


class Wire(Protocol):
    """The messages of one search. Messages from one rank to another arrive in order."""

    @property
    def rank(self) -> int: ...

    @property
    def size(self) -> int: ...

    def send(self, kind: Kind, target: int, payload: Any = None) -> None:
        """Sends a message without waiting for the target."""
        ...

    def receive(self) -> list[Message]:
        """The messages that have arrived since the last call."""
        ...


def children(rank: int, size: int, origin: int = 0) -> list[int]:
    """The children of a rank in the binomial tree of all ranks whose root is `origin`: a message reaches all ranks in
    log2(size) steps, and no rank sends more than log2(size) messages."""
    place = (rank - origin) % size
    below = place & -place or size
    steps = (1 << k for k in range(size.bit_length()))
    return [(place + step + origin) % size for step in steps if step < below and place + step < size]


def parent(rank: int) -> int:
    """The parent of a rank in the binomial tree whose root is rank 0."""
    return rank & (rank - 1)


def spread(wire: Wire, kind: Kind, payload: Any, origin: int = 0) -> None:
    """Sends a message of `origin`, which may be this rank, to this rank's children."""
    for target in children(wire.rank, wire.size, origin):
        wire.send(kind, target, payload)
