"""Bounds of real variables by linear programs, for the solutions that are better than the best known: the coefficients
of a line through points have no bounds without a solution, and intervals find none with it.

Each far variable is minimised and maximised over the rows of the box. The sum of rows with the duals of the program is
formed in fractions, and whatever the duals are, it is an inequality that holds. Rounding errors in the coefficients of
variables without bounds count as an error, and so do factors that are intervals; both are bounded as in elimination.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from turbo_fzn.base import floats
from turbo_fzn.bounds.lp.exact import Row
from turbo_fzn.bounds.lp.highs import Answer, Outcome, solve_reals
from turbo_fzn.bounds.reals.certificate import DENOMINATOR, is_refuted, limits, multipliers
from turbo_fzn.bounds.reals.elimination import Store, Sum, far, largest_of, nearly_linear
from turbo_fzn.bounds.reals.envelopes import Box, Envelopes, real_variables
from turbo_fzn.bounds.reals.tuning import TUNING
from turbo_fzn.tnf.language import TNF

Errors = dict[int, Fraction]


class Loose(NamedTuple):
    """A row, which holds with an error of at most the sum of errors[v] * |v|."""

    row: Row
    errors: Errors


class Least(NamedTuple):
    """A lower bound of a sum, with an error of at most the sum of open[v] * |v|, of variables without bounds."""

    value: Fraction
    open: Errors


def enclose(tnf: TNF, best: int, is_over: Callable[[], bool]) -> Store:
    """Bounds of the solutions with a sense * objective below `best`."""
    return Enclosure(tnf, with_room(tnf, best), is_over).bounds()


def with_room(tnf: TNF, best: int) -> Store:
    """The box of the solutions that are about as good. If only better solutions were allowed, a program might be
    infeasible and have no optimum."""
    if real_variables(tnf)[tnf.objective]:
        value = floats.number(best)
        best = floats.above(Fraction(value) + abs(Fraction(value)) + 1) if math.isfinite(value) else best
    else:
        best += abs(best) + 1
    lower, upper = tnf.lower.copy(), tnf.upper.copy()
    if tnf.sense > 0:
        upper[tnf.objective] = min(best, int(upper[tnf.objective]))
    else:
        lower[tnf.objective] = max(-best, int(lower[tnf.objective]))
    return lower, upper


class Enclosure:
    """The linear programs of a box (the bounds of all variables of a TNF)."""

    def __init__(self, tnf: TNF, store: Store, is_over: Callable[[], bool]):
        self.tnf, self.store, self.is_over = tnf, store, is_over
        self.box = box = Box(tnf, *store)
        self.rows = [Loose(row, {}) for row in Envelopes(tnf).rows(box)]
        self.rows += [Loose(Row({**one.entries}, 0, 0), one.errors) for one in nearly_linear(tnf, box)]

    def best_point(self) -> np.ndarray:
        """A point (float64 [n]) with the best objective; empty where the program has no optimum."""
        return self.solve(self.tnf.objective, self.tnf.sense).values

    def is_empty(self) -> bool:
        """Whether the rows are proved to have no solution in the box."""
        answer = self.solve(0, 0)
        exact = [loose.row for loose in self.rows if not loose.errors]
        duals = answer.duals[[not loose.errors for loose in self.rows]] if len(answer.duals) else answer.duals
        return answer.outcome is Outcome.INFEASIBLE and is_refuted(exact, self.box, duals)

    def bounds(self) -> Store:
        """The box, narrowed for its far variables where there are few."""
        lower, upper = self.store[0].copy(), self.store[1].copy()
        chosen = np.flatnonzero(far(self.box)).tolist()
        if len(chosen) <= TUNING.enclosed:
            for v, (low, high) in closed({v: (self.least(v, 1), self.least(v, -1)) for v in chosen}).items():
                lower[v] = lower[v] if low is None else max(lower[v], floats.below(low))
                upper[v] = upper[v] if high is None else min(upper[v], floats.above(high))
        return lower, upper

    def least(self, v: int, sign: int) -> Least | None:
        """A lower bound of sign * v, None where the program has no optimum."""
        answer = self.solve(v, sign)
        return combine(self.rows, {v: sign}, self.box, answer.duals) if answer.outcome is Outcome.OPTIMAL else None

    def solve(self, v: int, sign: int) -> Answer:
        cost = np.zeros(self.tnf.n_vars)
        cost[v] = sign
        rows = [loose.row for loose in self.rows]
        return solve_reals(cost, *limits(self.box), rows, self.is_over)


def closed(sides: dict[int, tuple[Least | None, Least | None]]) -> dict[int, tuple[Fraction | None, Fraction | None]]:
    """The bounds of variables, from lower bounds of each and of its negative."""
    sums = {}
    for v, (low, high) in sides.items():
        if low is not None and high is not None:
            names = low.open.keys() | high.open.keys()
            errors = {u: max(one.open.get(u, Fraction(0)) for one in (low, high)) for u in names}
            sums[v] = Sum(low.value, -high.value, Fraction(0), errors)
    largest = largest_of(sums)

    def end(one: Least | None) -> Fraction | None:
        if one is None or not one.open.keys() <= largest.keys():
            return None
        return one.value - sum(value * largest[v] for v, value in one.open.items())

    ends = {v: (end(low), end(high)) for v, (low, high) in sides.items()}
    return {v: (low, None if high is None else -high) for v, (low, high) in ends.items()}


def combine(rows: Sequence[Loose], cost: dict[int, int], box: Box, duals: np.ndarray) -> Least:
    """What the rows with these multipliers imply of `cost` x in the box; right for any multipliers."""
    total = Fraction(0)
    errors: dict[int, Fraction] = {}
    reduced = {v: Fraction(value) for v, value in cost.items()}
    for loose, number in zip(rows, multipliers(duals)):
        factor = Fraction(number, DENOMINATOR)
        side = loose.row.low if factor > 0 else loose.row.high
        if factor and side is not None:
            total += factor * side
            for v, value in loose.row.entries.items():
                reduced[v] = reduced.get(v, Fraction(0)) - factor * value
            for v, value in loose.errors.items():
                errors[v] = errors.get(v, Fraction(0)) + abs(factor) * value
    open_errors: Errors = {}
    for v, value in reduced.items():
        end = float(box.lower[v] if value > 0 else box.upper[v])
        if math.isfinite(end):
            total += value * Fraction(end)
        elif value:
            open_errors[v] = abs(value)
    for v, value in errors.items():
        size = max(-float(box.lower[v]), float(box.upper[v]))
        if math.isfinite(size):
            total -= value * Fraction(size)
        else:
            open_errors[v] = open_errors.get(v, Fraction(0)) + value
    return Least(total, open_errors)
