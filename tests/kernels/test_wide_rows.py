"""What wide rows of learners say, and why: against enumeration of small boxes.

Each row has its own variables. It runs once in a box inside the root's, and each threshold that it reaches is
explained. Relations are told here by their meaning, value by value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby, product
from random import Random
from typing import NamedTuple

import numpy as np
import pytest

from support.lone_rows import explain_rows
from turbo_fzn.tnf.language import TNF
from turbo_fzn.tnf.wide import Wide, WideKind

N_ROWS = 1500
Box = list[tuple[int, int]]


class Case(NamedTuple):
    """A row, and boxes of (lower, upper) for each of its variables: the head's, then those of each group."""

    kind: WideKind
    root: Box
    box: Box

    def points(self, box: Box) -> np.ndarray:
        """The assignments of a box that the row allows (int [k, variables])."""
        every = product(*(range(low, high + 1) for low, high in box))
        return np.array([point for point in every if ALLOWS[self.kind](*point)], np.int64).reshape(-1, len(box))


def differ(*values: int) -> bool:
    return len(set(values)) == len(values)


def fit(capacity: int, *tasks: int) -> bool:
    """At each time that is one of a task's, those that run use at most the capacity; and so does nothing."""
    groups = list(zip(tasks[::3], tasks[1::3], tasks[2::3]))
    times = range(min(tasks[::3]), max(start + length for start, length, _ in groups) + 1)
    used = [sum(use for start, length, use in groups if start <= time < start + length) for time in times]
    return max(used, default=0) <= capacity


ALLOWS: dict[WideKind, Callable[..., bool]] = {WideKind.ALL_DIFFERENT: differ, WideKind.CUMULATIVE: fit}


def draw_interval(random: Random, low: int, high: int) -> tuple[int, int]:
    a, b = random.randint(low, high), random.randint(low, high)
    return min(a, b), max(a, b)


def draw_different(random: Random) -> Box:
    return [draw_interval(random, -2, 3) for _ in range(random.randint(2, 5))]


def draw_tasks(random: Random) -> Box:
    """Lengths and uses are constants, for the most part."""
    root = [draw_interval(random, 0, 4)]
    for _ in range(random.randint(2, 3)):
        length, use = ((v, v + (random.random() < 0.2)) for v in (random.randint(0, 3), random.randint(0, 3)))
        root += [draw_interval(random, -2, 4), length, use]
    return root


DRAWERS = {WideKind.ALL_DIFFERENT: draw_different, WideKind.CUMULATIVE: draw_tasks}


def draw(random: Random, kind: WideKind) -> Case:
    root = DRAWERS[kind](random)
    return Case(kind, root, [draw_interval(random, *ends) if random.random() < 0.7 else ends for ends in root])


class Said(NamedTuple):
    """A threshold that a row gave, or a conflict, and its premises: pairs of a side of the row's and a threshold."""

    conflict: bool
    side: int
    k: int
    premises: list[tuple[int, int]]


def records_of(cases: list[Case]) -> np.ndarray:
    starts = np.cumsum([0, *(len(case.root) for case in cases)])
    wides = []
    for case, start in zip(cases, starts):
        variables = np.arange(start, start + len(case.root))
        size = len(variables) % 3 if case.kind == WideKind.CUMULATIVE else 0
        width = 3 if case.kind == WideKind.CUMULATIVE else 1
        wides.append(Wide(case.kind, variables[:size], variables[size:].reshape(-1, width)))
    ends = [np.array([ends for case in cases for ends in getattr(case, which)], np.int64) for which in ("root", "box")]
    tnf = TNF(*[np.empty(0, np.int32)] * 4, *ends[0].T.copy(), np.empty(0, np.int64), wides=wides)
    return explain_rows(tnf, *ends[1].T.copy())


