"""Links: variables that only pass a value on, from the only row that defines them to the only row that uses them.

Long sums, conjunctions and disjunctions are trees of ternary rows. `Links` finds the variables that are inner nodes of
such trees for rows of a kind, and `Trees` the rows that they connect, so that a tree can become one constraint
(fuse.py).

All computations are by columns, since a model may have a hundred thousand such rows.
"""

from __future__ import annotations

import numpy as np

from turbo_fzn.tnf.language import TNF, Op

NOBODY = -1  # format: in place of a row


class Rows:
    """The rows of one kind in a TNF: `defines` (bool [m]) are those whose operands determine x, `uses` (bool [m, 3])
    the slots that may hold a link. Slot 0 is x, slot 1 y, slot 2 z; `slots` (int [m, 3]) are their variables."""

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
    """The links: `definition` (int64 [n]) is the row that defines a link, NOBODY for other variables; `user` and `slot`
    (int64 [n]) are the row and the slot that use it, NOBODY where no row does."""

    def __init__(self, rows: Rows, kept: np.ndarray):
        tnf = rows.tnf
        count = np.bincount(rows.slots[rows.named], minlength=tnf.n_vars)
        defining = np.flatnonzero(rows.defines)[::-1]
        self.definition = np.full(tnf.n_vars, NOBODY, np.int64)
        self.definition[tnf.x[defining]] = defining  # the first row, where there are several
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
        good &= (count == 1) | (self.user != NOBODY)  # otherwise it occurs twice in its defining row
        self.keep(good)

    @property
    def mask(self) -> np.ndarray:
        return self.definition != NOBODY

    @property
    def inner(self) -> np.ndarray:
        """The links that a row uses (bool [n])."""
        return self.mask & (self.user != NOBODY)

    def keep(self, mask: np.ndarray) -> None:
        """Removes the links outside of `mask` (bool [n])."""
        self.definition[~mask] = self.user[~mask] = NOBODY


class Trees:
    """The trees of rows that links join: for each row the `root` of its tree and the `depth` below it (int64 [m]), and
    its `weight` in the root (float64, so that an overflow is seen): the product of the `factors` (int64 [m, 3]) of the
    slots on the way."""

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
        """Computes root, depth and weight by pointer jumping. Rows on a cycle get the root NOBODY."""
        for _ in range(len(self.parent).bit_length() + 1):
            with np.errstate(over="ignore", invalid="ignore"):
                self.weight = self.weight * self.weight[self.parent]
            self.depth = self.depth + self.depth[self.parent]
            self.parent = self.parent[self.parent]
        self.root = np.where(self.depth[self.parent] == 0, self.parent, NOBODY)

    def roots(self) -> np.ndarray:
        """The roots of the trees of two or more rows."""
        size = np.bincount(self.root[self.root != NOBODY], minlength=len(self.root))
        return np.flatnonzero(size >= 2)

    def numbers(self, roots: np.ndarray) -> np.ndarray:
        """The place of each row's root in `roots` (int64 [m]), NOBODY where it is not in `roots`."""
        place = np.full(len(self.root) + 1, NOBODY)  # the last entry is for the index NOBODY
        place[roots] = np.arange(len(roots))
        return place[self.root]


def defining_order(links: Links, trees: Trees, gone: np.ndarray) -> np.ndarray:
    """The rows (int32) that define the links in `gone` (bool [n]), each after the rows that define its operands."""
    definitions = links.definition[gone]
    return definitions[np.argsort(-trees.depth[definitions], kind="stable")].astype(np.int32)
