"""Tables whose cells compare columns (type hybrid-2), as expressions: some row holds, that is all its cells.

A cell is `c0`, the value of the first column, or a comparison with one, as ≠c1 or <c0+2, or what may stand in any short
table. Other solvers have propagators for these (Mairesse, Deville and Lecoutre, "Hybrid tables"); rows are few here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from turbo_fzn.base.domains import INFINITY
from turbo_fzn.base.errors import ModelError, UnsupportedError
from turbo_fzn.read.tuning import TUNING
from turbo_fzn.read.xcsp3.expressions import Term, read_expression

COLUMN = re.compile(r"c(\d{1,6})(?:([+-])(\d{1,18}))?")
COMPARISON = {"<=": "le", ">=": "ge", "<": "lt", ">": "gt", "!=": "ne", "=": "eq", "": "eq"}
COMPARISON |= {"@": "le", "#": "ge", "$": "lt", "~": "gt", "!": "ne"}  # ≤ ≥ ﹤ ﹥ ≠, as document.py hands them on
CELL = re.compile(r"(<=|>=|<|>|!=|=|[@#!$~]|)\s*(c\d.*|)")
Intervals = list[tuple[int, int]]


def compares_columns(text: str) -> bool:
    return COLUMN.search(text) is not None


def as_expression(rows: list[list[str]], width: int, supports: bool, intervals: dict[str, Intervals]) -> Term:
    """The operands are named %0, %1, …, by their columns; `intervals` are the values of cells that name no column."""
    if len(rows) * width > TUNING.made_cells:
        raise UnsupportedError(f"a table of more than {TUNING.made_cells} cells, some of which compare columns")
    each = [f"and({','.join(conditions(row, intervals)) or 'eq(0,0)'})" for row in rows]
    some = f"or({','.join(each)})"
    return read_expression(some if supports else f"not({some})")


def conditions(row: list[str], intervals: dict[str, Intervals]) -> Iterator[str]:
    for column, cell in enumerate(row):
        match = CELL.fullmatch(cell)
        if match is not None and match[2]:
            yield f"{COMPARISON[match[1]]}(%{column},{_other_column(match[2], len(row))})"
        elif intervals[cell] != [(-INFINITY, INFINITY)]:
            inside = ",".join(f"{low}..{high}" for low, high in intervals[cell])
            yield f"in(%{column},set({inside}))"


def _other_column(text: str, width: int) -> str:
    match = COLUMN.fullmatch(text)
    if match is None or int(match[1]) >= width:
        raise ModelError(f"`{text[:30]}` is no column of a table of {width}, with or without a constant")
    name, sign, constant = match.groups()
    return f"%{name}" if sign is None else f"{'add' if sign == '+' else 'sub'}(%{name},{constant})"
