"""Progress of a search: one line, at most once a second.

    12 s: 1.25M nodes/s, objective 103, bound 98, gap 4.85 %, 12 open, last by gpu window in block 3 at 8.2 s

On a terminal the line is updated repeatedly (progress.py). With `-v` it is a line of the log instead, at growing
intervals of a twentieth of the time so far. Otherwise there is no line, and the engine is not queried.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from turbo_fzn.base import progress
from turbo_fzn.base.tuning import TUNING as BASE
from turbo_fzn.engine.contract import Engine, Found
from turbo_fzn.options.options import Options
from turbo_fzn.run.answer.outcome import Sample
from turbo_fzn.run.answer.statistics import finite
from turbo_fzn.run.tuning import TUNING

log = logging.getLogger("turbo_fzn")

UNITS = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))


def sample_seconds(options: Options) -> float | None:
    """The longest time between two samples in seconds, or None if samples are not wanted."""
    if options.json_stream:
        return TUNING.stream_seconds
    return None if options.report is None else math.inf


@dataclass(eq=False, repr=False)
class Live:
    """One search by one engine. `began` is on the clock of time.monotonic; `sampled`: the longest time between two
    samples in seconds, or None without samples."""

    began: float
    sense: int
    sampled: float | None = None
    verbose: bool = False  # the lines of the log go to a terminal
    meaning: Callable[[int], float] = int  # from the engine's number for the objective to its value
    due: float = field(init=False)
    looked: float = field(init=False)
    sample_due: float = 0.0
    nodes: int = 0
    last: tuple[Found, float] | None = None  # the last answer and its time

    def __post_init__(self) -> None:
        self.looked, self.due = self.began, self.began + BASE.progress_patience_seconds

    def note(self, found: Found) -> None:
        """Records an answer."""
        self.last = found, time.monotonic()

    def samples(self, engine: Engine) -> Iterator[Sample]:
        """Called repeatedly while the engine is running; yields a sample when it is time to."""
        now = time.monotonic()
        if self.sampled is None or now < self.sample_due:
            return
        self.sample_due = now + max(TUNING.sample_seconds, min((now - self.began) * TUNING.sample_share, self.sampled))
        bound = self.value(self.sense * engine.bound) if self.sense else None
        counted = engine.statistics()
        yield Sample(now - self.began, counted["nodes"], bound, counted.get("idle_ns", 0) / 1e9)

    def look(self, engine: Engine, n_solutions: int) -> None:
        """Called repeatedly while the engine is running; writes the line when it is time to."""
        now = time.monotonic()
        logged = log.isEnabledFor(logging.INFO)
        if now < self.due or not (logged or progress.is_shown()):
            return
        nodes = engine.statistics()["nodes"]
        rate = (nodes - self.nodes) / (now - self.looked)
        self.nodes, self.looked = nodes, now
        self.due = now + max(TUNING.progress_seconds, (now - self.began) * TUNING.log_share if logged else 0)
        line = f"{now - self.began:.0f} s: {', '.join([f'{short(rate)} nodes/s', *self.state(engine, n_solutions)])}"
        log.info("%s", line)
        if not self.verbose:
            progress.tell(line)

    def value(self, objective: int) -> float | None:
        """The value of the objective; None if it is infinite."""
        known = finite(objective)
        return known if known is None else self.meaning(known)

    def state(self, engine: Engine, n_solutions: int) -> list[str]:
        """The parts of the line on the state of the search."""
        objective = self.value(self.last[0].objective) if self.last else None
        parts = (
            bounds(objective, self.value(self.sense * engine.bound)) if self.sense else [count(n_solutions, "solution")]
        )
        parts.append(f"{engine.open_work} open")
        if self.last:
            found, when = self.last
            parts.append(f"last by {found.finder} in block {found.block} at {when - self.began:.1f} s")
        return parts


def bounds(objective: float | None, bound: float | None) -> list[str]:
    """The parts of the line on objective, bound and gap, as far as they are known."""
    parts = ["no solution" if objective is None else f"objective {objective}"]
    if bound is not None:
        parts.append(f"bound {bound}")
        if objective is not None:
            parts.append(f"gap {100 * abs(objective - bound) / max(abs(objective), abs(bound), 1):.3g} %")
    return parts


def count(number: int, noun: str) -> str:
    """A number with its noun, such as "1 solution" and "2 solutions"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def short(rate: float) -> str:
    """1234567.0 as "1.23M"."""
    size, unit = next(((size, unit) for size, unit in UNITS if rate >= size), UNITS[-1])
    return f"{rate / size:.3g}{unit}"
