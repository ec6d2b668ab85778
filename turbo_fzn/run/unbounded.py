"""Objectives without a bound: a proof that they are unbounded, or the end of a search that only improves step by step.

If the root has no bound of the objective in its good direction, a *ray* from a solution is searched: a direction of
some variables, including the objective, along which every row holds, however far. It is a recession direction, as in
linear programs, checked row by row. A sum holds if the directions add up, a product if one factor is constant, a
comparison if the sides do not come closer, a minimum if the smaller operand remains the smaller. Moving variables must
have no bound in their direction. Directions are rational numbers, and violated rows are repaired one by one, by moving
another variable.

A ray is a proof for the TNF. Before it is used, points far out on it (2^200 steps) are checked by the checker, which
evaluates the original constraints and uses no rows.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Any

import numpy as np

from turbo_fzn.base.domains import INFINITY
from turbo_fzn.check.checker import Checker
from turbo_fzn.engine.contract import Found
from turbo_fzn.run.judge import Judge
from turbo_fzn.run.tuning import TUNING
from turbo_fzn.tnf.language import ADD, ELEMENT, EQ, LEQ, MAX, MIN, MUL, TNF

log = logging.getLogger("turbo_fzn")

FAR_STEPS = (0, 1, 2**40, 2**70, 2**200)  # formula: beyond all constants of a model
# Steps not taken back towards 0, where bounds that depend on others may be violated.
KEPT_STEPS = (0, 2**20, 2**40, 2**50)  # formula: spread over the magnitudes of a store
LEAP = 2**20  # formula: steps after which unused truth values do not change any more
LARGEST_FLOAT = 1.7e308  # formula: nearly the largest double
Direction = dict[int, Fraction]  # step of each moving variable


class Horizon:
    """The state of an objective without a bound at the root. `proved`: it is unbounded. `given_up`: the objective has
    improved so often that the search would never end."""

    def __init__(self, judge: Judge):
        self.judge, self.tnf = judge, judge.prepared.tnf
        self.proved = self.given_up = False
        self.n_told = self.n_found = 0
        z = np.where(self.tnf.op == ELEMENT, self.tnf.y, self.tnf.z)
        self.is_free = not any(np.any(side == self.tnf.objective) for side in (self.tnf.x, self.tnf.y, z))
        log.warning("the root gives the objective no bound: if the search finds none either, there is no optimum")

    @property
    def is_over(self) -> bool:
        return self.proved or self.given_up

    def fixed(self) -> TNF:
        """The model with the objective, which occurs in no row, fixed to a number."""
        tnf, at = self.tnf, self.tnf.objective
        lower, upper = tnf.lower.copy(), tnf.upper.copy()
        lower[at] = upper[at] = min(max(0, int(lower[at])), int(upper[at]))
        return replace(tnf, lower=lower, upper=upper)

    def count(self, n_found: int) -> None:
        """Counts the solutions that have arrived, and gives up after too many."""
        self.n_found += n_found
        if self.n_found >= TUNING.ray_solutions and not self.is_over:
            self.given_up = True
            log.warning("the search is given up after %d solutions, each better than the one before", self.n_found)

    def see(self, found: Found) -> None:
        """Searches a ray from a solution that holds; from many solutions only at growing intervals."""
        self.n_told += 1
        if self.is_over or self.n_told & (self.n_told - 1):
            return
        if self.tnf.floats is not None:
            self.proved = self.is_free and self.holds_far_out(found)
        else:
            values = found.values.tolist()
            rays = Rays(self.tnf, values)
            ray = rays.find()
            self.proved = ray is not None and any(self.holds_on(ray, start) for start in rays.starts(ray))
        if self.proved:
            log.info("from solution %d on the objective improves for ever", self.n_told)

    @cached_property
    def checker(self) -> Checker | None:
        model = self.judge.prepared.model
        return self.judge.checker or (None if model is None else Checker(model))

    def holds_on(self, ray: Mapping[int, int], values: list[int]) -> bool:
        """Whether the checker accepts points of the ray as solutions. After LEAP they are on a line in the original
        model, too."""
        checker, prepared = self.checker, self.judge.prepared
        if checker is None or max(map(abs, ray.values())) * 2 * LEAP >= INFINITY // 2:
            return False
        line = [[v + steps * ray.get(i, 0) for i, v in enumerate(values)] for steps in (LEAP, LEAP + 1, LEAP + 2)]
        first, second, third = (prepared.original(np.array(point, np.int64)).tolist() for point in line)
        step = [b - a for a, b in zip(first, second)]
        if step != [b - a for a, b in zip(second, third)]:
            return False
        for steps in FAR_STEPS:
            point = {name: first[at] + steps * step[at] for name, at in prepared.origin.items()}
            if checker.violation(point) is not None:
                return False
        return True

    def holds_far_out(self, found: Found) -> bool:
        """Whether the checker accepts far points of an objective that occurs in no row, in a model with real
        variables."""
        checker = self.checker
        if checker is None or self.judge.checker is None:
            return False
        moved = found.values.copy()
        at = self.tnf.objective
        moved[[at, at + self.tnf.n_vars]] -= self.tnf.sense  # one code, or 1
        one, other = self.judge.assignment(found), self.judge.assignment(found._replace(values=moved))
        end = -self.tnf.sense * (LARGEST_FLOAT if self.tnf.has_real_objective else 2**200)
        names = [name for name in one if one[name] != other[name]]
        point: dict[str, Any] = {**one, **dict.fromkeys(names, end)}
        return bool(names) and checker.violation(point) is None and checker.undecided(point) is None


def far(values: list[int]) -> bool:
    return max(map(abs, values)) >= INFINITY // 4


class Rays:
    """The rays from a solution (`values` of a TNF of integers)."""

    def __init__(self, tnf: TNF, values: list[int]):
        self.tnf, self.values = tnf, values
        self.checks = TUNING.ray_checks
        self.rows: dict[int, list[tuple[int, int, int, int]]] = {}

    def find(self) -> dict[int, int] | None:
        """A ray that improves the objective, as the step of each moving variable, or None."""
        first = {self.tnf.objective: Fraction(-self.tnf.sense)}
        direction = self.extend(first) if all(self.may_move(*one) for one in first.items()) else None
        if direction is None:
            return None
        scale = lcm(*(step.denominator for step in direction.values()))
        return {v: int(step * scale) for v, step in direction.items() if step}

    def starts(self, ray: Mapping[int, int]) -> Iterator[list[int]]:
        """Solutions from which the ray may be followed: this solution, and others back along the ray, in case the
        engine has begun near its largest numbers (a GPU's blocks probe them all at once)."""
        if not far(self.values):
            yield self.values
            return
        for rest in KEPT_STEPS:
            steps = self.most_steps_back(ray) - rest
            start = [v - steps * ray.get(i, 0) for i, v in enumerate(self.values)]
            if not far(start) and self.leads_on(ray, start):
                yield start

    def most_steps_back(self, ray: Mapping[int, int]) -> int:
        """The number of steps back until a variable is at its other bound, or, if it has none and moves away from 0, at
        0."""
        limits = []
        for v, step in ray.items():
            end = (self.tnf.lower if step > 0 else self.tnf.upper)[v].item()
            if abs(end) < INFINITY:
                limits.append((self.values[v] - end) // step)
            elif self.values[v] * step > 0:
                limits.append(self.values[v] // step)
        return min(limits, default=0)

    def leads_on(self, ray: Mapping[int, int], start: list[int]) -> bool:
        """Whether all rows with moving variables hold along the ray from `start`, too; the others hold as here."""
        there = Rays(self.tnf, start)
        direction = {v: Fraction(step) for v, step in ray.items()}
        return all(there.is_kept(row, direction) for v in ray for row in self.rows_of(v))

    def rows_of(self, v: int) -> list[tuple[int, int, int, int]]:
        """(op, x, y, z) of the rows that have variable v; for ELEMENT z is y."""
        if v not in self.rows:
            tnf = self.tnf
            z = np.where(tnf.op == ELEMENT, tnf.y, tnf.z)
            at = np.flatnonzero((tnf.x == v) | (tnf.y == v) | (z == v))
            columns = (column[at].tolist() for column in (tnf.op, tnf.x, tnf.y, z))
            self.rows[v] = list(zip(*columns))
        return self.rows[v]

    def extend(self, direction: Direction) -> Direction | None:
        """A direction with these steps along which all rows hold, or None."""
        for v in direction:
            rows = self.rows_of(v)
            self.checks -= len(rows) + 1
            looked_at = len(self.rows) * self.tnf.n_rows
            if self.checks < 0 or looked_at > TUNING.ray_rows or len(direction) > TUNING.moving:
                return None
            broken = next((row for row in rows if not self.is_kept(row, direction)), None)
            if broken is not None:
                extended = (self.extend(more) for more in self.mended(broken, direction))
                return next((found for found in extended if found is not None), None)
        return direction

    def mended(self, row: tuple[int, int, int, int], direction: Direction) -> Iterator[Direction]:
        """Extensions of a direction by one moving variable, along which the row holds."""
        op, x, y, z = row
        steps = [direction.get(v, Fraction(0)) for v in (x, y, z)]
        for v in dict.fromkeys((z, y, x)):
            if v not in direction:
                for step in dict.fromkeys(self.steps_of(v, row, steps)):
                    more = {**direction, v: step}
                    if step and self.may_move(v, step) and self.is_kept(row, more):
                        yield more

    def steps_of(self, v: int, row: tuple[int, int, int, int], steps: list[Fraction]) -> list[Fraction]:
        """Steps of a variable that may repair a row; `steps` are those of x, y and z."""
        op, x, y, z = row
        dx, dy, dz = steps
        if op == ADD:
            return [dx / 2] if y == z == v else [dy + dz if v == x else dx - dz if v == y else dx - dy]
        if op == MUL:
            if v == x:
                return [self.values[y] * dz + self.values[z] * dy]
            factor = self.values[z if v == y else y]
            return [dx / factor] if factor else []
        return [dx, dy, dz]

    def may_move(self, v: int, step: Fraction) -> bool:
        return bool(self.tnf.upper[v] >= INFINITY if step > 0 else self.tnf.lower[v] <= -INFINITY)

    def is_kept(self, row: tuple[int, int, int, int], direction: Direction) -> bool:
        """Whether the row certainly holds along the direction."""
        op, *variables = row
        rule = KEPT.get(op)
        x, y, z = (self.values[v] for v in variables)
        dx, dy, dz = (direction.get(v, Fraction(0)) for v in variables)
        return rule is not None and rule(x, y, z, dx, dy, dz)


# Whether (x + t dx) = (y + t dy) op (z + t dz) for all t >= 0; False if that is not certain.


def _keeps_sum(x: int, y: int, z: int, dx: Fraction, dy: Fraction, dz: Fraction) -> bool:
    return x == y + z and dx == dy + dz


def _keeps_product(x: int, y: int, z: int, dx: Fraction, dy: Fraction, dz: Fraction) -> bool:
    return x == y * z and dy * dz == 0 and dx == y * dz + z * dy


def _keeps_minimum(x: int, y: int, z: int, dx: Fraction, dy: Fraction, dz: Fraction) -> bool:
    return (x == y <= z and dx == dy <= dz) or (x == z <= y and dx == dz <= dy)


def _keeps_maximum(x: int, y: int, z: int, dx: Fraction, dy: Fraction, dz: Fraction) -> bool:
    return _keeps_minimum(-x, -y, -z, -dx, -dy, -dz)


def _keeps_equality(x: int, y: int, z: int, dx: Fraction, dy: Fraction, dz: Fraction) -> bool:
    if x == 1:
        return y == z and dx == 0 and dy == dz
    return x == 0 and dx == 0 and ((y < z and dy <= dz) or (y > z and dy >= dz))


def _keeps_order(x: int, y: int, z: int, dx: Fraction, dy: Fraction, dz: Fraction) -> bool:
    return dx == 0 and ((x == 1 and y <= z and dy <= dz) or (x == 0 and y > z and dy >= dz))


KEPT = {
    int(ADD): _keeps_sum,
    int(MUL): _keeps_product,
    int(MIN): _keeps_minimum,
    int(MAX): _keeps_maximum,
    int(EQ): _keeps_equality,
    int(LEQ): _keeps_order,
}
