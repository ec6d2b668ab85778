"""Why the wide row of a cumulative implies a bound, by the ternary rows of its pairs of tasks (tnf/crowds.py).

A learner explains it by tasks that together use more than the capacity at some time (kernels/learn/propagators/
cumulative.h): a *cover*. The rows know only the times at which tasks start. So a lemma for each cover, which holds for
the whole model, states that not each of its tasks can be *going* when each other starts: that some task has ended
before another starts. The bounds of the explanation imply by two rows that the one is going when the other starts.

The lemma of a cover S:

1. For each task j of S, the sum at its start and the rows of its meetings give a clause: if all are going, some task
   of S has not begun, so it starts after j.
2. Tasks leave S one by one. When m leaves, what starts after it takes its place: the clause of j without m follows from
   the clauses of j and m, and from lemmas that "starts after" is an order.
3. The clause of the last task is the lemma, as no other starts after it.

So S of n tasks takes at most n^3 / 3 lemmas about the order, each of them the sum of three comparisons. Nothing of this
has to be trusted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations, permutations
from typing import TypeVar

from turbo_fzn.proof.derived import Derived, add_bound
from turbo_fzn.proof.encoding import TRUE, Assumed, Inequality, at_least
from turbo_fzn.proof.hints import NotJustified
from turbo_fzn.proof.refutation import Bounds, Step, contradiction, refute, whole
from turbo_fzn.tnf.crowds import Crowd
from turbo_fzn.tnf.links import NOBODY

NOT_AFTER, AFTER = 0, 1  # format: the alternatives of a row that compares starts
T = TypeVar("T")


def _known(one: T | None) -> T:
    """What the rows of a crowd have. Raises NotJustified if it is missing."""
    if one is None:
        raise NotJustified("a cumulative lacks a row")
    return one


class Crowded:
    """The steps of the explanations of one cumulative."""

    def __init__(self, rows: Derived, crowd: Crowd):
        self.rows, self.crowd, self.x = rows, crowd, rows.x
        self.encoding = rows.encoding
        self.variables = [crowd.capacity, *(task.start for task in crowd.tasks)]
        self.by_use = sorted(range(len(crowd.tasks)), key=lambda i: -crowd.tasks[i].use)
        self.covers: dict[tuple[frozenset[int], int], Step] = {}  # by tasks and capacity
        self.gaps: dict[tuple[int, int], Inequality] = {}  # of pairs: where i has ended, j starts this much later
        self.goings: dict[tuple[int, int, int, int], Step] = {}  # by pair and two bounds
        self.limits: dict[int, Inequality] = {}  # the sum at the start of each task
        self.orders: dict[tuple[int, int, int], Step] = {}

    def refute(self, bounds: Bounds) -> Step | None:
        """A step that refutes bounds of all sides of the row's variables, or None."""
        some = self._find(bounds)
        if not some:
            return None
        pairs = map(frozenset, combinations(some, 2))
        ended = next((self.crowd.ended[pair] for pair in pairs if pair in self.crowd.ended), None)
        if ended is not None:
            return self._going(*ended, bounds)
        cover = self._cover(some, bounds[2 * self.crowd.capacity + 1])
        parts, assumed = [cover], set(cover.assumed)
        for i, j in permutations(some, 2):
            truth = self._is_going(i, j)
            if truth is not None and truth in cover.assumed:
                meeting = self.crowd.meetings[i, j]
                parts.append(self._going(i, j, meeting.going, meeting.last, bounds))
                assumed |= set(parts[-1].assumed)
                assumed -= {truth, (truth[0] ^ 1, 1 - truth[1])}
        return Step(tuple(sorted(assumed)), (), None, tuple(parts), 0)

    # ---- which tasks

    def _find(self, bounds: Bounds) -> list[int]:
        """Tasks that use too much together; of any two, the one has not ended when the other starts."""
        tasks, room = self.crowd.tasks, -bounds[2 * self.crowd.capacity + 1]
        first = [bounds[2 * task.start] + task.length for task in tasks]  # the end of each
        last = [-bounds[2 * task.start + 1] for task in tasks]
        sure = [i for i in self.by_use if last[i] < first[i]]
        periods = [(last[i], last[i], NOBODY) for i in sure]
        periods += [(first[i] - 1, last[i], i) for i in self.by_use if last[i] >= first[i]]
        best: list[int] = []
        for begin, end, own in periods:
            some = [] if own == NOBODY else [own]
            used = 0 if own == NOBODY else tasks[own].use
            for i in sure:
                if last[i] <= begin and first[i] > end:
                    some.append(i)
                    used += tasks[i].use
                    if used > room:
                        break
            if used > room and (not best or len(some) < len(best)):
                best = some
        apart = (pair for pair in combinations(best, 2) if frozenset(pair) in self.crowd.apart)
        return list(next(apart, best))

    # ---- pairs of tasks

    def _is_begun(self, i: int, j: int) -> Assumed:
        """That task i starts when task j does or before."""
        first, second, encoding = self.crowd.tasks[i].start, self.crowd.tasks[j].start, self.encoding
        if encoding.lower[first] > encoding.upper[second]:
            return at_least(first, encoding.upper[first] + 1)
        if encoding.upper[first] <= encoding.lower[second]:
            return at_least(first, encoding.lower[first])
        return at_least(self.x[_known(self.crowd.meetings.get((i, j))).begun], 1)

    def _begins_after(self, i: int, j: int) -> bool:
        """Whether task i starts after task j for certain."""
        lower, upper = self.encoding.lower, self.encoding.upper
        if i == j or lower[self.crowd.tasks[i].start] > upper[self.crowd.tasks[j].start]:
            return i != j
        meeting = self.crowd.meetings.get((i, j))  # perhaps none is needed, since another task starts after j
        return meeting is not None and meeting.begun != NOBODY and upper[self.x[meeting.begun]] == 0

    def _is_going(self, i: int, j: int) -> Assumed | None:
        """That task i has not ended when task j starts; None where there is no row for it."""
        meeting = self.crowd.meetings.get((i, j))
        return None if meeting is None or meeting.going == NOBODY else at_least(self.x[meeting.going], 1)

    def _going(self, i: int, j: int, going: int, last: int, bounds: Bounds) -> Step:
        """The step by which the bounds of both starts imply that i is going when j starts, by the rows of that and of
        its last time."""
        sides = 2 * self.crowd.tasks[i].start, 2 * self.crowd.tasks[j].start + 1
        key = i, j, bounds[sides[0]], bounds[sides[1]]
        if key not in self.goings:
            if (i, j) not in self.gaps:
                one = self.encoding.rows[going][0].alternatives[1].inequalities[0]
                link = {} if last == NOBODY else {self.x[last]: last}
                self.gaps[i, j] = self.rows.expanded(going, one, link) if link and one.number else one
            within = self._model(v for v, _ in self.gaps[i, j].terms)
            within.update((side, bounds[side]) for side in sides)
            self.goings[key] = replace(_known(contradiction(self.encoding, self.gaps[i, j], within)), lasts=True)
        return self.goings[key]

    def _model(self, variables: Iterable[int]) -> Bounds:
        """The bounds of the model."""
        encoding = self.encoding
        return {side: k for v in variables for side, k in ((2 * v, encoding.lower[v]), (2 * v + 1, -encoding.upper[v]))}

    # ---- covers

    def _cover(self, some: list[int], negated_capacity: int) -> Step:
        """That of these tasks not each is going when each other starts."""
        key = frozenset(some), negated_capacity
        if key not in self.covers:
            lower = self.encoding.lower
            left = sorted(some, key=lambda i: lower[self.crowd.tasks[i].start])
            clauses: dict[int, Step | None] = {j: self._clause(j, left, negated_capacity) for j in left}
            going = {self._is_going(i, j) for i in some for j in some}
            while len(left) > 1:
                gone = left.pop(0)
                clauses = {j: self._without(gone, j, left, clauses, going) for j in left}
            self.covers[key] = replace(_known(clauses[left[0]]), lasts=True)
        return self.covers[key]

    def _clause(self, j: int, some: list[int], negated_capacity: int) -> Step | None:
        """That another of the tasks starts after j, if all are going when it does; None where one does for certain."""
        others = [i for i in some if i != j]
        if any(self._begins_after(i, j) for i in some):
            return None
        within = {2 * self.crowd.capacity + 1: negated_capacity}
        parts, assumed = [], [(2 * self.crowd.capacity + 1, negated_capacity)]
        for i in others:
            meeting = _known(self.crowd.meetings.get((i, j)))
            truths = [self.x[row] for row in (meeting.begun, meeting.going) if row != NOBODY]
            assumed += [at_least(v, 1) for v in truths]
            within.update((2 * v, 1) for v in truths)
            if meeting.both != NOBODY:
                x = self.x[meeting.both]
                bounds = self._model(self.rows.variables(meeting.both)) | {2 * v: 1 for v in truths} | {2 * x + 1: 0}
                parts.append(_known(refute(self.encoding, self.rows.splits(meeting.both), bounds)))
                within[2 * x] = 1
            if meeting.runs != NOBODY and self.encoding.upper[meeting.runs] == 0:
                return Step(self._kept(assumed), (), None, tuple(parts), 0)
        parts.append(self._too_much(j, within))
        return Step(self._kept(assumed), (), None, tuple(parts), 0)

    def _kept(self, assumed: Iterable[Assumed]) -> tuple[Assumed, ...]:
        return tuple(sorted({one for one in assumed if self.encoding.literal(one) >= 0}))

    def _too_much(self, j: int, within: Bounds) -> Step:
        """The step by which the sum at the start of the task is too large."""
        if j not in self.limits:
            total = _known(self.crowd.sums[j])
            one = Inequality(0, ((total.total, -1),), 0)
            if total.row != NOBODY:
                one = self.encoding.rows[total.row][0].alternatives[0].inequalities[0]
            self.limits[j] = self.rows.expanded(total.row, one, total.links)
        one = self.limits[j]
        if all(self.encoding.upper[v] - self.encoding.lower[v] == 1 for v, _ in one.terms):
            return whole(one)
        bounds = self._model(v for v, _ in one.terms)
        return _known(contradiction(self.encoding, one, {side: within.get(side, k) for side, k in bounds.items()}))

    def _without(
        self, gone: int, j: int, left: list[int], clauses: dict[int, Step | None], going: set[Assumed | None]
    ) -> Step | None:
        """The clause of task j without the task that is gone. What is `going` stays: it may also be that one has
        begun."""
        if any(self._begins_after(i, j) for i in left):
            return None
        parts = [step for step in (clauses[j], clauses[gone]) if step is not None]
        after = [i for i in left if self._begins_after(i, gone)]
        if clauses[gone] is not None:
            after = [i for i in left if self.encoding.literal(self._is_begun(i, gone)) != TRUE]
        if self.encoding.literal(self._is_begun(gone, j)) != TRUE:
            parts += [self._order(i, gone, j) for i in after]
        old = {self._is_begun(i, gone) for i in after} | {self._is_begun(gone, j)}
        assumed = {one for step in parts for one in step.assumed} - (old - going)
        assumed |= {self._is_begun(i, j) for i in left if i != j}
        return Step(self._kept(assumed), (), None, tuple(parts), 0)

    def _order(self, i: int, m: int, j: int) -> Step:
        """If task i starts after m, and m after j, then i starts after j; if i is j, that cannot be."""
        if (i, m, j) not in self.orders:
            words: list[str] = []
            self._add_order(words, i, m, AFTER)
            self._add_order(words, m, j, AFTER)
            if i != j:
                self._add_order(words, i, j, NOT_AFTER)
            self.orders[i, m, j] = whole(self.rows.lemma([*words, "s", "2", "d"]))
        return self.orders[i, m, j]

    def _add_order(self, words: list[str], i: int, j: int, case: int) -> None:
        """Adds that task i starts after j, or that it does not: by the row that compares them, or by bounds that imply
        it."""
        meeting, tasks = self.crowd.meetings.get((i, j)), self.crowd.tasks
        if meeting is not None and meeting.begun != NOBODY:
            one = self.encoding.rows[meeting.begun][0].alternatives[case].inequalities[0]
            if one.number:
                words += [str(one.number), *(["+"] if words else [])]
                return
        way = 0 if case == AFTER else 1
        add_bound(self.encoding, words, 2 * tasks[i].start + way, 1)
        add_bound(self.encoding, words, 2 * tasks[j].start + 1 - way, 1)
