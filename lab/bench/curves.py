"""The curves of runs over time: measured, kept as JSON, counted and compared.

The primal integral is Berthold's (OR Letters 2013).
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path


@dataclass
class Curve:
    """One model, one seed. `improvements`: (seconds since the engine started, objective, strategy), in their order;
    `bounds`: (seconds, proved bound of the objective), likewise, where it was seen to move."""

    model: str
    seed: int
    sense: int
    seconds: float
    status: str = "UNKNOWN"
    end: float = 0.0
    bound: float | None = None
    improvements: list[tuple[float, float, str]] = field(default_factory=list)
    statistics: dict[str, object] = field(default_factory=dict)
    side: list[tuple[float, int]] = field(default_factory=list)
    bounds: list[tuple[float, float]] = field(default_factory=list)

    @property
    def objective(self) -> float | None:
        return self.improvements[-1][1] if self.improvements else None

    def at(self, seconds: float) -> float | None:
        """The objective at a time, None if there was no solution."""
        reached = [objective for when, objective, _ in self.improvements if when <= seconds]
        return reached[-1] if reached else None

    def bound_at(self, seconds: float) -> float | None:
        """The proved bound at a time, None if there was none."""
        reached = [bound for when, bound in self.bounds if when <= seconds]
        return reached[-1] if reached else None

    def note_bound(self, when: float, bound: float | None) -> None:
        """Records the bound, if it has moved."""
        if bound is not None and (not self.bounds or self.bounds[-1][1] != bound):
            self.bounds.append((when, bound))

    def primal_integral(self, best: float | None) -> float:
        """The mean gap in per cent over the whole time to `best`, the best objective known."""
        best = self.objective if best is None else best
        total, since, gap = 0.0, 0.0, 100.0
        for when, objective, _ in self.improvements:
            total += gap * (min(when, self.seconds) - since)
            since, gap = min(when, self.seconds), gap_of(objective, best)
        return (total + gap * (self.seconds - since)) / self.seconds


def gap_of(objective: float, best: float | None) -> float:
    """|objective - best| as a percentage of the larger of both, 100 for different signs."""
    if best is None or objective == best:
        return 0.0
    if objective * best < 0:
        return 100.0
    return 100.0 * abs(objective - best) / max(abs(objective), abs(best))


def number(cell: str | None) -> float | None:
    """An objective of the peers' table; None if no solution was found."""
    match = re.fullmatch(r"(-?\d+)\*?", cell or "")
    return int(match[1]) if match else None


def is_peer(column: str) -> bool:
    return column.endswith("s") and column[-2].isdigit() and not column.startswith("turbo128_h200_nodes")


def better(sense: int, ours: float | None, theirs: float | None) -> int:
    """1 when ours is better, 0 when equal, -1 when worse. Any solution is better than none."""
    if ours is None or theirs is None:
        return (ours is not None) - (theirs is not None)
    return (sense * ours < sense * theirs) - (sense * ours > sense * theirs)


def load(path: Path) -> list[Curve]:
    """The curves of a file that --json has written. Raises ValueError for other files."""
    try:
        return [Curve(**row) for row in json.loads(path.read_text())]
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path}: not what --json has written") from error


def keep(curves: Sequence[Curve], path: Path) -> None:
    """Writes the curves, as `load` reads them. The file is there whole at any moment."""
    part = path.with_name(f"{path.name}.part")
    part.write_text(json.dumps([asdict(curve) for curve in curves], indent=1))
    part.replace(path)


def by_model(curves: Sequence[Curve]) -> dict[str, list[Curve]]:
    """The seeds of each model, both in their order."""
    found: dict[str, list[Curve]] = {}
    for curve in curves:
        found.setdefault(curve.model, []).append(curve)
    return found


def count(verdicts: Sequence[int]) -> tuple[int, int, int]:
    """The numbers of better, equal and worse."""
    return verdicts.count(1), verdicts.count(0), verdicts.count(-1)


def counts_against(
    curves: Sequence[Curve], peers: dict[str, dict[str, str]], old: Sequence[Curve] = ()
) -> list[tuple[str, tuple[int, int, int]]]:
    """For the best known objectives, each peer, the old runs and the other solver: the numbers of our runs that end
    better, equal and worse, by model and seed."""
    optimised = [curve for curve in curves if curve.sense]
    known = [curve for curve in optimised if curve.model in peers]
    columns = ["best_known", *filter(is_peer, next(iter(peers.values()), {}))] if known else []
    rows = [
        (column, [better(c.sense, c.objective, number(peers[c.model].get(column))) for c in known])
        for column in columns
    ]
    before = {(curve.model, curve.seed): curve.objective for curve in old}
    same = [curve for curve in optimised if (curve.model, curve.seed) in before]
    if same:
        rows.append(("old", [better(c.sense, c.objective, before[c.model, c.seed]) for c in same]))
    beside = [curve for curve in optimised if curve.side]
    if beside:
        rows.append(("the solver beside", [better(c.sense, c.objective, c.side[-1][1]) for c in beside]))
    return [(name, count(verdicts)) for name, verdicts in rows]


def best_known(curves: Sequence[Curve], peers: dict[str, dict[str, str]]) -> dict[str, float | None]:
    """For each model the best objective of the table, of these curves, and of other solvers."""
    found: dict[str, float | None] = {}
    for model, runs in by_model(curves).items():
        told = number(peers.get(model, {}).get("best_known"))
        values = [value for curve in runs for value in (curve.objective, *(objective for _, objective in curve.side))]
        all_values = [value for value in (told, *values) if value is not None]
        sense = runs[0].sense
        found[model] = min(all_values, key=lambda value: sense * value) if all_values else None
    return found


def mean_integrals(curves: Sequence[Curve], known: dict[str, float | None]) -> dict[str, float]:
    """For each model the mean primal integral over its seeds."""
    return {
        model: sum(run.primal_integral(known.get(model)) for run in runs) / len(runs)
        for model, runs in by_model(curves).items()
    }


def compare(old: Sequence[Curve], new: Sequence[Curve], peers: dict[str, dict[str, str]]) -> list[str]:
    """Lines that show two --json files side by side, model by model."""
    known = best_known([*old, *new], peers)
    before, after = mean_integrals(old, known), mean_integrals(new, known)
    lines = [f"{'model':24}{'old integral':>14}{'new integral':>14}"]
    lines += [f"{model:24}{before[model]:14.1f}{after[model]:14.1f}" for model in after if model in before]
    lines += [f"{name}: better {b}, equal {e}, worse {w}" for name, (b, e, w) in counts_against(new, peers, old)]
    if alone := sorted(before.keys() ^ after.keys()):
        lines.append(f"only in one of both: {', '.join(alone)}")
    return lines
