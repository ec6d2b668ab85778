"""Tests that the sizes of arguments are consistent, beyond arrays of one length.

MiniZinc ensures it, other writers of FlatZinc may not. Arguments are the arguments of a predicate in its plain form, as
they are lowered (signature.py); further arguments are ignored.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from turbo_fzn.base.domains import IntSet


def is_table(x: Sequence[int], n_rows: int, cells: Sequence[int], *_: Any) -> bool:
    return n_rows >= 0 and len(cells) == n_rows * len(x)


def is_interval_table(x: Sequence[int], n_rows: int, low: Sequence[int], high: Sequence[int], *_: Any) -> bool:
    return n_rows >= 0 and len(low) == len(high) == n_rows * len(x)


def is_automaton(_: Any, n_states: int, letters: IntSet, d: Sequence[int], *rest: Any) -> bool:
    costs = rest[2] if len(rest) > 3 else d
    return not letters.has_holes and n_states >= 0 and len(d) == len(costs) == n_states * letters.size


def is_diagram(
    _: Any, n: int, level: Sequence[int], n_edges: int, source: Sequence[int], *sides: Sequence[Any]
) -> bool:
    """Whether every edge leads from a node of 1 to n to a node of 0 to n, and no value labels two edges of a node."""
    lists = [side for side in sides if isinstance(side, list)]
    nodes = all(1 <= node <= n for node in source) and all(0 <= node <= n for node in lists[-1])
    fits = nodes and len(level) == n and all(len(side) == n_edges for side in (source, *lists))
    return fits and _is_deterministic(source, lists[0])


def _is_deterministic(source: Sequence[int], labels: Sequence[IntSet]) -> bool:
    """Whether the labels (IntSet) of the edges that leave one node have no value in common."""
    leaving = sorted((node, *pair) for node, label in zip(source, labels) for pair in label.ranges)
    return all(node != following or high < low for (node, _, high), (following, low, _) in pairwise(leaving))


def is_graph(
    tails: Sequence[int], heads: Sequence[int], ns: Sequence[Any], first: int, es: Sequence[Any], *_: Any
) -> bool:
    """Whether each edge has two ends among the nodes."""
    nodes = range(first, first + len(ns))
    return len(tails) == len(heads) == len(es) and all(i in nodes and j in nodes for i, j in zip(tails, heads))


def is_rooted(n: int, m: int, tails: Sequence[int], heads: Sequence[int], _: Any, *rest: Any) -> bool:
    ns, _, es, *_ = rest
    return len(ns) == n and len(es) == m and is_graph(tails, heads, *rest)


def is_window(low: int, high: int, length: int, *_: Any) -> bool:
    return length >= 0


def is_boxes(k: int, positions: Sequence[int], sizes: Sequence[int], *_: Any) -> bool:
    return k >= 0 and len(positions) == len(sizes) and len(positions) % max(k, 1) == 0
