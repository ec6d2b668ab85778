"""Axes and basic elements of charts, as SVG text without a library.

A chart has a size in its own units; a browser scales it with its texts. So small charts, which stand side by side, have
a smaller size and not a smaller scale.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape
from typing import NamedTuple

GRID_COLOUR = "#e4e4e4"
FIRST_SECONDS = 0.01  # format: the beginning of the logarithmic time axis, earlier for short runs
LEAST_SECONDS, LEAST_SPAN = 1e-4, 20.0  # format: of the axes
WRITTEN_OUT = 1e4  # format: smaller numbers are written in full
TICKS = 5  # format: the approximate number of ticks
CHARACTER = 8  # format: the approximate width of a character
TICK_ROOM = 52  # format: the width of a number below an axis, with its margin

Point = tuple[float, float]


class Size(NamedTuple):
    """The size of a chart, with its margins, which hold the captions."""

    width: float
    height: float
    left: float
    right: float
    top: float
    bottom: float
    title: float  # height of the title's letters

    @property
    def room(self) -> float:
        """The width between the left and right margins."""
        return self.width - self.left - self.right


FULL = Size(640, 400, 78, 24, 52, 58, 16)
SQUARE = FULL._replace(height=520)
SMALL = Size(340, 220, 66, 14, 36, 30, 14)


class Axis(NamedTuple):
    least: float
    most: float
    logarithmic: bool = False
    whole: bool = False

    def share(self, value: float) -> float:
        """The position of a value between the two ends, as a share; on a logarithmic axis, values are clipped to
        these."""
        if not self.logarithmic:
            return (value - self.least) / max(self.most - self.least, 1e-9)
        within = min(max(value, self.least), self.most)
        return math.log(within / self.least) / math.log(self.most / self.least)

    def ticks(self) -> list[float]:
        """The values of the ticks, which are round; whole numbers if `whole`."""
        if self.logarithmic:
            return _log_ticks(self.least, self.most)
        return nice_ticks(self.least, self.most, 1.0 if self.whole else 0.0)


def time_axis(seconds: float) -> Axis:
    last = max(seconds, LEAST_SPAN * LEAST_SECONDS)
    first = min(FIRST_SECONDS, 10.0 ** math.floor(math.log10(last / LEAST_SPAN) + 1e-9))
    return Axis(first, last, logarithmic=True)


def decades(values: Sequence[float]) -> Axis:
    """A logarithmic axis between two powers of ten that enclose all positive values."""
    positive = [value for value in values if value > 0] or [1.0]
    least, most = math.floor(math.log10(min(positive))), math.ceil(math.log10(max(positive)))
    return Axis(10.0**least, 10.0 ** max(most, least + 1), logarithmic=True)


class Frame(NamedTuple):
    """Two axes in a picture."""

    across: Axis
    up: Axis
    size: Size = FULL

    def x(self, value: float) -> float:
        return self.size.left + self.size.room * self.across.share(value)

    def y(self, value: float) -> float:
        size = self.size
        return size.height - size.bottom - (size.height - size.top - size.bottom) * self.up.share(value)

    def axes(self, below: str, above: str, unit: str = "") -> Iterator[str]:
        """Both axes with ticks; captions `below` and `above` may be empty; `unit` follows the numbers of the x axis."""
        size = self.size
        for value in self.up.ticks():
            y = self.y(value)
            yield f'<path d="M{size.left} {y:.1f}H{size.width - size.right}" stroke="{GRID_COLOUR}"/>'
            yield text_at(size.left - 6, y + 4, plain_number(value), "end")
        yield from self.across_axis(below, unit)
        if above:
            yield text_at(size.left, size.top - 10, above, "start")

    def across_axis(self, below: str, unit: str = "") -> Iterator[str]:
        """The x axis with its ticks, and the lines of both axes."""
        size = self.size
        bottom, right = size.height - size.bottom, size.width - size.right
        ticks = self.across.ticks()
        if self.across.logarithmic and len(ticks) * TICK_ROOM > size.room:
            ticks = [tick for tick in ticks if tick in _log_ticks(self.across.least, self.across.most, (1,))]
        for value in ticks:
            yield f'<path d="M{self.x(value):.1f} {size.top}V{bottom}" stroke="{GRID_COLOUR}"/>'
            yield text_at(self.x(value), bottom + 21, f"{plain_number(value)}{unit}", "middle")
        yield f'<path d="M{size.left} {size.top}V{bottom}H{right}" fill="none" stroke="black"/>'
        if below:
            yield text_at((size.left + right) / 2, bottom + 42, below, "middle")

    def steps(self, points: Sequence[Point], colour: str, dashes: str = "", end: float | None = None) -> Iterator[str]:
        """A step line: each value holds until the next point, the last value to `end`, by default the end of the
        axis."""
        if points:
            path = "".join(f"H{self.x(where):.1f}V{self.y(value):.1f}" for where, value in points[1:])
            start = f"M{self.x(points[0][0]):.1f} {self.y(points[0][1]):.1f}"
            last = self.x(self.across.most if end is None else end)
            yield f'<path d="{start}{path}H{last:.1f}" fill="none" stroke="{colour}"{_dashed(dashes)}/>'


def _dashed(dashes: str) -> str:
    return f' stroke-dasharray="{dashes}"' if dashes else ""


def picture(title: str, parts: Sequence[str], size: Size = FULL, height: float | None = None) -> str:
    """The text of an SVG file of this size; `height` replaces the size's height."""
    height = size.height if height is None else height
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size.width} {height:.0f}" role="img" '
    head += 'font-family="sans-serif" font-size="14">'
    background = f'<rect width="{size.width}" height="{height:.0f}" fill="white"/>'
    name = f'<text x="{size.width / 2:.0f}" y="20" text-anchor="middle" font-size="{size.title}">{escape(title)}</text>'
    return "\n".join([head, background, name, *parts, "</svg>\n"])


def text_at(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def circle(x: float, y: float, colour: str, hint: str = "", radius: float = 4) -> str:
    """A circle; `hint` is its tooltip."""
    inner = f"<title>{escape(hint)}</title>" if hint else ""
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" fill="{colour}">{inner}</circle>'


def spread(values: Sequence[float]) -> tuple[float, float]:
    """(least, greatest) of the values, widened if they are equal."""
    least, most = (min(values), max(values)) if values else (0, 1)
    return (least, most) if least < most else (least - 1, most + 1)


def _log_ticks(least: float, most: float, factors: Sequence[int] = ()) -> list[float]:
    """Powers of ten times the factors; by default 1, and also 3 if there would be few."""
    first, last = math.floor(math.log10(least) + 1e-9), math.floor(math.log10(most * 1.001))
    factors = factors or ((1, 3) if last - first < 4 else (1,))
    ticks = [factor * 10.0**power for power in range(first, last + 1) for factor in factors]
    return [tick for tick in ticks if least * 0.999 <= tick <= most * 1.001]


def nice_ticks(least: float, most: float, apart: float = 0.0) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten, about TICKS of them, and at least `apart` from each other."""
    rough = max((most - least) / TICKS, apart)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * 0.999)
    first, last = math.ceil(least / step - 1e-9), math.floor(most / step + 1e-9)
    return [number * step for number in range(first, last + 1)]


def plain_number(value: float) -> str:
    """A number as short text, such as "1.235M" for 1234567.0; small numbers are written in full."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= max(size, WRITTEN_OUT):
            return f"{value / size:.4g}{unit}"
    return f"{value:.6g}"
