"""Cuts: inequalities that all integer points satisfy and the linear program's solution does not.

From one inequality sum a_j t_j <= b over integers t_j >= 0, and a divisor d with r = b mod d > 0, follows

    sum (floor(a_j / d) (d - r) + max(a_j mod d - r, 0)) t_j  <=  floor(b / d) (d - r)

(mixed-integer rounding, Nemhauser and Wolsey 1990; with the last sum left out, Chvátal 1973 and Gomory 1958). Columns
are counted from one of their bounds; the slacks of rows are integers too, as the rows have integer coefficients. The
rows themselves are rounded, and the rows of the tableau: combinations of rows, with multipliers that the solver gives
in floating point. These become fractions with one denominator first. All further arithmetic uses Python's integers, so
a cut is valid whatever the solver's numbers are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import gcd
from typing import NamedTuple

import numpy as np

from turbo_fzn.base.domains import INFINITY
from turbo_fzn.bounds.cuts import zero_half
from turbo_fzn.bounds.cuts.tuning import TUNING
from turbo_fzn.bounds.lp.highs import Program
from turbo_fzn.bounds.lp.relaxation import LinearRows, Separator
from turbo_fzn.bounds.lp.tuning import TUNING as LP

EXACT = 1e-7  # formula: tolerance for the solver's floating-point numbers
SAFE_PRODUCT = 2**62  # formula: beyond this products take integers of Python
HALF = [2]  # the divisor

Row = tuple[dict[int, int], int, int]


class Cut(NamedTuple):
    """The inequality sum of entries <= side, and the distance of the point from its hyperplane."""

    entries: dict[int, int]
    side: int
    distance: float


class Slack(NamedTuple):
    """coefficient * sign * (side - row x), and the value of sign * (side - row x) at the point; the row's number."""

    coefficient: int
    number: int
    row: dict[int, int]
    side: int
    sign: int
    value: float


