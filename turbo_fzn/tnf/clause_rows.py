"""Clauses for learners: conjunctions and disjunctions of truth values, made from trees of ternary rows.

A tree of MAX over 0..1 states x = v1 or ... or vk, which is one clause of k + 1 literals and k clauses of two (Tseitin,
1968); a tree of MIN states this for the negations. The inner nodes of the tree leave the learner's store.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from turbo_fzn.tnf.arrays import distinct_rows
from turbo_fzn.tnf.language import TNF, Op
from turbo_fzn.tnf.links import NOBODY, Links, Rows, Trees, defining_order


@dataclass(frozen=True, eq=False, repr=False)
class Clauses:
    """Clauses over truth values of a TNF with n variables and m rows, and the rows that they replace.

    Clause i has `literals` (int32) starts[i] … starts[i + 1] (int32 [k + 1]): 2v is "variable v is 1", 2v + 1 is "it is
    0". It follows from the tree below the row roots[i] (int32). `absorbed` (bool [m]) are the replaced rows, `links`
    (bool [n]) the variables that leave with them; `order` (int32) are the absorbed rows that define these, operands
    first.
    """

    starts: np.ndarray
    literals: np.ndarray
    roots: np.ndarray
    absorbed: np.ndarray
    links: np.ndarray
    order: np.ndarray

    @property
    def n_clauses(self) -> int:
        return len(self.starts) - 1


@dataclass(frozen=True, eq=False, repr=False)
class Disjunctions(Clauses):
    """Rows "head <-> at least one of the literals", as Clauses: `heads` (int32) has the literal of each head, NOBODY
    where a literal must be true."""

    heads: np.ndarray


def disjunctions(tnf: TNF, kept: np.ndarray) -> Disjunctions:
    """The disjunctions of a TNF at its root fixpoint. Variables that are `kept` (bool [n]) stay; others may go."""
    parts = [_of_operator(tnf, kept, op) for op in (Op.MIN, Op.MAX)]
    heads = np.concatenate([part.heads for part in parts])
    starts = np.concatenate(([0], np.cumsum(np.concatenate([np.diff(part.starts) for part in parts]))))
    columns = zip(*((part.literals, part.roots, part.order) for part in parts))
    literals, roots, order = map(np.concatenate, columns)
    return Disjunctions(
        starts.astype(np.int32), literals.astype(np.int32), roots, parts[0].absorbed | parts[1].absorbed,
        parts[0].links | parts[1].links, order, heads.astype(np.int32),
    )  # fmt: skip


def clause_rows(tnf: TNF, kept: np.ndarray) -> Clauses:
    """The clauses of the disjunctions of a TNF, as `disjunctions`."""
    rows = disjunctions(tnf, kept)
    owner, literals, roots = _clauses_of(rows)
    starts = np.concatenate(([0], np.cumsum(np.bincount(owner)))) if len(owner) else np.zeros(1, np.int64)
    return Clauses(starts.astype(np.int32), literals.astype(np.int32), roots, rows.absorbed, rows.links, rows.order)


def _of_operator(tnf: TNF, kept: np.ndarray, op: Op) -> Disjunctions:
    """The disjunctions of the trees of MIN or MAX: for a minimum, the disjunction of the negations."""
    truth = (tnf.lower >= 0) & (tnf.upper <= 1)
    mine = np.flatnonzero(tnf.op == op)
    defines = np.zeros(tnf.n_rows, bool)
    defines[mine] = truth[tnf.x[mine]] & truth[tnf.y[mine]] & truth[tnf.z[mine]]
    uses = defines[:, None] & np.array([False, True, True])
    rows = Rows(tnf, defines, uses)
    links = Links(rows, kept)
    links.keep(links.inner)
    trees = Trees(rows, links, np.ones((tnf.n_rows, 3), np.int64))
    roots = trees.roots()
    tree, leaves = _leaves(rows, links, trees.numbers(roots))
    good = _good_trees(tnf, op, roots, tree, leaves)
    roots, renumbered = roots[good], np.cumsum(good) - 1
    stay = good[tree] & (tnf.lower[leaves] < tnf.upper[leaves])
    tree, leaves = renumbered[tree[stay]], leaves[stay]
    absorbed = trees.numbers(roots) != NOBODY
    gone = links.mask
    gone[gone] = absorbed[links.definition[gone]]
    flip, x = int(op == Op.MIN), tnf.x[roots]
    heads = np.where(tnf.lower[x] == tnf.upper[x], NOBODY, 2 * x + flip)
    starts = np.concatenate(([0], np.cumsum(np.bincount(tree, minlength=len(roots)))))
    order = defining_order(links, trees, gone)
    return Disjunctions(starts, 2 * leaves + flip, roots.astype(np.int32), absorbed, gone, order, heads)


def _leaves(rows: Rows, links: Links, number: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(tree, variable) of the operands that are not links, distinct, sorted by tree."""
    joined = np.flatnonzero(number != NOBODY)
    row, slot = np.nonzero(~links.mask[rows.slots[joined, 1:]])
    at = joined[row]
    pairs = distinct_rows(np.stack((number[at], rows.slots[at, slot + 1]), axis=1))
    return pairs[:, 0], pairs[:, 1]


def _good_trees(tnf: TNF, op: Op, roots: np.ndarray, tree: np.ndarray, leaves: np.ndarray) -> np.ndarray:
    """The trees (bool) whose clauses are not implied by the root bounds, and whose x is not one of their leaves."""
    decides = tnf.lower[leaves] == 1 if op == Op.MAX else tnf.upper[leaves] == 0
    open_leaves = np.bincount(tree[tnf.lower[leaves] < tnf.upper[leaves]], minlength=len(roots))
    good = open_leaves >= 2
    good[tree[decides | (leaves == tnf.x[roots[tree]])]] = False
    x = tnf.x[roots]
    return good & ~(tnf.upper[x] == 0 if op == Op.MAX else tnf.lower[x] == 1)  # else each leaf has this value, too


def _clauses_of(rows: Disjunctions) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(clause, literal) in ascending order: a clause of each disjunction, then the clauses of two literals of
    disjunctions with a head; and the root of each clause."""
    tree, has_head = np.repeat(np.arange(rows.n_clauses), np.diff(rows.starts)), rows.heads != NOBODY
    owner = np.concatenate((tree, np.flatnonzero(has_head)))
    literal = np.concatenate((rows.literals, rows.heads[has_head] ^ 1))
    by_owner = np.argsort(owner, kind="stable")
    pairs = has_head[tree]
    first, second = rows.heads[tree[pairs]], rows.literals[pairs] ^ 1
    owner = np.concatenate((owner[by_owner], rows.n_clauses + np.repeat(np.arange(pairs.sum()), 2)))
    literals = np.concatenate((literal[by_owner], np.stack((first, second), axis=1).reshape(-1)))
    return owner, literals, np.concatenate((rows.roots, rows.roots[tree[pairs]]))
