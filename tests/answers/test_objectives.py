"""Several objectives: lexicographic best solutions and fronts, against enumeration."""

from __future__ import annotations

import time
from itertools import product
from random import Random

import pytest

from support.objective_models import NAMES, SIGNS, Drawn, dot, draw, undominated
from turbo_fzn import Front, Model, lexicographic
from turbo_fzn.base.errors import UsageError
from turbo_fzn.interface.api import Result


@pytest.mark.parametrize("seeds", [range(6), pytest.param(range(6, 1000), marks=pytest.mark.slow)], ids=str)
def test_the_front_and_the_lexicographic_best_are_those_of_enumeration(seeds, engine):
    for seed in seeds:
        drawn = draw(Random(seed))
        model = Model(drawn.text, arch=engine)
        front = Front(model, drawn.goals)
        points = list(front)
        found = [tuple(sign * part for sign, part in zip(drawn.signs, point.objectives)) for point in points]
        assert front.complete and all(point.proved for point in points), seed
        assert len(found) == len(set(found)) and set(found) == undominated(drawn.vectors), seed
        assert all(set(point.values) == set(NAMES) for point in points)
        assert within(drawn, model, Random(seed)), seed
        best, proved = lexicographic(model, drawn.goals)
        least = None if best is None else tuple(sign * part for sign, part in zip(drawn.signs, best.objectives))
        assert proved and least == min(drawn.vectors, default=None), seed


def within(drawn: Drawn, model: Model, random: Random) -> bool:
    """Whether the front is right where all objectives are assumed to lie between two values."""
    ends = [sorted(random.randint(-9, 9) for _ in range(2)) for _ in drawn.goals]
    assume = {goal.split()[1]: (low, high) for goal, (low, high) in zip(drawn.goals, ends)}
    points = list(Front(model, drawn.goals, assume))
    found = [tuple(sign * part for sign, part in zip(drawn.signs, point.objectives)) for point in points]
    good = {
        vector
        for vector in drawn.vectors
        if all(low <= sign * part <= high for sign, part, (low, high) in zip(drawn.signs, vector, ends))
    }
    return len(found) == len(set(found)) and set(found) == undominated(good)


KNAPSACK = """\
array [1..14] of int: weight = [4,7,3,8,5,6,9,2,7,5,6,4,8,3];
array [1..14] of int: value = [5,9,3,10,6,7,11,2,8,7,6,5,9,4];
{taken}
var 0..77: load;
var 0..92: gain;
array [1..15] of var int: loads = [{names},load];
array [1..15] of var int: gains = [{names},gain];
constraint int_lin_eq([4,7,3,8,5,6,9,2,7,5,6,4,8,3,-1],loads,0);
constraint int_lin_eq([5,9,3,10,6,7,11,2,8,7,6,5,9,4,-1],gains,0);
solve satisfy;
"""


def knapsack() -> tuple[str, set[tuple[int, int]]]:
    """2^14 solutions; what is loaded and what is not gained."""
    weights, values = ([int(part) for part in KNAPSACK.splitlines()[i].split("[")[2][:-2].split(",")] for i in (0, 1))
    names = [f"t{i}" for i in range(14)]
    taken = "\n".join(f"var 0..1: {name} :: output_var;" for name in names)
    choices = product((0, 1), repeat=14)
    vectors = {(dot(weights, choice), -dot(values, choice)) for choice in choices}
    return KNAPSACK.format(taken=taken, names=",".join(names)), vectors


def grid() -> tuple[str, set[tuple[int, int]]]:
    """10^4 solutions: four digits, a product against a sum."""
    lines = [f"var 1..10: {name} :: output_var;" for name in "abcd"]
    lines += ["var 1..100: p;", "var 4..40: s;", "constraint int_times(a,b,p);"]
    lines += ["constraint int_lin_eq([1,1,1,1,-1],[a,b,c,d,s],0);", "solve satisfy;\n"]
    values = product(range(1, 11), repeat=4)
    return "\n".join(lines), {(-a * b, a + b + c + d) for a, b, c, d in values}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("drawn", "goals"),
    [(knapsack, ["minimize load", "maximize gain"]), (grid, ["maximize p", "minimize s"])],
    ids=["knapsack", "grid"],
)
def test_the_front_of_ten_thousand_solutions_takes_seconds(drawn, goals, engine):
    text, vectors = drawn()
    began = time.process_time()
    points = list(Front(Model(text, arch=engine), goals))
    assert time.process_time() - began < 60
    signs = [SIGNS[goal.split()[0]] for goal in goals]
    found = {tuple(sign * part for sign, part in zip(signs, point.objectives)) for point in points}
    assert found == undominated_pairs(vectors)


