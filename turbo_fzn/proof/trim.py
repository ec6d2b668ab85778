"""The part of a learner's log that its conclusion needs, from the end to the beginning.

A learned clause follows by unit propagation from the explanations that the analysis of the conflict has used: with its
literals false, each implies its bound, in the order of the trail, until two bounds contradict each other. From there
back, only used explanations are kept (as Heule, Hunt, Wetzler, FMCAD 2013, trim clausal proofs). Unused clauses and
bounds of level 0 are left out, with all that was needed for them.

A log has many times as many records as a proof needs. So the records stay in their file, and premises are packed.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left

from turbo_fzn.engine.logged import Log
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.proof import log
from turbo_fzn.proof.conflict import CHAIN, EVENT, LAST, SHIFT, STEP, Chain, Conflict, NotJustified
from turbo_fzn.proof.encoding import Assumed, Encoding
from turbo_fzn.proof.log import Literal
from turbo_fzn.proof.refutation import Bounds, Step, refute
from turbo_fzn.proof.tuning import TUNING


class Trimmer:
    """Reads the log, and keeps what its end needs. `refuted`: the last event is the refutation."""

    def __init__(self, encoding: Encoding, learned: Log, interrupt: Interrupt, answer: list[int] | None = None):
        """`answer`: the values of the last solution that was printed, which the log may lack. Raises Interrupted."""
        self.encoding, self.learned, self.interrupt, self.answer = encoding, learned, interrupt, answer
        self.places, self.ends = array("q"), array("q")  # of each event in the log
        self.behind: dict[int, list[int]] = {}  # the events that the log does not have
        self.clauses = array("q", (-1,))  # the event of each name
        self.read: dict[int, list[Literal]] = {}  # by name: clauses that are perhaps used again
        self.solutions: list[int] = []  # their events; the last is the best
        tnf = encoding.tnf
        self.first = [k for ends in zip(encoding.lower, encoding.upper) for k in (ends[0], -ends[1])]
        self.now = list(self.first)  # for each side, its bound at level 0 before the event that is looked at
        self.roots: list[list[tuple[int, int]]] = [[] for _ in self.now]  # (k, event), both ascending
        self.noted: list[tuple[int, int]] = []  # event and side of each bound in `roots`
        self.refuted = self._read()
        self.needed = bytearray(len(self.places) + 1)
        self.steps: list[Step] = []
        self.step_numbers: dict[tuple[int, tuple[Assumed, ...]], int] = {}  # by row and assumptions
        self.explained: dict[tuple[int, ...], int] = {}  # by implied bound, row, and premises
        self.step_needed = bytearray()
        self.chains: list[Chain] = []
        self.chain_numbers: dict[Chain, int] = {}
        self.found: dict[int, array[int]] = {}
        self.operands = list(zip(tnf.x.tolist(), tnf.y.tolist(), tnf.z.tolist()))

    # ---- forwards

    def _read(self) -> bool:
        """Records the events. Returns whether the last one is the refutation."""
        for place, words in self.interrupt.between(log.events(self.learned)):
            self.places.append(place)
            self.ends.append(place + len(words))
            if self._note(words, len(self.places) - 1):
                return True
        if self.answer is not None and self._is_news(self.answer):  # another block found it, and that ended the search
            self._note(self._append([log.SOLUTION, *self.answer]), len(self.places) - 1)
        if not self.encoding.optimises or not self.solutions:
            return False
        tnf = self.encoding.tnf  # perhaps the bound that was proved has ended the search
        side = 2 * tnf.objective + (tnf.sense > 0)
        return self._note(self._append([log.ROOT, side, 1 - self.best(), log.DECISION]), len(self.places) - 1)

    def _append(self, words: list[int]) -> list[int]:
        """Adds an event behind the log, of this kind and these words. Returns it."""
        self.behind[len(self.places)] = record = [len(words) + 1, *words]
        place = self.ends[-1] if self.ends else 0
        self.places.append(place)
        self.ends.append(place)
        return record

    def event(self, number: int) -> list[int]:
        """The record of an event."""
        if number in self.behind:
            return self.behind[number]
        return self.learned.words(self.places[number], self.ends[number])

    def value(self, values: list[int]) -> int:
        """What is minimised, in a solution; 0 without an objective."""
        tnf = self.encoding.tnf
        return tnf.sense * values[tnf.objective] if tnf.sense else 0

    def best(self) -> int:
        return self.value(self.event(self.solutions[-1])[log.HEAD :])

    def _is_news(self, answer: list[int]) -> bool:
        """Whether this solution is better than those of the log."""
        return not self.solutions or self.value(answer) < self.best()

    def _note(self, words: list[int], number: int) -> bool:
        """Records the event for later events. Returns whether it is the refutation."""
        size, kind = words[: log.HEAD]
        if kind == log.LEARNED:
            self.clauses.append(number)
            return size == log.UNIT and self._note_root(words[-2], words[-1], number)
        if kind == log.ROOT:
            return self._note_root(words[2], words[3], number)
        if kind == log.SOLUTION:
            self.solutions.append(number)
        return kind == log.REFUTED

    def _note_root(self, side: int, k: int, number: int) -> bool:
        if k > self.now[side]:
            self.now[side] = k
            self.roots[side].append((k, number))
            self.noted.append((number, side))
        return k > -self.now[side ^ 1]

    # ---- backwards

    def trim(self) -> list[tuple[int, array[int]]]:
        """The events that the refutation needs, in order, with the hints for their clauses (conflict.py). Raises
        Interrupted, and NotJustified where it cannot be explained, or is about another solution than the answer."""
        if self.answer is not None and not (self.solutions and self.best() == self.value(self.answer)):
            raise NotJustified("what the log proves is not the answer")
        last = len(self.places) - 1
        conflict = Conflict(self)
        if self.solutions:
            self.needed[self.solutions[-1]] = 1
        if self.event(last)[1] != log.REFUTED:
            self.found[last + 1] = self._contradict(last)
        self.needed[last] = 1
        for number in self.interrupt.between(range(last, -1, -1)):
            if self.needed[number]:
                self.forget_roots(number)
                self.found[number] = self._justify(number, conflict)
        return sorted(self.found.items())

    def forget_roots(self, number: int) -> None:
        """Takes back the bounds of level 0 of this event and later events."""
        while self.noted and self.noted[-1][0] >= number:
            side = self.noted.pop()[1]
            self.roots[side].pop()
            self.now[side] = self.roots[side][-1][0] if self.roots[side] else self.first[side]

    def _contradict(self, last: int) -> array[int]:
        """Behind the last event: its bound and the one that it contradicts."""
        words = self.event(last)
        side, k = words[-2:] if words[1] == log.LEARNED else words[2:4]
        self._append([log.REFUTED, log.DECISION])
        hints = array("q")
        self.need_root(side ^ 1, 1 - k, hints)
        self.need(last, hints)
        return hints

    def _justify(self, number: int, conflict: Conflict) -> array[int]:
        _, kind, *words = self.event(number)
        hints = array("q")
        if kind == log.LEARNED:
            self._learn(number, log.literals(words[1:]), conflict, hints)
        elif kind == log.ROOT:
            side, k, reason = words
            if reason == log.DECISION:
                self._cut(side, k, number, hints)
            else:
                self._explain_root(reason, (side, k), hints)
        elif kind == log.REFUTED:
            self._explain_root(words[0], None, hints)
        return hints

    def _learn(self, number: int, literals: list[Literal], conflict: Conflict, hints: array[int]) -> None:
        first = self.ends[number - 1] if number else 0
        conflict.suppose(literals, self.learned.words(first, self.places[number]))
        if conflict.final is None:
            raise NotJustified(f"the explanations do not give the clause of event {number}")
        conflict.tell(hints)

    # ---- hints

    def need(self, event: int, hints: array[int]) -> None:
        hints.append(event << SHIFT | EVENT | (0 if self.needed[event] else LAST))
        self.needed[event] = 1

    def need_step(self, number: int, hints: array[int]) -> None:
        hints.append(number << SHIFT | STEP | (0 if self.step_needed[number] else LAST))
        self.step_needed[number] = 1

    def need_chain(self, side: int, higher: int, lower: int, hints: array[int]) -> None:
        chain = side, higher, lower
        number = self.chain_numbers.setdefault(chain, len(self.chains))
        if number == len(self.chains):
            self.chains.append(chain)
        hints.append(number << SHIFT | CHAIN)

    def need_root(self, side: int, k: int, hints: array[int]) -> None:
        """Adds the hints by which side >= k holds at level 0."""
        if k <= self.first[side]:
            return
        found = self.roots[side]
        place = bisect_left(found, (k, -1))
        if place == len(found):
            raise NotJustified(f"side {side} is not {k} at level 0")
        known, event = found[place]
        if known > k:
            self.need_chain(side, known, k, hints)
        self.need(event, hints)

    def _cut(self, side: int, k: int, number: int, hints: array[int]) -> None:
        """The bound of the objective that the last solution before gives."""
        tnf = self.encoding.tnf
        place = bisect_left(self.solutions, number) - 1
        if place < 0 or side != 2 * tnf.objective + (tnf.sense > 0):
            raise NotJustified(f"side {side} is {k} at level 0 for no reason")
        solution = self.solutions[place]
        if k != 1 - tnf.sense * self.event(solution)[log.HEAD + tnf.objective]:
            raise NotJustified("the objective is cut by no solution")
        self.need(solution, hints)

    def _explain_root(self, reason: int, reached: Assumed | None, hints: array[int]) -> None:
        """Adds the hints by which a row or a clause implies `reached` from the bounds of level 0."""
        if reason == log.DECISION:
            raise NotJustified("a failure for no reason")
        if reason & 1:
            step = self.refute(reason >> 1, [], reached)
            self.need_step(step, hints)
            premises = [one for one in self.steps[step].assumed if reached is None or one != log.denied(*reached)]
        else:
            self.need(self.clauses[reason >> 1], hints)
            premises = [
                log.denied(side, k) for side, k in self.clause(reason >> 1) if reached is None or side != reached[0]
            ]
        for side, k in premises:
            self.need_root(side, k, hints)

    def clause(self, name: int) -> list[Literal]:
        if name not in self.read:
            if len(self.read) >= TUNING.clauses:
                self.read.clear()
            self.read[name] = log.literals(self.event(self.clauses[name])[log.HEAD + 1 :])
        return self.read[name]

    # ---- steps

    def refute(self, row: int, premises: list[Assumed], reached: Assumed | None) -> int:
        """The step by which the row implies `reached` within the premises and level 0, or, with None, has no solution
        there."""
        bounds: Bounds = {}
        for variable in self.operands[row][: 2 if self.encoding.is_element[row] else 3]:
            for side in (2 * variable, 2 * variable + 1):
                bounds[side] = self.now[side]
        for side, k in (*premises, *((log.denied(*reached),) if reached else ())):
            bounds[side] = max(bounds[side], k)
        step = refute(self.encoding, row, bounds)
        if step is None:
            raise NotJustified(f"row {row} does not imply {reached} within {bounds}")
        number = self.step_numbers.setdefault((row, step.assumed), len(self.steps))
        if number == len(self.steps):
            self.steps.append(step)
            self.step_needed.append(0)
        return number

    def explain(self, words: tuple[int, ...]) -> int:
        """The step of an explanation (side, k, row and premises); that of a later conflict may assume more of level
        0."""
        step = self.explained.get(words)
        return self.explain_anew(words) if step is None else step

    def explain_anew(self, words: tuple[int, ...]) -> int:
        """The step of an explanation with the bounds of level 0 that hold now."""
        if len(self.explained) >= TUNING.explained:
            self.explained.clear()
        side, k, row, *premises = words
        self.explained[words] = step = self.refute(row, log.literals(premises), (side, k))
        return step
