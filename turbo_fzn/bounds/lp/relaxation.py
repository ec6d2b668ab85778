"""The linear relaxation of a model: integer columns with bounds, and rows of integers that every solution satisfies.

A relaxation may leave out any row, so a row whose numbers are too large for the arithmetic of a linear program is
dropped, and so is a row that the bounds imply. All arithmetic here uses Python's integers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import gcd
from typing import NamedTuple, Protocol

import numpy as np

from turbo_fzn.base.domains import INFINITY
from turbo_fzn.bounds.lp.tuning import TUNING


class Affine(NamedTuple):
    """coefficient * column + constant; column -1 for a constant."""

    column: int
    coefficient: int
    constant: int


TRUE, FALSE = Affine(-1, 0, 1), Affine(-1, 0, 0)


def negation(literal: Affine) -> Affine:
    """1 - literal."""
    return Affine(literal.column, -literal.coefficient, 1 - literal.constant)


Terms = Iterable[tuple[int, Affine]]


class Separator(Protocol):
    """A family of rows that is too large to list; only violated rows are made."""

    def cuts(self, values: np.ndarray) -> Iterator[tuple[dict[int, int], int, float]]:
        """(entries, side, excess) of rows entries <= side that the point (float [n]) violates by `excess`."""
        ...


class Exclusions(Separator, Protocol):
    """Rows of literals of which at most one is 1."""

    def exclude(self, pairs: np.ndarray) -> None:
        """Takes pairs of literals (int64 [k, 2]) of which at most one is 1: twice a column, plus 1 for 1 - column."""
        ...


Meaning = Callable[[Callable[[Affine], int]], int]  # the value of a column, from the values of terms in a solution


@dataclass
class LinearRows:
    """row_lower <= A x <= row_upper, with A row by row: row i has the columns and values start[i] … start[i + 1].

    start, columns, values: int64; lower, upper: int64 [m], ±INFINITY for none.
    """

    start: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    def __len__(self) -> int:
        return len(self.lower)

    @staticmethod
    def of(rows: Sequence[tuple[dict[int, int], int, int]]) -> LinearRows:
        """Makes the rows from (coefficient of each column, lower, upper) of each row."""
        start = np.cumsum([0] + [len(entries) for entries, _, _ in rows])
        columns = np.fromiter((c for entries, _, _ in rows for c in entries), np.int64, start[-1])
        values = np.fromiter((v for entries, _, _ in rows for v in entries.values()), np.int64, start[-1])
        lower, upper = (np.array([row[side] for row in rows], np.int64) for side in (1, 2))
        return LinearRows(start, columns, values, lower, upper)

    def select(self, chosen: np.ndarray) -> LinearRows:
        """The rows where `chosen` (bool [m])."""
        lengths = np.diff(self.start)
        entries = np.repeat(chosen, lengths)
        start = np.concatenate(([0], np.cumsum(lengths[chosen])))
        return LinearRows(start, self.columns[entries], self.values[entries], self.lower[chosen], self.upper[chosen])

    def followed_by(self, more: LinearRows) -> LinearRows:
        start = np.concatenate((self.start, self.start[-1] + more.start[1:]))
        rest = ("columns", "values", "lower", "upper")
        return LinearRows(start, *(np.concatenate((getattr(self, name), getattr(more, name))) for name in rest))

    def row(self, number: int) -> tuple[dict[int, int], int, int]:
        """(coefficient of each column, lower, upper) of a row."""
        entries = slice(self.start[number], self.start[number + 1])
        pairs = zip(self.columns[entries].tolist(), self.values[entries].tolist())
        return dict(pairs), int(self.lower[number]), int(self.upper[number])


@dataclass
class Relaxation:
    """Minimise sense * objective (a column) over the integer points of the rows within the bounds.

    lower, upper: int64 [n], ±INFINITY for none. `variables` (int64 [n]) is the caller's number of each column, -1 for
    the columns that the relaxation adds: `truths`, each the truth of (column, value), and `choices`, each with a
    function that gives its value in a solution. `conflicts` makes rows for sets of literals of which at most one is 1,
    `separators` make rows of families that are too large to list. In every solution sense * objective is `residue`
    modulo `step`.
    """

    lower: np.ndarray
    upper: np.ndarray
    rows: LinearRows
    objective: int
    sense: int
    variables: np.ndarray
    truths: dict[int, tuple[int, int]]
    conflicts: Exclusions
    step: int = 1
    residue: int = 0
    separators: Sequence[Separator] = ()
    choices: Mapping[int, Meaning] = field(default_factory=dict)

    @property
    def n_columns(self) -> int:
        return len(self.lower)

    def round_up(self, bound: int) -> int:
        """The least value >= `bound` that sense * objective can have modulo `step`."""
        return bound + (self.residue - bound) % self.step


class RelaxationBuilder:
    """Collects the columns and rows of a relaxation in lists."""

    def __init__(self) -> None:
        self.lower: list[int] = []
        self.upper: list[int] = []
        self.variables: list[int] = []
        self.rows: list[tuple[dict[int, int], int, int]] = []
        self.truths: dict[int, tuple[int, int]] = {}
        self.choices: dict[int, Meaning] = {}
        self.separators: list[Separator] = []
        self.implications: list[tuple[Affine, list[tuple[int, Affine]], int, int]] = []  # `imply` of short sums

    def choice(self, meaning: Meaning) -> Affine:
        """A new 0-1 column whose value in a solution is `meaning` of the solution's values."""
        column = self.column(0, 1)
        self.choices[column] = meaning
        return Affine(column, 1, 0)

    def truth(self, column: int, value: int) -> Affine:
        """A new column for the truth of column = value."""
        literal = self.column(0, 1)
        self.truths[literal] = column, value
        return Affine(literal, 1, 0)

    def column(self, lower: int, upper: int, variable: int = -1) -> int:
        self.lower.append(lower)
        self.upper.append(upper)
        self.variables.append(variable)
        return len(self.lower) - 1

    def range(self, terms: Terms) -> tuple[int, int]:
        """The least and the greatest value of a sum within the bounds, ±INFINITY where it is unbounded."""
        entries, constant = collect(terms)
        return self.activity(entries, constant)

    def activity(self, entries: dict[int, int], constant: int = 0) -> tuple[int, int]:
        """The least and the greatest value of constant + sum of entries, ±INFINITY where it is unbounded."""
        low = high = constant
        for column, value in entries.items():
            ends = (self.lower[column], self.upper[column]) if value > 0 else (self.upper[column], self.lower[column])
            low = -INFINITY if abs(ends[0]) >= INFINITY or low == -INFINITY else low + value * ends[0]
            high = INFINITY if abs(ends[1]) >= INFINITY or high == INFINITY else high + value * ends[1]
        return max(low, -INFINITY), min(high, INFINITY)

    def add(self, terms: Terms, low: int = -INFINITY, high: int = INFINITY) -> None:
        """Adds low <= sum <= high without the sides that the bounds imply, divided by the coefficients' common
        divisor."""
        entries, constant = collect(terms)
        if not entries:
            return
        least, greatest = self.activity(entries)
        low, high = low if low == -INFINITY else low - constant, high if high == INFINITY else high - constant
        low, high = -INFINITY if least >= low else low, INFINITY if greatest <= high else high
        divisor = gcd(*entries.values())
        if divisor > 1:
            entries = {column: value // divisor for column, value in entries.items()}
            low = low if low == -INFINITY else -(-low // divisor)
            high = high if high == INFINITY else high // divisor
        if low > -INFINITY or high < INFINITY:
            self.keep(entries, low, high)

    def keep(self, entries: dict[int, int], low: int, high: int) -> None:
        sides = [low] * (low > -INFINITY) + [high] * (high < INFINITY)
        if max(map(abs, entries.values())) <= TUNING.coefficient and max(map(abs, sides)) <= TUNING.side:
            self.rows.append((entries, low, high))

    def imply(self, literal: Affine, terms: Terms, low: int = -INFINITY, high: int = INFINITY) -> None:
        """Adds literal = 1 -> low <= sum <= high as rows that the bounds imply where the literal is 0 ("big M").

        Where the sum must be at its least or greatest value, each of its terms must: a row for each term is stronger
        than a row for the sum.
        """
        if literal.column < 0:
            return self.add(terms, low, high) if literal.constant else None
        terms = list(terms)
        if len(terms) <= TUNING.short_terms:
            self.implications.append((literal, terms, low, high))
        least, greatest = self.range(terms)
        if low > max(least, -INFINITY):
            if low == greatest and len(terms) > 1:
                self.imply_each(literal, terms, 1)
            elif least > -INFINITY:
                self.add([*terms, (least - low, literal)], low=least)
        if high < greatest < INFINITY:
            if high == least and len(terms) > 1:
                self.imply_each(literal, terms, -1)
            else:
                self.add([*terms, (greatest - high, literal)], high=greatest)
        return None

    def imply_each(self, literal: Affine, terms: Terms, sign: int) -> None:
        """Adds literal = 1 -> sign * sum is at its greatest value, as a row for each term."""
        entries, _ = collect(terms)
        for column, value in entries.items():
            end = self.upper[column] if sign * value > 0 else self.lower[column]
            self.imply(literal, [(1, Affine(column, 1, 0))], end, end)

    def finish(self, objective: int, sense: int, conflicts: Exclusions) -> Relaxation:
        step, residue = self.lattice(objective)
        return Relaxation(
            np.array(self.lower, np.int64),
            np.array(self.upper, np.int64),
            LinearRows.of(self.rows),
            objective,
            sense,
            np.array(self.variables, np.int64),
            self.truths,
            conflicts,
            step,
            sense * residue % step,
            self.separators,
            self.choices,
        )

    def lattice(self, objective: int) -> tuple[int, int]:
        """(step, residue) of the objective, from the equation ±objective + step * integers = k of largest step."""
        best = 1, 0
        for entries, low, high in self.rows:
            if low == high and abs(entries.get(objective, 0)) == 1:
                divisor = gcd(*(value for column, value in entries.items() if column != objective))
                if divisor > best[0]:
                    best = divisor, entries[objective] * low % divisor
        return best


def collect(terms: Terms) -> tuple[dict[int, int], int]:
    """(coefficient of each column, constant) of a sum of factor * affine."""
    entries: dict[int, int] = {}
    constant = 0
    for factor, (column, coefficient, added) in terms:
        constant += factor * added
        if column >= 0 and coefficient:
            entries[column] = entries.get(column, 0) + factor * coefficient
    return {column: value for column, value in entries.items() if value}, constant
