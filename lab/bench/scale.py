"""How the search grows with GPUs and hosts: the same models by one of them and by several.

    python -m lab.bench.scale FOLDER --form "--gpus 1" --form "--gpus 2" --form "mpiexec -n 2 :: --arch gpu"

A form is flags of fzn-turbo, behind a launcher and two colons where it has one; the first is what the others are
compared with. Each run is a process of its own. Tree search (`--lns off`) tells nodes a second, the share of time that
blocks were idle, and the seconds of solving where the search has ended; free search (`--free-seconds`, so long for
each of `--seeds`) the median objective. Below stand the geometric mean and the least of the ratios of nodes, the
greatest ratio of the times of proofs that take the first form more than a second, and how often free search was better
and worse.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from lab.bench.files import add_arguments, chosen_files, name_of
from lab.bench.nodes import UNUSABLE, duration
from lab.bench.runs import geometric_mean

STATISTIC = re.compile(r"^%%%mzn-stat: (\w+)=(.*)$", re.MULTILINE)
ENDED = re.compile(r"^(==========|=====UNSATISFIABLE=====)$", re.MULTILINE)
SENSE = re.compile(r"\b(minimize|maximize)\b")
TREE_FLAGS = ["--lns", "off", "--relaxation", "off", "-s", "-a"]
FREE_FLAGS = ["-f", "-s", "-a"]
STARTING_SECONDS = 3.0  # that a run may take before it searches
LONG_PROOF_SECONDS = 1.0
PATIENCE_SECONDS = 60.0


@dataclass
class _Cell:
    """A model by one form: of tree search nodes a second, idle share, seconds where it has ended, and the objective;
    of free search the objective for each seed."""

    nodes_per_second: float = 0.0
    idle_share: float = 0.0
    ended: float | None = None
    objective: float | None = None
    free: list[float | None] = field(default_factory=list)
    error: str = ""

    @property
    def median(self) -> float | None:
        known = sorted(value for value in self.free if value is not None)
        return statistics.median_low(known) if len(known) * 2 > len(self.free) else None


def command(form: str, flags: Sequence[str], path: Path) -> list[str]:
    launcher, _, own = form.rpartition("::")
    arch = [] if "--arch" in own else ["--arch", "gpu"]
    run = [sys.executable, "-m", "turbo_fzn", *arch, *shlex.split(own), *flags, str(path)]
    return [*shlex.split(launcher), *run]


def run(form: str, flags: Sequence[str], path: Path, seconds: float) -> tuple[dict[str, str], bool, str]:
    """The last value of each statistic, whether the search has ended, and what went wrong."""
    limit = ["-t", str(round(1000 * seconds))]
    try:
        done = subprocess.run(
            command(form, [*flags, *limit], path), capture_output=True, text=True, timeout=seconds + PATIENCE_SECONDS
        )
    except subprocess.TimeoutExpired:
        return {}, False, "does not end"
    error = f"exit code {done.returncode}: {done.stderr.strip()[-200:]}" if done.returncode else ""
    return dict(STATISTIC.findall(done.stdout)), bool(ENDED.search(done.stdout)), error


def _measure_tree(cell: _Cell, form: str, path: Path, seconds: float) -> None:
    told, ended, cell.error = run(form, TREE_FLAGS, path, seconds + STARTING_SECONDS)
    if "solveTime" in told:
        solving, idle, busy = (float(told.get(name, 0)) for name in ("solveTime", "idleTime", "busyTime"))
        cell.nodes_per_second = int(told["nodes"]) / max(solving, 1e-9)
        cell.idle_share = idle / max(idle + busy, 1e-9)
        cell.ended = solving if ended else None
    cell.objective = float(told["objective"]) if "objective" in told else None


def _measure_free(cell: _Cell, form: str, path: Path, seconds: float, seed: int) -> None:
    told, _, error = run(form, [*FREE_FLAGS, "-r", str(seed), "-p", "2"], path, seconds)
    cell.error = cell.error or error
    cell.free.append(float(told["objective"]) if "objective" in told else None)


def _sense_of(path: Path) -> int:
    import gzip

    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        found = SENSE.findall(file.read())
    return {"minimize": 1, "maximize": -1}[found[-1]] if found else 0


def shown(cell: _Cell, base: _Cell) -> str:
    ended = "" if cell.ended is None else f"{cell.ended:.2f}"
    ratio = f"{cell.nodes_per_second / base.nodes_per_second:.2f}" if base.nodes_per_second else ""
    median = "" if cell.median is None else f"{cell.median:g}"
    return f"{cell.nodes_per_second:13,.0f}{ratio:>6}{cell.idle_share:7.1%}{ended:>8}{median:>9}"


def header(forms: Sequence[str]) -> str:
    titles = "".join(f"| {form[:40]:41}" for form in forms)
    columns = "".join(f"|{'nodes/s':>12}{'ratio':>6}{'idle':>7}{'ended':>8}{'free':>9}" for _ in forms)
    return f"{'':24}{titles}\n{'model':24}{columns}"


def summary(rows: dict[str, list[_Cell]], senses: dict[str, int], place: int) -> str:
    """Compares the form at this place with the first one, as text."""
    pairs = [(model, cells[0], cells[place]) for model, cells in rows.items()]
    ratios = [new.nodes_per_second / old.nodes_per_second for _, old, new in pairs if old.nodes_per_second]
    proofs = [
        (float("inf") if new.ended is None else new.ended) / old.ended
        for _, old, new in pairs
        if old.ended is not None and old.ended > LONG_PROOF_SECONDS
    ]
    gains = [senses[model] * gain(old.median, new.median, senses[model]) for model, old, new in pairs if old.free]
    better, worse = (sum(sign * gain > 0 for gain in gains) for sign in (1, -1))
    contradictions = [model for model, old, new in pairs if _contradict(old, new)]
    return (
        f"nodes/s {geometric_mean(ratios):.2f} times (geometric mean), least {min(ratios, default=0):.2f}; "
        f"{len(proofs)} proofs, in at most {max(proofs, default=0):.2f} of the time; "
        f"free search better on {better}, worse on {worse}"
        + (f"; CONTRADICTIONS: {', '.join(contradictions)}" if contradictions else "")
    )


def gain(old: float | None, new: float | None, sense: int) -> float:
    """By how much the new one is less; a solution is worth more than none."""
    if old is None or new is None:
        return sense * ((new is not None) - (old is not None))
    return old - new


def _contradict(old: _Cell, new: _Cell) -> bool:
    """Whether both have ended with different optima."""
    return old.ended is not None and new.ended is not None and old.objective != new.objective


def read_arguments() -> argparse.Namespace:
    told = (__doc__ or "").splitlines()[0]
    parser = argparse.ArgumentParser(prog="python -m lab.bench.scale", description=told)
    add_arguments(parser, needed=True)
    parser.add_argument("--form", action="append", required=True, help="flags, perhaps behind a launcher and ::")
    parser.add_argument("--seconds", type=duration, default=10.0, help="of tree search for each model")
    parser.add_argument("--free-seconds", type=duration, help="of free search for each model and seed")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    try:
        arguments.files = chosen_files(arguments)
    except UNUSABLE as error:
        parser.error(str(error))
    return arguments


def main() -> int:
    arguments = read_arguments()
    print(header(arguments.form), flush=True)
    rows: dict[str, list[_Cell]] = {}
    for path in arguments.files:
        cells = rows[name_of(path)] = [_Cell() for _ in arguments.form]
        for cell, form in zip(cells, arguments.form):
            _measure_tree(cell, form, path, arguments.seconds)
            for seed in range(arguments.seeds if arguments.free_seconds else 0):
                _measure_free(cell, form, path, arguments.free_seconds, seed)
        print(f"{name_of(path):24}" + "".join(f"|{shown(cell, cells[0])[1:]}" for cell in cells), flush=True)
        print("".join(f"  {form}: {cell.error}\n" for form, cell in zip(arguments.form, cells) if cell.error), end="")
    senses = {name_of(path): _sense_of(path) for path in arguments.files}
    for place, form in enumerate(arguments.form[1:], 1):
        print(f"{form}: {summary(rows, senses, place)}", flush=True)
    if arguments.json:
        every = {model: [asdict(cell) for cell in cells] for model, cells in rows.items()}
        arguments.json.write_text(json.dumps({"forms": arguments.form, "models": every}, indent=1))
    return 1 if any(cell.error for cells in rows.values() for cell in cells) else 0


if __name__ == "__main__":
    sys.exit(main())
