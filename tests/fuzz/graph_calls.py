"""Random calls of the graph constraints: nodes and edges that are in, near what satisfies them."""

from __future__ import annotations

from collections.abc import Callable

from fuzz.drawer import Drawer


def network(d: Drawer, grows: Callable[[set, int, int], bool]) -> list:
    """Edges, and the nodes and edges of a part of them that grows from a node by edges that `grows` takes, given what
    has been reached, or perhaps has others besides. Returns nodes, edges, and the arguments between."""
    n = d.size() or 1
    first = d.near(1) - d.random.randint(0, n)
    ends = [(d.random.randrange(n), d.random.randrange(n)) for _ in range(d.random.randint(0, n + 2))]
    root = d.random.randrange(n)
    reached, taken = {root}, set()
    for _ in range(n):
        for k, (i, j) in enumerate(ends):
            if k not in taken and d.random.random() < 0.7 and grows(reached, i, j):
                reached |= {i, j}
                taken.add(k)
    ns = [d.truth(i in reached) for i in range(n)]
    es = [d.truth(k in taken) for k in range(len(ends))]
    tails, heads = ([first + pair[end] for pair in ends] for end in (0, 1))
    return [tails, heads, first + root, ns, first, es]


def rooted(d: Drawer, directed: bool, is_tree: bool) -> list:
    def grows(reached: set, i: int, j: int) -> bool:
        return (i in reached or (j in reached and not directed)) and not (is_tree and {i, j} <= reached)

    tails, heads, root, ns, first, es = network(d, grows)
    return [len(ns), len(es), tails, heads, d.hold(root), ns, first, es]


def connected(d: Drawer) -> list:
    tails, heads, _, ns, first, es = network(d, lambda reached, i, j: i in reached or j in reached)
    return [tails, heads, ns, first, es]
