"""Lexicographic order and precedence of values.

lex_less is computed from the back: t[i] is its truth for the elements from i on, which is x[i] < y[i], or x[i] <= y[i]
if t[i + 1] is true; since 0 <= t <= 1 this is one comparison (Frisch et al. 2002). value_precede has the truth of "the
value has occurred" for each place, by a MAX row. All these are functions of the variables, and fixed with them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from turbo_fzn.lower import bulk, linear
from turbo_fzn.lower import constraints_int as integer
from turbo_fzn.lower.builder import RowBuilder
from turbo_fzn.lower.globals.logic import conclude, truth
from turbo_fzn.tnf.language import ADD, EQ, MAX


def lex_less(b: RowBuilder, x: Sequence[int], y: Sequence[int], r: int) -> None:
    """r = (x comes before y)."""
    lexicographic(b, x, y, len(x) < len(y), r)


def lex_lesseq(b: RowBuilder, x: Sequence[int], y: Sequence[int], r: int) -> None:
    """r = (x comes before y, or equals it)."""
    lexicographic(b, x, y, len(x) <= len(y), r)


def lexicographic(b: RowBuilder, x: Sequence[int], y: Sequence[int], tie: bool, r: int) -> None:
    """r = (x comes before y, or `tie` if x or y is a prefix of the other)."""
    pairs = list(zip(x, y))
    rest = b.true if tie else b.false
    for one, other in reversed(pairs[1:]):
        before = b.variable(0, 1)
        linear.le(b, [1, -1, -1], [one, other, rest], -1, before)
        rest = b.find(before)
    if pairs:
        linear.le(b, [1, -1, -1], [*pairs[0], rest], -1, r)
    else:
        b.merge(r, rest)


def value_precede(b: RowBuilder, s: int, t: int, x: Sequence[int], r: int) -> None:
    """r = (t occurs only after s has occurred)."""
    parts: list[int] = []
    _precede(b, s, t, x, r, parts)
    conclude(b, r, parts)


def _precede(b: RowBuilder, s: int, t: int, x: Sequence[int], r: int, parts: list[int]) -> None:
    has_come = b.false
    for v in x:
        linear.clause(b, [has_come], [bulk.shared(b, EQ, v, b.constant(t))], truth(b, r, parts))
        if s != t:
            has_come = b.row(MAX, has_come, bulk.shared(b, EQ, v, b.constant(s)))


def value_precede_chain(b: RowBuilder, values: Sequence[int], x: Sequence[int], r: int) -> None:
    """r = (each of the values occurs only after its predecessor in the list has occurred)."""
    n = len(values)
    if n and list(values) == list(range(1, n + 1)) and all(b.upper[b.find(v)] <= n for v in x):
        return seq_precede_chain(b, x, r)
    parts: list[int] = []
    for s, t in zip(values, values[1:]):
        _precede(b, s, t, x, r, parts)
    return conclude(b, r, parts)


def seq_precede_chain(b: RowBuilder, x: Sequence[int], r: int) -> None:
    """r = (each element exceeds the maximum of 0 and all elements before it by at most 1)."""
    parts: list[int] = []
    greatest = b.false
    for v in x:
        integer.le(b, v, b.row(ADD, greatest, b.true), truth(b, r, parts))
        greatest = b.row(MAX, greatest, v)
    conclude(b, r, parts)


LOWERINGS: dict[str, Callable[..., None]] = {
    "turbo_lex_less_int": lex_less,
    "turbo_lex_less_bool": lex_less,
    "turbo_lex_lesseq_int": lex_lesseq,
    "turbo_lex_lesseq_bool": lex_lesseq,
    "turbo_value_precede": value_precede,
    "turbo_value_precede_chain": value_precede_chain,
    "turbo_seq_precede_chain": seq_precede_chain,
}
