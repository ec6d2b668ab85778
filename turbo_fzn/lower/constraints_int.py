"""Lowering of the integer constraints that are not linear: comparisons, arithmetic, arrays, sets, element.

Relations take their truth value r last; functions take the variable that they define, and the table of table.py puts
the arguments in order. Partial functions (division, element) make the plain constraint false where they are undefined.
"""

from __future__ import annotations

from collections.abc import Sequence

from turbo_fzn.base.domains import INFINITY, IntSet
from turbo_fzn.lower.builder import RowBuilder
from turbo_fzn.lower.inner import Element
from turbo_fzn.lower.tuning import TUNING
from turbo_fzn.lower.variables import Infeasible
from turbo_fzn.tnf.language import ADD, DIV, EQ, LEQ, MAX, MIN, MOD


def eq(b: RowBuilder, x: int, y: int, r: int) -> None:
    b.define(r, EQ, x, y)


def ne(b: RowBuilder, x: int, y: int, r: int) -> None:
    b.define_not(r, EQ, x, y)


def le(b: RowBuilder, x: int, y: int, r: int) -> None:
    b.define(r, LEQ, x, y)


def lt(b: RowBuilder, x: int, y: int, r: int) -> None:
    """States r = (x < y): as x <= c - 1 for a constant, else as not y <= x."""
    below, above = b.value(y), b.value(x)
    if below is not None and below - 1 > -INFINITY:
        return b.define(r, LEQ, x, b.constant(below - 1))
    if above is not None and above + 1 < INFINITY:
        return b.define(r, LEQ, b.constant(above + 1), y)
    return b.define_not(r, LEQ, y, x)


def divide(b: RowBuilder, x: int, y: int, z: int, r: int) -> None:
    _divide_by(b, DIV, x, y, z, r)


def modulo(b: RowBuilder, x: int, y: int, z: int, r: int) -> None:
    _divide_by(b, MOD, x, y, z, r)


def _divide_by(b: RowBuilder, op: int, x: int, y: int, z: int, r: int) -> None:
    """r = (y != 0 and z = x op y). The row itself excludes y = 0; where r may be false, it divides by y + (y = 0)."""
    if b.value(r) == 1:
        if b.value(y) == 0:
            raise Infeasible
        b.exclude(y, 0)
        return b.define(z, op, x, b.find(y))
    zero = b.row(EQ, y, b.false)
    result = b.row(op, x, b.row(ADD, y, zero))
    return b.define(r, MIN, b.negation(zero), b.row(EQ, result, z))


def absolute(b: RowBuilder, x: int, y: int) -> None:
    """y = max(x, -x)."""
    if b.lower[x] >= 0:
        b.merge(y, x)
    else:
        b.define(y, MAX, x, b.negative(x))


def array_minimum(b: RowBuilder, m: int, members: Sequence[int], r: int) -> None:
    extreme(b, MIN, m, members, r)


def array_maximum(b: RowBuilder, m: int, members: Sequence[int], r: int) -> None:
    extreme(b, MAX, m, members, r)


def extreme(b: RowBuilder, op: int, m: int, members: Sequence[int], r: int) -> None:
    """r = (m is the least or greatest member), false without members."""
    if not members:
        b.merge(r, b.false)
    elif b.value(r) == 1:
        b.define_tree(m, op, members, 0)
    else:
        b.define(r, EQ, b.tree(op, members, 0), m)


# Sets


def member(b: RowBuilder, x: int, values: IntSet, r: int) -> None:
    """r = (x in values) for a constant set; values outside of the bounds of x are ignored."""
    x = b.find(x)
    low, high = b.lower[x], b.upper[x]
    inside = values & IntSet.interval(low, high)
    starts, ends = [low] + [end + 1 for _, end in inside.ranges], [start - 1 for start, _ in inside.ranges] + [high]
    outside = IntSet.of_ranges(zip(starts, ends))
    if b.value(r) is not None:
        b.define_membership(x, inside if b.value(r) == 1 else outside)
    elif len(inside.ranges) <= 1:
        b.merge(r, b.truth_of_interval(x, *inside.ranges[0]) if inside else b.false)
    elif len(outside.ranges) == 1:
        b.define(r, EQ, b.truth_of_interval(x, *outside.ranges[0]), b.false)
    elif high - low < TUNING.member_values and abs(low) < TUNING.offset_limit:
        b.define_element(r, x, [int(value in inside) for value in range(low, high + 1)], low)
    else:
        b.define_tree(r, MAX, [b.truth_of_interval(x, *pair) for pair in inside.ranges], 0)


# Element


def clamp(b: RowBuilder, i: int, n: int) -> tuple[int, int]:
    """(the truth of 1 <= i <= n, the index nearest to i)."""
    return b.truth_of_interval(i, 1, n), b.row(MIN, b.row(MAX, i, b.true), b.constant(n))


def element(b: RowBuilder, i: int, members: Sequence[int], z: int, r: int) -> None:
    """r = (i is an index, from 1, and z = members[i]); the members are variables."""
    if not members:
        return b.merge(r, b.false)
    if b.value(r) == 1:
        return define_element(b, z, i, members)
    inside, index = clamp(b, i, len(members))
    result = b.variable(-INFINITY, INFINITY)
    define_element(b, result, index, members)
    return b.define(r, MIN, inside, b.row(EQ, result, z))


def constant_element(b: RowBuilder, i: int, values: Sequence[int], z: int, r: int) -> None:
    """r = (i is an index, from 1, and z = members[i]); the members are constants."""
    element(b, i, [b.constant(value) for value in values], z, r)


def define_element(b: RowBuilder, z: int, i: int, members: Sequence[int], first: int = 1) -> None:
    """States z = members[i], where the first index is `first`: for each j, i = j implies z = members[j]; and z is
    within the hull of the members that i can reach."""
    b.restrict(i, first, first + len(members) - 1)
    i = b.find(i)
    low, high = b.lower[i], b.upper[i]
    if low == high:
        return b.merge(z, b.find(members[low - first]))
    domain = b.domains.get(i)
    indices = [j for j in range(low, high + 1) if domain is None or j in domain]
    if not indices:
        raise Infeasible
    reached = [b.find(members[j - first]) for j in indices]
    if all(b.value(v) is not None for v in reached):
        b.restrict(z, min(b.lower[v] for v in reached), max(b.lower[v] for v in reached))
        within = map(b.value, map(b.find, members[low - first : high - first + 1]))
        values = [b.lower[reached[0]] if value is None else value for value in within]  # empty if no index is possible
        b.wides.elements.append(Element(z, i, values, low))
        return b.define_element(z, i, values, low)
    b.restrict(z, min(b.lower[v] for v in reached), max(b.upper[v] for v in reached))
    for j, v in zip(indices, reached):
        b.define(b.true, LEQ, b.row(EQ, i, b.constant(j)), b.row(EQ, z, v))
    return None
