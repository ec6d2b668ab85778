"""Sums of truth values of `x = v`: count, among, nvalue, global_cardinality, bin_packing and their kin.

The truths are shared with all constraints on the same values, so that only the sums need new rows. Implied sums over
all values (all variables have a value, all weights are in a bin) are stated, too: propagation does not add up
equations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from turbo_fzn.base.domains import IntSet
from turbo_fzn.lower import bulk, linear
from turbo_fzn.lower import constraints_bool as boolean
from turbo_fzn.lower import constraints_int as integer
from turbo_fzn.lower.builder import RowBuilder
from turbo_fzn.lower.globals.logic import all_of, conclude, truth, within
from turbo_fzn.lower.narrow import Left, Narrower
from turbo_fzn.lower.tuning import TUNING
from turbo_fzn.tnf.language import ADD, EQ, LEQ, MAX, MIN, MUL


def equals(b: RowBuilder, x: Sequence[int], y: int) -> list[int]:
    """The truths of x[i] = y."""
    return [bulk.shared(b, EQ, v, y) for v in x]


def _compare_sum(
    b: RowBuilder, relation: Callable[..., None], coefficients: Sequence[int], x: Sequence[int], c: int, r: int
) -> None:
    """r = (the sum of coefficients[i] * x[i] and the variable c are in the relation, one of linear.py)."""
    relation(b, [*coefficients, -1], [*x, c], 0, r)


def counted(relation: Callable[..., None], sign: int = 1) -> Callable[..., None]:
    """The lowering of r = (c is in the relation with the number of elements of x that equal y)."""

    def post(b: RowBuilder, x: Sequence[int], y: int, c: int, r: int) -> None:
        relation(b, [sign] * len(x) + [-sign], [*equals(b, x, y), c], 0, r)

    return post


def less(b: RowBuilder, coefficients: Sequence[int], x: Sequence[int], k: int, r: int) -> None:
    linear.le(b, coefficients, x, k - 1, r)


count_eq, count_neq = counted(linear.eq), counted(linear.ne)
count_leq, count_lt = counted(linear.le, -1), counted(less, -1)  # c <= count, c < count
count_geq, count_gt = counted(linear.le), counted(less)


def among(b: RowBuilder, n: int, x: Sequence[int], values: IntSet, r: int) -> None:
    """r = (n of x are in the set)."""
    inside = []
    for v in x:
        inside.append(b.variable(0, 1))
        integer.member(b, v, values, inside[-1])
    _compare_sum(b, linear.eq, [1] * len(x), inside, n, r)


def nvalue(b: RowBuilder, n: int, x: Sequence[int], r: int) -> None:
    """r = (x has n distinct values), counted as values that a variable takes, or as variables that differ from all
    earlier variables."""
    if bulk.are_finite(b, x, max(TUNING.counted_values, 64 * len(x))):
        values = sorted({value for v in x for value in bulk.domain(b, v)})
        truths = [equals(b, [v for v in x if value in bulk.domain(b, v)], b.constant(value)) for value in values]
        new = [b.tree(MAX, some, 0) for some in truths]
    else:
        earlier = [[b.row(EQ, v, w) for w in x[:i]] for i, v in enumerate(x)]
        new = [b.negation(b.tree(MAX, same, 0)) for same in earlier]
    _compare_sum(b, linear.eq, [1] * len(new), new, n, r)


# global_cardinality


def global_cardinality(b: RowBuilder, x: Sequence[int], cover: Sequence[int], counts: Sequence[int], r: int) -> None:
    """r = (cover[i] is taken counts[i] times)."""
    cardinality(b, x, cover, counts, False, r)


def global_cardinality_closed(
    b: RowBuilder, x: Sequence[int], cover: Sequence[int], counts: Sequence[int], r: int
) -> None:
    """r = (cover[i] is taken counts[i] times, and no other value is taken)."""
    cardinality(b, x, cover, counts, True, r)


def cardinality(
    b: RowBuilder, x: Sequence[int], cover: Sequence[int], counts: Sequence[int], closed: bool, r: int
) -> None:
    parts: list[int] = []
    if closed:
        within(b, x, IntSet.of_values(cover), r, parts)
    for value, count in zip(cover, counts):
        taken = equals(b, x, b.constant(value))
        _compare_sum(b, linear.eq, [1] * len(x), taken, count, truth(b, r, parts))
    distinct = list(dict(zip(cover, counts)).values())
    if b.value(r) == 1 and distinct:
        (linear.eq if closed else linear.le)(b, [1] * len(distinct), distinct, len(x), r)
    conclude(b, r, parts)


def global_cardinality_low_up(
    b: RowBuilder, x: Sequence[int], cover: Sequence[int], low: Sequence[int], high: Sequence[int], r: int
) -> None:
    """r = (cover[i] is taken low[i] to high[i] times)."""
    limited(b, x, cover, low, high, False, r)


def global_cardinality_low_up_closed(
    b: RowBuilder, x: Sequence[int], cover: Sequence[int], low: Sequence[int], high: Sequence[int], r: int
) -> None:
    """r = (cover[i] is taken low[i] to high[i] times, and no other value is taken)."""
    limited(b, x, cover, low, high, True, r)


def limited(
    b: RowBuilder,
    x: Sequence[int],
    cover: Sequence[int],
    low: Sequence[int],
    high: Sequence[int],
    closed: bool,
    r: int,
) -> None:
    parts: list[int] = []
    if closed:
        within(b, x, IntSet.of_values(cover), r, parts)
    for value, least, most in zip(cover, low, high):
        taken = equals(b, x, b.constant(value))
        if least > 0 and most < len(x):
            within(b, [b.tree(ADD, taken, 0)], IntSet.interval(least, most), r, parts)
        elif least > 0:
            linear.le(b, [-1] * len(x), taken, -least, truth(b, r, parts))
        elif most < len(x):
            linear.le(b, [1] * len(x), taken, most, truth(b, r, parts))
    conclude(b, r, parts)


# bin_packing


def bin_packing(b: RowBuilder, capacity: int, bins: Sequence[int], weights: Sequence[int], r: int) -> None:
    """r = (the weights in each bin sum up to at most the capacity)."""
    parts: list[int] = []
    if capacity < 0 or not bulk.are_finite(b, bins, max(TUNING.counted_values, 64 * len(bins))):
        places = list(bins)  # the bins that are used: empty ones may exceed the capacity
    else:
        values = sorted({value for v in bins for value in bulk.domain(b, v)})
        if b.value(r) == 1:
            return _state_loads(b, values, [capacity] * len(values), bins, weights)
        places = [b.constant(value) for value in values]
    for place in places:
        linear.le(b, weights, equals(b, bins, place), capacity, truth(b, r, parts))
    return conclude(b, r, parts)


def bin_packing_capa(
    b: RowBuilder, capacities: Sequence[int], first: int, bins: Sequence[int], weights: Sequence[int], r: int
) -> None:
    """r = (bins are numbered from `first`, and the weights in each sum up to at most its capacity)."""
    parts: list[int] = []
    within(b, bins, IntSet.interval(first, first + len(capacities) - 1), r, parts)
    if b.value(r) == 1:
        return _state_loads(b, range(first, first + len(capacities)), capacities, bins, weights)
    for value, capacity in enumerate(capacities, first):
        linear.le(b, weights, equals(b, bins, b.constant(value)), capacity, truth(b, r, parts))
    return conclude(b, r, parts)


def bin_packing_load(
    b: RowBuilder, loads: Sequence[int], first: int, bins: Sequence[int], weights: Sequence[int], r: int
) -> None:
    """r = (bins are numbered from `first`, and the weights in each sum up to its load)."""
    parts: list[int] = []
    within(b, bins, IntSet.interval(first, first + len(loads) - 1), r, parts)
    if b.value(r) == 1:
        linear.eq(b, [1] * len(loads), loads, sum(weights), r)
    for value, load in enumerate(loads, first):
        here = equals(b, bins, b.constant(value))
        _compare_sum(b, linear.eq, weights, here, load, truth(b, r, parts))
    conclude(b, r, parts)


def _state_loads(
    b: RowBuilder, values: Sequence[int], capacities: Sequence[int], bins: Sequence[int], weights: Sequence[int]
) -> None:
    """States a load for each bin, and that the loads sum up to all weights, which bounds each load by the capacities of
    the other bins."""
    loads = []
    for value, capacity in zip(values, capacities):
        terms = [(w, v) for w, v in zip(weights, equals(b, bins, b.constant(value))) if v != b.false]
        loads.append(b.tree(ADD, [b.row(MUL, v, b.constant(w)) for w, v in terms], 0))
        b.restrict(loads[-1], min(0, b.lower[b.find(loads[-1])]), capacity)
    linear.eq(b, [1] * len(loads), loads, sum(weights), b.true)


# Others


def sliding_sum(b: RowBuilder, low: int, high: int, length: int, x: Sequence[int], r: int) -> None:
    """r = (each `length` neighbours of x sum up to low to high): differences of partial sums (Brand et al. 2007)."""
    parts: list[int] = []
    sums = [b.false]
    for v in x:
        sums.append(b.row(ADD, sums[-1], v))
    for before, behind in zip(sums, sums[length:]):
        linear.le(b, [1, -1], [before, behind], -low, truth(b, r, parts))
        linear.le(b, [1, -1], [behind, before], high, truth(b, r, parts))
    conclude(b, r, parts)


def member(b: RowBuilder, x: Sequence[int], y: int, r: int) -> None:
    """r = (some of x is y)."""
    boolean.disjunction(b, equals(b, x, y), r)


def all_equal(b: RowBuilder, x: Sequence[int], r: int) -> None:
    """r = (all of x are the same)."""
    if b.value(r) == 1:
        for v in x[1:]:
            b.merge(x[0], v)
    elif len(x) < 2:
        b.merge(r, b.true)
    else:
        all_of(b, [(EQ, b.tree(MAX, x, 0), b.tree(MIN, x, 0))], r)


def increasing(b: RowBuilder, x: Sequence[int], r: int) -> None:
    """r = (no element of x is less than its predecessor)."""
    all_of(b, [(LEQ, y, z) for y, z in zip(x, x[1:])], r)


def strictly_increasing(b: RowBuilder, x: Sequence[int], r: int) -> None:
    """r = (each element of x is greater than its predecessor)."""
    parts: list[int] = []
    for y, z in zip(x, x[1:]):
        integer.lt(b, y, z, truth(b, r, parts))
    conclude(b, r, parts)


def covered(b: RowBuilder, x: Sequence[int], cover: Sequence[int], *_: Any) -> Left:
    for v in x:
        yield v, IntSet.of_values(cover)


def numbered(b: RowBuilder, places: Sequence[int], first: int, bins: Sequence[int], *_: Any) -> Left:
    for v in bins:
        yield v, IntSet.interval(first, first + len(places) - 1)


NARROWERS: dict[str, Narrower] = {
    "turbo_global_cardinality_closed": covered,
    "turbo_global_cardinality_low_up_closed": covered,
    "turbo_bin_packing_capa": numbered,
    "turbo_bin_packing_load": numbered,
}
LOWERINGS: dict[str, Callable[..., None]] = {
    "turbo_count_eq": count_eq,
    "turbo_count_neq": count_neq,
    "turbo_count_lt": count_lt,
    "turbo_count_leq": count_leq,
    "turbo_count_gt": count_gt,
    "turbo_count_geq": count_geq,
    "turbo_among": among,
    "turbo_nvalue": nvalue,
    "turbo_global_cardinality": global_cardinality,
    "turbo_global_cardinality_closed": global_cardinality_closed,
    "turbo_global_cardinality_low_up": global_cardinality_low_up,
    "turbo_global_cardinality_low_up_closed": global_cardinality_low_up_closed,
    "turbo_bin_packing": bin_packing,
    "turbo_bin_packing_capa": bin_packing_capa,
    "turbo_bin_packing_load": bin_packing_load,
    "turbo_sliding_sum": sliding_sum,
    "turbo_member_int": member,
    "turbo_member_bool": member,
    "turbo_all_equal": all_equal,
    "turbo_increasing_int": increasing,
    "turbo_increasing_bool": increasing,
    "turbo_strictly_increasing_int": strictly_increasing,
}
