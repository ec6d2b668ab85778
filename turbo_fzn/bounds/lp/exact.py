"""Linear rows over real variables, in exact numbers: integers, or fractions."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

Exact = int | Fraction


class Row(NamedTuple):
    """low <= sum of value * variable <= high; None for a missing side."""

    entries: dict[int, Exact]
    low: Exact | None
    high: Exact | None
