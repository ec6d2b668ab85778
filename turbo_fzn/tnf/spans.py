"""Lower bounds from things that exclude each other in pairs, such as the tasks of a machine.

Of two tasks on a machine, or two boxes that overlap in all directions but one, the first or the second ends before the
other begins:

    p + h <= q  or  q + k <= p.

In a set of things where this holds for any two, they form a sequence, in which each begins at least h after its
predecessor, so the last begins at least the sum of the other h after the first. This bounds a variable s with `s >= p -
q + c` for all pairs, and a variable s with `s >= p + c` for all things: for one machine with heads, lengths and tails
this is the bound of Carlier 1982, by the preemptive schedule of Jackson 1955. No row and no pair of rows implies it;
propagation and learning find it only by trying all orders.

The best set is a heaviest clique; any clique gives a valid bound, so a greedily found clique is used.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush, heapreplace
from typing import NamedTuple

import numpy as np

from turbo_fzn.tnf.arrays import distinct, ranked
from turbo_fzn.tnf.columns import Rows
from turbo_fzn.tnf.language import ADD, LEQ, MAX, MIN
from turbo_fzn.tnf.tuning import TUNING

UNKNOWN = -(2**60)  # format: an unknown distance; known distances are above -2**50


Column = np.ndarray


class Comparisons(NamedTuple):
    """left + gap <= right, int64 [k] each."""

    left: Column
    gap: Column
    right: Column


def stretch(rows: Rows, lower: Column, upper: Column) -> tuple[Column, Column]:
    """(variables, lower bounds) (int64 [k] each) that hold in all solutions; `lower`, `upper` are at the fixpoint."""
    spans = _Spans(rows, lower, upper)
    found = [*spans.reaches(), *spans.ends()] if len(spans.things) else []
    columns = np.array(found, np.int64).reshape(-1, 2)
    return columns[:, 0], columns[:, 1]


class _Spans:
    """The distances that rows imply. A thing is a variable; its position is the variable plus a constant, its
    `place`."""

    def __init__(self, rows: Rows, lower: Column, upper: Column):
        self.rows, self.lower = rows, lower
        self.fixed = lower == upper
        self.steps = TUNING.clique_steps
        self.find_bases()
        self.number_things(*self.pairs())

    def find_bases(self) -> None:
        """Sets `base` and `offset` of x from rows x = y + k, and `first` and `second` of x from other sums."""
        rows, fixed, n = self.rows.select(self.rows.op == ADD), self.fixed, len(self.lower)
        y, z = np.where(fixed[rows.y], rows.z, rows.y), np.where(fixed[rows.y], rows.y, rows.z)
        shifts = fixed[z] & ~fixed[y] & (np.abs(self.lower[z]) < TUNING.span_time)
        self.base, self.offset = np.arange(n), np.zeros(n, np.int64)
        self.base[rows.x[shifts]], self.offset[rows.x[shifts]] = y[shifts], self.lower[z[shifts]]
        for _ in range(TUNING.span_hops):
            self.offset = self.offset + self.offset[self.base]
            self.base = self.base[self.base]
        self.first, self.second = np.full(n, -1), np.full(n, -1)
        sums = ~fixed[y] & ~fixed[z]
        self.first[rows.x[sums]], self.second[rows.x[sums]] = y[sums], z[sums]

    # Pairs

    def pairs(self) -> tuple[Column, Column, Column, Column]:
        """(p, q, h, k) for all pairs with p + h <= q or q + k <= p. The left side of each comparison is the end of the
        thing that begins on the right side of the other comparison."""
        one, other = self.alternatives()
        forward, backward = self.length(one.left, other.right), self.length(other.left, one.right)
        p, q = self.base[other.right], self.base[one.right]
        self.place = self.places(one, other)
        shift = (self.offset[other.right] - self.place[p]) - (self.offset[one.right] - self.place[q])
        ahead, behind = forward + one.gap + shift, backward + other.gap - shift
        fits = (forward > UNKNOWN) & (backward > UNKNOWN) & (ahead > 0) & (behind > 0) & (p != q)
        found = np.flatnonzero(fits)[: TUNING.span_pairs]
        return (
            p[found],
            q[found],
            np.minimum(ahead[found], TUNING.span_time),
            np.minimum(behind[found], TUNING.span_time),
        )

    def places(self, one: Comparisons, other: Comparisons) -> Column:
        """For each variable (int64 [n]) its most frequent offset in the pairs; among equals the nearest to 0.

        With another offset some distances would come out too small. A strict comparison counts its 1 on either side.
        """
        sides = [(side.right, before) for side in (one, other) for before in (0, side.gap)[: 1 + np.any(side.gap)]]
        base = np.concatenate([self.base[right] for right, _ in sides])
        offset = np.concatenate([self.offset[right] - before for right, before in sides])
        near = np.abs(offset) < TUNING.span_offset
        keys = np.sort(base[near] * (2 * TUNING.span_offset) + offset[near] + TUNING.span_offset)
        first = np.flatnonzero(np.diff(keys, prepend=-1))
        n, base, offset = (
            np.diff(first, append=len(keys)),
            keys[first] // (2 * TUNING.span_offset),
            keys[first] % (2 * TUNING.span_offset) - TUNING.span_offset,
        )
        best_last = np.lexsort((-np.abs(offset), n))
        found = np.zeros(len(self.lower), np.int64)
        found[base[best_last]] = offset[best_last]
        return found

    def alternatives(self) -> tuple[Comparisons, Comparisons]:
        """The two comparisons of each clause of two literals that are truths of comparisons."""
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
        """The comparisons that rows x = (y <= z), given by `numbers`, imply where x is true, or where it is false."""
        y, z = self.rows.y[numbers], self.rows.z[numbers]
        return Comparisons(np.where(true, y, z), np.where(true, 0, 1), np.where(true, z, y))

    def length(self, end: Column, start: Column) -> Column:
        """A lower bound of end - start, or UNKNOWN."""
        more, end, start = self.offset[end] - self.offset[start], self.base[end], self.base[start]
        found = np.where(end == start, more, UNKNOWN)
        for part, rest in ((self.first, self.second), (self.second, self.first)):
            length = self.lower[rest[end]]
            known = (part[end] >= 0) & (self.base[part[end]] == start) & (length > -TUNING.span_time)
            found = np.where(known, np.maximum(found, length + self.offset[part[end]] + more), found)
        return found

    def number_things(self, p: Column, q: Column, ahead: Column, behind: Column) -> None:
        """Numbers the things, heaviest first: each has a `weight`, the least distance to a thing behind it, and the
        bits of its `neighbours`."""
        present = np.zeros(len(self.lower), bool)
        present[p] = present[q] = True
        things, number = np.flatnonzero(present), np.cumsum(present) - 1
        n, p, q = len(things), number[p], number[q]
        weight = np.full(n, TUNING.span_time)
        np.minimum.at(weight, p, ahead)
        np.minimum.at(weight, q, behind)
        first, second = np.divmod(distinct(np.concatenate((p * n + q, q * n + p))), max(n, 1))
        load = weight.copy()
        np.add.at(load, first, weight[second])
        order = np.argsort(-load, kind="stable")[: TUNING.span_things]
        rank = np.full(n, -1)
        rank[order] = np.arange(len(order))
        self.things, self.weight = things[order], weight[order]
        self.number = np.full(len(self.lower), -1)
        self.number[self.things] = np.arange(len(order))
        self.begin = self.lower[self.things] + self.place[self.things]
        kept = (rank[first] >= 0) & (rank[second] >= 0)
        self.keys = np.sort(rank[first[kept]] * len(order) + rank[second[kept]])
        self.neighbours = _masks(self.keys, len(order))

    # Variables that the distances bound

    def known(self) -> Comparisons:
        """The comparisons that hold at the root."""
        numbers = np.flatnonzero((self.rows.op == LEQ) & self.fixed[self.rows.x])
        return self.comparisons(numbers, self.lower[self.rows.x[numbers]] == 1)

    def reaches(self) -> Iterator[tuple[int, int]]:
        """(s, lower bound) for each s with s >= p - q + c for pairs of things."""
        for span, p, q, c in groups(*self.distances()):
            things, number = ranked(np.concatenate((p, q)))
            n, (p, q) = len(things), number.reshape(2, -1)
            known = np.full((n, n), UNKNOWN)
            np.maximum.at(known, (p, q), c)
            known = known[: TUNING.spanned_things, : TUNING.spanned_things]
            first, second = np.nonzero((known > UNKNOWN) & (known.T > UNKNOWN))
            joined = _masks(first * len(known) + second, len(known))
            reach = []
            for clique in self.cliques((1 << len(known)) - 1, joined):
                weight = self.weight[things[clique]]
                last = known[np.ix_(clique, clique)] - weight[:, None]
                reach.append(int(weight.sum() + last[~np.eye(len(clique), dtype=bool)].min()))
            if reach:
                yield span, max(reach)

    def distances(self) -> tuple[Column, Column, Column, Column]:
        """(s, p, q, c) with s >= p - q + c for neighbours p, q (numbers of things), from the rows p <= s + q."""
        left, gap, right = self.known()
        sums = self.first[self.base[right]] >= 0
        left, gap, right = left[sums], gap[sums], right[sums]
        one, other = self.first[self.base[right]], self.second[self.base[right]]
        gap = gap + self.offset[left] - self.offset[right] - self.offset[one] - self.offset[other]
        p, gap = np.tile(self.base[left], 2), np.tile(gap, 2)
        q, s = self.base[np.concatenate((one, other))], self.base[np.concatenate((other, one))]
        c, p, q = gap - self.place[p] + self.place[q], self.number[p], self.number[q]
        fits = (p >= 0) & (q >= 0)
        key = p * len(self.things) + q
        fits &= np.searchsorted(self.keys, key) < np.searchsorted(self.keys, key, "right")  # the pair is in `keys`
        return s[fits], p[fits], q[fits], c[fits]

    def ends(self) -> Iterator[tuple[int, int]]:
        """(s, lower bound) for each s with s >= p + c for things."""
        for s, things, tails in self.tails():
            bounded = np.abs(self.begin[things]) < TUNING.span_time
            tail = dict(zip(things[bounded].tolist(), tails[bounded].tolist()))
            among = sum(1 << p for p in tail)
            end = [self.end_of(clique, tail) for clique in self.cliques(among, self.neighbours)]
            if end:
                yield s, max(end)

    def tails(self) -> Iterator[tuple[int, Column, Column]]:
        """(s, things p, c) with s >= p + c; also over paths of such steps if no variable depends on s."""
        paths = _Paths(self.differences(), len(self.lower))
        done = np.zeros(len(self.lower), bool)
        for end in paths.last(self.lower):
            done[end] = True
            longest = paths.to(end)[self.things]
            reached = np.flatnonzero(longest > UNKNOWN)
            yield end, reached, longest[reached]
        p, c, s = paths.arcs
        near = (self.number[p] >= 0) & ~done[s]
        p, c, s = self.number[p[near]], c[near], s[near]
        order = np.argsort(c, kind="stable")  # so that the greatest of several is the last
        yield from groups(s[order], p[order], c[order])

    def differences(self) -> Comparisons:
        """The inequalities p + c <= s between bases that comparisons, maxima and sums imply."""
        rows, parts = self.rows, [self.known()]
        extremes = rows.select(rows.op == MAX)
        parts += [Comparisons(operand, 0 * operand, extremes.x) for operand in (extremes.y, extremes.z)]
        sums = np.flatnonzero(self.first >= 0)
        for part, rest in ((self.first, self.second), (self.second, self.first)):
            parts.append(Comparisons(part[sums], self.lower[rest[sums]], sums))
        left, gap, right = (np.concatenate(columns) for columns in zip(*parts))
        gap = gap + self.offset[left] - self.offset[right]
        left, right = self.base[left], self.base[right]
        fits = ~self.fixed[left] & ~self.fixed[right] & (left != right) & (np.abs(gap) < TUNING.span_time)
        return Comparisons(left[fits], gap[fits], right[fits])

    def end_of(self, clique: list[int], tails: dict[int, int]) -> int:
        """The end of the preemptive schedule of a clique that always runs the task with the longest tail."""
        weights, begins = self.weight[clique].tolist(), self.begin[clique].tolist()
        places = self.place[self.things[clique]].tolist()
        tasks = [(b, tails[p] - place - w, w) for p, b, place, w in zip(clique, begins, places, weights)]
        tasks.sort()
        best, now = UNKNOWN, tasks[0][0]
        waiting: list[tuple[int, int]] = []
        for (begin, tail, weight), (until, *_) in zip(tasks, [*tasks[1:], (-UNKNOWN,)]):
            now = max(now, begin)
            heappush(waiting, (-tail, weight))
            while waiting and now < until:
                tail, left = waiting[0]
                if left > until - now:
                    heapreplace(waiting, (tail, left - (until - now)))
                    now = until
                else:
                    heappop(waiting)
                    now += left
                    best = max(best, now - tail)
        return best

    def cliques(self, among: int, joined: list[int]) -> Iterator[list[int]]:
        """Cliques of two or more things, grown greedily from each seed by the heaviest common neighbour."""
        seen: set[int] = set()
        covered, seeds = 0, 0
        for seed in members(among):
            if covered >> seed & 1 and seeds >= TUNING.clique_seeds:
                continue
            candidates, clique = joined[seed] & among, 1 << seed
            seeds, self.steps = seeds + 1, self.steps - 1
            while candidates and self.steps > 0:
                best = candidates & -candidates
                clique |= best
                candidates &= joined[best.bit_length() - 1]
                self.steps -= 1
            covered |= clique
            if clique not in seen and clique != 1 << seed:
                seen.add(clique)
                yield members(clique)


class _Paths:
    """Longest paths over the arcs p + c <= s."""

    def __init__(self, arcs: Comparisons, n: int):
        order = np.argsort(arcs.right, kind="stable")
        self.arcs = Comparisons(*(column[order] for column in arcs))
        self.starts = np.searchsorted(self.arcs.right, np.arange(n + 1))
        self.is_last = np.bincount(arcs.right, minlength=n) > 0
        self.is_last[arcs.left] = False
        self.left = TUNING.path_arcs

    def last(self, lower: Column) -> list[int]:
        """Variables on which no other depends, at most `last_variables`, the latest first."""
        last = np.flatnonzero(self.is_last)
        return last[np.argsort(-lower[last], kind="stable")[: TUNING.last_variables]].tolist()

    def to(self, end: int) -> Column:
        """For each variable (int64 [n]) the longest path from it to `end` that the limits allow, UNKNOWN for none."""
        p, c, s = self.arcs
        longest = np.full(len(self.is_last), UNKNOWN)
        longest[end] = 0
        front = np.array([end])
        for _ in range(TUNING.path_depth):
            n = self.starts[front + 1] - self.starts[front]
            arcs = np.repeat(self.starts[front] - np.cumsum(n) + n, n) + np.arange(n.sum())
            self.left -= len(arcs)
            if not len(arcs) or self.left < 0:
                break
            length = np.minimum(longest[s[arcs]] + c[arcs], TUNING.span_time)
            longer = length > longest[p[arcs]]
            np.maximum.at(longest, p[arcs], length)
            front = distinct(p[arcs][longer])
        return longest


def groups(column: Column, *others: Column) -> Iterator[tuple]:
    """(number, part of each other column) for each number that occurs at least twice in the first column, the most
    frequent first."""
    order = np.argsort(column, kind="stable")
    ordered = column[order]
    cuts = np.flatnonzero(np.diff(ordered, prepend=-1, append=-1))
    size = np.diff(cuts)
    often = np.flatnonzero(size > 1)
    often = often[np.argsort(-size[often], kind="stable")[: TUNING.span_groups]]
    for start, end in zip(cuts[often].tolist(), cuts[often + 1].tolist()):
        yield int(ordered[start]), *(other[order[start:end]] for other in others)


def _masks(keys: Column, n: int) -> list[int]:
    """For each i < n the set of j with i * n + j among the sorted keys, as bits."""
    found, cuts = [], np.searchsorted(keys, np.arange(n + 1) * n)
    for i in range(n):
        row = np.zeros(n, bool)
        row[keys[cuts[i] : cuts[i + 1]] - i * n] = True
        found.append(int.from_bytes(np.packbits(row, bitorder="little").tobytes(), "little"))
    return found


def members(mask: int) -> list[int]:
    """The numbers of the bits that are set."""
    found = []
    while mask:
        least = mask & -mask
        found.append(least.bit_length() - 1)
        mask ^= least
    return found
