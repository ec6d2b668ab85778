"""Objectives without a bound: the claim that they improve for ever is right, and no search walks on for nothing."""

from __future__ import annotations

import io
import os
import random
from contextlib import closing

import numpy as np
import pytest

from support.command import run, value, write
from support.operators import apply_operator
from support.unbounded import MODELS
from support.warm import ask
from turbo_fzn import solve_text
from turbo_fzn.base.domains import INFINITY
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.run.answer.competition import CompetitionStyle
from turbo_fzn.run.answer.outcome import Finished
from turbo_fzn.run.prepare import prepare
from turbo_fzn.run.search import Search
from turbo_fzn.run.unbounded import Horizon, Rays, far
from turbo_fzn.tnf.language import TNF, Op

UNBOUNDED = "=====UNBOUNDED====="
MOVING = [Op.ADD, Op.ADD, Op.MUL, Op.MIN, Op.MAX, Op.EQ, Op.LEQ, Op.LEQ, Op.DIV, Op.MOD]


# ---- rays


def draw_rows(rng: random.Random) -> tuple[TNF, list[int]]:
    """Rows that hold at a point, which is given too; about half of the bounds are none."""
    values = [rng.randint(-4, 4) for _ in range(rng.randint(2, 4))]
    rows = []
    for _ in range(rng.randint(1, 5)):
        op, y, z = rng.choice(MOVING), *(rng.randrange(len(values)) for _ in range(2))
        result = apply_operator(op, values[y], values[z])
        if result is None:
            continue
        same = [v for v in range(len(values)) if values[v] == result and v not in (y, z)]
        x = rng.choice(same) if same and rng.random() < 0.4 else len(values)
        if x == len(values):
            values.append(result)
        rows.append((op, x, y, z))
    n = len(values)
    lower = np.array([-INFINITY if rng.random() < 0.6 else v - rng.randint(0, 2) for v in values])
    upper = np.array([INFINITY if rng.random() < 0.6 else v + rng.randint(0, 2) for v in values])
    columns = [np.array(column, np.int32) for column in zip(*rows)] if rows else [np.zeros(0, np.int32)] * 4
    tnf = TNF(*columns, lower, upper, np.zeros(0, np.int64), objective=rng.randrange(n), sense=rng.choice((1, -1)))
    return tnf, values


def rows_hold(tnf: TNF, point: list[int]) -> bool:
    rows = zip(*(column.tolist() for column in (tnf.op, tnf.x, tnf.y, tnf.z)))
    bounds = zip(point, tnf.lower.tolist(), tnf.upper.tolist())
    return all(point[x] == apply_operator(op, point[y], point[z]) for op, x, y, z in rows) and all(
        (low <= -INFINITY or low <= v) and (high >= INFINITY or v <= high) for v, low, high in bounds
    )


def test_every_point_of_a_ray_is_a_solution_that_is_better_than_the_one_before():
    found: dict[int, int] = {}
    for seed in range(4000):
        tnf, values = draw_rows(random.Random(seed))
        ray = Rays(tnf, values).find()
        if ray is None:
            continue
        assert tnf.sense * ray[tnf.objective] < 0
        for steps in (*range(60), 2**40, 10**30):
            assert rows_hold(tnf, [v + steps * ray.get(i, 0) for i, v in enumerate(values)]), (seed, steps)
        for op in tnf.op[np.isin(tnf.x, list(ray)) | np.isin(tnf.y, list(ray)) | np.isin(tnf.z, list(ray))].tolist():
            found[op] = found.get(op, 0) + 1
    assert set(found) == {Op.ADD, Op.MUL, Op.MIN, Op.MAX, Op.EQ, Op.LEQ} and min(found.values()) > 20, found


def test_a_ray_is_followed_back_from_the_end_of_the_numbers():
    """What a GPU finds first, since its blocks probe all values at once."""
    n_back = 0
    for seed in range(4000):
        tnf, values = draw_rows(random.Random(seed))
        ray = Rays(tnf, values).find()
        if ray is None:
            continue
        steps = (INFINITY - 50) // max(map(abs, ray.values()))
        point = [v + steps * ray.get(i, 0) for i, v in enumerate(values)]
        rays = Rays(tnf, point)
        again = rays.find() if far(point) else None
        for start in rays.starts(again) if again else ():
            assert rows_hold(tnf, start) and not far(start), seed
            assert rows_hold(tnf, [v + 10**30 * again.get(i, 0) for i, v in enumerate(start)]), seed
            n_back += 1
    assert n_back > 100, n_back


