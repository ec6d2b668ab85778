"""Random wide rows of each kind with boxes, and what each kind means, value by value."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import NamedTuple

from support.explained_rows import Box, draw_interval
from turbo_fzn.tnf.wide import WideKind

MOST_EDGES = 8


class Case(NamedTuple):
    """A row, and boxes of (lower, upper) for each of its variables: the head's, then those of each group."""

    kind: WideKind
    root: Box
    box: Box

    def allows(self, *values: int) -> bool:
        return ALLOWS[self.kind](*values)


def differ(*values: int) -> bool:
    return len(set(values)) == len(values)


def fit(capacity: int, *tasks: int) -> bool:
    """At each time that is one of a task's, those that run use at most the capacity; and so does nothing."""
    groups = list(zip(tasks[::3], tasks[1::3], tasks[2::3]))
    times = range(min(tasks[::3]), max(start + length for start, length, _ in groups) + 1)
    used = [sum(use for start, length, use in groups if start <= time < start + length) for time in times]
    return max(used, default=0) <= capacity


def choose(result: int, index: int, first: int, *groups: int) -> bool:
    """The truths tell the index, and the member there is the result."""
    truths, members = groups[::2], groups[1::2]
    told = tuple(first + i == index for i in range(len(truths)))
    return truths == told and any(truths) and members[index - first] == result


def tour(n: int, *edges: int) -> bool:
    """One edge from each node, and a walk along them from one that is no loop is back after all such, not before."""
    true = [(i, j) for truth, i, j in zip(edges[::3], edges[1::3], edges[2::3]) if truth]
    follows = dict(true)
    if len(true) != n or len(follows) != n or len(set(follows.values())) != n:
        return False
    on = [i for i, j in follows.items() if i != j]
    seen, at = set(), on[0] if on else -1
    while at >= 0 and at not in seen:
        seen.add(at)
        at = follows[at]
    return len(seen) == len(on)


def reach(n: int, root: int, *groups: int) -> bool:
    """Each node that is in has a walk from the root, or from each other one that is in, of at most n steps."""
    nodes, edges = groups[: 3 * n], groups[3 * n :]
    inside = [i for i in range(n) if nodes[3 * i]]
    steps = {(i, j) for truth, i, j in zip(edges[::3], edges[1::3], edges[2::3]) if truth}
    steps |= {(j, i) for i, j in steps} if root < 0 else set()
    steps = {(i, j) for i, j in steps if j in inside}
    walks = {(i, i) for i in range(n)}
    for _ in range(n):
        walks |= {(i, k) for i, j in walks for at, k in steps if at == j}
    return all((i, j) in walks for i in ([root] if root >= 0 else inside) for j in inside)


ALLOWS: dict[WideKind, Callable[..., bool]] = {
    WideKind.ALL_DIFFERENT: differ,
    WideKind.CUMULATIVE: fit,
    WideKind.ELEMENT: choose,
    WideKind.ENERGY: fit,
    WideKind.CIRCUIT: tour,
    WideKind.REACHABLE: reach,
}


def draw_different(random: Random) -> Box:
    return [draw_interval(random, -2, 3) for _ in range(random.randint(2, 5))]


def draw_tasks(random: Random) -> Box:
    """Lengths and uses are constants, for the most part."""
    if random.random() < 0.1:
        return draw_long_beside_short(random)
    root = [draw_interval(random, 0, 4)]
    for _ in range(random.randint(2, 3)):
        length, use = ((v, v + (random.random() < 0.2)) for v in (random.randint(0, 3), random.randint(0, 3)))
        root += [draw_interval(random, -2, 4), length, use]
    return root


def draw_long_beside_short(random: Random) -> Box:
    """A task behind which a short one is moved at once, not step by step; perhaps another one that begins with it."""
    start, length, use = random.randint(-2, 0), random.randint(13, 18), random.randint(1, 2)
    root = [(random.randint(1, 2), 3), (start, start + 3), (length - (random.random() < 0.2), length), (use, 2)]
    if random.random() < 0.5:
        root += [(start, start + 1), (length, length), (1, 1)]
    return [*root, (random.randint(-3, 4), 20), (1, 1), (1, 1)]


def draw_crowded(random: Random) -> Box:
    """Tasks for which there may be too little room together, though none is sure to run at a time."""
    root = [draw_interval(random, 1, 3)]
    for _ in range(random.randint(2, 4)):
        length, use = random.randint(1, 3), random.randint(1, 2)
        root += [draw_interval(random, -2, 3), (length, length + (random.random() < 0.1)), (use, use)]
    return root


def draw_members(random: Random) -> Box:
    """The first index is a constant, as some members are."""
    n, first = random.randint(2, 3), random.randint(-1, 2)
    root = [draw_interval(random, 0, 3), draw_interval(random, first, first + n - 1), (first, first)]
    for _ in range(n):
        low, high = draw_interval(random, 0, 3)
        root += [random.choice([(0, 1), (0, 1), (0, 1), (0, 0)]), (low, high if random.random() < 0.7 else low)]
    return root


def draw_edges(random: Random) -> Box:
    """Two to four nodes, and from each one edge at least; some have no loop. There are no more than MOST_EDGES."""
    n = random.randint(2, 4)
    every = [(i, j) for i in range(n) for j in range(n)]
    some = {(i, random.randrange(n)) for i in range(n)}
    some |= set(random.sample(every, min(len(every), random.randint(n, MOST_EDGES - n))))
    edges = [((0, 1) if random.random() < 0.8 else (0, 0), (i, i), (j, j)) for i, j in sorted(some)]
    return [(n, n), *(ends for edge in edges for ends in edge)]


def draw_network(random: Random) -> Box:
    """Two to four nodes and up to five edges, some of them from a node to itself; some are in or out from the start."""
    n = random.randint(2, 4)
    ends = [(random.randrange(n), random.randrange(n)) for _ in range(random.randint(1, 5))]
    root, truth = random.choice([-1, random.randrange(n)]), lambda: random.choice([(0, 1)] * 8 + [(0, 0), (1, 1)])
    groups = [(truth(), (i, i), (j, j)) for i, j in [*((i, i) for i in range(n)), *ends]]
    return [(n, n), (root, root), *(ends for group in groups for ends in group)]


DRAWERS = {
    WideKind.ALL_DIFFERENT: draw_different,
    WideKind.CUMULATIVE: draw_tasks,
    WideKind.ELEMENT: draw_members,
    WideKind.ENERGY: draw_crowded,
    WideKind.CIRCUIT: draw_edges,
    WideKind.REACHABLE: draw_network,
}
# Of each kind: the variables of its head, and of a group.
SHAPES = {
    WideKind.ALL_DIFFERENT: (0, 1),
    WideKind.CUMULATIVE: (1, 3),
    WideKind.ELEMENT: (3, 2),
    WideKind.ENERGY: (1, 3),
    WideKind.CIRCUIT: (1, 3),
    WideKind.REACHABLE: (2, 3),
}


def draw(random: Random, kind: WideKind) -> Case:
    root = DRAWERS[kind](random)
    return Case(kind, root, [draw_interval(random, *ends) if random.random() < 0.7 else ends for ends in root])
