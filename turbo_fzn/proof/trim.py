"""The part of the learners' log that its conclusion needs, from the end to the beginning.

A learned clause follows by unit propagation from the explanations that the analysis of the conflict has used: with its
literals false, each implies its bound, in the order of the trail, until two bounds contradict each other. From there
back, only used explanations are kept (as Heule, Hunt, Wetzler, FMCAD 2013, trim clausal proofs). Unused clauses and
bounds of level 0 are left out, with all that was needed for them.

A log has many times as many records as a proof needs. So the records stay in their file, compiled code reads them
(hints.py), and what is noted of each is a few numbers.
"""

from __future__ import annotations

import ctypes
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence

import numpy as np

from turbo_fzn.engine.abi.log_records import ProofTrim
from turbo_fzn.engine.logged import Log
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.proof import log
from turbo_fzn.proof.crowded import Crowded
from turbo_fzn.proof.derived import Derived
from turbo_fzn.proof.encoding import Assumed, Encoding
from turbo_fzn.proof.hints import Hints, NotJustified
from turbo_fzn.proof.log import Literal
from turbo_fzn.proof.refutation import Bounds, Step, refute
from turbo_fzn.proof.relaxed import Relaxed
from turbo_fzn.proof.tuning import TUNING
from turbo_fzn.tnf.crowds import crowds
from turbo_fzn.tnf.fuse import fused_of

NONE = -1  # format: of a place


