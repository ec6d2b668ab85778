"""The charts of one run, as SVG: curves over time, with a logarithmic time axis, and bars."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from turbo_fzn.engine.abi.abi import METHODS
from turbo_fzn.report.axes import CHARACTER, FULL, Axis, Frame, Point, Size, circle, picture, spread, text_at, time_axis

LEGEND_ROW = 22  # format: the height of a row of the legend, which is below the axis
COLOURS = {method: f"hsl({360 * number // len(METHODS)},70%,45%)" for number, method in enumerate(METHODS)}
BAR_COLOUR, BOUND_COLOUR, LINE_COLOUR = "hsl(210,55%,55%)", "#555555", "#9a9a9a"
BOUND_DASHES = "5 4"
SINCE = "time since the search began"


class Entry(NamedTuple):
    """An entry of a legend, with a line or a point."""

    text: str
    colour: str
    line: bool = False
    dashes: str = BOUND_DASHES


def draw(
    title: str, improvements: Sequence[tuple[float, float, str]], seconds: float, bounds: Sequence[Point] = ()
) -> str:
    """A chart of the objective over time, as SVG. `improvements`: (seconds, objective, method) in order; `bounds`:
    (seconds, proved bound), drawn as a dashed line."""
    values = [objective for _, objective, _ in improvements] + [value for _, value in bounds]
    frame = Frame(time_axis(seconds), Axis(*spread(values), whole=True))
    parts = [*frame.axes(SINCE, "objective", " s"), *frame.steps(bounds, BOUND_COLOUR, BOUND_DASHES, seconds)]
    parts += frame.steps([(when, value) for when, value, _ in improvements], LINE_COLOUR, end=seconds)
    for when, value, method in improvements:
        parts.append(circle(frame.x(when), frame.y(value), COLOURS[method], f"{value} at {when:.3f} s by {method}"))
    entries = entries_of(method for *_, method in improvements)
    entries += [Entry("bound", BOUND_COLOUR, True)] if bounds else []
    return with_legend(title, parts, entries)


def entries_of(methods: Iterator[str]) -> list[Entry]:
    """The legend's entries of the methods that have found a solution, in the order of METHODS."""
    used = set(methods)
    return [Entry(method, COLOURS[method]) for method in METHODS if method in used]


def draw_line(title: str, caption: str, points: Sequence[Point], seconds: float, most: float | None = None) -> str:
    """A chart of a non-negative number over time; the axis ends at its greatest value, or at `most`."""
    greatest = max([value for _, value in points], default=1) if most is None else most
    frame = Frame(time_axis(seconds), Axis(0, greatest or 1))
    lines = frame.steps(points, COLOURS[METHODS[0]], end=seconds)
    return picture(title, [*frame.axes(SINCE, caption, " s"), *lines])


def draw_bars(title: str, bars: Sequence[tuple[str, float, str]]) -> str:
    """A chart of horizontal bars: (name, length, text at the end) each."""
    row, left, right = 30, 170, 130
    longest = max([length for _, length, _ in bars], default=0) or 1
    parts = []
    for number, (name, length, text) in enumerate(bars):
        y = FULL.top + row * number
        width = (FULL.width - left - right) * length / longest
        parts.append(text_at(left - 8, y + 17, name, "end"))
        parts.append(f'<rect x="{left}" y="{y + 3}" width="{width:.1f}" height="{row - 8}" fill="{BAR_COLOUR}"/>')
        parts.append(text_at(left + width + 6, y + 17, text, "start"))
    return picture(title, parts, height=FULL.top + row * len(bars) + 10)


def with_legend(title: str, parts: Sequence[str], entries: Sequence[Entry], size: Size = FULL) -> str:
    rows = legend_rows(entries, size)
    return picture(title, [*parts, *legend(rows, size)], size, size.height + LEGEND_ROW * len(rows))


def legend_rows(entries: Sequence[Entry], size: Size = FULL) -> list[list[Entry]]:
    """The entries in rows, as many in each as fit."""
    rows: list[list[Entry]] = []
    left = 0.0
    for entry in entries:
        if not rows or left < width_of(entry):
            rows.append([])
            left = size.room
        rows[-1].append(entry)
        left -= width_of(entry)
    return rows


def width_of(entry: Entry) -> float:
    return 36 + CHARACTER * len(entry.text)


def legend(rows: Sequence[Sequence[Entry]], size: Size = FULL) -> Iterator[str]:
    """The legend as SVG, below the axis."""
    for number, entries in enumerate(rows):
        x, y = float(size.left), size.height + LEGEND_ROW * (number + 0.5)
        for entry in entries:
            if entry.line:
                style = f'stroke="{entry.colour}" stroke-width="2" stroke-dasharray="{entry.dashes}"'
                yield f'<path d="M{x - 8:.1f} {y - 4:.1f}h16" {style}/>'
            else:
                yield circle(x, y - 4, entry.colour)
            yield text_at(x + 13, y, entry.text, "start")
            x += width_of(entry)
