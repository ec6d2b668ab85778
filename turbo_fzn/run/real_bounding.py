"""Connects the search of a model with real variables with its relaxation (turbo_fzn/bounds/search/spatial.py)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from turbo_fzn.base import floats
from turbo_fzn.base.domains import INFINITY
from turbo_fzn.base.errors import EngineError
from turbo_fzn.bounds.reals.elimination import reaches_far
from turbo_fzn.bounds.search.listener import NO_SOLUTION, Store
from turbo_fzn.bounds.thread.relaxation_thread import RealBeside
from turbo_fzn.engine import root
from turbo_fzn.engine.contract import Found, Inequality
from turbo_fzn.run.bounding import RELAXATION, Bounding
from turbo_fzn.run.judge import Judge
from turbo_fzn.run.tuning import TUNING
from turbo_fzn.tnf.language import TNF

LARGEST = 2.0**62  # formula: number in a point


class RealBounding(Bounding):
    """A relaxation beside the search of a model with real variables: branch and bound over its boxes."""

    beside: RealBeside
    boxes: RealBoxes

    def begin(self, judge: Judge, share: float) -> None:
        self.boxes = boxes = RealBoxes(judge)
        self.beside = RealBeside(self.tnf, boxes, share)

    def enclosed(self, tnf: TNF, is_over: Callable[[], bool]) -> TNF:
        """The TNF with bounds of the wanted solutions, where its real variables may be large: a search without bounds
        would end among the largest numbers. A point of the linear program is the first solution."""
        if not reaches_far(tnf):
            return tnf
        from turbo_fzn.bounds.reals.enclosure import Enclosure, enclose  # only here: few models need it

        self.boxes.attach()
        point = Enclosure(tnf, (tnf.lower, tnf.upper), is_over).best_point()
        if len(point):
            self.beside.offer(tnf.lower, tnf.upper, point)
        if self.beside.best >= NO_SOLUTION or is_over():
            return tnf
        store = self.boxes.narrow(*enclose(tnf, self.beside.best, is_over), NO_SOLUTION)
        if store is not None:
            tnf = self.beside.tnf = replace(tnf, lower=store[0], upper=store[1])
        return tnf


class RealBoxes:
    """Narrows boxes of a TNF with real variables by its rows. `found` collects boxes that the judge accepts as
    solutions."""

    def __init__(self, judge: Judge):
        self.judge, self.tnf = judge, judge.prepared.tnf
        self.found: deque[Found] = deque()
        self.rows: deque[Inequality] = deque()
        self.wishes: np.ndarray | None = None
        self.incumbent: Found | None = None
        self.propagator: root.Propagator | None = None

    def attach(self) -> None:
        self.propagator = root.Propagator(self.tnf)

    def narrow(self, lower: np.ndarray, upper: np.ndarray, most: int) -> Store | None:
        """The bounds (int64 [n]) of solutions in the box with sense * objective <= most, or None if it has no such
        solution."""
        if self.propagator is None:
            return lower, upper
        low, high = lower.copy(), upper.copy()
        objective, sense = self.tnf.objective, self.tnf.sense
        if abs(most) < INFINITY:
            side, better = (high, min) if sense > 0 else (low, max)
            side[objective] = better(side[objective], sense * most)
        try:
            return self.propagator(low, high) if np.all(low <= high) else None
        except EngineError:  # numbers too large for a store
            self.propagator = None
            return lower, upper

    def offer(self, lower: np.ndarray, upper: np.ndarray, point: np.ndarray, most: int) -> int | None:
        """Narrows a small box around a point (float64 [n]) of a box. Returns sense * objective if it is a solution."""
        tnf = self.tnf
        assert tnf.floats is not None
        point = np.clip(np.nan_to_num(point), -LARGEST, LARGEST)
        near = TUNING.reach * tnf.floats.width * np.maximum(np.abs(point), 1)
        nearest = np.rint(point).astype(np.int64)
        low, high = (np.where(tnf.floats.mask, floats.codes(end), nearest) for end in (point - near, point + near))
        low, high = np.clip(low, lower, upper), np.clip(high, lower, upper)
        box = self.narrow(low, high, most)
        if box is None or not self.is_decided(*box):
            return None
        low, high = box
        objective = int((low if tnf.sense > 0 else high)[tnf.objective])
        found = Found(objective, RELAXATION, "relaxation", np.concatenate(box)[self.judge.exports])
        if not self.judge.is_solution(found):
            return None
        self.found.append(found)
        return tnf.sense * objective

    def is_decided(self, lower: np.ndarray, upper: np.ndarray) -> bool:
        """Whether integers are fixed and intervals are as small as a search makes them (floats/decided.h)."""
        assert self.tnf.floats is not None
        low, high = floats.numbers(lower), floats.numbers(upper)
        tolerance = self.tnf.floats.width * np.maximum(np.minimum(np.abs(low), np.abs(high)), 1)
        small = (high - low <= tolerance) | (upper - lower <= 1)
        return bool(np.all(np.where(self.tnf.floats.mask, small, lower == upper)))
