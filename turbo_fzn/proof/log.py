"""Reads the log of a learner (kernels/learn/state/log.h), in the order in which it was written.

A record is its size in words, its kind, and the words of that kind. The explanations of a learned clause come before
it. An event is a record that is no explanation.
"""

from __future__ import annotations

from collections.abc import Iterator

from turbo_fzn.engine.abi.log_records import LogKind
from turbo_fzn.engine.logged import Log
from turbo_fzn.proof.tuning import TUNING

BY_ROW, BY_CLAUSE, LEARNED, ROOT, REFUTED, SOLUTION, ENDED = map(int, LogKind)
DECISION = -1  # format: the reason of a bound of level 0 that comes from outside
HEAD = 2  # format: the words of a record before those of its kind
PREMISES = 6  # format: the words of an explanation by a row before its premises
UNIT = 5  # format: the words of the record of a learned clause with one literal
Literal = tuple[int, int]  # side, k


def events(learned: Log) -> Iterator[tuple[int, list[int]]]:
    """The place of each event in the log, and its words."""
    place = 0
    explanations = BY_ROW, BY_CLAUSE
    while len(piece := learned.words(place, place + TUNING.piece_words)) >= HEAD:
        at, last = 0, len(piece) - 1
        while at < last:
            size = piece[at]
            if piece[at + 1] not in explanations:
                is_whole = at + size <= len(piece)
                yield place + at, piece[at : at + size] if is_whole else learned.words(place + at, place + at + size)
            at += size
        place += at


def by_entry(words: list[int]) -> list[int]:
    """The places of the explanations among these words, in the order of the entries of the trail."""
    places, place = [], 0
    while place < len(words):
        places.append(place)
        place += words[place]
    return sorted(places, key=lambda place: words[place + HEAD])


def literals(words: list[int]) -> list[Literal]:
    return list(zip(words[::2], words[1::2]))


def denied(side: int, k: int) -> Literal:
    """The literal that is true where side >= k is false."""
    return side ^ 1, 1 - k
