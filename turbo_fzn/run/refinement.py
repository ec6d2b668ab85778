"""A model with real variables once more, in smaller boxes: what is asked of an engine when one before has left boxes
that are no solution to within the precision, and may hold one.
"""

from __future__ import annotations

from dataclasses import replace

from turbo_fzn.tnf.language import TNF

REFINEMENT, SMALLEST_WIDTH = 1000, 1e-16  # of boxes that are no solution yet


def refine(tnf: TNF, best: int | None) -> TNF | None:
    """The same model in smaller boxes, and asked for something better than the best solution that holds; None where
    boxes are as small as they can be."""
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
