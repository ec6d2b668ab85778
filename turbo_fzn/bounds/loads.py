"""Loads along a circuit: what is collected on the way has to fit, so many things need many ways.

An arc of a circuit may say that something grows along it, L_j >= L_i + d_ij: the load of a vehicle, or the time. Of a
set S of nodes, each part of the circuit that lies in S collects no more than the room C between the least L at which S
is entered and the greatest at which it is left. So there are at least ceil(q(S) / C) such parts, where q_j is the least
step to j, and one arc leaves S for each (capacity cuts, Laporte and Nobert 1983):

    arcs within S  <=  |S| - ceil(q(S) / C)

Nobody says which variable is the L of which node. It is the one that the statements on arcs are about: rows by
implication from the truth of an arc, or from what that implies, and an array that is read by the successors. What grows
may also shrink, and may be seen against the direction of travel: four forms of one inequality.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from turbo_fzn.bounds.cliques import Literal, literal_of, pair_of
from turbo_fzn.bounds.linearizer import Linearizer
from turbo_fzn.bounds.relaxation import Affine, collect
from turbo_fzn.bounds.tours import LEAST_EXCESS, Tour
from turbo_fzn.domains import INFINITY

MOST_SEEDS = 64  # sets that are grown at a time
MOST_STEPS = 64  # nodes of a set that is grown
MOST_CUTS = 20  # of a point
LARGEST_LOAD = 2**40  # floating-point numbers are exact with sums of such integers


class Growth(NamedTuple):
    """What is known of a load L along the arcs, as floats with infinities for nothing.

    `low`, `high` [size]: bounds of L; `step` [size, size]: L_j - L_i is at least that along the arc from i to j;
    `entry`: L_j is at least that after the arc; `exit`: L_i is at most that before it."""

    low: np.ndarray
    high: np.ndarray
    step: np.ndarray
    entry: np.ndarray
    exit: np.ndarray

    def reversed(self) -> Growth:
        """The same of -L along the reversed arcs."""
        return Growth(-self.high, -self.low, self.step.T, -self.exit.T, -self.entry.T)


class Loads(NamedTuple):
    """The customers of a tour: `need` is what each adds to the load (0 for other nodes); `low` is the least load at
    which a customer is entered, before it has added to it, and `high` the greatest at which it is left."""

    tour: Tour
    customers: np.ndarray
    need: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def cuts(self, values: np.ndarray) -> Iterator[tuple[dict[int, int], int, float]]:
        """As of any Separator."""
        weights = self.tour.weights(values)
        np.fill_diagonal(weights, 0)
        sets = np.unique(np.concatenate(list(self.grow(weights + weights.T))), axis=0)
        parts = self.parts(sets)
        excess = ((sets @ weights) * sets).sum(axis=1) - sets.sum(axis=1) + parts
        for place in np.argsort(-excess, kind="stable")[:MOST_CUTS].tolist():
            if excess[place] > LEAST_EXCESS:
                entries, constant = collect(self.inequality(sets[place], int(parts[place])))
                if entries:
                    yield entries, -constant, float(excess[place])

    def grow(self, ties: np.ndarray) -> Iterator[np.ndarray]:
        """Sets of customers (bool [sets, size]): from each of some seeds, by the one that is tied most to it."""
        order = np.flatnonzero(self.customers)
        seeds = order[np.argsort(-self.need[order], kind="stable")][:MOST_SEEDS]
        sets = np.zeros((len(seeds), self.tour.size), bool)
        sets[np.arange(len(seeds)), seeds] = True
        for _ in range(min(len(order), MOST_STEPS) - 1):
            wanted = np.where(self.customers & ~sets, sets @ ties, -np.inf)
            sets = sets.copy()
            sets[np.arange(len(seeds)), wanted.argmax(axis=1)] = True
            yield sets

    def parts(self, sets: np.ndarray) -> np.ndarray:
        """How many parts of the circuit each set (bool [sets, size]) has at least; int64."""
        room = np.where(sets, self.high, -np.inf).max(axis=1) - np.where(sets, self.low, np.inf).min(axis=1)
        needs, known = sets @ self.need, (room > 0) & np.isfinite(room)
        whole = np.where(known, room, 1).astype(np.int64)
        return np.where(known, -(-needs.astype(np.int64) // whole), 1)

    def inequality(self, inside: np.ndarray, parts: int) -> list[tuple[int, Affine]]:
        """Terms whose sum is at most 0."""
        within = [(1, arc) for (i, j), arc in self.tour.arcs.items() if i != j and inside[i] and inside[j]]
        return [*within, (parts - int(inside.sum()), Affine(-1, 0, 1))]


def loads_of(tour: Tour, growth: Growth) -> Loads | None:
    """The customers are the nodes to which all arcs from nodes with a load have a step."""
    arcs = np.zeros((tour.size, tour.size), bool)
    for i, j in tour.arcs:
        arcs[i, j] = i != j
    loaded = np.isfinite(growth.low) & np.isfinite(growth.high)
    between = arcs & loaded[:, None]
    steps = np.where(between, growth.step, np.inf)
    need = steps.min(axis=0)
    customers = loaded & np.isfinite(need)
    entered = np.maximum(np.maximum(growth.low, growth.entry), growth.low[:, None] + growth.step)
    left = np.minimum(np.minimum(growth.high[:, None], growth.exit), growth.high - growth.step)
    low = np.where(arcs, entered, np.inf).min(axis=0)
    high = np.where(arcs, left, -np.inf).max(axis=1)
    customers &= np.isfinite(low) & np.isfinite(high)
    if customers.sum() < 2 or customers.all() or need[customers].max() <= 0:
        return None
    need = np.where(customers, need, 0)
    return Loads(tour, customers, need, low - need, high)


# What the model says along arcs

Arc = tuple[int, int]


class Difference(NamedTuple):
    """more - less >= least, of columns; -1 for none."""

    more: int
    less: int
    least: int


Statements = dict[Arc, list[Difference]]


def _differences_of(entries: dict[int, int], low: int, high: int) -> Iterator[Difference]:
    """What a row says, if it is of one column or of the difference of two."""
    factors = list(entries.values())
    if factors not in ([1], [-1], [1, -1], [-1, 1]):
        return
    more = next((column for column, factor in entries.items() if factor > 0), -1)
    less = next((column for column, factor in entries.items() if factor < 0), -1)
    if low > -INFINITY:
        yield Difference(more, less, low)
    if high < INFINITY:
        yield Difference(less, more, -high)


def add_loads(m: Linearizer) -> None:
    """Cuts for what grows along the circuits of the model; when all its rows have been made."""
    tours = [separator for separator in m.builder.separators if isinstance(separator, Tour) and not separator.loops]
    if tours:
        implied = _implied(m)
        plain = _plain(m)
        for tour in tours:
            statements = {
                arc: implied[literal_of(truth)]
                for arc, truth in tour.arcs.items()
                if truth.column >= 0 and arc[0] != arc[1] and literal_of(truth) in implied
            }
            m.builder.separators += _loads_along(m, tour, statements, plain)


def _implied(m: Linearizer) -> dict[Literal, list[Difference]]:
    """What each literal implies, by itself or by another literal that it implies."""
    implied: dict[Literal, list[Difference]] = {}
    for literal, terms, low, high in m.builder.implications:
        entries, constant = collect(terms)
        low, high = low if low == -INFINITY else low - constant, high if high == INFINITY else high - constant
        implied.setdefault(literal_of(literal), []).extend(_differences_of(entries, low, high))
    own = dict(implied)
    for row in m.builder.rows:
        pair = pair_of(row, m.encoding.is_boolean)
        for literal, other in (pair, pair[::-1]) if pair else ():
            if other ^ 1 in own:
                implied[literal] = implied.get(literal, []) + own[other ^ 1]
    return implied


def _plain(m: Linearizer) -> dict[tuple[int, int], int]:
    """By (more, less): more - less is at least that, in all solutions."""
    found: dict[tuple[int, int], int] = {}
    for entries, low, high in m.builder.rows:
        for more, less, least in _differences_of(entries, low, high) if len(entries) == 2 else ():
            found[more, less] = max(least, found.get((more, less), least))
    return found


def _loads_along(
    m: Linearizer, tour: Tour, statements: Statements, plain: dict[tuple[int, int], int]
) -> Iterator[Loads]:
    nodes = _nodes_of(statements)
    for columns in _together(nodes, statements, plain):
        heads, tails = _ends_of(columns, nodes, statements)
        if heads and tails:
            for sign in (1, -1):
                growth = _growth(m, tour, statements, plain, heads, tails, sign)
                for form in (growth, growth.reversed()):
                    loads = loads_of(tour, form)
                    if loads is not None:
                        yield loads


def _nodes_of(statements: Statements) -> dict[int, int]:
    """The node of each column: the one that all arcs whose statements are about the column have in common."""
    common: dict[int, set[int]] = {}
    for arc, differences in statements.items():
        for more, less, _ in differences:
            for column in (more, less):
                common.setdefault(column, set(arc)).intersection_update(arc)
    return {column: min(shared) for column, shared in common.items() if column >= 0 and len(shared) == 1}


def _together(
    nodes: dict[int, int], statements: Statements, plain: dict[tuple[int, int], int]
) -> Iterator[set[int]]:
    """The columns, in sets that differences tie: one for each thing that grows."""
    neighbours: dict[int, set[int]] = {column: set() for column in nodes}
    ties = [(more, less) for differences in statements.values() for more, less, _ in differences]
    ties += [(more, less) for more, less in plain if nodes.get(more, -1) == nodes.get(less, -2)]
    for more, less in ties:
        if more in nodes and less in nodes:
            neighbours[more].add(less)
            neighbours[less].add(more)
    while neighbours:
        found: set[int] = set()
        reached = {next(iter(neighbours))}
        while reached:
            found |= reached
            reached = set().union(*(neighbours.pop(column) for column in reached)) - found
        yield found


def _ends_of(columns: set[int], nodes: dict[int, int], statements: Statements) -> tuple[dict[int, int], dict[int, int]]:
    """The column of each node where an arc ends, and where one begins; nothing where they are not clear."""
    heads: dict[int, set[int]] = {}
    tails: dict[int, set[int]] = {}
    for (_, j), differences in statements.items():
        for more, less, _ in differences:
            for column in {more, less} & columns:
                ends = heads if nodes[column] == j else tails
                ends.setdefault(nodes[column], set()).add(column)
    if any(len(found) > 1 for ends in (heads, tails) for found in ends.values()):
        return {}, {}
    return tuple({node: min(found) for node, found in ends.items()} for ends in (heads, tails))  # type: ignore


def _growth(
    m: Linearizer,
    tour: Tour,
    statements: Statements,
    plain: dict[tuple[int, int], int],
    heads: dict[int, int],
    tails: dict[int, int],
    sign: int,
) -> Growth:
    """Of sign * L, where L of a node is the column of the arcs that end there, or else of those that begin there."""
    size = tour.size
    low, high = np.full(size, -np.inf), np.full(size, np.inf)
    for node, column in (tails | heads).items():
        ends = m.builder.range([(sign, Affine(column, 1, 0))])
        if max(map(abs, ends)) <= LARGEST_LOAD:
            low[node], high[node] = ends
    step, entry, exit_ = np.full((size, size), -np.inf), np.full((size, size), -np.inf), np.full((size, size), np.inf)
    for (i, j), differences in statements.items():
        head, tail = heads.get(j, -1), tails.get(i, -1)
        own = heads.get(i, tail)
        ahead = 0 if own == tail else plain.get((tail, own) if sign > 0 else (own, tail), -np.inf)
        for more, less, least in differences:
            there, here = (more, less) if sign > 0 else (less, more)
            if abs(least) > LARGEST_LOAD:
                continue
            if (there, here) == (head, tail):
                step[i, j] = max(step[i, j], least + ahead)
            elif (there, here) == (head, -1):
                entry[i, j] = max(entry[i, j], least)
            elif (there, here) == (-1, tail):
                exit_[i, j] = min(exit_[i, j], -least - ahead)
    return Growth(low, high, step, entry, exit_)
