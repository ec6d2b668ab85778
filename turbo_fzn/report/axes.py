"""Axes, and the plain parts of pictures, as SVG text that no library has to draw.

A picture has a size, in units of its own; a browser scales it, texts and all. So small ones, of which many stand side
by side, have a smaller size and not a smaller scale.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape
from typing import NamedTuple

GRID_COLOUR = "#e4e4e4"
FIRST_SECONDS = 0.01  # time is on a logarithmic axis, which has to begin somewhere; that of short runs sooner
LEAST_SECONDS, LEAST_SPAN = 1e-4, 20.0
WRITTEN_OUT = 1e4  # numbers below it
TICKS = 5  # about so many
CHARACTER = 8  # the width of one, about
TICK_ROOM = 52  # that a number below an axis takes, with the space beside it

Point = tuple[float, float]


class Size(NamedTuple):
    """Of a picture, with its margins, in which captions stand."""

    width: float
    height: float
    left: float
    right: float
    top: float
    bottom: float
    title: float  # of the title's letters

    @property
    def room(self) -> float:
        """Between the margins, from left to right."""
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
        """Where a value lies between the two ends; on a logarithmic axis nothing lies outside of them."""
        if not self.logarithmic:
            return (value - self.least) / max(self.most - self.least, 1e-9)
        within = min(max(value, self.least), self.most)
        return math.log(within / self.least) / math.log(self.most / self.least)

    def ticks(self) -> list[float]:
        """Round ones; whole numbers where only these make sense."""
        if self.logarithmic:
            return _log_ticks(self.least, self.most)
        return nice_ticks(self.least, self.most, 1.0 if self.whole else 0.0)


def time_axis(seconds: float) -> Axis:
    last = max(seconds, LEAST_SPAN * LEAST_SECONDS)
    first = min(FIRST_SECONDS, 10.0 ** math.floor(math.log10(last / LEAST_SPAN) + 1e-9))
    return Axis(first, last, logarithmic=True)


def decades(values: Sequence[float]) -> Axis:
    """A logarithmic axis from a power of ten to another, between which all positive values lie."""
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
        """With the captions of the two axes, which small pictures have none of, and the unit of what is across."""
        size = self.size
        for value in self.up.ticks():
            y = self.y(value)
            yield f'<path d="M{size.left} {y:.1f}H{size.width - size.right}" stroke="{GRID_COLOUR}"/>'
            yield text_at(size.left - 6, y + 4, plain_number(value), "end")
        yield from self.across_axis(below, unit)
        if above:
            yield text_at(size.left, size.top - 10, above, "start")

    def across_axis(self, below: str, unit: str = "") -> Iterator[str]:
        """With the two lines that stand for both axes."""
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
        """A line that keeps each value until the next, and the last one to the end (of the axis)."""
        if points:
            path = "".join(f"H{self.x(where):.1f}V{self.y(value):.1f}" for where, value in points[1:])
            start = f"M{self.x(points[0][0]):.1f} {self.y(points[0][1]):.1f}"
            last = self.x(self.across.most if end is None else end)
            yield f'<path d="{start}{path}H{last:.1f}" fill="none" stroke="{colour}"{_dashed(dashes)}/>'


def _dashed(dashes: str) -> str:
    return f' stroke-dasharray="{dashes}"' if dashes else ""


def picture(title: str, parts: Sequence[str], size: Size = FULL, height: float | None = None) -> str:
    """The text of an SVG file; `height`, where it is not that of the size."""
    height = size.height if height is None else height
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size.width} {height:.0f}" role="img" '
    head += 'font-family="sans-serif" font-size="14">'
    background = f'<rect width="{size.width}" height="{height:.0f}" fill="white"/>'
    name = f'<text x="{size.width / 2:.0f}" y="20" text-anchor="middle" font-size="{size.title}">{escape(title)}</text>'
    return "\n".join([head, background, name, *parts, "</svg>\n"])


def text_at(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def circle(x: float, y: float, colour: str, hint: str = "", radius: float = 4) -> str:
    """`hint` is shown where the mouse rests on it."""
    inner = f"<title>{escape(hint)}</title>" if hint else ""
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" fill="{colour}">{inner}</circle>'


def spread(values: Sequence[float]) -> tuple[float, float]:
    """The least and the greatest, apart where they are one."""
    least, most = (min(values), max(values)) if values else (0, 1)
    return (least, most) if least < most else (least - 1, most + 1)


def _log_ticks(least: float, most: float, factors: Sequence[int] = ()) -> list[float]:
    """Powers of ten times the factors; without any these are 1, and where that gives few 3."""
    first, last = math.floor(math.log10(least) + 1e-9), math.floor(math.log10(most * 1.001))
    factors = factors or ((1, 3) if last - first < 4 else (1,))
    ticks = [factor * 10.0**power for power in range(first, last + 1) for factor in factors]
    return [tick for tick in ticks if least * 0.999 <= tick <= most * 1.001]


def nice_ticks(least: float, most: float, apart: float = 0.0) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten, about TICKS of them, and at least so far apart."""
    rough = max((most - least) / TICKS, apart)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * 0.999)
    first, last = math.ceil(least / step - 1e-9), math.floor(most / step + 1e-9)
    return [number * step for number in range(first, last + 1)]


def plain_number(value: float) -> str:
    """1234567.0 as "1.235M"; what is short is written out."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= max(size, WRITTEN_OUT):
            return f"{value / size:.4g}{unit}"
    return f"{value:.6g}"
