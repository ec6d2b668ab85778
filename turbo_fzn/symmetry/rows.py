"""TNF -> a coloured graph as that of a model (graph.py), for a search whose symmetries are broken in its proof.

The constraints are the fused rows and clauses, and the rows that these do not replace; links have no vertex. So a sum
is one constraint, whose terms may be permuted, and not a tree that gives each of them a place.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import numpy as np

from turbo_fzn.symmetry.graph import Graph
from turbo_fzn.symmetry.tuning import TUNING
from turbo_fzn.tnf.fuse import Fused
from turbo_fzn.tnf.language import COMMUTATIVE, ELEMENT, MUL, TNF


def graph_of_rows(tnf: TNF, fused: Fused) -> Graph | None:
    """The graph of the rows, whose variables are those of the TNF; None if there are too many."""
    if tnf.n_rows > TUNING.constraints:
        return None
    reader = _Reader(tnf)
    reader.read(fused)
    return reader.graph() if reader.arcs and len(reader.arcs) <= TUNING.arcs else None


class _Reader:
    """Reads the rows, and numbers kinds and labels in the order of their occurrence."""

    def __init__(self, tnf: TNF):
        self.tnf = tnf
        self.known: dict[Hashable, int] = {}
        self.lower, self.is_fixed = tnf.lower.tolist(), (tnf.lower == tnf.upper).tolist()
        self.kinds: list[int] = []
        self.arcs: list[tuple[int, int, int]] = []  # constraint, variable, label

    def read(self, fused: Fused) -> None:
        tnf = self.tnf
        rows = zip(*(column.tolist() for column in (tnf.op, tnf.x, tnf.y, tnf.z, fused.absorbed)))
        for op, x, y, z, is_absorbed in rows:
            if not is_absorbed:
                self.add_row(op, x, y, z)
        linears, clauses = fused.linears, fused.clauses
        heads = zip(*(column.tolist() for column in (linears.kind, linears.low, linears.high, linears.truth)))
        for row, (kind, low, high, truth) in enumerate(heads):
            self.add(("sum", kind, low, high), [*linears.terms(row), *([(truth, "truth")] if truth >= 0 else [])])
        for row in range(clauses.n_clauses):
            literals = clauses.literals[clauses.starts[row] : clauses.starts[row + 1]].tolist()
            self.add("clause", [(literal >> 1, literal & 1) for literal in literals])

    def add_row(self, op: int, x: int, y: int, z: int) -> None:
        if op == ELEMENT:
            tnf = self.tnf
            values = tnf.tables[z + tnf.lower[y] : z + tnf.upper[y] + 1].tolist()
            self.add((op, tuple(values)), [(x, "x"), (y, "y")])
        else:
            places = "yy" if op in COMMUTATIVE and op != MUL else "yz"  # encodings of products have cases of y or z
            self.add(op, [(x, "x"), *zip((y, z), places)])

    def add(self, kind: Hashable, terms: Iterable[tuple[int, Hashable]]) -> None:
        """Adds a constraint: variables with the labels of their places; constants belong to its kind."""
        labelled = list(terms)
        constants = sorted(((self.lower[v], label) for v, label in labelled if self.is_fixed[v]), key=repr)
        arcs = [(len(self.kinds), v, self.number((label,))) for v, label in labelled if not self.is_fixed[v]]
        if arcs:
            self.kinds.append(self.number((kind, *constants)))
            self.arcs += arcs

    def number(self, key: Hashable) -> int:
        return self.known.setdefault(key, len(self.known))

    def graph(self) -> Graph:
        tnf = self.tnf
        aims = np.zeros(tnf.n_vars, bool)
        aims[[tnf.objective] if tnf.sense else []] = True
        constraint, variable, label = np.array(self.arcs, np.int64).T
        ends = zip(tnf.lower.tolist(), tnf.upper.tolist(), aims.tolist())
        colours = np.array([self.number(("domain", *one)) for one in ends], np.int64)
        return Graph([], colours, np.array(self.kinds, np.int64), constraint, variable, label, self.rank())

    def rank(self) -> np.ndarray:
        """The ranks of the variables: those that the search names, in order, then those that no row defines."""
        tnf = self.tnf
        defined = np.zeros(tnf.n_vars, bool)
        defined[tnf.x] = True
        rank = np.arange(tnf.n_vars) + tnf.n_vars * (1 + defined)
        named = np.concatenate([np.zeros(0, np.int64), *(one.variables for one in tnf.strategies)])
        rank[named[::-1]] = np.arange(len(named))[::-1]  # the first place of each, which is written last
        return rank
