"""The page of `--report`: one file of HTML with its pictures in it, which needs no network."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Sequence
from dataclasses import fields
from html import escape
from pathlib import Path
from typing import Any

from turbo_fzn import __version__
from turbo_fzn.engine.abi import METHODS
from turbo_fzn.report.plot import draw, draw_bars, draw_line, plain_number
from turbo_fzn.report.record import Record

MOST_ROWS = 500  # of the table of solutions; the first and the last ones
STYLE = """
body { font: 15px/1.45 sans-serif; color: #222; margin: 0 auto; padding: 1rem 1.5rem 3rem; max-width: 1500px; }
h1 { font-size: 1.5rem; margin: .4rem 0; overflow-wrap: anywhere; } h2 { font-size: 1.1rem; margin: 0 0 .5rem; }
.verdict { font-size: 1.1rem; margin: 0 0 1rem; }
main { columns: 2 540px; column-gap: 1rem; }
figure, section { break-inside: avoid; margin: 0 0 1rem; border: 1px solid #ddd; border-radius: 6px; padding: .8rem; }
figure svg { width: 100%; height: auto; display: block; } figcaption { color: #555; font-size: .9rem; }
table { border-collapse: collapse; width: 100%; } th { text-align: left; font-weight: 600; }
td, th { padding: .15rem .6rem .15rem 0; border-bottom: 1px solid #eee; vertical-align: top; }
td { overflow-wrap: anywhere; } .facts td:first-child { white-space: nowrap; width: 1%; }
.long { max-height: 26rem; overflow: auto; }
@media print { .long { max-height: none; } }
"""
VERDICTS = {
    "ALL_SOLUTIONS": "The whole space was searched",
    "SATISFIED": "There may be more or better solutions",
    "UNSATISFIABLE": "There is no solution: proved",
    "UNKNOWN": "No solution was found, and it was not proved that there is none",
}
PIPELINE = (
    ("FlatZinc variables", "flatzincVariables"), ("FlatZinc constraints", "flatzincConstraints"),
    ("ternary variables", "loweredVariables"), ("ternary propagators", "loweredPropagators"),
    ("simplified variables", "variables"), ("simplified propagators", "propagators"),
)  # fmt: skip


def page(record: Record) -> str:
    """The text of the file."""
    name = Path(record.options.file).name or "a model"
    return "\n".join(
        [
            "<!DOCTYPE html>",
            f'<html lang="en"><head><meta charset="utf-8"/><title>{escape(name)}: a run of fzn-turbo</title>',
            '<meta name="viewport" content="width=device-width, initial-scale=1"/>',
            f"<style>{STYLE}</style></head><body>",
            f"<h1>{escape(name)}</h1>",
            f'<p class="verdict">{escape(verdict(record))}</p>',
            "<main>",
            *figures(record),
            table("Settings", settings(record)),
            table("Machine", machine(record)),
            solutions(record),
            table("Statistics", list(record.statistics.items()), long=True),
            "</main></body></html>\n",
        ]
    )


def verdict(record: Record) -> str:
    """The outcome, in a sentence."""
    statistics = record.statistics
    parts = [VERDICTS[record.status]]
    if "objective" in statistics:
        proved = record.status == "ALL_SOLUTIONS" and record.sense
        parts = ["The optimum is proved" if proved else VERDICTS["SATISFIED"], f"objective {statistics['objective']}"]
        if not proved and "objectiveBound" in statistics:
            parts.append(f"bound {statistics['objectiveBound']}")
    parts.append(f"{statistics.get('solutions', 0)} solutions in {record.seconds:.2f} s of search")
    return "; ".join(parts) + "."


def figures(record: Record) -> Iterable[str]:
    if record.sense:
        drawn = draw("Objective", record.improvements(), record.seconds, record.bounds())
        yield figure(drawn, "Each point is an improvement, in the colour of the method that found it.")
    else:
        counts = [(answer.seconds, float(number)) for number, answer in enumerate(record.answers, 1)]
        yield figure(draw_line("Solutions", "solutions found", counts, record.seconds), "How many, over time.")
    rates = draw_line("Speed", "nodes a second", record.rates(), record.seconds)
    yield figure(rates, "On average between two looks at the engine.")
    shares = method_bars(record.statistics)
    if shares:
        caption = "Share of the blocks' time; in brackets, uses and improvements."
        yield figure(draw_bars("Methods", shares), caption)
    sizes = [(name, float(record.statistics[key]), plain_number(record.statistics[key]))
             for name, key in PIPELINE if key in record.statistics]  # fmt: skip
    yield figure(draw_bars("The model on its way", sizes), "From FlatZinc through lowering and the simplifier.")


def figure(svg: str, caption: str) -> str:
    return f"<figure>{svg}<figcaption>{escape(caption)}</figcaption></figure>"


def method_bars(statistics: dict[str, Any]) -> list[tuple[str, float, str]]:
    used = [method for method in METHODS if f"{method}Share" in statistics]
    return [
        (method, statistics[f"{method}Share"], f"{statistics[f'{method}Share']:.1%} "
         f"({statistics[f'{method}Tries']}, {statistics[f'{method}Improvements']})")
        for method in used
    ]  # fmt: skip


def settings(record: Record) -> list[tuple[str, object]]:
    """All, with those that were given first."""
    defaults = {item.name: item.default for item in fields(record.options)}
    rows = [(name, getattr(record.options, name), default) for name, default in defaults.items()]
    given = [(name, value) for name, value, default in rows if value != default]
    return given + [("at their defaults", ", ".join(name for name, value, default in rows if value == default))]


def machine(record: Record) -> list[tuple[str, object]]:
    return [
        ("fzn-turbo", __version__),
        ("engine", record.statistics.get("engine", "none was needed")),
        ("processors", os.cpu_count()),
        ("system", platform.platform()),
        ("Python", platform.python_version()),
    ]


def solutions(record: Record) -> str:
    """Times of all, or of the first and last ones."""
    rows = [(number, f"{answer.seconds:.3f}", "" if answer.objective is None else answer.objective, answer.method,
             answer.block) for number, answer in enumerate(record.answers, 1)]  # fmt: skip
    left_out = len(rows) - MOST_ROWS
    if left_out > 0:
        rows = rows[: MOST_ROWS // 2] + rows[-MOST_ROWS // 2 :]
    remark = f"<p>{left_out} in the middle are left out.</p>" if left_out > 0 else ""
    head = ("solution", "seconds", "objective", "method", "block")
    body = row(head, "th") + "".join(map(row, rows))
    return f'<section><h2>Solutions</h2>{remark}<div class="long"><table>{body}</table></div></section>'


def table(title: str, rows: Sequence[tuple[str, object]], long: bool = False) -> str:
    body = "".join(row((name, f"{value:.6g}" if isinstance(value, float) else value)) for name, value in rows)
    kind = ' class="long"' if long else ""
    return f'<section><h2>{title}</h2><div{kind}><table class="facts">{body}</table></div></section>'


def row(cells: Sequence[object], kind: str = "td") -> str:
    texts = "".join(f"<{kind}>{escape(str(cell))}</{kind}>" for cell in cells)
    return f"<tr>{texts}</tr>"
