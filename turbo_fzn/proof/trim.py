"""The part of a learner's log that its conclusion needs, from the end to the beginning.

A learned clause follows by unit propagation from the explanations that the analysis of the conflict has used: with its
literals false, each implies its bound, in the order of the trail, until two bounds contradict each other. From there
back, only used explanations are kept (as Heule, Hunt, Wetzler, FMCAD 2013, trim clausal proofs). Unused clauses and
bounds of level 0 are left out, with all that was needed for them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from typing import NamedTuple

from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.proof import log
from turbo_fzn.proof.encoding import Assumed, Encoding
from turbo_fzn.proof.log import Event, Explanation
from turbo_fzn.proof.refutation import Bounds, Step, refute


class NotJustified(Exception):
    """No step of the proof derives a conclusion: a limit of this module, or a fault of the solver."""


class Hint(NamedTuple):
    """A premise of a clause: a bound of level 0 or a learned clause (`event`), a row (`step`), or that a bound implies
    a lower bound (`chain`: side, higher, lower)."""

    event: int = -1
    step: Step | None = None
    chain: tuple[int, int, int] | None = None


class Kept(NamedTuple):
    """An event of the proof: the literals of its clause, the hints, and the events and steps that are not needed after
    it."""

    number: int
    literals: list[Assumed]
    hints: list[Hint]
    gone: list[int]
    gone_steps: list[Step]


class Trimmer:
    """Reads the log, and keeps what its end needs. `kept` is in the order of the log; the last event is the refutation,
    if the log has one: then `refuted` is set."""

    def __init__(self, encoding: Encoding, words: memoryview, interrupt: Interrupt):
        """Raises Interrupted."""
        self.encoding, self.words, self.interrupt = encoding, words, interrupt
        self.events: list[Event] = []
        self.roots: dict[int, list[tuple[int, int]]] = defaultdict(list)  # side -> (k, event), both ascending
        self.clauses: list[int] = [-1]  # the event of each name
        self.solution = -1  # the last solution, which is the best
        self.refuted = False
        self._read()
        self.users: dict[int, int] = {}  # event -> the last event that needs it
        self.step_users: dict[Step, int] = {}
        self.steps: dict[tuple[int, tuple[Assumed, ...]], Step] = {}  # by row and assumptions
        self.explained: dict[tuple, Step] = {}  # by row, implied bound, and premises
        self.found: dict[int, tuple[list[Assumed], list[Hint]]] = {}

    # ---- forwards

    def _read(self) -> None:
        tnf = self.encoding.tnf
        for variable in range(tnf.n_vars):
            self.roots[2 * variable] = [(self.encoding.lower[variable], -1)]
            self.roots[2 * variable + 1] = [(-self.encoding.upper[variable], -1)]
        for event in self.interrupt.between(log.events(self.words)):
            self.events.append(event)
            if self._note(event, len(self.events) - 1):
                self.refuted = True
                return
        if self.encoding.optimises and self.solution >= 0:  # perhaps the bound that was proved has ended the search
            side = 2 * tnf.objective + (tnf.sense > 0)
            self.events.append(Event(log.ROOT, [side, 1 - self.best(), log.DECISION], 0, 0))
            self.refuted = self._note(self.events[-1], len(self.events) - 1)

    def best(self) -> int:
        return self.encoding.tnf.sense * self.events[self.solution].words[self.encoding.tnf.objective]

    def _note(self, event: Event, number: int) -> bool:
        """Records the event for later events. Returns whether it is the refutation."""
        if event.kind == log.LEARNED:
            self.clauses.append(number)
            if len(event.words) == 3:
                return self._note_root(event.words[1], event.words[2], number)
        elif event.kind == log.ROOT:
            return self._note_root(event.words[0], event.words[1], number)
        elif event.kind == log.SOLUTION:
            self.solution = number
        return event.kind == log.REFUTED

    def _note_root(self, side: int, k: int, number: int) -> bool:
        if k > self.roots[side][-1][0]:
            self.roots[side].append((k, number))
        return k > -self.roots[side ^ 1][-1][0]

    def root(self, side: int, before: int) -> tuple[int, int]:
        """(k, event) of the side at level 0 before an event, while that is justified; event -1 for the model's."""
        found = self.roots[side]
        while found[-1][1] >= before:
            found.pop()  # events are justified from last to first: it is not needed again
        return found[-1]

    # ---- backwards

    def trim(self) -> list[Kept]:
        """The events that the refutation needs, in order. Raises Interrupted, and NotJustified where it cannot be
        explained."""
        last = len(self.events) - 1
        if self.solution >= 0:
            self._need(self.solution, last)
        self._justify(last)
        if self.events[last].kind != log.REFUTED:
            self._contradict(last)
        for number in self.interrupt.between(range(last - 1, -1, -1)):
            if number in self.users:
                self._justify(number)
        gone, gone_steps = defaultdict(list), defaultdict(list)
        for event, user in self.users.items():
            gone[user].append(event)
        for step, user in self.step_users.items():
            gone_steps[user].append(step)
        return [Kept(number, *self.found[number], gone[number], gone_steps[number]) for number in sorted(self.found)]

    def _contradict(self, last: int) -> None:
        """Behind the last event: its bound and the one that it contradicts."""
        words = self.events[last].words
        side, k = words[1:3] if self.events[last].kind == log.LEARNED else words[:2]
        self.events.append(Event(log.REFUTED, [log.DECISION], 0, 0))
        hints = [Hint(event=last)]
        self._need_root(side ^ 1, 1 - k, last + 1, hints)
        self.users[last] = last + 1
        self.found[last + 1] = [], hints

    def _justify(self, number: int) -> None:
        event = self.events[number]
        hints: list[Hint] = []
        literals: list[Assumed] = []
        if event.kind == log.LEARNED:
            literals = log.literals(event.words[1:])
            self._learn(event, number, literals, hints)
        elif event.kind == log.ROOT:
            side, k, reason = event.words
            literals = [(side, k)]
            if reason == log.DECISION:
                self._cut(side, k, number, hints)
            else:
                self._explain_root(reason, number, (side, k), hints)
        elif event.kind == log.REFUTED:
            self._explain_root(event.words[0], number, None, hints)
        self.found[number] = literals, hints

    def _need(self, event: int, user: int) -> None:
        self.users.setdefault(event, user)

    def _need_root(self, side: int, k: int, user: int, hints: list[Hint]) -> None:
        """Adds the hints by which side >= k holds at level 0."""
        found = self.roots[side]
        known, event = found[bisect_left(found, (k, -1))] if found[-1][0] >= k else (k - 1, -1)
        if known < k or event >= user:
            raise NotJustified(f"side {side} is not {k} at level 0")
        if event < 0:
            return
        self._need(event, user)
        hints.append(Hint(event=event))
        if known > k:
            hints.append(Hint(chain=(side, known, k)))

    def _cut(self, side: int, k: int, number: int, hints: list[Hint]) -> None:
        """The bound of the objective that the last solution before gives."""
        tnf = self.encoding.tnf
        solutions = (i for i in range(number - 1, -1, -1) if self.events[i].kind == log.SOLUTION)
        solution = next(solutions, -1)
        if solution < 0 or side != 2 * tnf.objective + (tnf.sense > 0):
            raise NotJustified(f"side {side} is {k} at level 0 for no reason")
        if k != 1 - tnf.sense * self.events[solution].words[tnf.objective]:
            raise NotJustified("the objective is cut by no solution")
        self._need(solution, number)
        hints.append(Hint(event=solution))

    def _explain_root(self, reason: int, number: int, reached: Assumed | None, hints: list[Hint]) -> None:
        if reason == log.DECISION:
            raise NotJustified("a failure for no reason")
        if reason & 1:
            self._explain(reason >> 1, reached, number, hints)
            return
        event = self.clauses[reason >> 1]
        for side, k in log.literals(self.events[event].words[1:]):
            if reached is None or side != reached[0]:
                self._need_root(side ^ 1, 1 - k, number, hints)
        self._need(event, number)
        hints.append(Hint(event=event))

    def root_bounds(self, row: int, number: int) -> Bounds:
        tnf, bounds = self.encoding.tnf, {}
        variables = [int(tnf.x[row]), int(tnf.y[row])]
        if not self.encoding.is_element[row]:
            variables.append(int(tnf.z[row]))
        for variable in variables:
            for side in (2 * variable, 2 * variable + 1):
                bounds[side] = self.root(side, number)[0]
        return bounds

    def refute(self, row: int, bounds: Bounds, reached: Assumed | None) -> Step:
        """The step by which the row implies `reached` within the bounds, or, with None, has no solution there."""
        if reached is not None:
            side, k = reached
            bounds[side ^ 1] = max(bounds[side ^ 1], 1 - k)
        step = refute(self.encoding, row, bounds)
        if step is None:
            raise NotJustified(f"row {row} does not imply {reached} within {bounds}")
        return self.steps.setdefault((row, step.assumed), step)

    def _explain(self, row: int, reached: Assumed | None, number: int, hints: list[Hint]) -> None:
        """Adds the hints by which the row implies `reached` from the bounds of level 0."""
        step = self.refute(row, self.root_bounds(row, number), reached)
        for side, k in step.assumed:
            if reached is None or (side, k) != (reached[0] ^ 1, 1 - reached[1]):
                self._need_root(side, k, number, hints)
        self.step_users.setdefault(step, number)
        hints.append(Hint(step=step))

    # ---- a learned clause

    def _learn(self, event: Event, number: int, literals: list[Assumed], hints: list[Hint]) -> None:
        known = _Known(self, number, literals)
        for one in log.explanations(self.words, event.first, event.last):
            if known.add(one):
                break
        else:
            raise NotJustified(f"the explanations do not give clause {event.words[0]}")
        known.tell(hints)


