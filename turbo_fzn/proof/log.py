"""Reads the log of a learner (kernels/learn/state/log.h), in the order in which it was written.

A record is its size in words, its kind, and the words of that kind. The explanations of a learned clause come before
it. An event is a record that is no explanation.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator

from turbo_fzn.engine.abi.log_records import LogKind
from turbo_fzn.engine.logged import WORD, Log
from turbo_fzn.proof.hints import find_events
from turbo_fzn.proof.tuning import TUNING

BY_ROW, BY_CLAUSE, LEARNED, ROOT, REFUTED, SOLUTION, ENDED = map(int, LogKind)
DECISION = -1  # format: the reason of a bound of level 0 that comes from outside
HEAD = 2  # format: the words of a record before those of its kind
UNIT = 5  # format: the words of the record of a learned clause with one literal
Literal = tuple[int, int]  # side, k


def events(learned: Log) -> Iterator[tuple[int, list[int]]]:
    """The place of each event in the log, and its words."""
    place, places = 0, array("q", bytes(8 * (TUNING.piece_words // HEAD + 1)))
    while len(piece := learned.read(place, place + TUNING.piece_words)) >= HEAD * WORD:
        count, end = find_events(learned.bits, piece, places)
        if end == 0:  # a record without a size
            raise LookupError
        words = memoryview(piece)[: len(piece) // WORD * WORD].cast("q")
        for at in places[:count]:
            last = at + words[at]
            whole = words[at:last].tolist() if last <= len(words) else learned.words(place + at, place + last)
            yield place + at, whole
        place += end


def literals(words: list[int]) -> list[Literal]:
    return list(zip(words[::2], words[1::2]))


def denied(side: int, k: int) -> Literal:
    """The literal that is true where side >= k is false."""
    return side ^ 1, 1 - k
