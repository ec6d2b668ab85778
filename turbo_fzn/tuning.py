"""Tunable constants: numbers that decide by which way, how far or how long, and never which answer is given.

A room has one table of them, its `tuning.py`: a dataclass whose fields are made by `tunable`, and the instance TUNING
that the code reads, as `TUNING.table_rows`. The fuzzer solves with the values that a field says are `tried`
(tests/fuzz/thresholds.py).

A number of a formula or of a format is none of these: it stays at the head of its module, with a comment that begins
with `formula:` or `format:` (tests/project/test_constants.py).
"""

from __future__ import annotations

from dataclasses import field
from typing import TypeVar

NEVER = 10**9  # format: a size that nothing reaches, to be tried
N = TypeVar("N", int, float)


def tunable(
    value: N, unit: str, trades: str, *, tried: tuple[N, ...] = (), kept: str = "", measured: str = "not measured"
) -> N:
    """A field of a table: its value, what it counts, and what a larger and a smaller value trade.

    `tried` are other values, with which every answer must be the same; where there are none, `kept` is the reason.
    `measured` is a figure, or the page that has it. Raises ValueError where unit, trade, or both `tried` and `kept` are
    missing.
    """
    if not unit or not trades or bool(tried) == bool(kept):
        raise ValueError("a constant has a unit, a trade, and either values to try or a reason why there are none")
    return field(
        default=value, metadata={"unit": unit, "trades": trades, "tried": tried, "kept": kept, "measured": measured}
    )
