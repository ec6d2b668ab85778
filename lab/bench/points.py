"""Points as in the MiniZinc Challenge, the complete score: each model is a vote between each two solvers.

The better answer takes the point: a proof before none, any solution before none, else the better objective. Of answers
that are alike each solver gets the share of the other's time in the time of both: that of its proof, or else of its
best solution. Without any answer neither gets anything. (Stuckey, Feydy, Schutt, Tack, Fischer, AI Magazine 2014.)

The table is a CSV file with a line for each model: `model`, `kind` (minimize, maximize or satisfy), and for each
solver NAME three columns. `NAME_best` (or `NAME_MORE_best`, as in solver_8t_best) is its best objective, SAT or UNSAT,
empty where it has found nothing; `NAME_best_s` when it had that, in seconds; `NAME_proof_s` when it had proved it, or
that there is no solution; empty where it had not. Other columns are not looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

SENSES = {"minimize": 1, "maximize": -1, "satisfy": 0}
COLUMN = "_proof_s"  # which names a solver


class Outcome(NamedTuple):
    """A solver's answer to a model: the sense of the objective and the best value (0 to satisfy; None: no solution),
    whether the answer is proved, and the seconds until it was given."""

    sense: int
    objective: float | None
    closed: bool
    seconds: float

    @property
    def rank(self) -> tuple[bool, bool, float]:
        """The greater, the better."""
        found = self.objective is not None
        return self.closed, found, -self.sense * self.objective if self.objective is not None else 0


def outcome(row: Mapping[str, str], solver: str) -> Outcome:
    """The outcome of a solver in a line of the table. Raises KeyError for a missing kind or column, ValueError for a
    missing number."""
    sense = SENSES[row["kind"]]
    bests = [row[column] for column in row if column.startswith(f"{solver}_") and column.endswith("_best")]
    best, when, proof = bests[0] if bests else "", row.get(f"{solver}_best_s") or "", row[solver + COLUMN]
    if best == "SAT":
        return Outcome(0, 0, True, float(when or proof))
    found = int(best) if best not in ("", "UNSAT") else None
    return Outcome(sense, found, bool(proof), float(proof or when or "inf"))


def vote(one: Outcome, other: Outcome) -> float:
    """The points of `one`, of at most 1."""
    if not any(said.closed or said.objective is not None for said in (one, other)):
        return 0.0
    if one.rank != other.rank:
        return float(one.rank > other.rank)
    together = one.seconds + other.seconds
    return other.seconds / together if together else 0.5


def solvers_of(rows: Iterable[Mapping[str, str]]) -> list[str]:
    """The names of the solvers of a table."""
    return [column.removesuffix(COLUMN) for column in next(iter(rows), {}) if column.endswith(COLUMN)]


def points(models: Sequence[Mapping[str, Outcome]]) -> dict[str, float]:
    """The points of each solver (by name), over models of which each has an outcome of each solver."""
    total = dict.fromkeys(models[0] if models else (), 0.0)
    for outcomes in models:
        for name, said in outcomes.items():
            total[name] += sum(vote(said, others) for other, others in outcomes.items() if other != name)
    return total
