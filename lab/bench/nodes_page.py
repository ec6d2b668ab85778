"""The page of `python -m lab.bench --html FILE`: charts of the nodes a second of all models.

It shows the data of the table and of `--json`; with `--compare OLD NEW` it shows both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lab.bench.runs import Run, geometric_mean
from turbo_fzn.report.axes import Axis, decades
from turbo_fzn.report.charts import (
    LINE_COLOURS,
    Lines,
    draw_counts,
    draw_dots,
    draw_profile,
    draw_scatter,
    draw_seeds,
    draw_stacks,
)
from turbo_fzn.report.html import balanced, document, figure, key, wide_table
from turbo_fzn.report.plot import draw_bars, entries_of

ALIKE = 0.05  # speeds with at most this relative difference count as equal: single runs vary as much
WIDEST_FACTOR = 10.0  # of the performance profile
HEAD = ("model", "engine", "nodes/s", "nodes", "runs/node", "idle", "blocks", "threads", "prepared in", "objective",
        "best at", "status")  # fmt: skip


def page(runs: Sequence[Run], old: Sequence[Run] = ()) -> str:
    """The text of the file."""
    pairs = _pairs_of(old, runs)
    parts = balanced([*compared(pairs, "old", "new")] if old else [*alone(runs)])
    models = len({run.model for run in runs})
    engines = " and ".join(sorted({run.engine for run in runs}))
    below = [objectives(runs), _runs_table(runs)]
    return document(f"{models} models on {engines}", "nodes a second", verdict(runs, pairs), parts, below)


def verdict(runs: Sequence[Run], pairs: Sequence[tuple[str, float, float]]) -> str:
    """The outcome, in a sentence."""
    speed = geometric_mean(run.nodes_per_second for run in runs)
    text = f"Geometric mean: {speed:,.0f} nodes a second"
    ratios = [run.peer_ratio for run in runs if run.peer_ratio]
    if pairs:
        text += f", {geometric_mean(new / old for _, old, new in pairs):.2f} times the old"
    elif ratios:
        text += f", {geometric_mean(ratios):.2f} times the peer"
    return text + "."


def name_of(run: Run, runs: Sequence[Run]) -> str:
    """The name of the model, with engine and variant if they differ between the runs."""
    engines, variants = {other.engine for other in runs}, {other.variant for other in runs}
    apart = [run.engine] * (len(engines) > 1) + [run.variant] * (len(variants) > 1)
    return f"{run.model} ({' '.join(apart)})" if apart else run.model


def _pairs_of(old: Sequence[Run], new: Sequence[Run]) -> list[tuple[str, float, float]]:
    """(name, old nodes a second, new ones) of the runs that are in both."""
    before = {(run.model, run.engine, run.variant): run.nodes_per_second for run in old}
    keys = [(run.model, run.engine, run.variant) for run in new]
    pairs = [(name_of(run, new), before.get(key, 0.0), run.nodes_per_second) for run, key in zip(new, keys)]
    return [pair for pair in pairs if pair[1] > 0 and pair[2] > 0]


def alone(runs: Sequence[Run]) -> Iterator[str]:
    """The figures of runs without older ones; compared with the peer of --peers, if there is one."""
    peers = {name_of(run, runs): run.nodes_per_second / run.peer_ratio for run in runs if run.peer_ratio}
    speeds = {name_of(run, runs): run.nodes_per_second for run in runs}
    if peers:
        yield from compared([(name, peers.get(name), speed) for name, speed in speeds.items()], "peer", "ours")
    else:
        rows = [(name, [speed]) for name, speed in speeds.items()]
        yield figure(draw_dots("Speed", "nodes a second", ["ours"], rows), "On a logarithmic axis.")
    work = [(name_of(run, runs), [run.runs_per_node]) for run in runs]
    yield figure(draw_dots("Work", "runs of ternary rows a node", ["ours"], work), "On a logarithmic axis.")
    ready = [(name_of(run, runs), run.prepare_seconds, f"{run.prepare_seconds:.2f} s") for run in runs]
    yield figure(draw_bars("Preparation", ready), "From the file to a model that can be searched.")
    profiled = [(name_of(run, runs), list(run.activities.values())) for run in runs if run.activities]
    if profiled:
        names = next(list(run.activities) for run in runs if run.activities)
        activities = [(name, colour, "white") for name, colour in zip(names, LINE_COLOURS)]
        drawn = draw_stacks("Where the time goes", profiled, activities, lambda share: f"{share:.0%}")
        yield figure(drawn, "Shares of the blocks' time (--profile).")
    else:
        idle = [(name_of(run, runs), run.idle_share, f"{run.idle_share:.1%}") for run in runs]
        yield figure(draw_bars("Idle", idle), "Share of the blocks' time in which they waited for a subproblem.")


def compared(speeds: Sequence[tuple[str, float | None, float]], before: str, after: str) -> Iterator[str]:
    """The figures of two speeds of each model; models without the first one are shown, but not compared."""
    rows = [(name, [old, new]) for name, old, new in speeds]
    yield figure(draw_dots("Speed", "nodes a second", [before, after], rows), "On a logarithmic axis.")
    pairs = [(name, old, new) for name, old, new in speeds if old]
    verdicts = [(new > old * (1 + ALIKE)) - (new * (1 + ALIKE) < old) for _, old, new in pairs]
    counts = [(f"{after} against {before}", (verdicts.count(1), verdicts.count(0), verdicts.count(-1)))]
    yield figure(draw_counts("Models", counts), f"Faster, within {ALIKE:.0%}, and slower, by nodes a second.")
    axis = decades([speed for _, *speeds in pairs for speed in speeds])
    drawn = draw_scatter("Nodes a second", before, after, pairs, axis)
    yield figure(drawn, f"A point for each model; above the diagonal {after} is faster.")
    lines = [(name, [max(pair) / pair[number] for _, *pair in pairs]) for number, name in enumerate((before, after))]
    most = max([factor for _, factors in lines for factor in factors], default=1.0)
    shown = Axis(1.0, min(max(2.0, most * 1.05), WIDEST_FACTOR))
    within = [(name, [factor for factor in factors if factor <= shown.most], len(pairs)) for name, factors in lines]
    drawn = draw_profile("Performance profile", "times slower than the faster of both", within, shown)
    yield figure(drawn, "Share of the models on which each is at most so many times slower.")


def objectives(runs: Sequence[Run]) -> str:
    """A small picture of the objective over time for each model that has one."""
    optimised = [run for run in runs if run.sense]
    seconds = max((run.seconds for run in optimised), default=0.0)
    drawn = [draw_seeds(name_of(run, runs), Lines([run.improvements]), seconds) for run in optimised]
    entries = entries_of(who for run in optimised for *_, who in run.improvements)
    left = len(runs) - len(optimised)
    remark = f"<p>Without an objective, and so in the table only: {left}.</p>" if left else ""
    body = f'{remark}{key(entries)}<div class="grid">{"".join(drawn)}</div>'
    return f"<section><h2>Objective over time</h2>{body}</section>"


def _runs_table(runs: Sequence[Run]) -> str:
    rows = []
    for run in runs:
        best = "" if run.best_seconds is None else f"{run.best_seconds:.2f} s"
        objective = "" if run.objective is None else run.objective
        speeds = (f"{run.nodes_per_second:,.0f}", f"{run.nodes:,}", f"{run.runs_per_node:.1f}", f"{run.idle_share:.1%}")
        rows.append((run.model, run.engine, *speeds, run.blocks, run.threads, f"{run.prepare_seconds:.2f} s", objective,
                     best, run.status))  # fmt: skip
    return wide_table("All runs", HEAD, rows)
