"""Checks the solutions of engines against the original FlatZinc, and converts them to values of the output items.

A solution of an engine is a solution of the simplified TNF. Its values are converted to those of the FlatZinc
variables, and evaluated there (check/checker.py). Solutions that arrive together are checked together: for easy models
and `-a` the check is most of the work.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from turbo_fzn.base import floats
from turbo_fzn.base.collector import without_collector
from turbo_fzn.base.domains import INFINITY
from turbo_fzn.base.errors import InternalError
from turbo_fzn.check.checker import Checker
from turbo_fzn.engine.contract import Found
from turbo_fzn.options.options import Options
from turbo_fzn.run.answer.selection import narrowest
from turbo_fzn.run.prepared import Prepared
from turbo_fzn.run.tuning import TUNING
from turbo_fzn.tnf.arrays import distinct
from turbo_fzn.tnf.language import Output

log = logging.getLogger("turbo_fzn")


class Judge:
    """Checks solutions. `exports` (int32) are the variables whose values it needs from each solution, `places` the
    places of the output among them, `kind` the NumPy type for the output's values."""

    def __init__(self, prepared: Prepared, options: Options):
        self.prepared = prepared
        self.checker = self._checker(options)
        self.is_proved = options.proof is not None
        self.is_ready = False  # whether the checker has its tables
        self.exports = self._exports()
        self.floats = prepared.tnf.floats is not None
        self.inexact = 0  # solutions that hold only within the precision
        self.undecided = 0  # boxes that may contain a solution, but are no solution within the precision
        place = np.zeros(prepared.tnf.n_vars, np.int64)
        place[self.exports] = np.arange(len(self.exports))
        if self.floats:  # the upper bounds of all variables follow the lower bounds
            self.exports = np.concatenate((self.exports, self.exports + np.int32(prepared.tnf.n_vars)))
        every = [place[item.variables] for item in prepared.tnf.outputs]
        self.items = [(item, _quick(positions)) for item, positions in zip(prepared.tnf.outputs, every)]
        self.places = distinct(np.concatenate(every)) if every else np.empty(0, np.int64)
        shown = self.exports[self.places]
        self.kind = narrowest(prepared.tnf.lower[shown], prepared.tnf.upper[shown])

    def _checker(self, options: Options) -> Checker | None:
        model = self.prepared.model
        if model is None or options.check == "never":
            return None
        checker = Checker(model, options.float_precision)
        return checker if options.check == "always" or checker.cost <= TUNING.checked else None

    def _exports(self) -> np.ndarray:
        """The exported variables: all if solutions are checked, are boxes or steps of a proof, or improve an objective
        (engines exchange them); else the variables of the output."""
        tnf = self.prepared.tnf
        if self.checker is not None or self.is_proved or tnf.sense or tnf.floats is not None:
            return np.arange(tnf.n_vars, dtype=np.int32)
        needed = [item.variables for item in tnf.outputs] or [np.empty(0, np.int32)]
        return distinct(np.concatenate(needed)).astype(np.int32)

    def make_ready(self) -> None:
        """Builds the checker's tables, so that the check of the first solution takes no longer than others."""
        if self.checker is not None and not self.is_ready:
            with without_collector():
                self.checker.make_ready()
            self.is_ready = True

    def outputs(self, found: Found) -> list[tuple[Output, np.ndarray]]:
        """Each output item with the values of its variables: for a real variable, a number within the box."""
        if not self.floats:
            return [(item, found.values[positions]) for item, positions in self.items]
        lower, upper = np.split(found.values, 2)
        return [(item, points(lower[at], upper[at]) if item.kind == "float" else lower[at]) for item, at in self.items]

    def split(self, arrived: list[Found]) -> tuple[list[Found], list[Found]]:
        """(solutions that are best checked together, the others)."""
        if self.floats:  # boxes are checked one by one, so that a stop takes effect between two
            return arrived[:1], arrived[1:]
        size = len(arrived) if self.checker is None else max(TUNING.batch_elements // max(self.checker.cost, 1), 1)
        return arrived[:size], arrived[size:]

    def check(self, batch: list[Found]) -> Iterator[Found]:
        """The solutions that hold, in order. Raises InternalError for the first that fails the check."""
        self.make_ready()
        if self.floats:
            batch = [found for found in batch if self._is_bounded(found)]
        trusted = self.checker is None or (len(batch) > 1 and not self.floats and self._all_hold(batch))
        for found in batch:
            if trusted or self._check_one(found):
                yield self._exact(found) if self.floats and self.checker is not None else found

    def _is_bounded(self, found: Found) -> bool:
        """Whether the box has finite bounds everywhere: otherwise it contains numbers that a store cannot hold, and an
        objective in it has no best value."""
        bounded = bool(np.all(np.abs(found.values) < INFINITY))
        self.undecided += not bounded
        return bounded

    def _all_hold(self, batch: list[Found]) -> bool:
        assert self.checker is not None, "asked by check"
        originals = self.prepared.original(np.stack([found.values for found in batch]))
        numbers = [self.prepared.origin[name] for name in self.checker.model.variables]
        return self.checker.all_hold(originals[:, numbers])

    def _check_one(self, found: Found) -> bool:
        """Whether the solution holds; False for an undecided box. Raises InternalError otherwise."""
        checker = self.checker
        assert checker is not None, "asked by check"
        values = self.assignment(found)
        violation = checker.violation(values)
        if violation is not None:
            raise InternalError(f"a solution failed its check and is not printed: {violation}")
        missed = checker.undecided(values) if self.floats else None
        if missed is None:
            return True
        self.undecided += 1
        log.info("a box is too wide: %s", missed)
        return False

    def _exact(self, found: Found) -> Found:
        """A solution within the precision, moved to a point at which all comparisons hold exactly; unchanged if no such
        point is found, with a warning the first time."""
        from turbo_fzn.run.exact import Reader, find_exact  # only here: few models have floats

        assert self.checker is not None, "asked by check"
        low, high = (floats.numbers(end) for end in np.split(found.values, 2))
        relations = Reader(self.checker.reals, self._box(found), self.float_places).relations()
        simple = points(*np.split(found.values, 2))
        point = find_exact(list(relations), simple, low, high, self.inexact < TUNING.inexact)
        if point is simple:
            return found
        if point is not None:
            moved = self._moved(found, point)
            if self.is_solution(moved):
                return moved
        self.inexact += 1
        if self.inexact == 1:
            log.warning("a comparison of floats holds to within %g, but not exactly", self.checker.precision)
        return found

    def _moved(self, found: Found, point: np.ndarray) -> Found:
        """The solution with the numbers of a point (float64 [n]) for its real variables."""
        chosen = np.zeros(len(point), bool)
        chosen[list(self.float_places.values())] = True
        ends = [np.where(chosen, floats.codes(point), end) for end in np.split(found.values, 2)]
        return found._replace(values=np.concatenate(ends))

    @cached_property
    def float_places(self) -> dict[str, int]:
        """The real variable of the TNF that each float of the FlatZinc is, except for those that depend on others."""
        assert self.checker is not None, "asked by check"
        back = self.prepared.reconstruction
        kinds = {name: variable.kind for name, variable in self.checker.model.variables.items()}
        names = {name: at for name, at in self.prepared.origin.items() if kinds.get(name) == "float"}
        if back is not None:
            names = {name: int(back.position[back.representative[at]]) for name, at in names.items()}
        return {name: place for name, place in names.items() if place >= 0}

    def is_solution(self, found: Found) -> bool:
        """Whether a suggested box is a solution within the precision; if not, it is ignored."""
        if self.checker is None or np.any(np.abs(found.values) >= INFINITY):
            return False
        values = self._box(found)
        return self.checker.violation(values) is None and self.checker.undecided(values) is None

    def assignment(self, found: Found) -> Mapping[str, Any]:
        """The values of the FlatZinc variables; for an interval, the number to print."""
        if self.floats:
            return self._box(found)
        plain = self.prepared.original(found.values).tolist()
        return {name: plain[number] for name, number in self.prepared.origin.items()}

    def _box(self, found: Found) -> Mapping[str, Any]:
        assert self.checker is not None, "asked by check"
        lower, upper = (self.prepared.original(ends) for ends in np.split(found.values, 2))
        numbers = points(lower, upper).tolist()
        kinds = {name: variable.kind for name, variable in self.checker.model.variables.items()}
        origin = self.prepared.origin.items()
        return {name: numbers[at] if kinds[name] == "float" else int(lower[at]) for name, at in origin}


def _quick(positions: np.ndarray) -> np.ndarray | slice:
    """Positions that follow each other as a slice, by which NumPy copies nothing."""
    if len(positions) and np.all(np.diff(positions) == 1):
        return slice(int(positions[0]), int(positions[-1]) + 1)
    return positions


def points(lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """A number (float64) in each interval between codes."""
    return np.array([floats.shortest(low, high) for low, high in zip(*(floats.numbers(end) for end in (lower, upper)))])
