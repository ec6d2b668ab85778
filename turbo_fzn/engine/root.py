"""The root: all rows of a model propagated to their fixpoint, by the kernels on one CPU thread.

Every engine starts from this store. The relaxation narrows its boxes by the same propagation.
"""

from __future__ import annotations

import ctypes

import numpy as np

from turbo_fzn.base.errors import EngineError
from turbo_fzn.engine import variants
from turbo_fzn.engine.abi.abi import Problem
from turbo_fzn.engine.abi.aligned import make_common
from turbo_fzn.engine.layout.layout import Layout, Settings
from turbo_fzn.engine.library import float_flags, library, point_to
from turbo_fzn.tnf.language import TNF

Box = tuple[np.ndarray, np.ndarray]  # (lower, upper)

INCONSISTENT, NO_MEMORY, OVERFLOW = 0, -2, -3  # format: of propagate_root


class Stop:
    """A stop flag of root propagation, which another thread or a signal handler may set."""

    def __init__(self) -> None:
        self.common = make_common()

    def set(self) -> None:
        self.common.stop = 1


def propagate(tnf: TNF, stop: Stop | None = None) -> Box | None:
    """The root fixpoint of all rows: (lower, upper), int64 [n]; None when the model is infeasible.

    A stop leaves the bounds at their current values, which loses no solution. Raises EngineError for a bound beyond 64
    bits.
    """
    return Propagator(tnf, stop)(tnf.lower, tnf.upper)


class Propagator:
    """Propagates the rows of a TNF in one box of bounds (int64 [n] each) after the other, as `propagate` does.

    A box must lie within the bounds of the TNF."""

    def __init__(self, tnf: TNF, stop: Stop | None = None):
        self.layout = layout = Layout(tnf, np.empty(0, np.int32), Settings(fused=False))
        self.library = library(layout.bits, *float_flags(tnf))
        self.problem = problem = Problem()
        layout.fill(problem, 0)
        point_to(problem, layout.arrays)
        self.obey(stop or Stop())

    def obey(self, stop: Stop) -> None:
        """Sets the stop that ends all further propagation."""
        self.common = stop.common
        self.problem.common = ctypes.addressof(stop.common)

    def __call__(self, lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        lower, upper = lower.astype(self.layout.bound_type), upper.astype(self.layout.bound_type)
        outcome = self.library.propagate_root(ctypes.byref(self.problem), lower.ctypes.data, upper.ctypes.data)
        return (lower.astype(np.int64), upper.astype(np.int64)) if has_solutions(outcome) else None


def has_solutions(outcome: int) -> bool:
    """Whether a box may have solutions, by the result of propagate_root; True after a stop. Raises EngineError."""
    if outcome == NO_MEMORY:
        raise EngineError("not enough memory for the store")
    if outcome == OVERFLOW:
        raise EngineError("a bound of the model does not fit into 64 bits")
    return outcome != INCONSISTENT


def propagate_holes(tnf: TNF, stop: Stop | None = None) -> tuple[np.ndarray, np.ndarray] | None:
    """(lower, upper) as `propagate` returns them, of a TNF at its root fixpoint, by holes too (variants.BITSETS)."""
    layout = Layout(tnf, np.empty(0, np.int32), Settings(bitsets=True, fused=False))
    if not close_holes(layout, stop):
        return None
    lower, upper = (layout.arrays[name][: tnf.n_vars].astype(np.int64) for name in ("root_lower", "root_upper"))
    return lower, upper


def close_holes(layout: Layout, stop: Stop | None = None) -> bool:
    """Brings the root of a layout to its fixpoint by holes, if it has any. Returns False if it has no solution; then
    nothing changes, and the search finds no solution."""
    if layout.holes is None:
        return True
    lower, upper = layout.arrays["root_lower"].copy(), layout.arrays["root_upper"].copy()
    common, problem = (stop or Stop()).common, Problem()
    layout.fill(problem, 0)
    point_to(problem, layout.arrays)
    problem.common = ctypes.addressof(common)
    outcome = library(layout.bits, variants.BITSETS).propagate_root(
        ctypes.byref(problem), lower.ctypes.data, upper.ctypes.data
    )
    consistent = has_solutions(outcome)
    if consistent:
        layout.arrays |= {"root_lower": lower, "root_upper": upper}
    return consistent
