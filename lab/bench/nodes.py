"""Run a folder of FlatZinc files and print what the engines did: `python -m lab.bench FOLDER`.

Each file is solved by tree search (`--free`: free search) for a given time on each engine, in this process, every
solution checked. The table gives nodes and propagator runs a second of solving, what a node costs, how long blocks were
idle, the shape of the launch, and the objective; the last row holds geometric means. With `--peers FILE.csv` (columns
model, best_known and any with `nodes_per_s`) the ratio to the peer is shown. `--json FILE` keeps the figures,
`--compare OLD NEW` shows two of them, and `--html FILE` makes a page of pictures of what is run or compared.
`--variants LIST` compares variants of the engine (variants.py).
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from lab.bench import files
from lab.bench.nodes_page import page
from lab.bench.runs import Run, geometric_mean, load
from turbo_fzn.base.errors import TurboError
from turbo_fzn.engine.toolchain import compiler
from turbo_fzn.options.limits import integer
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.run.answer.outcome import Finished, Solution
from turbo_fzn.run.answer.statistics import SUBPROBLEMS, camel
from turbo_fzn.run.driver import events_of
from turbo_fzn.run.prepared import Prepared

PEER_SPEED = "nodes_per_s"
PREPARATION = ("parse", "lower", "simplify", "root")  # statistics of so many seconds
UNUSABLE = (OSError, ValueError)  # what may be wrong with a table or a path


def run_model(path: Path, options: Options, seconds: float, processor: bool = False) -> Run:
    """Solves one file for `seconds` of search, of the wall or of processors; errors become the status."""
    name = files.name_of(path)
    compiled_before = sum(compiler.compile_seconds)
    clock = ProcessorClock(seconds) if processor else SearchClock(seconds)
    try:
        start = time.monotonic()
        run = Run(name, options.arch, "UNKNOWN", variant=options.variant or "")
        for event in events_of(str(path), replace(options, file=path.name), clock):
            if isinstance(event, Prepared):
                prepared_at = time.monotonic()
                run.prepare_seconds, run.sense = prepared_at - start, event.tnf.sense
            elif isinstance(event, Finished):
                run.seconds = time.monotonic() - prepared_at
                _note_end(run, event, compiled_before, clock)
                run.phases = _phases_of(event.statistics, run)
            elif isinstance(event, Solution):
                run.objective = event.objective
                run.best_seconds = time.monotonic() - prepared_at
                if event.objective is not None:
                    run.improvements.append((run.best_seconds, event.objective, event.method))
        return run
    except TurboError as error:
        return Run(name, options.arch, f"error: {error}", variant=options.variant or "")


class SearchClock(Interrupt):
    """Stops the search after `seconds`, counted from the first check when there may be answers: the engine's start."""

    def __init__(self, seconds: float):
        super().__init__()
        self.seconds = seconds

    def __bool__(self) -> bool:
        if self.settled and self.deadline is None:
            self.deadline = time.monotonic() + self.seconds
        return super().__bool__()


class ProcessorClock(Interrupt):
    """Stops the search after `seconds` of processor time, which does not depend on other work of the machine."""

    def __init__(self, seconds: float):
        super().__init__()
        self.seconds = seconds
        self.began: float | None = None

    @property
    def searched(self) -> float:
        return 0.0 if self.began is None else time.process_time() - self.began

    def __bool__(self) -> bool:
        if self.settled and self.began is None:
            self.began = time.process_time()
        return super().__bool__() or self.searched >= self.seconds


def _note_end(run: Run, finished: Finished, compiled_before: float, clock: Interrupt) -> None:
    statistics = finished.statistics
    nodes, busy = int(statistics["nodes"]), float(statistics.get("busyTime", 0.0))
    idle = float(statistics.get("idleTime", 0.0))
    seconds = clock.searched if isinstance(clock, ProcessorClock) else float(statistics["solveTime"])
    run.status = finished.status
    run.nodes, run.solutions = nodes, finished.n_solutions
    run.nodes_per_second = nodes / seconds if seconds else 0.0
    run.runs_per_second = int(statistics["propagations"]) / seconds if seconds else 0.0
    run.runs_per_node = int(statistics["propagations"]) / max(nodes, 1)
    rounds = int(statistics.get("iterations", 0))
    run.rounds_per_node, run.rounds_per_second = rounds / max(nodes, 1), rounds / seconds if seconds else 0.0
    run.idle_share = idle / (busy + idle) if busy + idle else 0.0
    run.engine = str(statistics.get("engine", run.engine))
    run.blocks = int(statistics.get("blocks", 1))
    run.threads = int(statistics.get("threadsPerBlock", 1))
    run.store = str(statistics.get("store", ""))
    run.rows_in = str(statistics.get("model", ""))
    run.memory = {name[6:].lower(): size for name, size in statistics.items() if name.startswith("memory")}
    run.subproblems = {name: int(statistics.get(camel(name), 0)) for name in SUBPROBLEMS}
    run.fixpoint_errors = int(statistics.get("fixpointErrors", 0))
    run.activities = {name[7:].lower(): share for name, share in statistics.items() if name.startswith("profile")}
    run.compile_seconds = float(statistics.get("compileTime", 0.0)) - compiled_before
    run.engine_seconds = float(statistics.get("engineTime", 0.0))


