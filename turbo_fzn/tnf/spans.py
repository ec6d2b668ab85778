"""How far things reach that cannot stand side by side: bounds that no row, and no pair of rows, can see.

Of two tasks on a machine, or two boxes that meet in all directions but one, one ends before the other begins:

    p + h <= q  or  q + k <= p.

Things of which any two are so stand in a row, each at least h behind the one before it; from the first to the last
there are at least the h of all but the last. What is at least as far as any of them is from any other, for all pairs
`s >= p - q + c`, or behind all of them, `s >= p + c`, is so at least that (for one machine with heads, lengths and
tails the bound of Carlier 1982). Neither propagation nor learning sees it without trying all orders.

Which sets of things to look at is a question for the heaviest clique; a greedy answer is as right as the best one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import permutations
from typing import NamedTuple

import numpy as np

from turbo_fzn.tnf.columns import Rows
from turbo_fzn.tnf.language import ADD, LEQ, MAX, MIN

HOPS = 3  # doubled, from a variable to what it is a constant more than
MOST_LAST, MOST_STEPS = 8, 30  # variables that all paths to are looked at, and their lengths
MOST_PAIRS = 2**18
MOST_THINGS = 2000  # that are looked at for one variable
MOST_SEEDS = 100  # of cliques, for each variable
LARGEST = 2**40  # numbers beyond it are left alone, so that nothing overflows

Column = np.ndarray
Distances = dict[tuple[int, int], int]


class Comparisons(NamedTuple):
    """left + gap <= right, int64 [k] each."""

    left: Column
    gap: Column
    right: Column


def stretch(rows: Rows, lower: Column, upper: Column) -> tuple[Column, Column]:
    """Variables and lower bounds (int64 [k]) that they have in every solution; `lower`, `upper` at the fixpoint."""
    spans = Spans(rows, lower, upper)
    found = [*spans.reaches(), *spans.ends()] if spans.weight else []
    columns = np.array(found, np.int64).reshape(-1, 2)
    return columns[:, 0], columns[:, 1]


class Spans:
    """What rows say of distances. A thing goes by the number of its `base`, and is at base + `place`."""

    def __init__(self, rows: Rows, lower: Column, upper: Column):
        self.rows, self.lower = rows, lower
        self.fixed = lower == upper
        self.find_bases()
        self.weight: dict[int, int] = {}  # of each thing: by how much it is before what is behind it, at least
        self.neighbours: dict[int, set[int]] = {}  # of each thing: those that cannot stand beside it
        self.find_pairs()

    def find_bases(self) -> None:
        """Rows x = y + k make x a `base` and an `offset`; other sums have a `first` and a `second`."""
        rows, fixed, n = self.rows.select(self.rows.op == ADD), self.fixed, len(self.lower)
        y, z = np.where(fixed[rows.y], rows.z, rows.y), np.where(fixed[rows.y], rows.y, rows.z)
        shifts = fixed[z] & ~fixed[y] & (np.abs(self.lower[z]) < LARGEST)
        self.base, self.offset = np.arange(n), np.zeros(n, np.int64)
        self.base[rows.x[shifts]], self.offset[rows.x[shifts]] = y[shifts], self.lower[z[shifts]]
        for _ in range(HOPS):
            self.offset = self.offset + self.offset[self.base]
            self.base = self.base[self.base]
        self.first, self.second = np.full(n, -1), np.full(n, -1)
        sums = ~fixed[y] & ~fixed[z]
        self.first[rows.x[sums]], self.second[rows.x[sums]] = y[sums], z[sums]

    # Pairs

    def find_pairs(self) -> None:
        """One comparison or the other holds, and each says that the one's right side is behind the other's."""
        one, other = self.alternatives()
        forward, backward = self.length(one.left, other.right), self.length(other.left, one.right)
        p, q = self.base[other.right], self.base[one.right]
        self.place = np.zeros(len(self.lower), np.int64)
        self.place[q], self.place[p] = self.offset[one.right], self.offset[other.right]
        shift = (self.offset[other.right] - self.place[p]) - (self.offset[one.right] - self.place[q])
        ahead, behind = forward + one.gap + shift, backward + other.gap - shift
        fits = (forward > -LARGEST) & (backward > -LARGEST) & (ahead > 0) & (behind > 0) & (p != q)
        found = np.stack((p, q, ahead, behind), axis=1)[fits][:MOST_PAIRS]
        for first, second, before, after in found.tolist():
            self.neighbours.setdefault(first, set()).add(second)
            self.neighbours.setdefault(second, set()).add(first)
            self.weight[first] = min(before, self.weight.get(first, before))
            self.weight[second] = min(after, self.weight.get(second, after))

    def alternatives(self) -> tuple[Comparisons, Comparisons]:
        """The clauses of two literals that are truths of comparisons."""
        rows = self.rows
        definition = np.full(len(self.lower), -1)
        comparisons = np.flatnonzero((rows.op == LEQ) & ~self.fixed[rows.x])
        definition[rows.x[comparisons]] = comparisons
        true, false = self.fixed[rows.x] & (self.lower[rows.x] == 1), self.fixed[rows.x] & (self.lower[rows.x] == 0)
        clauses = (((rows.op == MAX) | (rows.op == LEQ)) & true) | ((rows.op == MIN) & false)
        z = np.where(clauses, rows.z, 0)
        clauses &= (definition[rows.y] >= 0) & (definition[z] >= 0)
        op, y, z = rows.op[clauses], definition[rows.y[clauses]], definition[z[clauses]]
        return self.comparisons(y, op == MAX), self.comparisons(z, op != MIN)

    def comparisons(self, numbers: Column, true: Column) -> Comparisons:
        """Of rows x = (y <= z), by their numbers: what holds where x is true, or where it is false."""
        y, z = self.rows.y[numbers], self.rows.z[numbers]
        return Comparisons(np.where(true, y, z), np.where(true, 0, 1), np.where(true, z, y))

    def length(self, end: Column, start: Column) -> Column:
        """end - start, at least; -LARGEST where nothing is known."""
        found = np.where(self.base[end] == self.base[start], self.offset[end] - self.offset[start], -LARGEST)
        for part, rest in ((self.first, self.second), (self.second, self.first)):
            found = np.where((part[end] == start) & (found == -LARGEST), self.lower[rest[end]], found)
        return np.maximum(found, -LARGEST)

    # What is as far as they reach

    def known(self) -> Comparisons:
        """The comparisons that hold."""
        numbers = np.flatnonzero((self.rows.op == LEQ) & self.fixed[self.rows.x])
        return self.comparisons(numbers, self.lower[self.rows.x[numbers]] == 1)

    def reaches(self) -> Iterator[tuple[int, int]]:
        """Of each s >= p - q + c for pairs of things: (s, what it is at least)."""
        left, gap, right = self.known()
        sums = self.first[self.base[right]] >= 0
        left, gap, right = left[sums], gap[sums], right[sums]
        gap = gap + self.offset[left] - self.offset[right]
        parts = self.first[self.base[right]], self.second[self.base[right]]
        gap -= self.offset[parts[0]] + self.offset[parts[1]]
        farthest: dict[int, Distances] = {}
        for q, s in (parts, parts[::-1]):
            p, q = self.base[left], self.base[q]
            columns = (self.base[s], p, q, gap - self.place[p] + self.place[q])
            for span, p, q, c in zip(*(column.tolist() for column in columns)):
                if q in self.neighbours.get(p, ()):
                    known = farthest.setdefault(span, {})
                    known[p, q] = max(c, known.get((p, q), c))
        for span, distances in farthest.items():
            joined: dict[int, set[int]] = {}
            for p, q in distances:
                if (q, p) in distances:
                    joined.setdefault(p, set()).add(q)
            reach = [self.reach_of(clique, distances) for clique in self.cliques(joined)]
            if reach:
                yield span, max(reach)

    def reach_of(self, clique: list[int], distances: Distances) -> int:
        """Wherever the first and the last of them are."""
        return self.total(clique) + min(distances[p, q] - self.weight[p] for p, q in permutations(clique, 2))

    def ends(self) -> Iterator[tuple[int, int]]:
        """Of each s >= p + c for things: (s, what it is at least)."""
        for s, tails in self.tails().items():
            joined = {p: self.neighbours[p] & tails.keys() for p in tails}
            end = [self.end_of(clique, tails) for clique in self.cliques(joined)]
            if end:
                yield s, max(end)

    def tails(self) -> dict[int, dict[int, int]]:
        """Of each s the things p with s >= p + c, and c; where nothing is behind s, by steps over others too."""
        behind: dict[int, dict[int, int]] = {}
        p, c, s = self.differences()
        for start, gap, end in zip(*(column.tolist() for column in (p, c, s))):
            if start in self.weight:
                known = behind.setdefault(end, {})
                known[start] = max(gap, known.get(start, gap))
        last, n_before = np.unique(s[~np.isin(s, p)], return_counts=True)
        things = np.array(sorted(self.weight))
        for end in last[np.argsort(-n_before, kind="stable")[:MOST_LAST]].tolist():
            longest = np.full(len(self.lower), -LARGEST)
            longest[end] = 0
            for _ in range(MOST_STEPS):
                before = longest.copy()
                np.maximum.at(longest, p, np.minimum(before[s] + c, LARGEST))
                if np.array_equal(before, longest):
                    break
            reached = things[longest[things] > -LARGEST // 2]
            behind[end] = dict(zip(reached.tolist(), longest[reached].tolist()))
        return behind

    def differences(self) -> Comparisons:
        """All that is known as p + c <= s of bases: from comparisons, extremes and sums."""
        rows, parts = self.rows, [self.known()]
        extremes = rows.select(rows.op == MAX)
        parts += [Comparisons(operand, 0 * operand, extremes.x) for operand in (extremes.y, extremes.z)]
        sums = np.flatnonzero(self.first >= 0)
        for part, rest in ((self.first, self.second), (self.second, self.first)):
            parts.append(Comparisons(part[sums], self.lower[rest[sums]], sums))
        left, gap, right = (np.concatenate(columns) for columns in zip(*parts))
        gap = gap + self.offset[left] - self.offset[right]
        left, right = self.base[left], self.base[right]
        fits = ~self.fixed[left] & ~self.fixed[right] & (left != right) & (np.abs(gap) < LARGEST)
        return Comparisons(left[fits], gap[fits], right[fits])

    def end_of(self, clique: list[int], tails: dict[int, int]) -> int:
        """Of those that begin at some time or later, and have some tail or more, the greatest sum of all three."""
        best = -LARGEST
        rest = {p: tails[p] - int(self.place[p]) - self.weight[p] for p in clique}
        begin = {p: int(self.lower[p] + self.place[p]) for p in clique}
        order = sorted(clique, key=lambda p: -rest[p])
        for earliest in set(begin.values()):
            total = 0
            for p in order:
                if begin[p] >= earliest:
                    total += self.weight[p]
                    best = max(best, earliest + total + rest[p])
        return best

    def total(self, things: Iterable[int]) -> int:
        return sum(self.weight[p] for p in things)

    # Cliques

    def cliques(self, joined: dict[int, set[int]]) -> Iterator[list[int]]:
        """Sets of two things or more of which any two are joined: from each seed on the weightiest neighbours."""
        order = sorted(joined, key=lambda p: (-self.weight[p] - self.total(joined[p]), p))[:MOST_THINGS]
        number = {p: i for i, p in enumerate(order)}
        masks = [sum(1 << number[q] for q in joined[p] if q in number) for p in order]
        seen: set[int] = set()
        for seed, candidates in enumerate(masks[:MOST_SEEDS]):
            clique = 1 << seed
            while candidates:
                best = candidates & -candidates
                clique |= best
                candidates &= masks[best.bit_length() - 1]
            if clique not in seen and clique != 1 << seed:
                seen.add(clique)
                yield [p for i, p in enumerate(order) if clique >> i & 1]
