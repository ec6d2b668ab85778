"""The bounds that follow while the literals of a learned clause are false, up to two that contradict each other."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from turbo_fzn.proof import log
from turbo_fzn.proof.log import Literal

if TYPE_CHECKING:
    from turbo_fzn.proof.trim import Trimmer

EVENT, STEP, CHAIN = range(3)  # format: the kinds of a hint, in its lowest bits
KINDS, LAST, SHIFT = 3, 4, 3  # format: the mask of the kind, the bit of the last use, the first bit of the number
CLAUSE, LEVEL_0 = -1, -2  # format: places of bounds that no explanation implies
Chain = tuple[int, int, int]  # side, higher, lower: that the side is at least the one implies that it is the other


class NotJustified(Exception):
    """No step of the proof derives a conclusion: a limit of this module, or a fault of the solver."""


class Conflict:
    """The bounds of one clause after the other. `bounds`: for each side that has any, (k, place), both ascending; the
    place is that of the explanation in `fired`, or CLAUSE. `final`: the bound that contradicts another."""

    def __init__(self, trimmer: Trimmer):
        self.trimmer = trimmer
        self.bounds: dict[int, list[tuple[int, int]]] = {}
        self.fired: list[tuple[int, int, int, int, list[int]]] = []  # clause or 0, side, k, row, words of the premises
        self.final: Literal | None = None

    def suppose(self, literals: list[Literal], explanations: list[int]) -> None:
        """Makes the literals false, and lets the explanations (the words of their records) imply their bounds."""
        now = self.trimmer.now
        self.bounds = {side: [(k, CLAUSE)] for side, k in (log.denied(*one) for one in literals)}
        self.fired, self.final = [], None
        saved = {side: now[side] for side in self.bounds}
        for side, known in self.bounds.items():
            now[side] = max(now[side], known[0][0])
        try:
            self._fire(now, saved, explanations)
        finally:
            for side, k in saved.items():
                now[side] = k

    def _fire(self, now: list[int], saved: dict[int, int], words: list[int]) -> None:
        """Adds each bound whose premises are known, to `now` as well, with what was there before to `saved`."""
        for place in log.by_entry(words):
            end = place + words[place]
            side, k, by = words[place + 3 : place + 6]
            if words[place + 1] == log.BY_ROW:
                premises, clause = words[place + 6 : end], 0
            else:
                premises, k, clause = *self._premises(by, side), by
            if now[side] >= k:
                continue
            for i in range(0, len(premises), 2):
                if now[premises[i]] < premises[i + 1]:
                    break
            else:
                saved.setdefault(side, now[side])
                now[side] = k
                self.bounds.setdefault(side, []).append((k, len(self.fired)))
                self.fired.append((clause, side, k, by, premises))
                if now[side ^ 1] > -k:
                    self.final = side, k
                    return

    def _premises(self, clause: int, side: int) -> tuple[list[int], int]:
        """The words of the premises by which the clause implies a bound of the side, and the bound."""
        premises: list[int] = []
        reached = None
        for other, k in self.trimmer.clause(self.trimmer.clauses[clause]):
            if other == side:
                reached = k
            else:
                premises += log.denied(other, k)
        assert reached is not None
        return premises, reached

    def tell(self, hints: array[int]) -> None:
        """Adds the hints that lead to the contradiction, from the last to the first."""
        assert self.final is not None
        last = len(self.fired)
        wanted = bytearray(last)
        wanted[-1] = 1
        self._link([log.denied(*self.final)], last, wanted, hints)
        for place in range(last - 1, -1, -1):
            if wanted[place]:
                self._tell_one(place, wanted, hints)

    def _tell_one(self, place: int, wanted: bytearray, hints: array[int]) -> None:
        trimmer = self.trimmer
        clause, side, k, by, premises = self.fired[place]
        if clause:
            trimmer.need(trimmer.clauses[clause], hints)
            self._link(log.literals(premises), place, wanted, hints)
            return
        against = log.denied(side, k)
        words = (side, k, by, *premises)
        step = trimmer.explain(words)
        assumed = [one for one in trimmer.steps[step].assumed if one != against]
        if not all(self._source(*one, place) for one in assumed):  # it assumes more of level 0 than holds here
            step = trimmer.explain_anew(words)
            assumed = [one for one in trimmer.steps[step].assumed if one != against]
        trimmer.need_step(step, hints)
        self._link(assumed, place, wanted, hints)

    def _source(self, side: int, k: int, place: int) -> tuple[int, int] | None:
        """(bound, place) of the least bound before `place` by which side >= k is known; the place is LEVEL_0 if it
        holds there."""
        if self.trimmer.now[side] >= k:
            return k, LEVEL_0
        for one in self.bounds.get(side, ()):
            if one[0] >= k:
                return one if one[1] < place else None
        return None

    def _link(self, premises: list[Literal], place: int, wanted: bytearray, hints: array[int]) -> None:
        """Adds the hints by which the premises are known from what was fired before `place`."""
        for side, k in premises:
            source = self._source(side, k, place)
            if source is None:
                raise NotJustified(f"side {side} is not known to be {k}")
            known, by = source
            if by == LEVEL_0:
                self.trimmer.need_root(side, k, hints)
                continue
            if by >= 0:
                wanted[by] = 1
            if known > k:
                self.trimmer.need_chain(side, known, k, hints)
