"""Tunable constants: numbers that decide by which way, how far or how long, and never which answer is given.

A room has one table of them, its `tuning.py`: a subclass of `Table` whose attributes are made by `tunable`, and the
instance TUNING that the code reads, as `TUNING.table_rows`. The fuzzer solves with the values that an attribute says
are `tried` (tests/fuzz/thresholds.py).

A number of a formula or of a format is none of these: it stays at the head of its module, with a comment that begins
with `formula:` or `format:` (tests/project/test_constants.py).
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, TypeVar, cast

NEVER = 10**9  # format: a size that nothing reaches, to be tried
N = TypeVar("N", int, float)


class Tunable(NamedTuple):
    """A number of a table with its words, as of `tunable`."""

    value: Any
    unit: str
    trades: str
    tried: tuple[Any, ...]
    kept: str
    measured: str


class Table:
    """A table of a room; an instance has the values as attributes, `rows` all that is said of them, by their names.

    No dataclass: to generate the methods of ten tables would take a tenth of the time to a first answer.
    """

    rows: ClassVar[dict[str, Tunable]]

    def __init_subclass__(cls) -> None:
        cls.rows = {name: row for name, row in vars(cls).items() if isinstance(row, Tunable)}
        for name, row in cls.rows.items():
            setattr(cls, name, row.value)

    def __setattr__(self, name: str, value: float) -> None:
        if name not in self.rows:
            raise AttributeError(f"no constant {name}")
        super().__setattr__(name, value)


def tunable(
    value: N, unit: str, trades: str, *, tried: tuple[N, ...] = (), kept: str = "", measured: str = "not measured"
) -> N:
    """An attribute of a table: its value, what it counts, and what a larger and a smaller value trade.

    `tried` are other values, with which every answer must be the same; where there are none, `kept` is the reason.
    `measured` is a figure, or the page that has it. Raises ValueError where unit, trade, or both `tried` and `kept` are
    missing.
    """
    if not unit or not trades or bool(tried) == bool(kept):
        raise ValueError("a constant has a unit, a trade, and either values to try or a reason why there are none")
    return cast(N, Tunable(value, unit, trades, tried, kept, measured))
