"""What learners search in the place of trees of ternary rows: linear rows and clauses.

The ternary form gives a long sum, conjunction or disjunction a variable for each of its inner nodes. The other engines
need that: their rows are alike, and run in lanes. A learner does not, and for it a node is an entry of the trail more
and a reason more. So for learners trees are stated as a whole again (linear_rows.py, clause_rows.py), and the links
between their rows leave the store. A solution gives them back: run in `order`, the rows that are left out say what each
link is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from turbo_fzn.tnf.clause_rows import Clauses, clause_rows
from turbo_fzn.tnf.language import TNF
from turbo_fzn.tnf.linear_rows import Linears, linear_rows


@dataclass(frozen=True)
class Fused:
    """The linear rows and clauses of a TNF, and what they stand for: see Linears and Clauses."""

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
    """Those of a TNF at its root fixpoint. Variables that are `kept` (bool [n]) stay."""
    return Fused(linear_rows(tnf, kept), clause_rows(tnf, kept))
