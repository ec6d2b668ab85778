"""Trees of rows: many operands combined by one associative operator.

Neighbours are combined level by level, so the depth of a tree is the logarithm of its leaves. In small trees, pairs of
leaves whose result is known are combined first, which saves the row.
"""

from __future__ import annotations

from abc import abstractmethod
from bisect import insort
from collections.abc import Iterable, Sequence
from itertools import combinations

from turbo_fzn.base.domains import INFINITY
from turbo_fzn.lower.tuning import TUNING
from turbo_fzn.lower.variables import Variables
from turbo_fzn.tnf.language import ADD, MAX, MIN, MUL

KEY_BITS = 32  # format: of one operand: as a key, a number takes less than half the memory of a tuple
BOUNDED = INFINITY // 2  # the sum of two numbers below it can be stored


class Trees(Variables):
    """The part of the builder (builder.py) that makes trees of rows."""

    share: bool
    rows: list[tuple[int, int, int, int]]  # (op, x, y, z)
    results: list[dict[int, int]]  # for each op: (y << KEY_BITS) + z -> x

    @abstractmethod
    def row(self, op: int, y: int, z: int) -> int:
        """A variable that equals y op z."""

    @abstractmethod
    def define(self, x: int, op: int, y: int, z: int) -> None:
        """States x = y op z."""

    def scaled(self, terms: Sequence[tuple[int, int]]) -> list[int]:
        """Variables for c * x, for the terms (c, x); most of them exist already."""
        known, products = self.results[MUL] if self.share else {}, []
        for c, x in terms:
            if c != 1:
                factor = self.constant(c)
                key = (x << KEY_BITS) + factor if x < factor else (factor << KEY_BITS) + x
                x = known[key] if key in known else self.row(MUL, x, factor)
            products.append(x)
        return products

    def pair(self, op: int, leaves: list[int], at_most: int) -> list[int]:
        """Combines neighbours level by level until at most `at_most` are left; in small trees, known pairs first."""
        leaves = sorted(leaves)
        n_leaves = len(leaves)
        if self.looks_for_pairs(op, n_leaves, at_most):
            self.pair_known(op, leaves, at_most)
        if n_leaves == 3 and at_most == 2 and len(leaves) == 3:
            return [self.row(op, leaves[0], leaves[1]), leaves[2]]
        return self.levels(op, leaves, at_most)

    def looks_for_pairs(self, op: int, n_leaves: int, at_most: int) -> bool:
        return (
            self.share and at_most < n_leaves <= TUNING.paired_leaves and len(self.results[op]) < TUNING.known_results
        )

    def levels(self, op: int, leaves: list[int], at_most: int) -> list[int]:
        while len(leaves) > at_most:
            odd = leaves[-1:] if len(leaves) % 2 else []
            leaves = self.level(op, leaves) + odd
        return leaves

    def level(self, op: int, leaves: list[int]) -> list[int]:
        """`row` for each two neighbours. The usual new rows are made inline, since this takes most of the time for
        large or many trees."""
        pairs = zip(leaves[::2], leaves[1::2])
        if self.share and op == ADD:
            return self.sums(pairs)
        if self.share and op in (MIN, MAX):
            return self.extremes(op, pairs)
        return [self.row(op, y, z) for y, z in pairs]

    def sums(self, pairs: Iterable[tuple[int, int]]) -> list[int]:
        """`row` of ADD for each pair; the usual case, of two unfixed variables with bounds, is made inline."""
        lower, upper, parent, known, rows = self.lower, self.upper, self.parent, self.results[ADD], self.rows
        made = []
        for y, z in pairs:
            if y > z:
                y, z = z, y
            key = (y << KEY_BITS) + z
            x = known.get(key)
            if x is None:
                ly, uy, lz, uz = lower[y], upper[y], lower[z], upper[z]
                if ly < uy and lz < uz and y != z and -BOUNDED < ly and uy < BOUNDED and -BOUNDED < lz and uz < BOUNDED:
                    x = known[key] = len(parent)
                    lower.append(ly + lz)
                    upper.append(uy + uz)
                    parent.append(x)
                    rows.append((ADD, x, y, z))
                else:
                    x = self.row(ADD, y, z)
            made.append(x)
        return made

    def extremes(self, op: int, pairs: Iterable[tuple[int, int]]) -> list[int]:
        """`row` of MIN or MAX for each pair; the usual case, of two unfixed Booleans, is made inline."""
        lower, upper, parent, known, rows = self.lower, self.upper, self.parent, self.results[op], self.rows
        made = []
        for y, z in pairs:
            if y > z:
                y, z = z, y
            key = (y << KEY_BITS) + z
            x = known.get(key)
            if x is None:
                if y != z and lower[y] == 0 == lower[z] and upper[y] == 1 == upper[z]:
                    x = known[key] = len(parent)
                    lower.append(0)
                    upper.append(1)
                    parent.append(x)
                    rows.append((op, x, y, z))
                else:
                    x = self.row(op, y, z)
            made.append(x)
        return made

    def pair_known(self, op: int, leaves: list[int], at_most: int) -> None:
        """Replaces two leaves whose result is known by this result, the first pair first, while such a pair exists."""
        known = self.results[op]
        if known.keys().isdisjoint([(y << KEY_BITS) + z for y, z in combinations(leaves, 2)]):
            return  # the usual case
        pairs = [pair for pair in combinations(leaves, 2) if (pair[0] << KEY_BITS) + pair[1] in known]
        self.replace_pairs(op, leaves, at_most, pairs)

    def replace_pairs(self, op: int, leaves: list[int], at_most: int, pairs: list[tuple[int, int]]) -> None:
        """Does the replacements of `pair_known`, given all known pairs in order."""
        known = self.results[op]
        while pairs and len(leaves) > at_most:
            y, z = pairs[0]
            leaves.remove(y)
            leaves.remove(z)
            x = self.find(known[(y << KEY_BITS) + z])
            others = set(leaves)
            pairs = [(v, w) for v, w in pairs if v in others and w in others and (v != w or leaves.count(v) > 1)]
            for v in others:
                pair = (v, x) if v < x else (x, v)
                if (pair[0] << KEY_BITS) + pair[1] in known:
                    pairs.append(pair)
            insort(leaves, x)
            pairs.sort()

    def tree(self, op: int, leaves: Sequence[int], neutral: int) -> int:
        """The root of a balanced tree; `neutral` is its value without leaves."""
        if len(leaves) == 2:
            return self.find(self.row(op, *leaves))
        if len(leaves) == 1:
            return leaves[0]
        return self.pair(op, list(leaves), 1)[0] if leaves else self.constant(neutral)

    def define_tree(self, x: int, op: int, leaves: Sequence[int], neutral: int) -> None:
        """States x = the leaves combined by op."""
        if len(leaves) < 2:
            return self.merge(x, leaves[0] if leaves else self.constant(neutral))
        if len(leaves) == 2:
            return self.define(x, op, *leaves)
        rest = self.pair(op, list(leaves), 2)
        if len(rest) == 2:
            return self.define(x, op, *rest)
        return self.merge(x, rest[0])
