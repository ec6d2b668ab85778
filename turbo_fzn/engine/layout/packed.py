"""The order of a store in which truths are packed (kernels/core/store.h): they stand behind variables that have bounds.

Only the kernels' arrays are in this order. What an engine gives and takes is in the order of the TNF, and `Places`
translates it; so a search decides the same variables in the same order as without.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from turbo_fzn.engine.abi.abi import Decision
from turbo_fzn.tnf.arrange import moved_to, renumbered_sums
from turbo_fzn.tnf.language import TNF


@dataclass(frozen=True, eq=False, repr=False)
class Places:
    """`place` (int64 [n]) is the number in the store's order of each variable, and `order` (int64 [n]) the variable at
    each place; the first `n_wide` have bounds."""

    place: np.ndarray
    order: np.ndarray
    n_wide: int

    def moved(self, tnf: TNF) -> TNF:
        """The TNF with its variables in the store's order."""
        arranged = tnf.arranged
        if arranged is not None:
            arranged = replace(arranged, sums=renumbered_sums(arranged.sums, self.place))
        return replace(moved_to(tnf, self.place, np.arange(tnf.n_rows)), arranged=arranged)

    def paths(self, path: bytes, bits: int, numbers: np.ndarray) -> bytes:
        """The decisions of a path (engine/parcels.py) on variables that have other `numbers` now."""
        decisions = np.frombuffer(path, np.dtype(Decision.of(bits))).copy()
        decisions["var"] = numbers[decisions["var"]]
        return decisions.tobytes()


def find_places(tnf: TNF, n_stored: int) -> Places:
    """The places of the variables where the first `n_stored` are in the store; truths are those that lie within 0..1 at
    the root."""
    truths = (tnf.lower >= 0) & (tnf.upper <= 1)
    group = np.where(np.arange(tnf.n_vars) < n_stored, truths, 2)
    order = np.argsort(group, kind="stable")
    place = np.empty(tnf.n_vars, np.int64)
    place[order] = np.arange(tnf.n_vars)
    return Places(place, order, int((group == 0).sum()))
