"""The record of a run for `--report`: each answer with its time, and samples of the search."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from turbo_fzn.options.options import Options
from turbo_fzn.report.origin import Origin
from turbo_fzn.run.answer.outcome import Finished, Sample, SearchEvent

MOST_ANSWERS = 100_000  # format: answers that are kept; further answers are only counted
LAST_STRETCH = 0.9  # format: its beginning, as a share of the time


@dataclass
class Answer:
    """An answer: seconds since the search began, objective (None to satisfy), and its finder."""

    seconds: float
    objective: float | None
    method: str
    block: int


@dataclass
class Record:
    """The record. `sense`: 1 to minimise, -1 to maximise, 0 to satisfy; `seconds` is the time of the search."""

    options: Options
    sense: int
    answers: list[Answer] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    status: str = "UNKNOWN"
    seconds: float = 0.0
    statistics: dict[str, Any] = field(default_factory=dict)
    origin: Origin = field(default_factory=Origin)

    def note(self, event: SearchEvent) -> None:
        """Takes down an event of the search."""
        self.seconds = event.seconds
        if isinstance(event, Finished):
            self.status, self.statistics = event.status, event.statistics
        elif isinstance(event, Sample):
            self.samples.append(event)
        elif len(self.answers) < MOST_ANSWERS:
            self.answers.append(Answer(event.seconds, event.objective, event.method, event.block))

    def improvements(self) -> list[tuple[float, float, str]]:
        """(seconds, objective, method) of each answer that was better than all before."""
        found: list[tuple[float, float, str]] = []
        for answer in self.answers:
            if answer.objective is not None and (not found or self.sense * (answer.objective - found[-1][1]) < 0):
                found.append((answer.seconds, answer.objective, answer.method))
        return found

    def bounds(self) -> list[tuple[float, float]]:
        """(seconds, bound of the objective) for each change; the last is the proved bound at the end."""
        found: list[tuple[float, float]] = []
        last = self.statistics.get("objectiveBound")
        for seconds, bound in [*((s.seconds, s.bound) for s in self.samples), (self.seconds, last)]:
            if bound is not None and (not found or bound != found[-1][1]):
                found.append((seconds, bound))
        return found

    def rates(self) -> list[tuple[float, float]]:
        """(seconds, nodes a second from then to the next sample). Blocks report some of their nodes only at their end,
        so the last interval is made long enough to hide that."""
        end = self.seconds, self.statistics.get("nodes", 0)
        looks = [(sample.seconds, sample.nodes) for sample in self.samples]
        counted = [(0.0, 0), *(look for look in looks if look[0] < LAST_STRETCH * self.seconds), end]
        pairs = zip(counted, counted[1:])
        return [(a[0], max(b[1] - a[1], 0) / (b[0] - a[0])) for a, b in pairs if b[0] > a[0]]

    def idle(self) -> list[tuple[float, float]]:
        """(seconds, per cent of the blocks' time until the next sample in which they waited for work); empty for a
        single block."""
        blocks = self.statistics.get("blocks", 1)
        if blocks < 2:
            return []
        end = self.seconds, self.statistics.get("idleTime", 0.0)
        waited = [(0.0, 0.0), *((sample.seconds, sample.idle_seconds) for sample in self.samples), end]
        pairs = [(a, b, blocks * (b[0] - a[0])) for a, b in zip(waited, waited[1:]) if b[0] > a[0]]
        return [(a[0], 100 * min(max(b[1] - a[1], 0.0) / time, 1.0)) for a, b, time in pairs]
