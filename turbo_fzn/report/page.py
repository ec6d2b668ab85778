"""The page of `--report`: one file of HTML with its pictures in it, which needs no network."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterable
from dataclasses import fields
from html import escape
from pathlib import Path
from typing import Any

from turbo_fzn.engine.abi.abi import METHODS
from turbo_fzn.options.options import NEED_GPU
from turbo_fzn.report.axes import plain_number
from turbo_fzn.report.html import document, figure, row, table
from turbo_fzn.report.plot import draw, draw_bars, draw_line
from turbo_fzn.report.record import Record
from turbo_fzn.run.answer.live import bounds, count
from turbo_fzn.version import __version__

MOST_ROWS = 500  # format: rows of the table of solutions: the first and the last
VERDICTS = {
    "ALL_SOLUTIONS": "The whole space was searched",
    "OPTIMAL_SOLUTION": "The optimum is proved",
    "SATISFIED": "There may be more or better solutions",
    "UNSATISFIABLE": "There is no solution: proved",
    "UNBOUNDED": "The objective is unbounded: proved",
    "UNKNOWN": "No solution was found, and it was not proved that there is none",
}
PIPELINE = (
    ("FlatZinc variables", "flatzincVariables"), ("FlatZinc constraints", "flatzincConstraints"),
    ("ternary variables", "loweredVariables"), ("ternary propagators", "loweredPropagators"),
    ("simplified variables", "variables"), ("simplified propagators", "propagators"),
)  # fmt: skip


def page(record: Record) -> str:
    """The text of the file."""
    parts = [
        table("Run", run(record)),
        *figures(record),
        table("Settings", settings(record)),
        table("Machine", machine(record)),
        solutions(record),
        table("Statistics", list(record.statistics.items()), long=True),
    ]
    return document(record.origin.name, "a run of fzn-turbo", verdict(record), parts)


def chart(record: Record) -> str:
    """The outcome and its first picture, as a piece of HTML for a notebook."""
    return f"<p>{escape(verdict(record))}</p>{next(iter(figures(record)))}"


def verdict(record: Record) -> str:
    """The outcome as a sentence."""
    statistics = record.statistics
    parts = [VERDICTS[record.status]]
    if "objective" in statistics:
        proved = record.status == "OPTIMAL_SOLUTION"
        parts += bounds(statistics["objective"], None if proved else statistics.get("objectiveBound"))
    parts.append(f"{count(statistics.get('solutions', 0), 'solution')} in {record.seconds:.2f} s of search")
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
    if idle := record.idle():
        drawn = draw_line("Idle", "per cent", idle, record.seconds, most=100)
        yield figure(drawn, "Share of the blocks' time without work; a wait is counted where it ends.")
    shares = _method_bars(record.statistics)
    if shares:
        caption = "Share of the blocks' time; in brackets, uses and improvements."
        yield figure(draw_bars("Methods", shares), caption)
    sizes = [(name, float(record.statistics[key]), plain_number(record.statistics[key]))
             for name, key in PIPELINE if key in record.statistics]  # fmt: skip
    yield figure(draw_bars("The model on its way", sizes), "From FlatZinc through lowering and the simplifier.")


def _method_bars(statistics: dict[str, Any]) -> list[tuple[str, float, str]]:
    used = [method for method in METHODS if f"{method}Share" in statistics]
    return [
        (method, statistics[f"{method}Share"], f"{statistics[f'{method}Share']:.1%} "
         f"({statistics[f'{method}Tries']}, {statistics[f'{method}Improvements']})")
        for method in used
    ]  # fmt: skip


def run(record: Record) -> list[tuple[str, object]]:
    """The rows on the run: date and commands."""
    return [("date", record.origin.date), *record.origin.commands]


def settings(record: Record) -> list[tuple[str, object]]:
    """The rows of the settings, given settings first."""
    defaults = {item.name: item.default for item in fields(record.options)}
    rows = [(name, getattr(record.options, name), default) for name, default in defaults.items()]
    given = [(name, value) for name, value, default in rows if value != default]
    return given + [("at their defaults", ", ".join(name for name, value, default in rows if value == default))]


def machine(record: Record) -> list[tuple[str, object]]:
    return [
        ("fzn-turbo", __version__),
        ("engine", record.statistics.get("engine", "none was needed")),
        ("processor", processor()),
        ("processors", f"{len(os.sched_getaffinity(0))} of {os.cpu_count()} may be used"),
        *gpus(record),
        ("system", platform.platform()),
        ("Python", platform.python_version()),
    ]


def processor() -> str:
    """The name of the processor, if the system provides it; else its architecture."""
    try:
        told = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        told = ""
    named = re.search(r"^(?:model name|Model|Hardware)\s*: *(.*)$", told, re.MULTILINE)
    return f"{named[1]} ({platform.machine()})" if named else platform.machine()


def gpus(record: Record) -> list[tuple[str, object]]:
    """The GPUs of this machine, if some took part; empty if querying them fails, since the page must be written."""
    if not any(name in str(record.statistics.get("engine", "")) for name in NEED_GPU):
        return []
    from turbo_fzn.engine.cuda.devices import describe_gpus

    try:
        return [("GPU", text) for text in describe_gpus()]
    except Exception:
        return []


def solutions(record: Record) -> str:
    """The table of all solutions with their times, or of the first and the last solutions."""
    head = ["solution", "seconds", *(["objective"] if record.sense else []), "method", "block"]
    rows = [(number, f"{answer.seconds:.3f}", *([answer.objective] if record.sense else []), answer.method,
             answer.block) for number, answer in enumerate(record.answers, 1)]  # fmt: skip
    left_out = len(rows) - MOST_ROWS
    if left_out > 0:
        rows = rows[: MOST_ROWS // 2] + rows[-MOST_ROWS // 2 :]
    verb = "is" if left_out == 1 else "are"
    remark = f"<p>{left_out} in the middle {verb} left out.</p>" if left_out > 0 else ""
    body = row(head, "th") + "".join(map(row, rows))
    return f'<section><h2>Solutions</h2>{remark}<div class="long"><table>{body}</table></div></section>'
