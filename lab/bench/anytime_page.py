"""The page of `python -m lab.bench.anytime --html FILE`: charts of all models and seeds.

It shows the data of the table and of `--json`; with `--compare OLD NEW` it shows both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lab.bench.curves import Curve, best_known, by_model, counts_against, gap_of, mean_integrals
from lab.bench.milestones import HEAD as REACHED_HEAD
from lab.bench.milestones import milestones
from turbo_fzn.report.axes import Axis, time_axis
from turbo_fzn.report.charts import Lines, draw_counts, draw_profile, draw_scatter, draw_seeds, seed_entries
from turbo_fzn.report.html import balanced, document, figure, key, wide_table
from turbo_fzn.report.plot import SINCE, draw_bars, entries_of
from turbo_fzn.run.answer.outcome import CLOSED

NEAR = 1.0  # per cent
Peers = dict[str, dict[str, str]]
HEAD = ("model", "seed", "objective", "best known", "bound", "best at", "integral", "found by", "status")


def page(curves: Sequence[Curve], peers: Peers, old: Sequence[Curve] = ()) -> str:
    """The text of the file."""
    known = best_known([*curves, *old], peers)
    models = by_model(curves)
    parts = balanced([*summaries(curves, peers, known, old)])
    reached = milestones(curves, known)
    below = [wide_table("Reached", REACHED_HEAD, [one.cells for one in reached])] if reached else []
    below += [multiples(models, known, by_model(old)), _runs_table(curves, known)]
    seeds = max(map(len, models.values()), default=0)
    name = f"{len(models)} models, {seeds} seed{'s' if seeds != 1 else ''}"
    return document(name, "best solution at any time", verdict(curves, known), parts, below)


def verdict(curves: Sequence[Curve], known: dict[str, float | None]) -> str:
    """The outcome, in a sentence."""
    proved = sum(curve.status in CLOSED for curve in curves)
    reached = sum(curve.objective is not None and curve.objective == known[curve.model] for curve in curves)
    seconds = max((curve.seconds for curve in curves), default=0.0)
    told = f"{len(curves)} runs of {seconds:g} s of search: {proved} searched the whole space, {reached} end with the"
    return f"{told} best objective known."


def summaries(
    curves: Sequence[Curve], peers: Peers, known: dict[str, float | None], old: Sequence[Curve]
) -> Iterator[str]:
    rows = counts_against(curves, peers, old)
    if rows:
        yield figure(draw_counts("Against others", rows), "Runs that end better, equal and worse, by the objective.")
    seconds = max((curve.seconds for curve in curves), default=0.0)
    lines = [(name, times, len(curves)) for name, times in _reached_times(curves, known).items()]
    before = _reached_times(old, known)
    lines += [(f"{name}, old", before[name], len(old)) for name in OLD_LINES if old]
    drawn = draw_profile("How soon", SINCE, lines, time_axis(seconds), " s")
    yield figure(drawn, "Share of the runs that have come so far.")
    means = mean_integrals(curves, known)
    if old:
        old_means = mean_integrals(old, known)
        points = [(model, old_means[model], means[model]) for model in means if model in old_means]
        axis = Axis(0, max([value for _, *pair in points for value in pair], default=1) or 1)
        drawn = draw_scatter("Primal integral", "old, per cent", "new, per cent", points, axis)
        yield figure(drawn, "A point for each model, a mean over its seeds; below the diagonal the new one is better.")
    bars = [(model, mean, _integral_text(runs, mean, known[model]))
            for (model, runs), mean in zip(by_model(curves).items(), means.values())]  # fmt: skip
    yield figure(draw_bars("Primal integral", bars), "Mean gap to the best known, in per cent (least–most).")


FIRST, WITHIN, BEST, PROVED = "a solution", f"within {NEAR:g} %", "best known", "proved"
OLD_LINES = (BEST, PROVED)


def _reached_times(curves: Sequence[Curve], known: dict[str, float | None]) -> dict[str, list[float]]:
    """For each goal the times at which runs reached it, without runs that did not."""
    found: dict[str, list[float]] = {FIRST: [], WITHIN: [], BEST: [], PROVED: []}
    for curve in curves:
        for name, gap in ((FIRST, 1e9), (WITHIN, NEAR), (BEST, 0.0)):
            times = [when for when, value, _ in curve.improvements if gap_of(value, known[curve.model]) <= gap]
            found[name] += times[:1]
        found[PROVED] += [curve.end] if curve.status in CLOSED else []
    return found


def _integral_text(runs: Sequence[Curve], mean: float, best: float | None) -> str:
    values = [run.primal_integral(best) for run in runs]
    return f"{mean:.1f}" if len(runs) < 2 else f"{mean:.1f} ({min(values):.1f}–{max(values):.1f})"


def multiples(models: dict[str, list[Curve]], known: dict[str, float | None], old: dict[str, list[Curve]]) -> str:
    """A small chart for each model with an objective."""
    optimised = {model: runs for model, runs in models.items() if runs[0].sense}
    seconds = max((run.seconds for runs in models.values() for run in runs), default=0.0)
    drawn = []
    for model, runs in optimised.items():
        bounds = [run.bound for run in runs if run.bound is not None]
        best = max(bounds, key=lambda bound: runs[0].sense * bound) if bounds else None
        lines = Lines([run.improvements for run in runs], known[model], best, other(runs, old.get(model, []), known))
        goal = "minimise" if runs[0].sense > 0 else "maximise"
        drawn.append(draw_seeds(f"{model}, {goal}", lines, seconds))
    methods = (who for runs in optimised.values() for run in runs for *_, who in run.improvements)
    entries = seed_entries() + entries_of(methods)
    left = len(models) - len(optimised)
    remark = f" Without an objective, and so in the table only: {left}." if left else ""
    text = f"<p>The band lies between the best and the worst seed.{remark}</p>"
    body = "".join(drawn)
    return f'<section><h2>Objective over time</h2>{text}{key(entries)}<div class="grid">{body}</div></section>'


def other(runs: Sequence[Curve], old: Sequence[Curve], known: dict[str, float | None]) -> Sequence[tuple[float, float]]:
    """The line drawn besides the seeds: the old run with the median integral, or else that of another solver."""
    if old:
        middle = sorted(old, key=lambda run: run.primal_integral(known[run.model]))[len(old) // 2]
        return [(when, value) for when, value, _ in middle.improvements]
    return runs[0].side


def _runs_table(curves: Sequence[Curve], known: dict[str, float | None]) -> str:
    rows = []
    for curve in curves:
        when, _, who = curve.improvements[-1] if curve.improvements else ("", "", "")
        shown = f"{when:.2f} s" if isinstance(when, float) else ""
        values = (curve.objective, known[curve.model], curve.bound)
        texts = ["" if value is None else value for value in values]
        status = f"{curve.status} in {curve.end:.2f} s" if curve.status in CLOSED else curve.status
        integral = f"{curve.primal_integral(known[curve.model]):.1f}"
        rows.append((curve.model, curve.seed, *texts, shown, integral, who, status))
    return wide_table("All runs", HEAD, rows)
