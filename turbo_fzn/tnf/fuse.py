"""Replaces trees of ternary rows by linear rows and clauses, for learners.

The ternary form gives a long sum, conjunction or disjunction a variable for each of its inner nodes. The other engines
need this, since rows of one form run in parallel lanes. For a learner each node only costs an additional trail entry
and reason. So for learners trees become single constraints again (linear_rows.py, clause_rows.py), and the links
between their rows leave the store. In a solution the rows that are left out, run in `order`, compute the links.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from turbo_fzn.base.domains import INFINITY
from turbo_fzn.tnf.clause_rows import Clauses, clause_rows
from turbo_fzn.tnf.language import TNF, Op
from turbo_fzn.tnf.linear_rows import Linears, linear_rows, with_sums
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
    """The fused rows of a TNF that proofs can derive: wide rows replace none, what leaders name stays, and so do truths
    in sums, as proofs have another form for whether two of them are equal."""
    kept = kept.copy()
    kept[[v for one in tnf.leaders for v, _ in one]] = True
    truths = (tnf.lower >= 0) & (tnf.upper <= 1)
    linears, clauses = linear_rows(tnf, kept | truths), clause_rows(tnf, kept)
    return _of_trees(with_sums(linears, tnf.leaders), clauses)


def fuse_whole(tnf: TNF) -> Fused:
    """The fused rows of a TNF without joints, each of which would hide symmetries of its terms. Truths that a row
    compares with each other stay, as proofs have another form for these."""
    kept, truths = np.zeros(tnf.n_vars, bool), (tnf.lower >= 0) & (tnf.upper <= 1)
    kept[tnf.named(outputs=False)] = True
    y, z = (side[tnf.op == Op.EQ] for side in (tnf.y, tnf.z))
    kept[y] |= truths[y] & truths[z]
    kept[z] |= truths[y] & truths[z]
    return _of_trees(linear_rows(tnf, kept, INFINITY), clause_rows(tnf, kept))


def _of_trees(linears: Linears, clauses: Clauses) -> Fused:
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
