"""Rows that want members, to branch on: a cell that a piece must cover, a piece that must lie somewhere.

A 0-1 variable has two values at most, so "smallest domain first" says nothing of a model of placements. A row "at least
k of these truths" is what a person would call a variable there, and its open members are the values: the row with the
fewest for each that it still wants comes first (algorithm X: Knuth, Dancing Links, 2000). Of the row's members the
first one is tried (rows and members in the order of the variables); where that fails, the row has one less.

The rows are read from trees of ADD and MAX, since the linear rows of arrange.py are cut into partial sums.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from turbo_fzn.tnf.arrays import distinct
from turbo_fzn.tnf.language import TNF, Op, Strategy, ValueChoice, VarChoice
from turbo_fzn.tnf.tuning import TUNING


def covering(tnf: TNF) -> Strategy | None:
    """The strategy that branches on the rows, or None: where the model has an order of its own or an objective, whose
    proofs take more conflicts by rows, and where the rows do not have most of the variables that are to be decided."""
    if tnf.annotated or tnf.sense or tnf.infeasible or not tnf.strategies:
        return None
    named = np.zeros(tnf.n_vars, bool)
    named[np.concatenate([one.variables for one in tnf.strategies])] = True
    wanted = named & (tnf.lower < tnf.upper)
    rows = sorted(_Trees(tnf, wanted).rows())  # by their members: arrange.py mixes the model's order
    members = np.array([member for row, _ in rows for member in row], np.int32)
    if len(distinct(members)) < max(wanted.sum() * TUNING.row_share, 1):
        return None
    sizes, needs = np.array([len(row) for row, _ in rows]), np.array([need for _, need in rows])
    return Strategy(VarChoice.ROW, ValueChoice.MAX, members, rows=(sizes, needs), asked=False)


class _Trees:
    """The trees of ADD and MAX rows of a TNF, whose leaves may be `wanted` variables (bool [n])."""

    def __init__(self, tnf: TNF, wanted: np.ndarray):
        self.tnf = tnf
        self.leaves = wanted & (tnf.lower >= 0) & (tnf.upper <= 1)
        own = np.flatnonzero((tnf.op == Op.ADD) | (tnf.op == Op.MAX))
        count = np.bincount(tnf.x[own], minlength=tnf.n_vars)
        partial = np.zeros(tnf.n_vars, bool)
        partial[np.concatenate((tnf.y[own], tnf.z[own]))] = True
        partial &= tnf.lower < tnf.upper
        self.tops = own[(tnf.lower[tnf.x[own]] >= 1) & ~partial[tnf.x[own]]]
        inner = own[(count[tnf.x[own]] == 1) & ~self.leaves[tnf.x[own]]]
        self.definition = dict(zip(tnf.x[inner].tolist(), inner.tolist()))

    def rows(self) -> Iterator[tuple[list[int], int]]:
        """(open members, how many of them must be 1) of each row that wants some; none beyond `row_members`."""
        room = TUNING.row_members
        for top in self.tops.tolist():
            members, need = self._members(top, room)
            if members and 0 < need <= len(members):
                room -= len(members)
                yield members, need

    def _members(self, top: int, room: int) -> tuple[list[int], int]:
        """The open leaves of a tree, and its least value less the leaves that are fixed; no leaves where they are more
        than `room`, or where one of them is no wanted truth."""
        tnf, found, expanded = self.tnf, dict[int, None](), set[int]()  # a definition may lead back to itself
        operator, need = tnf.op[top], int(tnf.lower[tnf.x[top]])
        todo = [int(tnf.z[top]), int(tnf.y[top])]
        while todo:
            var = todo.pop()
            row = self.definition.get(var)
            if tnf.lower[var] == tnf.upper[var]:
                need -= int(tnf.lower[var])
            elif row is not None and tnf.op[row] == operator and var not in expanded:
                expanded.add(var)
                todo += int(tnf.z[row]), int(tnf.y[row])
            elif not self.leaves[var] or var in found or len(found) >= room:
                return [], 0
            else:
                found[var] = None
        return sorted(found), need
