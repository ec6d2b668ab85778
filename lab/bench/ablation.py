"""Measures the use of each part of learning from conflicts: solves the same models with one part left out.

    python -m lab.bench.ablation FILES --seconds 20
    python -m lab.bench.ablation FILES --operators

Parts are left out when the kernels are compiled (LEARN_WITHOUT, kernels/learn/state/ablation.h); roles by `--learn`.
Parts are measured with a finder alone and a prover alone, on one thread; roles and sharing with four learners. A cell
has the CPU seconds of the search until the proof and the number of conflicts, or else the objective and its bound.
`--operators`: the number of explanations of each operator for a finder, and their mean number of premises.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from lab.bench.files import add_arguments, chosen_files, name_of
from lab.bench.nodes import UNUSABLE, duration
from turbo_fzn.engine.abi.abi import LEARNERS
from turbo_fzn.tnf.language import Op

# The bits of LEARN_WITHOUT.
PARTS = {
    "rules": 1,
    "lifting": 2,
    "minimisation": 4,
    "phases": 8,
    "splits": 16,
    "leaps": 128,
    "fusion": 256,
    "wide": 512,
    "energy": 1024,
    "vivification": 4096,
}
STATISTIC = re.compile(r"^%%%mzn-stat: (\w+)=(.*)$", re.MULTILINE)
ENDED = re.compile(r"^(==========|=====UNSATISFIABLE=====)$", re.MULTILINE)
WITH_FLAGS = "import sys; from turbo_fzn.engine.toolchain import compiler; compiler.CPU_FLAGS.extend({flags!r});"
SEARCH = WITH_FLAGS + "from turbo_fzn.command.cli import main; sys.exit(main())"
COMPILE = WITH_FLAGS + "from turbo_fzn.engine.library import library; library(32); library(64)"


class Variant(NamedTuple):
    """A variant: the part that is left out, the roles of the search, and the flags of the compiler."""

    without: str
    roles: tuple[str, ...]
    flags: tuple[str, ...] = ()


def _leaving_out(bits: int) -> tuple[str, ...]:
    return (f"-DLEARN_WITHOUT={bits}",) if bits else ()


def variants() -> list[Variant]:
    """All variants: of a finder, of a prover, of all roles together."""
    chosen = [Variant(part, ("finder",), _leaving_out(bit)) for part, bit in {"nothing": 0, **PARTS}.items()]
    provers = {"nothing": 0, **PARTS, "probes": 64}
    chosen += [Variant(part, ("prover",), _leaving_out(bit)) for part, bit in provers.items()]
    together = {"nothing": 0, "sharing": 32, "cores": 2048}  # only the team has someone for cores
    chosen += [Variant(part, LEARNERS, _leaving_out(bit)) for part, bit in together.items()]
    return chosen + [Variant(role, tuple(other for other in LEARNERS if other != role)) for role in LEARNERS]


def python(text: str, flags: Sequence[str], arguments: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", text.format(flags=list(flags)), *arguments]
    return subprocess.run(command, capture_output=True, text=True)


def _compile_all(pool: ThreadPoolExecutor, flags: Iterable[Sequence[str]]) -> None:
    list(pool.map(lambda one: python(COMPILE, one), set(flags)))


def run(path: Path, roles: Sequence[str], flags: Sequence[str], seconds: float) -> tuple[bool, dict[str, str]]:
    """(whether the search has ended, its statistics); all searches begin in the same state."""
    arguments = ["--arch", "cpu", "-f", "-r", "1", "-s", "--relaxation", "off", "--lns", "off"]
    arguments += ["-p", str(len(roles)), "--learn", ",".join(roles), "-t", str(round(seconds * 1000)), str(path)]
    done = python(SEARCH, flags, arguments)
    return ENDED.search(done.stdout) is not None, dict(STATISTIC.findall(done.stdout))


def cell(path: Path, variant: Variant, seconds: float) -> str:
    ended, known = run(path, variant.roles, variant.flags, seconds)
    if ended:
        return f"{float(known['busyTime']):.1f}, {int(known['nogoods']):,}"
    return f"{known.get('objective', 'none')}; {known.get('objectiveBound', '')}".rstrip("; ")


def table(paths: Sequence[Path], seconds: float, jobs: int) -> str:
    """The results as a Markdown table: a row for each variant, a column for each model."""
    chosen = variants()
    with ThreadPoolExecutor(jobs) as pool:
        _compile_all(pool, {variant.flags for variant in chosen})
        cells = pool.map(lambda pair: cell(pair[1], pair[0], seconds), [(v, path) for v in chosen for path in paths])
        rows = [[_roles_of(variant), variant.without, *(next(cells) for _ in paths)] for variant in chosen]
    return markdown(["roles", "without", *map(name_of, paths)], rows)


def _roles_of(variant: Variant) -> str:
    return variant.roles[0] if len(variant.roles) == 1 else "all" if variant.roles == LEARNERS else "the others"


def operators(paths: Sequence[Path], seconds: float, jobs: int) -> str:
    """Explanations by operator, in thousands, and their mean number of premises, of a finder."""

    def flags(op: Op) -> tuple[str, ...]:
        return (f"-DCOUNTED_OPERATOR={int(op)}",)

    def counted(pair: tuple[Op, Path]) -> str:
        _, known = run(pair[1], ("finder",), flags(pair[0]), seconds)
        n = int(known.get("explanations", 0))
        return f"{n / 1000:,.0f}, {float(known['explanationLength']):.2f}" if n else ""

    with ThreadPoolExecutor(jobs) as pool:
        _compile_all(pool, map(flags, Op))
        cells = pool.map(counted, [(op, path) for op in Op for path in paths])
        rows = [[op.name, *(next(cells) for _ in paths)] for op in Op]
    return markdown(["operator", *map(name_of, paths)], [row for row in rows if any(row[1:])])


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m lab.bench.ablation", description=__doc__.splitlines()[0])
    add_arguments(parser, needed=True)
    parser.add_argument("--seconds", type=duration, default=20.0, help="of each search (default: 20)")
    parser.add_argument("--jobs", type=int, default=max(len(os.sched_getaffinity(0)) // 4, 1), help="runs at once")
    parser.add_argument("--operators", action="store_true", help="count explanations by operator instead")
    options = parser.parse_args()
    try:
        paths = chosen_files(options)
    except UNUSABLE as error:
        parser.error(str(error))
    print((operators if options.operators else table)(paths, options.seconds, options.jobs))
    return 0


if __name__ == "__main__":
    sys.exit(main())