class _Fired(NamedTuple):
    """An explanation whose premises are known: where each comes from (a _Fired before it, or -1: the clause or level
    0), and what it gives."""

    one: Explanation
    premises: list[Assumed]
    reached: Assumed


class _Known:
    """The bounds that follow while the literals of a clause are false."""

    def __init__(self, trimmer: Trimmer, number: int, literals: list[Assumed]):
        self.trimmer, self.number = trimmer, number
        self.bounds: dict[int, list[tuple[int, int]]] = {}  # side -> (k, place in `fired`, or -1), ascending
        self.fired: list[_Fired] = []
        self.final: Assumed | None = None
        for side, k in literals:
            self.bounds[side ^ 1] = [(1 - k, -1)]

    def source(self, side: int, k: int) -> tuple[int, int] | None:
        """(known k, place in `fired`) of the least known bound that is enough; place -2 for level 0."""
        if self.trimmer.root(side, self.number)[0] >= k:
            return k, -2
        return next((pair for pair in self.bounds.get(side, ()) if pair[0] >= k), None)

    def add(self, one: Explanation) -> bool:
        """Adds the bound of the explanation, if its premises are known. Returns whether it contradicts a known
        bound."""
        premises, reached = one.premises, (one.side, one.k)
        if one.row < 0:
            event = self.trimmer.events[self.trimmer.clauses[one.clause]]
            literals = log.literals(event.words[1:])
            reached = next(literal for literal in literals if literal[0] == one.side)
            premises = [(side ^ 1, 1 - k) for side, k in literals if side != one.side]
        if any(self.source(side, k) is None for side, k in premises):
            return False
        side, k = reached
        if self.source(side, k) is not None:
            return False
        self.bounds.setdefault(side, []).append((k, len(self.fired)))
        self.fired.append(_Fired(one, premises, reached))
        if self.source(side ^ 1, 1 - k) is None:
            return False
        self.final = reached
        return True

    def tell(self, hints: list[Hint]) -> None:
        """Adds the hints that lead to the contradiction, in order."""
        assert self.final is not None
        lists: dict[int, list[Hint]] = {}
        last = len(self.fired)
        wanted = {last - 1}
        ending: list[Hint] = []
        self._link(self.final[0] ^ 1, 1 - self.final[1], last, wanted, ending)
        for place in range(last - 1, -1, -1):
            if place in wanted:
                lists[place] = []
                self._tell_one(place, wanted, lists[place])
        for place in sorted(lists):
            hints += lists[place]
        hints += ending

    def _tell_one(self, place: int, wanted: set[int], own: list[Hint]) -> None:
        trimmer, (one, premises, reached) = self.trimmer, self.fired[place]
        if one.row < 0:
            for side, k in premises:
                self._link(side, k, place, wanted, own)
            event = trimmer.clauses[one.clause]
            trimmer._need(event, self.number)
            own.append(Hint(event=event))
            return
        step = self._step(one.row, premises, reached)
        for side, k in step.assumed:
            if (side, k) != (reached[0] ^ 1, 1 - reached[1]):
                self._link(side, k, place, wanted, own)
        trimmer.step_users.setdefault(step, self.number)
        own.append(Hint(step=step))

    def _step(self, row: int, premises: list[Assumed], reached: Assumed) -> Step:
        """The step of an explanation: the one that it had in a later conflict, unless that assumes more of level 0."""
        trimmer, key = self.trimmer, (row, reached, *premises)
        step = trimmer.explained.get(key)
        if step is not None and all(
            (side, k) in premises or trimmer.root(side, self.number)[0] >= k or side == reached[0] ^ 1
            for side, k in step.assumed
        ):
            return step
        bounds = trimmer.root_bounds(row, self.number)
        for side, k in premises:
            bounds[side] = max(bounds[side], k)
        trimmer.explained[key] = step = trimmer.refute(row, bounds, reached)
        return step

    def _link(self, side: int, k: int, place: int, wanted: set[int], own: list[Hint]) -> None:
        """Adds the hints by which side >= k is known from what was fired before `place`."""
        if self.trimmer.root(side, self.number)[0] >= k:
            self.trimmer._need_root(side, k, self.number, own)
            return
        found = next((pair for pair in self.bounds.get(side, ()) if pair[0] >= k and pair[1] < place), None)
        if found is None:
            raise NotJustified(f"side {side} is not known to be {k}")
        if found[1] >= 0:
            wanted.add(found[1])
        if found[0] > k:
            own.append(Hint(chain=(side, found[0], k)))
