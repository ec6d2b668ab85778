"""The rows of arithmetic, extrema and arrays: linear hulls where they are small, else bounds. See linearise.FORMS.

Products after McCormick (1976). The rows hold for the integers within the columns' bounds; most need finite bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import floor
from typing import Any, NamedTuple

import numpy as np

from turbo_fzn.base.domains import INFINITY
from turbo_fzn.bounds.lp.relaxation import Affine, collect
from turbo_fzn.bounds.lp.tuning import TUNING as LP
from turbo_fzn.bounds.rows.linearizer import Linearizer
from turbo_fzn.bounds.rows.tuning import TUNING


def finite(low: int, high: int) -> bool:
    return low > -INFINITY and high < INFINITY


def plus(m: Linearizer, x: Any, y: Any, z: Any) -> None:
    m.builder.add([(1, m.term(x)), (1, m.term(y)), (-1, m.term(z))], 0, 0)


def times(m: Linearizer, x: Any, y: Any, z: Any) -> None:
    """Adds the four planes of z = x y: (x - a)(y - b) has a known sign where a and b are bounds of x and y."""
    first, second, product = m.term(x), m.term(y), m.term(z)
    if first == second:
        return square(m, first, product)
    (low_x, high_x), (low_y, high_y) = m.builder.range([(1, first)]), m.builder.range([(1, second)])
    if finite(low_x, high_x) and finite(low_y, high_y):
        for a, b in ((low_x, low_y), (high_x, high_y)):  # product >= b x + a y - a b
            m.builder.add([(1, product), (-b, first), (-a, second)], low=-a * b)
        for a, b in ((low_x, high_y), (high_x, low_y)):
            m.builder.add([(1, product), (-b, first), (-a, second)], high=-a * b)
    return None


def square(m: Linearizer, x: Affine, product: Affine) -> None:
    """Adds rows of product = x x: below the secant, and above lines through the squares of neighbouring integers,
    (x - a)(x - a - 1) >= 0, at both ends and in the middle."""
    m.builder.separators.append(_Square(x, product))
    low, high = m.builder.range([(1, x)])
    if finite(low, high):
        m.builder.add([(1, product), (-low - high, x)], high=-low * high)
        for a in {low, high - 1, (low + high) // 2}:
            m.builder.add([(1, product), (-2 * a - 1, x)], low=-a * (a + 1))


def power(m: Linearizer, x: Any, exponent: Any, z: Any) -> None:
    if m.term(exponent) == Affine(-1, 0, 2):
        square(m, m.term(x), m.term(z))


class _Square(NamedTuple):
    """The rows of product = x x: above the line through the squares of any two neighbouring integers."""

    x: Affine
    product: Affine

    def cuts(self, values: np.ndarray) -> Iterator[tuple[dict[int, int], int, float]]:
        """(entries, side, excess) of the line at the integers around x, if the point (float [n]) violates it."""
        below = floor(_value_at(self.x, values))
        if abs(below) >= TUNING.root:
            return
        entries, constant = collect([(2 * below + 1, self.x), (-1, self.product)])
        side = below * (below + 1) - constant
        excess = sum(factor * values[column] for column, factor in entries.items()) - side
        if entries and excess > TUNING.excess and abs(side) <= LP.side:
            yield entries, side, float(excess)


def _value_at(term: Affine, values: np.ndarray) -> float:
    return term.constant + (term.coefficient * float(values[term.column]) if term.column >= 0 else 0)


def maximum(m: Linearizer, members: Sequence[Affine], result: Affine, sign: int = 1) -> None:
    """Adds the rows of a maximum (of a minimum with sign -1): the result is at least each member, and at most the
    greatest lower bound plus the amounts by which members exceed their lower bounds."""
    members = list(dict.fromkeys(members))
    for member in members:
        m.builder.add([(sign, result), (-sign, member)], low=0)
    lows = [m.builder.range([(sign, member)])[0] for member in members]
    if members and min(lows) > -INFINITY:
        floor = max(lows)
        raised = [(member, low) for member, low in zip(members, lows) if m.builder.range([(sign, member)])[1] > floor]
        terms = [(sign, result), *((-sign, member) for member, _ in raised)]
        m.builder.add(terms, high=floor - sum(low for _, low in raised))


def int_max(m: Linearizer, x: Any, y: Any, z: Any) -> None:
    maximum(m, [m.term(x), m.term(y)], m.term(z))


def int_min(m: Linearizer, x: Any, y: Any, z: Any) -> None:
    maximum(m, [m.term(x), m.term(y)], m.term(z), -1)


def array_maximum(m: Linearizer, z: Any, members: Any) -> None:
    maximum(m, m.array(members), m.term(z))


def array_minimum(m: Linearizer, z: Any, members: Any) -> None:
    maximum(m, m.array(members), m.term(z), -1)


def absolute(m: Linearizer, x: Any, y: Any) -> None:
    """Adds the rows of y = |x|: above both halves, and below the line from end to end."""
    inner, outer = m.term(x), m.term(y)
    low, high = m.builder.range([(1, inner)])
    if low >= 0 or high <= 0:
        return m.builder.add([(1, outer), (-1 if low >= 0 else 1, inner)], 0, 0)
    m.builder.add([(1, outer), (-1, inner)], low=0)
    m.builder.add([(1, outer), (1, inner)], low=0)
    if finite(low, high):
        m.builder.add([(high - low, outer), (-high - low, inner)], high=-2 * low * high)
    return None


def divide(m: Linearizer, x: Any, y: Any, z: Any) -> None:
    """Adds 0 <= x - d z <= d - 1 for z = x div d, where d is a positive constant and x is not negative."""
    number, divisor, quotient = m.term(x), m.term(y), m.term(z)
    if divisor.column < 0 < divisor.constant and m.builder.range([(1, number)])[0] >= 0:
        m.builder.add([(1, number), (-divisor.constant, quotient)], 0, divisor.constant - 1)


def modulo(m: Linearizer, x: Any, y: Any, z: Any) -> None:
    """Adds x mod y <= x, where x is not negative."""
    number, rest = m.term(x), m.term(z)
    if m.builder.range([(1, number)])[0] >= 0:
        m.builder.add([(1, number), (-1, rest)], low=0)


def element(m: Linearizer, i: Any, members: Any, z: Any) -> None:
    """Adds the rows of z = members[i]: a sum of constant members times the truths of i, or an implication for each
    index where members are variables."""
    index, array, result = m.term(i), m.array(members), m.term(z)
    literals = m.encoding.all_values(index)
    if literals is None:
        return
    chosen = [(literal, array[value - 1]) for value, literal in literals.items() if 1 <= value <= len(array)]
    if all(member.column < 0 for _, member in chosen):
        terms = [(member.constant, literal) for literal, member in chosen]
        m.builder.add([*terms, (-1, result)], 0, 0)
        if m.is_named(result) or m.is_small(result):
            _name_values(m, index, chosen, result)
    elif len(chosen) <= TUNING.choices:
        choose(m, chosen, result)
        if index.column >= 0:
            m.reads.setdefault(tuple(array), {})[index.column] = result


def _name_values(m: Linearizer, index: Affine, chosen: list[tuple[Affine, Affine]], result: Affine) -> None:
    """Adds the rows "[z = v] is the sum of [i = j] over the indices j where v stands"."""
    if m.is_small(result):
        m.encoding.all_values(result)
    by_value: dict[int, list[Affine]] = {}
    for literal, member in chosen:
        by_value.setdefault(member.constant, []).append(literal)
    m.tables.setdefault(index.column, []).append((result, by_value))
    for value, literals in by_value.items():
        known = m.encoding.known(result, value)
        if known is not None:
            m.builder.add([*((1, literal) for literal in literals), (-1, known)], 0, 0)


def choose(m: Linearizer, chosen: list[tuple[Affine, Affine]], result: Affine) -> None:
    """Adds the implications "where a literal is 1, the result is its member", and bounds of the result by the chosen
    member's bounds: z >= sum of literal * lower bound, and z <= sum of literal * upper bound."""
    ranges = [m.builder.range([(1, member)]) for _, member in chosen]
    for side, sign in ((0, 1), (1, -1)):
        if all(abs(ends[side]) < INFINITY for ends in ranges):
            terms = [(-sign * ends[side], literal) for ends, (literal, _) in zip(ranges, chosen)]
            m.builder.add([(sign, result), *terms], low=0)
    for literal, member in chosen:
        m.builder.imply(literal, [(1, result), (-1, member)], 0, 0)


FORMS: dict[str, Callable[..., Any]] = {
    "int_plus": plus,
    "int_times": times,
    "int_pow": power,
    "int_max": int_max,
    "int_min": int_min,
    "array_int_maximum": array_maximum,
    "array_int_minimum": array_minimum,
    "int_abs": absolute,
    "int_div": divide,
    "int_mod": modulo,
    "array_int_element": element,
    "array_bool_element": element,
    "array_var_int_element": element,
    "array_var_bool_element": element,
}
