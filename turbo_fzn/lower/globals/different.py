"""all_different and its kin: pairs, or truth values of `x = v` if there are as many values as variables.

It is lowered after all other constraints, when the domains that these leave are known. Bounds cannot represent holes,
but the truth values of x[i] = v do. If there are as many values as variables, each value must occur, which finds the
last place for a value (in a Sudoku: a hidden single). With more values than variables the truth values cost more than
they prune. `inverse` shares one truth value for f[i] = j and g[j] = i.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np

from turbo_fzn.base.domains import IntSet
from turbo_fzn.lower import bulk, linear
from turbo_fzn.lower.builder import RowBuilder
from turbo_fzn.lower.globals.counting import equals
from turbo_fzn.lower.globals.logic import all_of, conclude, truth, within
from turbo_fzn.lower.narrow import Left, Narrower
from turbo_fzn.lower.tuning import TUNING
from turbo_fzn.lower.variables import Infeasible
from turbo_fzn.predicates.globals import ALL_DIFFERENT
from turbo_fzn.tnf.language import EQ, MAX, MIN
from turbo_fzn.tnf.wide import WideKind


def all_different(b: RowBuilder, x: Sequence[int], r: int) -> None:
    """r = (no two of x are equal)."""
    n = len(x)
    if b.value(r) == 1 and bulk.are_finite(b, x, n * max(n * n, 10_000)):
        values = IntSet.of_ranges({pair for v in x for pair in bulk.domain(b, v).ranges})
        if n < values.size and n <= TUNING.permutation_size:
            values = IntSet.of_ranges({pair for v in x for pair in values_left(b, v).ranges})
        if values.size < n:
            raise Infeasible
        if values.size == n <= TUNING.permutation_size:
            for value in values:
                linear.eq(b, [1] * n, equals(b, x, b.constant(value)), 1, r)
            _refute_equal_pairs(b, x)
            return
    differ(b, x, r)
    if b.value(r) == 1 and n >= TUNING.whole_least:
        b.wides.add(WideKind.ALL_DIFFERENT, [], [[v] for v in x])


def _refute_equal_pairs(b: RowBuilder, x: Sequence[int]) -> None:
    """Fixes existing truths of "two of them are equal" to false, which the truth values of x = v do not propagate."""
    for y, z in combinations(sorted(map(b.find, x)), 2):
        known = b.known(EQ, y, z)
        if known is not None:
            b.merge(known, b.false)


def differ(b: RowBuilder, x: Sequence[int], r: int) -> None:
    """r = (no two of x are equal), by all pairs that have a value in common."""
    numbers = np.array(x, np.int64)
    low, high = bulk.bounds(b, x)
    i, j = bulk.pairs(len(x))
    meet = (low[i] <= high[j]) & (low[j] <= high[i])
    y, z = numbers[i[meet]], numbers[j[meet]]
    if b.value(r) == 1:
        fixed = (low == high)[i[meet]] | (low == high)[j[meet]]
        bulk.state(b, EQ, b.false, y[~fixed], z[~fixed])
        for one, other in zip(y[fixed].tolist(), z[fixed].tolist()):
            b.define(b.false, EQ, one, other)
    else:
        same = bulk.truths(b, EQ, y, z)
        b.merge(r, b.negation(b.tree(MAX, same.tolist(), 0)))


def differ_in_columns(b: RowBuilder, columns: Sequence[np.ndarray]) -> int:
    """States `all_different` of many lists of one length, up to the first odd list, which needs more than its pairs or
    has unusual variables (`choices`). Returns the number of lists."""
    lists, n = np.stack(columns, axis=1), len(columns)
    variables, place = np.unique(lists, return_inverse=True)
    place, numbers = place.reshape(lists.shape), variables.tolist()
    size = np.array([min(choices(b, v), n + 1) for v in numbers], np.int64)[place]
    usual = (size > 0).all(axis=1) & (size.max(axis=1) > n)
    count = len(usual) if usual.all() else int(np.argmin(usual))
    for one in lists[:count] if n >= TUNING.whole_least else ():
        b.wides.add(WideKind.ALL_DIFFERENT, [], one.reshape(-1, 1))
    low, high = bulk.bounds(b, numbers)
    i, j = bulk.pairs(n)
    step = max(TUNING.pairs_at_once // len(i), 1)
    for start in range(0, count, step):
        here = slice(start, min(start + step, count))
        x, least, most = lists[here], low[place[here]], high[place[here]]
        meet = (least[:, i] <= most[:, j]) & (least[:, j] <= most[:, i])
        bulk.state(b, EQ, b.false, x[:, i][meet], x[:, j][meet])
    return count


def choices(b: RowBuilder, x: int) -> int:
    """The number of values of a variable; 0 if it is fixed, has no value, or was merged with another."""
    if b.parent[x] != x or b.value(x) is not None:
        return 0
    interval = IntSet.interval(b.lower[x], b.upper[x])
    if x in b.domains and not b.domains[x] & interval:
        return 0
    return values_left(b, x).size


def values_left(b: RowBuilder, x: int) -> IntSet:
    """The values of a variable that no existing row excludes."""
    x, values = b.find(x), bulk.domain(b, x)
    if values.size > TUNING.values_left or not b.results[EQ]:
        return values
    found = []
    for value in values:
        c = b.constants.get(value)
        truth = None if c is None else b.known(EQ, min(x, c), max(x, c))
        if truth is None or b.value(b.find(truth)) != 0:
            found.append(value)
    return IntSet.of_values(found) if len(found) < values.size else values


def all_different_except(b: RowBuilder, x: Sequence[int], values: IntSet, r: int) -> None:
    """r = (no two of x are equal, unless their value is in the set): by a clause for each pair and value, if few."""
    if b.value(r) == 1:
        others = [without(bulk.domain(b, v), values) for v in x]
        n_clauses = sum(one.size for one in others) * len(x) // 2
        if n_clauses <= TUNING.clauses_per_pair * max(len(x), 20) ** 2 // 2:
            return _state_clauses(b, x, others)
    inside = [_truth_of_member(b, v, values) for v in x]
    parts: list[int] = []
    for i, y in enumerate(x):
        for z in x[:i]:
            part = truth(b, r, parts)
            linear.clause(b, [inside[i]], [b.row(EQ, y, z)], part)
    return conclude(b, r, parts)


def _state_clauses(b: RowBuilder, x: Sequence[int], others: list[IntSet]) -> None:
    """States by clauses that no two variables have the same value among the other values."""
    places: dict[int, list[int]] = {}
    for v, values in zip(x, others):
        for value in values:
            places.setdefault(value, []).append(bulk.shared(b, EQ, v, b.constant(value)))
    for taken in places.values():
        i, j = bulk.pairs(len(taken))
        column = np.array(taken, np.int64)
        bulk.state(b, MIN, b.false, column[i], column[j])


def without(domain: IntSet, values: IntSet) -> IntSet:
    inside = domain & values
    if not domain or not inside:
        return domain
    starts = [domain.lower, *(high + 1 for _, high in inside.ranges)]
    ends = [*(low - 1 for low, _ in inside.ranges), domain.upper]
    return domain & IntSet.of_ranges(zip(starts, ends))


def _truth_of_member(b: RowBuilder, x: int, values: IntSet) -> int:
    parts: list[int] = []
    within(b, [x], values, b.false, parts)
    return b.find(parts[0])


def inverse(b: RowBuilder, f: Sequence[int], first_f: int, g: Sequence[int], first_g: int, r: int) -> None:
    """r = (f[i] = j just where g[j] = i), the indices of f begin with `first_f`, the indices of g with `first_g`."""
    parts: list[int] = []
    within(b, f, IntSet.interval(first_g, first_g + len(g) - 1), r, parts)
    within(b, g, IntSet.interval(first_f, first_f + len(f) - 1), r, parts)
    rows = []
    for i, v in enumerate(f, first_f):
        for j, w in enumerate(g, first_g):
            forth, back = bulk.shared(b, EQ, v, b.constant(j)), bulk.shared(b, EQ, w, b.constant(i))
            if forth != back:
                rows.append((EQ, forth, back))
    all_of(b, rows, truth(b, r, parts))
    conclude(b, r, parts)


def symmetric_all_different(b: RowBuilder, x: Sequence[int], first: int, r: int) -> None:
    """r = (x[i] = j just where x[j] = i)."""
    inverse(b, x, first, x, first, r)


def indices(b: RowBuilder, f: Sequence[int], first_f: int, g: Sequence[int], first_g: int) -> Left:
    for x, values in ((f, IntSet.interval(first_g, first_g + len(g) - 1)),
                      (g, IntSet.interval(first_f, first_f + len(f) - 1))):  # fmt: skip
        for v in x:
            yield v, values


NARROWERS: dict[str, Narrower] = {
    "turbo_inverse": indices,
    "turbo_symmetric_all_different": lambda b, x, first: indices(b, x, first, x, first),
}
LOWERINGS: dict[str, Callable[..., None]] = {
    ALL_DIFFERENT: all_different,
    "turbo_all_different_except": all_different_except,
    "turbo_inverse": inverse,
    "turbo_symmetric_all_different": symmetric_all_different,
}
