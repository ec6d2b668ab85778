"""The charts of many runs, as SVG: seeds side by side, counts, shares over time, old against new.

Performance profiles after Dolan and Moré (Mathematical Programming 2002): for each factor the share of the models on
which a solver is within that factor of the best solver.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from html import escape
from typing import NamedTuple

from turbo_fzn.report.axes import (
    CHARACTER,
    FULL,
    SMALL,
    SQUARE,
    Axis,
    Frame,
    Point,
    Size,
    circle,
    decades,
    picture,
    spread,
    text_at,
    time_axis,
)
from turbo_fzn.report.plot import BOUND_COLOUR, BOUND_DASHES, COLOURS, LINE_COLOUR, Entry, with_legend

BAND_COLOUR, KNOWN_COLOUR, OTHER_COLOUR, DIAGONAL_COLOUR = "hsl(210,60%,90%)", "#2a8f5b", "#d9822b", "#9a9a9a"
KNOWN_DASHES, SOLID = "2 3", "1 0"
VERDICTS = (("better", "hsl(210,55%,50%)", "white"), ("equal", "#cfcfcf", "black"), ("worse", OTHER_COLOUR, "black"))
LINE_COLOURS = ("hsl(210,70%,42%)", OTHER_COLOUR, KNOWN_COLOUR, "hsl(300,45%,45%)", "#555555", "hsl(0,60%,50%)")
MOST_LABELS = 6  # format: in a scatter plot, for the points farthest from the diagonal
LETTER = 14  # format: the height of a letter
NAMES = 190  # format: the width for names on the left

Improvement = tuple[float, float, str]


class Lines(NamedTuple):
    """The data of a small chart of a model: a run for each seed, and levels and runs of others."""

    runs: Sequence[Sequence[Improvement]]
    known: float | None = None
    bound: float | None = None
    other: Sequence[Point] = ()


def seed_entries() -> list[Entry]:
    """The legend of all small charts, without methods."""
    return [
        Entry("a run of ours", LINE_COLOUR, True, SOLID),
        Entry("best known", KNOWN_COLOUR, True, KNOWN_DASHES),
        Entry("bound proved", BOUND_COLOUR, True, BOUND_DASHES),
        Entry("old, or other solver", OTHER_COLOUR, True, SOLID),
    ]


def draw_seeds(title: str, lines: Lines, seconds: float) -> str:
    """A chart of the objective over time: the band between the best and the worst seed, each seed, and the runs that
    they are compared with. Points have the colours of the methods that found them."""
    values: list[float] = [objective for run in lines.runs for _, objective, _ in run]
    values += [value for _, value in lines.other]
    levels = [(lines.known, KNOWN_COLOUR, KNOWN_DASHES), (lines.bound, BOUND_COLOUR, BOUND_DASHES)]
    values += [level for level, _, _ in levels if level is not None]
    frame = Frame(time_axis(seconds), Axis(*spread(values), whole=True), SMALL)
    parts = [*frame.axes("", "", " s"), *band(frame, lines.runs, seconds)]
    for level, colour, dashes in levels:
        if level is not None:
            parts += frame.steps([(0.0, level)], colour, dashes)
    parts += frame.steps(lines.other, OTHER_COLOUR)
    for seed, run in enumerate(lines.runs, 1):
        parts += frame.steps([(when, value) for when, value, _ in run], LINE_COLOUR)
        for when, value, method in run:
            hint = f"{value} at {when:.3f} s by {method}, seed {seed}"
            parts.append(circle(frame.x(when), frame.y(value), COLOURS[method], hint, radius=3))
    return picture(title, parts, SMALL)


def extremes(runs: Sequence[Sequence[Improvement]]) -> list[tuple[float, float, float]]:
    """(seconds, least objective of all runs, greatest objective) for each change, from the time when all runs have a
    solution."""
    changes = sorted((when, number, value) for number, run in enumerate(runs) for when, value, _ in run)
    now: dict[int, float] = {}
    found: list[tuple[float, float, float]] = []
    for when, number, value in changes:
        now[number] = value
        if len(now) == len(runs):
            found.append((when, min(now.values()), max(now.values())))
    return found


def band(frame: Frame, runs: Sequence[Sequence[Improvement]], seconds: float) -> Iterator[str]:
    """The band between the seeds; empty for a single seed."""
    edges = extremes(runs)
    if len(runs) < 2 or not edges:
        return
    ends = [when for when, _, _ in edges[1:]] + [seconds]
    there = "".join(f"V{frame.y(most):.1f}H{frame.x(end):.1f}" for (_, _, most), end in zip(edges, ends))
    back = "".join(f"V{frame.y(least):.1f}H{frame.x(when):.1f}" for when, least, _ in reversed(edges))
    start = f"M{frame.x(edges[0][0]):.1f} {frame.y(edges[0][2]):.1f}"
    yield f'<path class="band" d="{start}{there}{back}Z" fill="{BAND_COLOUR}"/>'


def draw_counts(title: str, rows: Sequence[tuple[str, Sequence[int]]]) -> str:
    """A chart of the counts better, equal and worse for each name."""
    return draw_stacks(title, rows, VERDICTS, str)


def draw_stacks(
    title: str,
    rows: Sequence[tuple[str, Sequence[float]]],
    parts: Sequence[tuple[str, str, str]],
    text: Callable[[float], str],
) -> str:
    """A chart of stacked bars of equal length, one for each name, with a part for each value, and its text if it fits.
    `parts`: name, colour, and colour of the text."""
    high = 30
    size = FULL._replace(left=NAMES, height=FULL.top + high * len(rows))
    drawn = []
    for number, (name, values) in enumerate(rows):
        x, y, total = float(NAMES), FULL.top + high * number - 12, sum(values) or 1
        drawn.append(text_at(NAMES - 8, y + 17, name, "end"))
        for value, (part, colour, ink) in zip(values, parts):
            width = size.room * value / total
            hint = f"<title>{escape(name)}: {part} {text(value)}</title>"
            box = f'x="{x:.1f}" y="{y + 2}" width="{width:.1f}" height="{high - 7}"'
            drawn.append(f'<rect {box} fill="{colour}">{hint}</rect>' if value else "")
            if width > CHARACTER * (len(text(value)) + 1):
                drawn.append(f'<g fill="{ink}">{text_at(x + width / 2, y + 18, text(value), "middle")}</g>')
            x += width
    return with_legend(title, drawn, [Entry(part, colour) for part, colour, _ in parts], size)


def draw_profile(title: str, below: str, lines: Sequence[tuple[str, Sequence[float], int]], axis: Axis,
                 unit: str = "") -> str:  # fmt: skip
    """A chart of the cumulative share over the x axis; each of `lines` is (name, values, total): the share is the
    number of values up to x, divided by the total."""
    frame = Frame(axis, Axis(0, 100))
    parts = [*frame.axes(below, "per cent", unit)]
    for (name, values, total), colour in zip(lines, LINE_COLOURS):
        points = [(value, 100.0 * number / total) for number, value in enumerate(sorted(values), 1)]
        hint = f"{escape(name)}: {len(values)} of {total}"
        path = "".join(frame.steps([(axis.least, 0.0), *points], colour))
        parts.append(path.replace("/>", f' stroke-width="2"><title>{hint}</title></path>'))
    entries = [Entry(name, colour, True, SOLID) for (name, *_), colour in zip(lines, LINE_COLOURS)]
    return with_legend(title, parts, entries)


def draw_scatter(title: str, below: str, above: str, points: Sequence[tuple[str, float, float]], axis: Axis,
                 unit: str = "") -> str:  # fmt: skip
    """A scatter plot with a point for each name, on two equal axes, with the diagonal."""
    frame = Frame(axis, axis, SQUARE)
    ends = [(frame.x(value), frame.y(value)) for value in (axis.least, axis.most)]
    diagonal = f'<path d="M{ends[0][0]:.1f} {ends[0][1]:.1f}L{ends[1][0]:.1f} {ends[1][1]:.1f}"'
    parts = [*frame.axes(below, above, unit), f'{diagonal} stroke="{DIAGONAL_COLOUR}" stroke-dasharray="5 4"/>']
    for name, x, y in points:
        hint = f"{name}: {x:.6g} and {y:.6g}"
        parts.append(circle(frame.x(x), frame.y(y), LINE_COLOURS[0], hint))
    return picture(title, parts + list(labels(frame, points)), SQUARE)


def labels(frame: Frame, points: Sequence[tuple[str, float, float]]) -> Iterator[str]:
    """The names of the points farthest from the diagonal, as far as they fit."""
    farthest = sorted(points, key=lambda point: -abs(frame.up.share(point[2]) - frame.across.share(point[1])))
    taken = [(frame.x(x) - 4, 8.0, frame.y(y)) for _, x, y in points]
    for name, *place in farthest[:MOST_LABELS]:
        x, y, width = frame.x(place[0]), frame.y(place[1]), float(CHARACTER * len(name))
        for start, end, anchor in ((x + 8, x + 8, "start"), (x - 8 - width, x - 8, "end")):
            inside = frame.size.left < start and start + width < frame.size.width
            if inside and not any(cover(start, width, y, one) for one in taken):
                taken.append((start, width, y))
                yield text_at(end, y + 4, name, anchor)
                break


def cover(start: float, width: float, y: float, other: tuple[float, float, float]) -> bool:
    """Whether a text overlaps another text or point: (left, width, y)."""
    left, wide, height = other
    return start <= left + wide and left <= start + width and abs(y - height) <= LETTER


def draw_dots(title: str, below: str, series: Sequence[str], rows: Sequence[tuple[str, Sequence[float | None]]]) -> str:
    """A dot plot: a row for each name with a point for each series, on a logarithmic axis; no point for None and 0."""
    high = 24
    size = FULL._replace(left=NAMES, height=FULL.top + high * len(rows) + FULL.bottom)
    axis = decades([value for _, values in rows for value in values if value])
    frame = Frame(axis, Axis(0, 1), size)
    parts = list(frame.across_axis(below))
    for number, (name, values) in enumerate(rows):
        y = size.top + high * (number + 0.5)
        parts.append(text_at(NAMES - 8, y + 5, name, "end"))
        for what, value, colour in zip(series, values, LINE_COLOURS):
            if value and value > 0:
                parts.append(circle(frame.x(value), y, colour, f"{name}, {what}: {value:.6g}", radius=5))
    return with_legend(title, parts, [Entry(what, colour) for what, colour in zip(series, LINE_COLOURS)], size)


def draw_side_by_side(
    title: str, panels: Sequence[tuple[str, Sequence[tuple[str, Sequence[Point]]]]], seconds: float, size: Size
) -> str:
    """Small charts, two in a row, each with a caption and the objective of several solvers over time."""
    parts = []
    for number, (caption, runs) in enumerate(panels):
        values = [value for _, points in runs for _, value in points]
        frame = Frame(time_axis(seconds), Axis(*spread(values), whole=True), size)
        inside = [*frame.axes("", "", " s"), text_at(size.width / 2, 22, caption, "middle")]
        for (name, points), colour in zip(runs, LINE_COLOURS):
            inside += frame.steps(points, colour, end=seconds)
            for when, value in points:
                inside.append(
                    circle(frame.x(when), frame.y(value), colour, f"{name}: {value} at {when:.2f} s", radius=2.5)
                )
        x, y = size.width * (number % 2), FULL.top + size.height * (number // 2) - 16
        parts.append(f'<g transform="translate({x} {y})">{"".join(inside)}</g>')
    names = [name for name, _ in panels[0][1]] if panels else []
    whole = FULL._replace(width=2 * size.width, height=FULL.top + size.height * ((len(panels) + 1) // 2))
    entries = [Entry(name, colour) for name, colour in zip(names, LINE_COLOURS)]
    return with_legend(title, parts, entries, whole)