def undominated_pairs(vectors: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """The front of two objectives, by one pass in order."""
    best, found = float("inf"), set()
    for first, second in sorted(vectors):
        if second < best:
            best = second
            found.add((first, second))
    return found


TEXT = """\
var 0..9: x :: output_var;
var 0..9: y;
var -9.0..9.0: r;
var bool: b;
constraint int_lin_le([-1,-1],[x,y],-9);
solve satisfy;
"""


def test_assumptions_hold_for_every_point_also_those_on_objectives():
    model = Model(TEXT, arch="cpu")
    front = Front(model, ["minimize x", "minimize y"], {"x": (3, None), "y": (2, 5)})
    assert sorted(point.objectives for point in front) == [(4, 5), (5, 4), (6, 3), (7, 2)]
    assert front.complete
    assert lexicographic(model, ["maximize x", "maximize x", "minimize y"])[0].objectives == (9, 9, 0)


def test_a_goal_and_its_opposite_have_every_value_on_the_front():
    front = Front(Model(TEXT, arch="cpu"), ["minimize x", "maximize x"], {"x": (2, 5)})
    assert sorted(point.objectives for point in front) == [(value, value) for value in range(2, 6)]


def test_without_a_solution_the_front_is_empty_and_complete():
    front = Front(Model(TEXT, arch="cpu"), ["minimize x"], {"x": 0, "y": 0})
    assert list(front) == [] and front.complete
    assert lexicographic(Model(TEXT, arch="cpu"), ["minimize x"], {"x": 0, "y": 0}) == (None, True)


def test_without_time_nothing_is_claimed():
    front = Front(Model(TEXT, arch="cpu"), ["minimize x", "minimize y"], time_limit=-1)
    assert list(front) == [] and not front.complete
    assert lexicographic(Model(TEXT, arch="cpu"), ["minimize x"], time_limit=-1) == (None, False)


def test_a_point_of_a_call_that_was_stopped_is_not_proved(monkeypatch):
    model = Model(TEXT, arch="cpu")
    whole = model.solve

    def stopped(*arguments: object, **settings: object) -> object:
        result = whole(*arguments, **settings)
        result.status = "SATISFIED" if result.solutions else "UNKNOWN"
        return result

    monkeypatch.setattr(model, "solve", stopped)
    point, proved = lexicographic(model, ["maximize y", "minimize x"])
    assert not proved and not point.proved and point.objectives[0] == 9
    front = Front(model, ["minimize x", "minimize y"])
    points = list(front)
    assert points and not front.complete and not any(point.proved for point in points)
    assert all(x + y >= 9 for x, y in (point.objectives for point in points))


@pytest.mark.parametrize(
    ("goals", "message"),
    [
        ([], "there is none"),
        (["x"], "goals: expected minimize NAME or maximize NAME, found 'x'"),
        (["minimize q"], "no variable q"),
        (["minimize r"], "r is a variable of kind float"),
        (["minimize x", "maximize b"], "b is a variable of kind bool"),
    ],
)
def test_goals_that_cannot_be_are_refused(goals, message):
    with pytest.raises(UsageError, match=message):
        Front(Model(TEXT, arch="cpu"), goals)


def test_a_front_is_not_complete_where_a_search_stopped_without_knowing(monkeypatch):
    front = Front(Model(TEXT, arch="cpu"), ["minimize x", "minimize y"])
    monkeypatch.setattr(Model, "solve", lambda *arguments, **settings: Result("UNKNOWN", [], None, {}))
    assert list(front) == [] and not front.complete
