"""Cumulatives whose wide row can be explained in proofs by the ternary rows (proof/crowded.py): those that state by
pairs of tasks what is used whenever a task starts (lower/globals/scheduling.py), with constant lengths and uses.

Task i runs when task j starts if s_i <= s_j (it has *begun*) and s_j <= s_i + d_i - 1 (it is *going*), and the sum of
what such tasks use is at most the capacity. A *crowd* is such a cumulative with the rows of all of this, as they are
found in a model: a truth that the bounds of the starts imply has none. A cumulative that lacks rows is no crowd.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from turbo_fzn.tnf.language import ADD, LEQ, MIN, MUL, TNF
from turbo_fzn.tnf.links import NOBODY
from turbo_fzn.tnf.wide import Wide, WideKind

Key = tuple[bool, int]  # of a constant: True and its value; of a variable: False and its number


class Task(NamedTuple):
    """A task: the variable of its start, and constants."""

    start: int
    length: int
    use: int


class Meeting(NamedTuple):
    """That one task runs when another starts: the rows of `begun`, of `going`, of `last`, which defines the last time
    of the one, and of `both`; NOBODY for what is certain. `runs`: the truth of it all, NOBODY if it is certain."""

    begun: int
    going: int
    last: int
    both: int
    runs: int


class Ended(NamedTuple):
    """That task i has ended whenever task j starts: the rows of `going`, which is false, and of `last`."""

    i: int
    j: int
    going: int
    last: int


class Sum(NamedTuple):
    """What all tasks use when a task starts: the row that compares it with the capacity, or NOBODY where its bound
    does, its variable, and the row that defines each variable within."""

    row: int
    total: int
    links: dict[int, int]


@dataclass(frozen=True, eq=False, repr=False)
class Crowd:
    """A cumulative: the variable of its capacity, its tasks that use anything, the meetings by both tasks, the pairs of
    which the first has `ended` when the second starts, the pairs of which neither runs when the other starts, `apart`,
    and the sum at the start of each task, None where it cannot be too large. There are the meetings of those that may
    meet and have not ended, but for a task at whose start all that are not apart use at most the capacity."""

    capacity: int
    tasks: list[Task]
    meetings: dict[tuple[int, int], Meeting]
    ended: dict[frozenset[int], Ended]
    apart: set[frozenset[int]]
    sums: list[Sum | None]


def crowds(tnf: TNF) -> list[tuple[Wide, Crowd]]:
    """The wide rows that are crowds, in order. Where no sum can be too large, pairs of rows say all."""
    found: list[tuple[Wide, Crowd]] = []
    users = None
    for wide in tnf.wides:
        if wide.kind != WideKind.CUMULATIVE or wide.alone:
            continue
        users = users or _Users(tnf)
        crowd = _Matcher(tnf, wide, users).crowd()
        if crowd is not None:
            found.append((wide, crowd))
    return found


class _Users:
    """The rows that name each variable as an operand."""

    def __init__(self, tnf: TNF):
        rows = np.flatnonzero(np.isin(tnf.op, (ADD, LEQ, MIN, MUL)))
        variables = np.concatenate((tnf.y[rows], tnf.z[rows]))
        order = np.argsort(variables, kind="stable")
        self.rows = np.concatenate((rows, rows))[order]
        self.starts = np.searchsorted(variables[order], np.arange(tnf.n_vars + 1))

    def of(self, variable: int) -> list[int]:
        found: list[int] = self.rows[self.starts[variable] : self.starts[variable + 1]].tolist()
        return found


@dataclass(eq=False)
class _Total:
    """A sum of truths: its row and variable, the coefficient of each leaf, what constants add, and its links."""

    row: int
    total: int
    leaves: dict[int, int] = field(default_factory=dict)
    constant: int = 0
    links: dict[int, int] = field(default_factory=dict)


class _Matcher:
    """Looks for the rows of a wide row among those that are functions of the starts."""

    def __init__(self, tnf: TNF, wide: Wide, users: _Users):
        self.tnf, self.users = tnf, users
        self.capacity = int(wide.head[0])
        self.groups = wide.groups
        self.comparisons: dict[tuple[Key, Key], int] = {}
        self.shifts: dict[tuple[Key, int], int] = {}  # variable and constant -> the row of their sum
        self.minima: dict[frozenset[int], int] = {}
        self.definitions: dict[int, int] = {}  # of sums, and of products with a constant
        self.inside: set[int] = set()  # the operands of these

    def low(self, variable: int) -> int:
        return int(self.tnf.lower[variable])

    def high(self, variable: int) -> int:
        return int(self.tnf.upper[variable])

    def is_fixed(self, variable: int) -> bool:
        return self.low(variable) == self.high(variable)

    def key(self, variable: int) -> Key:
        return (True, self.low(variable)) if self.is_fixed(variable) else (False, variable)

    def crowd(self) -> Crowd | None:
        lengths, uses = self.groups[:, 1], self.groups[:, 2]
        for column in (lengths, uses):
            if not np.array_equal(self.tnf.lower[column], self.tnf.upper[column]):
                return None
        tasks = [Task(s, self.low(d), self.low(r)) for s, d, r in self.groups.tolist()]
        tasks = [task for task in tasks if task.length > 0 and task.use > 0]
        for row in self._functions([task.start for task in tasks]):
            self._note(row)
        ended = self._ended(tasks)
        meetings = self._meetings(tasks, ended)
        sums = None if meetings is None else self._sums(tasks, meetings)
        if meetings is None or not sums or sums.count(None) == len(sums):
            return None
        apart = {frozenset(pair) for pair in meetings if self._are_apart(*pair, meetings)}
        return Crowd(self.capacity, tasks, meetings, ended, apart, sums)

    def _ended(self, tasks: list[Task]) -> dict[frozenset[int], Ended]:
        """The pairs of tasks of which the first has ended when the second starts, by a row."""
        found = {}
        for i, task in enumerate(tasks):
            end, last = self._last(task)
            for j, other in enumerate(tasks):
                if i == j or end is None or not self._may_meet(task, other):
                    continue
                row = self.comparisons.get((self.key(other.start), end), NOBODY)
                if row != NOBODY and self.high(int(self.tnf.x[row])) == 0:
                    found[frozenset((i, j))] = Ended(i, j, row, last)
        return found

    def _may_need(self, i: int, j: int, tasks: list[Task], ended: Container[frozenset[int]]) -> bool:
        """Whether it may matter that task i runs when task j starts."""
        return i != j and frozenset((i, j)) not in ended and self._may_meet(tasks[i], tasks[j])

    def _meetings(self, tasks: list[Task], ended: Container[frozenset[int]]) -> dict[tuple[int, int], Meeting] | None:
        """The meetings, or None if some are missing that are needed."""
        found: dict[tuple[int, int], Meeting] = {}
        for j, other in enumerate(tasks):
            others = [i for i in range(len(tasks)) if self._may_need(i, j, tasks, ended)]
            if other.use + sum(tasks[i].use for i in others) <= self.low(self.capacity):
                continue
            for i in others:
                meeting = self._meeting(tasks[i], other)
                if meeting is not None:
                    found[i, j] = meeting
        for j, other in enumerate(tasks):
            others = [i for i in range(len(tasks)) if self._may_need(i, j, tasks, ended)]
            if all((i, j) in found for i in others):
                continue
            rest = [i for i in others if (i, j) not in found or not self._are_apart(i, j, found)]
            if other.use + sum(tasks[i].use for i in rest) > self.low(self.capacity):
                return None
        return found

    def _are_apart(self, i: int, j: int, meetings: dict[tuple[int, int], Meeting]) -> bool:
        """Whether it is known that neither task runs when the other starts."""
        pairs = [meetings.get(pair) for pair in ((i, j), (j, i))]
        return all(one is not None and one.runs != NOBODY and self.high(one.runs) == 0 for one in pairs)

    # ---- the rows

    def _functions(self, starts: Sequence[int]) -> Iterator[int]:
        """The rows whose operands are constants, starts, or results of such rows, and the comparisons of sums with the
        capacity."""
        tnf, known, seen = self.tnf, {*starts, self.capacity}, set[int]()
        waiting = [v for v in known if not self.is_fixed(v)]
        while waiting:
            for row in self.users.of(waiting.pop()):
                operands = int(tnf.y[row]), int(tnf.z[row])
                if row in seen or not all(v in known or self.is_fixed(v) for v in operands):
                    continue
                seen.add(row)
                yield row
                x = int(tnf.x[row])
                if x not in known and not self.is_fixed(x):
                    known.add(x)
                    waiting.append(x)

    def _note(self, row: int) -> None:
        tnf = self.tnf
        op, x, y, z = (int(column[row]) for column in (tnf.op, tnf.x, tnf.y, tnf.z))
        if op == LEQ:
            self.comparisons.setdefault((self.key(y), self.key(z)), row)
        elif op == MIN:
            self.minima.setdefault(frozenset((y, z)), row)
        elif op == ADD or self.is_fixed(y) or self.is_fixed(z):
            if not self.is_fixed(x) and x not in (y, z):
                self.definitions.setdefault(x, row)
            self.inside |= {y, z}
            for one, other in ((y, z), (z, y)):
                if op == ADD and self.is_fixed(other):
                    self.shifts.setdefault((self.key(one), self.low(other)), row)

    # ---- pairs of tasks

    def _may_meet(self, task: Task, other: Task) -> bool:
        """Whether the bounds allow that the task runs when the other one starts."""
        last = self.high(task.start) + task.length - 1
        return self.low(task.start) <= self.high(other.start) and self.low(other.start) <= last

    def _meeting(self, task: Task, other: Task) -> Meeting | None:
        """The rows of a pair, or None if they are missing."""
        begun = going = last = NOBODY
        if self.high(task.start) > self.low(other.start):
            begun = self.comparisons.get((self.key(task.start), self.key(other.start)), NOBODY)
            if begun == NOBODY:
                return None
        if self.low(task.start) + task.length - 1 < self.high(other.start):
            end, last = self._last(task)
            going = NOBODY if end is None else self.comparisons.get((self.key(other.start), end), NOBODY)
            if going == NOBODY:
                return None
        truths = {int(self.tnf.x[row]) for row in (begun, going) if row != NOBODY}
        open_truths = [v for v in truths if self.low(v) == 0]
        denied = [v for v in open_truths if self.high(v) == 0]
        if denied or len(open_truths) < 2:
            return Meeting(begun, going, last, NOBODY, next(iter([*denied, *open_truths]), NOBODY))
        both = self.minima.get(frozenset(truths), NOBODY)
        return None if both == NOBODY else Meeting(begun, going, last, both, int(self.tnf.x[both]))

    def _last(self, task: Task) -> tuple[Key | None, int]:
        """The last time at which the task runs, and the row that defines it."""
        if task.length == 1:
            return self.key(task.start), NOBODY
        if self.is_fixed(task.start):
            return (True, self.low(task.start) + task.length - 1), NOBODY
        row = self.shifts.get((self.key(task.start), task.length - 1), NOBODY)
        return (None, NOBODY) if row == NOBODY else (self.key(int(self.tnf.x[row])), row)

    # ---- sums

    def _sums(self, tasks: list[Task], meetings: dict[tuple[int, int], Meeting]) -> list[Sum | None] | None:
        """The sum at the start of each task; None if one is missing."""
        totals: dict[int, list[_Total]] = {}
        for total in self._totals():
            for leaf in total.leaves:
                totals.setdefault(leaf, []).append(total)
        sums: list[Sum | None] = []
        for j, task in enumerate(tasks):
            needed: dict[int, int] = {}  # of each truth
            sure = task.use
            for i, other in enumerate(tasks):
                meeting = meetings.get((i, j))
                if meeting is None:
                    continue
                if meeting.runs == NOBODY or self.low(meeting.runs) == 1:
                    sure += other.use
                elif self.high(meeting.runs) == 1:
                    needed[meeting.runs] = needed.get(meeting.runs, 0) + other.use
            if sure + sum(needed.values()) <= self.low(self.capacity):
                sums.append(None)
                continue
            found = self._sum(needed, sure, totals)
            if found is None:
                return None
            sums.append(found)
        return sums

    def _sum(self, needed: dict[int, int], sure: int, totals: dict[int, list[_Total]]) -> Sum | None:
        """A total that has each of the truths as often as needed, and is small enough."""
        for one in totals.get(next(iter(needed), NOBODY), ()):
            room = -one.constant if one.row != NOBODY else self.high(one.total) - one.constant
            most = -sure if one.row != NOBODY else self.high(self.capacity) - sure
            is_capacity = one.row != NOBODY or self.is_fixed(self.capacity)
            if is_capacity and room <= most and all(one.leaves.get(v, 0) >= k for v, k in needed.items()):
                return Sum(one.row, one.total, one.links)
        return None

    def _totals(self) -> Iterator[_Total]:
        """The sums that are compared with the capacity, or bounded where that is a constant."""
        tnf = self.tnf
        for (_, capacity), row in self.comparisons.items():
            if capacity == self.key(self.capacity) and self.low(int(tnf.x[row])) == 1:
                yield self._expanded(_Total(row, int(tnf.y[row])))
        for x in self.definitions:
            if x not in self.inside:
                yield self._expanded(_Total(NOBODY, x))

    def _expanded(self, one: _Total) -> _Total:
        tnf, waiting = self.tnf, [(one.total, 1)]
        while waiting:
            v, factor = waiting.pop()
            if self.is_fixed(v):
                one.constant += factor * self.low(v)
                continue
            row = self.definitions.get(v)
            if row is None:
                one.leaves[v] = one.leaves.get(v, 0) + factor
                continue
            one.links[v] = row
            y, z = int(tnf.y[row]), int(tnf.z[row])
            if tnf.op[row] == ADD:
                waiting += [(y, factor), (z, factor)]
            elif self.is_fixed(y):
                waiting.append((z, factor * self.low(y)))
            else:
                waiting.append((y, factor * self.low(z)))
        return one
