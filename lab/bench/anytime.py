"""How good the best solution is at any time: `python -m lab.bench.anytime FOLDER --seconds 20`.

Each file is solved by free search for a given time and seed, in this process, every solution checked. The table gives
the objective at several times, the strategy that found the last one, the proved bound, and the primal integral: the
mean over the run of the gap between the incumbent and the best objective known, in per cent, 100 where there is none.
With `--peers FILE.csv` (columns model, best_known, and objectives of others, `*` for proved) the best known comes from
there, and the last table counts where we are better, equal or worse; where the file has the columns of points.py, it
gives the points of the MiniZinc Challenge, ours and theirs. With `--side SOLVER` each file is also given to another
FlatZinc solver, for as long. `--json FILE` keeps the runs, `--compare OLD NEW` shows two of them, and `--html FILE`
makes a page of pictures of what is run or compared.

For long runs: `--jobs N` runs so many at once, each in a process of its own, `--json FILE` has each run as soon as it
has ended, and with `--resume` those that it has are not run again. The last table tells what was reached after 20 s, a
minute, 5 and 20 minutes (milestones.py).
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

from lab.bench import milestones
from lab.bench.anytime_page import page
from lab.bench.curves import Curve, best_known, better, compare, counts_against, keep, load, number
from lab.bench.files import add_arguments, chosen_files, name_of
from lab.bench.nodes import UNUSABLE, SearchClock, duration, peers_table
from lab.bench.others import run_side
from lab.bench.points import Outcome, outcome, points, solvers_of
from turbo_fzn.base.errors import TurboError
from turbo_fzn.options.limits import integer, integer_within
from turbo_fzn.options.options import Options
from turbo_fzn.report.plot import draw
from turbo_fzn.run.answer.outcome import CLOSED, Finished, Sample, Solution
from turbo_fzn.run.driver import events_of
from turbo_fzn.run.prepared import Prepared

TIMES = (1, 5, *milestones.TIMES)


def run_model(path: Path, options: Options, seconds: float, known: float | None = None) -> Curve:
    """Solves one file for `seconds` of search, or until the objective is `known` or better; errors become the
    status."""
    curve = Curve(name_of(path), options.seed or 0, 0, seconds)
    try:
        clock = SearchClock(seconds)
        sampled = replace(options, file=path.name, report="")  # a report needs samples of the bound, as this does
        for event in events_of(str(path), sampled, clock):
            now = 0.0 if clock.deadline is None else time.monotonic() - clock.deadline + seconds
            if isinstance(event, Prepared):
                curve.sense = event.tnf.sense
            elif isinstance(event, Finished):
                curve.status, curve.end = event.status, now
                curve.bound = event.statistics.get("objectiveBound")
                curve.note_bound(now, curve.bound)
                curve.statistics = event.statistics
            elif isinstance(event, Sample):
                curve.note_bound(now, event.bound)
            elif isinstance(event, Solution):
                objective = event.objective or 0
                curve.improvements.append((now, objective, event.method))
                if known is not None and curve.sense * objective <= curve.sense * known:
                    clock.request()
    except TurboError as error:
        curve.status = f"error: {error}"
    return curve


def header(times: Sequence[float]) -> str:
    columns = "".join(f"{f'{t:g} s':>10}" for t in times)
    figures = f"{'best':>10}{'known':>10}{'bound':>10}{'at':>8}{'integral':>9}"
    return f"{'model':22}{'seed':>5}{columns}{figures}  {'found by':14}status"


def _format_curve(curve: Curve, known: float | None, times: Sequence[float]) -> str:
    columns = "".join(f"{show(curve.at(t)):>10}" for t in times)
    when, who = (f"{curve.improvements[-1][0]:.2f}", curve.improvements[-1][2]) if curve.improvements else ("", "")
    line = (
        f"{curve.model:22}{curve.seed:5}{columns}{show(curve.objective):>10}{show(known):>10}{show(curve.bound):>10}"
        f"{when:>8}{curve.primal_integral(known):9.1f}  {who:14}{curve.status}"
    )
    return line + (f" in {curve.end:.2f} s" if curve.status in CLOSED else "") + _side_text(curve)


def _side_text(curve: Curve) -> str:
    if not curve.side:
        return ""
    verdict = {1: "better than", 0: "equal to", -1: "worse than"}[
        better(curve.sense, curve.objective, curve.side[-1][1])
    ]
    return f"; {verdict} the other's {curve.side[-1][1]}"


def plot(curve: Curve, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    bounds = [] if curve.bound is None else [(0.0, float(curve.bound))]
    picture = draw(f"{curve.model}, seed {curve.seed}", curve.improvements, curve.seconds, bounds)
    (folder / f"{curve.model}-{curve.seed}.svg").write_text(picture, encoding="utf-8")


def show(value: float | None) -> str:
    return "" if value is None else str(value)


def summary(curves: Sequence[Curve], peers: dict[str, dict[str, str]]) -> list[str]:
    """Lines that count, for each peer, where we are better, equal and worse."""
    return [
        f"{name:32} better {up:3}  equal {same:3}  worse {down:3}"
        for name, (up, same, down) in counts_against(curves, peers)
    ]


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m lab.bench.anytime", description=__doc__.splitlines()[0])
    add_arguments(parser, needed=False)
    parser.add_argument("--seconds", type=duration, default=20.0, help="of search for each file and seed")
    parser.add_argument("--seeds", type=integer_within(1), default=1, help="how many seeds: 1, 2, ...")
    parser.add_argument("--arch", default="auto", choices=("auto", "cpu", "gpu"))
    parser.add_argument("--threads", type=integer("threads"), help="-p (default: the solver's)")
    parser.add_argument("--gpu-threads", type=integer("gpu_threads"), help="threads of a GPU block")
    parser.add_argument("--without", help="strategies to leave out, comma-separated")
    parser.add_argument("--peers", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--jobs", type=integer_within(1), default=1, help="runs at once (default: 1)")
    parser.add_argument(
        "--resume", action="store_true", help="do not run again what --json has, begun with these flags"
    )
    parser.add_argument("--html", type=Path, metavar="FILE", help="draw all runs on one page")
    parser.add_argument(
        "--compare", nargs=2, type=Path, metavar=("OLD", "NEW"), help="two files of --json; runs nothing"
    )
    parser.add_argument("--until-known", action="store_true", help="end a run when it reaches best_known of --peers")
    parser.add_argument("--plot", type=Path, metavar="FOLDER", help="draw each run, as FOLDER/MODEL-SEED.svg")
    parser.add_argument("--side", metavar="COMMAND", help="another solver: 'fzn-gecode -p 2 -a -time {ms} {file}'")
    arguments = parser.parse_args()
    if arguments.until_known and not arguments.peers:
        parser.error("--until-known needs --peers")
    if arguments.side and shutil.which(arguments.side.split()[0]) is None:
        parser.error(f"{arguments.side.split()[0]}: no such program")
    try:
        arguments.peers = peers_table(arguments.peers)
        if arguments.compare:
            arguments.compare = [load(path) for path in arguments.compare]
        else:
            arguments.files = chosen_files(arguments)
            arguments.known = _runs_to_resume(arguments)
    except UNUSABLE as error:
        parser.error(str(error))
    return arguments


OURS = "ours"


def _outcome_of(curve: Curve) -> Outcome:
    """Ours, as points want it."""
    closed = curve.status in CLOSED or (not curve.sense and curve.objective is not None)
    when = curve.improvements[-1][0] if curve.improvements else curve.end
    return Outcome(curve.sense, curve.objective, closed, curve.end if closed and curve.sense else when)


def points_table(curves: Sequence[Curve], peers: dict[str, dict[str, str]]) -> list[str]:
    """A line with the points of each solver, ours a mean over the seeds; none where the table has no such columns."""
    rows = [(curve, peers[curve.model]) for curve in curves if curve.model in peers]
    solvers = solvers_of(row for _, row in rows)
    if not solvers:
        return []
    seeds = len({curve.seed for curve, _ in rows})
    models = [{OURS: _outcome_of(curve)} | {name: outcome(row, name) for name in solvers} for curve, row in rows]
    told = ", ".join(f"{name} {total / seeds:.1f}" for name, total in points(models).items())
    pairs = [points([{OURS: model[OURS], name: model[name]} for model in models]) for name in solvers]
    shares = [(name, pair[OURS] / seeds, pair[name] / seeds) for name, pair in zip(solvers, pairs)]
    against = ", ".join(f"{mine:.1f} : {theirs:.1f} {name}" for name, mine, theirs in shares)
    return [f"points of {len(rows) // seeds} models: {told}", f"in pairs: {against}"]


def _runs_to_resume(arguments: argparse.Namespace) -> list[Curve]:
    """The runs that need not be repeated: as long ones, without an error. Raises ValueError if that is unknown."""
    if not arguments.resume:
        return []
    if not arguments.json:
        raise ValueError("--resume goes with --json")
    begun = load(arguments.json) if arguments.json.stat().st_size else []  # it has been opened, so it is there
    return [run for run in begun if run.seconds == arguments.seconds and not run.status.startswith("error")]


def main() -> int:
    arguments = read_arguments()
    if arguments.compare:
        old, new = arguments.compare
        print("\n".join(compare(old, new, arguments.peers)))
        if arguments.html:
            arguments.html.write_text(page(new, arguments.peers, old), encoding="utf-8")
        return 0
    curves = _run_all(arguments)
    reached = milestones.milestones(curves, best_known(curves, arguments.peers))
    told = [*summary(curves, arguments.peers), *points_table(curves, arguments.peers), *milestones.table(reached)]
    print("\n".join(told), flush=True)
    if arguments.html:
        arguments.html.write_text(page(curves, arguments.peers), encoding="utf-8")
    return 1 if any(curve.status.startswith("error") for curve in curves) else 0


def _run_all(arguments: argparse.Namespace) -> list[Curve]:
    """All curves, in the order of files and seeds."""
    times = [t for t in TIMES if t <= arguments.seconds]
    order = [(path, seed) for path in arguments.files for seed in range(1, arguments.seeds + 1)]
    curves = {(curve.model, curve.seed): curve for curve in arguments.known}
    left = [(path, seed) for path, seed in order if (name_of(path), seed) not in curves]
    print(header(times), flush=True)
    for curve in _measured(arguments, left):
        curves[curve.model, curve.seed] = curve
        if arguments.json:
            keep(list(curves.values()), arguments.json)
        if arguments.plot:
            plot(curve, arguments.plot)
        known = number(arguments.peers.get(curve.model, {}).get("best_known"))
        print(_format_curve(curve, known, times), flush=True)
    return [curves[name_of(path), seed] for path, seed in order]


def _measured(arguments: argparse.Namespace, left: Sequence[tuple[Path, int]]) -> Iterator[Curve]:
    """The runs, each as soon as it has ended."""
    if arguments.jobs == 1:
        yield from (_run(arguments, path, seed) for path, seed in left)
        return
    with ProcessPoolExecutor(arguments.jobs, get_context("spawn")) as pool:
        for done in as_completed([pool.submit(_run, arguments, path, seed) for path, seed in left]):
            yield done.result()


def _run(arguments: argparse.Namespace, path: Path, seed: int) -> Curve:
    options = Options(arch=arguments.arch, threads=arguments.threads, free_search=True, seed=seed,
                      check="always", without=arguments.without, gpu_threads=arguments.gpu_threads)  # fmt: skip
    known = number(arguments.peers.get(name_of(path), {}).get("best_known"))
    curve = run_model(path, options, arguments.seconds, known if arguments.until_known else None)
    if arguments.side:
        curve.side = run_side(path, arguments.side, arguments.seconds)
    return curve


if __name__ == "__main__":
    sys.exit(main())
