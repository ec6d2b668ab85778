"""Cuts of a relaxation, as steps of a proof: rows and bounds, added up and rounded (bounds/cuts/cutter.py).

With columns counted from a bound and the slacks of rows, all of them integers t >= 0, a sum a t = b of rows is an
identity. For a divisor d, k = floor(b / d), r = b mod d and f = a mod d, the cut is

    M = (d - r) (k - z) + sum over f > r of (d - f) t  >=  0,    z = sum (floor(a / d) + (1 if f > r)) t.

Where no f > r, z <= k is the sum of f t >= 0, divided by d. Otherwise M is the sum of

    (d - r) (k - z >= 0)     and (d - f) (t >= 0) over f > r,            where z <= k,
    r (z - k - 1 >= 0)       and f (t >= 0) over f <= r,                 where z > k.

A 0-1 variable says which of these is the case, and a second one, that M >= 0; then M follows from the two sums.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import gcd
from typing import NamedTuple

from turbo_fzn.proof.derived import add_bound, add_constraint
from turbo_fzn.proof.steps import Steps

Entries = dict[int, int]


@dataclass(frozen=True, eq=False)
class Rounding:
    """What a cut, entries x >= least, follows from: columns (column, a, whether t is counted from the upper bound), the
    slacks of rows (name, a), and the divisor."""

    entries: Entries
    least: int
    columns: tuple[tuple[int, int, bool], ...]
    slacks: tuple[tuple[int | Rounding, int], ...]
    divisor: int


class _Item(NamedTuple):
    """a t: `add` adds factor * (t >= 0) to the words of a sum; t is entries x + constant."""

    a: int
    entries: Entries
    constant: int
    add: Callable[[list[str], int], object]


def said(entries: Entries, side: int) -> tuple:
    """What a cut says, as a key: entries <= side."""
    return tuple(entries.items()), side


_Items = list[tuple[int, _Item]]  # with their factors


class Rounder:
    """Writes the cuts of a relaxation to a proof, each where it is first used."""

    def __init__(self, rows: list[tuple[Entries, int, int]], numbers: list[int], writer: Steps):
        """`rows`: of the relaxation (entries, least value, INFINITY); `numbers`: the constraint of each."""
        self.rows, self.numbers, self.writer, self.encoding = rows, numbers, writer, writer.encoding
        self.known: dict[Rounding, int] = {}  # their constraints

    def says(self, name: int | Rounding) -> tuple[Entries, int]:
        """The entries and the least value of a row."""
        return self.rows[name][:2] if isinstance(name, int) else (name.entries, name.least)

    def number(self, name: int | Rounding) -> int:
        """The constraint of a row, which is derived where it is new."""
        if isinstance(name, int):
            return self.numbers[name]
        if name not in self.known:
            self.known[name] = self._derive(name)
            self.writer.lasting.add(self.known[name])
        return self.known[name]

    def total(self, names: list[int | Rounding], factors: Sequence[int]) -> tuple[Entries, int]:
        """The entries and the least value of a sum of rows."""
        entries: Entries = {}
        total = 0
        for name, factor in zip(names, factors):
            others, least = self.says(name)
            _add(entries, others, factor)
            total += factor * least
        return entries, total

    def words(self, names: list[int | Rounding], factors: Sequence[int]) -> list[str]:
        """The words of a sum of rows."""
        words: list[str] = []
        for name, factor in zip(names, factors):
            add_constraint(words, self.number(name), factor)
        return words

    def _derive(self, one: Rounding) -> int:
        d, items = one.divisor, [*map(self._column, one.columns), *(self._slack(*slack) for slack in one.slacks)]
        entries, b = _total(items, [item.a for item in items])
        assert not any(entries.values()), "the sum is an identity"
        k, r = divmod(b, d)
        steep = [(d - item.a % d, item) for item in items if item.a % d > r]
        flat = [(item.a % d, item) for item in items if 0 < item.a % d <= r]
        entries, constant = _total(items, [item.a // d + (item.a % d > r) for item in items])
        entries = scaled(entries, 1)
        if steep:
            number, entries = self._by_cases(entries, k - constant, (d, r), steep, flat)
        else:
            number = self.writer.line(f"pol {' '.join(_sum_of(flat))} {d} d")
        divisor = gcd(*entries.values())
        if divisor > 1:
            self.writer.line(f"pol {number} {divisor} d")
            self.writer.delete((number,))
            number = self.writer.count
        return number

    def _column(self, column: tuple[int, int, bool]) -> _Item:
        v, a, is_from_upper = column
        sign = -1 if is_from_upper else 1
        bound = self.encoding.upper[v] if is_from_upper else self.encoding.lower[v]
        side = 2 * v + is_from_upper
        return _Item(a, {v: sign}, -sign * bound, lambda words, factor: add_bound(self.encoding, words, side, factor))

    def _slack(self, name: int | Rounding, a: int) -> _Item:
        number, (entries, least) = self.number(name), self.says(name)
        return _Item(a, entries, -least, lambda words, factor: add_constraint(words, number, factor))

    def _by_cases(
        self, z: Entries, k: int, rounding: tuple[int, int], steep: _Items, flat: _Items
    ) -> tuple[int, Entries]:
        """M >= 0 from what holds where z x <= k, and where not. Returns its constraint and entries."""
        (d, r), writer = rounding, self.writer
        entries, constant = _total([item for _, item in steep], [factor for factor, _ in steep])
        _add(entries, z, r - d)
        entries, least = scaled(entries, 1), -constant - (d - r) * k
        case, truth = f"z{writer.count}", f"m{writer.count}"
        above, below, _ = self._distinguish(case, z, k + 1)
        holds, fails, weight = self._distinguish(truth, entries, least)
        parts = [
            writer.line(f"pol {' '.join(_sum_of(items, [str(side), str(factor), '*']))} {fails} + s")
            for side, factor, items in ((below, d - r, steep), (above, r, flat))
        ]
        unit = writer.line(f"rup 1 {truth} >= 1 ; ~ {parts[0]} {parts[1]}")
        number = writer.line(f"pol {holds} {unit} {weight} * +")
        writer.delete((above, below, holds, fails, *parts, unit))
        return number, entries

    def _distinguish(self, name: str, entries: Entries, least: int) -> tuple[int, int, int]:
        """Defines a 0-1 variable as the truth of entries x >= least. Returns the constraints that it and its negation
        imply, and the weight of its negation in the first one."""
        encoding, writer = self.encoding, self.writer
        degree = least - sum(a * encoding.lower[v] for v, a in entries.items())
        lowest = sum(min(a, 0) * encoding.most(v) for v, a in entries.items())
        highest = sum(max(a, 0) * encoding.most(v) for v, a in entries.items())
        weight, other = max(degree - lowest, 1), max(highest - degree + 1, 1)
        words = "".join(encoding.sum_of(v, a) for v, a in entries.items())
        against = "".join(encoding.sum_of(v, -a) for v, a in entries.items())
        above = writer.line(f"red {words}{weight} ~{name} >= {degree} ; {name} -> 0")
        below = writer.line(f"red {against}{other} {name} >= {1 - degree} ; {name} -> 1")
        return above, below, weight


def _add(entries: Entries, others: Entries, factor: int) -> None:
    for v, a in others.items():
        entries[v] = entries.get(v, 0) + factor * a


def scaled(entries: Entries, factor: int) -> Entries:
    """The entries times the factor, without zeros."""
    return {v: factor * a for v, a in entries.items() if a}


def _total(items: list[_Item], factors: list[int]) -> tuple[Entries, int]:
    """The sum of factor * t as entries x + constant."""
    entries: Entries = {}
    for item, factor in zip(items, factors):
        _add(entries, item.entries, factor)
    return entries, sum(factor * item.constant for item, factor in zip(items, factors))


def _sum_of(items: _Items, words: list[str] | None = None) -> list[str]:
    """The words of the sum of factor * (t >= 0), behind others."""
    words = [] if words is None else words
    for factor, item in items:
        item.add(words, factor)
    return words
