"""Clauses for learners: conjunctions and disjunctions of truth values, made from trees of ternary rows.

A tree of MAX over 0..1 states x = v1 or ... or vk, which is one clause of k + 1 literals and k clauses of two (Tseitin,
1968); a tree of MIN states this for the negations. The inner nodes of the tree leave the learner's store.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from turbo_fzn.tnf.language import TNF, Op
from turbo_fzn.tnf.links import NOBODY, Links, Rows, Trees, defining_order


@dataclass(frozen=True)
class Clauses:
    """Clauses over truth values of a TNF with n variables and m rows, and the rows that they replace.

    Clause i has `literals` (int32) starts[i] … starts[i + 1] (int32 [k + 1]): 2v is "variable v is 1", 2v + 1 is "it is
    0". `absorbed` (bool [m]) are the replaced rows, `links` (bool [n]) the variables that leave with them; `order`
    (int32) are the absorbed rows that define these, operands first.
    """

    starts: np.ndarray
    literals: np.ndarray
    absorbed: np.ndarray
    links: np.ndarray
    order: np.ndarray

    @property
    def n_clauses(self) -> int:
        return len(self.starts) - 1


def clause_rows(tnf: TNF, kept: np.ndarray) -> Clauses:
    """The clauses of a TNF at its root fixpoint. Variables that are `kept` (bool [n]) stay, others may be links."""
    parts = [_of_operator(tnf, kept, op) for op in (Op.MIN, Op.MAX)]
    owner = np.concatenate([clause for clause, *_ in parts])  # the clause of each literal, counted from 0 in each part
    sizes = [np.bincount(clause) if len(clause) else np.empty(0, np.int64) for clause, *_ in parts]
    starts = np.concatenate(([0], np.cumsum(np.concatenate(sizes))))
    assert starts[-1] == len(owner)
    literals, absorbed, links, order = (list(column) for column in list(zip(*parts))[1:])
    return Clauses(
        starts.astype(np.int32), np.concatenate(literals).astype(np.int32), absorbed[0] | absorbed[1],
        links[0] | links[1], np.concatenate(order),
    )  # fmt: skip


def _of_operator(tnf: TNF, kept: np.ndarray, op: Op) -> tuple[np.ndarray, ...]:
    """The clauses of the trees of MIN or MAX: the clause of each literal in ascending order, and the literal; then
    absorbed rows, links and order, as in Clauses."""
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
    stay = good[tree] & (tnf.lower[leaves] < tnf.upper[leaves])
    clause, literals = _state(tnf, op, roots[good], (np.cumsum(good) - 1)[tree[stay]], leaves[stay])
    absorbed = trees.numbers(roots[good]) != NOBODY
    gone = links.mask
    gone[gone] = absorbed[links.definition[gone]]
    return clause, literals, absorbed, gone, defining_order(links, trees, gone)


def _leaves(rows: Rows, links: Links, number: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(tree, variable) of the operands that are not links, distinct, sorted by tree."""
    joined = np.flatnonzero(number != NOBODY)
    row, slot = np.nonzero(~links.mask[rows.slots[joined, 1:]])
    at = joined[row]
    pairs = np.unique(np.stack((number[at], rows.slots[at, slot + 1])), axis=1)
    return pairs[0], pairs[1]


def _good_trees(tnf: TNF, op: Op, roots: np.ndarray, tree: np.ndarray, leaves: np.ndarray) -> np.ndarray:
    """The trees (bool) whose clauses add something to the root bounds, and whose x is not one of their leaves."""
    decides = tnf.lower[leaves] == 1 if op == Op.MAX else tnf.upper[leaves] == 0
    open_leaves = np.bincount(tree[tnf.lower[leaves] < tnf.upper[leaves]], minlength=len(roots))
    good = open_leaves >= 2
    good[tree[decides | (leaves == tnf.x[roots[tree]])]] = False
    x = tnf.x[roots]
    return good & ~(tnf.upper[x] == 0 if op == Op.MAX else tnf.lower[x] == 1)  # else each leaf has this value, too


def _state(tnf: TNF, op: Op, roots: np.ndarray, tree: np.ndarray, leaves: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(clause, literal) of the clauses for x = the minimum or maximum of the leaves of each tree: the long clauses,
    then those of two literals where x is not fixed."""
    flip = int(op == Op.MIN)
    x = tnf.x[roots]
    known = tnf.lower[x] == tnf.upper[x]
    long_owner = np.concatenate((tree, np.flatnonzero(~known)))
    long_literal = np.concatenate((2 * leaves + flip, 2 * x[~known] + (1 - flip)))
    by_owner = np.argsort(long_owner, kind="stable")
    pairs = ~known[tree]
    first, second = 2 * x[tree[pairs]] + flip, 2 * leaves[pairs] + (1 - flip)
    owner = np.concatenate((long_owner[by_owner], len(roots) + np.repeat(np.arange(pairs.sum()), 2)))
    return owner, np.concatenate((long_literal[by_owner], np.stack((first, second), axis=1).reshape(-1)))
