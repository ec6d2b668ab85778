"""The rows that a learner with wide rows (wide.py) can omit: the rows that state the same constraint for other engines.

Inner variables of such a constraint are named by its own rows alone. With all arguments fixed the wide row decides
whether the constraint holds, and if it holds, the rows define the value of each inner variable. So rows and variables
may leave together, wherever each variable that leaves is defined by a row. A row that defines another variable stays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from turbo_fzn.tnf.language import TNF, Op
from turbo_fzn.tnf.links import NOBODY, Rows

TOTAL = (Op.ADD, Op.MUL, Op.MIN, Op.MAX, Op.EQ, Op.LEQ, Op.ELEMENT)  # operators with a result for all operands


@dataclass(frozen=True, eq=False, repr=False)
class Outsourced:
    """For a TNF with n variables and m rows: the `absorbed` rows (bool [m]), the `links` that leave with them (bool
    [n]), and the absorbed rows that define links, operands first (int32)."""

    absorbed: np.ndarray
    links: np.ndarray
    order: np.ndarray


def outsourced(tnf: TNF, kept: np.ndarray) -> Outsourced:
    """The rows that name inner variables, if all of these are links and their result is a link or fixed. Variables that
    are `kept` (bool [n]) stay."""
    rows = Rows(tnf, np.isin(tnf.op, TOTAL), np.zeros((tnf.n_rows, 3), bool))
    inner = np.zeros(tnf.n_vars, bool) if tnf.inner is None else tnf.inner & ~rows.fixed
    names = rows.named & inner[rows.slots]
    links = inner & ~kept
    while True:
        gone = names.any(axis=1) & ~(names & ~links[rows.slots]).any(axis=1) & (links | rows.fixed)[tnf.x]
        definition = _definitions(rows, gone, links)
        rank = _ranks(rows, definition, links)
        good = links & (rank != NOBODY)
        good[rows.slots[~gone][names[~gone]]] = False
        if np.array_equal(good, links):
            break
        links = good
    variables = np.flatnonzero(links)
    order = definition[variables[np.argsort(rank[variables], kind="stable")]]
    return Outsourced(gone, links, order.astype(np.int32))


def _definitions(rows: Rows, gone: np.ndarray, links: np.ndarray) -> np.ndarray:
    """The first absorbed row that defines the link, for each link (int64 [n], or NOBODY)."""
    definition = np.full(len(links), NOBODY)
    defining = np.flatnonzero(gone & rows.defines & links[rows.tnf.x])[::-1]
    definition[rows.tnf.x[defining]] = defining
    return definition


def _ranks(rows: Rows, definition: np.ndarray, links: np.ndarray) -> np.ndarray:
    """The length of the longest chain of definitions up to each link (int64 [n]); NOBODY where there is no such
    chain."""
    rank = np.where(links, NOBODY, 0)
    open_links = np.flatnonzero(links & (definition != NOBODY))
    for step in range(1, len(open_links) + 1):
        operands = rows.slots[definition[open_links], 1:]
        known = (rank[operands] != NOBODY).all(axis=1)
        if not known.any():
            break
        rank[open_links[known]] = step
        open_links = open_links[~known]
    return rank
