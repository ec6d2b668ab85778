"""The cost of the front end, and the size of its result: time, memory and sizes of each stage, one line a model.

    python -m lab.bench.front FILES...                                   a line a model
    python -m lab.bench.front FILES... \
        --markdown lab/notebook/simplifier.md                             the table of the simplifier as well
    python -m lab.bench.front --growth                                   time for 1, 2, 4 and 8 times the size
    python -m lab.bench.front --large 100                                a generated model of so many megabytes

Times are CPU seconds (user + system, all threads) from the start of a process to its first node on the CPU engine:
the machine may have other work. Every run is a process of its own, so that peak memory is its own and no cache is warm
but those on disk; the figures are medians. Where fzn-gecode is installed, it runs in turn with ours on the same file,
with a time limit of a millisecond: that is its parsing, posting and root propagation.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

from turbo_fzn.engine import root
from turbo_fzn.lower.rewrite import lower
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.ranks.job import Job
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.read.languages import parse_file
from turbo_fzn.run import engines
from turbo_fzn.run.judge import Judge
from turbo_fzn.run.prepare import settle_root
from turbo_fzn.run.prepared import Prepared
from turbo_fzn.tnf.simplify import simplify

STAGES = ("start", "parse", "lower", "simplify", "root", "engine")
PEER = "fzn-gecode"
PASSES = ("fold", "share", "dead code")
EXPLANATION = (
    "Sizes of each model: variables / constraints in FlatZinc, variables / rows in the ternary normal form (TNF). "
    "Lowering folds and shares rows already, so the sizes under TNF are what that leaves. The next columns are the "
    "sizes after each [pass](../design/simplifier.md) of the first round. Rounds are repeated, with root propagation "
    "in between, until none changes anything."
)
GROWTH_SIZES = (1, 2, 4, 8)
GROWTH_LIMIT = 1.15
GROWTH_UNIT = 20000  # constraints; so many that nothing fits into the caches of the processor
LONG_NAMES = "X_INTRODUCED_"
REPEATS = 5


def measure(path: str) -> dict[str, Any]:
    """Times, sizes and memory of one model up to its first node, in this process."""
    clock = [0.0, time.process_time()]
    model = parse_file(path)
    clock.append(time.process_time())
    lowered = lower(model)
    before = (lowered.tnf.n_vars, lowered.tnf.n_rows)
    clock.append(time.process_time())
    passes: list[tuple[str, int, int]] = []
    prepared = Prepared(lowered.tnf, model, lowered.origin)
    if not lowered.tnf.infeasible:
        simplified = simplify(lowered.tnf, root.propagate, lambda *row: passes.append(row))
        prepared.tnf, prepared.reconstruction = simplified.tnf, simplified.reconstruction
    clock.append(time.process_time())
    tnf = settle_root(prepared, Interrupt()).tnf
    clock.append(time.process_time())
    if not tnf.infeasible:
        job = Job(tnf, Judge(prepared, Options()).exports, Options(arch="cpu"), 1)
        engine = engines.make_engine(job, engines.decide_job(job))
        engine.start()
    clock.append(time.process_time())
    peak = peak_bytes()
    if not tnf.infeasible:
        engine.close()
    return {
        "name": Path(path).stem,
        "megabytes": os.path.getsize(path) / 1e6,
        "seconds": dict(zip(STAGES, (end - begin for begin, end in pairwise(clock)))),
        "flatzinc": (len(model.variables), len(model.constraints)),
        "lowered": before,
        "passes": passes,
        "final": (tnf.n_vars, tnf.n_rows),
        "peak": peak / 1e6,
    }


def peak_bytes() -> int:
    """The most memory that this process has had. ru_maxrss will not do: it begins with the parent's."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise OSError("no VmHWM in /proc/self/status")


def measure_apart(path: str, repeats: int = REPEATS) -> dict[str, Any]:
    """`measure` in processes of their own, and the peer in turn: the medians of times and memory."""
    command = [sys.executable, "-m", "lab.bench.front", "--one", path]
    environment = {"OPENBLAS_NUM_THREADS": "1", **os.environ}  # as the command does
    results, peers = [], []
    for _ in range(repeats):
        answer = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False)
        if answer.returncode:
            raise SystemExit(f"{path} could not be measured")
        results.append(json.loads(answer.stdout))
        if shutil.which(PEER):
            peers.append(_peer_seconds(path))
    result = results[0]
    result["total"] = statistics.median(sum(one["seconds"].values()) for one in results)
    result["seconds"] = {name: statistics.median(one["seconds"][name] for one in results) for name in STAGES}
    result["peak"] = statistics.median(one["peak"] for one in results)
    result["peer"] = statistics.median(peers) if peers else None
    return result


