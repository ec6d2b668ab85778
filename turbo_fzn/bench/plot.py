"""A run as a picture: objective against time, each improvement in the colour of the method that found it (SVG)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape

from turbo_fzn.engine.abi import METHODS

WIDTH, HEIGHT, MARGIN = 800, 420, 70
COLOURS = {method: f"hsl({360 * number // len(METHODS)},70%,45%)" for number, method in enumerate(METHODS)}
FIRST_SECONDS = 0.01  # time is on a logarithmic axis, which has to begin somewhere


def draw(title: str, improvements: Sequence[tuple[float, int, str]], seconds: float, bound: int | None = None) -> str:
    """The text of an SVG file. `improvements`: (seconds, objective, method) in their order; `bound`: proved, a dashed
    line."""
    values = [objective for _, objective, _ in improvements] + ([bound] if bound is not None else [])
    least, most = (min(values), max(values)) if values else (0, 1)
    span = math.log(max(seconds, 2 * FIRST_SECONDS) / FIRST_SECONDS)

    def x(when: float) -> float:
        return MARGIN + (WIDTH - 2 * MARGIN) * math.log(max(when, FIRST_SECONDS) / FIRST_SECONDS) / span

    def y(value: int) -> float:
        return HEIGHT - MARGIN - (HEIGHT - 2 * MARGIN) * (value - least) / max(most - least, 1)

    size = f'viewBox="0 0 {WIDTH} {HEIGHT}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{WIDTH / 2}" y="24" text-anchor="middle" font-size="15">{escape(title)}</text>',
        *axes(x, y, least, most, seconds),
    ]
    if bound is not None:
        parts.append(f'<path d="M{MARGIN} {y(bound):.1f}H{WIDTH - MARGIN}" stroke="#999999" stroke-dasharray="5 4"/>')
    if improvements:
        steps = "".join(f"H{x(when):.1f}V{y(value):.1f}" for when, value, _ in improvements[1:])
        start = f"M{x(improvements[0][0]):.1f} {y(improvements[0][1]):.1f}"
        parts.append(f'<path d="{start}{steps}H{x(seconds):.1f}" fill="none" stroke="#bbbbbb"/>')
    for when, value, method in improvements:
        parts.append(f'<circle cx="{x(when):.1f}" cy="{y(value):.1f}" r="4" fill="{COLOURS[method]}"/>')
    used = [method for method in METHODS if any(method == found for *_, found in improvements)]
    for place, method in enumerate(used):
        left = MARGIN + place * 90
        parts.append(f'<circle cx="{left}" cy="{HEIGHT - 16}" r="4" fill="{COLOURS[method]}"/>')
        parts.append(f'<text x="{left + 8}" y="{HEIGHT - 12}">{method}</text>')
    return "\n".join([*parts, "</svg>\n"])


def axes(x: Callable[[float], float], y: Callable[[int], float], least: int, most: int, seconds: float) -> list[str]:
    """Powers of ten seconds below, the extreme objectives at the left."""
    parts = [f'<path d="M{MARGIN} {MARGIN}V{HEIGHT - MARGIN}H{WIDTH - MARGIN}" fill="none" stroke="black"/>']
    tick = FIRST_SECONDS
    while tick <= seconds * 1.001:
        parts.append(f'<text x="{x(tick):.1f}" y="{HEIGHT - MARGIN + 18}" text-anchor="middle">{tick:g} s</text>')
        tick *= 10
    for value in sorted({least, most}):
        parts.append(f'<text x="{MARGIN - 6}" y="{y(value) + 4:.1f}" text-anchor="end">{value}</text>')
    return parts
