"""Bounds by linear programs: what any multipliers imply holds at all points, and a line through points is found."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations
from random import Random
from typing import NamedTuple

import numpy as np
import pytest

from turbo_fzn import solve_text
from turbo_fzn.bounds.lp.exact import Row
from turbo_fzn.bounds.reals.enclosure import Enclosure, Least, Loose, closed, combine
from turbo_fzn.bounds.reals.envelopes import Box


class Ends(NamedTuple):
    """The bounds of some variables, as a Box has them."""

    lower: np.ndarray
    upper: np.ndarray


@pytest.mark.parametrize("seed", range(20))
def test_what_a_sum_of_rows_implies_holds_at_every_point_whatever_the_multipliers(seed):
    """Rows that a point satisfies by its own numbers near the coefficients; half of the multipliers are nonsense."""
    random = Random(seed)
    n = random.randint(1, 4)
    point = [Fraction(random.randint(-40, 40), 8) for _ in range(n)]
    lower = [random.choice((-math.inf, float(x) - random.randint(0, 2))) for x in point]
    upper = [random.choice((math.inf, float(x) + random.randint(0, 2))) for x in point]
    rows = []
    for _ in range(random.randint(1, 5)):
        entries = {v: Fraction(random.randint(-20, 20), 4) for v in range(n)}
        errors = {v: Fraction(random.randint(0, 3), 64) for v in range(n) if random.random() < 0.5}
        exact = {v: value + random.choice((-1, 0, 1)) * errors.get(v, Fraction(0)) for v, value in entries.items()}
        total = sum(value * point[v] for v, value in exact.items())
        low, high = total - random.randint(0, 2), total + random.randint(0, 2)
        rows.append(Loose(Row(entries, *random.choice(((low, high), (low, None), (None, high)))), errors))
    duals = np.array([random.choice((random.uniform(-3, 3), 0.0, 1e300, math.nan, math.inf)) for _ in rows])
    cost = {v: random.choice((-1, 0, 1)) for v in range(n)}
    box: Box = Ends(np.array(lower), np.array(upper))  # type: ignore[assignment]
    found = combine(rows, cost, box, duals)
    at_point = sum(value * point[v] for v, value in cost.items())
    assert at_point >= found.value - sum(value * abs(point[v]) for v, value in found.open.items())
    assert all(math.isinf(lower[v]) or math.isinf(upper[v]) for v in found.open)


def test_errors_are_closed_by_the_largest_variable():
    tenth = Fraction(1, 10)
    sides = {1: (Least(Fraction(-1), {2: tenth}), Least(Fraction(-1), {})), 2: (Least(Fraction(-2), {}),) * 2}
    assert closed(sides) == {1: (Fraction(-1) - tenth * 2 / (1 - tenth), Fraction(1)), 2: (-2, 2)}  # M <= 2 + M / 10
    one_sided = {1: (Least(Fraction(3), {}), None), 2: (Least(Fraction(1), {1: tenth}), Least(Fraction(1), {}))}
    assert closed(one_sided) == {1: (Fraction(3), None), 2: (None, Fraction(-1))}


def line_model(xs: list[float], ys: list[float]) -> str:
    """The line a x + b with the least sum of deviations; nothing has a bound."""
    names = [f"e{i}" for i in range(len(xs))]
    lines = [f"var float: {name} :: output_var;" for name in ("a", "b", "z", *names)]
    for name, x, y in zip(names, xs, ys):
        lines.append(f"constraint float_lin_le([-1.0,{-x!r},-1.0],[{name},a,b],{-y!r});")
        lines.append(f"constraint float_lin_le([-1.0,{x!r},1.0],[{name},a,b],{y!r});")
    lines.append(f"constraint float_lin_eq({[*[1.0] * len(xs), -1.0]},[{','.join(names)},z],0.0);")
    return "\n".join([*lines, "solve minimize z;"])


def least_deviation(xs: list[float], ys: list[float]) -> Fraction:
    """The optimum: some best line goes through two of the points."""
    points = [(Fraction(repr(x)), Fraction(repr(y))) for x, y in zip(xs, ys)]
    sums = []
    for (x, y), (u, v) in combinations(points, 2):
        a = (v - y) / (u - x)
        sums.append(sum(abs(q - y - a * (p - x)) for p, q in points))
    return min(sums)


@pytest.mark.parametrize(
    ("xs", "ys"),
    [
        ([0.0, 1.0, 2.0, 3.0, 4.0], [1.0, 3.0, 5.0, 9.0, 9.0]),
        ([0.3, -1.7, 2.9], [1.0, 2.5, -0.7]),  # coefficients that are no doubles
        ([-4.1, -0.6, 1.3, 2.2, 3.7], [9.25, 0.4, -3.3, 7.1, 12.9]),
    ],
)
def test_the_line_of_the_least_deviations_is_found_and_proved_without_any_bound(xs, ys):
    result = solve_text(line_model(xs, ys), arch="cpu", relaxation="on", time_limit=60_000)
    assert result.status == "OPTIMAL_SOLUTION"
    assert result.objective == pytest.approx(float(least_deviation(xs, ys)), abs=1e-5)


def test_a_program_that_gives_no_point_offers_none(monkeypatch):
    """Where the time is over, or where the program has no optimum."""
    xs, ys = [0.0, 1.0, 2.0], [0.0, 1.0, 5.0]
    monkeypatch.setattr(Enclosure, "best_point", lambda self: np.empty(0))
    result = solve_text(line_model(xs, ys), arch="cpu", threads=1, free_search=True, time_limit=2000)
    least = least_deviation(xs, ys)
    assert result.objective is None or result.objective >= float(least) - 1e-5
