"""The values of a model's variables, from the values of the simplified model's variables."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from turbo_fzn.tnf import columns
from turbo_fzn.tnf.columns import Rows
from turbo_fzn.tnf.language import ELEMENT, TNF


@dataclass(eq=False, repr=False)
class Reconstruction:
    """Computes values of the original model's variables from those of the simplified model.

    `representative` is the variable that stands for the class of each original variable; the other fields are by
    representative. `position` is its simplified variable, or -1: then `value` is its constant, unless a removed
    definition computes it. `removed` contains these definitions in the order of their removal; each depends only on
    variables that were removed later or not at all.
    """

    n_vars: int
    representative: np.ndarray
    position: np.ndarray
    value: np.ndarray
    removed: list[Rows]
    tables: np.ndarray

    def values(self, compact: np.ndarray) -> np.ndarray:
        """The values of all variables of the original TNF: of one solution ([n]) or of many ([k, n])."""
        compact = np.asarray(compact, dtype=np.int64)
        values = np.broadcast_to(self.value, (*compact.shape[:-1], len(self.value))).copy()
        alive = self.position >= 0
        values[..., alive] = compact[..., self.position[alive]]
        for rows in reversed(self.removed):
            y = self.representative[rows.y]
            z = np.where(rows.op == ELEMENT, rows.z, self.representative[np.where(rows.op == ELEMENT, 0, rows.z)])
            values[..., rows.x] = columns.evaluate(rows.op, y, z, values, self.tables)
        return values[..., self.representative[: self.n_vars]]


def of_itself(tnf: TNF) -> Reconstruction:
    """The reconstruction of a model that has not been simplified."""
    identity = np.arange(tnf.n_vars)
    return Reconstruction(tnf.n_vars, identity, identity, np.zeros(tnf.n_vars, np.int64), [], tnf.tables)


def moved(back: Reconstruction, number: np.ndarray) -> Reconstruction:
    """The reconstruction after the simplified variables got new numbers (int64 [n])."""
    return replace(back, position=np.where(back.position >= 0, number[back.position], -1))
