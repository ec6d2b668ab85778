"""What a learner gains from the inequalities of a linear relaxation: its conflicts and CPU seconds to the proof.

    python tests/tools/reasons.py FILE.fzn:BEST ... --seeds 3 --seconds 10

The root's program is solved with its cuts, then 120 nodes of branch and bound. Then one soloist, which knows the best
objective (it has to find and prove it) and the root's bound, searches with none of the inequalities, and with them all.
The relaxation does not run meanwhile, so equal seeds give equal conflicts, however busy the machine is.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

from turbo_fzn.bounds.search.root import Root
from turbo_fzn.bounds.search.tree import Node, Tree
from turbo_fzn.bounds.thread import relaxation_thread
from turbo_fzn.bounds.thread.tuning import TUNING
from turbo_fzn.engine.contract import Inequality
from turbo_fzn.engine.cpu import CpuEngine
from turbo_fzn.engine.layout.layout import Settings
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.run.bounding import EngineBoxes, emptied, relaxation_of
from turbo_fzn.run.driver import Run
from turbo_fzn.run.prepared import Prepared

NODES = 120
RELAXATION_SECONDS = 25


def inequalities(prepared: Prepared, best: int) -> tuple[int, list[Inequality]]:
    """(the root's bound of sense * objective, the inequalities)."""
    relaxation = relaxation_of(prepared)
    assert relaxation is not None
    boxes = EngineBoxes(prepared, np.arange(prepared.tnf.n_vars))
    listener = relaxation_thread.Beside(lambda: relaxation, boxes)
    boxes.attach(relaxation)
    listener.tell(relaxation.sense * best + 1)
    began, root = time.process_time(), Root(relaxation, listener)
    root.settle()
    root.cut()
    root.give_reasons()
    tree = Tree(relaxation, root.program, root.certifier, listener)
    tree.lower, tree.upper = root.lower, root.upper
    tree.push(Node(root.bound, (), None))
    while tree.can_rise() and tree.n_nodes < NODES and time.process_time() - began < RELAXATION_SECONDS:
        tree.step()
    return root.bound, emptied(boxes.rows)


def search(prepared: Prepared, best: int, bound: int, rows: list[Inequality], seed: int, seconds: float) -> str:
    """Conflicts and CPU seconds of a soloist."""
    tnf, sets = prepared.tnf, ("all", "truths", "labelled")
    settings = Settings(seed=seed, roles=("soloist",), decides=(sets,), posts=True, learn_bytes=2**28)
    engine = CpuEngine(tnf, np.arange(tnf.n_vars, dtype=np.int32), settings)
    engine.common.best = tnf.sense * best + 1
    engine.raise_bound(bound)
    for row in rows:
        engine.post(row)
    began = time.process_time()
    engine.start()
    while engine.running and time.process_time() - began < seconds:
        engine.poll()
        time.sleep(0.01)
    spent, proved = time.process_time() - began, engine.complete
    engine.close()
    failures = f"{engine.statistics()['failures']:,}, {spent:.2f}"
    return failures if proved else f"open ({failures})"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="+", help="FILE:BEST")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=10)
    options = parser.parse_args()
    TUNING.reason_seconds = 0
    print("| model | seed | inequalities | without: conflicts, CPU s | with |\n|---|---:|---:|---:|---:|")
    for model in options.models:
        path, _, best = model.rpartition(":")
        prepared = Run(path, Options(file=path, arch="cpu", free_search=True), Interrupt()).prepare()
        bound, rows = inequalities(prepared, int(best))
        for seed in range(1, options.seeds + 1):
            cells = [search(prepared, int(best), bound, some, seed, options.seconds) for some in ([], rows)]
            print(f"| {Path(path).stem} | {seed} | {len(rows)} | {' | '.join(cells)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