def _peer_seconds(path: str) -> float:
    """CPU seconds of the peer to its root."""
    with open(os.devnull, "wb") as nowhere:
        process = subprocess.Popen([PEER, "-t", "1", path], stdout=nowhere, stderr=nowhere)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime


def line(result: dict[str, Any]) -> str:
    seconds = " ".join(f"{name} {result['seconds'][name]:.2f}" for name in STAGES)
    sizes = " -> ".join(f"{variables}/{rows}" for variables, rows in _sizes_of(result))
    peer = f"  {PEER} {result['peer']:.2f} s, {result['total'] / result['peer']:4.1f} x" if result["peer"] else ""
    memory = f"{result['peak']:.0f} MB"
    figures = f"{seconds}  total {result['total']:.2f} s{peer}  {memory}"
    return f"{result['name']:24} {result['megabytes']:6.2f} MB  {figures}  {sizes}"


def summary(results: list[dict[str, Any]]) -> list[str]:
    """A summary of all models, as lines: the worst ratio, the speed of parsing, and memory as a base and a slope."""
    lines = []
    largest = sorted(results, key=lambda result: -result["megabytes"])[:5]
    slowest = min(result["megabytes"] / result["seconds"]["parse"] for result in largest)
    lines.append(f"parsing of the {len(largest)} largest: at least {slowest:.1f} MB/s")
    compared = [result for result in results if result["peer"]]
    if compared:
        worst = max((result for result in compared if result in largest), key=lambda one: one["total"] / one["peer"])
        ratio = worst["total"] / worst["peer"]
        lines.append(f"of these, at most {ratio:.1f} times the seconds of {PEER} ({worst['name']})")
    rest = [result for result in results if result not in largest]
    if rest:
        slow = max(rest, key=lambda result: result["total"])
        base, slope = _straight_line([(result["megabytes"], result["peak"]) for result in results])
        lines.append(f"the others: at most {slow['total']:.2f} s ({slow['name']})")
        lines.append(f"peak memory: {base:.0f} MB and {slope:.1f} times the size of the file; {_peak_of(results)}")
    return lines


def _peak_of(results: list[dict[str, Any]]) -> str:
    most = max(results, key=lambda result: result["peak"])
    return f"at most {most['peak']:.0f} MB ({most['name']})"


def _straight_line(points: list[tuple[float, float]]) -> tuple[float, float]:
    """(y where x is 0, slope) of the line of least squares."""
    slope, base = statistics.linear_regression(*zip(*points))
    return base, slope


def _sizes_of(result: dict[str, Any]) -> list[tuple[int, int]]:
    return [result["flatzinc"], result["lowered"], result["final"]]


# The table


def markdown(results: list[dict[str, Any]], command: str) -> str:
    """The table of the simplifier. The passes are those of the first round; the last column is the fixpoint."""
    stages = ["FlatZinc", "TNF", *PASSES, "fixpoint"]
    lines = [
        "# Simplifier",
        "",
        f"Printed on {date.today():%d %B %Y} by `{command}`; do not edit.",
        "",
        EXPLANATION,
        "",
        "| model | " + " | ".join(stages) + " | rounds |",
        "|---|" + "---:|" * (len(stages) + 1),
    ]
    for result in results:
        first = {name: (variables, rows) for name, variables, rows in reversed(result["passes"])}
        sizes = [result["flatzinc"], result["lowered"], *(first.get(name) for name in PASSES), result["final"]]
        cells = [f"{size[0]} / {size[1]}" if size else "-" for size in sizes]
        lines.append(f"| {result['name']} | " + " | ".join(cells) + f" | {len(result['passes']) // len(PASSES)} |")
    return "\n".join(lines) + "\n"


# Growth


