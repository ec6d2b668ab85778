"""The contents of a block's store (tnf/arrange.py) -> the arrays that the kernels read: see Problem of abi.py."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from turbo_fzn.base.domains import INFINITY
from turbo_fzn.engine.abi.abi import Problem
from turbo_fzn.engine.abi.aligned import columns
from turbo_fzn.engine.abi.model_records import Linear, Term
from turbo_fzn.engine.layout.watch import WAKE_BOTH, WAKE_LOWER, WAKE_UPPER
from turbo_fzn.tnf.arrange import Arranged
from turbo_fzn.tnf.language import TNF
from turbo_fzn.tnf.linear_rows import Linears

NO_ROWS = np.empty(0, np.int32)


def stored(tnf: TNF, arranged: Arranged | None) -> TNF:
    """The variables and ternary rows of a block's store, without the parts that name variables by number."""
    if arranged is None:
        return tnf
    n, m = arranged.n_vars, arranged.n_rows
    columns = {name: getattr(tnf, name)[:m] for name in ("op", "x", "y", "z")}
    return replace(tnf, lower=tnf.lower[:n], upper=tnf.upper[:n], **columns)


def pack(arranged: Arranged | None) -> dict[str, np.ndarray]:
    """The arrays of the sums, and of the rows that define other variables, by their names in Problem."""
    if arranged is None:
        sums, terms, order, levels = np.zeros(0, np.dtype(Linear)), np.zeros(0, np.dtype(Term)), NO_ROWS, NO_ROWS
    else:
        (sums, terms), order, levels = linear_arrays(arranged.sums), arranged.order, arranged.levels
    return {"sums": sums, "sum_terms": terms, "defining_rows": order, "defining_levels": levels}


def count(problem: Problem, tnf: TNF, arranged: Arranged | None) -> None:
    """Sets the fields of `problem` that contain the sizes of the store."""
    problem.n_store_vars, problem.n_store_rows = tnf.n_vars, tnf.n_rows
    if arranged is not None:
        problem.n_store_vars, problem.n_store_rows = arranged.n_vars, arranged.n_rows
        problem.n_sums, problem.n_short_sums = arranged.sums.n_rows, arranged.n_short
        problem.n_levels = len(arranged.levels) - 1


def linear_arrays(linears: Linears) -> tuple[np.ndarray, np.ndarray]:
    """The records Linear and Term of linear rows."""
    rows = np.zeros(linears.n_rows, np.dtype(Linear))
    rows["low"], rows["high"], rows["kind"], rows["truth"] = linears.low, linears.high, linears.kind, linears.truth
    rows["start"], rows["end"] = linears.starts[:-1], linears.starts[1:]
    return rows, columns(Term, side=term_sides(linears), factor=np.abs(linears.coefficients))


def term_sides(linears: Linears) -> np.ndarray:
    """For each term the side of its variable that grows with the sum (int32): see kernels/learn/state/literal.h."""
    return (2 * linears.variables + (linears.coefficients < 0)).astype(np.int32)


def watched(arranged: Arranged) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(variables, changes of WAKE_*, rows): the changes by which sums wake.

    A sum with an upper limit wakes when it grows, a sum with a lower limit when it falls, a sum with a truth in both
    cases, and when its truth changes."""
    sums = arranged.sums
    row = np.repeat(np.arange(sums.n_rows), sums.sizes)
    ranges = sums.truth < 0
    grows, falls = (~ranges | (sums.high < INFINITY))[row], (~ranges | (sums.low > -INFINITY))[row]
    negative = sums.coefficients < 0
    lower, upper = np.where(negative, falls, grows), np.where(negative, grows, falls)
    truths = np.flatnonzero(~ranges)
    return (
        np.concatenate((sums.variables, sums.truth[truths])),
        np.concatenate((lower * WAKE_LOWER + upper * WAKE_UPPER, np.full(len(truths), WAKE_BOTH))),
        arranged.n_rows + np.concatenate((row, truths)),
    )
