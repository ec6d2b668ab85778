"""The order of a store in which truths are packed (kernels/core/store.h): they stand behind variables that have bounds.

Only the kernels' arrays are in this order. What an engine gives and takes is in the order of the TNF, and `Places`
translates it; strategies keep their order, so the search is that of a usual store, but for some ties.

Problem has `packed`, whether it is for a build that packs truths; `n_wide_vars`, how many variables of the store come
before them; and `rest`, where `strategy_vars` has the variables of the store in their usual order, -1 where that is the
order of the store.
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
    each place; the first `n_wide` have bounds. `moves`: whether it is another order than that of the TNF."""

    place: np.ndarray
    order: np.ndarray
    n_wide: int
    moves: bool

    def moved(self, tnf: TNF) -> TNF:
        """The TNF with its variables in the store's order."""
        arranged = tnf.arranged
        if arranged is not None:
            arranged = replace(arranged, sums=renumbered_sums(arranged.sums, self.place))
        return replace(moved_to(tnf, self.place, np.arange(tnf.n_rows)), arranged=arranged)

    def into(self, values: np.ndarray) -> np.ndarray:
        """Numbers by variable ([n] or [n, k]), in the order of the store."""
        return values[self.order] if self.moves else values

    def back(self, values: np.ndarray) -> np.ndarray:
        """Numbers in the order of the store ([n] or [n, k]), by variable."""
        return values[self.place] if self.moves else values

    def path_into(self, path: bytes, bits: int) -> bytes:
        """The decisions of a path (engine/parcels.py), with the numbers of the store."""
        return _renumbered(path, bits, self.place) if self.moves else path

    def path_back(self, path: bytes, bits: int) -> bytes:
        """The decisions of a path of the store, with the numbers of the TNF."""
        return _renumbered(path, bits, self.order) if self.moves else path


def _renumbered(path: bytes, bits: int, numbers: np.ndarray) -> bytes:
    decisions = np.frombuffer(path, np.dtype(Decision.of(bits))).copy()
    decisions["var"] = numbers[decisions["var"]]
    return decisions.tobytes()


def unmoved(n: int, n_stored: int) -> Places:
    """The places of n variables in a usual store, which has the first ones."""
    return Places(np.arange(n), np.arange(n), n_stored, False)


def find_places(tnf: TNF, n_stored: int) -> Places:
    """The places of the variables where the first `n_stored` are in the store; truths are those that lie within 0..1 at
    the root."""
    truths = (tnf.lower >= 0) & (tnf.upper <= 1)
    group = np.where(np.arange(tnf.n_vars) < n_stored, truths, 2)
    order = np.argsort(group, kind="stable")
    place = np.empty(tnf.n_vars, np.int64)
    place[order] = np.arange(tnf.n_vars)
    return Places(place, order, int((group == 0).sum()), True)
