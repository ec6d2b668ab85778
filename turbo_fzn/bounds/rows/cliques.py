"""Cliques of literals of which at most one can be 1: their rows, and cuts that join several of them.

A literal is a 0-1 column or its complement. Two literals are in conflict where a row excludes that both are 1, or a
constraint does: `x != y` for the truths of x = v and y = v, a table for two values that are in no row together. In a
clique, where each two literals are in conflict, at most one is 1; this inequality is stronger than those of all pairs
(clique inequalities, Padberg 1973). Violated inequalities are found greedily.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import combinations

import numpy as np

from turbo_fzn.base.domains import INFINITY
from turbo_fzn.bounds.lp.relaxation import Affine, LinearRows
from turbo_fzn.bounds.rows.tuning import TUNING

Literal = int  # twice the column, plus 1 for the complement


def literal_of(term: Affine) -> Literal:
    return 2 * term.column + (term.coefficient < 0)


class Conflicts:
    """Sets of literals of which at most one is 1, and pairs (int64 [k, 2]) of such literals."""

    def __init__(self) -> None:
        self.sets: list[list[Literal]] = []
        self.pairs = np.empty((0, 2), np.int64)
        self.paired = np.empty(0, np.int64)  # the literals of the pairs

    def exclude(self, pairs: np.ndarray) -> None:
        self.pairs = pairs
        self.paired = np.unique(pairs)

    def add(self, terms: Iterable[Affine]) -> None:
        """Adds a set of terms that are literals, without constant terms."""
        literals = [literal_of(term) for term in terms if term.column >= 0]
        if len(literals) > 1:
            self.sets.append(literals)

    def add_rows(self, rows: LinearRows, lower: np.ndarray, upper: np.ndarray) -> None:
        """Adds the rows that are such sets: 0-1 columns with coefficients ±1, and a side that lets one literal be 1."""
        boolean = (lower >= 0) & (upper <= 1)
        fits = np.add.reduceat(~boolean[rows.columns] | (np.abs(rows.values) != 1), rows.start[:-1]) == 0
        for number in np.flatnonzero(fits).tolist():
            self.sets.extend(at_most_one(*rows.row(number)))

    def cuts(self, values: np.ndarray) -> Iterator[tuple[dict[int, int], int, float]]:
        """(entries, side, excess) of inequalities that the point (float [n]) violates, each once."""
        active = self.active(values)
        neighbours: dict[Literal, set[Literal]] = {literal: set() for literal in active}
        for literals in self.sets:
            here = [literal for literal in literals if literal in active]
            for literal in here:
                neighbours[literal].update(here)
        is_active = np.zeros(2 * len(values), bool)
        is_active[list(active)] = True
        for one, other in self.pairs[is_active[self.pairs].all(axis=1)][: TUNING.clique_pairs].tolist():
            neighbours[one].add(other)
            neighbours[other].add(one)
        seen: set[frozenset[Literal]] = set()
        for seed in sorted(active, key=lambda literal: -active[literal])[: TUNING.clique_seeds]:
            clique = grow(seed, neighbours, active)
            excess = sum(active[literal] for literal in clique) - 1
            if excess > TUNING.excess and clique not in seen:
                seen.add(clique)
                entries, side = inequality(clique)
                if entries:
                    yield entries, side, excess

    def active(self, values: np.ndarray) -> dict[Literal, float]:
        """The values of the literals above `active_value`, at most `active_literals` of them, largest first."""
        listed = {literal for literals in self.sets for literal in literals}
        literals = np.union1d(self.paired, np.fromiter(listed, np.int64, len(listed)))
        valued = np.where(literals & 1, 1 - values[literals >> 1], values[literals >> 1])
        chosen = np.lexsort((literals, valued))[::-1][: TUNING.active_literals]
        chosen = chosen[valued[chosen] > TUNING.active_value]
        return dict(zip(literals[chosen].tolist(), valued[chosen].tolist()))


def inequality(clique: Iterable[Literal]) -> tuple[dict[int, int], int]:
    """The inequality "at most one is 1" as (entries, side). A column and its complement cancel out: all others are then
    0."""
    entries: dict[int, int] = {}
    side = 1
    for literal in clique:
        entries[literal >> 1] = entries.get(literal >> 1, 0) + (-1 if literal & 1 else 1)
        side -= literal & 1
    return {column: value for column, value in entries.items() if value}, side


def grow(seed: Literal, neighbours: dict[Literal, set[Literal]], active: dict[Literal, float]) -> frozenset[Literal]:
    """A set of literals, all in conflict with each other: the seed and the fitting literals of largest value."""
    clique, candidates = [seed], neighbours[seed] - {seed}
    while candidates:
        best = max(candidates, key=lambda literal: (active[literal], -literal))
        clique.append(best)
        candidates = candidates & neighbours[best] - {best}
    return frozenset(clique)


Row = tuple[dict[int, int], int, int]  # entries, lower side, upper side


def at_most_one(entries: dict[int, int], low: int, high: int) -> Iterator[list[Literal]]:
    """For each side of a row of 0-1 columns with coefficients ±1: its literals, where it lets at most one be 1."""
    for sign, side in ((1, high), (-1, -low)):
        literals = [2 * column + (sign * value < 0) for column, value in entries.items()]
        if abs(side) < INFINITY and side + sum(literal & 1 for literal in literals) == 1 and len(entries) > 1:
            yield literals


def pair_of(row: Row, is_boolean: Callable[[int], bool]) -> tuple[Literal, Literal] | None:
    """The two literals of a row that states nothing but that at most one of them is 1; None for other rows."""
    entries, low, high = row
    if len(entries) != 2 or (low > -INFINITY) == (high < INFINITY):
        return None
    if not all(abs(value) == 1 and is_boolean(column) for column, value in entries.items()):
        return None
    for one, two in at_most_one(entries, low, high):
        return one, two
    return None


def merge_pairs(rows: list[Row], is_boolean: Callable[[int], bool], is_stopped: Callable[[], bool]) -> list[Row]:
    """The rows, where those that exclude pairs of literals are replaced by rows of cliques of such pairs.

    A clique's row implies all of its pairs and is stronger: by the pairs alone, a linear program may set each of k
    literals to 1/2, which sums up to k/2."""
    pairs = {number: pair for number, row in enumerate(rows) if (pair := pair_of(row, is_boolean)) is not None}
    cliques = [clique for clique in groups(_in_triangles(pairs.values()), is_stopped) if len(clique) > 2]
    covered = {pair for clique in cliques for pair in combinations(clique, 2)}
    kept = [row for number, row in enumerate(rows) if tuple(sorted(pairs.get(number, ()))) not in covered]
    return kept + [(entries, -INFINITY, side) for entries, side in map(inequality, cliques) if entries]


def _in_triangles(pairs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The pairs whose members share a neighbour: mostly few, and only these can be in a clique of three or more."""
    pairs = list(pairs)
    neighbours: dict[int, set[int]] = {}
    for x, y in pairs:
        neighbours.setdefault(x, set()).add(y)
        neighbours.setdefault(y, set()).add(x)
    return [(x, y) for x, y in pairs if not neighbours[x].isdisjoint(neighbours[y])]


def groups(pairs: Iterable[tuple[int, int]], is_stopped: Callable[[], bool] = lambda: False) -> list[list[int]]:
    """Sets of variables that all differ, from pairs that differ; each pair is in one of the sets.

    After `clique_work` steps the remaining pairs become sets of two. Where `is_stopped`, the sets found so far."""
    neighbours: dict[int, set[int]] = {}
    for x, y in pairs:
        if x != y:  # x != x is a contradiction, which other code finds
            neighbours.setdefault(x, set()).add(y)
            neighbours.setdefault(y, set()).add(x)
    left = {pair for x, others in neighbours.items() for pair in ((x, y) for y in others if x < y)}
    found, work = [], 0
    for pair in sorted(left):
        if is_stopped():
            break
        if pair in left:
            group, candidates = list(pair), neighbours[pair[0]] & neighbours[pair[1]]
            while candidates and work < TUNING.clique_work:
                work += len(candidates) ** 2
                best = max(candidates, key=lambda x: (len(neighbours[x] & candidates), -x))
                group.append(best)
                candidates = candidates & neighbours[best]
            left.difference_update(combinations(sorted(group), 2))
            found.append(sorted(group))
    return found
