"""The root gaps of linear relaxations: of the objective's interval, of the relaxation, and with its cuts.

    python -m lab.bench.gaps FILES... --best proofs.csv

One line a model, as a table in Markdown. `--best` names a CSV file with the columns `model` and `best_known`. The
relaxation gets no incumbent, so nothing is fixed by reduced costs, and the bounds hold for all solutions. Times are
CPU seconds.
"""

from __future__ import annotations

import argparse
import csv
import sys
import threading
import time
from pathlib import Path

import numpy as np

from turbo_fzn.bounds.search.listener import NO_SOLUTION
from turbo_fzn.bounds.thread.relaxation_thread import Beside
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.run.bounding import EngineBoxes, relaxation_of
from turbo_fzn.run.driver import Run
from turbo_fzn.run.prepared import Prepared

HEAD = "| model | sense | columns | rows | interval | relaxation | with cuts | best known | s | s, with cuts |"


def measure(path: str, best: str, limit: float) -> str | None:
    """The line of a model, None where it has no objective."""
    prepared = Run(path, Options(file=path, arch="cpu"), Interrupt()).prepare()
    tnf = prepared.tnf
    if tnf.sense == 0 or tnf.infeasible:
        return None
    end = tnf.lower if tnf.sense > 0 else tnf.upper
    sizes, bounds, seconds = _measure_root(prepared, limit)
    name, sense = Path(path).name.partition(".")[0], "min" if tnf.sense > 0 else "max"
    return f"| {' | '.join(map(str, (name, sense, *sizes, end[tnf.objective], *bounds, best, *seconds)))} |"


def _measure_root(prepared: Prepared, limit: float) -> tuple[list[int], list[object], list[str]]:
    """(columns and rows, bounds, seconds): of the relaxation, and with cuts."""
    from turbo_fzn.bounds.search.root import Root

    began = time.process_time()
    relaxation = relaxation_of(prepared)
    if relaxation is None:
        return [0, 0], ["–", "–"], ["–", "–"]
    beside = Beside(lambda: relaxation, EngineBoxes(prepared, np.arange(0)))
    beside.boxes.attach(relaxation)
    timer = threading.Timer(limit, beside.stop)
    timer.start()
    root = Root(relaxation, beside)
    bounds: list[object] = []
    seconds = []
    for step in (root.settle, root.cut):
        step()
        bounds.append(relaxation.sense * beside.bound if beside.bound > -NO_SOLUTION else "–")
        seconds.append(f"{time.process_time() - began:.2f}")
    timer.cancel()
    return [relaxation.n_columns, len(relaxation.rows)], bounds, seconds


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m lab.bench.gaps", description=__doc__)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--best", type=Path, help="CSV file with the columns model and best_known")
    parser.add_argument("--seconds", type=float, default=60, help="for each model, at most (default 60)")
    arguments = parser.parse_args(argv)
    best = {}
    if arguments.best:
        with arguments.best.open() as file:
            best = {row["model"]: row["best_known"] for row in csv.DictReader(file)}
    print(f"{HEAD}\n|---|---|{'---:|' * 8}")
    for path in arguments.files:
        line = measure(path, best.get(Path(path).name.partition(".")[0], ""), arguments.seconds)
        if line is not None:
            print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
