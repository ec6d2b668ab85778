"""The pictures of runs, as SVG: what is drawn over time, with time on a logarithmic axis, and bars.

Plain text, with no library: a picture is a frame with two axes, and what stands in it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape
from typing import NamedTuple

from turbo_fzn.engine.abi import METHODS

WIDTH, HEIGHT = 640, 400
LEFT, RIGHT, TOP, BOTTOM = 78, 24, 52, 56  # margins; captions stand in them
LEGEND_ROW = 22  # the legend stands below
COLOURS = {method: f"hsl({360 * number // len(METHODS)},70%,45%)" for number, method in enumerate(METHODS)}
BOUND_COLOUR, LINE_COLOUR, GRID_COLOUR = "#555555", "#9a9a9a", "#e4e4e4"
FIRST_SECONDS = 0.01  # time is on a logarithmic axis, which has to begin somewhere
Y_TICKS = 5  # about so many
CHARACTER = 8  # the width of one, about

Point = tuple[float, float]


class Entry(NamedTuple):
    """Of a legend; a line or a point."""

    text: str
    colour: str
    line: bool = False


class Frame(NamedTuple):
    """The axes: `seconds` from FIRST_SECONDS on, logarithmic; values from `least` to `most`."""

    seconds: float
    least: float
    most: float

    def x(self, when: float) -> float:
        span = math.log(max(self.seconds, 2 * FIRST_SECONDS) / FIRST_SECONDS)
        share = math.log(max(when, FIRST_SECONDS) / FIRST_SECONDS) / span
        return LEFT + (WIDTH - LEFT - RIGHT) * min(share, 1.0)

    def y(self, value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (value - self.least) / max(self.most - self.least, 1e-9)

    def axes(self, caption: str) -> Iterator[str]:
        bottom = HEIGHT - BOTTOM
        for value in nice_ticks(self.least, self.most):
            y = self.y(value)
            yield f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="{GRID_COLOUR}"/>'
            yield text_at(LEFT - 6, y + 4, plain_number(value), "end")
        for when in time_ticks(self.seconds):
            yield f'<path d="M{self.x(when):.1f} {TOP}V{bottom}" stroke="{GRID_COLOUR}"/>'
            yield text_at(self.x(when), bottom + 18, f"{when:g} s", "middle")
        yield f'<path d="M{LEFT} {TOP}V{bottom}H{WIDTH - RIGHT}" fill="none" stroke="black"/>'
        yield text_at((LEFT + WIDTH - RIGHT) / 2, bottom + 38, "time since the search began", "middle")
        yield text_at(LEFT, TOP - 10, caption, "start")

    def steps(self, points: Sequence[Point], colour: str, dashes: str = "") -> Iterator[str]:
        """A line that keeps each value until the next, and the last one to the end."""
        if points:
            path = "".join(f"H{self.x(when):.1f}V{self.y(value):.1f}" for when, value in points[1:])
            start = f"M{self.x(points[0][0]):.1f} {self.y(points[0][1]):.1f}"
            style = f' stroke-dasharray="{dashes}"' if dashes else ""
            yield f'<path d="{start}{path}H{self.x(self.seconds):.1f}" fill="none" stroke="{colour}"{style}/>'


def draw(
    title: str, improvements: Sequence[tuple[float, float, str]], seconds: float, bounds: Sequence[Point] = ()
) -> str:
    """The text of an SVG file. `improvements`: (seconds, objective, method) in their order; `bounds`: what was proved
    of the objective and when, a dashed line."""
    values = [objective for _, objective, _ in improvements] + [value for _, value in bounds]
    frame = Frame(seconds, *spread(values))
    used = [method for method in METHODS if any(method == found for *_, found in improvements)]
    entries = [Entry(method, COLOURS[method]) for method in used]
    parts = [*frame.axes("objective"), *frame.steps(bounds, BOUND_COLOUR, "5 4")]
    parts += frame.steps([(when, value) for when, value, _ in improvements], LINE_COLOUR)
    for when, value, method in improvements:
        hint = f"<title>{value} at {when:.3f} s by {method}</title>"
        parts.append(circle(frame.x(when), frame.y(value), COLOURS[method], hint))
    entries += [Entry("bound", BOUND_COLOUR, True)] if bounds else []
    rows = legend_rows(entries)
    return picture(title, [*parts, *legend(rows)], HEIGHT + LEGEND_ROW * len(rows))


def draw_line(title: str, caption: str, points: Sequence[Point], seconds: float) -> str:
    """A figure that is not negative, over time."""
    frame = Frame(seconds, 0, max([value for _, value in points], default=1) or 1)
    return picture(title, [*frame.axes(caption), *frame.steps(points, COLOURS[METHODS[0]])])


def draw_bars(title: str, bars: Sequence[tuple[str, float, str]]) -> str:
    """Horizontal ones: (name, length, what is written at the end of it) each."""
    row, left, right = 30, 170, 130
    longest = max([length for _, length, _ in bars], default=0) or 1
    parts = []
    for number, (name, length, text) in enumerate(bars):
        y = TOP + row * number
        width = (WIDTH - left - right) * length / longest
        parts.append(text_at(left - 8, y + 17, name, "end"))
        parts.append(f'<rect x="{left}" y="{y + 3}" width="{width:.1f}" height="{row - 8}" fill="hsl(210,55%,55%)"/>')
        parts.append(text_at(left + width + 6, y + 17, text, "start"))
    return picture(title, parts, TOP + row * len(bars) + 10)


def picture(title: str, parts: Sequence[str], height: float = HEIGHT) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" role="img" '
    head += 'font-family="sans-serif" font-size="14">'
    background = f'<rect width="{WIDTH}" height="{height:.0f}" fill="white"/>'
    name = f'<text x="{WIDTH / 2:.0f}" y="20" text-anchor="middle" font-size="16">{escape(title)}</text>'
    return "\n".join([head, background, name, *parts, "</svg>\n"])


def text_at(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def circle(x: float, y: float, colour: str, inner: str = "") -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}">{inner}</circle>'


def legend_rows(entries: Sequence[Entry]) -> list[list[Entry]]:
    """As many in a row as there is room for."""
    rows: list[list[Entry]] = []
    left = 0.0
    for entry in entries:
        if not rows or left < width_of(entry):
            rows.append([])
            left = WIDTH - LEFT - RIGHT
        rows[-1].append(entry)
        left -= width_of(entry)
    return rows


def width_of(entry: Entry) -> float:
    return 36 + CHARACTER * len(entry.text)


def legend(rows: Sequence[Sequence[Entry]]) -> Iterator[str]:
    """Below the axis."""
    for number, entries in enumerate(rows):
        x, y = float(LEFT), HEIGHT + LEGEND_ROW * (number + 0.5)
        for entry in entries:
            if entry.line:
                yield f'<path d="M{x - 8:.1f} {y - 4:.1f}h16" stroke="{entry.colour}" stroke-dasharray="5 4"/>'
            else:
                yield circle(x, y - 4, entry.colour)
            yield text_at(x + 13, y, entry.text, "start")
            x += width_of(entry)


def spread(values: Sequence[float]) -> tuple[float, float]:
    """The least and the greatest, apart where they are one."""
    least, most = (min(values), max(values)) if values else (0, 1)
    return (least, most) if least < most else (least - 1, most + 1)


def time_ticks(seconds: float) -> list[float]:
    """Powers of ten up to the end, and where these are few the threefold of each."""
    last = max(seconds, 2 * FIRST_SECONDS) * 1.001
    powers = range(math.floor(math.log10(last / FIRST_SECONDS)) + 1)
    factors = (1, 3) if len(powers) <= 4 else (1,)
    ticks = [FIRST_SECONDS * factor * 10**power for power in powers for factor in factors]
    return [tick for tick in ticks if tick <= last]


def nice_ticks(least: float, most: float) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten, about Y_TICKS of them."""
    rough = (most - least) / Y_TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * 0.999)
    first, last = math.ceil(least / step - 1e-9), math.floor(most / step + 1e-9)
    return [number * step for number in range(first, last + 1)]


def plain_number(value: float) -> str:
    """1234567.0 as "1.23M"; what is short is written out."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e5, "k")):
        if abs(value) >= size:
            return f"{value / (1e3 if unit == 'k' else size):.4g}{unit}"
    return f"{value:.6g}"
