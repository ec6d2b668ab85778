"""sort and arg_sort.

sort is a network: Batcher's odd-even merge sort (1968) of variables. Each comparator is a MIN and a MAX row, the best
possible on bounds. arg_sort counts for each place the elements that come before it, its rank; the permutation is the
inverse of the ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from turbo_fzn.base.domains import IntSet
from turbo_fzn.lower import bulk, linear
from turbo_fzn.lower.builder import RowBuilder
from turbo_fzn.lower.globals.logic import all_of
from turbo_fzn.tnf.language import ADD, EQ, LEQ, MAX, MIN


def sort(b: RowBuilder, x: Sequence[int], y: Sequence[int], r: int) -> None:
    """r = (y is x in ascending order)."""
    if len(x) != len(y):
        return b.merge(r, b.false)
    ordered = network(b, list(x))
    if b.value(r) == 1:
        for first, second in zip(y, y[1:]):
            b.define(b.true, LEQ, first, second)
        if any(b.value(v) is None for v in (*x, *y)):
            linear.eq(b, [1] * len(x) + [-1] * len(y), [*x, *y], 0, b.true)
    return all_of(b, [(EQ, one, other) for one, other in zip(ordered, y)], r)


def network(b: RowBuilder, x: list[int]) -> list[int]:
    half = len(x) // 2
    return x if len(x) < 2 else merged(b, network(b, x[:half]), network(b, x[half:]))


def merged(b: RowBuilder, first: list[int], second: list[int]) -> list[int]:
    """Merges two sorted lists: merges odd and even places, then compares neighbours."""
    if not first or not second:
        return first or second
    if len(first) == len(second) == 1:
        return [b.row(MIN, first[0], second[0]), b.row(MAX, first[0], second[0])]
    odd, even = (merged(b, first[start::2], second[start::2]) for start in (0, 1))
    result = odd[:1]
    for y, z in zip(odd[1:], even):
        result += [b.row(MIN, y, z), b.row(MAX, y, z)]
    paired = min(len(odd) - 1, len(even))
    return result + odd[1 + paired :] + even[paired:]


def arg_sort(b: RowBuilder, x: Sequence[int], first: int, p: Sequence[int], r: int) -> None:
    """r = (p are the places, from `first` on, of x in ascending order, with equal elements in the order of places)."""
    if len(x) != len(p):
        return b.merge(r, b.false)
    ranks = ranks_of(b, x)
    if b.value(r) == 1:
        for place in p:
            bulk.restrict_to(b, place, IntSet.interval(first, first + len(x) - 1))
    rows = []
    for i, rank in enumerate(ranks):
        for j, place in enumerate(p):
            at, is_rank = (bulk.shared(b, EQ, side, b.constant(v)) for side, v in ((place, first + i), (rank, j)))
            rows.append((EQ, at, is_rank))
    return all_of(b, rows, r)


def ranks_of(b: RowBuilder, x: Sequence[int]) -> list[int]:
    """For each of x the number of elements that come before it in a stable sort."""
    n = len(x)
    before = {(i, j): b.row(LEQ, x[i], x[j]) for i in range(n) for j in range(i + 1, n)}
    return [
        b.tree(ADD, [before[i, j] if i < j else b.negation(before[j, i]) for i in range(n) if i != j], 0)
        for j in range(n)
    ]


LOWERINGS: dict[str, Callable[..., None]] = {
    "turbo_sort": sort,
    "turbo_arg_sort": arg_sort,
}
