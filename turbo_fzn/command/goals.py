"""Several objectives on the command line: `--lexicographic GOALS` and `--front GOALS`, or annotations of the solve item
(read/several.py). The answer is a stream of solutions like any other.

With `--front` each point of the front is printed when it is found, and `==========` after the last point; without that
line another solution may dominate the last point: the time is over, or a goal has no bound. Otherwise the lexicographic
best solution is printed, and with `-i` or `-a` also the best solutions in the earlier goals. objectives.py searches.
"""

from __future__ import annotations

import time
from collections.abc import Generator

import numpy as np

from turbo_fzn.base.errors import UsageError
from turbo_fzn.interface.model import Model
from turbo_fzn.interface.objectives import Asker, Point, front_of, refuse_settings
from turbo_fzn.options.options import Options
from turbo_fzn.options.settings import DEFAULTS
from turbo_fzn.ranks.world import is_launched
from turbo_fzn.read.several import Several, with_declared
from turbo_fzn.run.answer.outcome import Finished, Solution
from turbo_fzn.run.driver import Event, Run
from turbo_fzn.run.prepared import Prepared
from turbo_fzn.run.projection import refuse_in_xcsp3

# Options for the command as a whole, or for no single call: by fields of Options.
_OF_THE_COMMAND = frozenset(
    "lexicographic front time_limit all_solutions intermediate json_stream log_file report verbose explain".split()
)


class GoalRun(Run):
    """A run whose answers are the front, or the lexicographic best solution."""

    def __init__(self, run: Run, several: Several):
        super().__init__(run.source if run.model is None else run.model, run.options, run.interrupt, run.started)
        self.asked = several
        self._asker: Asker | None = None
        self._told = 0
        self._begun = time.monotonic()
        refuse_settings(vars(self.options))
        if is_launched():
            raise UsageError("several objectives are searched by one process, not by ranks")

    def prepare(self, for_once: bool = False) -> Prepared:
        parsed = self.model
        if parsed is None:
            raise UsageError("several objectives: a model in ternary normal form has no variables with names")
        if self.options.project is not None:
            refuse_in_xcsp3(parsed)
        names = {goal.split()[-1] for goal in self.asked.goals if goal.split()}
        model = Model(with_declared(parsed, names), **_settings(self.options))
        self._asker = Asker(model, self.asked.goals, None, {}, self.interrupt)
        model.until, self.interrupt.halt = self.interrupt, model.stop
        self.prepared = model.prepared
        self.prepared.started = self.started
        return self.prepared

    def events(self) -> Generator[Event, None, None]:
        assert self.prepared is not None and self._asker is not None, "it was prepared"
        self.interrupt.settle()
        yield self.prepared
        complete = yield from self._front() if self.asked.is_front else self._steps()
        yield self._finished(complete, self._told)

    def so_far(self, n_solutions: int, best: float | None) -> Finished:
        return self._finished(False, n_solutions)

    def close(self) -> None:
        """Does nothing: each call frees its own resources."""

    def _front(self) -> Generator[Solution, None, bool]:
        assert self._asker is not None
        points = front_of(self._asker)
        while True:
            try:
                yield self._solution(next(points), None)
            except StopIteration as end:
                return end.value

    def _steps(self) -> Generator[Solution, None, bool]:
        """The best solutions so far; each replaces the previous solution."""
        assert self._asker is not None
        last: Point | None = None
        is_proved = False
        for point, proved in self._asker.steps(self._asker.everywhere):
            is_proved = proved
            if point is not None and (last is None or point.objectives != last.objectives):
                last = point
                yield self._solution(point, point.objectives[0])
            if self.interrupt:
                break
        return is_proved

    def _solution(self, point: Point, objective: int | None) -> Solution:
        assert self.prepared is not None and self._asker is not None
        self._told += 1
        items = {item.name: item for item in self.prepared.tnf.outputs}
        outputs = [(items[name], np.atleast_1d(np.asarray(value))) for name, value in point.values.items()]
        return Solution(outputs, objective, 0, "goals", None, time.monotonic() - self._begun)

    def _finished(self, complete: bool, told: int) -> Finished:
        assert self._asker is not None
        seconds = time.monotonic() - self._begun
        statistics = {**self._asker.counted, "solutions": told, "solveTime": seconds}
        return Finished(complete, told, statistics, sense=0 if self.asked.is_front else 1, seconds=seconds)


def _settings(options: Options) -> dict[str, object]:
    """The settings of every call: the options that are not the default, without the options of the command."""
    values = {name: getattr(options, name) for name in DEFAULTS if name not in _OF_THE_COMMAND}
    return {name: value for name, value in values.items() if value != DEFAULTS[name]}