def growing_model(size: int, names: str = "") -> str:
    """A model with about `size` constraints of several kinds; its parts do not depend on its size. The names of its
    variables begin with `names`."""
    n = max(size // 5, 1)
    x, b, c = (names + letter for letter in "xbc")
    lines = [f"var 0..{20 + i % 7}: {x}{i} :: output_var;\nvar bool: {b}{i};\nvar bool: {c}{i};" for i in range(n + 1)]
    lines.append("array [1..3] of int: units = [1,1,-1];")
    for i in range(n):
        j = i * 7 % n
        lines.append(f"constraint int_lin_le(units,[{x}{i},{x}{i + 1},{x}{j}],{5 + i % 11});")
        lines.append(f"constraint int_lin_le_reif([2,-3],[{x}{i},{x}{i + 1}],{i % 5},{b}{i}) :: defines_var({b}{i});")
        lines.append(f"constraint int_eq_reif({x}{i},{i % 20},{c}{i});")
        lines.append(f"constraint bool_clause([{b}{i},{c}{i + 1}],[{c}{j}]);")
        lines.append(f"constraint array_bool_or([{b}{i + 1},{c}{i},{b}{j}],true);")
    return "\n".join([*lines, "solve satisfy;", ""])


def _measure_large(megabytes: float, repeats: int) -> str:
    """The line of a generated model of that size, with names as long as those that MiniZinc introduces."""
    unit = len(growing_model(GROWTH_UNIT, LONG_NAMES)) / GROWTH_UNIT  # bytes of a constraint
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.fzn"
        path.write_text(growing_model(int(megabytes * 1e6 / unit), LONG_NAMES), encoding="ascii")
        result = measure_apart(str(path), repeats)
    return f"{line(result)}, {result['peak'] / result['megabytes']:.1f} MB for each MB"


def _front_end_seconds(text: str) -> float:
    """CPU seconds from the text to the root fixpoint."""
    gc.collect()
    gc.disable()  # as the command does
    start = time.process_time()
    simplify(lower(parse_text(text)).tnf, root.propagate)
    seconds = time.process_time() - start
    gc.enable()
    return seconds


def growth(repeats: int) -> bool:
    """Print the time of each size relative to proportional; whether all are within the limit."""
    texts = [growing_model(GROWTH_UNIT * size) for size in GROWTH_SIZES]
    _front_end_seconds(texts[0])  # imports, and kernels to compile or load
    rounds = [[_front_end_seconds(text) for text in texts] for _ in range(repeats)]  # sizes in turn: the load may drift
    seconds = [statistics.median(of_one_size) for of_one_size in zip(*rounds)]
    ratios = [value / (size * seconds[0]) for size, value in zip(GROWTH_SIZES, seconds)]
    for size, text, value, ratio in zip(GROWTH_SIZES, texts, seconds, ratios):
        print(f"{size} x: {len(text) / 1e6:6.2f} MB, {value:6.2f} s, {ratio:.2f} of proportional")
    return max(ratios) <= GROWTH_LIMIT


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m lab.bench.front", description="Measures the front end.")
    parser.add_argument("files", nargs="*", help="FlatZinc models")
    parser.add_argument("--markdown", metavar="FILE", help="write the table of the simplifier there")
    parser.add_argument(
        "--growth", action="store_true", help="measure generated models of 1, 2, 4 and 8 times the size"
    )
    parser.add_argument("--large", type=float, metavar="MB", help="measure a generated model of that size")
    parser.add_argument(
        "--repeats", type=int, default=REPEATS, help="runs, of which the median counts (default: %(default)s)"
    )
    parser.add_argument("--one", metavar="MODEL", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not (options.files or options.growth or options.large or options.one):
        parser.error("no model given, and neither --growth nor --large")
    if missing := [path for path in options.files if not Path(path).is_file()]:
        parser.error(f"no such file: {missing[0]}")
    if options.one:
        gc.disable()  # as the command does
        print(json.dumps(measure(options.one)))
        return 0
    if options.large:
        print(_measure_large(options.large, options.repeats), flush=True)
    results = []
    for path in options.files:
        results.append(measure_apart(path, options.repeats))
        print(line(results[-1]), flush=True)
    print("\n".join(summary(results)) if results else "", end="\n" if results else "")
    if options.markdown:
        command = "python -m lab.bench.front --markdown lab/notebook/simplifier.md suite16/*.fzn"
        Path(options.markdown).write_text(markdown(results, command), encoding="utf-8")
    return 0 if not options.growth or growth(options.repeats) else 1


if __name__ == "__main__":
    sys.exit(main())
