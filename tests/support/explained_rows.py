"""What rows of learners say of a box, one by one, and what the records of `explain_rows` (lone_rows.py) tell of it.

A box is the (lower, upper) of each of a row's variables; a literal is a side of one of these and a threshold.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby, product
from random import Random
from typing import NamedTuple, Protocol

import numpy as np

RECORD_CONFLICT, RECORD_LATE = 1, 2  # of probe_rows.h
Box = list[tuple[int, int]]


class Case(Protocol):
    """A row, and the boxes of the root and of its run."""

    @property
    def root(self) -> Box: ...

    @property
    def box(self) -> Box: ...

    def allows(self, *values: int) -> bool: ...


class Said(NamedTuple):
    """A threshold that a row gave, or a conflict, and its premises: pairs of a side of the row's and a threshold. It is
    late if a premise became true after it."""

    conflict: bool
    late: bool
    side: int
    k: int
    premises: list[tuple[int, int]]


def draw_interval(random: Random, low: int, high: int) -> tuple[int, int]:
    a, b = random.randint(low, high), random.randint(low, high)
    return min(a, b), max(a, b)


def said_by_each(records: np.ndarray, n_rows: int, own_side: Callable[[int, int], int]) -> list[list[Said]]:
    """What each row said; `own_side(row, side)` is the side among the row's own."""
    said: list[list[Said]] = [[] for _ in range(n_rows)]
    for row, group in groupby(records.tolist(), key=lambda record: record[0]):
        for _, what, side, k, count, *rest in group:
            conflict, late = what == RECORD_CONFLICT, what == RECORD_LATE
            premises = [(own_side(row, rest[2 * i]), rest[2 * i + 1]) for i in range(count)]
            said[row].append(Said(conflict, late, 0 if conflict else own_side(row, side), k, premises))
    return said


def points(case: Case, box: Box) -> np.ndarray:
    """The points of the box that the row allows (int [k, variables])."""
    every = product(*(range(low, high + 1) for low, high in box))
    return np.array([point for point in every if case.allows(*point)], np.int64).reshape(-1, len(box))


def hull(points: np.ndarray) -> Box:
    return list(zip(points.min(axis=0).tolist(), points.max(axis=0).tolist()))


def grown(box: Box, literals: list[tuple[int, int]]) -> Box:
    """The box in which these thresholds are reached, too. An upper side is at the negated bound."""
    ends = [[low, -high] for low, high in box]
    for side, k in literals:
        ends[side // 2][side % 2] = max(ends[side // 2][side % 2], k)
    return [(low, -negated) for low, negated in ends]


def reached(case: Case, said: list[Said]) -> Box:
    return grown(case.box, [(one.side, one.k) for one in said if not one.conflict])


def is_implied(case: Case, one: Said) -> bool:
    """Whether no point of the root that the row allows has the premises and not what is said."""
    allowed = points(case, grown(case.root, one.premises))
    values = allowed[:, one.side // 2] * (-1 if one.side % 2 else 1)
    return not len(allowed) if one.conflict else bool(np.all(values >= one.k))


def were_true(case: Case, said: list[Said]) -> bool:
    """Whether all premises held before what follows from them; those of a conflict in the box that the row reached."""
    now = reached(case, said)
    return all(grown(now, one.premises) == now and not one.late for one in said)


def keeps_solutions(case: Case, said: list[Said]) -> bool:
    """Whether all points of the box that the row allows are in the one that it reached, without a conflict."""
    allowed = points(case, case.box)
    if not len(allowed):
        return True
    inside = all(low <= a and b <= high for (low, high), (a, b) in zip(reached(case, said), hull(allowed)))
    return inside and not any(one.conflict for one in said)
