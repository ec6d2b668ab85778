"""The hints of learned clauses in plain Python: what compiled code must find, too (kernels/proof, proof/hints.py)."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from typing import Protocol

from turbo_fzn.engine.abi.log_records import ProofTrim
from turbo_fzn.proof import log
from turbo_fzn.proof.hints import CHAIN, EVENT, LAST, SHIFT, STEP, NotJustified
from turbo_fzn.proof.log import Literal
from turbo_fzn.proof.refutation import Step
from turbo_fzn.proof.trim import Trimmer

PREMISES = 6  # the words of an explanation by a row before its premises
CLAUSE, LEVEL_0 = -1, -2  # places of bounds that no explanation implies
Source = tuple[int, int, int, int]  # side, k, its known bound, and the place of that
Chain = tuple[int, int, int]  # side, higher, lower: that the side is at least the one implies that it is the other


class Premises(Protocol):
    """The premises that a clause may have: bounds of level 0, clauses, and steps of rows."""

    first: array[int]
    now: array[int]
    steps: list[Step]

    def clause(self, name: int) -> list[Literal]: ...
    def explain(self, words: tuple[int, ...]) -> int: ...
    def explain_anew(self, words: tuple[int, ...]) -> int: ...
    def need_clause(self, name: int, hints: array[int]) -> None: ...
    def need_step(self, number: int, hints: array[int]) -> None: ...
    def need_chain(self, side: int, higher: int, lower: int, hints: array[int]) -> None: ...
    def need_root(self, side: int, k: int, hints: array[int]) -> None: ...


class Conflict:
    """The bounds of one clause after the other. `bounds`: for each side that has any, (k, place), both ascending; the
    place is that of the explanation in `fired`, or CLAUSE. `final`: the bound that contradicts another."""

    def __init__(self, trimmer: Premises):
        self.trimmer = trimmer
        self.bounds: dict[int, list[tuple[int, int]]] = {}
        self.words: list[int] = []  # of the explanations
        self.fired: list[int] = []  # the places in `words` of explanations whose premises are known
        self.final: Literal | None = None

    def suppose(self, literals: list[Literal], words: list[int]) -> None:
        """Makes the literals false, and lets the explanations of these words imply their bounds."""
        now = self.trimmer.now
        self.bounds = {side: [(k, CLAUSE)] for side, k in (log.denied(*one) for one in literals)}
        self.words, self.fired, self.final = words, [], None
        saved = {side: now[side] for side in self.bounds}
        for side, known in self.bounds.items():
            now[side] = max(now[side], known[0][0])
        try:
            self._fire(now, saved)
        finally:
            for side, k in saved.items():
                now[side] = k

    def _fire(self, now: array[int], saved: dict[int, int]) -> None:
        """Adds each bound whose premises are known, to `now` as well, with what was there before to `saved`."""
        words, bounds = self.words, self.bounds
        for place in by_entry(words):
            side, k = words[place + 3], words[place + 4]
            if words[place + 1] == log.BY_ROW:
                if now[side] >= k or not are_known(now, words, place + PREMISES, place + words[place]):
                    continue
            else:
                premises, k = self._clause(words[place + 5], side)
                if now[side] >= k or not are_known(now, premises, 0, len(premises)):
                    continue
            saved.setdefault(side, now[side])
            now[side] = k
            bounds.setdefault(side, []).append((k, len(self.fired)))
            self.fired.append(place)
            if now[side ^ 1] > -k:
                self.final = side, k
                return

    def _clause(self, name: int, side: int) -> tuple[list[int], int]:
        """The words of the premises by which the clause implies a bound of the side, and the bound."""
        premises: list[int] = []
        reached = None
        for other, k in self.trimmer.clause(name):
            if other == side:
                reached = k
            else:
                premises += other ^ 1, 1 - k
        if reached is None:
            raise NotJustified(f"clause {name} implies nothing about side {side}")
        return premises, reached

    def tell(self, hints: array[int]) -> None:
        """Adds the hints that lead to the contradiction, from the last to the first."""
        assert self.final is not None
        wanted = bytearray(len(self.fired) + 1)
        wanted[-2] = 1
        self._link(self._sources([log.denied(*self.final)], len(self.fired)), wanted, hints)
        for place in range(len(self.fired) - 1, -1, -1):
            if wanted[place]:
                self._tell_one(place, wanted, hints)

    def _tell_one(self, place: int, wanted: bytearray, hints: array[int]) -> None:
        trimmer, at = self.trimmer, self.fired[place]
        size, kind, _, side, k, by = self.words[at : at + PREMISES]
        if kind == log.BY_CLAUSE:
            trimmer.need_clause(by, hints)
            self._link(self._sources(log.literals(self._clause(by, side)[0]), place), wanted, hints)
            return
        explanation, against = tuple(self.words[at + PREMISES - 3 : at + size]), (side ^ 1, 1 - k)
        step = trimmer.explain(explanation)
        sources = self._sources(trimmer.steps[step].assumed, place, against)
        if sources is None:  # it assumes more of level 0 than holds here
            step = trimmer.explain_anew(explanation)
            sources = self._sources(trimmer.steps[step].assumed, place, against)
        trimmer.need_step(step, hints)
        self._link(sources, wanted, hints)

    def _sources(self, premises: Iterable[Literal], place: int, against: Literal | None = None) -> list[Source] | None:
        """How the premises except `against` are known from what was fired before `place`; None where one is not.
        Bounds of the model are left out."""
        first, now, bounds = self.trimmer.first, self.trimmer.now, self.bounds
        found = []
        for premise in premises:
            side, k = premise
            if k <= first[side] or premise == against:
                continue
            if now[side] >= k:
                found.append((side, k, k, LEVEL_0))
                continue
            known, by = next((one for one in bounds.get(side, ()) if one[0] >= k), (k, place))
            if by >= place:
                return None
            found.append((side, k, known, by))
        return found

    def _link(self, sources: list[Source] | None, wanted: bytearray, hints: array[int]) -> None:
        """Adds the hints for the sources of premises, and notes which explanations they need."""
        if sources is None:
            raise NotJustified("a premise of a clause's explanation is not known")
        for side, k, known, by in sources:
            if by == LEVEL_0:
                self.trimmer.need_root(side, k, hints)
                continue
            if by != CLAUSE:
                wanted[by] = 1
            if known > k:
                self.trimmer.need_chain(side, known, k, hints)


def are_known(now: array[int], words: list[int], first: int, last: int) -> bool:
    """Whether the literals between two places of the words hold within these bounds."""
    for i in range(first, last, 2):
        if now[words[i]] < words[i + 1]:
            return False
    return True


def by_entry(words: list[int]) -> list[int]:
    """The places of the explanations among these words, in the order of the entries of the trail."""
    places, place = [], 0
    while place < len(words):
        places.append(place)
        place += words[place]
    return sorted(places, key=lambda place: words[place + log.HEAD])


class PlainHints:
    """The hints of a trimmer, to be put in the place of hints.Hints."""

    def __init__(self, bits: int, host: ProofTrim, explain: Callable[[list[int]], int]):
        trimmer = explain.__self__  # type: ignore[attr-defined]
        assert isinstance(trimmer, Trimmer)
        self.trimmer, self.host, self.find = trimmer, host, explain
        self.first, self.now, self.steps, self.clause = trimmer.first, trimmer.now, trimmer.steps, trimmer.clause
        self.explained: dict[tuple[int, ...], int] = {}
        self.step_needed: set[int] = set()
        self.chain_numbers: dict[Chain, int] = {}
        self.told = array("q")
        self.conflict = Conflict(self)

    def close(self) -> None:
        pass

    def note_step(self, assumed: Iterable[Literal]) -> None:
        pass

    def explain_clause(self) -> None:
        trimmer, event = self.trimmer, self.host.event
        first = trimmer.ends[event - 1] if event else 0
        words = trimmer.learned.words(first, trimmer.places[event])
        literals = log.literals(trimmer.event(event)[log.HEAD + 1 :])
        known = next((one for one in literals if self.now[one[0]] >= one[1]), None)
        if known is not None:  # another learner has proved it
            self.need_root(*known)
            return
        self.conflict.suppose(literals, words)
        if self.conflict.final is None:
            raise NotJustified(f"the explanations do not give the clause of event {event}")
        self.conflict.tell(self.told)

    def explain(self, words: tuple[int, ...]) -> int:
        step = self.explained.get(words)
        return self.explain_anew(words) if step is None else step

    def explain_anew(self, words: tuple[int, ...]) -> int:
        self.explained[words] = step = self.find(list(words))
        return step

    def need_event(self, event: int) -> None:
        self.told.append(event << SHIFT | EVENT | (0 if self.trimmer.needed[event] else LAST))
        self.trimmer.needed[event] = 1

    def need_clause(self, name: int, hints: array[int] | None = None) -> None:
        if name < 0:
            self.need_step(self.explain((name,)))
        else:
            self.need_event(self.trimmer.clauses[name])

    def need_step(self, number: int, hints: array[int] | None = None) -> None:
        self.told.append(number << SHIFT | STEP | (0 if number in self.step_needed else LAST))
        self.step_needed.add(number)

    def need_chain(self, side: int, higher: int, lower: int, hints: array[int]) -> None:
        number = self.chain_numbers.setdefault((side, higher, lower), len(self.chain_numbers))
        self.told.append(number << SHIFT | CHAIN)

    def need_root(self, side: int, k: int, hints: array[int] | None = None) -> None:
        trimmer = self.trimmer
        if k <= self.first[side]:
            return
        roots = zip(trimmer.root_sides, trimmer.root_bounds, trimmer.root_events)
        found = [(bound, event) for s, bound, event in roots if s == side and bound >= k and event < self.host.event]
        if not found:
            raise NotJustified(f"side {side} is not {k} at level 0")
        known, event = found[0]
        if known > k:
            self.need_chain(side, known, k, self.told)
        self.need_event(event)

    def take(self) -> bytes:
        taken = array("I", self.told)
        del self.told[:]
        return taken.tobytes()

    def chains(self) -> list[Chain]:
        return list(self.chain_numbers)
