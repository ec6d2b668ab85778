"""Lowering of the Boolean constraints: conjunction is MIN, disjunction is MAX, equivalence is EQ, implication is LEQ.

Relations take their truth value r last, functions their result; both are variables (see linear.py, table.py).
"""

from __future__ import annotations

from collections.abc import Sequence

from turbo_fzn.lower import linear
from turbo_fzn.lower.builder import RowBuilder
from turbo_fzn.tnf.language import EQ, LEQ, MAX, MIN


def eq(b: RowBuilder, x: int, y: int, r: int) -> None:
    b.define(r, EQ, x, y)


def ne(b: RowBuilder, x: int, y: int, r: int) -> None:
    """States r = (x != y); where a negation of x or y is known, as r = (not x = y)."""
    for first, second in ((x, y), (y, x)):
        known = b.opposite.get(b.find(first)) if b.share else None
        if known is not None and b.value(r) is None:
            return b.define(r, EQ, known, second)
    return b.define_not(r, EQ, x, y)


def le(b: RowBuilder, x: int, y: int, r: int) -> None:
    b.define(r, LEQ, x, y)


def lt(b: RowBuilder, x: int, y: int, r: int) -> None:
    """r = (not x and y)."""
    b.define_not(r, LEQ, y, x)


def conjunction(b: RowBuilder, members: Sequence[int], r: int) -> None:
    """r = all of the members."""
    distinct = {b.find(v) for v in members}
    if b.value(r) == 1:
        for v in distinct:
            b.merge(v, b.true)
    elif any(b.value(v) == 0 for v in distinct):
        b.merge(r, b.false)
    else:
        b.define_tree(r, MIN, [v for v in distinct if b.value(v) is None], 1)


def disjunction(b: RowBuilder, members: Sequence[int], r: int) -> None:
    """r = some of the members."""
    distinct = {b.find(v) for v in members}
    if b.value(r) == 0:
        for v in distinct:
            b.merge(v, b.false)
    elif b.value(r) == 1:
        linear.clause(b, members, (), r)
    elif any(b.value(v) == 1 for v in distinct):
        b.merge(r, b.true)
    else:
        b.define_tree(r, MAX, [v for v in distinct if b.value(v) is None], 0)


def parity(b: RowBuilder, members: Sequence[int], r: int) -> None:
    """r = (an odd number of members is true): an even number of equivalences over an odd number of members."""
    b.define_tree(r, EQ, [*members, b.false] if len(members) % 2 == 0 else members, 0)
