"""What a search hands out: solutions, then its end, and the name of the outcome."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from turbo_fzn.tnf.language import Output

CLOSED = ("ALL_SOLUTIONS", "OPTIMAL_SOLUTION", "UNSATISFIABLE")  # statuses: the whole space was searched


@dataclass
class Solution:
    """An answer: each output item with the values of its variables, the objective (None to satisfy), and who found it.
    `statistics` are those of that moment, where they were asked for."""

    outputs: list[tuple[Output, np.ndarray]]
    objective: float | None
    block: int
    method: str
    statistics: dict[str, Any] | None = None


@dataclass
class Finished:
    """The end: whether all that was asked for is known, how many answers were given, the statistics, and whether the
    objective is proved to improve for ever."""

    complete: bool
    n_solutions: int
    statistics: dict[str, Any]
    unbounded: bool = False


def status_of(finished: Finished, sense: int) -> str:
    """The outcome of a search by the names of MiniZinc's Python package; `sense` is that of the TNF."""
    if finished.unbounded:
        return "UNBOUNDED"
    if finished.complete:
        return ("OPTIMAL_SOLUTION" if sense else "ALL_SOLUTIONS") if finished.n_solutions else "UNSATISFIABLE"
    return "SATISFIED" if finished.n_solutions else "UNKNOWN"
