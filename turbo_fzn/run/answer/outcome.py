"""The events of a search: solutions, samples of its progress, and its end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Union

import numpy as np

from turbo_fzn.tnf.language import Output

CLOSED = ("ALL_SOLUTIONS", "OPTIMAL_SOLUTION", "UNSATISFIABLE")  # statuses: the whole space was searched


@dataclass(eq=False, repr=False)
class Solution:
    """An answer: each output item with the values of its variables, the objective (None to satisfy), and its finder.
    `statistics` are the statistics at that time, if the options ask for them; `seconds` is the time since the search
    began; `is_followed`: the next event is another solution, without a wait."""

    outputs: list[tuple[Output, np.ndarray]]
    objective: float | None
    block: int
    method: str
    statistics: dict[str, Any] | None = None
    seconds: float = 0.0
    is_followed: bool = False


class Sample(NamedTuple):
    """The state of a search: seconds since it began, nodes so far, the proved bound of the objective, and the time that
    all blocks together have waited for work."""

    seconds: float
    nodes: int
    bound: float | None
    idle_seconds: float = 0.0


@dataclass(eq=False, repr=False)
class Finished:
    """The end of a search: whether it is complete, the number of answers, the statistics, whether the objective is
    proved to be unbounded, its `sense` (as in a TNF), and the seconds since the search began."""

    complete: bool
    n_solutions: int
    statistics: dict[str, Any]
    unbounded: bool = False
    sense: int = 0
    seconds: float = 0.0

    @property
    def status(self) -> str:
        """The outcome, by the names of MiniZinc's Python package."""
        if self.unbounded:
            return "UNBOUNDED"
        if self.complete:
            return ("OPTIMAL_SOLUTION" if self.sense else "ALL_SOLUTIONS") if self.n_solutions else "UNSATISFIABLE"
        return "SATISFIED" if self.n_solutions else "UNKNOWN"


class Named(NamedTuple):
    """A constraint as its source calls it: its name or its kind, with the values of its loops; and its place in the
    file."""

    title: str
    place: str

    def __str__(self) -> str:
        return self.title if self.title.startswith(self.place) else f"{self.title} ({self.place})"


@dataclass(frozen=True, repr=False)
class Core:
    """Constraints that are proved to have no solution together. `minimal`: without any of them there is a solution."""

    constraints: list[Named]
    minimal: bool

    @property
    def titles(self) -> list[str]:
        return [constraint.title for constraint in self.constraints]

    def lines(self) -> list[str]:
        """A text with a heading and a line for each constraint."""
        if not self.constraints:
            return ["the domains of the variables alone have no solution"]
        first = "this constraint has no solution:"
        if len(self.constraints) > 1:
            fewer = "and with one less there is one" if self.minimal else "but fewer of them may have none, too"
            first = f"these {len(self.constraints)} constraints have no solution together, {fewer}:"
        return [first, *(f"  {constraint}" for constraint in self.constraints)]


SearchEvent = Union[Solution, Sample, Finished]
