"""Refinement of a model with real variables: a further search in smaller boxes, after a search has left boxes that may
contain a solution but are no solution within the precision.
"""

from __future__ import annotations

from dataclasses import replace

from turbo_fzn.tnf.language import TNF

REFINEMENT, SMALLEST_WIDTH = 1000, 1e-16  # formula: the factor by which boxes get smaller, and the least width


def refine(tnf: TNF, best: int | None) -> TNF | None:
    """The model with smaller boxes, and an objective better than `best`, if it has an objective; None if boxes cannot
    be smaller."""
    assert tnf.floats is not None, "only boxes are undecided"
    if tnf.floats.width == 0:
        return None
    width = tnf.floats.width / REFINEMENT if tnf.floats.width > SMALLEST_WIDTH else 0.0
    finer = replace(tnf, lower=tnf.lower.copy(), upper=tnf.upper.copy(), floats=replace(tnf.floats, width=width))
    if best is not None:
        ends, nearer = (finer.upper, min) if tnf.sense > 0 else (finer.lower, max)
        ends[tnf.objective] = nearer(ends[tnf.objective], tnf.better_than(best))
        finer.infeasible = bool(finer.lower[tnf.objective] > finer.upper[tnf.objective])
    return finer
