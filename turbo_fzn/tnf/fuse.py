"""Replaces trees of ternary rows by linear rows and clauses, for learners.

The ternary form gives a long sum, conjunction or disjunction a variable for each of its inner nodes. The other engines
need this, since rows of one form run in parallel lanes. For a learner each node only costs an additional trail entry
and reason. So for learners trees become single constraints again (linear_rows.py, clause_rows.py), and the links
between their rows leave the store. In a solution the rows that are left out, run in `order`, compute the links.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from turbo_fzn.tnf.clause_rows import Clauses, clause_rows
from turbo_fzn.tnf.language import TNF
from turbo_fzn.tnf.linear_rows import Linears, linear_rows
from turbo_fzn.tnf.outsourced import outsourced


@dataclass(frozen=True, eq=False, repr=False)
class Fused:
    """The linear rows and clauses of a TNF, and the rows that they and its wide rows replace: see Linears, Clauses and
    Outsourced."""

    linears: Linears
    clauses: Clauses
    absorbed: np.ndarray
    links: np.ndarray
    order: np.ndarray


def fused_of(tnf: TNF, is_logged: bool) -> Fused:
    """The fused rows of a learner, which may log its conclusions (proof/derived.py). Variables that the search decides
    by name or a wide row names are kept."""
    kept = np.zeros(tnf.n_vars, bool)
    kept[tnf.named(outputs=False)] = True
    return fuse_for_log(tnf, kept) if is_logged else fuse(tnf, kept)


def fuse_for_log(tnf: TNF, kept: np.ndarray) -> Fused:
    """The fused rows of a TNF that proofs can derive: wide rows replace none, and truths stay in sums, as proofs have
    another form for whether two of them are equal."""
    truths = (tnf.lower >= 0) & (tnf.upper <= 1)
    linears, clauses = linear_rows(tnf, kept | truths), clause_rows(tnf, kept)
    order = np.concatenate((linears.order, clauses.order)).astype(np.int32)
    return Fused(linears, clauses, linears.absorbed | clauses.absorbed, linears.links | clauses.links, order)


def fuse(tnf: TNF, kept: np.ndarray) -> Fused:
    """The fused rows of a TNF at its root fixpoint. Variables that are `kept` (bool [n]) stay."""
    left = outsourced(tnf, kept)
    places = np.flatnonzero(~left.absorbed)
    rest = replace(tnf, op=tnf.op[places], x=tnf.x[places], y=tnf.y[places], z=tnf.z[places])
    linears, clauses = linear_rows(rest, kept), clause_rows(rest, kept)
    absorbed = left.absorbed.copy()
    absorbed[places] = linears.absorbed | clauses.absorbed
    order = np.concatenate((places[linears.order], places[clauses.order], left.order)).astype(np.int32)
    return Fused(linears, clauses, absorbed, left.links | linears.links | clauses.links, order)
