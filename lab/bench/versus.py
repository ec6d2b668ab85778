"""Several solvers on the same files, as one picture: the objective over time, a small frame for each file.

    python -m lab.bench.versus FILES --seconds 30 --svg FILE --json FILE \\
        --with "turbo_fzn=fzn-turbo -f -i -p 2 -t {ms} {file}" --with "Gecode=fzn-gecode -p 2 -a -time {ms} {file}"

Each is a command with {file}, and {ms} or {s}, in it, run by itself for so many seconds from the start of its process.
With `--processor` these are seconds of processors, the sum over its threads, for a machine that has other work, too;
the solver is then ended by us. Improvements are the values of the objective that it prints as they come. A solver that
prints them in another way than as the variable's value is read by `--line`, a regular expression whose group is the
objective.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
from pathlib import Path

from lab.bench.files import add_arguments, chosen_files, name_of
from lab.bench.nodes import UNUSABLE, duration
from lab.bench.others import ProcessorClock, WallClock, run_side
from turbo_fzn.read.files import read_text
from turbo_fzn.report.axes import SMALL, Point
from turbo_fzn.report.charts import draw_side_by_side

Found = dict[str, dict[str, list[Point]]]  # model -> solver -> (seconds, objective)


def measure(arguments: argparse.Namespace) -> None:
    """The improvements of each solver on each file, in turn; written after each file, since this takes long."""
    clock = ProcessorClock if arguments.processor else WallClock
    found: Found = {}
    for path in arguments.files:
        for solver, command in arguments.solvers:
            points: list[Point] = [*run_side(path, command, arguments.seconds, arguments.line, clock)]
            found.setdefault(name_of(path), {})[solver] = points
            last = f"{points[-1][1]} at {points[-1][0]:.1f} s" if points else "nothing"
            print(f"{name_of(path):24}{solver:16}{last}", flush=True)
        write(found, arguments)


def write(found: Found, arguments: argparse.Namespace) -> None:
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1))
    goals = {name_of(path): _goal_of(path) for path in arguments.files}
    panels = [(f"{model}, {goals[model]}", list(runs.items())) for model, runs in found.items()]
    title = f"Objective over {'processor' if arguments.processor else 'wall'} seconds"
    arguments.svg.write_text(draw_side_by_side(title, panels, arguments.seconds, SMALL), encoding="utf-8")


def _goal_of(path: Path) -> str:
    """The goal in the solve item: minimize, maximize or satisfy."""
    found = re.search(r"\bsolve\b[^;]*\b(minimize|maximize|satisfy)\b", read_text(str(path)))
    return found[1] if found else "no goal"


def _solver_of(text: str) -> tuple[str, str]:
    """NAME=COMMAND, as argparse wants a type."""
    name, _, command = text.partition("=")
    if "{file}" not in command:
        raise argparse.ArgumentTypeError("expected NAME=COMMAND, with {file} in the command")
    if shutil.which(command.split()[0]) is None:
        raise argparse.ArgumentTypeError(f"{command.split()[0]}: no such program")
    return name, command


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m lab.bench.versus", description=(__doc__ or "").splitlines()[0])
    add_arguments(parser, needed=True)
    parser.add_argument("--seconds", type=duration, default=30.0, help="for each file and solver")
    parser.add_argument(
        "--with", type=_solver_of, action="append", required=True, dest="solvers", metavar="NAME=COMMAND"
    )
    parser.add_argument(
        "--line", metavar="PATTERN", help="how else a solver prints the objective, as in '%% obj=(-?\\d+)'"
    )
    parser.add_argument(
        "--processor", action="store_true", help="seconds of all processors used, not of the wall's clock"
    )
    parser.add_argument("--svg", type=Path, required=True)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    try:
        arguments.files = chosen_files(arguments)
        re.compile(arguments.line or "")
    except (*UNUSABLE, re.error) as error:
        parser.error(str(error))
    measure(arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())
