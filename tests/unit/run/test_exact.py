"""Points of boxes at which comparisons hold exactly, compared in fractions."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import numpy as np
import pytest

from turbo_fzn import solve_text
from turbo_fzn.run.exact import APART, AT_MOST, EQUAL, LESS, SHAPES, Relation, find_exact
from turbo_fzn.run.tuning import TUNING

HOLDS = {
    LESS: lambda left, right: left < right,
    AT_MOST: lambda left, right: left <= right,
    APART: lambda left, right: left != right,
    EQUAL: lambda left, right: left == right,
}


def relation(kind: str, bound: float = 0, **entries: float) -> Relation:
    """A relation of x0, x1, ..."""
    return Relation({int(name[1:]): Fraction(value) for name, value in entries.items()}, kind, Fraction(bound))


def holds(one: Relation, point: np.ndarray) -> bool:
    left = sum((value * Fraction(float(point[v])) for v, value in one.entries.items()), Fraction(0))
    return HOLDS[one.kind](left, one.bound)


def found(relations: list[Relation], low: list[float], high: list[float]) -> np.ndarray | None:
    """A point for which the simple one is the lower corner; it lies in the box."""
    low_ends, high_ends = np.array(low), np.array(high)
    point = find_exact(relations, low_ends.copy(), low_ends, high_ends)
    assert point is None or bool(np.all((low_ends <= point) & (point <= high_ends)))
    return point


def test_a_simple_point_that_holds_stays():
    simple = np.array([1.0, 2.0])
    assert find_exact([relation(LESS, x0=1, x1=-1)], simple, simple, simple + 1) is simple


@pytest.mark.parametrize("kind", [LESS, APART])
def test_a_chain_in_one_small_interval_is_spread(kind):
    n, base = 9, 94.0
    chain = [Relation({v: Fraction(1), v + 1: Fraction(-1)}, kind, Fraction(0)) for v in range(n - 1)]
    chain += [Relation({0: Fraction(1), n - 1: Fraction(-1)}, kind, Fraction(0))]
    point = found(chain, [base] * n, [base + 1e-7] * n)
    assert point is not None and all(holds(one, point) for one in chain)
    assert kind == APART or len(set(point.tolist())) == n


def test_equations_are_kept_while_strict_relations_are_met():
    """x0 + x1 = x2, x0 > 1, x1 > 1 in intervals from 1 and 2 on."""
    stated = [relation(EQUAL, 0, x0=1, x1=1, x2=-1), relation(LESS, -1, x0=-1), relation(LESS, -1, x1=-1)]
    point = found(stated, [1.0, 1.0, 2.0], [1 + 1e-7, 1 + 1e-7, 2 + 1e-7])
    assert point is not None and all(holds(one, point) for one in stated[1:])
    assert abs(sum(point[:2]) - point[2]) < 1e-14


def test_where_the_box_has_no_such_point_there_is_none():
    below, above = relation(LESS, x0=1, x1=-1), relation(LESS, x1=1, x0=-1)
    assert found([below, above], [0.0, 0.0], [1.0, 1.0]) is None
    assert found([below], [1.0, 1.0], [1.0, 1.0]) is None
    assert found([relation(LESS, 1, x0=1)], [1.0], [1.0 + 1e-9]) is None


@pytest.mark.parametrize("seed", range(25))
def test_random_relations_hold_where_a_point_is_found_and_it_is_where_there_is_one(seed):
    """Relations that a point inside of the box satisfies with room."""
    random, n = Random(seed), 4
    low = [random.uniform(-9, 9) for _ in range(n)]
    high = [x + random.choice((1e-7, 1e-3)) for x in low]
    inside = [
        Fraction(x) + Fraction(random.randint(2, 14), 16) * (Fraction(y) - Fraction(x)) for x, y in zip(low, high)
    ]
    stated = []
    for _ in range(random.randint(1, 4)):
        entries = {v: Fraction(random.choice((-3, -1, 1, 2))) for v in random.sample(range(n), 2)}
        room = sum(abs(c) * (Fraction(high[v]) - Fraction(low[v])) for v, c in entries.items()) / 16
        total = sum(c * inside[v] for v, c in entries.items())
        stated.append(Relation(entries, random.choice((LESS, AT_MOST)), total + room))
    point = found(stated, low, high)
    assert point is not None and all(holds(one, point) for one in stated)


# ---- models


def solve(model: str, **settings: object) -> dict:
    result = solve_text(model, **{"arch": "cpu", "threads": 1, "time_limit": 60_000, **settings})
    return result.solutions[-1]


PAIR = "var {0}: a :: output_var; var {0}: b :: output_var;"


@pytest.mark.parametrize("domain", ["-10.0..10.0", "float"])
def test_numbers_that_differ_are_printed_so(domain):
    shown = solve(PAIR.format(domain) + "constraint float_lin_ne([1.0,-1.0],[a,b],0.0); solve satisfy;")
    assert shown["a"] != shown["b"]
    shown = solve(PAIR.format(domain) + "constraint float_eq_reif(a,b,c); var bool: c = false; solve satisfy;")
    assert shown["a"] != shown["b"]


def test_a_strict_relation_holds_where_an_objective_presses_on_it():
    model = PAIR.format("0.0..100.0") + "constraint float_lt(b,a); constraint float_lt(94.0,b); solve minimize b;"
    shown = solve(model)
    assert 94 < shown["b"] < shown["a"] and shown["b"] < 94 * (1 + 1e-6)


def test_the_precision_is_said_where_no_point_of_the_box_holds(caplog):
    """Only numbers that are equal satisfy the equation."""
    solve(PAIR.format("0.0..1.0") + "constraint float_lt(a,b); constraint float_le(b,a); solve satisfy;")
    assert sum("not exactly" in record.message for record in caplog.records) == 1


def test_the_search_for_exact_points_ends_where_a_model_has_none(monkeypatch):
    tried = []
    monkeypatch.setattr("turbo_fzn.run.exact.inner_point", lambda *arguments: tried.append(arguments))
    model = PAIR.format("0.0..1.0") + "constraint float_lt(a,b); constraint float_le(b,a); solve satisfy;"
    result = solve_text(model, arch="cpu", threads=1, n_solutions=50, time_limit=60_000)
    assert len(result.solutions) > TUNING.inexact
    assert len(tried) == TUNING.inexact * len(SHAPES)


def test_what_is_exact_is_printed_without_a_word(caplog):
    shown = solve(PAIR.format("0.0..1.0") + "constraint float_le(a,b); constraint float_lt(a,0.5); solve satisfy;")
    assert shown == {"a": 0.0, "b": 0.0}
    assert not caplog.records
