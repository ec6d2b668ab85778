"""The order of a TNF's variables and rows in which search trees are searched without inner links.

Long sums, conjunctions and disjunctions are trees of ternary rows. Blocks that search a tree, or neighbourhoods, have
single linear rows in the place of such trees (linear_rows.py, clause_rows.py), and no bounds of the links between the
ternary rows: so a store is smaller, fewer rows run, and one round of propagation replaces as many rounds as a tree is
deep. All other parts of the solver use the ternary form. Its links come last, and so do the rows that linear rows
replace, so that a block stores the first variables, and runs the first rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from turbo_fzn.base.domains import INFINITY
from turbo_fzn.tnf.clause_rows import Disjunctions, disjunctions
from turbo_fzn.tnf.language import TNF, Op
from turbo_fzn.tnf.linear_rows import LinearKind, Linears, linear_rows
from turbo_fzn.tnf.tuning import TUNING


@dataclass(frozen=True, eq=False, repr=False)
class Arranged:
    """The contents of a TNF's store: the first `n_vars` variables, the first `n_rows` rows, and `sums`, of which the
    first `n_short` have few terms. In a solution the rows `order` (int32) compute the other variables; the rows of one
    level, from levels[i] to levels[i + 1] (int32), depend on earlier levels only."""

    n_vars: int
    n_rows: int
    sums: Linears
    n_short: int
    order: np.ndarray
    levels: np.ndarray


def arrange(tnf: TNF) -> tuple[TNF, np.ndarray]:
    """The TNF, at its root fixpoint, with its variables and rows in this order, `arranged` set; and the new number of
    each variable (int64 [n]). A model with real variables is unchanged."""
    number = np.arange(tnf.n_vars)
    if tnf.floats is not None or tnf.infeasible:
        return tnf, number
    kept = np.zeros(tnf.n_vars, bool)
    kept[tnf.named()] = True
    linears, either = linear_rows(tnf, kept, TUNING.arranged_terms), disjunctions(tnf, kept)
    links, absorbed = linears.links | either.links, linears.absorbed | either.absorbed
    if not absorbed.any():
        return tnf, number
    variables, rows = (np.argsort(last, kind="stable") for last in (links, absorbed))
    number[variables] = np.arange(tnf.n_vars)
    place = np.argsort(rows, kind="stable").astype(np.int32)
    moved = moved_to(tnf, number, rows)
    sums = renumbered_sums(by_size(joined(linears, as_sums(either))), number)
    order, levels = _in_levels(moved, place[np.concatenate((linears.order, either.order))])
    n_short = int((sums.sizes <= TUNING.short_terms).sum())
    moved.arranged = Arranged(int((~links).sum()), int((~absorbed).sum()), sums, n_short, order, levels)
    return moved, number


def as_sums(either: Disjunctions) -> Linears:
    """The disjunctions as sums of truths: at least one literal is true, or, with a head, exactly if the head is true.

    A literal "v is 0" counts as -v, which is one less than its truth."""
    row = np.repeat(np.arange(either.n_clauses), np.diff(either.starts))
    negative = (either.literals & 1).astype(np.int32)
    n_negative = np.bincount(row, weights=negative, minlength=either.n_clauses).astype(np.int64)
    has_head, rising = either.heads >= 0, either.heads & 1 == 0
    flip = (has_head & rising)[row]  # x <-> one of them at least, so x <-> minus their number is at most -1
    sizes = np.diff(either.starts)
    low = np.where(has_head, -INFINITY, 1 - n_negative)
    high = np.where(~has_head, INFINITY, np.where(rising, n_negative - 1, -n_negative))
    return Linears(
        kind=np.where(has_head, LinearKind.AT_MOST, LinearKind.CLAUSE).astype(np.int32),
        low=low,
        high=high,
        truth=np.where(has_head, either.heads >> 1, -1).astype(np.int32),
        starts=np.concatenate(([0], np.cumsum(sizes))).astype(np.int32),
        variables=(either.literals >> 1).astype(np.int32),
        coefficients=np.where(flip, 2 * negative - 1, 1 - 2 * negative).astype(np.int32),
        roots=either.roots,
        absorbed=either.absorbed,
        links=either.links,
        order=either.order,
    )


def joined(first: Linears, second: Linears) -> Linears:
    """The rows of both arguments together."""
    columns = ("kind", "low", "high", "truth", "variables", "coefficients", "roots", "order")
    both = {name: np.concatenate((getattr(first, name), getattr(second, name))) for name in columns}
    starts = np.concatenate((first.starts, first.starts[-1] + second.starts[1:]))
    return Linears(starts=starts, absorbed=first.absorbed | second.absorbed, links=first.links | second.links, **both)


def by_size(rows: Linears) -> Linears:
    """The rows in the order of their sizes."""
    places = np.argsort(rows.sizes, kind="stable")
    starts = np.concatenate(([0], np.cumsum(rows.sizes[places]))).astype(np.int32)
    terms = np.repeat(rows.starts[:-1][places] - starts[:-1], rows.sizes[places]) + np.arange(starts[-1])
    columns = {name: getattr(rows, name)[places] for name in ("kind", "low", "high", "truth", "roots")}
    return replace(
        rows, starts=starts, variables=rows.variables[terms], coefficients=rows.coefficients[terms], **columns
    )


def renumbered_sums(rows: Linears, number: np.ndarray) -> Linears:
    """The rows with `number` (int64 [n]) of each variable."""
    truth = np.where(rows.truth < 0, -1, number[rows.truth])
    return replace(rows, variables=number[rows.variables].astype(np.int32), truth=truth.astype(np.int32))


def moved_to(tnf: TNF, number: np.ndarray, rows: np.ndarray) -> TNF:
    """The TNF with `number` (int64 [n]) of each variable, and its rows in the order `rows`."""
    variables = np.argsort(number)
    new = number.astype(np.int32)
    ternary = tnf.op[rows] != Op.ELEMENT
    z = np.where(ternary, new[np.where(ternary, tnf.z[rows], 0)], tnf.z[rows]).astype(np.int32)
    return replace(
        tnf,
        op=tnf.op[rows],
        x=new[tnf.x[rows]],
        y=new[tnf.y[rows]],
        z=z,
        lower=tnf.lower[variables],
        upper=tnf.upper[variables],
        **tnf.names_by(number),
        inner=None if tnf.inner is None else tnf.inner[variables],
    )


def _in_levels(tnf: TNF, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The defining rows `order`, operands first, sorted by level; and where the levels begin, and the last one ends
    (int32 each)."""
    level = np.zeros(tnf.n_vars, np.int64)
    x, operands = tnf.x[order], np.stack((tnf.y[order], tnf.z[order]))
    defined = np.zeros(tnf.n_vars, bool)
    defined[x] = True
    while True:  # as many rounds as the depth of the links
        found = level[operands].max(axis=0) + defined[operands].any(axis=0)
        if np.array_equal(found, level[x]):
            break
        level[x] = found
    by_level = np.argsort(level[x], kind="stable")
    return order[by_level].astype(np.int32), np.searchsorted(
        level[x][by_level], np.arange(int(level[x].max(initial=-1)) + 2)
    ).astype(np.int32)
