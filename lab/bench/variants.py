"""Variants of the engine, one after the other on the same models: `python -m lab.bench FOLDER --variants LIST`.

LIST has the names that `--variant` takes, separated by commas; `a+b` are both at once. The first is what the others are
compared with. `journal` stands for all experiments of docs/measurements/journal.md that apply to the engine
(EXPERIMENTS), each variant run once. For each of them the table has, as the journal of C++ Turbo has it: nodes a second
in the geometric mean, their average normalised by the fastest variant on each model, their median, how often each was
the fastest, the change against the first; rounds of propagation a second and a node; memory of rows, watches and of a
block's store, and on how many models the stores and the rows are in shared memory; how many models were closed, only
satisfied, left unknown; how long blocks were idle where the time ended first; and seconds by phase.

Models of which one variant has an error are left out of means. Without files, instances of our own are generated. The
kernels for a GPU are compiled first, on all cores. `--json FILE` has each run as soon as it has ended, and with
`--resume` what it has is not run again: so a bench that was interrupted, or had only some of the variants, goes on.
Names of `journal` that are one and the same on an engine, such as no-retire on a GPU, share their runs.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import io
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import NamedTuple

from lab.bench import files
from lab.bench.instances import write_all
from lab.bench.nodes import keep, options_for, run_model
from lab.bench.runs import Run, geometric_mean
from lab.bench.variants_page import page
from turbo_fzn.base.errors import EngineError, UsageError
from turbo_fzn.engine import variants
from turbo_fzn.engine.cuda.devices import architectures
from turbo_fzn.engine.toolchain import compiler
from turbo_fzn.engine.toolchain.ahead import fill_cache_with

WARM_UP_SECONDS = 0.2  # of a run that is not counted: the first of a process loads what later ones find there
ALIKE = 0.01  # a variant within so much of the fastest counts as fastest, too
ALL = "journal"
MEMORY = ("rows", "watches", "store")


class Experiment(NamedTuple):
    """A question of the journal, and the variants that answer it; the first is what the others are compared with."""

    title: str
    names: tuple[str, ...]


EXPERIMENTS = (
    Experiment("Which rows run", ("default", "sweep", "warp-sweep")),
    Experiment("Warps that are reunited", ("sweep+no-sync", "sweep")),
    Experiment("Rows that retire", ("no-retire", "retire")),
    Experiment("Rows that retire from sweeps", ("sweep+no-retire", "sweep+retire", "sweep+retire=scan",
                                                "warp-sweep+no-retire", "warp-sweep+retire=scan")),
    Experiment("Bounds without atomics", ("default", "plain-bounds", "sweep", "sweep+plain-bounds")),
    Experiment("The way back", ("default", "recompute")),
    Experiment("Who splits the tree", ("default", "static-split")),
    Experiment("Where domains are", ("default", "store=global")),
    Experiment("Where rows are", ("model=global", "model=shared")),
    Experiment("Which rows stand beside each other", ("sort=none", "sort=operator", "sort=neighbourhood")),
    Experiment("With the simplifier or without", ("default", "unsimplified")),
    Experiment("Holes in domains", ("default", "bitset")),
    Experiment("Sums as a whole", ("default", "fused", "unfused")),
    Experiment("Packed truths", ("unpacked", "packed")),
    Experiment("Sums and differences of pairs at the root", ("default", "octagon")),
)  # fmt: skip


class _Summary(NamedTuple):
    """The figures of a variant over all models that every variant ran. `change`: of the geometric mean, against the
    first; `counts`: of models whose stores or rows are in shared memory, and that were closed, only satisfied, left
    unknown, had an error."""

    variant: str
    speed: float
    normalised: float
    median: float
    fastest: int
    change: float
    rounds_per_second: float
    rounds_per_node: float
    memory: dict[str, float]
    counts: dict[str, int]
    idle: float
    phases: dict[str, float]


def main(arguments: argparse.Namespace) -> int:
    kept: list[Run] = arguments.known
    runs: list[Run] = []
    texts: list[str] = []
    for arch in arguments.arch or ["cpu"]:
        try:
            names, experiments = wanted(arguments.variants, arch)
        except UsageError as error:
            print(error, file=sys.stderr)
            return 2
        if arch == variants.GPU:
            compile_first(names, arguments.profile)
        found = _run_in_turn(arguments, arch, names, kept)
        texts += [tables(experiment, found, arch) for experiment in experiments]
        runs += found
    print("\n".join(texts), flush=True)
    write(arguments, runs, "\n".join(texts))
    return 1 if any(run.has_failed for run in runs) else 0


def write(arguments: argparse.Namespace, runs: Sequence[Run], text: str) -> None:
    if arguments.csv:
        arguments.csv.write_text(comma_separated(runs), encoding="utf-8")
    if arguments.markdown:
        arguments.markdown.write_text(text, encoding="utf-8")
    if arguments.html:
        arguments.html.write_text(page(runs), encoding="utf-8")


def wanted(text: str, arch: str) -> tuple[list[str], list[Experiment]]:
    """The variants that are run, each once, and what they are compared in. Raises UsageError."""
    if text == ALL:
        experiments = [one for one in EXPERIMENTS if all(_is_of(name, arch) for name in one.names)]
    else:
        experiments = [Experiment("Variants", tuple(text.split(",")))]
    names = list(dict.fromkeys(name for one in experiments for name in one.names))
    for name in names:
        variants.chosen(named(name), arch)
    return names, experiments


def named(name: str) -> str:
    """The names of a variant in the form of --variant."""
    return name.replace("+", ",")


def _is_of(name: str, arch: str) -> bool:
    found = [variants.BY_NAME[one] for one in name.split("+")]
    return not list(variants.faults(found, arch))


def compile_first(names: Sequence[str], profile: bool) -> None:
    """The kernels that these variants need on the GPUs that are here."""
    flags = (compiler.PROFILE_FLAG,) * profile
    builds = [build for name in names for build in variants.chosen(named(name), variants.GPU).gpu_builds()]
    with contextlib.suppress(EngineError):  # which each run says by itself
        fill_cache_with([(*flags, *build) for build in builds], architectures())


def _run_in_turn(arguments: argparse.Namespace, arch: str, names: Sequence[str], kept: list[Run]) -> list[Run]:
    """Each model by each variant, so that what happens to the machine meanwhile happens to all of them. What is kept is
    not run again, and what is run is kept."""
    same = shared(names, arch) if arguments.variants == ALL else {}
    have = {(run.model, run.variant): run for run in kept if run.engine.startswith(arch)}  # of several GPUs: gpu0+gpu1
    runs, known = [], len(kept)
    with tempfile.TemporaryDirectory() as folder:
        for path in arguments.files or write_all(Path(folder), seed=1):
            for name in names:
                ran = same.get(name, name)
                key = (files.name_of(path), ran)
                if key not in have:
                    if len(kept) == known:
                        run_model(path, options_for(arguments, arch, named(ran)), WARM_UP_SECONDS)
                    have[key] = _run_variant(arguments, path, arch, ran)
                    _save(kept, have[key], arguments.json)
                runs.append(replace(have[key], variant=name))
    return runs


def _run_variant(arguments: argparse.Namespace, path: Path, arch: str, name: str) -> Run:
    options = options_for(arguments, arch, named(name))
    run = run_model(path, options, arguments.seconds, arguments.processor)
    run.variant = name
    print(f"{run.model:24}{run.engine:>7}  {name:24}{run.nodes_per_second:13,.0f} nodes/s"
          f"{run.rounds_per_node:9.1f} rounds/node  {run.status}", flush=True)  # fmt: skip
    return run


def _save(kept: list[Run], run: Run, path: Path | None) -> None:
    """The file is there whole at any moment."""
    kept.append(run)
    if path is not None:
        part = path.with_name(f"{path.name}.part")
        keep(kept, part)
        part.replace(path)


def shared(names: Sequence[str], arch: str) -> dict[str, str]:
    """For each name the first one that is the same on this engine."""
    first: dict[str, str] = {}

    def what(name: str) -> str:
        found = variants.chosen(named(name), arch)
        prepared = {variants.UNSIMPLIFIED, variants.OCTAGON} & set(found.names)
        return f"{sorted(found.settings(arch).items())} {sorted(prepared)}"

    return {name: first.setdefault(what(name), name) for name in names}


# ---- what is made of the runs


def _by_variant(names: Sequence[str], runs: Sequence[Run]) -> dict[str, list[Run]]:
    """The runs of each variant, in one order, for the models on which none of these variants had an error."""
    failed = {run.model for run in runs if run.variant in names and run.has_failed}
    return {name: [run for run in runs if run.variant == name and run.model not in failed] for name in names}


def summaries(names: Sequence[str], runs: Sequence[Run]) -> list[_Summary]:
    of = _by_variant(names, runs)
    best = [max(of[name][i].nodes_per_second for name in names) for i in range(len(of[names[0]]))]
    first = geometric_mean(run.nodes_per_second for run in of[names[0]])
    return [summary(name, of[name], best, first, sum(run.variant == name and run.has_failed for run in runs))
            for name in names]  # fmt: skip


def summary(name: str, runs: Sequence[Run], best: Sequence[float], first: float, failed: int) -> _Summary:
    speeds = [run.nodes_per_second for run in runs]
    shares = [speed / most if most else 1.0 for speed, most in zip(speeds, best)]
    speed = geometric_mean(speeds)
    return _Summary(
        name,
        speed,
        mean(shares),
        statistics.median(speeds or [0.0]),
        sum(share >= 1 - ALIKE for share in shares),
        speed / first - 1 if first else 0.0,
        geometric_mean(run.rounds_per_second for run in runs),
        geometric_mean(run.rounds_per_node for run in runs),
        {kind: geometric_mean(run.memory.get(kind, 0) for run in runs) for kind in MEMORY},
        counts(runs) | {"errors": failed},
        mean([run.idle_share for run in runs if not run.is_closed]),
        _mean_phases(runs),
    )


def mean(values: Sequence[float]) -> float:
    return statistics.fmean(values or [0.0])


def counts(runs: Sequence[Run]) -> dict[str, int]:
    stopped = [run for run in runs if not run.is_closed]
    return {
        "stores shared": sum(run.store == "shared" for run in runs),
        "rows shared": sum(run.rows_in == "shared" for run in runs),
        "closed": len(runs) - len(stopped),
        "satisfied": sum(run.solutions > 0 for run in stopped),
        "unknown": sum(run.solutions == 0 for run in stopped),
    }


def _mean_phases(runs: Sequence[Run]) -> dict[str, float]:
    phases = dict.fromkeys(phase for run in runs for phase in run.phases)
    return {phase: mean([run.phases.get(phase, 0.0) for run in runs]) for phase in phases}


HEAD = ("variant", "nodes/s", "normalised", "median", "fastest", "change", "rounds/s", "rounds/node", *MEMORY,
        "stores shared", "rows shared", "closed", "satisfied", "unknown", "errors", "idle")  # fmt: skip


def tables(experiment: Experiment, runs: Sequence[Run], arch: str) -> str:
    """Markdown: all models together, seconds by phase, and nodes a second of each model."""
    found = summaries(experiment.names, runs)
    of = _by_variant(experiment.names, runs)
    models = [run.model for run in of[experiment.names[0]]]
    phases = dict.fromkeys(phase for one in found for phase in one.phases)
    lines = [f"### {experiment.title} ({arch.upper()}, {len(models)} models)", ""]
    lines += markdown(HEAD, map(cells, found))
    seconds = [(one.variant, *(f"{one.phases.get(phase, 0.0):.3f}" for phase in phases)) for one in found]
    lines += ["", "Mean seconds by phase:", "", *markdown(("variant", *phases), seconds)]
    speeds = [(model, *(f"{of[name][i].nodes_per_second:,.0f}" for name in experiment.names))
              for i, model in enumerate(models)]  # fmt: skip
    lines += ["", "Nodes a second:", "", *markdown(("model", *experiment.names), speeds), ""]
    return "\n".join(lines)


def cells(one: _Summary) -> tuple[object, ...]:
    memory = (f"{one.memory[kind] / 1024:.1f} KiB" for kind in MEMORY)
    return (one.variant, f"{one.speed:,.0f}", f"{one.normalised:.2f}", f"{one.median:,.0f}", one.fastest,
            f"{round(one.change, 4) + 0.0:+.1%}", f"{one.rounds_per_second:,.0f}", f"{one.rounds_per_node:.1f}",
            *memory, *one.counts.values(), f"{one.idle:.1%}")  # fmt: skip


def markdown(head: Sequence[str], rows: Iterator[tuple[object, ...]] | Sequence[tuple[object, ...]]) -> list[str]:
    """The first column stands at the left, the others at the right."""
    line = "| " + " | ".join(head) + " |"
    return [line, "|---|" + "---:|" * (len(head) - 1), *("| " + " | ".join(map(str, row)) + " |" for row in rows)]


def comma_separated(runs: Sequence[Run]) -> str:
    """A line for each run; what has parts has a column for each of them."""
    rows = [flat(run) for run in runs]
    out = io.StringIO()
    writer = csv.DictWriter(out, list(dict.fromkeys(name for row in rows for name in row)), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def flat(run: Run) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in asdict(run).items():
        if isinstance(value, dict):
            found |= {f"{name}.{part}": figure for part, figure in value.items()}
        elif not isinstance(value, list):
            found[name] = value
    return found
