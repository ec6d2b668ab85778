"""Cumulatives in proofs: what a learner explains by tasks that use too much at a time follows from the rows of their
pairs; the checker accepts it, and refuses what is false, by enumeration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO
from random import Random

import pytest

from support.crowd_models import Tasks, draw_tasks
from support.proofs import accepts
from support.quick import few_or
from turbo_fzn.lower.tuning import TUNING
from turbo_fzn.proof.crowded import Crowded
from turbo_fzn.proof.derived import Derived
from turbo_fzn.proof.encoding import Assumed, Encoding
from turbo_fzn.proof.refutation import Bounds, Step
from turbo_fzn.proof.writer import Writer, write_model
from turbo_fzn.tnf.crowds import Crowd, crowds
from turbo_fzn.tnf.fuse import fused_of
from turbo_fzn.tnf.language import TNF

BOXES = 12  # for each cumulative
MODELS = few_or(30, 120)


@pytest.fixture(autouse=True)
def rows_are_for_pairs_of_tasks(monkeypatch):
    monkeypatch.setattr(TUNING, "time_cells", 0)


@dataclass
class Model:
    """A model of tasks, with a cumulative whose wide row is proved, and its solutions by variables."""

    tnf: TNF
    encoding: Encoding
    rows: Derived
    text: list[str]
    crowd: Crowd
    whole: Crowded
    points: list[dict[int, int]]

    @property
    def lengths(self) -> list[int]:
        return [task.length for task in self.crowd.tasks]

    @property
    def uses(self) -> list[int]:
        return [task.use for task in self.crowd.tasks]

    def has_solution(self, assumed: tuple[Assumed, ...]) -> bool:
        """Whether there is a solution within these bounds."""
        return any(all((-one[s >> 1] if s & 1 else one[s >> 1]) >= k for s, k in assumed) for one in self.points)

    def accepts(self, steps: list[Step], claim: tuple[Assumed, ...]) -> bool:
        return accepts(self.rows, self.text, steps, claim)


def modelled(tasks: Tasks) -> Iterator[Model]:
    """A model for each cumulative."""
    tnf, numbers = tasks.prepared()
    found = [] if tnf is None else [crowd for _, crowd in crowds(tnf)]
    names = [*(f"s{i}" for i in range(len(tasks.starts))), "c"]
    points = [dict(zip(map(numbers.get, names), (*starts, c))) for c, starts in tasks.solutions()] if found else []
    for crowd in found:
        encoding, text = Encoding(tnf), StringIO()
        rows = Derived(encoding, fused_of(tnf, is_logged=True))
        write_model(encoding, text)
        yield Model(tnf, encoding, rows, text.getvalue().splitlines(), crowd, Crowded(rows, crowd), points)


def models(count: int) -> Iterator[tuple[Model, Random]]:
    for number in range(count):
        random = Random(f"crowded/{number}")
        for model in modelled(draw_tasks(random)):
            yield model, random


def boxes(model: Model, random: Random) -> Iterator[Bounds]:
    """Random bounds of the variables; those of starts are often narrow."""
    for _ in range(BOXES):
        bounds = {}
        for v in model.whole.variables:
            ends = int(model.tnf.lower[v]), int(model.tnf.upper[v])
            low = random.randint(*ends)
            high = min(low + random.choice((0, 1, 1, 2, 9)), ends[1])
            bounds |= {2 * v: low, 2 * v + 1: -high}
        yield bounds


def is_explained(model: Model, bounds: Bounds) -> bool:
    """Whether those that run for certain use too much at a time; or they do with a task that has to run at some time of
    a period in which all of them run."""
    first = [-bounds[2 * v + 1] for v in model.whole.variables[1:]]  # when each has begun for certain
    end = [bounds[2 * v] + length for v, length in zip(model.whole.variables[1:], model.lengths)]
    room = -bounds[2 * model.crowd.capacity + 1]

    def used(begin: int, last: int, own: int) -> int:
        return sum(use for i, use in enumerate(model.uses) if i != own and first[i] <= begin and last < end[i])

    times = range(min(first), max(end))
    too_much = any(used(time, time, -1) > room for time in times)
    return too_much or any(
        used(end[i] - 1, first[i], i) + model.uses[i] > room for i in range(len(first)) if end[i] <= first[i]
    )


@pytest.mark.parametrize("count", MODELS)
def test_the_checker_accepts_each_explanation_of_a_cumulative(count):
    """And all that a learner explains is explained."""
    sizes = Counter[bool]()
    for model, random in models(count):
        steps = []
        for bounds in boxes(model, random):
            step = model.whole.refute(bounds)
            assert (step is not None) == is_explained(model, bounds), bounds
            sizes[step is not None] += 1
            if step is not None:
                steps.append(step)
                assert all(bounds[side] >= k for side, k in step.assumed)
                assert not model.has_solution(step.assumed)
                assert model.accepts(steps, step.assumed), (model.crowd, bounds)
    assert min(sizes[True], sizes[False]) > count, sizes


@pytest.mark.parametrize("count", MODELS)
def test_the_checker_accepts_no_false_explanation_of_a_cumulative(count):
    """With a literal less or negated, and with a weaker bound."""
    refused = Counter[str]()
    for model, random in models(count):
        for bounds in boxes(model, random):
            step = model.whole.refute(bounds)
            if step is None or not step.assumed:
                continue
            place = random.randrange(len(step.assumed))
            side, k = step.assumed[place]
            rest = step.assumed[:place] + step.assumed[place + 1 :]
            for kind, claim in (
                ("less", rest),
                ("negated", (*rest, (side ^ 1, 1 - k))),
                ("weaker", (*rest, (side, k - 1))),
            ):
                if model.has_solution(claim):
                    assert not model.accepts([step], claim), (kind, claim)
                    refused[kind] += 1
    assert min(refused[kind] for kind in ("less", "negated", "weaker")) > count / 4, refused


def test_a_cover_is_proved_once():
    """However many explanations it has."""
    tasks = Tasks([(0, 9)] * 4, [4] * 4, [[1] * 4], [3], 3, [], False)
    (model,) = modelled(tasks)
    lines, counts = [], []
    writer = Writer(model.encoding, lines.append, model.rows.words)
    for first in (2, 4):
        bounds = {2 * model.crowd.capacity: 3, 2 * model.crowd.capacity + 1: -3}
        for task in model.crowd.tasks:
            bounds |= {2 * task.start: first, 2 * task.start + 1: -first - 2}
        before = len(lines)
        writer.part(model.whole.refute(bounds))
        counts.append(sum(line.startswith("rup") for line in lines[before:]))
    n_clauses = 4 + 3 + 2 + 1  # of four tasks, then of three, ...
    assert counts == [n_clauses + 1, 1]


def test_a_cumulative_that_lacks_rows_is_no_crowd():
    """Times are stated one by one, lengths are variables, or two tasks at most are stated by pairs alone."""
    tasks = Tasks([(0, 9)] * 4, [4] * 4, [[1] * 4], [3], 3, [], False)
    assert len(list(modelled(tasks))) == 1
    assert not list(modelled(tasks._replace(uses=[[2] * 4])))
    tnf = tasks.tnf()
    length = int(tnf.wides[0].groups[0, 1])
    tnf.upper[length] += 1
    assert not crowds(tnf)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TUNING, "time_cells", 1000)
        assert not list(modelled(tasks))
