"""circuit and subcircuit: a tour through all nodes, or through some, where the others are their own successors.

The nodes are numbered along the tour, beginning with the first node (Miller, Tucker and Zemlin 1960). x[i] = j has a
truth value, shared with all_different, and implies that the numbers of i and j are consecutive: a row for each pair. As
a truth value, a tour is a walk from its first node, which is a function of x, so that its variables are fixed with x.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from turbo_fzn.base.domains import IntSet
from turbo_fzn.lower import bulk
from turbo_fzn.lower import constraints_bool as boolean
from turbo_fzn.lower import constraints_int as integer
from turbo_fzn.lower.builder import RowBuilder
from turbo_fzn.lower.globals.different import all_different
from turbo_fzn.lower.globals.logic import truth
from turbo_fzn.lower.narrow import Left, Narrower
from turbo_fzn.tnf.language import ADD, EQ, LEQ, MAX, MIN, MUL
from turbo_fzn.tnf.wide import WideKind


def circuit(b: RowBuilder, x: Sequence[int], first: int, r: int) -> None:
    """r = (x[i] is the node after i on one tour through all nodes, numbered from `first`)."""
    n = len(x)
    if n == 0:
        return b.merge(r, b.true)
    if b.value(r) != 1:
        return _closed_walk(b, x, first, r)
    for i, v in enumerate(x):
        bulk.restrict_to(b, v, _others(first, n, i))
    all_different(b, x, r)
    number = np.array([b.true] + [b.variable(2, n) for _ in range(n - 1)], np.int64)
    behind = np.array([b.row(ADD, v, b.true) for v in number.tolist()], np.int64)
    is_last = np.array([b.row(EQ, v, b.constant(n)) for v in number.tolist()], np.int64)
    follows, i, j = _edges(b, x, first).T
    right = is_last[i]
    right[j > 0] = bulk.truths(b, EQ, number[j[j > 0]], behind[i[j > 0]])
    bulk.state(b, LEQ, b.true, follows, right)
    return None


def _edges(b: RowBuilder, x: Sequence[int], first: int) -> np.ndarray:
    """The truth of x[i] = first + j, i and j, where it may hold (int64 [k, 3], in the order of i). A wide row uses them
    all."""
    edges = [
        (b.find(bulk.shared(b, EQ, v, b.constant(value))), i, value - first)
        for i, v in enumerate(x)
        for value in bulk.domain(b, v)
    ]
    nodes = [b.constant(i) for i in range(len(x))]
    edges = [edge for edge in edges if b.value(edge[0]) != 0]
    b.wides.add(WideKind.CIRCUIT, [b.constant(len(x))], [(truth, nodes[i], nodes[j]) for truth, i, j in edges])
    return np.array(edges, np.int64).reshape(-1, 3)


def _others(first: int, n: int, i: int) -> IntSet:
    """All nodes but the one at place i."""
    return IntSet.of_ranges([(first, first + i - 1), (first + i + 1, first + n - 1)])


def subcircuit(b: RowBuilder, x: Sequence[int], first: int, r: int) -> None:
    """r = (x[i] is the node after i on one tour, or i itself where it is not on the tour)."""
    n = len(x)
    if n == 0:
        return b.merge(r, b.true)
    if b.value(r) != 1:
        return _closed_subwalk(b, x, first, r)
    for v in x:
        bulk.restrict_to(b, v, IntSet.interval(first, first + n - 1))
    all_different(b, x, r)
    off = [bulk.shared(b, EQ, v, b.constant(first + i)) for i, v in enumerate(x)]
    is_first = _first_on_tour(b, off)
    number = np.array([b.variable(1, n) for _ in x], np.int64)
    behind = np.array([b.row(ADD, v, b.true) for v in number.tolist()], np.int64)
    for i, v in enumerate(number.tolist()):
        counted = b.row(MIN, b.negation(off[i]), b.negation(is_first[i]))
        b.define(b.true, MAX, counted, b.row(EQ, v, b.true))
    edges = _edges(b, x, first)
    follows, i, j = edges[edges[:, 1] != edges[:, 2]].T
    right = bulk.truths(b, MAX, np.array(is_first, np.int64)[j], bulk.truths(b, EQ, number[j], behind[i]))
    bulk.state(b, LEQ, b.true, follows, right)
    return None


def _first_on_tour(b: RowBuilder, off: Sequence[int]) -> list[int]:
    """For each node the truth of "it is the first node on the tour"."""
    result, none_before = [], b.true
    for away in off:
        result.append(b.row(MIN, none_before, b.negation(away)))
        none_before = b.row(MIN, none_before, away)
    return result


# As truth values


def inside(b: RowBuilder, x: Sequence[int], first: int, r: int, parts: list[int]) -> list[int]:
    """x with values outside of the nodes replaced by the node itself; a part of r is that there are no such values."""
    nodes = IntSet.interval(first, first + len(x) - 1)
    kept = []
    for i, v in enumerate(x):
        if nodes & bulk.domain(b, v) == bulk.domain(b, v):
            kept.append(v)
            continue
        stays = truth(b, b.false, parts)
        integer.member(b, v, nodes, stays)
        away = b.row(ADD, stays, b.true)  # 1 or 2: an index
        target = b.variable(nodes.lower, nodes.upper)
        clipped = b.row(MIN, b.row(MAX, v, b.constant(nodes.lower)), b.constant(nodes.upper))
        integer.define_element(b, target, away, [b.constant(first + i), clipped])
        kept.append(b.find(target))
    return kept


def walk(b: RowBuilder, x: Sequence[int], first: int, start: int, steps: int) -> list[int]:
    """The nodes of a walk from `start` after 1, 2, ... steps; all values of x must be nodes."""
    places, at = [], start
    for _ in range(steps):
        index = at if first == 1 else b.row(ADD, at, b.constant(1 - first))
        at = b.variable(first, first + len(x) - 1)
        integer.define_element(b, at, index, x)
        at = b.find(at)
        places.append(at)
    return places


def _closed_walk(b: RowBuilder, x: Sequence[int], first: int, r: int) -> None:
    """r = (a walk from the first node is back there after n steps, and not before)."""
    parts: list[int] = []
    n, start = len(x), b.constant(first)
    for i, v in enumerate(x):
        integer.ne(b, v, b.constant(first + i), truth(b, b.false, parts))
    *between, end = walk(b, inside(b, x, first, r, parts), first, start, n)
    for at in between:
        integer.ne(b, at, start, truth(b, b.false, parts))
    boolean.conjunction(b, [*parts, b.row(EQ, end, start)], r)


def _closed_subwalk(b: RowBuilder, x: Sequence[int], first: int, r: int) -> None:
    """r = (with m nodes on the tour, a walk from the first of them is back there after m steps, and not before).

    Then it has visited m nodes that are not their own successors: all nodes on the tour.
    """
    parts: list[int] = []
    n = len(x)
    off = [bulk.shared(b, EQ, v, b.constant(first + i)) for i, v in enumerate(x)]
    m = b.tree(ADD, [b.negation(v) for v in off], 0)
    is_first = _first_on_tour(b, off)
    index = b.tree(ADD, [b.row(MUL, v, b.constant(i)) for i, v in enumerate(is_first)], 0)
    start = b.row(ADD, index, b.constant(first))
    for k, at in enumerate(walk(b, inside(b, x, first, r, parts), first, start, n), 1):
        back = b.row(EQ, at, start)
        is_last, is_later = b.row(EQ, m, b.constant(k)), b.row(LEQ, b.constant(k + 1), m)
        parts.append(b.row(LEQ, is_last, back))
        parts.append(b.negation(b.row(MIN, is_later, back)))
    boolean.conjunction(b, parts, r)


def other_nodes(b: RowBuilder, x: Sequence[int], first: int) -> Left:
    for i, v in enumerate(x):
        yield v, _others(first, len(x), i)


def nodes(b: RowBuilder, x: Sequence[int], first: int) -> Left:
    for v in x:
        yield v, IntSet.interval(first, first + len(x) - 1)


NARROWERS: dict[str, Narrower] = {"turbo_circuit": other_nodes, "turbo_subcircuit": nodes}
LOWERINGS: dict[str, Callable[..., None]] = {
    "turbo_circuit": circuit,
    "turbo_subcircuit": subcircuit,
}
