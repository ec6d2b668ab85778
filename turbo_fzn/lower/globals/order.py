"""Lexicographic order and precedence of values.

lex_less from the back: t[i] says it of the elements from i on, which is x[i] < y[i], or x[i] <= y[i] where t[i + 1]; as
0 <= t <= 1 that is one comparison (Frisch et al. 2002). value_precede: whether a value has come is true from the first
time on, a MAX row for each place. All are functions of the variables, so that nothing is left to search.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from turbo_fzn.lower import bulk, linear
from turbo_fzn.lower import constraints_int as integer
from turbo_fzn.lower.builder import Builder
from turbo_fzn.lower.globals.logic import conclude, truth
from turbo_fzn.tnf.language import ADD, EQ, MAX


def lex_less(b: Builder, x: Sequence[int], y: Sequence[int], r: int) -> None:
    """r = (x comes before y)."""
    lexicographic(b, x, y, len(x) < len(y), r)


def lex_lesseq(b: Builder, x: Sequence[int], y: Sequence[int], r: int) -> None:
    """r = (x comes before y, or is the same)."""
    lexicographic(b, x, y, len(x) <= len(y), r)


def lexicographic(b: Builder, x: Sequence[int], y: Sequence[int], tie: bool, r: int) -> None:
    """r = (x comes before y, or where one is the beginning of the other, `tie` holds)."""
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


def value_precede(b: Builder, s: int, t: int, x: Sequence[int], r: int) -> None:
    """r = (t comes only where s has come before)."""
    parts: list[int] = []
    _precede(b, s, t, x, r, parts)
    conclude(b, r, parts)


def _precede(b: Builder, s: int, t: int, x: Sequence[int], r: int, parts: list[int]) -> None:
    has_come = b.false
    for v in x:
        linear.clause(b, [has_come], [bulk.shared(b, EQ, v, b.constant(t))], truth(b, r, parts))
        if s != t:
            has_come = b.row(MAX, has_come, bulk.shared(b, EQ, v, b.constant(s)))


def value_precede_chain(b: Builder, values: Sequence[int], x: Sequence[int], r: int) -> None:
    """r = (each of the values comes only where the one before it has come): 1, 2, ... in one chain."""
    n = len(values)
    if n and list(values) == list(range(1, n + 1)) and all(b.upper[b.find(v)] <= n for v in x):
        return seq_precede_chain(b, x, r)
    parts: list[int] = []
    for s, t in zip(values, values[1:]):
        _precede(b, s, t, x, r, parts)
    return conclude(b, r, parts)


def seq_precede_chain(b: Builder, x: Sequence[int], r: int) -> None:
    """r = (no element is more than one greater than all before it, and 0)."""
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