def test_a_ray_is_looked_for_in_bounded_work(monkeypatch):
    tnf, values = next(drawn for seed in range(4000) if Rays(*(drawn := draw_rows(random.Random(seed)))).find())
    monkeypatch.setattr("turbo_fzn.run.tuning.TUNING.ray_checks", 0)
    assert Rays(tnf, values).find() is None


# ---- claims, against enumeration

MEANING = {
    "int_lin_le": lambda v, c, names, k: sum(a * v[n] for a, n in zip(c, names)) <= k,
    "int_lin_eq": lambda v, c, names, k: sum(a * v[n] for a, n in zip(c, names)) == k,
    "int_lin_le_reif": lambda v, c, names, k, b: (sum(a * v[n] for a, n in zip(c, names)) <= k) == v[b],
    "int_times": lambda v, x, y, z: v[x] * v[y] == v[z],
    "int_max": lambda v, x, y, z: np.maximum(v[x], v[y]) == v[z],
    "int_min": lambda v, x, y, z: np.minimum(v[x], v[y]) == v[z],
    "int_abs": lambda v, x, y: abs(v[x]) == v[y],
    "int_ne": lambda v, x, y: v[x] != v[y],
}
FREE, SMALL = ("x", "y", "z"), {"k": range(-1, 3), "b": range(2)}


def draw_constraint(rng: random.Random) -> tuple:
    name = rng.choice(list(MEANING))
    if "lin" in name:
        names = rng.sample([*FREE, "k"], rng.randint(1, 3))
        coefficients = [rng.choice((-2, -1, 1, 2)) for _ in names]
        return (name, coefficients, names, rng.randint(-5, 5), *(["b"] if "reif" in name else []))
    return (name, *(rng.choice([*FREE, "k"]) for _ in range(2 if name in ("int_abs", "int_ne") else 3)))


def text_of(constraints: list[tuple], goal: str) -> str:
    def show(argument: object) -> str:
        return f"[{','.join(map(str, argument))}]" if isinstance(argument, list) else str(argument)

    declarations = [*(f"var int: {v} :: output_var;" for v in FREE), "var -1..2: k :: output_var;", "var bool: b;"]
    calls = [f"constraint {name}({','.join(map(show, arguments))});" for name, *arguments in constraints]
    return "\n".join([*declarations, *calls, f"solve {goal} x;", ""])


def best_within(constraints: list[tuple], window: int, sense: int) -> int | None:
    """The least sense * x of the solutions in the window."""
    ranges = [np.arange(-window, window + 1)] * 3 + [np.array(values) for values in SMALL.values()]
    values = dict(zip((*FREE, *SMALL), np.meshgrid(*ranges, indexing="ij")))
    holds = np.ones_like(values["x"], bool)
    for name, *arguments in constraints:
        holds &= MEANING[name](values, *arguments)
    return min((sense * values["x"][holds]).tolist(), default=None)


def test_a_claim_of_an_unbounded_objective_agrees_with_enumeration():
    statuses: dict[str, int] = {}
    for seed in range(60):
        rng = random.Random(seed)
        constraints = [draw_constraint(rng) for _ in range(rng.randint(1, 4))]
        goal, sense = rng.choice((("minimize", 1), ("maximize", -1)))
        result = solve_text(text_of(constraints, goal), arch="cpu", threads=1, time_limit=1500)
        statuses[result.status] = statuses.get(result.status, 0) + 1
        if result.status not in ("UNBOUNDED", "OPTIMAL_SOLUTION", "UNSATISFIABLE"):
            continue
        near, far = (best_within(constraints, window, sense) for window in (4, 9))
        if result.status == "UNBOUNDED":
            assert far is not None and (near is None or far < near), (seed, text_of(constraints, goal))
        elif result.status == "UNSATISFIABLE":
            assert far is None, seed
        else:
            assert far is None or sense * result.objective <= far, seed
    assert statuses["UNBOUNDED"] >= 10 and statuses["OPTIMAL_SOLUTION"] >= 5, statuses


