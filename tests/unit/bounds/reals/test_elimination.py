"""Bounds by elimination: beside Cramer's rule in fractions, for coefficients that are doubles and for decimals."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations
from random import Random

import numpy as np
import pytest

from turbo_fzn.base import floats
from turbo_fzn.bounds.reals.elimination import Equation, Sum, bound_by_equations, largest_of
from turbo_fzn.lower.rewrite import lower
from turbo_fzn.read.flatzinc import parse_text

Matrix = Sequence[Sequence[Fraction]]


def determinant(matrix: Matrix) -> Fraction:
    """The sum over all permutations (Leibniz)."""
    total, n = Fraction(0), len(matrix)
    for order in permutations(range(n)):
        sign = (-1) ** sum(order[i] > order[j] for i in range(n) for j in range(i + 1, n))
        product = Fraction(sign)
        for row, column in zip(matrix, order):
            product *= row[column]
        total += product
    return total


def cramer(matrix: Matrix, right: Sequence[Fraction]) -> list[Fraction]:
    def replaced(at: int) -> Matrix:
        return [[k if j == at else c for j, c in enumerate(row)] for row, k in zip(matrix, right)]

    whole = determinant(matrix)
    return [determinant(replaced(at)) / whole for at in range(len(matrix))]


def system(coefficients: Sequence[Sequence[float]], right: Sequence[float], domains: Sequence[str]) -> str:
    names = [f"x{i}" for i in range(len(domains))]
    lines = [f"var {domain}: {name};" for name, domain in zip(names, domains)]
    lines += [f"constraint float_lin_eq({list(row)},[{','.join(names)}],{k!r});" for row, k in zip(coefficients, right)]
    return "\n".join([*lines, "solve satisfy;"])


def bounds(text: str) -> list[tuple[float, float]] | None:
    """The bounds of x0, x1, ... by equations alone; None where they have no solution."""
    lowered = lower(parse_text(text))
    found = bound_by_equations(lowered.tnf)
    if found is None:
        return None
    names = sorted(lowered.origin, key=lambda name: int(name[1:]))
    return [tuple(floats.number(int(end[lowered.origin[name]])) for end in found) for name in names]  # type: ignore


def between(random: Random, c: float) -> Fraction:
    """A number that the coefficient may stand for: its double, its decimal text, or one between."""
    part = random.choice((Fraction(0), Fraction(1), Fraction(random.randint(1, 9), 10)))
    return Fraction(c) + part * (Fraction(repr(c)) - Fraction(c))


@pytest.mark.parametrize("decimals", [False, True], ids=["doubles", "decimals"])
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_no_solution_of_a_system_is_lost_and_little_else_is_left(n, decimals):
    random, n_regular = Random(n), 0
    for _ in range(30):
        draw = (lambda: random.randint(-999, 999) / 10) if decimals else (lambda: float(random.randint(-9, 9)))
        matrix = [[draw() for _ in range(n)] for _ in range(n)]
        right = [float(random.randint(-99, 99)) for _ in range(n)]
        if abs(determinant([[Fraction(c) for c in row] for row in matrix])) < Fraction(1, 10):
            continue
        found = bounds(system(matrix, right, ["float"] * n))
        assert found is not None
        n_regular += 1
        for _ in range(3):
            exact = cramer([[between(random, c) for c in row] for row in matrix], list(map(Fraction, right)))
            for x, (low, high) in zip(exact, found):
                assert Fraction(low) <= x <= Fraction(high), (matrix, right)
                assert high - low <= 1e-9 * max(1, abs(x)), (matrix, right)
    assert n_regular > 15


def test_bounds_of_some_variables_bound_those_that_they_determine():
    found = bounds(system([[1.0, -2.0, 1.0], [1.0, 2.0, -3.0]], [0.0, 4.0], ["float", "float", "-1.0..2.0"]))
    assert found is not None  # x = 2 + z, y = 1 + z
    assert found == [(1.0, 4.0), (0.0, 3.0), (-1.0, 2.0)]


def test_what_is_not_determined_gets_no_bound():
    infinite = (-np.inf, np.inf)
    assert bounds(system([[1.0, 1.0]], [1.0], ["float", "float"])) == [infinite, infinite]
    found = bounds(system([[1.0, 1.0, 0.0], [2.0, 2.0, 1.0]], [1.0, 5.0], ["float"] * 3))
    assert found == [infinite, infinite, (3.0, 3.0)]


def test_equations_that_contradict_each_other_have_no_solution_but_only_if_they_are_exact():
    assert bounds(system([[1.0, 1.0], [2.0, 2.0]], [1.0, 3.0], ["float"] * 2)) is None
    nearly = bounds(system([[0.1, 0.3], [0.2, 0.6]], [1.0, 3.0], ["float"] * 2))  # far out there may be a solution
    assert nearly == [(-np.inf, np.inf)] * 2


def test_errors_that_are_too_large_bound_nothing():
    tenth, ones = Fraction(1, 10), Fraction(1)
    small = {1: Sum(ones, ones, Fraction(0), {2: tenth}), 2: Sum(-ones, ones, tenth, {1: tenth})}
    assert largest_of(small) == {1: Fraction(11, 9), 2: Fraction(11, 9)}  # M <= 1.1 + M / 10
    assert largest_of({1: Sum(ones, ones, Fraction(0), {1: Fraction(3, 5)})}) == {}
    assert largest_of({1: Sum(ones, ones, Fraction(0), {9: tenth})}) == {}
    assert largest_of({1: Sum(None, ones, Fraction(0), {})}) == {}


def test_a_multiple_of_an_equation_has_its_error_whatever_the_sign():
    first = Equation(Fraction(1), {1: Fraction(2)}, {1: Fraction(1, 8)})
    first.add(Fraction(-2), Equation(Fraction(3), {1: Fraction(1), 2: Fraction(5)}, {1: Fraction(1, 4)}))
    assert (first.constant, first.entries) == (Fraction(-5), {2: Fraction(-10)})
    assert first.errors == {1: Fraction(5, 8)}