def _phases_of(statistics: Mapping[str, Any], run: Run) -> dict[str, float]:
    """The seconds of each phase of a run, in order, without compilation, which the next run does not need."""
    before = {name: float(statistics.get(f"{name}Time", 0.0)) for name in PREPARATION}
    transfer = float(statistics.get("transferTime", 0.0))
    before["engine"] = max(run.engine_seconds - run.compile_seconds - transfer, 0.0)
    search = float(statistics["solveTime"])
    shares = run.activities or {"search": 1.0}
    return {**before, "transfer": transfer, **{name: share * search for name, share in shares.items()}}


def peers_table(path: Path | None) -> dict[str, dict[str, str]]:
    """The rows of a table of other solvers, by model. ValueError where it has no such column."""
    if path is None:
        return {}
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    if any("model" not in row for row in rows):
        raise ValueError(f"{path}: no column model")
    return {row["model"]: row for row in rows}


def _peer_speeds(path: Path | None) -> dict[str, float]:
    """Nodes per second of the peer by model, from the first column whose name holds `nodes_per_s`."""
    peers = peers_table(path)
    columns = [name for name in next(iter(peers.values()), {}) if PEER_SPEED in name]
    speeds = {model: float(row[columns[0]] or 0) for model, row in peers.items()} if columns else {}
    return {model: speed for model, speed in speeds.items() if speed > 0}


HEADER = (
    f"{'model':24}{'engine':>7}{'nodes/s':>13}{'runs/s':>15}{'runs/node':>11}{'rounds/node':>12}{'idle':>7}"
    f"{'blocks':>8}{'threads':>8}{'store':>8}{'prepare':>9}{'engine':>8}{'compile':>9}"
    f"{'best at':>9}{'objective':>11}{'ratio':>8}  status"
)


def _format_run(run: Run) -> str:
    best = "" if run.best_seconds is None else f"{run.best_seconds:.2f}"
    objective = "" if run.objective is None else run.objective
    compiled = f"{run.compile_seconds:.2f}" if run.compile_seconds else "cached"
    ratio = "" if run.peer_ratio is None else f"{run.peer_ratio:.2f}"
    return (
        f"{run.model:24}{run.engine:>7}{run.nodes_per_second:13,.0f}{run.runs_per_second:15,.0f}"
        f"{run.runs_per_node:11.1f}{run.rounds_per_node:12.1f}{run.idle_share:7.1%}"
        f"{run.blocks:8}{run.threads:8}{run.store:>8}{run.prepare_seconds:9.2f}{run.engine_seconds:8.2f}{compiled:>9}"
        f"{best:>9}{objective!s:>11}{ratio:>8}  {run.status}"
        + (f"  {run.fixpoint_errors} FIXPOINT ERRORS" if run.fixpoint_errors else "")
    )


def _format_phases(run: Run) -> str:
    """A bar of 50 characters, with a letter for each activity."""
    bar = "".join(name[0].upper() * round(50 * share) for name, share in run.activities.items())
    return f"{run.model:24}{bar:52}" + "  ".join(f"{name} {share:.1%}" for name, share in run.activities.items())


def _format_means(runs: Sequence[Run]) -> str:
    speed = geometric_mean(run.nodes_per_second for run in runs)
    work = geometric_mean(run.runs_per_second for run in runs)
    ratios = [run.peer_ratio for run in runs if run.peer_ratio is not None]
    text = f"{'geometric mean':24}{'':7}{speed:13,.0f}{work:15,.0f}"
    solved = sum(run.nodes_per_second > 0 for run in runs)
    text += "" if solved == len(runs) else f"   of {solved} of {len(runs)} models"
    return text + (f"   {geometric_mean(ratios):.2f} times the peer" if ratios else "")


def compare(old: Sequence[Run], new: Sequence[Run]) -> None:
    """Prints the nodes per second of two JSON files side by side."""
    first, second = ({(run.model, run.engine, run.variant): run for run in runs} for runs in (old, new))
    ratios = []
    print(f"{'model':24}{'engine':>7}{'variant':>16}{'old nodes/s':>15}{'new nodes/s':>15}{'ratio':>8}"
          f"{'old best':>12}{'new best':>12}")  # fmt: skip
    for key, before in first.items():
        if key not in second:
            continue
        after = second[key]
        ratio = after.nodes_per_second / max(before.nodes_per_second, 1e-9)
        ratios.append(ratio)
        print(f"{key[0]:24}{key[1]:>7}{key[2]:>16}"
              f"{before.nodes_per_second:15,.0f}{after.nodes_per_second:15,.0f}{ratio:8.2f}"
              f"{before.objective!s:>12}{after.objective!s:>12}")  # fmt: skip
    print(f"{'geometric mean':24}{'':53}{geometric_mean(ratios):8.2f}")
    if alone := sorted({model for model, *_ in first.keys() ^ second.keys()}):
        print(f"only in one of both: {', '.join(alone)}")


