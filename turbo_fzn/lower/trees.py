"""Trees of rows: many operands combined by one associative operator.

Neighbours are combined level by level, so that a tree is as deep as the logarithm of its leaves. Of few leaves those
are combined first whose pair is known already, which saves the row.
"""

from __future__ import annotations

from abc import abstractmethod
from bisect import insort
from collections.abc import Iterable, Sequence
from itertools import combinations

from turbo_fzn.domains import INFINITY
from turbo_fzn.lower.variables import Variables
from turbo_fzn.tnf.language import ADD, MAX, MIN, MUL

KEY_BITS = 32  # of one operand: a number is a key of less than half the memory that a tuple takes
PAIRED = 8  # leaves of a tree for which known pairs are looked for
MANY_RESULTS = 2**18  # of one operator: from then on the look for known pairs takes longer than the rows that it saves
BOUNDED = INFINITY // 2  # the sum of two below that can be stored


class Trees(Variables):
    """What the builder (builder.py) makes of its rows."""

    share: bool
    rows: list[tuple[int, int, int, int]]  # (op, x, y, z)
    results: list[dict[int, int]]  # of each op: (y << KEY_BITS) + z -> x

    @abstractmethod
    def row(self, op: int, y: int, z: int) -> int:
        """A variable that equals y op z."""

    @abstractmethod
    def define(self, x: int, op: int, y: int, z: int) -> None:
        """State x = y op z."""

    def scaled(self, terms: Sequence[tuple[int, int]]) -> list[int]:
        """The variables c * x of the terms (c, x). Most products are known."""
        known, products = self.results[MUL] if self.share else {}, []
        for c, x in terms:
            if c != 1:
                factor = self.constant(c)
                key = (x << KEY_BITS) + factor if x < factor else (factor << KEY_BITS) + x
                x = known[key] if key in known else self.row(MUL, x, factor)
            products.append(x)
        return products

    def pair(self, op: int, leaves: list[int], at_most: int) -> list[int]:
        """Combine neighbours level by level until at most that many are left; known pairs first when there are few."""
        leaves = sorted(leaves)
        n_leaves = len(leaves)
        if self.looks_for_pairs(op, n_leaves, at_most):
            self.pair_known(op, leaves, at_most)
        if n_leaves == 3 and at_most == 2 and len(leaves) == 3:
            return [self.row(op, leaves[0], leaves[1]), leaves[2]]
        return self.levels(op, leaves, at_most)

    def looks_for_pairs(self, op: int, n_leaves: int, at_most: int) -> bool:
        return self.share and at_most < n_leaves <= PAIRED and len(self.results[op]) < MANY_RESULTS

    def levels(self, op: int, leaves: list[int], at_most: int) -> list[int]:
        while len(leaves) > at_most:
            odd = leaves[-1:] if len(leaves) % 2 else []
            leaves = self.level(op, leaves) + odd
        return leaves

    def level(self, op: int, leaves: list[int]) -> list[int]:
        """`row` of neighbours, two by two. What is new and as usual is made in place: large trees, and many small ones,
        take most of their time here."""
        pairs = zip(leaves[::2], leaves[1::2])
        if self.share and op == ADD:
            return self.sums(pairs)
        if self.share and op in (MIN, MAX):
            return self.extremes(op, pairs)
        return [self.row(op, y, z) for y, z in pairs]

    def sums(self, pairs: Iterable[tuple[int, int]]) -> list[int]:
        """Those of two variables without a value that have bounds are as usual."""
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
        """Those of two Booleans without a value are as usual."""
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
        """Put what is known in the place of two leaves, the first such pair first, as long as there is one."""
        known = self.results[op]
        if known.keys().isdisjoint([(y << KEY_BITS) + z for y, z in combinations(leaves, 2)]):
            return  # as for most
        pairs = [pair for pair in combinations(leaves, 2) if (pair[0] << KEY_BITS) + pair[1] in known]
        self.replace_pairs(op, leaves, at_most, pairs)

    def replace_pairs(self, op: int, leaves: list[int], at_most: int, pairs: list[tuple[int, int]]) -> None:
        """The same where these pairs, in order, are all that are known."""
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
        """A balanced tree; `neutral` is the value without leaves."""
        if len(leaves) == 2:
            return self.find(self.row(op, *leaves))
        if len(leaves) == 1:
            return leaves[0]
        return self.pair(op, list(leaves), 1)[0] if leaves else self.constant(neutral)

    def define_tree(self, x: int, op: int, leaves: Sequence[int], neutral: int) -> None:
        """State x = the leaves combined by op."""
        if len(leaves) < 2:
            return self.merge(x, leaves[0] if leaves else self.constant(neutral))
        if len(leaves) == 2:
            return self.define(x, op, *leaves)
        rest = self.pair(op, list(leaves), 2)
        if len(rest) == 2:
            return self.define(x, op, *rest)
        return self.merge(x, rest[0])
