"""The rows of circuits: the degree equations of the travelling salesman, and cuts against subtours.

A circuit leaves each set S that has some of the nodes but not all: at most |S| - 1 of the arcs that begin in S end in S
(subtour elimination, Dantzig, Fulkerson and Johnson 1954). There are exponentially many of these inequalities, so only
violated ones are made: for the components of the linear program's solution without its weak arcs, and for a minimum cut
(Stoer and Wagner 1997).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from turbo_fzn.bounds.lp.relaxation import FALSE, Affine, collect, negation
from turbo_fzn.bounds.rows.counting import values_of
from turbo_fzn.bounds.rows.linearizer import Linearizer
from turbo_fzn.bounds.rows.tuning import TUNING

# Arcs above each of these weights connect a part of a tour.
THRESHOLDS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)  # formula: tenths


class Tour(NamedTuple):
    """A circuit of `size` nodes; `arcs[i, j]` is the truth that j follows i. With `loops`, a node that follows itself
    is not on the circuit."""

    size: int
    arcs: dict[tuple[int, int], Affine]
    loops: bool

    def cuts(self, values: np.ndarray) -> Iterator[tuple[dict[int, int], int, float]]:
        """(entries, side, excess) of inequalities that the point (float [n]) violates, each once."""
        weights = self.weights(values)
        seen: set[bytes] = set()
        for part in parts(weights):
            inside = part if 2 * part.sum() <= self.size else ~part
            if inside.tobytes() not in seen and 0 < inside.sum() < self.size:
                seen.add(inside.tobytes())
                entries, constant = collect(self.inequality(inside, weights))
                excess = sum(value * values[column] for column, value in entries.items()) + constant
                if entries and excess > TUNING.excess:
                    yield entries, -constant, float(excess)

    def weights(self, values: np.ndarray) -> np.ndarray:
        """The values of the arcs at the point, as float [size, size]."""
        weights = np.zeros((self.size, self.size))
        for (i, j), (column, coefficient, constant) in self.arcs.items():
            weights[i, j] = coefficient * values[column] + constant if column >= 0 else constant
        return weights

    def inequality(self, inside: np.ndarray, weights: np.ndarray) -> list[tuple[int, Affine]]:
        """Terms whose sum is at most 0. With loops, the inequality holds where a node of each side is on the circuit:
        for each side, the node with the least loop at the point."""
        within = [(1, arc) for (i, j), arc in self.arcs.items() if i != j and inside[i] and inside[j]]
        if not self.loops:
            return [*within, (1 - int(inside.sum()), Affine(-1, 0, 1))]
        within += [(1, self.loop(int(i))) for i in np.flatnonzero(inside)]  # a node off the circuit has no outgoing arc
        loops = np.diagonal(weights)
        here, there = (int(np.flatnonzero(side)[np.argmin(loops[side])]) for side in (inside, ~inside))
        on = [(1, negation(self.loop(here))), (1, negation(self.loop(there)))]
        return [*within, *on, (-1 - int(inside.sum()), Affine(-1, 0, 1))]

    def loop(self, node: int) -> Affine:
        return self.arcs.get((node, node), FALSE)


def parts(weights: np.ndarray) -> Iterator[np.ndarray]:
    """Sets of nodes (bool [size]) that arcs of little weight leave."""
    both = weights + weights.T
    np.fill_diagonal(both, 0)
    for threshold in THRESHOLDS:
        labels = _components(both > threshold + 1e-6)
        if labels.max() > 0:
            yield from (labels == label for label in range(labels.max() + 1))
    yield least_cut(both)


def _components(linked: np.ndarray) -> np.ndarray:
    """The number of its component for each node of a symmetric graph (bool [size, size])."""
    labels = np.full(len(linked), -1)
    for node in range(len(linked)):
        if labels[node] < 0:
            found = np.zeros(len(linked), bool)
            found[node], reached = True, 0
            while found.sum() > reached:
                reached = found.sum()
                found |= linked[found].any(axis=0)
            labels[found] = labels.max() + 1
    return labels


def least_cut(weights: np.ndarray) -> np.ndarray:
    """One side (bool [size]) of a minimum cut of a symmetric graph (float [size, size])."""
    size = len(weights)
    merged, weights = np.eye(size, dtype=bool), weights.copy()
    alive, best, side = np.ones(size, bool), np.inf, np.zeros(size, bool)
    while alive.sum() > 1:
        last, before, cost = _farthest(weights, alive)
        if cost < best:
            best, side = cost, merged[last].copy()
        merged[before] |= merged[last]
        weights[before] += weights[last]
        weights[:, before] += weights[:, last]
        weights[before, before] = 0
        alive[last] = False
    return side


def _farthest(weights: np.ndarray, alive: np.ndarray) -> tuple[int, int, float]:
    """The last two nodes of a maximum adjacency order, and the weight between the last node and all others."""
    left = alive.copy()
    node = before = int(np.flatnonzero(alive)[0])
    ties, cost = np.zeros(len(weights)), 0.0
    for _ in range(int(alive.sum()) - 1):
        left[node] = False
        ties += weights[node]
        before, node = node, int(np.flatnonzero(left)[np.argmax(ties[left])])
        cost = float(ties[node])
    return node, before, cost


def tour(loops: bool) -> Callable[..., None]:
    """The form of circuit, or with `loops` of subcircuit: degree equations, and a Tour as separator."""
    def form(m: Linearizer, x: Any, first: Any) -> None:
        terms, start = m.array(x), m.term(first).constant
        m.distinct.append(terms)
        truths = values_of(m, terms) if 1 < len(terms) <= TUNING.tour_nodes else None
        if truths is None:
            return
        arcs = {
            (i, value - start): literal
            for i, values in enumerate(truths)
            for value, literal in values.items()
            if 0 <= value - start < len(terms) and (loops or value - start != i)
        }
        for i in range(len(terms)):
            m.builder.add([(1, arc) for (source, _), arc in arcs.items() if source == i], 1, 1)
        m.builder.separators.append(Tour(len(terms), arcs, loops))

    return form


FORMS = {"turbo_circuit": tour(False), "turbo_subcircuit": tour(True)}
