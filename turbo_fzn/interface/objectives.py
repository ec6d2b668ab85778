"""Several objectives: a lexicographic best solution, and the front of solutions that are not dominated (Pareto).

    best = lexicographic(model, ["minimize late", "maximize profit"])
    for point in Front(model, ["minimize cost", "maximize speed"]): ...

Both solve a `Model` (model.py) repeatedly, with bounds of the objectives as assumptions; their results are proved if
its results are. Objectives are integers.

The front is searched in boxes of the space of objectives, each below one corner (the local upper bounds of K. Klamroth,
R. Lacour and D. Vanderpooten, EJOR 2015). The lexicographic best solution within a box is on the front: a solution that
dominates it would be in the box, too, and lexicographically better. It divides every box that contains it. A box is
finished when it is proved to have no solution, or lies in such a box: the part of a point's box below the point in the
first objective has no solution.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from turbo_fzn.base.errors import UsageError
from turbo_fzn.interface.listening import Values
from turbo_fzn.interface.model import Assumption, Assumptions, Model
from turbo_fzn.options.settings import DEFAULTS
from turbo_fzn.process.interrupt import Interrupt, deadline
from turbo_fzn.run.projection import names_of

Corner = tuple[float, ...]  # of a box: its points are less in each objective, all minimised; may be infinite
_SIGNS = {"minimize": 1, "maximize": -1}
_EVERYWHERE = float("inf")
# Settings that have no meaning with several objectives, with their flags.
_REFUSED = {
    "n_solutions": "-n",
    "all_optimal": "-a-o",
    "n_optimal": "--optimal-solutions",
    "count": "--count",
    "proof": "--proof",
    "cp_profiler": "--cp-profiler",
    "dump_tnf": "--dump-tnf",
}
_COUNTED = ("nodes", "failures", "propagations", "restarts", "nogoods")  # statistics that add up


@dataclass(frozen=True)
class Point:
    """A solution with its objectives, in the order of the goals. `proved`: no solution is better, in the sense of the
    function that returns it."""

    objectives: tuple[int, ...]
    values: Values
    proved: bool


@dataclass(frozen=True)
class _Goal:
    text: str
    name: str
    sign: int

    @staticmethod
    def read(text: str) -> _Goal:
        method, _, name = text.strip().partition(" ")
        if method not in _SIGNS or not name.strip():
            raise UsageError(f"goals: expected minimize NAME or maximize NAME, found {text!r}")
        return _Goal(f"{method} {name.strip()}", name.strip(), _SIGNS[method])

    def below(self, corner: float) -> tuple[int | None, int | None]:
        """The values below a corner, as an assumption."""
        if corner == _EVERYWHERE:
            return None, None
        best = self.sign * (int(corner) - 1)
        return (None, best) if self.sign > 0 else (best, None)


def refuse_settings(settings: Mapping[str, Any]) -> None:
    """Raises UsageError for a setting that has no meaning with several objectives."""
    for name, flag in _REFUSED.items():
        if settings.get(name, DEFAULTS[name]) != DEFAULTS[name]:
            raise UsageError(f"{flag} cannot be had with several objectives")


class Asker:
    """Solves a model for the best solutions within boxes, until `interrupt`, which applies to all calls together;
    `counted` adds up their statistics."""

    def __init__(
        self, model: Model, goals: Sequence[str], assume: Assumptions | None, settings: Mapping[str, Any],
        interrupt: Interrupt | None = None,
    ):  # fmt: skip
        self.model, self.assume = model, dict(assume or {})
        self.goals = [_Goal.read(text) for text in goals]
        if not self.goals:
            raise UsageError("goals: there is none")
        refuse_settings({**model.settings, **settings})
        if others := [goal.name for goal in self.goals if model.kind(goal.name) != "int"]:
            kind = model.kind(others[0])
            raise UsageError(f"goals: {others[0]} is a variable of kind {kind}; several objectives are integers")
        if interrupt is None:
            interrupt = Interrupt(deadline(settings.get("time_limit"), time.monotonic()))
            interrupt.settle()
        self.interrupt = interrupt
        self.shown = names_of(settings["project"]) if settings.get("project") is not None else model.output
        asked = dict.fromkeys([*self.shown, *(goal.name for goal in self.goals)])
        rest = {name: value for name, value in settings.items() if name != "time_limit"}
        self.settings = {**rest, "project": ",".join(asked)}
        self.counted: Counter[str] = Counter()

    @property
    def everywhere(self) -> Corner:
        """The corner of the box that has all points."""
        return (_EVERYWHERE,) * len(self.goals)

    def best(self, corner: Corner) -> tuple[Point | None, bool]:
        """The lexicographic best point below the corner, or None, and whether this is proved."""
        *_, last = self.steps(corner)
        return last

    def steps(self, corner: Corner) -> Iterator[tuple[Point | None, bool]]:
        """The best point in the first goal, then in the second, and so on; the last is the result of `best`."""
        assume = dict(self.assume)
        for goal, limit in zip(self.goals, corner):
            assume[goal.name] = _both(assume.get(goal.name), goal.below(limit))
        values: Values = {}
        for goal in self.goals:
            if self.interrupt:
                if not values:
                    yield None, False
                return
            result = self.model.solve(assume, goal.text, hint=values, **self._for_call())
            self.counted.update({name: result.statistics.get(name, 0) for name in _COUNTED})
            if not result.solutions:
                yield (None, result.status == "UNSATISFIABLE") if not values else (self._point(values, False), False)
                return
            values = result.solutions[-1]
            if result.status != "OPTIMAL_SOLUTION":
                yield self._point(values, False), False
                return
            assume[goal.name] = values[goal.name]  # type: ignore[assignment]  # a scalar
            is_last = goal is self.goals[-1]
            yield self._point(values, is_last), is_last

    def _point(self, values: Values, proved: bool) -> Point:
        objectives = [int(values[goal.name]) for goal in self.goals]  # type: ignore[call-overload]  # a scalar
        return Point(tuple(objectives), {name: values[name] for name in self.shown}, proved)

    def _for_call(self) -> dict[str, Any]:
        """The settings of a call, with the rest of the time."""
        if self.interrupt.end is None:
            return self.settings
        left = (self.interrupt.end - time.monotonic()) * 1000
        return {**self.settings, "time_limit": int(left) if left >= 1 else -1}


def _both(one: Assumption | None, other: Assumption) -> Assumption:
    """The conjunction of two assumptions of a variable."""
    pairs = [part if isinstance(part, tuple) else (part, part) for part in (one, other) if part is not None]
    least = [low for low, _ in pairs if low is not None]
    greatest = [high for _, high in pairs if high is not None]
    return max(least, default=None), min(greatest, default=None)


def lexicographic(
    model: Model, goals: Sequence[str], assume: Assumptions | None = None, **settings: Any
) -> tuple[Point | None, bool]:
    """The solution that is best in the first goal, among these best in the second, …, or None without a solution; and
    whether this is proved. Each goal is "minimize NAME" or "maximize NAME"; `assume` and `settings` as in
    `Model.solve`, `time_limit` for all calls together."""
    asker = Asker(model, goals, assume, settings)
    return asker.best(asker.everywhere)


class Front:
    """The points that are not dominated, as a stream: no other point is as good in all goals and better in one goal.

    Of solutions with equal objectives one is returned. When the iteration has ended, `complete` is whether the whole
    front was returned. A point that is not `proved` may be dominated by another point of the stream.
    """

    def __init__(self, model: Model, goals: Sequence[str], assume: Assumptions | None = None, **settings: Any):
        self._asked = model, goals, assume, settings
        Asker(*self._asked)  # raises errors at once
        self.complete = False

    def __iter__(self) -> Iterator[Point]:
        self.complete = False
        self.complete = yield from front_of(Asker(*self._asked))


def front_of(asker: Asker) -> Generator[Point, None, bool]:
    """The points of a `Front`; returns whether they are the whole front."""
    signs = [goal.sign for goal in asker.goals]
    corners: list[Corner] = [asker.everywhere]
    empty: list[Corner] = []
    all_proved = True
    while corners and not asker.interrupt:
        corner = corners.pop()
        point, proved = asker.best(corner)
        all_proved &= proved
        if point is None:
            if proved:
                empty.append(corner)
                corners = [one for one in corners if not _is_within(one, corner)]
            continue
        yield point
        if not proved:  # no time is left, or a goal is unbounded: further points would not be proved either
            return False
        least = tuple(sign * objective for sign, objective in zip(signs, point.objectives))
        empty.append((least[0], *corner[1:]))
        corners = [one for one in _divided([*corners, corner], least) if not _is_in_any(one, empty)]
    return all_proved and not corners


def _is_within(corner: Corner, other: Corner) -> bool:
    """Whether all points below the first corner are below the second."""
    return all(one <= limit for one, limit in zip(corner, other))


def _is_in_any(corner: Corner, others: Sequence[Corner]) -> bool:
    return any(_is_within(corner, other) for other in others)


def _divided(corners: Sequence[Corner], point: Sequence[int]) -> list[Corner]:
    """Corners of boxes that contain all points of the boxes of these corners except points that are in no goal better
    than the point."""
    kept = [corner for corner in corners if any(part >= limit for part, limit in zip(point, corner))]
    split = set(corners) - set(kept)
    new = {(*corner[:place], part, *corner[place + 1 :]) for corner in split for place, part in enumerate(point)}
    # No corner lies within another, so no kept corner lies within a smaller corner.
    return [
        *kept,
        *sorted(one for one in new if not any(one != other and _is_within(one, other) for other in [*kept, *new])),
    ]