class Trimmer:
    """Reads the log, and keeps what its end needs. `refuted`: the last event is the refutation."""

    def __init__(
        self,
        encoding: Encoding,
        learned: Log,
        interrupt: Interrupt,
        answer: list[int] | None = None,
        relaxed: Relaxed | None = None,
        stated: Sequence[int] = (),
    ):
        """`answer`: the values of the last solution that was printed, which the log may lack. `relaxed`: what has
        proved bounds of the objective. `stated`: the constraints of the TNF's leaders. Raises Interrupted."""
        self.encoding, self.learned, self.interrupt, self.answer = encoding, learned, interrupt, answer
        self.bound = None if relaxed is None else relaxed.bound
        self.places, self.ends = array("q"), array("q")  # of each event in the log
        self.behind: dict[int, list[int]] = {}  # the events that the log does not have
        self.clauses = array("q", (NONE,))  # the event of each name
        self.solutions: list[int] = []  # their events; the last is the best
        self.first = array("q", encoding.first)
        self.now = self.first[:]  # for each side, its bound at level 0 before the event that is looked at
        self.root_sides, self.root_bounds, self.root_events, self.root_before = (array("q") for _ in range(4))
        self.last_roots = array("q", [NONE]) * len(self.now)
        self.refuted = self._read()
        self.needed = bytearray(len(self.places) + 1)
        self.steps: list[Step] = []
        self.step_numbers: dict[tuple[int, tuple[Assumed, ...]], int] = {}  # by row and assumptions
        self.chains: list[tuple[int, int, int]] = []
        self.found: dict[int, bytes] = {}
        self.rows = Derived(encoding, fused_of(learned.tnf, is_logged=True), stated)
        self.wholes: list[Crowded] | None = None  # the wide rows, once one is used
        self.clause_steps: dict[int, int] = {}  # by name: the steps of clauses that replace rows

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
        # perhaps the bound that was proved has ended the search
        if self.bound is not None and self.bound > self.now[self.goal]:
            self._note(self._append([log.ROOT, self.goal, self.bound, log.DECISION]), len(self.places) - 1)
        record = [log.ROOT, self.goal ^ 1, 1 - self.best(), log.DECISION]
        return self._note(self._append(record), len(self.places) - 1)

    @property
    def goal(self) -> int:
        """The side that is sense * objective."""
        tnf = self.encoding.tnf
        return 2 * tnf.objective + (tnf.sense < 0)

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
        """Whether this solution is better than those before it."""
        return not self.solutions or self.value(answer) < self.best()

    def _note(self, words: list[int], number: int) -> bool:
        """Records the event for later events. Returns whether it is the refutation."""
        size, kind = words[: log.HEAD]
        if kind == log.LEARNED:
            self.clauses.append(number)
            return size == log.UNIT and self._note_root(words[-2], words[-1], number)
        if kind == log.ROOT:
            return self._note_root(words[2], words[3], number)
        if kind == log.SOLUTION and self._is_news(words[log.HEAD :]):
            self.solutions.append(number)
        return kind == log.REFUTED

    def _note_root(self, side: int, k: int, number: int) -> bool:
        if k > self.now[side]:
            self.now[side] = k
            self.root_before.append(self.last_roots[side])
            self.last_roots[side] = len(self.root_bounds)
            self.root_sides.append(side)
            self.root_bounds.append(k)
            self.root_events.append(number)
        return k > -self.now[side ^ 1]

    # ---- backwards

    def trim(self) -> list[tuple[int, bytes]]:
        """The events that the refutation needs, in order, with the hints for their clauses (hints.py). Raises
        Interrupted, and NotJustified where it cannot be explained, or is about another solution than the answer."""
        if self.answer is not None and not (self.solutions and self.best() == self.value(self.answer)):
            raise NotJustified("what the log proves is not the answer")
        last = len(self.places) - 1
        is_closed = self.event(last)[1] == log.REFUTED
        if not is_closed:
            self._append([log.REFUTED, log.DECISION])
        if self.solutions:
            self.needed[self.solutions[-1]] = 1
        self.host = self._host()
        self.hints = Hints(self.learned.bits, self.host, self._explain)
        try:
            if not is_closed:
                self.host.event = last + 1
                self._contradict(last)
                self.found[last + 1] = self.hints.take()
            self._go_back(last)
            self.chains = self.hints.chains()
        finally:
            self.hints.close()
        return sorted(self.found.items())

    def uses(self, stated: Sequence[int]) -> bool:
        """Whether a step of what is left is by one of these constraints."""
        numbers, left = set(stated), [*self.steps]
        while left:
            step = left.pop()
            if step.inequality is not None and step.inequality.number in numbers:
                return True
            left += step.parts
        return False

    def _host(self) -> ProofTrim:
        """What compiled code looks at. No array moves any more."""
        clauses = self.rows.fused.clauses
        sides = np.asarray(clauses.literals, np.int64)
        self.given = np.ascontiguousarray(np.stack((sides, 1 - (sides & 1)), 1))
        self.given_starts = 2 * np.asarray(clauses.starts, np.int64)
        numbers = {
            name: getattr(self, name).buffer_info()[0]
            for name in (
                "first", "now", "places", "ends", "clauses", "last_roots", "root_bounds", "root_events", "root_before"
            )
        }  # fmt: skip
        return ProofTrim(
            needed=ctypes.addressof(ctypes.c_char.from_buffer(self.needed)),
            given=self.given.ctypes.data, given_starts=self.given_starts.ctypes.data,
            n_sides=len(self.now), n_clauses=len(self.clauses), n_given=len(self.given_starts) - 1,
            most_explained=TUNING.explained, most_clauses=TUNING.clauses,
            log_file=self.learned.file.fileno(), **numbers,
        )  # fmt: skip

    def _go_back(self, last: int) -> None:
        self.needed[last] = 1
        n_roots = len(self.root_bounds)
        for number in self.interrupt.between(range(last, -1, -1)):
            if self.needed[number]:
                while n_roots and self.root_events[n_roots - 1] >= number:
                    n_roots -= 1
                    self._forget_root(n_roots)
                self.host.event = number
                self._justify(number)
                self.found[number] = self.hints.take()

    def _forget_root(self, root: int) -> None:
        """Takes back a bound of level 0, the last one."""
        side, before = self.root_sides[root], self.root_before[root]
        self.last_roots[side] = before
        self.now[side] = self.root_bounds[before] if before != NONE else self.first[side]

    def _contradict(self, last: int) -> None:
        """Behind the last event: its bound and the one that it contradicts."""
        words = self.event(last)
        side, k = words[-2:] if words[1] == log.LEARNED else words[2:4]
        self.hints.need_root(side ^ 1, 1 - k)
        self.hints.need_event(last)

    def _justify(self, number: int) -> None:
        _, kind, *words = self.event(number)
        if kind == log.LEARNED:
            self.hints.explain_clause()
        elif kind == log.ROOT:
            side, k, reason = words
            if reason == log.DECISION:
                self._cut(side, k, number)
            else:
                self._explain_root(reason, (side, k))
        elif kind == log.REFUTED:
            self._explain_root(words[0], None)

    # ---- hints

    def _cut(self, side: int, k: int, number: int) -> None:
        """The bound of the objective that the last solution before gives, or the relaxation, which needs no hint."""
        tnf = self.encoding.tnf
        if tnf.sense and side == self.goal and self.bound is not None and k <= self.bound:
            return
        place = bisect_left(self.solutions, number) - 1
        if place < 0 or side != self.goal ^ 1:
            raise NotJustified(f"side {side} is {k} at level 0 for no reason")
        solution = self.solutions[place]
        if k > 1 - self.value(self.event(solution)[log.HEAD :]):
            raise NotJustified("the objective is cut by no solution")
        self.hints.need_event(solution)

    def _explain_root(self, reason: int, reached: Assumed | None) -> None:
        """Adds the hints by which a row or a clause implies `reached` from the bounds of level 0."""
        if reason == log.DECISION:
            raise NotJustified("a failure for no reason")
        if reason & 1:
            step = self.refute(reason >> 1, [], reached)
            self.hints.need_step(step)
            premises = [one for one in self.steps[step].assumed if reached is None or one != log.denied(*reached)]
        else:
            self.hints.need_clause(reason >> 1)
            premises = [
                log.denied(side, k) for side, k in self.clause(reason >> 1) if reached is None or side != reached[0]
            ]
        for side, k in premises:
            self.hints.need_root(side, k)

    def clause(self, name: int) -> list[Literal]:
        if name < 0:
            return self.rows.clause(name)
        return log.literals(self.event(self.clauses[name])[log.HEAD + 1 :])

    # ---- steps

    def refute(self, row: int, premises: list[Assumed], reached: Assumed | None) -> int:
        """The step by which the row implies `reached` within the premises and level 0, or, with None, has no solution
        there."""
        assumed = [*premises, *((log.denied(*reached),) if reached else ())]
        number = row - self.rows.n_rows
        if number < 0:
            bounds = self._bounds(self.rows.variables(row), self.now, assumed)
            step = refute(self.encoding, self.rows.splits(row), bounds)
        else:
            step = self._refute_whole(number, assumed)
        if step is None:
            raise NotJustified(f"row {row} does not imply {reached}")
        number = self.step_numbers.setdefault((row, step.assumed), len(self.steps))
        return self._add(step) if number == len(self.steps) else number

    def _bounds(self, variables: Iterable[int], known: Sequence[int], assumed: list[Assumed]) -> Bounds:
        """The bounds of the variables: those known by side, and what is assumed."""
        bounds: Bounds = {side: known[side] for v in variables for side in (2 * v, 2 * v + 1)}
        for side, k in assumed:
            bounds[side] = max(bounds[side], k)
        return bounds

    def _refute_whole(self, number: int, assumed: list[Assumed]) -> Step | None:
        """The step of a wide row, by the bounds of the model, if these suffice."""
        if self.wholes is None:
            self.wholes = [Crowded(self.rows, crowd) for _, crowd in crowds(self.learned.tnf)]
        whole = self.wholes[number]
        found = (whole.refute(self._bounds(whole.variables, known, assumed)) for known in (self.first, self.now))
        return next((step for step in found if step is not None), None)

    def _add(self, step: Step) -> int:
        self.hints.note_step(step.assumed)
        self.steps.append(step)
        return len(self.steps) - 1

    def _explain(self, words: list[int]) -> int:
        """The step of an explanation (side, k, row and premises), with the bounds of level 0 that hold now; or of a
        clause that replaces rows, by its name alone."""
        if len(words) == 1:
            (name,) = words
            if name not in self.clause_steps:
                self.clause_steps[name] = self._add(self.rows.clause_step(name))
            return self.clause_steps[name]
        side, k, row, *premises = words
        return self.refute(row, log.literals(premises), (side, k))
