"""What wide rows of learners say, and why: against enumeration of small boxes.

Each row has its own variables. It runs once in a box inside the root's, and each threshold that it reaches is
explained. Relations are told here by their meaning, value by value.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from random import Random

import numpy as np
import pytest

from support.explained_rows import (
    Box,
    Said,
    draw_interval,
    hull,
    is_implied,
    keeps_solutions,
    points,
    reached,
    said_by_each,
    were_true,
)
from support.lone_rows import count_movers, cpu_rows, explain_rows, walk_rows
from support.wide_cases import SHAPES, Case, draw
from turbo_fzn.tnf.language import TNF
from turbo_fzn.tnf.wide import Wide, WideKind

N_ROWS = {
    WideKind.ALL_DIFFERENT: 1500,
    WideKind.CUMULATIVE: 1000,
    WideKind.ELEMENT: 800,
    WideKind.ENERGY: 1500,
    WideKind.CIRCUIT: 800,
    WideKind.REACHABLE: 1500,
}


def model_of(cases: list[Case]) -> TNF:
    starts = np.cumsum([0, *(len(case.root) for case in cases)])
    wides = []
    for case, start in zip(cases, starts):
        variables = np.arange(start, start + len(case.root))
        size, width = SHAPES[case.kind]
        wides.append(Wide(case.kind, variables[:size], variables[size:].reshape(-1, width)))
    ends = np.array([ends for case in cases for ends in case.root], np.int64)
    return TNF(*[np.empty(0, np.int32)] * 4, *ends.T.copy(), np.empty(0, np.int64), wides=wides)


def box_of(cases: list[Case]) -> np.ndarray:
    """The lower and the upper bounds of all variables (int64 [2, n])."""
    return np.array([ends for case in cases for ends in case.box], np.int64).T


def records_of(cases: list[Case]) -> np.ndarray:
    return explain_rows(model_of(cases), *box_of(cases))


def all_said(cases: list[Case]) -> list[tuple[Case, list[Said]]]:
    """Each case with the bounds and conflicts that its row derives."""
    starts = np.cumsum([0, *(len(case.root) for case in cases)]).tolist()
    said = said_by_each(records_of(cases), len(cases), lambda row, side: side - 2 * starts[row])
    return list(zip(cases, said))


@cache
def tell(kind: WideKind) -> list[tuple[Case, list[Said]]]:
    random = Random(kind.name)
    return all_said([draw(random, kind) for _ in range(N_ROWS[kind])])


@pytest.fixture(params=WideKind, ids=lambda kind: kind.name.lower())
def told(request) -> list[tuple[Case, list[Said]]]:
    return tell(request.param)


def test_premises_imply_what_is_said(told):
    for case, said in told:
        for one in said:
            assert is_implied(case, one), (case, one)
    assert sum(len(said) for _, said in told) > len(told) / 4


def test_premises_were_true(told):
    for case, said in told:
        assert were_true(case, said), case


def test_a_row_loses_no_solution(told):
    for case, said in told:
        assert keeps_solutions(case, said), case


def redrawn(random: Random, case: Case) -> Case:
    """The case in a box that differs in one variable or two."""
    box = list(case.box)
    for place in random.sample(range(len(box)), 2):
        box[place] = draw_interval(random, *case.root[place])
    return case._replace(box=box)


def test_a_row_says_the_same_whatever_it_has_seen_before():
    """A learner ran it in other boxes, each like the one before it. Rows that wait say less by intention."""
    random = Random("boxes")
    for kind in set(WideKind) - {WideKind.ENERGY}:
        walks = [[draw(random, kind)] for _ in range(400)]
        for walk in walks:
            for _ in range(7):
                walk.append(redrawn(random, walk[-1]))
        boxes = np.stack([box_of(list(cases)) for cases in zip(*walks)], axis=1)
        last = [walk[-1] for walk in walks]
        fresh = records_of(last)
        assert len(fresh) > 100
        assert np.array_equal(explain_rows(model_of(last), *boxes), fresh), kind


def test_tasks_are_looked_at_where_their_own_bounds_or_the_profile_may_move_them():
    start, capacity = (0, 20), (3, 3)
    root = [capacity, start, (4, 4), (2, 2), start, (4, 4), (2, 2), start, (2, 2), (1, 1), start, (4, 4), (1, 1)]
    sure = {1: (5, 6)}
    steps: list[tuple[dict[int, tuple[int, int]], int]] = [
        ({}, 0),  # no task is sure to run: all have room
        (sure, 2),  # beside the first one, the second has none; and it is not fixed itself
        (sure, 0),  # nothing is new
        ({**sure, 7: (1, 20)}, 0),  # the third fits everywhere
        ({**sure, 4: (1, 20)}, 1),  # the second begins later
        ({**sure, 4: (1, 20), 10: (8, 8)}, 3),  # the fourth is sure to run, and fills the capacity with the first
        ({1: (6, 6), 10: (8, 8)}, 2),  # the first is fixed, and cannot move
    ]
    boxes = [[inner.get(place, ends) for place, ends in enumerate(root)] for inner, _ in steps]
    lower, upper = np.array(boxes, np.int64).transpose(2, 0, 1)
    tnf = model_of([Case(WideKind.CUMULATIVE, root, root)])
    assert count_movers(tnf, lower, upper) == [count for _, count in steps]


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


def test_at_its_fixpoint_all_different_is_the_hull_of_its_solutions():
    """Over bounds alone it has nothing more to say."""
    moved = 0
    for case, _ in tell(WideKind.ALL_DIFFERENT)[:500]:
        allowed, box = points(case, case.box), to_fixpoint(case)
        assert box == (hull(allowed) if len(allowed) else None), case
        moved += box != case.box
    assert moved > 75


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


def test_at_its_fixpoint_cumulative_has_no_start_at_which_a_task_cannot_be():
    """Beside what runs for certain: a time table has nothing more to say."""
    moved = 0
    for case, _ in tell(WideKind.CUMULATIVE)[:500]:
        box = to_fixpoint(case)
        moved += box != case.box
        for i in range(1, len(case.box), 3) if box else ():
            for end in set(box[i]):
                assert fits_for_certain(case, [*box[:i], (end, end), *box[i + 1 :]]), (case, box)
    assert moved > 75


def drawn_tasks(random: Random) -> tuple[list[tuple[int, int]], list[list[int]]]:
    """Domains of variables, and the variables of some cumulative rows over them: the starts are those of all rows, a
    length, use or capacity may be that of another place, and constants are frequent."""
    starts = list(range(random.randint(3, 5)))
    domains = [draw_interval(random, 0, 6) for _ in starts]

    def quantity(least: int, most: int) -> int:
        others = range(len(starts), len(domains))
        if others and random.random() < 0.3:
            return random.choice(others)
        value = random.randint(least, most)
        domains.append((value, value) if random.random() < 0.7 else draw_interval(random, least, most))
        return len(domains) - 1

    rows = []
    for _ in range(random.randint(1, 4)):
        tasks = random.sample(starts, random.randint(2, len(starts)))
        rows.append([quantity(1, 4), *(one for s in tasks for one in (s, quantity(0, 3), quantity(0, 3)))])
    return domains, rows


def steps_of(random: Random, domains: list[tuple[int, int]]) -> np.ndarray:
    """Decisions, most of them below the last one, others after a return to a level above."""
    steps = []
    for _ in range(40):
        variable = random.randrange(len(domains))
        side, value = random.randint(0, 1), random.randint(*domains[variable])
        steps.append(
            (99 if random.random() < 0.7 else random.randint(0, 4), 2 * variable + side, (value, -value)[side])
        )
    return np.array(steps, np.int64)


def test_rows_that_are_asked_before_they_are_woken_are_at_their_fixpoint():
    """At each fixpoint of a learner that decides and returns, no row over shared tasks has more to say."""
    random, moved, conflicts = Random("asked"), 0, 0
    for _ in range(600):
        domains, rows = drawn_tasks(random)
        wides = [Wide(WideKind.CUMULATIVE, np.array(row[:1]), np.array(row[1:]).reshape(-1, 3)) for row in rows]
        ends = np.array(domains, np.int64).T.copy()
        tnf = TNF(*[np.empty(0, np.int32)] * 4, *ends, np.empty(0, np.int64), wides=wides)
        for consistent, bounds in walk_rows(tnf, steps_of(random, domains)):
            conflicts += not consistent
            moved += consistent and not np.array_equal(bounds.T, ends)
            for row in rows if consistent else ():
                assert_nothing_to_say([tuple(bounds[variable].tolist()) for variable in row], (domains, rows))
    assert moved > 2000 and conflicts > 200


def assert_nothing_to_say(box: Box, model: object) -> None:
    """The capacity is what is used for certain, or more, and each start can be at both of its ends."""
    case = Case(WideKind.CUMULATIVE, box, box)
    least = [(box[0][0], box[0][0]), *box[1:]]
    assert fits_for_certain(case, least), (box, model)
    alone = (use[0] for length, use in zip(box[2::3], box[3::3]) if length[0] > 0)
    assert max(alone, default=0) <= box[0][0], (box, model)
    for i in range(1, len(box), 3):
        for end in set(box[i]) if box[i + 1][0] > 0 < box[i + 2][0] else ():
            assert fits_for_certain(case, [*box[:i], (end, end), *box[i + 1 :]]), (box, model)


def chooses(result: int, _index: int, _first: int, *groups: int) -> bool:
    """Some truths are true, and their members are the result, whatever the index is."""
    members = [member for truth, member in zip(groups[::2], groups[1::2]) if truth]
    return bool(members) and set(members) == {result}


def test_at_its_fixpoint_element_is_the_hull_while_several_members_are_possible():
    """Over truths alone. What the index says of them, and they of the index, is said by other rows."""
    moved = 0
    for case, _ in tell(WideKind.ELEMENT)[:250]:
        box = to_fixpoint(case)
        truths = box[3::2] if box else []
        if truths.count((0, 1)) > 1 and (1, 1) not in truths:
            every = [point for point in product(*(range(low, high + 1) for low, high in box)) if chooses(*point)]
            assert box == hull(np.array(every)), case
            moved += box != case.box
    assert moved > 10


def test_a_member_that_is_chosen_is_the_result():
    chosen = 0
    for case, _ in tell(WideKind.ELEMENT)[:250]:
        box = to_fixpoint(case)
        for truth, member in zip(box[3::2], box[4::2]) if box else ():
            if truth == (1, 1):
                assert member == box[0]
                break
        chosen += (1, 1) in (box or [])[3::2]
    assert chosen > 20


def mirrored(box: Box) -> Box:
    """The tasks where time runs backwards."""
    capacity, *rest = box
    tasks = [rest[i : i + 3] for i in range(0, len(rest), 3)]
    back = [[(-high - length[0], -low - length[0]), length, use] for (low, high), length, use in tasks]
    return [capacity, *(ends for task in back for ends in task)]


def is_too_crowded(box: Box) -> bool:
    """Whether, from an earliest start to a latest end, tasks that lie there and what others are sure to use leave no
    room for another one that begins there as early as it can."""
    (_, capacity), *rest = box
    tasks = [(*rest[i], rest[i + 1][0], rest[i + 2][0]) for i in range(0, len(rest), 3)]
    for begin in {low for low, *_ in tasks}:
        for end in {high + length for _, high, length, _ in tasks}:
            needed, more = 0, 0
            for low, high, length, use in tasks:
                sure = max(min(low + length, end) - max(high, begin), 0)
                needed += use * (length if low >= begin and high + length <= end else sure)
                if low >= begin and high + length > end:
                    more = max(more, use * (min(length, end - low) - sure))
            if begin < end and needed + more > capacity * (end - begin):
                return True
    return False


def test_at_its_fixpoint_energy_leaves_no_task_where_a_window_is_too_small():
    """Or there is no solution."""
    moved = 0
    for case, _ in tell(WideKind.ENERGY)[:500]:
        box = to_fixpoint(case)
        moved += box != case.box
        assert box is None or not is_too_crowded(box) and not is_too_crowded(mirrored(box)), (case, box)
    assert moved > 75


def test_a_row_that_finds_nothing_by_energy_waits_longer_each_time_up_to_a_limit():
    delays = [0]
    while len(delays) < 9:
        delays.append(cpu_rows(32).delay_after(delays[-1], 0))
    assert delays == [0, 1, 3, 7, 15, 31, 63, 63, 63]
    assert cpu_rows(32).delay_after(63, 1) == 0


def closes_early(sure: list[tuple[int, int]], needed: set[int]) -> bool:
    """Whether edges, no two from a node or to one, have a cycle without some node that is needed."""
    follows = {i: j for i, j in sure if i != j}
    for start in follows:
        walk, at = {start}, follows[start]
        while at in follows and at not in walk:
            walk.add(at)
            at = follows[at]
        if at == start and needed - walk:
            return True
    return False


def reached_from(start: int, edges: list[tuple[int, int]]) -> set[int]:
    seen = {start}
    while more := {j for i, j in edges if i in seen} - seen:
        seen |= more
    return seen


def test_at_its_fixpoint_a_circuit_closes_no_chain_and_reaches_all_that_is_not_left_out():
    moved = 0
    for case, _ in tell(WideKind.CIRCUIT)[:500]:
        box = to_fixpoint(case)
        moved += box != case.box
        if box is None:
            continue
        (n, _), *rest = box
        edges = [(truth, (i, j)) for truth, (i, _), (j, _) in zip(rest[::3], rest[1::3], rest[2::3])]
        sure, left = ([edge for truth, edge in edges if truth[end]] for end in (0, 1))
        needed = {i for i in range(n) if (i, i) not in left}
        for truth, edge in edges if needed else ():
            with_edge = [*sure, edge]
            is_path = all(len(set(ends)) == len(ends) for ends in zip(*with_edge))
            assert truth != (0, 1) or not is_path or not closes_early(with_edge, needed), (case, box)
        if not needed:
            continue
        unreached = set(range(n)) - reached_from(min(needed), left)
        unreached |= set(range(n)) - reached_from(min(needed), [(j, i) for i, j in left])
        assert all((i, i) in sure for i in unreached), (case, box)
    assert moved > 25


def test_at_its_fixpoint_reach_is_the_hull_of_its_solutions():
    moved = 0
    for case, _ in tell(WideKind.REACHABLE)[:500]:
        allowed, box = points(case, case.box), to_fixpoint(case)
        assert box == (hull(allowed) if len(allowed) else None), case
        moved += box != case.box
    assert moved > 75


@pytest.mark.parametrize("kind", [WideKind.CIRCUIT, WideKind.REACHABLE], ids=str)
def test_the_host_says_the_same_of_a_graph(kind):
    for case, _ in tell(kind)[:60]:
        size, width = SHAPES[kind]
        wide = Wide(kind, np.arange(size), np.arange(size, len(case.root)).reshape(-1, width))
        for point in product(*(range(low, high + 1) for low, high in case.root)):
            assert wide.holds(np.array(point)) == case.allows(*point), point
