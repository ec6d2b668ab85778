"""Watch lists: the rows to wake when a bound of a variable changes; `wake_lists` has the lists of learners' own rows.

Each variable has one list of rows in three segments: rows that watch its lower bound only, either bound, its upper
bound only. So a record of four numbers (`Watch` of abi.py) gives the rows of each event (docs/design/architecture.md).
"""

from __future__ import annotations

import numpy as np

from turbo_fzn.engine.layout.holes import Holes
from turbo_fzn.tnf.language import TNF, Op

WAKE_LOWER, WAKE_UPPER, WAKE_BOTH = 1, 2, 3  # format: bits of a watcher


def wake_masks(tnf: TNF) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The bound changes of a row's x, y and z (uint8 [m] each, bits WAKE_*) after which the row may tighten a bound.

    A row that can tighten one bound of a variable is woken by the other, see kernels/core/propagate.h.
    """
    x, y, z = (np.full(tnf.n_rows, WAKE_BOTH, np.uint8) for _ in range(3))
    x_true = tnf.lower[tnf.x] == 1
    x_false = tnf.upper[tnf.x] == 0
    x_fixed = tnf.lower[tnf.x] == tnf.upper[tnf.x]
    leq = tnf.op == Op.LEQ
    for rows, y_mask, z_mask in (
        (leq & x_true, WAKE_LOWER, WAKE_UPPER),  # y <= z
        (leq & x_false, WAKE_UPPER, WAKE_LOWER),  # y > z
        ((tnf.op == Op.MIN) & x_fixed, WAKE_LOWER, WAKE_LOWER),  # if one operand rises, the other is the minimum
        ((tnf.op == Op.MAX) & x_fixed, WAKE_UPPER, WAKE_UPPER),
    ):
        y[rows] = y_mask
        z[rows] = z_mask
    z[tnf.op == Op.ELEMENT] = 0
    return x, y, z


def watch_lists(
    tnf: TNF, holes: Holes | None = None, others: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """(watches int32 [n, 4], watchers int32 [k]) in the form of `Watch` of abi.py, for the variables and then the words
    of holes. Fixed variables wake no rows. `others`: (variables, changes, rows) of rows that are not ternary.

    A watcher is packed into one number, of variable, segment and row, since NumPy sorts numbers fastest.
    """
    x, y, z = tnf.x, tnf.y, np.where(tnf.op == Op.ELEMENT, tnf.y, tnf.z)
    x_mask, y_mask, z_mask = wake_masks(tnf)
    for same, mask, kept in ((z == x, z_mask, x_mask), (y == x, y_mask, x_mask), (z == y, z_mask, y_mask)):
        kept[same] |= mask[same]  # a variable twice in a row: one watcher, both masks
        mask[same] = 0
    segment = np.array([0, 0, 2, 1])  # lower only, either, upper only
    watchers = []
    every = np.arange(tnf.n_rows)
    parts = [(x, x_mask, every), (y, y_mask, every), (z, z_mask, every), *([others] if others is not None else [])]
    for variables, masks, rows in parts:
        wakes = np.flatnonzero((masks != 0) & (tnf.lower[variables] != tnf.upper[variables]))
        watchers.append((variables[wakes].astype(np.int64) * 3 + segment[masks[wakes]]) << 32 | rows[wakes])
    n = tnf.n_vars
    if holes is not None:  # a word grows, as a lower bound does
        n, (words, rows) = n + holes.n_words, holes.watches
        watchers.append((words * 3 + segment[WAKE_LOWER]) << 32 | rows)
    sorted_watchers = np.sort(np.concatenate(watchers))
    starts = np.concatenate(([0], np.cumsum(np.bincount(sorted_watchers >> 32, minlength=3 * n))))
    watches = starts[np.arange(n)[:, None] * 3 + np.arange(4)]
    return watches.astype(np.int32), sorted_watchers.astype(np.int32)  # the lower half


def wake_lists(sides: np.ndarray, rows: np.ndarray, n_sides: int) -> np.ndarray:
    """One list (int32) of the rows that a change of each side wakes, by pairs of a side and a row: first n_sides + 1
    places in the list, where the rows of each side begin, then the rows."""
    order = np.lexsort((rows, sides))
    starts = n_sides + 1 + np.concatenate(([0], np.cumsum(np.bincount(sides, minlength=n_sides))))
    return np.concatenate((starts, rows[order])).astype(np.int32)