# ---- the command


@pytest.mark.covers("O14")
@pytest.mark.parametrize("flags", [[], ["-f", "-p", "2"], ["--no-simplify"]], ids=["plain", "free", "as it is"])
@pytest.mark.parametrize("name", MODELS)
def test_an_objective_that_is_unbounded_is_said_to_be(tmp_path, name, flags):
    answer = ask(*flags, write(tmp_path, MODELS[name].replace(";", ";\n")))
    assert (answer.code, answer.markers, len(answer.solutions)) == (0, [UNBOUNDED], 1), answer
    assert "the objective" in answer.errors


@pytest.mark.gpu
@pytest.mark.covers("O14")
@pytest.mark.parametrize("name", MODELS)
def test_the_gpu_says_so_too_though_it_begins_at_the_end_of_its_numbers(tmp_path, name):
    seen = os.environ.get("CUDA_VISIBLE_DEVICES", "0")
    answer = run("--arch", "gpu", write(tmp_path, MODELS[name].replace(";", ";\n")), CUDA_VISIBLE_DEVICES=seen)
    assert (answer.code, answer.markers, len(answer.solutions)) == (0, [UNBOUNDED], 1), answer


def test_a_solution_is_handed_out_before_a_ray_is_looked_for_from_it(monkeypatch):
    """That may take half a second, in which a stop would find no solution."""
    looked_at = []
    monkeypatch.setattr(Horizon, "see", lambda horizon, found: looked_at.append(found))
    model = parse_text(MODELS["below another"].replace(";", ";\n"))
    with closing(Search(prepare(model, Options(arch="cpu"), Interrupt()), Options(arch="cpu"), Interrupt())) as begun:
        events = begun.events()
        next(events)
        assert looked_at == []
        next(events)
        assert len(looked_at) == 1


BOUNDED = {  # the root gives the objective no bound, and there is an optimum
    "either of two bounds": (
        "var int: x :: output_var; var bool: b; constraint int_lin_le_reif([1],[x],10,b);"
        "var bool: c; constraint int_lin_le_reif([1],[x],20,c); constraint bool_clause([b,c],[]); solve maximize x;",
        20,
    ),
    "a square": ("var int: x :: output_var; var int: y; constraint int_times(x,x,y); solve minimize y;", 0),
}


@pytest.mark.covers("O13")
@pytest.mark.parametrize("name", BOUNDED)
def test_an_objective_that_is_bounded_only_in_the_end_has_its_optimum(tmp_path, name):
    text, x = BOUNDED[name]
    answer = ask(write(tmp_path, text.replace(";", ";\n")))
    assert answer.markers == ["=========="] and value(answer, "x") == x


@pytest.mark.covers("O14")
def test_a_model_without_solutions_is_not_unbounded(tmp_path):
    text = "var int: x :: output_var;\nvar 0..3: y;\nvar 5..8: z;\nconstraint int_times(y,y,z);\nsolve minimize x;\n"
    assert ask(write(tmp_path, text)).markers == ["=====UNSATISFIABLE====="]


@pytest.mark.covers("O13", "O14")
def test_a_bound_beyond_all_that_can_be_stored_is_a_bound_and_the_search_ends_without_a_claim(tmp_path):
    """The rows know nothing of such a bound, but the constraint does."""
    text = "var int: x :: output_var;\nconstraint int_lin_le([1],[x],9000000000000000000);\nsolve maximize x;\n"
    answer = ask(write(tmp_path, text))
    assert (answer.code, answer.markers, len(answer.solutions)) == (0, [], 1)
    assert "given up" in answer.errors


def test_the_style_of_the_competitions_says_so_behind_its_status():
    stream = io.StringIO()
    CompetitionStyle(stream, Options()).end(Finished(False, 3, {}, unbounded=True))
    assert stream.getvalue().splitlines() == [
        "s SATISFIABLE", "d FOUND SOLUTIONS 3", "d INCOMPLETE EXPLORATION", "d UNBOUNDED",
    ]  # fmt: skip