class Cutter:
    """Makes cuts that separate the point `values` (float [n]) from the integer points of the rows within the bounds
    (int64 [n])."""

    def __init__(self, rows: LinearRows, lower: np.ndarray, upper: np.ndarray, values: np.ndarray):
        self.rows, self.values = rows, values
        self.lower, self.upper = lower.tolist(), upper.tolist()
        near_upper = (upper < INFINITY) & ((lower <= -INFINITY) | (values - lower > upper - values))
        self.from_upper = near_upper.tolist()
        self.point = values.tolist()
        self.activity = np.zeros(len(rows))
        products = rows.values * values[rows.columns]
        np.add.at(self.activity, np.repeat(np.arange(len(rows)), np.diff(rows.start)), products)

    def of_rows(self) -> Iterator[Cut]:
        """Cuts from each row with fractional columns that is tight at the point."""
        rows, values = self.rows, self.values
        fractional = np.abs(values - np.rint(values)) > TUNING.fractional
        touched = np.zeros(len(rows), bool)
        touched[np.repeat(np.arange(len(rows)), np.diff(rows.start))[fractional[rows.columns]]] = True
        for sign, side in ((1, rows.upper), (-1, rows.lower)):
            met = touched & (np.abs(side) < INFINITY) & (np.abs(self.activity - side) < EXACT * 100)
            for number in np.flatnonzero(met).tolist():
                entries, low, high = rows.row(number)
                if len(entries) <= TUNING.entries:
                    b = high if sign > 0 else -low
                    slack = Slack(1, number, entries, high if sign > 0 else low, sign, 0.0)
                    yield from self.round({column: sign * value for column, value in entries.items()}, b, [slack])

    def of_tableau(self, program: Program, most: int) -> Iterator[Cut]:
        """Cuts from the tableau's rows of fractional basic columns, the most fractional ones first."""
        positions, columns = program.basic_rows()
        distance = np.abs(self.values[columns] - np.rint(self.values[columns]))
        for place in np.argsort(-distance, kind="stable")[:most].tolist():
            if distance[place] <= TUNING.fractional:
                return
            fractions = as_fractions(program.multipliers(int(positions[place])))
            if fractions is not None:
                denominator, multipliers = fractions
                yield from self.of_combination(multipliers, [denominator])

    def of_duals(self, duals: np.ndarray, without: int) -> Iterator[Cut]:
        """Cuts from the sum of rows that proves the bound, without the rows of the objective (the column `without`)."""
        duals = np.where(np.isfinite(duals), duals, 0.0)
        duals[np.repeat(np.arange(len(self.rows)), np.diff(self.rows.start))[self.rows.columns == without]] = 0
        used = np.flatnonzero(np.abs(duals) > EXACT)
        if 0 < len(used) <= TUNING.entries:
            numerators = np.rint(duals[used] / np.abs(duals[used]).max() * TUNING.dual_units)
            multipliers = {int(row): int(value) for row, value in zip(used, numerators) if value}
            yield from self.of_combination(multipliers, [])

    def of_halves(self) -> Iterator[Cut]:
        """Cuts from sums of rows of which the half is rounded."""
        ends = np.where(self.from_upper, self.upper, self.lower)
        for multipliers in zero_half.sums_of_rows(self.rows, self.activity, ends, self.values):
            yield from self.of_combination(multipliers, HALF)

    def of_combination(self, multipliers: dict[int, int], divisors: list[int]) -> Iterator[Cut]:
        """Cuts from a sum of rows with their slacks: sum of multiplier (row x + slack) = sum of multiplier * side."""
        total = sum_of(self.rows, multipliers)
        if not 0 < len(total) <= TUNING.entries:
            return
        slacks: list[Slack] = []
        b = 0
        for number, multiplier in multipliers.items():
            low, high = int(self.rows.lower[number]), int(self.rows.upper[number])
            activity = float(self.activity[number])
            at_upper = high < INFINITY and (low <= -INFINITY or abs(high - activity) <= abs(low - activity))
            side, sign = (high, 1) if at_upper else (low, -1)
            b += multiplier * side
            if low != high:
                entries, _, _ = self.rows.row(number)
                slacks.append(Slack(sign * multiplier, number, entries, side, sign, sign * (side - activity)))
        for flip in (1, -1) if divisors != HALF else (1,):  # by 2, both signs give the same cut
            flipped = [slack._replace(coefficient=flip * slack.coefficient) for slack in slacks]
            entries = {column: flip * value for column, value in total.items()}
            yield from self.round(entries, flip * b, flipped, divisors or self.divisors(entries))

    def round(
        self, entries: dict[int, int], b: int, slacks: Sequence[Slack], divisors: list[int] | None = None
    ) -> Iterator[Cut]:
        """The deepest cut from entries x + slacks = b over the divisors, if there is a cut."""
        factors, distances = [], []  # columns counted from the nearer bound, then slacks
        for column, value in entries.items():
            end = self.upper[column] if self.from_upper[column] else self.lower[column]
            if abs(end) >= INFINITY:
                return
            b -= value * end
            factors.append(-value if self.from_upper[column] else value)
            distances.append(abs(self.point[column] - end))
        factors += [slack.coefficient for slack in slacks]
        distances += [slack.value for slack in slacks]
        best = None
        for d in divisors or self.divisors(entries):
            cut = self.round_by(d, entries, b, slacks) if is_cut_off(factors, distances, b, d) else None
            if cut is not None and (best is None or cut.distance > best.distance):
                best = cut
        if best is not None:
            yield best

    def divisors(self, entries: dict[int, int]) -> list[int]:
        """The absolute coefficients of columns that are not at a bound, the largest first, at most `divisors`."""
        found = {
            abs(value)
            for column, value in entries.items()
            if self.lower[column] + TUNING.fractional < self.point[column] < self.upper[column] - TUNING.fractional
        }
        return sorted(found - {1}, reverse=True)[: TUNING.divisors]

    def round_by(self, d: int, entries: dict[int, int], b: int, slacks: Sequence[Slack]) -> Cut | None:
        """The cut from entries x + slacks = b by the divisor d; None if `finish` rejects it."""
        r = b % d
        scale, side = d - r, b // d * (d - r)
        cut: dict[int, int] = {}
        for column, value in entries.items():
            if self.from_upper[column]:
                factor = -rounded(-value, d, r)
                side += factor * self.upper[column]
            else:
                factor = rounded(value, d, r)
                side += factor * self.lower[column]
            cut[column] = factor
        for coefficient, _, row, row_side, sign, _ in slacks:
            factor = sign * rounded(coefficient, d, r)  # times (row_side - row x)
            side -= factor * row_side
            for column, value in row.items():
                cut[column] = cut.get(column, 0) - factor * value
        assert scale > 0
        return self.finish({column: value for column, value in cut.items() if value}, side)

    def finish(self, entries: dict[int, int], side: int) -> Cut | None:
        """The cut divided by the gcd of its entries; None if it is too long, too large, or hardly violated."""
        if not entries or len(entries) > TUNING.entries:
            return None
        divisor = gcd(*entries.values())
        entries = {column: value // divisor for column, value in entries.items()}
        side //= divisor
        if max(map(abs, entries.values())) > TUNING.coefficient or abs(side) > LP.side:
            return None
        beyond = sum(value * self.point[column] for column, value in entries.items()) - side
        distance = beyond / sum(value * value for value in entries.values()) ** 0.5
        return Cut(entries, side, distance) if distance > TUNING.violation else None


def sum_of(rows: LinearRows, multipliers: dict[int, int]) -> dict[int, int]:
    """The coefficients, other than 0, of the sum of rows times multipliers. Most sums of a tableau are too long for a
    cut, so they are summed up as arrays, in 64 bits where these are enough."""
    numbers = np.fromiter(multipliers, np.int64, len(multipliers))
    lengths = np.diff(rows.start)[numbers]
    ends = np.cumsum(lengths)
    places = np.repeat(rows.start[numbers] - ends + lengths, lengths) + np.arange(int(lengths.sum()))
    columns, values = rows.columns[places], rows.values[places]
    if len(columns) == 0:
        return {}
    is_small = sum(map(abs, multipliers.values())) * int(np.abs(values).max()) < SAFE_PRODUCT
    kind = np.int64 if is_small else object
    factors = np.repeat(np.array(list(multipliers.values()), kind), lengths)
    order = np.argsort(columns, kind="stable")
    used, first = np.unique(columns[order], return_index=True)
    sums = np.add.reduceat((factors * values.astype(kind))[order], first)
    kept = np.flatnonzero(sums)
    return dict(zip(used[kept].tolist(), sums[kept].tolist()))


def is_cut_off(factors: list[int], distances: list[float], b: int, d: int) -> bool:
    """Whether t = distances violates the rounding of sum factors t <= b by d: a filter before the exact cut.

    It misses the rare cut of several rows that is violated only after `finish` has rounded its side."""
    r = b % d
    if r == 0:
        return False
    if max(map(abs, factors)) * d >= SAFE_PRODUCT:
        return True
    a = np.array(factors, np.int64)
    whole = a // d * (d - r) + np.maximum(a % d - r, 0)
    return float(whole @ np.array(distances)) > b // d * (d - r)


def rounded(value: int, d: int, r: int) -> int:
    return value // d * (d - r) + max(value % d - r, 0)


def as_fractions(multipliers: np.ndarray) -> tuple[int, dict[int, int]] | None:
    """(denominator, numerators by place) of numbers that are fractions up to rounding errors; None for others."""
    used = np.flatnonzero(np.abs(multipliers) > EXACT)
    rest = multipliers[used]
    denominator = 1
    for value in rest.tolist():
        part = value * denominator
        if abs(part - round(part)) > EXACT * denominator:
            factor = _smallest_denominator(part)
            if factor == 0 or denominator * factor > TUNING.denominator:
                return None
            denominator *= factor
    scaled = np.rint(rest * denominator)
    if len(used) == 0 or np.any(np.abs(scaled) > TUNING.coefficient):
        return None
    return denominator, {int(place): int(value) for place, value in zip(used, scaled)}


def _smallest_denominator(value: float) -> int:
    """The least denominator found by continued fractions; 0 if it would exceed `denominator`."""
    before, now = 0, 1
    rest = value - np.floor(value)
    for _ in range(12):
        if abs(value * now - round(value * now)) <= EXACT * now:
            return now
        if rest < EXACT:
            return 0
        whole = int(1 / rest)
        rest = 1 / rest - whole
        before, now = now, before + whole * now
        if now > TUNING.denominator:
            return 0
    return 0


def of_separators(separators: Iterable[Separator], values: np.ndarray) -> Iterator[Cut]:
    """Cuts from families of rows that are too large to list: the rows that the point (float [n]) violates."""
    for separator in separators:
        for entries, side, excess in separator.cuts(values):
            yield Cut(entries, side, excess / sum(value * value for value in entries.values()) ** 0.5)


def select(cuts: list[Cut], most: int) -> list[Row]:
    """The deepest cuts as rows, at most `most`, without cuts that are nearly parallel to a chosen cut."""
    used = sorted({column for cut in cuts for column in cut.entries})
    place_of = {column: place for place, column in enumerate(used)}
    directions = np.zeros((min(most, len(cuts)), len(used)))  # unit normals of the chosen cuts
    chosen: list[Row] = []
    for cut in sorted(cuts, key=lambda cut: -cut.distance):
        if len(chosen) == most:
            break
        places = [place_of[column] for column in cut.entries]
        values = np.fromiter(cut.entries.values(), float, len(places))
        values /= np.linalg.norm(values)
        if np.all(directions[: len(chosen), places] @ values < TUNING.parallel):
            directions[len(chosen), places] = values
            chosen.append((cut.entries, -INFINITY, cut.side))
    return chosen
