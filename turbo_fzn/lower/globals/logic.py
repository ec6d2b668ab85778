"""Functions for all families: a conjunction of comparisons, stated or as a truth value."""

from __future__ import annotations

from collections.abc import Iterable

from turbo_fzn.base.domains import IntSet
from turbo_fzn.lower import bulk
from turbo_fzn.lower import constraints_bool as boolean
from turbo_fzn.lower import constraints_int as integer
from turbo_fzn.lower.builder import RowBuilder

Comparison = tuple[int, int, int]  # (op, y, z), for y = z or y <= z


def all_of(b: RowBuilder, comparisons: Iterable[Comparison], r: int) -> None:
    """r = (all of the comparisons hold)."""
    if b.value(r) == 1:
        for op, y, z in comparisons:
            b.define(b.true, op, y, z)
    else:
        boolean.conjunction(b, [b.row(*comparison) for comparison in comparisons], r)


def truth(b: RowBuilder, r: int, parts: list[int]) -> int:
    """A truth value for a part of r: the constant true if r is true, else a new Boolean, which is added to `parts`."""
    if b.value(r) == 1:
        return b.true
    parts.append(b.variable(0, 1))
    return parts[-1]


def conclude(b: RowBuilder, r: int, parts: list[int]) -> None:
    """States r = all of the parts that `truth` has made for it."""
    if b.value(r) != 1:
        boolean.conjunction(b, parts, r)


def within(b: RowBuilder, x: Iterable[int], values: IntSet, r: int, parts: list[int]) -> None:
    """Adds a part of r: each of x is in the set."""
    for variable in x:
        if b.value(r) == 1:
            bulk.restrict_to(b, variable, values)
        else:
            integer.member(b, variable, values, truth(b, r, parts))
