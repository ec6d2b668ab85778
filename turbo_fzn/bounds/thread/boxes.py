"""The interfaces through which a relaxation propagates boxes of bounds by all rows of the model, and reports solutions.

The driver of the search (run/bounding.py) provides them.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from turbo_fzn.bounds.lp.relaxation import Relaxation
from turbo_fzn.bounds.prove.reasons import Reason
from turbo_fzn.bounds.search.listener import Store


class Boxes(Protocol):
    """Propagation of the model in boxes of the relaxation's columns."""

    def attach(self, relaxation: Relaxation) -> None: ...

    def narrow(self, lower: np.ndarray, upper: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray] | None:
        """The bounds (int64 [columns], truths included) of the solutions in the box with sense * objective <= most.

        None where the box has no such solution, or none better than a solution found by this call."""
        ...

    def take_best(self) -> int | None:
        """sense * objective of the best solution found since the last call, or None."""
        ...

    def has_point(self) -> bool:
        """Whether there is a solution that `take_point` has not returned."""
        ...

    def take_point(self) -> Store | None:
        """The bounds of the columns (int64 [columns]) in the best solution, if it is newer than the last call."""
        ...

    def suggest(self, values: np.ndarray) -> None:
        """Passes on a point (float [columns]) near which good solutions may lie."""
        ...

    @property
    def learners(self) -> np.ndarray:
        """The learners' variable of each column (int64 [columns]), -1 for a column without a variable."""
        ...

    def post(self, reason: Reason, under: int, name: str) -> None:
        """Passes on an inequality that holds in all solutions with sense * objective below `under`."""
        ...


class RealBoxes(Protocol):
    """Propagation of the model in boxes of all variables of a TNF."""

    def attach(self) -> None: ...

    def narrow(self, lower: np.ndarray, upper: np.ndarray, most: int) -> Store | None: ...

    def offer(self, lower: np.ndarray, upper: np.ndarray, point: np.ndarray, most: int) -> int | None:
        """sense * objective of a solution near the point (float [n]), or None."""
        ...