def _add_variant_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--variants", metavar="LIST", help="variants of the engine in turn, compared with the first: "
                        "default,sweep,sweep+no-sync; journal: all that docs/measurements/journal.md has")  # fmt: skip
    parser.add_argument("--csv", type=Path, metavar="FILE", help="with --variants: a line for each run")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="with --variants: the tables")
    parser.add_argument("--resume", action="store_true", help="with --variants: do not run again what --json has; "
                        "begun with the same flags")  # fmt: skip


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m lab.bench", description=(__doc__ or "").splitlines()[0])
    files.add_arguments(parser, needed=False)
    parser.add_argument("--seconds", type=duration, default=5.0, help="of search for each file")
    parser.add_argument("--processor", action="store_true", help="seconds of processors, for a busy machine; CPU alone")
    parser.add_argument(
        "--arch", action="append", choices=("cpu", "gpu", "hybrid"), help="engine; may be repeated (default: cpu)"
    )
    parser.add_argument("--blocks", type=integer("blocks"))
    parser.add_argument("--threads", type=integer("threads"), default=1, help="-p of the CPU engine")
    parser.add_argument("--free", action="store_true", help="free search (-f)")
    parser.add_argument("--lns", choices=("auto", "on", "off"), help="default: off, with --free auto")
    parser.add_argument("--gpu-threads", type=integer("gpu_threads"), help="threads of a GPU block")
    parser.add_argument("--profile", action="store_true", help="count where the time goes, and draw it")
    _add_variant_flags(parser)
    parser.add_argument("--no-check", action="store_true", help="do not check the solutions")
    parser.add_argument("--peers", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--html", type=Path, metavar="FILE", help="draw all runs on one page")
    parser.add_argument(
        "--compare", nargs=2, type=Path, metavar=("OLD", "NEW"), help="two files of --json; runs nothing"
    )
    arguments = parser.parse_args()
    try:
        arguments.peers = _peer_speeds(arguments.peers)
        if arguments.compare:
            arguments.compare = [load(path) for path in arguments.compare]
        else:
            if arguments.files or not arguments.variants:
                arguments.files = files.chosen_files(arguments)
            for target in (arguments.csv, arguments.markdown):
                if target:
                    target.open("a").close()
            arguments.known = _runs_to_resume(arguments)
    except UNUSABLE as error:
        parser.error(str(error))
    return arguments


def _runs_to_resume(arguments: argparse.Namespace) -> list[Run]:
    """The runs that need not be repeated, which are those without an error. Raises ValueError if that is unknown."""
    if not arguments.resume:
        return []
    if not arguments.json or not arguments.variants:
        raise ValueError("--resume goes with --variants and --json")
    begun = arguments.json.exists() and arguments.json.stat().st_size > 0
    return [run for run in load(arguments.json) if not run.has_failed] if begun else []


def main(arguments: argparse.Namespace) -> int:
    if arguments.compare:
        old, new = arguments.compare
        compare(old, new)
        if arguments.html:
            arguments.html.write_text(page(new, old), encoding="utf-8")
        return 0
    runs = _run_all(arguments, arguments.peers)
    if arguments.json:
        keep(runs, arguments.json)
    if arguments.html:
        arguments.html.write_text(page(runs), encoding="utf-8")
    return 1 if any(run.has_failed for run in runs) else 0


def keep(runs: Sequence[Run], path: Path) -> None:
    path.write_text(json.dumps([asdict(run) for run in runs], indent=1))


def options_for(arguments: argparse.Namespace, arch: str, variant: str | None = None) -> Options:
    """The options for each file."""
    lns = arguments.lns or ("auto" if arguments.free else "off")
    of_free_search = "auto" if arguments.free else "off"
    return Options(arch=arch, blocks=arguments.blocks, threads=arguments.threads, lns=lns, variant=variant,
                   free_search=arguments.free, relaxation=of_free_search, learn=of_free_search,
                   gpu_threads=arguments.gpu_threads, profile=arguments.profile,
                   check="never" if arguments.no_check else "always")  # fmt: skip


def _run_all(arguments: argparse.Namespace, peers: dict[str, float]) -> list[Run]:
    runs: list[Run] = []
    print(HEADER, flush=True)
    for arch in arguments.arch or ["cpu"]:
        of_engine = []
        for path in arguments.files:
            options = options_for(arguments, arch)
            run = run_model(path, options, arguments.seconds, arguments.processor)
            if run.model in peers and run.nodes_per_second:
                run.peer_ratio = run.nodes_per_second / peers[run.model]
            of_engine.append(run)
            print(_format_run(run), flush=True)
        print(_format_means(of_engine), flush=True)
        if arguments.profile:
            print("\n".join(_format_phases(run) for run in of_engine), flush=True)
        runs += of_engine
    return runs


def duration(text: str) -> float:
    """The argparse type of a positive number."""
    value = float(text)
    if not 0 < value < math.inf:
        raise ValueError
    return value
