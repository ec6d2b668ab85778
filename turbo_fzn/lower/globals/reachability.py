"""connected, reachable, tree, and their directed forms: nodes and edges that are in a subgraph, whose nodes reach each
other.

Rows give each node its distance from the source over edges that are in, as breadth-first search would: 1 plus the least
distance of a predecessor, or n without a predecessor. The equations have one solution: the least distance among
unreached nodes comes from another unreached node, so it is n. So all variables are functions of the edges, and each
solution is found once. A wide row propagates the graph as a whole, where the root is known or edges have no direction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import NamedTuple

from turbo_fzn.base.domains import IntSet
from turbo_fzn.lower import bulk, inner, linear
from turbo_fzn.lower import constraints_bool as boolean
from turbo_fzn.lower.builder import RowBuilder
from turbo_fzn.lower.globals.logic import conclude, truth, within
from turbo_fzn.tnf.language import ADD, EQ, LEQ, MAX, MIN, MUL
from turbo_fzn.tnf.wide import WideKind


class Graph(NamedTuple):
    """A graph over the nodes 0..n-1 whose `nodes` and `edges` are truths of being in; an edge leads from one of `tails`
    to one of `heads`, or also back where it has no direction."""

    nodes: Sequence[int]
    edges: Sequence[int]
    tails: Sequence[int]
    heads: Sequence[int]
    directed: bool


def connected(
    b: RowBuilder, tails: Sequence[int], heads: Sequence[int], ns: Sequence[int], first: int, es: Sequence[int], r: int
) -> None:
    """r = (some nodes are in, and all of these reach each other over edges that are in)."""
    parts: list[int] = []
    graph = _graph(tails, heads, ns, first, es, directed=False)
    boolean.disjunction(b, ns, truth(b, r, parts))
    reach(b, graph, _first_of(b, ns), -1, r, parts)
    conclude(b, r, parts)


def _rooted(directed: bool, is_tree: bool) -> Callable[..., None]:
    def lower(
        b: RowBuilder,
        n: int,
        m: int,
        tails: Sequence[int],
        heads: Sequence[int],
        root: int,
        ns: Sequence[int],
        first: int,
        es: Sequence[int],
        r: int,
    ) -> None:
        """r = (the root is in, and reaches all nodes that are in over edges that are in; if they must be a tree, there
        is one edge less than nodes)."""
        parts: list[int] = []
        graph = _graph(tails, heads, ns, first, es, directed)
        within(b, [root], IntSet.interval(first, first + n - 1), r, parts)
        is_root = [b.find(bulk.shared(b, EQ, root, b.constant(first + i))) for i in range(n)]
        for source, node in zip(is_root, ns):
            b.define(truth(b, r, parts), LEQ, source, node)
        if is_tree:
            linear.eq(b, [1] * m + [-1] * n, [*es, *ns], -1, truth(b, r, parts))
        known = next((i for i, source in enumerate(is_root) if b.value(source) == 1), -2)
        reach(b, graph, is_root, known if directed else -1, r, parts)
        conclude(b, r, parts)

    return lower


def _graph(
    tails: Sequence[int], heads: Sequence[int], ns: Sequence[int], first: int, es: Sequence[int], directed: bool
) -> Graph:
    return Graph(ns, es, [i - first for i in tails], [j - first for j in heads], directed)


def _first_of(b: RowBuilder, nodes: Sequence[int]) -> list[int]:
    """For each node the truth of "it is the first node that is in"."""
    away = [b.negation(node) for node in nodes]
    none_before = accumulate(away, lambda none, out: b.row(MIN, none, out), initial=b.true)
    return [b.row(MIN, node, none) for node, none in zip(nodes, none_before)]


def reach(b: RowBuilder, graph: Graph, is_source: Sequence[int], root: int, r: int, parts: list[int]) -> None:
    """Adds parts of r: ends of edges that are in are in, and nodes that are in are reached from the source. `root`: the
    source if it is known, -1 where edges have no direction, else another negative number."""
    for edge, i, j in zip(graph.edges, graph.tails, graph.heads):
        for end in {i, j}:
            b.define(truth(b, r, parts), LEQ, edge, graph.nodes[end])
    start, most = b.mark(), b.constant(len(graph.nodes) - 1)
    for node, distance in zip(graph.nodes, _distances(b, graph, is_source)):
        b.define(truth(b, r, parts), LEQ, node, b.row(LEQ, distance, most))
    if b.value(r) == 1 and root >= -1:
        constant = [b.constant(i) for i in range(len(graph.nodes))]
        groups = [(node, i, i) for node, i in zip(graph.nodes, constant)]
        groups += [(e, constant[i], constant[j]) for e, i, j in zip(graph.edges, graph.tails, graph.heads) if i != j]
        head = [b.constant(len(graph.nodes)), b.constant(root)]
        b.wides.add(WideKind.REACHABLE, head, groups, inner.span(b, start, b.mark()))


def _distances(b: RowBuilder, graph: Graph, is_source: Sequence[int]) -> list[int]:
    """The distance of each node from the source, or n where it is not reached."""
    n = len(graph.nodes)
    distance = [b.false if b.value(source) == 1 else b.variable(0, n) for source in is_source]
    behind = [b.row(ADD, v, b.true) for v in distance]
    ways = [[b.row(MUL, b.negation(source), b.constant(n))] for source in is_source]
    for edge, i, j in zip(graph.edges, graph.tails, graph.heads):
        closed = b.row(MUL, b.negation(edge), b.constant(n + 1))
        for tail, head in [(i, j)] if graph.directed else [(i, j), (j, i)]:
            if i != j and b.value(is_source[head]) != 1:
                ways[head].append(b.row(MAX, behind[tail], closed))
    for v, source, leaves in zip(distance, is_source, ways):
        if b.value(source) != 1:
            b.define_tree(v, MIN, leaves, n)
    return distance


LOWERINGS: dict[str, Callable[..., None]] = {
    "turbo_connected": connected,
    "turbo_reachable": _rooted(directed=False, is_tree=False),
    "turbo_dreachable": _rooted(directed=True, is_tree=False),
    "turbo_tree": _rooted(directed=False, is_tree=True),
    "turbo_dtree": _rooted(directed=True, is_tree=True),
}