def all_said(cases: list[Case]) -> Iterator[tuple[Case, list[Said]]]:
    """Each case with the bounds and conflicts that its row derives."""
    starts = np.cumsum([0, *(len(case.root) for case in cases)]).tolist()
    by_row = groupby(records_of(cases).tolist(), key=lambda record: record[0])
    groups = {row: list(group) for row, group in by_row}
    for row, case in enumerate(cases):
        shift = 2 * starts[row]
        said = []
        for _, conflict, side, k, count, *rest in groups.get(row, ()):
            premises = [(rest[2 * i] - shift, rest[2 * i + 1]) for i in range(count)]
            said.append(Said(bool(conflict), 0 if conflict else side - shift, k, premises))
        yield case, said


@pytest.fixture(scope="module", params=list(WideKind), ids=lambda kind: kind.name.lower())
def told(request) -> list[tuple[Case, list[Said]]]:
    random = Random(request.param.name)
    return list(all_said([draw(random, request.param) for _ in range(N_ROWS)]))


def grown(box: Box, literals: list[tuple[int, int]]) -> Box:
    """The box in which these thresholds are reached, too. An upper side is at the negated bound."""
    ends = [[low, -high] for low, high in box]
    for side, k in literals:
        ends[side // 2][side % 2] = max(ends[side // 2][side % 2], k)
    return [(low, -negated) for low, negated in ends]


def reached(case: Case, said: list[Said]) -> Box:
    return grown(case.box, [(one.side, one.k) for one in said if not one.conflict])


def hull(points: np.ndarray) -> Box:
    return list(zip(points.min(axis=0).tolist(), points.max(axis=0).tolist()))


def test_premises_imply_what_is_said(told):
    looked_at = 0
    for case, said in told:
        for one in said:
            points = case.points(grown(case.root, one.premises))
            assert len(points) == 0 or not one.conflict, case
            values = points[:, one.side // 2] * (-1 if one.side % 2 else 1)
            assert one.conflict or np.all(values >= one.k), (case, one)
            looked_at += 1
    assert looked_at > N_ROWS / 4


def test_premises_were_true(told):
    for case, said in told:
        now = reached(case, said)
        assert all(one.conflict or grown(now, one.premises) == now for one in said), case


def test_a_row_loses_no_solution(told):
    for case, said in told:
        points = case.points(case.box)
        if len(points):
            assert not any(one.conflict for one in said), case
            assert all(low <= a and b <= high for (low, high), (a, b) in zip(reached(case, said), hull(points))), case


def to_fixpoint(case: Case) -> Box | None:
    """The row again and again; None at a conflict."""
    while True:
        ((_, said),) = all_said([case])
        if any(one.conflict for one in said):
            return None
        box = reached(case, said)
        if box == case.box:
            return box
        case = case._replace(box=box)


def test_at_its_fixpoint_all_different_is_the_hull_of_its_solutions(told):
    """Over bounds alone it has nothing more to say."""
    moved = 0
    for case, _ in told[: N_ROWS // 3] if told[0][0].kind == WideKind.ALL_DIFFERENT else ():
        points, box = case.points(case.box), to_fixpoint(case)
        assert box == (hull(points) if len(points) else None), case
        moved += box != case.box
    assert moved > N_ROWS / 20 or told[0][0].kind != WideKind.ALL_DIFFERENT


def fits_for_certain(case: Case, box: Box) -> bool:
    """Whether the tasks leave room for each other where they run whatever is decided, time by time."""
    (_, capacity), *tasks = box
    for time in range(-3, 9):
        used = 0
        for (earliest, latest), (length, _), (use, _) in zip(tasks[::3], tasks[1::3], tasks[2::3]):
            used += use * (latest <= time < earliest + length)
        if used > capacity:
            return False
    return True


def test_at_its_fixpoint_cumulative_has_no_start_at_which_a_task_cannot_be(told):
    """Beside what runs for certain: a time table has nothing more to say."""
    moved = 0
    for case, _ in told[: N_ROWS // 3] if told[0][0].kind == WideKind.CUMULATIVE else ():
        box = to_fixpoint(case)
        moved += box != case.box
        for i in range(1, len(case.box), 3) if box else ():
            for end in set(box[i]):
                assert fits_for_certain(case, [*box[:i], (end, end), *box[i + 1 :]]), (case, box)
    assert moved > N_ROWS / 20 or told[0][0].kind != WideKind.CUMULATIVE
