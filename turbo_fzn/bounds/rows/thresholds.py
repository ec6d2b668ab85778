"""Comparisons of a variable with constants: the truths of "x <= c".

A single comparison is a row with a big M, which is weak: three comparisons of one variable may all be 1/2. Together, or
with the truths of x = v (encoding.py), they have a hull that is as easy to state. So they are kept until all
constraints have been read, and `add_thresholds` adds the rows. Where all values of x have a truth,

    [x <= c] = sum over v <= c of [x = v]

and otherwise, for thresholds c1 < c2 < .. < ck of x in low .. high (order encoding, Crawford and Baker, AAAI 1994),

    [x <= c1] <= [x <= c2] <= .. <= [x <= ck]
    x >= ck + 1 - (c1 + 1 - low) [x <= c1] - sum over i > 1 of (ci - c(i-1)) [x <= ci]
    x <= high   - (high - ck) [x <= ck]    - sum over i < k of (c(i+1) - ci) [x <= ci]
"""

from __future__ import annotations

from itertools import pairwise

from turbo_fzn.base.domains import IntSet
from turbo_fzn.bounds.lp.relaxation import FALSE, TRUE, Affine, Terms, collect, negation
from turbo_fzn.bounds.rows.linearizer import Linearizer


def at_most(m: Linearizer, terms: Terms, literal: Affine) -> None:
    """Adds literal = (sum <= 0)."""
    terms = list(terms)
    if not keep(m, terms, literal, both_ways=True):
        m.builder.imply(literal, terms, high=0)
        m.builder.imply(negation(literal), terms, low=1)


def imply_at_most(m: Linearizer, terms: Terms, literal: Affine) -> None:
    """Adds literal -> sum <= 0."""
    terms = list(terms)
    if not keep(m, terms, literal, both_ways=False):
        m.builder.imply(literal, terms, high=0)


def keep(m: Linearizer, terms: Terms, literal: Affine, both_ways: bool) -> bool:
    """Keeps a comparison of a variable with a constant between its bounds. Returns whether it has this form."""
    entries, constant = collect(terms)
    if literal.column < 0 or len(entries) != 1:
        return False
    ((column, coefficient),) = entries.items()
    column, factor, added = m.encoding.source(Affine(column, coefficient, constant))
    if m.encoding.is_boolean(column) or not m.encoding.is_finite(column):
        return False
    # factor * column + added <= 0: at most a limit, or above it
    is_below = factor > 0
    limit = -added // factor if is_below else -(-added // -factor) - 1
    if not m.builder.lower[column] <= limit < m.builder.upper[column]:
        return False
    if both_ways:
        m.thresholds.setdefault(column, {}).setdefault(limit, []).append(literal if is_below else negation(literal))
    else:
        m.late.append(lambda: _add_implied(m, literal, column, limit, is_below))
    return True


def add_thresholds(m: Linearizer) -> None:
    """Adds the rows of the comparisons kept; call it when the values with truths are known."""
    for column, literals in m.thresholds.items():
        for first, *others in literals.values():
            for other in others:
                m.builder.add([(1, first), (-1, other)], 0, 0)
        if m.encoding.has_all(Affine(column, 1, 0)):
            for limit, (literal, *_) in literals.items():
                m.builder.add([*_sum_up_to(m, column, limit), (-1, literal)], 0, 0)
        else:
            _add_chain(m, column, sorted((limit, literal) for limit, (literal, *_) in literals.items()))
    for add in m.late:
        add()


def _sum_up_to(m: Linearizer, column: int, limit: int) -> list[tuple[int, Affine]]:
    """The truths of the values up to a limit, for a column whose values all have truths."""
    values = m.encoding.all_values(Affine(column, 1, 0))
    assert values is not None
    return [(1, truth) for value, truth in values.items() if value <= limit]


def _add_chain(m: Linearizer, column: int, chain: list[tuple[int, Affine]]) -> None:
    """Adds the hull of x and its thresholds. The truths of values between two neighbouring thresholds sum up to at most
    the difference of the two."""
    x, low, high = Affine(column, 1, 0), m.builder.lower[column], m.builder.upper[column]
    limits = [low - 1, *(limit for limit, _ in chain), high]
    steps = [b - a for a, b in pairwise(limits)]  # len(literals) + 1 steps
    literals = [literal for _, literal in chain]
    m.builder.add([(1, x), *zip(steps, literals)], low=limits[-2] + 1)
    m.builder.add([(1, x), *zip(steps[1:], literals)], high=high)
    truths = m.encoding.named(x)
    ends = [FALSE, *literals, TRUE]
    for (before, up_to), (first, then) in zip(pairwise(limits), pairwise(ends)):
        between = [(1, truth) for value, truth in truths.items() if before < value <= up_to]
        m.builder.add([*between, (1, first), (-1, then)], high=0)


def imply_member(m: Linearizer, x: Affine, values: IntSet, literal: Affine) -> None:
    """Adds literal -> x in values at the end: by truths of x = v where x has them, else by the ends of the set."""
    m.late.append(lambda: _add_member(m, x, values, literal))


def _add_member(m: Linearizer, x: Affine, values: IntSet, literal: Affine) -> None:
    single = m.encoding.known(x, values.lower) if values.size == 1 else None
    if single is not None:
        m.builder.add([(1, literal), (-1, single)], high=0)
    elif x.column >= 0 and m.encoding.has_all(x):
        truths = m.encoding.all_values(x) or {}
        m.builder.add([(1, literal), *((-1, truth) for value, truth in truths.items() if value in values)], high=0)
    elif values.size:
        m.builder.imply(literal, [(1, x)], values.lower, values.upper)


def _add_implied(m: Linearizer, literal: Affine, column: int, limit: int, is_below: bool) -> None:
    """Adds literal -> x <= limit, or literal -> x > limit."""
    x = Affine(column, 1, 0)
    if m.encoding.has_all(x):
        sign, most = (-1, 0) if is_below else (1, 1)
        others = [(sign, truth) for _, truth in _sum_up_to(m, column, limit)]
        m.builder.add([(1, literal), *others], high=most)
    elif known := m.thresholds.get(column, {}).get(limit):
        m.builder.add([(1, literal), (-1, known[0] if is_below else negation(known[0]))], high=0)
    elif is_below:
        m.builder.imply(literal, [(1, x)], high=limit)
    else:
        m.builder.imply(literal, [(1, x)], low=limit + 1)
