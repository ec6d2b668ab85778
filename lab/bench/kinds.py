"""Models of many kinds, a few seconds each: rows, start-up, objective and proof beside what was found before.

    python -m lab.bench.kinds                    solves all and compares with docs/measurements/kinds.md
    python -m lab.bench.kinds database league    only these
    python -m lab.bench.kinds --write            writes the figures anew

A change of lowering, search or relaxation may lose a kind of model that no other benchmark has. Each kind is one
generated model (structured.py, plain.py, integer.py), solved by two threads with free search. The command ends with 1
where the rows are others than before, a proof is lost, or an objective is worse; times are shown, since they depend on
the machine. Needs the installed `minizinc`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from random import Random
from typing import NamedTuple, TypeGuard

from lab.bench import integer, plain, structured
from turbo_fzn.interface.api import Result, solve_model
from turbo_fzn.interface.flattening import flatten
from turbo_fzn.run.answer.outcome import CLOSED

PAGE = Path("docs/measurements/kinds.md")
SEED = 1
NOISE = 0.05  # of an objective
OF_OTHERS = ("project", "job_shop", "bins", "tour", "layout", "cover", "timetable", "routes", "lots")
MODELS: dict[str, Callable[[Random], str]] = {
    **{name: {**plain.MODELS, **integer.MODELS}[name] for name in OF_OTHERS},
    **structured.MODELS,
}
HEAD = ("kind", "variables", "rows", "start-up in s", "objective", "bound", "proof after s")
INTRODUCTION = """# Kinds of models

One generated model of each kind, {seconds} s on two threads with `-f`: what lowering makes of it, and how far the
search comes. `make kinds` solves them again and compares: rows, proofs and objectives; times are those of the machine.

{where}
"""


class Figures(NamedTuple):
    """A row of the table. `objective`, `bound` and `proof` are None where there is none; a model without an objective
    has its status for the objective."""

    kind: str
    variables: int
    rows: int
    startup: float
    objective: str | None
    bound: str | None
    proof: float | None

    @property
    def cells(self) -> list[str]:
        proof = None if self.proof is None else f"{self.proof:.1f}"
        every = self.kind, self.variables, self.rows, f"{self.startup:.2f}", self.objective, self.bound, proof
        return ["–" if cell is None else str(cell) for cell in every]

    @staticmethod
    def of_cells(cells: Sequence[str]) -> Figures:
        kind, variables, rows, startup, *rest = (None if cell == "–" else cell for cell in cells)
        objective, bound, proof = rest
        return Figures(str(kind), int(variables or 0), int(rows or 0), float(startup or 0), objective, bound,
                       None if proof is None else float(proof))  # fmt: skip


def figures_of(kind: str, result: Result) -> Figures:
    statistics = result.statistics
    is_satisfaction = result.objective is None and statistics.get("objectiveBound") is None
    objective = result.status if is_satisfaction else result.objective
    bound = statistics.get("objectiveBound")
    seconds = statistics["initTime"] + statistics["solveTime"]
    return Figures(
        kind,
        statistics["variables"],
        statistics["propagators"],
        statistics["initTime"],
        None if objective is None else str(objective),
        None if bound is None else str(bound),
        seconds if result.status in CLOSED else None,
    )


def complaints(now: Figures, before: Figures, sense: int, seconds: float) -> list[str]:
    """Whether the rows are others, or something is worse than before. `sense`: 1 where the objective is minimised, -1
    where it is maximised; a proof may get lost that took more than half of the seconds, and an objective that was not
    proved may be worse by NOISE."""
    found = []
    if now.rows != before.rows:
        found.append(f"rows {before.rows} -> {now.rows}")
    if before.proof is not None and now.proof is None and before.proof <= seconds / 2:
        found.append("the proof is lost")
    if now.objective != before.objective:
        old, new = (float(one.objective) if _is_number(one.objective) else None for one in (before, now))
        noise = 0.0 if old is None or before.proof is not None else NOISE * abs(old)
        if new is None or (old is not None and sense * (new - old) > noise):
            found.append(f"objective {before.objective} -> {now.objective}")
    return found


def _is_number(text: str | None) -> TypeGuard[str]:
    return text is not None and text.lstrip("-").replace(".", "", 1).isdigit()


def solve(kind: str, seconds: float) -> tuple[Figures, int]:
    """The figures of a kind, and the sense of its objective."""
    model = flatten(MODELS[kind](Random(SEED)))
    result = solve_model(model, arch="cpu", threads=2, free_search=True, time_limit=round(1000 * seconds))
    method = "satisfy" if model.goal is None else model.goal.method
    return figures_of(kind, result), -1 if method == "maximize" else 1


def read_table(page: str) -> dict[str, Figures]:
    """The rows of the table of a page, by kind."""
    lines = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| ")]
    rows = [[cell.strip() for cell in line] for line in lines if len(line) == len(HEAD)]
    return {row[0]: Figures.of_cells(row) for row in rows if row[0] != HEAD[0]}


def table(rows: Sequence[Figures]) -> str:
    lines = [f"| {' | '.join(HEAD)} |", f"|---|{'---:|' * (len(HEAD) - 1)}"]
    return "\n".join([*lines, *(f"| {' | '.join(one.cells)} |" for one in rows)])


def main(argv: list[str] | None = None) -> int:
    description = (__doc__ or "").splitlines()[0]
    parser = argparse.ArgumentParser(prog="python -m lab.bench.kinds", description=description)
    parser.add_argument("kinds", nargs="*", help=f"default: all of {', '.join(MODELS)}")
    parser.add_argument("--seconds", type=float, default=8, help="for each (default 8)")
    parser.add_argument("--page", type=Path, default=PAGE, help=f"the table to compare with (default {PAGE})")
    parser.add_argument("--write", metavar="WHERE", help="write the table: the machine and commit, for the page")
    arguments = parser.parse_args(argv)
    before = read_table(arguments.page.read_text(encoding="utf-8")) if arguments.page.exists() else {}
    if not MODELS.keys() >= set(arguments.kinds):
        parser.error(f"no such kind: {', '.join(sorted(set(arguments.kinds) - MODELS.keys()))}")
    rows, n_worse = dict(before), 0
    for kind in arguments.kinds or MODELS:
        rows[kind], sense = solve(kind, arguments.seconds)
        worse = complaints(rows[kind], before[kind], sense, arguments.seconds) if kind in before else ["new"]
        n_worse += kind in before and bool(worse)
        print(f"| {' | '.join(rows[kind].cells)} | {'; '.join(worse)}", flush=True)
    if arguments.write:
        where = f"{date.today():%-d %B %Y}, {arguments.write}."
        text = INTRODUCTION.format(seconds=f"{arguments.seconds:g}", where=where)
        found = table([rows[kind] for kind in MODELS if kind in rows])
        arguments.page.write_text(f"{text}\n{found}\n", encoding="utf-8")
        return 0
    return int(n_worse > 0)


if __name__ == "__main__":
    sys.exit(main())
