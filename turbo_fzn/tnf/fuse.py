"""What learners search in the place of trees of ternary rows: linear rows and clauses.

The ternary form gives a long sum, conjunction or disjunction a variable for each of its inner nodes. The other engines
need that: their rows are alike, and run in lanes. A learner does not, and for it a node is an entry of the trail more
and a reason more. So for learners trees are stated as a whole again (linear_rows.py, clause_rows.py), and the links
between their rows leave the store. A solution gives them back: run in `order`, the rows that are left out say what each
link is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from turbo_fzn.tnf.clause_rows import Clauses, clause_rows
from turbo_fzn.tnf.language import TNF
from turbo_fzn.tnf.linear_rows import Linears, linear_rows
from turbo_fzn.tnf.outsourced import outsourced


@dataclass(frozen=True)
class Fused:
    """The linear rows and clauses of a TNF, and what they and its wide rows stand for: see Linears, Clauses and
    Outsourced."""

    linears: Linears
    clauses: Clauses
    absorbed: np.ndarray
    links: np.ndarray
    order: np.ndarray


def fuse(tnf: TNF, kept: np.ndarray) -> Fused:
    """Those of a TNF at its root fixpoint. Variables that are `kept` (bool [n]) stay."""
    left = outsourced(tnf, kept)
    places = np.flatnonzero(~left.absorbed)
    rest = replace(tnf, op=tnf.op[places], x=tnf.x[places], y=tnf.y[places], z=tnf.z[places])
    linears, clauses = linear_rows(rest, kept), clause_rows(rest, kept)
    absorbed = left.absorbed.copy()
    absorbed[places] = linears.absorbed | clauses.absorbed
    order = np.concatenate((places[linears.order], places[clauses.order], left.order)).astype(np.int32)
    return Fused(linears, clauses, absorbed, left.links | linears.links | clauses.links, order)
