"""Replaces trees of ternary rows by linear rows and clauses, for learners.

The ternary form gives a long sum, conjunction or disjunction a variable for each of its inner nodes. The other engines
need this, since rows of one form run in parallel lanes. For a learner each node only costs a trail entry and a reason
more. So for learners trees become single constraints again (linear_rows.py, clause_rows.py), and the links between
their rows leave the store. In a solution the rows that are left out, run in `order`, compute the links.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from turbo_fzn.tnf.clause_rows import Clauses, clause_rows
from turbo_fzn.tnf.language import TNF
from turbo_fzn.tnf.linear_rows import Linears, linear_rows


@dataclass(frozen=True)
class Fused:
    """The linear rows and clauses of a TNF, and the rows that they replace: see Linears and Clauses."""

    linears: Linears
    clauses: Clauses

    @property
    def absorbed(self) -> np.ndarray:
        return self.linears.absorbed | self.clauses.absorbed

    @property
    def links(self) -> np.ndarray:
        return self.linears.links | self.clauses.links

    @property
    def order(self) -> np.ndarray:
        return np.concatenate((self.linears.order, self.clauses.order))


def fuse(tnf: TNF, kept: np.ndarray) -> Fused:
    """The linear rows and clauses of a TNF at its root fixpoint. Variables that are `kept` (bool [n]) stay."""
    return Fused(linear_rows(tnf, kept), clause_rows(tnf, kept))
