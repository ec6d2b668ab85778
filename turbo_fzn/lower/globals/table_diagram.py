"""A large table as a decision diagram, where that is small: prefixes of rows that have the same suffixes lead to one
node (Cheng and Yap 2010). It is stated like an automaton, by truth values of nodes and edges (automata.py), which
remove a value as soon as no remaining row contains it.

The nodes are made from the last column backwards. Behind the last column there is a single node; two prefixes have the
same node when the same values lead from them to the same nodes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from turbo_fzn.lower import bulk
from turbo_fzn.lower.builder import RowBuilder
from turbo_fzn.lower.globals.automata import Layer, accept, graph_of_values, paths
from turbo_fzn.lower.globals.table_relation import Relation
from turbo_fzn.lower.tuning import TUNING
from turbo_fzn.tnf.arrays import distinct


def diagram_of(b: RowBuilder, relation: Relation) -> list[Layer] | None:
    """The edges of each column, which has nodes of its own, from 0 in front of it to 0 behind the last column; None
    where they are too many."""
    key = "diagram", relation.number
    if key not in b.plans:
        b.plans[key] = _make_diagram(relation)
    return b.plans[key]


def _make_diagram(relation: Relation) -> list[Layer] | None:
    begins = _begins(relation)
    rows, behind = np.arange(relation.n_rows), np.zeros(relation.n_rows, np.int64)
    layers: list[Layer] = []
    for column in range(len(relation.values) - 1, -1, -1):
        starts = np.flatnonzero(begins[column][rows])
        n_values = len(relation.values[column])
        found = _share(behind * n_values + relation.places[column][rows], starts)
        if found is None:
            return None
        nodes, rows, behind = found[0], rows[starts], found[1]
        edges = np.concatenate(nodes)
        before = np.repeat(np.arange(len(nodes)), [len(node) for node in nodes])
        values = relation.values[column][edges % n_values]
        layers.append(Layer(before, edges // n_values, values, np.zeros(len(edges), np.int64)))
        if sum(len(layer.before) for layer in layers) > TUNING.diagram_edges:
            return None
    return layers[::-1]


def _begins(relation: Relation) -> list[np.ndarray]:
    """For each column, the rows that differ from the previous row in an earlier column; the first row counts."""
    begins = [np.arange(relation.n_rows) == 0]
    for places in relation.places[:-1]:
        differs = begins[-1].copy()
        differs[1:] |= places[1:] != places[:-1]
        begins.append(differs)
    return begins


def _share(edges: np.ndarray, starts: np.ndarray) -> tuple[list[np.ndarray], np.ndarray] | None:
    """The distinct sequences among the sequences of edges that begin at `starts`, and the number of each sequence; None
    where they are too many."""
    text, size = edges.tobytes(), edges.itemsize
    ends = (np.append(starts[1:], len(edges)) * size).tolist()
    begins = (starts * size).tolist()
    known: dict[bytes, int] = {}
    number: list[int] = []
    for here in range(0, len(begins), TUNING.diagram_nodes_at_once):
        spans = zip(
            begins[here : here + TUNING.diagram_nodes_at_once], ends[here : here + TUNING.diagram_nodes_at_once]
        )
        number += [known.setdefault(text[begin:end], len(known)) for begin, end in spans]
        if len(known) > TUNING.diagram_edges:
            return None
    return [np.frombuffer(one, edges.dtype) for one in known], np.array(number, np.int64)


def n_rows_of(diagram: Sequence[Layer]) -> int:
    """An estimate of the number of rows that state it."""
    return TUNING.rows_of_edge * sum(len(layer.before) for layer in diagram)


def state_diagram(b: RowBuilder, x: Sequence[int], diagram: Sequence[Layer]) -> None:
    """States that the variables are a path; each of their values must be on a path."""
    n_nodes = 1 + max(int(layer.before.max()) for layer in diagram)
    accepting = np.arange(n_nodes) == 0
    layers = paths(b, x, diagram, n_nodes, 0, accepting)
    for v, layer in zip(x, layers):
        bulk.restrict_to(b, v, distinct(layer.label))
    accept(b, graph_of_values(b, x, layers, n_nodes), 0, accepting, None, b.true)
