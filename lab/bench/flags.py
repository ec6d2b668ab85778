"""Compares flags on the same models.

    python -m lab.bench.flags FILES --seconds 20 --with "-p 1" --with "-f"
    python -m lab.bench.flags FILES --seconds 20 --seeds 3 --jobs 14 --with "-p 1" --with "-f" --json NEW.json

Each run is a separate process, `fzn-turbo --arch cpu FLAGS FILE`, with a limit on the CPU seconds of all its threads
together: so the machine may have other work, and one thread is compared with several at equal cost. A cell of the table
has the CPU seconds until the end of the search and the number of learners' conflicts, or else the best objective
(`found` without one), or else `-`; for several seeds the medians, and the number of seeds that ended. The last lines
count the ends, and the models on which the outcome is better or worse than with the first flags.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from lab.bench.files import add_arguments, chosen_files, name_of
from lab.bench.nodes import UNUSABLE, duration
from turbo_fzn.read.files import read_text

POLL_SECONDS = 0.05
ENDED = re.compile(r"^(==========|=====UNSATISFIABLE=====)$", re.MULTILINE)
STATISTIC = re.compile(r"^%%%mzn-stat: (objective|nogoods)=(-?\d+)$", re.MULTILINE)
MAXIMISES = re.compile(r"\bsolve\b[^;]*\bmaximize\b")


class Outcome(NamedTuple):
    """The outcome of one run: whether the search ended, its CPU seconds, the best objective, whether there is a
    solution, and the number of learners' conflicts."""

    ended: bool
    seconds: float
    objective: int | None
    found: bool
    conflicts: int


def run(path: Path, flags: str, seconds: float) -> Outcome:
    """Solves the model for at most `seconds` of CPU time."""
    command = [sys.executable, "-m", "turbo_fzn", "--arch", "cpu", "-s", *shlex.split(flags), str(path)]
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.DEVNULL)
        spent = wait(process.pid, seconds)
        output.seek(0)
        text = output.read()
    known = {name: int(value) for name, value in STATISTIC.findall(text)}
    found = "----------" in text
    return Outcome(bool(ENDED.search(text)), spent, known.get("objective"), found, known.get("nogoods", 0))


def wait(process: int, seconds: float) -> float:
    """Waits for the end of the process, and stops it after `seconds` of CPU time. Returns the CPU seconds used."""
    asked = False
    while True:
        ended, _, usage = os.wait4(process, os.WNOHANG)
        if ended:
            return usage.ru_utime + usage.ru_stime
        if not asked and _cpu_seconds(process) > seconds:
            os.kill(process, signal.SIGTERM)
            asked = True
        time.sleep(POLL_SECONDS)


def _cpu_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def cell(runs: Sequence[Outcome]) -> str:
    """The table's cell for the runs of one model with the same flags."""
    ended = [one for one in runs if one.ended]
    if ended:
        seconds = statistics.median(one.seconds for one in ended)
        conflicts = int(statistics.median(one.conflicts for one in ended))
        text = f"{seconds:.1f} s" + (f", {conflicts:,}" if conflicts else "")
        if len(ended) == len(runs):
            return text
        return f"{len(ended)} of {len(runs)}: {text}"
    objectives = [one.objective for one in runs if one.objective is not None]
    if objectives:
        return f"{int(statistics.median(objectives))}"
    return "found" if any(one.found for one in runs) else "-"


def rank(runs: Sequence[Outcome], sense: int) -> tuple[int, int, float]:
    """The higher the better: ends, solutions, and the median of the objectives."""
    values = [-sense * one.objective for one in runs if one.objective is not None]
    return sum(one.ended for one in runs), sum(one.found for one in runs), statistics.median(values) if values else 0


def _sense_of(path: Path) -> int:
    """-1 where the model maximises, else 1."""
    return -1 if MAXIMISES.search(read_text(str(path))) else 1


def table(paths: Sequence[Path], columns: Sequence[str], every: dict[tuple[str, str], list[Outcome]]) -> str:
    """The results as a Markdown table: a row for each model, a column for each list of flags, and a summary."""
    lines = [["model", *(f"`{flags or 'none'}`" for flags in columns)], ["---", *("---:" for _ in columns)]]
    runs = {path: [every[name_of(path), flags] for flags in columns] for path in paths}
    lines += [[name_of(path), *map(cell, runs[path])] for path in paths]
    lines.append(["ends", *(str(sum(one.ended for p in paths for one in runs[p][i])) for i in range(len(columns)))])
    ranks = {path: [rank(outcomes, _sense_of(path)) for outcomes in runs[path]] for path in paths}
    for word, sign in (("better", 1), ("worse", -1)):
        counts = [sum(sign * compare(r[i], r[0]) > 0 for r in ranks.values()) for i in range(len(columns))]
        lines.append([word, *map(str, counts)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def compare(one: tuple, other: tuple) -> int:
    return (one > other) - (one < other)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m lab.bench.flags", description=__doc__.splitlines()[0])
    add_arguments(parser, needed=True)
    parser.add_argument("--seconds", type=duration, default=20.0, help="CPU seconds of a run, all threads together")
    parser.add_argument("--with", dest="flags", action="append", required=True, help="the flags of a column")
    parser.add_argument("--seeds", type=int, default=0, help="run with -r 1 to -r SEEDS (default: once, without -r)")
    parser.add_argument("--jobs", type=int, default=1, help="runs at once (default: 1)")
    parser.add_argument("--json", type=Path, help="keep the outcomes of all runs")
    arguments = parser.parse_args()
    try:
        paths = chosen_files(arguments)
    except UNUSABLE as error:
        parser.error(str(error))
    seeds = [f" -r {seed}" for seed in range(1, arguments.seeds + 1)] or [""]
    jobs = [(path, flags, seed) for path in paths for flags in arguments.flags for seed in seeds]
    every: dict[tuple[str, str], list[Outcome]] = {}
    with ThreadPoolExecutor(arguments.jobs) as pool:
        outcomes = pool.map(lambda job: run(job[0], job[1] + job[2], arguments.seconds), jobs)
        for (path, flags, _), outcome in zip(jobs, outcomes):
            every.setdefault((name_of(path), flags), []).append(outcome)
            if arguments.json:
                known = [{"model": key[0], "flags": key[1], "runs": runs} for key, runs in every.items()]
                arguments.json.write_text(json.dumps(known))
    print(table(paths, arguments.flags, every))
    return 0


if __name__ == "__main__":
    sys.exit(main())
