"""The page of `python -m lab.bench --variants … --html FILE`: variants of an engine side by side, as pictures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lab.bench.runs import Run, geometric_mean
from turbo_fzn.report.axes import Axis
from turbo_fzn.report.charts import LINE_COLOURS, draw_dots, draw_profile, draw_stacks
from turbo_fzn.report.html import balanced, document, figure, wide_table

WIDEST_FACTOR = 10.0  # of the performance profile
AT_ONCE = len(LINE_COLOURS)  # variants in a picture of lines or points: so many colours there are
HEAD = ("model", "engine", "variant", "nodes/s", "rounds/node", "runs/node", "idle", "blocks", "threads", "store",
        "rows", "objective", "status")  # fmt: skip
PHASE_COLOURS = (*LINE_COLOURS, "hsl(170,50%,38%)", "hsl(45,80%,40%)", "hsl(260,50%,55%)", "hsl(20,60%,38%)",
                 "hsl(100,40%,38%)", "hsl(330,60%,45%)")  # fmt: skip


def page(runs: Sequence[Run]) -> str:
    """The text of the file."""
    names = list(dict.fromkeys(run.variant for run in runs))
    models = list(dict.fromkeys(run.model for run in runs))
    parts = balanced([*pictures(names, models, [run for run in runs if not run.has_failed])])
    title = f"{len(names)} variants on {len(models)} models"
    return document(title, "variants of an engine", verdict(names, runs), parts, [_runs_table(runs)])


def verdict(names: Sequence[str], runs: Sequence[Run]) -> str:
    """The outcome, in a sentence."""
    speeds = {name: geometric_mean(run.nodes_per_second for run in runs if run.variant == name) for name in names}
    best = max(speeds, key=lambda name: speeds[name])
    return f"Most nodes a second in the geometric mean: {best}, {speeds[best]:,.0f}."


def pictures(names: Sequence[str], models: Sequence[str], runs: Sequence[Run]) -> Iterator[str]:
    speed = {(run.model, run.variant): run.nodes_per_second for run in runs}
    for start in range(0, len(names), AT_ONCE):
        shown = names[start : start + AT_ONCE]
        rows = [(model, [speed.get((model, name)) for name in shown]) for model in models]
        yield figure(draw_dots("Speed", "nodes a second", shown, rows), "On a logarithmic axis.")
        yield figure(profile(shown, names, models, speed), "Share of the models on which each variant is at most so "
                     "many times slower than the fastest of all.")  # fmt: skip
    yield figure(phases(names, runs), "Means over the models, from reading to the end of the search, which --profile "
                 "divides.")  # fmt: skip


def profile(
    shown: Sequence[str], names: Sequence[str], models: Sequence[str], speed: dict[tuple[str, str], float]
) -> str:
    """For each variant how many times slower it is than the fastest of `names` on each model."""
    best = {model: max(speed.get((model, name), 0.0) for name in names) for model in models}
    factors = {name: [best[model] / own for model in models if (own := speed.get((model, name)))] for name in shown}
    most = max([factor for own in factors.values() for factor in own], default=1.0)
    axis = Axis(1.0, min(max(2.0, most * 1.05), WIDEST_FACTOR))
    lines = [(name, [factor for factor in own if factor <= axis.most], len(models)) for name, own in factors.items()]
    return draw_profile("Performance profile", "times slower than the fastest", lines, axis)


def phases(names: Sequence[str], runs: Sequence[Run]) -> str:
    """A bar for each variant, with a part for each phase that takes some time."""
    every = dict.fromkeys(phase for run in runs for phase in run.phases)
    of = {name: [run for run in runs if run.variant == name] for name in names}
    means = {name: {phase: sum(run.phases.get(phase, 0.0) for run in own) / max(len(own), 1) for phase in every}
             for name, own in of.items()}  # fmt: skip
    taken = [phase for phase in every if any(mean[phase] >= 0.0005 for mean in means.values())]
    parts = [(phase, colour, "white") for phase, colour in zip(taken, PHASE_COLOURS)]
    rows = [(name, [mean[phase] for phase in taken]) for name, mean in means.items()]
    return draw_stacks("Where the time goes", rows, parts, lambda seconds: f"{seconds:.3f} s")


def _runs_table(runs: Sequence[Run]) -> str:
    rows = []
    for run in runs:
        figures = (f"{run.nodes_per_second:,.0f}", f"{run.rounds_per_node:.1f}", f"{run.runs_per_node:.1f}")
        objective = "" if run.objective is None else run.objective
        rows.append((run.model, run.engine, run.variant, *figures, f"{run.idle_share:.1%}", run.blocks, run.threads,
                     run.store, run.rows_in, objective, run.status))  # fmt: skip
    return wide_table("All runs", HEAD, rows)
