"""Pages of HTML, each one file that contains its charts and needs no network."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from turbo_fzn.report.axes import circle
from turbo_fzn.report.plot import Entry

HEIGHT = re.compile(r'viewBox="0 0 [\d.]+ ([\d.]+)"')
CAPTION = 80  # format: the approximate height of a caption and frame
STYLE = """
body { font: 15px/1.45 sans-serif; color: #222; margin: 0 auto; padding: 1rem 1.5rem 3rem; max-width: 1500px; }
h1 { font-size: 1.5rem; margin: .4rem 0; overflow-wrap: anywhere; } h2 { font-size: 1.1rem; margin: 0 0 .5rem; }
.verdict { font-size: 1.1rem; margin: 0 0 1rem; }
main { columns: 2 540px; column-gap: 1rem; margin: 0 0 1rem; }
figure, section { break-inside: avoid; margin: 0 0 1rem; border: 1px solid #ddd; border-radius: 6px; padding: .8rem; }
figure svg { width: 100%; height: auto; display: block; } figcaption { color: #555; font-size: .9rem; }
table { border-collapse: collapse; width: 100%; } th { text-align: left; font-weight: 600; }
td, th { padding: .15rem .6rem .15rem 0; border-bottom: 1px solid #eee; vertical-align: top; }
td { overflow-wrap: anywhere; } .facts td:first-child { white-space: nowrap; width: 1%; }
.long { max-height: 26rem; overflow: auto; }
.grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(300px, 1fr)); gap: .6rem; }
.grid svg { width: 100%; height: auto; display: block; }
.wide { overflow-x: auto; } .wide td, .wide th { white-space: nowrap; }
.key { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; color: #555; font-size: .9rem; margin: 0 0 .5rem; }
.key svg { width: 26px; height: 12px; margin-right: .3rem; }
@media print { .long { max-height: none; } }
"""


def document(name: str, kind: str, verdict: str, parts: Sequence[str], below: Sequence[str] = ()) -> str:
    """The text of a page: a name, the kind of page, the outcome as a sentence, and sections in two columns; sections in
    `below` take the whole width."""
    return "\n".join(
        [
            "<!DOCTYPE html>",
            f'<html lang="en"><head><meta charset="utf-8"/><title>{escape(name)}: {escape(kind)}</title>',
            '<meta name="viewport" content="width=device-width, initial-scale=1"/>',
            f"<style>{STYLE}</style></head><body>",
            f"<h1>{escape(name)}</h1>",
            f'<p class="verdict">{escape(verdict)}</p>',
            "<main>",
            *parts,
            "</main>",
            *below,
            "</body></html>\n",
        ]
    )


def balanced(figures: Sequence[str]) -> list[str]:
    """The figures in an order in which the browser can divide them into two columns of about equal height."""
    heights = [float(HEIGHT.search(figure)[1]) + CAPTION for figure in figures]  # type: ignore[index]
    columns: tuple[list[int], list[int]] = [], []
    filled = [0.0, 0.0]
    for number in sorted(range(len(figures)), key=lambda number: -heights[number]):
        shorter = filled.index(min(filled))
        columns[shorter].append(number)
        filled[shorter] += heights[number]
    first = filled.index(max(filled))
    return [figures[number] for column in (columns[first], columns[1 - first]) for number in sorted(column)]


def figure(svg: str, caption: str) -> str:
    return f"<figure>{svg}<figcaption>{escape(caption)}</figcaption></figure>"


def table(title: str, rows: Sequence[tuple[str, object]], long: bool = False) -> str:
    """A table of names and values, as a section; a `long` table scrolls."""
    body = "".join(row((name, f"{value:.6g}" if isinstance(value, float) else value)) for name, value in rows)
    kind = ' class="long"' if long else ""
    return f'<section><h2>{title}</h2><div{kind}><table class="facts">{body}</table></div></section>'


def wide_table(title: str, head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table with a row of headings, as a section; if it is wider than the window, it scrolls by itself."""
    body = row(head, "th") + "".join(map(row, rows))
    return f'<section><h2>{title}</h2><div class="wide"><table>{body}</table></div></section>'


def key(entries: Sequence[Entry]) -> str:
    """A common legend for many charts."""
    signs = [
        f'<path d="M2 6h20" stroke="{entry.colour}" stroke-width="2" stroke-dasharray="{entry.dashes}"/>'
        if entry.line
        else circle(12, 6, entry.colour)
        for entry in entries
    ]
    texts = [f'<svg viewBox="0 0 24 12">{sign}</svg>{escape(entry.text)}' for sign, entry in zip(signs, entries)]
    return f'<p class="key">{"".join(f"<span>{text}</span>" for text in texts)}</p>'


def row(cells: Sequence[object], kind: str = "td") -> str:
    texts = "".join(f"<{kind}>{escape(str(cell))}</{kind}>" for cell in cells)
    return f"<tr>{texts}</tr>"
