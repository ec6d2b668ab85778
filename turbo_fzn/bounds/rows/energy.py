"""The rows of scheduling and packing: energy of tasks under a capacity. See linearise.FORMS.

A task of length d that uses r of a capacity C has the energy d r. All energies lie between the earliest start and the
end, so C (end - start) is at least their sum, for every variable that is at least the end of each task. The midpoints
of the tasks, weighted by their energies, sum up to at least what a fully used capacity gives (Queyranne 1993, for one
machine). Rectangles that do not overlap are tasks in each direction. For two tasks that must not overlap, a 0-1 column
states which task is first (Manne 1960).
"""

from __future__ import annotations

from itertools import combinations, islice
from typing import Any

from turbo_fzn.base.domains import INFINITY
from turbo_fzn.bounds.lp.relaxation import TRUE, Affine, negation
from turbo_fzn.bounds.rows.linearizer import Linearizer, Machine, Steps, Task
from turbo_fzn.bounds.rows.tuning import TUNING

Side = tuple[Affine, Affine]  # start and length


def cumulative(m: Linearizer, s: Any, d: Any, r: Any, b: Any) -> None:
    uses = m.array(r)
    if all(m.builder.range([(1, use)])[0] >= 0 for use in uses):  # a negative use would add to the capacity
        _add_tasks(m, m.array(s), m.array(d), uses, m.builder.range([(1, m.term(b))])[1])


def disjunctive(m: Linearizer, s: Any, d: Any) -> None:
    starts, lengths = m.array(s), m.array(d)
    _add_tasks(m, starts, lengths, [TRUE] * len(starts), 1)
    for first, second in islice(combinations(zip(starts, lengths), 2), TUNING.task_pairs - m.n_ordered):
        order(m, first, second)


def _rectangles(m: Linearizer, x: Any, y: Any, dx: Any, dy: Any) -> None:
    sides = (m.array(x), m.array(dx)), (m.array(y), m.array(dy))
    for (starts, lengths), (others, uses) in (sides, sides[::-1]):
        _order_where_they_meet(m, list(zip(starts, lengths)), list(zip(others, uses)))
        ends = [m.builder.range([(1, start), (1, length)])[1] for start, length in zip(others, uses)]
        begins = [m.builder.range([(1, start)])[0] for start in others]
        if starts and max(ends) < INFINITY and min(begins) > -INFINITY:
            _add_tasks(m, starts, lengths, uses, max(ends) - min(begins))


def _order_where_they_meet(m: Linearizer, across: list[Side], along: list[Side]) -> None:
    """Orders rectangles along one direction where they are sure to overlap in the other (`across`)."""
    sure = []  # (from, to): the part across that each rectangle always covers
    for start, length in across:
        latest, shortest = m.builder.range([(1, start)])[1], m.builder.range([(1, length)])[0]
        earliest_end = m.builder.range([(1, start)])[0] + shortest if shortest > 0 else -INFINITY
        sure.append((latest, earliest_end))
    pairs = ((i, j) for i, j in combinations(range(len(across)), 2) if meet(sure[i], sure[j]))
    for i, j in islice(pairs, TUNING.task_pairs - m.n_ordered):
        order(m, along[i], along[j])


def meet(first: tuple[int, int], second: tuple[int, int]) -> bool:
    return max(first[0], second[0]) < min(first[1], second[1])


def order(m: Linearizer, first: Side, second: Side) -> None:
    """Adds the rows "one of the two ends before the other begins", unless one may have length 0 and lie anywhere."""
    (start, length), (other_start, other_length) = first, second
    if min(m.builder.range([(1, length)])[0], m.builder.range([(1, other_length)])[0]) < 1:
        return
    m.n_ordered += 1
    before = m.builder.choice(lambda value_of: int(value_of(start) + value_of(length) <= value_of(other_start)))
    m.builder.imply(before, [(1, start), (1, length), (-1, other_start)], high=0)
    m.builder.imply(negation(before), [(1, other_start), (1, other_length), (-1, start)], high=0)


def _add_tasks(m: Linearizer, starts: list[Affine], lengths: list[Affine], uses: list[Affine], capacity: int) -> None:
    """Records a machine with the tasks whose least length and least use are above 0."""
    tasks = []
    for start, length, use in zip(starts, lengths, uses):
        shortest, least = m.builder.range([(1, length)])[0], m.builder.range([(1, use)])[0]
        if shortest > 0 and least > 0:
            tasks.append(Task(start, shortest, least))
    if len(tasks) > 1 and 0 < capacity < INFINITY:
        m.machines.append(Machine(tasks, capacity))


def add_machine(m: Linearizer, machine: Machine) -> None:
    """Adds the rows of a machine; called after the rows from which `differences` reads the order of variables."""
    tasks, capacity = machine
    area = sum(task.length * task.use for task in tasks)
    earliest = min(m.builder.range([(1, task.start)])[0] for task in tasks)
    if earliest == -INFINITY:
        return
    for end in _common_ends(m, tasks):  # capacity (end - earliest) >= area
        m.builder.add([(1, Affine(end, 1, 0))], low=earliest - (-area // capacity))
    # sum area_i (start_i + length_i / 2) >= area earliest + area^2 / (2 capacity)
    moments = [(2 * capacity * t.length * t.use, t.start) for t in tasks]
    halves = capacity * sum(t.length * t.length * t.use for t in tasks)
    m.builder.add(moments, low=2 * capacity * area * earliest + area * area - halves)


def _common_ends(m: Linearizer, tasks: list[Task]) -> set[int]:
    """The columns that are at least start + length of every task."""
    steps, behind = differences(m), None
    for task in tasks:
        if task.start.column >= 0:
            ends = _ends_of(task, steps)
            behind = ends if behind is None else behind & ends
    last = max((task.start.constant + task.length for task in tasks if task.start.column < 0), default=-INFINITY)
    return {column for column in behind or () if m.builder.lower[column] >= last}


def _ends_of(task: Task, steps: Steps) -> set[int]:
    reached = {task.start.column: 0}
    for _ in range(TUNING.task_steps):
        for column, distance in list(reached.items()):
            for following, step in steps.get(column, ()):
                reached[following] = max(reached.get(following, -INFINITY), distance + step)
    return {column for column, distance in reached.items() if distance >= task.length}


def differences(m: Linearizer) -> Steps:
    """For each column x: (y, k) of the rows y - x >= k."""
    if m.steps is None:
        m.steps = {}
        for entries, low, high in m.builder.rows:
            if len(entries) == 2 and sorted(entries.values()) == [-1, 1]:
                x, y = sorted(entries, key=entries.__getitem__)
                if low > -INFINITY:
                    m.steps.setdefault(x, []).append((y, low))
                if high < INFINITY:
                    m.steps.setdefault(y, []).append((x, -high))
    return m.steps


FORMS = {
    "turbo_cumulative": cumulative,
    "turbo_disjunctive": disjunctive,
    "turbo_disjunctive_strict": disjunctive,
    "turbo_diffn": _rectangles,
    "turbo_diffn_nonstrict": _rectangles,
}
