"""What runs have reached after some times: how many proofs and solutions, and how far objective and bound are apart.

A run that is over stands still, so a run of 20 minutes tells what one of 20 seconds would have told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import NamedTuple

from lab.bench.curves import Curve, gap_of
from turbo_fzn.run.answer.outcome import CLOSED

TIMES = (20, 60, 300, 1200)  # seconds
HEAD = ("after", "proved", "solved", "best known", "gap to the bound", "gap to the best")


class Milestone(NamedTuple):
    """The numbers of runs that are proved, have a solution, and have the best objective known; and the mean gaps in per
    cent of those with an objective: of its value to the bound and to the best known, 100 where there is no value."""

    seconds: float
    proved: int
    solved: int
    best: int
    gap_to_bound: float
    gap_to_best: float

    @property
    def cells(self) -> tuple[str, ...]:
        """The texts of a row under HEAD."""
        gaps = (f"{gap:.1f} %" for gap in (self.gap_to_bound, self.gap_to_best))
        return (f"{self.seconds:g} s", *map(str, (self.proved, self.solved, self.best)), *gaps)


def milestones(curves: Sequence[Curve], known: Mapping[str, float | None]) -> list[Milestone]:
    """One for each of TIMES that the longest run took at least."""
    longest = max((curve.seconds for curve in curves), default=0.0)
    return [_reached(curves, known, seconds) for seconds in TIMES if seconds <= longest]


def _reached(curves: Sequence[Curve], known: Mapping[str, float | None], seconds: float) -> Milestone:
    proved = [curve.status in CLOSED and curve.end <= seconds for curve in curves]
    values = [curve.at(seconds) for curve in curves]
    rows = [row for row in zip(curves, values, proved) if row[0].sense]
    return Milestone(
        seconds,
        sum(proved),
        sum(value is not None for value in values),
        sum(value is not None and value == known.get(curve.model) for curve, value, _ in rows),
        mean([0.0 if done else _gap(value, curve.bound_at(seconds)) for curve, value, done in rows] or [0.0]),
        mean([_gap(value, known.get(curve.model)) for curve, value, _ in rows] or [0.0]),
    )


def _gap(value: float | None, other: float | None) -> float:
    return 100.0 if value is None or other is None else gap_of(value, other)


def table(reached: Sequence[Milestone]) -> list[str]:
    """The lines of a table."""
    rows = [HEAD, *(milestone.cells for milestone in reached)]
    return ["".join(f"{cell:>18}" for cell in row) for row in rows] if reached else []
