"""Loads along a circuit: the load of a path is limited, so large total loads need several paths.

An arc of a circuit may imply that a quantity grows along it, L_j >= L_i + d_ij: the load of a vehicle, or the time. Of
a set S of nodes, each part of the circuit that lies in S collects no more than the room C between the least L at which
S is entered and the greatest at which it is left. So there are at least ceil(q(S) / C) such parts, where q_j is the
least step to j, and one arc leaves S for each (capacity cuts, Laporte and Nobert 1983):

    arcs within S  <=  |S| - ceil(q(S) / C)

The model does not name the variable L of each node. It is found in the constraints of the arcs: rows by implication
from the truth of an arc, or from a literal that this implies, and an array that is read by the successors. The quantity
may also shrink, and may be seen against the direction of travel: four forms of one inequality.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from turbo_fzn.base.domains import INFINITY
from turbo_fzn.bounds.lp.relaxation import Affine, RelaxationBuilder, collect
from turbo_fzn.bounds.rows.cliques import Literal, literal_of, pair_of
from turbo_fzn.bounds.rows.linearizer import Linearizer
from turbo_fzn.bounds.rows.tours import Tour
from turbo_fzn.bounds.rows.tuning import TUNING


class Growth(NamedTuple):
    """The bounds of a load L and of its steps along the arcs, as floats; infinite where unknown.

    `arcs` (bool [size, size]): the arcs that exist; `low`, `high` [size]: bounds of L; `step` [size, size]: L_j - L_i
    is at least that along the arc from i to j; `entry`: L_j is at least that after the arc; `last`: L_i is at most that
    before it."""

    arcs: np.ndarray
    low: np.ndarray
    high: np.ndarray
    step: np.ndarray
    entry: np.ndarray
    last: np.ndarray

    def reversed(self) -> Growth:
        """The bounds of -L along the reversed arcs."""
        return Growth(self.arcs.T, -self.high, -self.low, self.step.T, -self.last.T, -self.entry.T)


class Loads(NamedTuple):
    """The customers of a tour: `need` is what each adds to the load (0 for other nodes); `low` is the least load at
    which a customer is entered, before it has added to it, and `high` the greatest at which it is left."""

    tour: Tour
    customers: np.ndarray
    need: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def cuts(self, values: np.ndarray) -> Iterator[tuple[dict[int, int], int, float]]:
        """Yields the violated capacity cuts (entries, side, excess)."""
        weights = self.tour.weights(values)
        np.fill_diagonal(weights, 0)
        sets = np.unique(np.concatenate(list(self.grow(weights + weights.T))), axis=0)
        parts = self.parts(sets)
        excess = ((sets @ weights) * sets).sum(axis=1) - sets.sum(axis=1) + parts
        for place in np.argsort(-excess, kind="stable")[: TUNING.load_cuts].tolist():
            if excess[place] > TUNING.excess:
                entries, constant = collect(self.inequality(sets[place], int(parts[place])))
                if entries:
                    yield entries, -constant, float(excess[place])

    def grow(self, ties: np.ndarray) -> Iterator[np.ndarray]:
        """Sets of customers (bool [sets, size]): from each of some seeds, by adding the customer that is tied most to
        it."""
        order = np.flatnonzero(self.customers)
        seeds = order[np.argsort(-self.need[order], kind="stable")][: TUNING.load_seeds]
        sets = np.zeros((len(seeds), self.tour.size), bool)
        sets[np.arange(len(seeds)), seeds] = True
        yield sets
        for _ in range(min(len(order), TUNING.load_steps) - 1):
            wanted = np.where(self.customers & ~sets, sets @ ties, -np.inf)
            sets = sets.copy()
            sets[np.arange(len(seeds)), wanted.argmax(axis=1)] = True
            yield sets

    def parts(self, sets: np.ndarray) -> np.ndarray:
        """The least number of parts of the circuit in each set of customers (bool [sets, size]); int64 [sets]."""
        room = np.where(sets, self.high, -np.inf).max(axis=1) - np.where(sets, self.low, np.inf).min(axis=1)
        needs, whole = (sets @ self.need).astype(np.int64), room.astype(np.int64)
        return np.where(whole > 0, -(-needs // np.maximum(whole, 1)), 1)

    def inequality(self, inside: np.ndarray, parts: int) -> list[tuple[int, Affine]]:
        """Terms whose sum is at most 0."""
        within = [(1, arc) for (i, j), arc in self.tour.arcs.items() if i != j and inside[i] and inside[j]]
        return [*within, (parts - int(inside.sum()), Affine(-1, 0, 1))]


def loads_of(tour: Tour, growth: Growth) -> Loads | None:
    """The customers are the nodes to which all arcs from nodes with a load have a step."""
    arcs = growth.arcs
    loaded = np.isfinite(growth.low) & np.isfinite(growth.high)
    between = arcs & loaded[:, None]
    steps = np.where(between, growth.step, np.inf)
    need = steps.min(axis=0)
    customers = loaded & np.isfinite(need)
    entered = np.maximum(np.maximum(growth.low, growth.entry), growth.low[:, None] + growth.step)
    left = np.minimum(np.minimum(growth.high[:, None], growth.last), growth.high - growth.step)
    low = np.where(arcs, entered, np.inf).min(axis=0)
    high = np.where(arcs, left, -np.inf).max(axis=1)
    customers &= np.isfinite(low) & np.isfinite(high)
    if customers.sum() < 2 or customers.all() or need[customers].max() <= 0:
        return None
    need = np.where(customers, need, 0)
    return Loads(tour, customers, need, low - need, high)


# Constraints of the model along arcs


class Difference(NamedTuple):
    """more - less >= least, of columns; -1 for none."""

    more: int
    less: int
    least: int


def _differences_of(entries: dict[int, int], low: int, high: int) -> Iterator[Difference]:
    """The differences of a row of one column or of the difference of two columns, with numbers that are not too
    large."""
    factors = list(entries.values())
    if factors not in ([1], [-1], [1, -1], [-1, 1]):
        return
    more = next((column for column, factor in entries.items() if factor > 0), -1)
    less = next((column for column, factor in entries.items() if factor < 0), -1)
    if abs(low) <= TUNING.load:
        yield Difference(more, less, low)
    if abs(high) <= TUNING.load:
        yield Difference(less, more, -high)


def add_loads(m: Linearizer) -> None:
    """Adds cuts for the loads along the circuits of the model; call it when all rows of the model have been made."""
    tours = [separator for separator in m.builder.separators if isinstance(separator, Tour) and not separator.loops]
    if tours:
        implied, plain = _implied(m), _plain(m)
        for tour in tours:
            m.builder.separators += _Along(m.builder, tour, implied, plain).loads()


def _implied(m: Linearizer) -> dict[Literal, list[Difference]]:
    """The differences that each literal implies, by itself or by another literal that it implies."""
    own: dict[Literal, list[Difference]] = {}
    for condition, terms, low, high in m.builder.implications:
        entries, constant = collect(terms)
        low, high = low if low == -INFINITY else low - constant, high if high == INFINITY else high - constant
        own.setdefault(literal_of(condition), []).extend(_differences_of(entries, low, high))
    implied = dict(own)
    for row in m.builder.rows:
        pair = pair_of(row, m.encoding.is_boolean)
        for literal, other in (pair, pair[::-1]) if pair else ():
            if other ^ 1 in own:
                implied[literal] = implied.get(literal, []) + own[other ^ 1]
    return implied


def _plain(m: Linearizer) -> dict[tuple[int, int], int]:
    """By (more, less): the lower bound of more - less in all solutions."""
    found: dict[tuple[int, int], int] = {}
    for entries, low, high in m.builder.rows:
        for more, less, least in _differences_of(entries, low, high) if len(entries) == 2 else ():
            found[more, less] = max(least, found.get((more, less), least))
    return found


class _Along:
    """The differences along the arcs of a tour."""

    def __init__(
        self,
        builder: RelaxationBuilder,
        tour: Tour,
        implied: dict[Literal, list[Difference]],
        plain: dict[tuple[int, int], int],
    ):
        self.builder, self.tour, self.plain = builder, tour, plain
        self.said = [
            (arc, difference)
            for arc, truth in tour.arcs.items()
            if truth.column >= 0 and arc[0] != arc[1]
            for difference in implied.get(literal_of(truth), ())
        ]
        self.nodes = self.find_nodes()

    def loads(self) -> Iterator[Loads]:
        for columns in self.together():
            heads, tails = self.ends_of(columns)
            if heads and tails:
                for sign in (1, -1):
                    growth = self.growth(heads, tails, sign)
                    found = (loads_of(self.tour, form) for form in (growth, growth.reversed()))
                    yield from (loads for loads in found if loads is not None)

    def find_nodes(self) -> dict[int, int]:
        """The node of each column: the node that all arcs with differences of the column have in common, and for a
        single arc the end that the other column does not take."""
        common: dict[int, set[int]] = {}
        for arc, (more, less, _) in self.said:
            for column in (more, less):
                common.setdefault(column, set(arc)).intersection_update(arc)
        nodes = {column: min(shared) for column, shared in common.items() if column >= 0 and len(shared) == 1}
        for (i, j), (more, less, _) in self.said:
            for column, other in ((more, less), (less, more)):
                if other in nodes and column >= 0 and len(common[column]) == 2:
                    nodes[column] = j if nodes[other] == i else i
        return nodes

    def together(self) -> Iterator[set[int]]:
        """The columns, in sets that differences connect: a set for each load."""
        neighbours: dict[int, set[int]] = {column: set() for column in self.nodes}
        ties = [(more, less) for _, (more, less, _) in self.said]
        ties += [(more, less) for more, less in self.plain if self.nodes.get(more, -1) == self.nodes.get(less, -2)]
        for more, less in ties:
            if more in neighbours and less in neighbours:
                neighbours[more].add(less)
                neighbours[less].add(more)
        while neighbours:
            found: set[int] = set()
            reached = {next(iter(neighbours))}
            while reached:
                found |= reached
                reached = set().union(*(neighbours.pop(column) for column in reached)) - found
            yield found

    def ends_of(self, columns: set[int]) -> tuple[dict[int, int], dict[int, int]]:
        """The column of each node where an arc ends, and where an arc begins; empty where they are ambiguous."""
        heads: dict[int, set[int]] = {}
        tails: dict[int, set[int]] = {}
        for (_, j), (more, less, _) in self.said:
            for column in {more, less} & columns:
                ends = heads if self.nodes[column] == j else tails
                ends.setdefault(self.nodes[column], set()).add(column)
        if any(len(found) > 1 for ends in (heads, tails) for found in ends.values()):
            return {}, {}
        at_head, at_tail = ({node: min(found) for node, found in ends.items()} for ends in (heads, tails))
        return at_head, at_tail

    def growth(self, heads: dict[int, int], tails: dict[int, int], sign: int) -> Growth:
        """The bounds of sign * L, where L of a node is the column of the arcs that end there, or else of the arcs that
        begin there."""
        size = self.tour.size
        low, high = np.full(size, -np.inf), np.full(size, np.inf)
        for node, column in (tails | heads).items():
            ends = self.builder.range([(sign, Affine(column, 1, 0))])
            if max(map(abs, ends)) <= TUNING.load:
                low[node], high[node] = ends
        step, entry, last = (np.full((size, size), end) for end in (-np.inf, -np.inf, np.inf))
        for (i, j), (more, less, least) in self.said:
            head, tail = heads.get(j, -1), tails.get(i, -1)
            ahead = self.least_gap(tail, heads.get(i, tail), sign)
            there, here = (more, less) if sign > 0 else (less, more)
            if there not in (-1, head) or here not in (-1, tail):
                continue
            if here < 0:
                entry[i, j] = max(entry[i, j], least)
            elif there < 0:
                last[i, j] = min(last[i, j], -least - ahead)
            else:
                step[i, j] = max(step[i, j], least + ahead)
        arcs = np.zeros((size, size), bool)
        for i, j in self.tour.arcs:
            arcs[i, j] = i != j
        return Growth(arcs, low, high, step, entry, last)

    def least_gap(self, more: int, less: int, sign: int) -> float:
        """The least that sign * (more - less) can be, for two columns of a node."""
        if more == less:
            return 0
        return self.plain.get((more, less) if sign > 0 else (less, more), -np.inf)
