"""The callbacks of a caller from Python while a model is solved: solutions and bounds as they come."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Union

from turbo_fzn.run.answer.outcome import Finished, Sample, Solution
from turbo_fzn.run.answer.output import value_of

Values = dict[str, object]  # output name -> bool, int, float or flat list

OnSolution = Callable[[Values, Union[float, None]], object]
OnBound = Callable[[float], object]
OnLog = Callable[[str], object]


def values_of(solution: Solution) -> Values:
    return {item.name: value_of(item, values) for item, values in solution.outputs}


@dataclass
class Listener:
    """`on_solution` is called with the values and the objective (None to satisfy) of each solution when it is found,
    even if a better solution follows; `on_bound` with the proved bound of the objective, whenever it improves; `on_log`
    with each line that -v would write, for all calls in the process at that time."""

    on_solution: OnSolution | None = None
    on_bound: OnBound | None = None
    on_log: OnLog | None = None
    bound: float | None = None

    def hear(self, event: object) -> None:
        if isinstance(event, Solution) and self.on_solution is not None:
            self.on_solution(values_of(event), event.objective)
        elif isinstance(event, Sample):
            self._hear_bound(event.bound)
        elif isinstance(event, Finished):
            self._hear_bound(event.statistics.get("objectiveBound"))

    def _hear_bound(self, bound: float | None) -> None:
        if self.on_bound is not None and bound is not None and bound != self.bound:
            self.bound = bound
            self.on_bound(bound)
