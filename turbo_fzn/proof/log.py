"""Reads the log of a learner (kernels/learn/state/log.h), in the order in which it was written.

The explanations of a learned clause come before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from turbo_fzn.engine.abi.log_records import LogKind

BY_ROW, BY_CLAUSE, LEARNED, ROOT, REFUTED, SOLUTION, ENDED = map(int, LogKind)
DECISION = -1  # format: the reason of a bound of level 0 that comes from outside
Literal = tuple[int, int]  # side, k


class Event(NamedTuple):
    """A record that is no explanation. `first` and `last` are the places in the log between which the explanations of a
    learned clause are."""

    kind: int
    words: list[int]
    first: int
    last: int


class Explanation(NamedTuple):
    """How a side came to be at least k, at this entry of the trail: by a row with premises, or by the clause of this
    name."""

    entry: int
    side: int
    k: int
    row: int  # -1 for a clause
    clause: int
    premises: list[Literal]


def events(words: memoryview) -> Iterator[Event]:
    place = first = 0
    while place < len(words):
        size, kind = words[place], words[place + 1]
        if kind not in (BY_ROW, BY_CLAUSE):
            yield Event(kind, words[place + 2 : place + size].tolist(), first, place)
            first = place + size
        place += size


def explanations(words: memoryview, first: int, last: int) -> list[Explanation]:
    """The explanations between two places of the log, in the order of the entries."""
    found, place = [], first
    while place < last:
        size, kind, entry, side, k, by, *rest = words[place : place + words[place]].tolist()
        if kind == BY_ROW:
            found.append(Explanation(entry, side, k, by, 0, literals(rest)))
        else:
            found.append(Explanation(entry, side, k, -1, by, []))
        place += size
    found.sort(key=lambda one: one.entry)
    return found


def literals(words: list[int]) -> list[Literal]:
    return list(zip(words[::2], words[1::2]))
