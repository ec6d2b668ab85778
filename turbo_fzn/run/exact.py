"""Points of a box that satisfy a model as its author reads it: every `<`, `<=` and `!=` between the printed numbers.

A box within the precision may have corners where x < y fails, and they have the fewest digits. So the linear relations
of the FlatZinc are stated once more, as they stand with the integers of the solution; and if the simple point violates
some of them, a linear program looks for a point of the box that is as far as possible inside of all, as parts of the
box's widths. It only suggests: the numbers that are printed are compared in fractions. Equations are kept where that is
possible, to the last places of the doubles; their rounding errors are not reported.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from turbo_fzn.base import floats
from turbo_fzn.bounds.lp.exact import Exact, Row
from turbo_fzn.check.reals import RealConstraints
from turbo_fzn.predicates.signature import IMPLIED, PLAIN
from turbo_fzn.predicates.table import find
from turbo_fzn.read.model import Index, Ref
from turbo_fzn.run.tuning import TUNING

LESS, AT_MOST, APART, EQUAL = "<", "<=", "!=", "="
NEGATION = {LESS: (AT_MOST, -1), AT_MOST: (LESS, -1), APART: (EQUAL, 1), EQUAL: (APART, 1)}
KINDS = {"eq": EQUAL, "ne": APART, "le": AT_MOST, "lt": LESS}
COMPARISONS = {f"float_{name}": kind for name, kind in KINDS.items()}
SUMS = {f"float_lin_{name}": kind for name, kind in KINDS.items()}
EQUATIONS = {"float_plus": (1, 1, -1), "int2float": (1, -1), "bool2float": (1, -1)}  # the coefficients of each


class Relation(NamedTuple):
    """The sum of value * variable (at a point) is less than a bound, or in another relation to it, by `kind`."""

    entries: dict[int, Fraction]
    kind: str
    bound: Fraction

    def holds(self, point: np.ndarray) -> bool:
        total = sum(value * Fraction(float(point[v])) for v, value in self.entries.items()) - self.bound
        return {LESS: total < 0, AT_MOST: total <= 0, APART: total != 0, EQUAL: total == 0}[self.kind]


class Reader:
    """The linear relations of a model at a solution. `values` maps all names to values; names with a `place` are
    variables of a point."""

    def __init__(self, reals: RealConstraints, values: Mapping[str, float], place: Mapping[str, int]):
        self.reals, self.values, self.place = reals, values, place

    def relations(self) -> Iterator[Relation]:
        """The linear relations that must hold at the solution, reified constraints by their truth."""
        for constraint, form in self.reals.constraints:
            found = find(constraint.name)
            assert found is not None, "its form was found by its name"
            args, truth = list(constraint.args), True
            if form.suffix != PLAIN:
                truth = bool(self.reals.value(self.values, args.pop()))
            stated = None if form.suffix == IMPLIED and not truth else self.terms(found.predicate.name, args)
            if stated is not None:
                yield self.relation(*stated, truth)

    def terms(self, name: str, args: list[Any]) -> tuple[str, list[tuple[float, Any]], float] | None:
        """(kind, terms, bound) of a linear constraint, or None. A term is a coefficient and its operand."""
        if name in COMPARISONS:
            return COMPARISONS[name], [(1, args[0]), (-1, args[1])], 0.0
        if name in EQUATIONS:
            return EQUAL, list(zip(EQUATIONS[name], args)), 0.0
        if name not in SUMS:
            return None
        coefficients, members = args[:2]
        if isinstance(members, Ref):
            members = self.reals.model.arrays[members].elements
        terms = list(zip(self.reals.argument(self.values, coefficients), members))
        return SUMS[name], terms, self.reals.value(self.values, args[2])

    def relation(self, kind: str, terms: list[tuple[float, Any]], bound: float, truth: bool) -> Relation:
        """A relation over the variables of a point, or its negation unless `truth`; other operands are constants."""
        sign = 1
        if not truth:
            kind, sign = NEGATION[kind]
        entries: dict[int, Fraction] = {}
        rest = Fraction(bound)
        for coefficient, operand in terms:
            if isinstance(operand, Index):
                operand = self.reals.model.arrays[operand.array].elements[operand.index - 1]
            place = self.place.get(operand, -1) if isinstance(operand, Ref) else -1
            if place < 0:
                rest -= Fraction(coefficient) * Fraction(self.reals.value(self.values, operand))
            else:
                entries[place] = entries.get(place, Fraction(0)) + Fraction(coefficient)
        return Relation({v: sign * value for v, value in entries.items() if value}, kind, sign * rest)


def missed(relations: Iterable[Relation], point: np.ndarray) -> list[Relation]:
    """The inequalities that do not hold exactly."""
    return [one for one in relations if one.kind != EQUAL and not one.holds(point)]


class Shape(NamedTuple):
    """A way to state the relations as a linear program: whether equations are kept, whether `<=` has a distance like
    `<`, whether `!=` is stated as "the later number is greater", and the part of the distance that may be lost for
    fewer digits."""

    equations: bool
    distance: bool
    rising: bool
    part: float


SHAPES = [
    Shape(*one) for one in itertools.product((True, False), (True, False), (True, False), (TUNING.kept_distance, 0.0))
]


def find_exact(
    relations: list[Relation], simple: np.ndarray, low: np.ndarray, high: np.ndarray, by_program: bool = True
) -> np.ndarray | None:
    """A point (float64 [n]) between `low` and `high` at which all inequalities hold exactly: `simple` if they hold
    there, else a point by a linear program, or None."""
    if not missed(relations, simple):
        return simple
    if not by_program or len(relations) > TUNING.relations:
        return None
    for shape in SHAPES:
        point = inner_point(relations, low, high, shape)
        if point is not None and not missed(relations, point):
            return point
    return None


def inner_point(relations: list[Relation], low: np.ndarray, high: np.ndarray, shape: Shape) -> np.ndarray | None:
    """A point of the box that a linear program suggests, as far as possible inside of all inequalities, or None.

    Its variables are the places between the two ends of each interval, from 0 to 1, and the distance."""
    from turbo_fzn.bounds.lp.highs import Outcome, solve_reals  # only here: most points need no program

    n, width = len(low), high - low
    stated = [scaled_row(one, low, width, shape) for one in relations if shape.equations or one.kind != EQUAL]
    rows = [row for row in stated if row is not None]
    cost = np.append(np.zeros(n), -1.0)
    answer = solve_reals(cost, np.zeros(n + 1), np.ones(n + 1), rows, lambda: False)
    if answer.outcome is not Outcome.OPTIMAL:
        return None
    *places, distance = np.clip(answer.values, 0, 1).tolist()
    reach = shape.part * distance * width
    for row in rows:
        if n not in row.entries:  # a row without distance may fail after any step
            reach[list(row.entries)] = 0
    point = np.clip(low + width * np.array(places), low, high)
    for v in np.flatnonzero(reach > 0).tolist():
        ends = max(point[v] - reach[v], low[v]), min(point[v] + reach[v], high[v])
        point[v] = floats.shortest(float(ends[0]), float(ends[1]))
    return point


def scaled_row(relation: Relation, low: np.ndarray, width: np.ndarray, shape: Shape) -> Row | None:
    """The row of a relation between the places, divided by the most that they can change it; None if nothing can."""
    entries = {v: value * Fraction(float(width[v])) for v, value in relation.entries.items() if width[v]}
    size = sum(map(abs, entries.values()))
    if not size:
        return None
    side = relation.bound - sum(value * Fraction(float(low[v])) for v, value in relation.entries.items())
    row: dict[int, Exact] = {v: value / size for v, value in entries.items()}
    side = min(max(side / size, Fraction(-2)), Fraction(2))  # beyond, the row holds nowhere or everywhere
    if relation.kind == EQUAL:
        return Row(row, side, side)
    distance = len(low)
    if relation.kind == APART and is_above(row, side, len(low), shape.rising):
        return Row({**row, distance: -1}, side, None)
    if relation.kind != AT_MOST or shape.distance:
        row[distance] = 1
    return Row(row, None, side)


def is_above(row: Mapping[int, Exact], side: Fraction, n: int, rising: bool) -> bool:
    """Whether a sum is above its side where the places rise with the numbers of the variables, or fall: so all sums are
    compared at one point, and do not contradict each other."""
    places = {v: Fraction(v + 1, n + 1) if rising else Fraction(n - v, n + 1) for v in row}
    return sum(value * places[v] for v, value in row.items()) > side
