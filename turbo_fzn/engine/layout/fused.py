"""Fused rows (tnf/fuse.py) -> the arrays that learners read: see `Linear`, `Term` and Problem of abi.py."""

from __future__ import annotations

import numpy as np

from turbo_fzn.base.domains import INFINITY
from turbo_fzn.engine.abi.abi import Problem
from turbo_fzn.engine.layout.arranged import linear_arrays, term_sides
from turbo_fzn.engine.layout.watch import wake_lists
from turbo_fzn.tnf.fuse import Fused, fuse, fused_of
from turbo_fzn.tnf.language import TNF
from turbo_fzn.tnf.linear_rows import LinearKind, Linears


def rows_of_learners(tnf: TNF, fuses: bool, is_logged: bool) -> dict[str, np.ndarray]:
    """Linear rows and clauses, and the variables that they leave out, by the names in Problem; empty unless the learner
    `fuses`."""
    fused = fused_of(tnf, is_logged) if fuses else fuse(tnf, np.ones(tnf.n_vars, bool))
    return pack(fused, tnf.n_vars)


def pack(fused: Fused, n_vars: int) -> dict[str, np.ndarray]:
    """The arrays of the linear rows and clauses, by their names in Problem."""
    linears, clauses = fused.linears, fused.clauses
    rows, terms = linear_arrays(linears)
    return {
        "linears": rows,
        "terms": terms,
        "linear_wakes": _wake_lists(linears, 2 * n_vars),
        "clauses": np.concatenate((clauses.starts + np.int32(len(clauses.starts)), clauses.literals)),
        "absorbed": fused.absorbed.astype(np.uint8),
        "links": fused.links.astype(np.uint8),
        "link_rows": fused.order,
    }


def count(problem: Problem, arrays: dict[str, np.ndarray]) -> None:
    """Sets the fields of `problem` that hold the lengths of the arrays."""
    rows, clauses = arrays["linears"], arrays["clauses"]
    problem.n_linears, problem.n_terms, problem.n_links = len(rows), len(arrays["terms"]), len(arrays["link_rows"])
    problem.most_terms = int((rows["end"] - rows["start"]).max(initial=0))
    problem.n_clauses = int(clauses[0]) - 1
    problem.n_clause_literals = len(clauses) - int(clauses[0])


def _wake_lists(linears: Linears, n_sides: int) -> np.ndarray:
    """The linear rows that may tighten a bound after a change of each side (int32), as watch.wake_lists.

    A side that grows with the sum wakes rows with a `high` or a truth, the opposite side rows with a `low` or a truth.
    A truth variable wakes its row with both of its sides."""
    row = np.repeat(np.arange(linears.n_rows), np.diff(linears.starts))
    sides = term_sides(linears)
    ranges = linears.kind == LinearKind.RANGE
    upward, downward = ~ranges | (linears.high < INFINITY), ~ranges | (linears.low > -INFINITY)
    truth = np.flatnonzero(~ranges)
    of_truth = 2 * linears.truth[truth]
    side = np.concatenate((sides[upward[row]], sides[downward[row]] ^ 1, of_truth, of_truth + 1))
    woken = np.concatenate((row[upward[row]], row[downward[row]], truth, truth))
    return wake_lists(side, woken, n_sides)
