"""Links: variables that only pass a value on, from the one row that defines them to the one row that uses them.

Long sums, conjunctions and disjunctions are trees of ternary rows. `Links` says which variables are such inner nodes
for rows of a kind, and `Trees` which rows hang together by them, so that a tree can be stated as a whole (fuse.py).

Everything here is done by columns, for a model may have a hundred thousand such rows.
"""

from __future__ import annotations

import numpy as np

from turbo_fzn.tnf.language import TNF, Op

NOBODY = -1


class Rows:
    """The rows of a TNF of one kind: `defines` (bool [m]) those whose x is given by the rest, `uses` (bool [m, 3]) the
    slots at which they may use a link. Slot 0 is x, slot 1 y, slot 2 z; `slots` (int [m, 3]) are their variables."""

    def __init__(self, tnf: TNF, defines: np.ndarray, uses: np.ndarray):
        self.tnf = tnf
        self.fixed = tnf.lower == tnf.upper
        self.named = np.ones((tnf.n_rows, 3), bool)
        self.named[tnf.op == Op.ELEMENT, 2] = False  # an offset, no variable
        self.slots = np.where(self.named, np.stack((tnf.x, tnf.y, tnf.z), axis=1), tnf.x[:, None])
        apart = (tnf.x != self.slots[:, 1]) & (tnf.x != self.slots[:, 2])
        self.defines = defines & apart
        self.uses = uses & self.named & apart[:, None]


class Links:
    """Variables that may leave: of each the row that defines it (int64 [n], NOBODY where it is no link), and the row
    and slot that use it (NOBODY where no row does)."""

    def __init__(self, rows: Rows, kept: np.ndarray):
        tnf = rows.tnf
        count = np.bincount(rows.slots[rows.named], minlength=tnf.n_vars)
        defining = np.flatnonzero(rows.defines)[::-1]
        self.definition = np.full(tnf.n_vars, NOBODY, np.int64)
        self.definition[tnf.x[defining]] = defining  # of several the first
        self.user = np.full(tnf.n_vars, NOBODY, np.int64)
        self.slot = np.zeros(tnf.n_vars, np.int64)
        good = self.mask & ~kept & ~rows.fixed & (count <= 2)
        if tnf.floats is not None:
            good &= ~tnf.floats.mask
        elsewhere = self.definition[rows.slots] != np.arange(tnf.n_rows)[:, None]
        row, slot = np.nonzero(rows.named & good[rows.slots] & elsewhere)
        variable = rows.slots[row, slot]
        self.user[variable], self.slot[variable] = row, slot
        good[variable[~rows.uses[row, slot]]] = False
        good &= (count == 1) | (self.user != NOBODY)  # else it is named twice by the row that defines it
        self.keep(good)

    @property
    def mask(self) -> np.ndarray:
        return self.definition != NOBODY

    @property
    def inner(self) -> np.ndarray:
        """Those that a row uses."""
        return self.mask & (self.user != NOBODY)

    def keep(self, mask: np.ndarray) -> None:
        """No others are links."""
        self.definition[~mask] = self.user[~mask] = NOBODY


class Trees:
    """Rows joined by links. Of each row (int64 [m]) the `root` of its tree, how far that is (`depth`), and the `weight`
    (float64, so that what is too large is seen) that its value has in the root: the product of the `factors`
    (int64 [m, 3]) of the slots on the way."""

    def __init__(self, rows: Rows, links: Links, factors: np.ndarray):
        n = rows.tnf.n_rows
        self.parent = np.arange(n)
        self.weight = np.ones(n)
        self.depth = np.zeros(n, np.int64)
        inner = np.flatnonzero(links.inner)
        row, user = links.definition[inner], links.user[inner]
        self.parent[row], self.depth[row] = user, 1
        self.weight[row] = factors[user, links.slot[inner]]
        self._find_roots()

    def _find_roots(self) -> None:
        """By pointer jumping. Rows that go round in a circle find no root, and join nothing."""
        for _ in range(len(self.parent).bit_length() + 1):
            with np.errstate(over="ignore", invalid="ignore"):
                self.weight = self.weight * self.weight[self.parent]
            self.depth = self.depth + self.depth[self.parent]
            self.parent = self.parent[self.parent]
        self.root = np.where(self.depth[self.parent] == 0, self.parent, NOBODY)

    def roots(self) -> np.ndarray:
        """Of the trees of two rows and more."""
        size = np.bincount(self.root[self.root != NOBODY], minlength=len(self.root))
        return np.flatnonzero(size >= 2)

    def numbers(self, roots: np.ndarray) -> np.ndarray:
        """Of each row the place of its tree's root among these, or NOBODY."""
        place = np.full(len(self.root) + 1, NOBODY)  # NOBODY's own is the last
        place[roots] = np.arange(len(roots))
        return place[self.root]


def defining_order(links: Links, trees: Trees, gone: np.ndarray) -> np.ndarray:
    """The rows that define the links that have `gone` (bool [n]), operands before what they define (int32)."""
    definitions = links.definition[gone]
    return definitions[np.argsort(-trees.depth[definitions], kind="stable")].astype(np.int32)
