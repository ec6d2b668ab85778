"""Models whose float variables have no bounds: they get the answers that large bounds would give.

The right values come from fractions: Cramer's rule, vertices, or the equations themselves.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations
from random import Random

import pytest

from support.float_cases import CASES, FORMS, broken, posed
from turbo_fzn import solve_text
from turbo_fzn.interface.api import Result

WAYS = [{"threads": 1}, {"threads": 2}, {"free_search": True}]
PAIR = "var float: x :: output_var; var float: y :: output_var;"


def solve(model: str, **settings: object) -> Result:
    return solve_text(model, **{"arch": "cpu", "time_limit": 60_000, **settings})


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_two_equations_have_their_one_solution_and_no_other(way):
    model = (
        PAIR + "constraint float_lin_eq([10.0,-5.0],[x,y],15.0); constraint float_lin_eq([-5.0,15.0],[x,y],10.0);"
        "solve satisfy;"
    )
    result = solve(model, all_solutions=True, **way)
    assert result.status == "ALL_SOLUTIONS"
    (solution,) = result.solutions
    assert solution == {"x": pytest.approx(2.2, abs=1e-6), "y": pytest.approx(1.4, abs=1e-6)}


def plate(n: int) -> tuple[str, list[str]]:
    """A square plate in equilibrium: one side has 100 degrees, the others 0. Returns the model and the names of the
    (n - 1)^2 inner places."""
    inner = [(i, j) for i in range(1, n) for j in range(1, n)]
    lines = [f"var float: t{i}_{j} :: output_var;" for i, j in inner]
    for i, j in inner:
        around = [(i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)]
        names = [f"t{i}_{j}", *(f"t{k}_{m}" for k, m in around if (k, m) in inner)]
        coefficients = [4.0] + [-1.0] * (len(names) - 1)
        heat = 100.0 if i == 1 else 0.0
        lines.append(f"constraint float_lin_eq({coefficients},[{','.join(names)}],{heat});")
    return "\n".join([*lines, "solve satisfy;"]), [f"t{i}_{j}" for i, j in inner]


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_a_heat_plate_has_its_equilibrium(way):
    model, names = plate(4)
    (solution,) = solve(model, **way).solutions
    exact = [Fraction(*pair) for pair in ((300, 7), (1475, 28), (300, 7), (75, 4), (25, 1), (75, 4))]
    exact += [Fraction(*pair) for pair in ((50, 7), (275, 28), (50, 7))]
    for name, value in zip(names, exact):
        assert solution[name] == pytest.approx(float(value), abs=1e-5)


def test_systems_with_decimals_have_the_solution_of_cramers_rule():
    random, n_solved = Random(8), 0
    while n_solved < 8:
        (a, b, e), (c, d, f) = ([random.randint(-999, 999) / 10 for _ in range(3)] for _ in range(2))
        determinant = Fraction(repr(a)) * Fraction(repr(d)) - Fraction(repr(b)) * Fraction(repr(c))
        if abs(determinant) < 1:
            continue
        x = (Fraction(repr(e)) * Fraction(repr(d)) - Fraction(repr(b)) * Fraction(repr(f))) / determinant
        y = (Fraction(repr(a)) * Fraction(repr(f)) - Fraction(repr(e)) * Fraction(repr(c))) / determinant
        rows = f"constraint float_lin_eq([{a},{b}],[x,y],{e}); constraint float_lin_eq([{c},{d}],[x,y],{f});"
        (solution,) = solve(PAIR + rows + "solve satisfy;", threads=1).solutions
        assert solution["x"] == pytest.approx(float(x), rel=1e-5, abs=1e-5)
        assert solution["y"] == pytest.approx(float(y), rel=1e-5, abs=1e-5)
        n_solved += 1


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize(
    ("constraints", "holds"),
    [
        ("constraint float_lin_ne([1.0,-1.0],[x,y],0.0);", lambda x, y: x != y),
        ("constraint float_lt(x,y); constraint float_lt(100.0,x);", lambda x, y: 100 < x < y),
        (
            "var float: p; constraint float_times(x,y,p); constraint float_eq(p,6.0);"
            "constraint float_lin_eq([1.0,1.0],[x,y],5.0);",
            lambda x, y: sorted((round(x, 4), round(y, 4))) == [2, 3],
        ),
        ("constraint float_exp(x,y); constraint float_eq(y,5.0);", lambda x, y: abs(math.exp(x) - 5) < 1e-4),
        ("constraint float_abs(x,y); constraint float_lin_le([1.0,1.0],[x,y],0.0); constraint float_eq(y,3.5);",
         lambda x, y: (x, y) == (-3.5, 3.5)),
    ],
    ids=["apart", "order", "product", "exponential", "absolute"],
)  # fmt: skip
def test_a_solution_is_found_among_usual_numbers(constraints, holds, way):
    (solution,) = solve(PAIR + constraints + "solve satisfy;", **way).solutions
    x, y = float(solution["x"]), float(solution["y"])  # type: ignore[arg-type]
    assert holds(x, y) and max(abs(x), abs(y)) < 2**21


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize(
    "constraints",
    [
        "constraint float_lin_eq([1.0,1.0],[x,y],1.0); constraint float_lin_eq([2.0,2.0],[x,y],3.0);",
        "constraint float_lin_le([1.0,-1.0],[x,y],-1.0); constraint float_lin_le([1.0,-1.0],[y,x],-1.0);",
    ],
    ids=["equations", "inequalities"],
)
def test_what_contradicts_itself_is_unsatisfiable(constraints, way):
    assert solve(PAIR + constraints + "solve satisfy;", **way).status == "UNSATISFIABLE"


def vertices(rows: list[tuple[int, int, int]]) -> list[tuple[Fraction, Fraction]]:
    """Where two of the inequalities a x + b y <= c are equalities and the others hold."""
    points = []
    for (a, b, e), (c, d, f) in combinations(rows, 2):
        determinant = a * d - b * c
        if determinant:
            x, y = Fraction(e * d - b * f, determinant), Fraction(a * f - e * c, determinant)
            if all(p * x + q * y <= r for p, q, r in rows):
                points.append((x, y))
    return points


def test_linear_programs_without_bounds_have_the_optimum_of_their_vertices():
    """Polygons about 0, of rows that bound no variable alone; the cost is a positive sum of two rows, so there is an
    optimum."""
    random, n_solved = Random(4), 0
    for _ in range(12):
        rows = [(*(random.choice((-3, -2, -1, 1, 2, 3)) for _ in range(2)), random.randint(1, 9)) for _ in range(5)]
        (a, b, _), (c, d, _) = rows[:2]
        points = vertices(rows)
        if not points or a * d == b * c:
            continue
        p, q = a + 2 * c, b + 2 * d
        best = max(p * x + q * y for x, y in points)
        stated = "".join(f"constraint float_lin_le([{i}.0,{j}.0],[x,y],{k}.0);" for i, j, k in rows)
        model = f"var float: z :: output_var; constraint float_lin_eq([{p}.0,{q}.0,-1.0],[x,y,z],0.0);"
        result = solve(PAIR + stated + model + "solve maximize z;", threads=2, relaxation="on")
        assert result.status == "OPTIMAL_SOLUTION", rows
        assert result.objective == pytest.approx(float(best), rel=3e-6, abs=3e-6), rows
        n_solved += 1
    assert n_solved > 6


# ---- the builtins, of variables that only equations bound


def unbounded(model: str) -> str:
    """The model with each float's domain taken away: x between l and u becomes x + 2 s = m, x - s = m for an s and an m
    that is between them."""
    lines = []
    for line in model.splitlines():
        kind, _, name = line.removeprefix("var ").rstrip(";").partition(": ")
        low, _, high = kind.partition("..")
        if not (line.startswith("var ") and ".." in kind and "." in low):
            lines.append(line)
            continue
        lines += [f"var float: {name};", f"var float: s{name};", f"var {low}..{high}: m{name};"]
        lines.append(f"constraint float_lin_eq([1.0,2.0,-1.0],[{name},s{name},m{name}],0.0);")
        lines.append(f"constraint float_lin_eq([1.0,-1.0,-1.0],[{name},s{name},m{name}],0.0);")
    lines.sort(key=lambda line: (line.startswith("solve"), line.startswith("constraint")))
    return "\n".join(lines) + "\n"


# A power needs a positive base, which only a domain says.
WITHOUT_POWERS = [(name, index) for name, index in FORMS if name != "float_pow"]


@pytest.mark.parametrize(("name", "index"), WITHOUT_POWERS)
def test_a_builtin_means_the_same_where_its_floats_have_no_bounds(name, index):
    right, wrong = (unbounded(posed(name, values)) for values in (CASES[name][index], broken(name, CASES[name][index])))
    assert "var float" in right
    assert solve(right, threads=1).status == "SATISFIED"
    assert solve(wrong, threads=1).status == "UNSATISFIABLE"
