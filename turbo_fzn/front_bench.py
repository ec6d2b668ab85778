"""What the front end takes and what it leaves: time, memory and sizes of each phase, one line a model.

    python -m turbo_fzn.front_bench models/*.fzn                             a line a model
    python -m turbo_fzn.front_bench --markdown docs/simplifier.md FILES...   the table of the simplifier as well
    python -m turbo_fzn.front_bench --growth                                 time for 1, 2, 4 and 8 times the size

Every model is measured in a process of its own, so that peak memory is its own and no cache is warm but those on disk. Times are
CPU seconds (user + system, all threads): the machine may have other work.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import statistics
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

PHASES = ("start", "parse", "lower", "simplify", "root")
PASSES = ("fold", "share", "dead code")
EXPLANATION = (
    "Variables / constraints in FlatZinc, variables / rows in the ternary normal form. Lowering folds and shares already as"
    " it goes (see architecture.md), so the sizes under TNF are what that leaves. The passes are shown as they stand after"
    " the first round; rounds are repeated, with root propagation in between, until none changes anything."
)
GROWTH_SIZES = (1, 2, 4, 8)
GROWTH_LIMIT = 1.15
GROWTH_UNIT = 5000  # constraints; more than what a start costs
REPEATS = 5


def measure(path: str) -> dict[str, Any]:
    """Times, sizes and memory of one model, in this process."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from turbo_fzn import cpu
    from turbo_fzn.parse import parse_file
    from turbo_fzn.rewrite import lower
    from turbo_fzn.simplify import simplify

    clock = [0.0, time.process_time()]
    model = parse_file(path)
    clock.append(time.process_time())
    lowered = lower(model).tnf
    clock.append(time.process_time())
    passes: list[tuple[str, int, int]] = []
    small = lowered if lowered.infeasible else simplify(lowered, cpu.propagate, lambda *row: passes.append(row)).tnf
    clock.append(time.process_time())
    if not small.infeasible:
        cpu.propagate(small)
    clock.append(time.process_time())
    declared = len(model.variables)
    return {
        "name": Path(path).stem,
        "megabytes": os.path.getsize(path) / 1e6,
        "seconds": dict(zip(PHASES, (end - begin for begin, end in pairwise(clock)))),
        "flatzinc": (declared, len(model.constraints)),
        "lowered": (lowered.n_vars, lowered.n_rows),
        "passes": passes,
        "final": (small.n_vars, small.n_rows),
        "peak": peak_bytes() / 1e6,
    }


def peak_bytes() -> int:
    """The most memory that this process has had. ru_maxrss will not do: it begins with the parent's."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise OSError("no VmHWM in /proc/self/status")


def measure_apart(path: str) -> dict[str, Any]:
    """`measure` in a process of its own."""
    command = [sys.executable, "-m", "turbo_fzn.front_bench", "--one", path]
    answer = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if answer.returncode:
        raise SystemExit(f"{path} could not be measured")
    return json.loads(answer.stdout)


def line(result: dict[str, Any]) -> str:
    seconds = " ".join(f"{name} {result['seconds'][name]:.2f}" for name in PHASES)
    sizes = " -> ".join(f"{variables}/{rows}" for variables, rows in sizes_of(result))
    total = sum(result["seconds"].values())
    memory = f"{result['peak']:.0f} MB"
    return f"{result['name']:24} {result['megabytes']:6.2f} MB  {seconds}  total {total:.2f} s  {memory}  {sizes}"


def sizes_of(result: dict[str, Any]) -> list[tuple[int, int]]:
    return [result["flatzinc"], result["lowered"], result["final"]]


# The table


def markdown(results: list[dict[str, Any]], command: str) -> str:
    """The table of the simplifier. The passes are those of the first round; the last column is the fixpoint."""
    stages = ["FlatZinc", "TNF", *PASSES, "fixpoint"]
    lines = [
        "# What the simplifier does to real models",
        "",
        f"Made by `{command}`; do not edit.",
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


def growing_model(size: int) -> str:
    """A model with about `size` constraints of several kinds; its parts do not depend on its size."""
    n = max(size // 5, 1)
    lines = [f"var 0..{20 + i % 7}: x{i} :: output_var;\nvar bool: b{i};\nvar bool: c{i};" for i in range(n + 1)]
    lines.append("array [1..3] of int: units = [1,1,-1];")
    for i in range(n):
        j = i * 7 % n
        lines.append(f"constraint int_lin_le(units,[x{i},x{i + 1},x{j}],{5 + i % 11});")
        lines.append(f"constraint int_lin_le_reif([2,-3],[x{i},x{i + 1}],{i % 5},b{i}) :: defines_var(b{i});")
        lines.append(f"constraint int_eq_reif(x{i},{i % 20},c{i});")
        lines.append(f"constraint bool_clause([b{i},c{i + 1}],[c{j}]);")
        lines.append(f"constraint array_bool_or([b{i + 1},c{i},b{j}],true);")
    return "\n".join([*lines, "solve satisfy;", ""])


def front_end_seconds(text: str) -> float:
    """CPU seconds from the text to the root fixpoint."""
    from turbo_fzn import cpu
    from turbo_fzn.parse import parse_text
    from turbo_fzn.rewrite import lower
    from turbo_fzn.simplify import simplify

    gc.collect()
    start = time.process_time()
    simplify(lower(parse_text(text)).tnf, cpu.propagate)
    return time.process_time() - start


def growth() -> bool:
    """Print the time of each size relative to proportional; whether all are within the limit."""
    texts = [growing_model(GROWTH_UNIT * size) for size in GROWTH_SIZES]
    front_end_seconds(texts[0])  # imports, and kernels to compile or load
    seconds = [statistics.median(front_end_seconds(text) for _ in range(REPEATS)) for text in texts]
    ratios = [value / (size * seconds[0]) for size, value in zip(GROWTH_SIZES, seconds)]
    for size, text, value, ratio in zip(GROWTH_SIZES, texts, seconds, ratios):
        print(f"{size} x: {len(text) / 1e6:6.2f} MB, {value:6.2f} s, {ratio:.2f} of proportional")
    return max(ratios) <= GROWTH_LIMIT


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m turbo_fzn.front_bench", description="Measures the front end.")
    parser.add_argument("files", nargs="*", help="FlatZinc models")
    parser.add_argument("--markdown", metavar="FILE", help="write the table of the simplifier there")
    parser.add_argument("--growth", action="store_true", help="measure generated models of 1, 2, 4 and 8 times the size")
    parser.add_argument("--one", metavar="MODEL", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one)))
        return 0
    results = []
    for path in options.files:
        results.append(measure_apart(path))
        print(line(results[-1]), flush=True)
    if options.markdown:
        command = "python -m turbo_fzn.front_bench --markdown docs/simplifier.md suite16/*.fzn"
        Path(options.markdown).write_text(markdown(results, command), encoding="utf-8")
    return 0 if not options.growth or growth() else 1


if __name__ == "__main__":
    sys.exit(main())
