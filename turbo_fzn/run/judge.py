"""What engines find -> what may be printed: checked against the original FlatZinc, as values of the output items.

A solution of an engine speaks of the simplified TNF. Its values are led back to the FlatZinc variables, and evaluated
there (check/checker.py). Solutions that arrive together are checked together, for with easy models and `-a` the check
is most of the work.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from turbo_fzn.check.checker import Checker
from turbo_fzn.engine.contract import Found
from turbo_fzn.errors import InternalError
from turbo_fzn.options import Options
from turbo_fzn.read.model import Model
from turbo_fzn.tnf.language import TNF, Output
from turbo_fzn.tnf.simplify import Reconstruction

CHECK_LIMIT = 2_000_000  # literals and array elements; about 0.1 s a check
BATCH_ELEMENTS = 2**20  # values and literals that are checked at once


@dataclass
class Prepared:
    """A model ready for an engine. `model` is None for a .tnf file, which has no FlatZinc to check against."""

    tnf: TNF
    model: Model | None = None
    origin: Mapping[str, int] = field(default_factory=dict)
    reconstruction: Reconstruction | None = None
    times: dict[str, float] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)  # before simplification, as statistics
    started: float | None = None  # when the process began, on the clock of time.monotonic

    def original(self, values: np.ndarray) -> np.ndarray:
        """From values (int64 [..., n]) of the TNF's variables to those of the TNF before it was simplified."""
        return values if self.reconstruction is None else self.reconstruction.values(values)


class Judge:
    """`exports` (int32) are the variables whose values it wants of each solution, `places` the output's in them."""

    def __init__(self, prepared: Prepared, options: Options):
        self.prepared = prepared
        self.checker = self._checker(options)
        self.exports = self._exports()
        place = np.zeros(prepared.tnf.n_vars, np.int64)
        place[self.exports] = np.arange(len(self.exports))
        self.items = [(item, place[item.variables]) for item in prepared.tnf.outputs]
        every = [positions for _, positions in self.items]
        self.places = np.unique(np.concatenate(every)) if every else np.empty(0, np.int64)

    def _checker(self, options: Options) -> Checker | None:
        model = self.prepared.model
        if model is None or options.check == "never":
            return None
        checker = Checker(model)
        return checker if options.check == "always" or checker.cost <= CHECK_LIMIT else None

    def _exports(self) -> np.ndarray:
        """What solutions carry: every variable when they are checked, or improve an objective, since engines tell each
        other of such; else those of the output."""
        tnf = self.prepared.tnf
        if self.checker is not None or tnf.sense:
            return np.arange(tnf.n_vars, dtype=np.int32)
        needed = [item.variables for item in tnf.outputs] or [np.empty(0, np.int32)]
        return np.unique(np.concatenate(needed)).astype(np.int32)

    def outputs(self, found: Found) -> list[tuple[Output, np.ndarray]]:
        """Each output item with the values of its variables."""
        return [(item, found.values[positions]) for item, positions in self.items]

    def check(self, arrived: list[Found]) -> Iterator[Found]:
        """Those that hold, in order. Raises InternalError at the first that fails the check."""
        checker = self.checker
        if checker is None:
            yield from arrived
            return
        size = max(BATCH_ELEMENTS // max(checker.cost, 1), 1)
        for start in range(0, len(arrived), size):
            batch = arrived[start : start + size]
            trusted = len(batch) > 1 and self._all_hold(batch)
            for found in batch:
                if not trusted:
                    self._check_one(checker, found)
                yield found

    def _all_hold(self, batch: list[Found]) -> bool:
        assert self.checker is not None, "asked by check"
        originals = self.prepared.original(np.stack([found.values for found in batch]))
        numbers = [self.prepared.origin[name] for name in self.checker.model.variables]
        return self.checker.all_hold(originals[:, numbers])

    def _check_one(self, checker: Checker, found: Found) -> None:
        plain = self.prepared.original(found.values).tolist()
        violation = checker.violation({name: plain[number] for name, number in self.prepared.origin.items()})
        if violation is not None:
            raise InternalError(f"a solution failed its check and is not printed: {violation}")
