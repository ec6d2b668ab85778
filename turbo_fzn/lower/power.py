"""Lowering of x^y = z.

No power exceeds the bounds of z, so each exponent has a largest base. A power that cannot be stored is a contradiction
on a side where z is bounded, but not where z is unbounded: there z is the sum of the power and a number beyond all
bounds of a store, at which the engine gives up completeness.

A fixed exponent becomes repeated squaring, whose intermediate powers are never larger than the result. Any other
exponent is first made small: for y > 62 only |x| <= 1 is possible, where only the parity of y matters, and for y < 0
(where x^y is `1 div x^|y|`, false for x = 0) again only the parity matters. Then z is an element of the powers with all
remaining exponents. Powers that are not selected must not overflow, so the base of each is cut to the largest.
"""

from __future__ import annotations

from turbo_fzn.base.domains import INFINITY
from turbo_fzn.base.errors import UnsupportedError
from turbo_fzn.lower.builder import RowBuilder
from turbo_fzn.lower.constraints_int import define_element
from turbo_fzn.tnf.language import ADD, EQ, LEQ, MAX, MIN, MOD, MUL

LARGEST_EXPONENT = 62  # formula: the largest power of two that fits into 64 bits


def power(b: RowBuilder, x: int, y: int, z: int, r: int) -> None:
    """States x^y = z; r must be true."""
    if b.value(r) != 1:
        raise UnsupportedError("the reified form of int_pow")
    exponent, most = b.value(y), max(-b.lower[z], b.upper[z], 0)
    if exponent is not None:
        if exponent < 0:
            b.define(b.false, EQ, x, b.false)
        if most < INFINITY:
            limit = _largest_base(exponent, most)
            b.restrict(x, -limit, limit)
        return b.merge(z, _fixed_power(b, x, exponent))
    small = _small_exponent(b, y)
    low, high = b.lower[small], b.upper[small]
    if low < 0:
        b.define(b.false, MIN, b.row(LEQ, small, b.constant(-1)), b.row(EQ, x, b.false))
    fits, powers = b.true, []
    for k in range(low, high + 1):
        limit = _largest_base(k, min(most, INFINITY - 1))
        if limit < max(-b.lower[x], b.upper[x]):
            fits = b.row(MIN, fits, b.row(LEQ, b.row(EQ, small, b.constant(k)), b.truth_of_interval(x, -limit, limit)))
        powers.append(_fixed_power(b, cut(b, x, limit), k))
    index = b.row(ADD, small, b.constant(1 - low))
    if most < INFINITY or fits == b.true:
        b.merge(fits, b.true)
        return define_element(b, z, index, powers)
    selected = b.variable(-INFINITY, INFINITY)
    define_element(b, selected, index, powers)
    return b.define(z, ADD, selected, _number_beyond(b, b.negation(fits), _is_negative(b, x, small), z))


def _number_beyond(b: RowBuilder, beyond: int, negative: int, z: int) -> int:
    """A variable that is 2^62 with the sign of the power where that cannot be stored, else 0; always 0 on a side where
    z is bounded."""
    above, below = b.row(MIN, beyond, b.negation(negative)), b.row(MIN, beyond, negative)
    if b.upper[z] < INFINITY:
        b.merge(above, b.false)
    if b.lower[z] > -INFINITY:
        b.merge(below, b.false)
    half = b.row(
        ADD,
        b.row(MUL, b.find(above), b.constant(INFINITY // 2)),
        b.row(MUL, b.find(below), b.constant(-INFINITY // 2)),
    )
    return b.row(ADD, half, half)


def _is_negative(b: RowBuilder, x: int, exponent: int) -> int:
    """The truth of x^exponent < 0."""
    odd = b.negation(b.row(EQ, b.row(MOD, exponent, b.constant(2)), b.false))
    return b.row(MIN, b.row(LEQ, x, b.constant(-1)), odd)


def _small_exponent(b: RowBuilder, y: int) -> int:
    """A variable in -2..64 that is y, or an exponent with the same powers; y mod 2 has the sign of y."""
    if b.upper[y] > LARGEST_EXPONENT + 2:
        parity = b.row(MOD, b.row(ADD, y, b.true), b.constant(2))
        y = b.row(MIN, y, b.row(ADD, parity, b.constant(LARGEST_EXPONENT + 1)))
    if b.lower[y] < -2:
        parity = b.row(MOD, y, b.constant(2))
        y = b.row(MAX, y, b.row(ADD, b.negative(parity), b.constant(-2)))
    return y


def _largest_base(exponent: int, most: int) -> int:
    """The largest n with n^exponent <= most; most >= 0."""
    if exponent <= 1:
        return INFINITY
    if exponent > LARGEST_EXPONENT:
        return min(most, 1)
    n = int(most ** (1 / exponent)) + 2
    while n**exponent > most:
        n -= 1
    return n


def cut(b: RowBuilder, x: int, limit: int) -> int:
    """x, moved into [-limit, limit]."""
    if b.upper[x] > limit:
        x = b.row(MIN, x, b.constant(limit))
    return b.row(MAX, x, b.constant(-limit)) if b.lower[x] < -limit else x


def power_fixed(b: RowBuilder, x: int, exponent: int, z: int, r: int) -> None:
    """States x^exponent = z for an integer as the exponent; r must be true."""
    power(b, x, b.constant(exponent), z, r)


def _fixed_power(b: RowBuilder, x: int, exponent: int) -> int:
    """A variable that equals x^exponent; for a negative exponent 0 replaces the undefined power of 0."""
    if exponent < 0:
        values = [0, -1 if exponent % 2 else 1, 0, 1, 0]
        result = b.variable(-1, 1)
        b.define_element(result, cut(b, x, 2), values, -2)
        return result
    result = b.true
    while exponent:
        if exponent % 2:
            result = x if result == b.true else b.row(MUL, x, result)
        exponent //= 2
        x = b.row(MUL, x, x) if exponent else x
    return result
