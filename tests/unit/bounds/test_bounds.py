"""Bounds from linear relaxations: never above the optimum, whatever the solver of linear programs says."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections import Counter
from pathlib import Path
from random import Random
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzz.bounds import proved_value, try_bounds
from support.command import PATIENCE
from support.quick import few_or
from support.relaxations import beside_of
from turbo_fzn import solve_text
from turbo_fzn.base.domains import INFINITY
from turbo_fzn.bounds.cuts.cutter import Cutter, as_fractions
from turbo_fzn.bounds.lp.relaxation import Affine, LinearRows, Relaxation, RelaxationBuilder
from turbo_fzn.bounds.prove.certificate import Certifier, fix
from turbo_fzn.bounds.prove.farkas import refute
from turbo_fzn.bounds.rows.cliques import Conflicts
from turbo_fzn.bounds.search.listener import NO_SOLUTION
from turbo_fzn.bounds.thread.relaxation_thread import Beside
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.run.bounding import Bounding
from turbo_fzn.run.judge import Judge
from turbo_fzn.run.prepare import prepare
from turbo_fzn.run.tuning import TUNING


def make_relaxation(rows: list, lower: list[int], upper: list[int], objective: int = 0, sense: int = 1) -> Relaxation:
    columns = np.arange(len(lower))
    sides = np.array(lower, np.int64), np.array(upper, np.int64)
    return Relaxation(*sides, LinearRows.of(rows), objective, sense, columns, {}, Conflicts())


# ---- random models


@pytest.mark.parametrize("count", few_or(40, 150))
def test_every_certificate_cut_and_fixing_on_random_models_is_right(count: int) -> None:
    verdicts: Counter[str] = Counter()
    n_certificates = 0
    for number in range(count):
        verdict, text, checked = try_bounds(Random(f"bounds/1/{number}"))
        assert not verdict.is_fault, f"{number}: {verdict.fault}\n{text}"
        verdicts[verdict.kind] += 1
        n_certificates += checked
    assert verdicts["right"] > 0.4 * count and n_certificates > 4 * count / 3


# ---- certificates

numbers = st.one_of(st.integers(-3, 3), st.integers(-(2**31), 2**31))
sides = st.one_of(st.integers(-5, 5), st.integers(-(2**52), 2**52), st.just(INFINITY))
duals = st.one_of(st.floats(), st.integers(-3, 3).map(float), st.floats(-1e-9, 1e-9), st.floats(-1e12, 1e12))


@st.composite
def programs(draw: st.DrawFn) -> tuple[Relaxation, np.ndarray]:
    """A relaxation of up to three columns with few values, perhaps far from 0, and any duals."""
    n, m = draw(st.integers(1, 3)), draw(st.integers(0, 4))
    lower = [draw(st.one_of(st.integers(-3, 3), st.integers(-(2**40), 2**40))) for _ in range(n)]
    upper = [low + draw(st.integers(0, 3)) for low in lower]
    rows = []
    for _ in range(m):
        entries = {column: value for column in range(n) if (value := draw(numbers))}
        low, high = -draw(sides), draw(sides)
        rows.append((entries or {0: 1}, low, high))
    relaxation = make_relaxation(rows, lower, upper, draw(st.integers(0, n - 1)), draw(st.sampled_from((1, -1))))
    return relaxation, np.array([draw(duals) for _ in range(m)], float)


def points_of(relaxation: Relaxation) -> list[tuple[int, ...]]:
    """The integer points of the relaxation's box that satisfy every row."""
    boxes = (range(low, high + 1) for low, high in zip(relaxation.lower.tolist(), relaxation.upper.tolist()))
    rows = [relaxation.rows.row(number) for number in range(len(relaxation.rows))]

    def satisfies(point: tuple[int, ...], row: tuple[dict[int, int], int, int]) -> bool:
        total = sum(value * point[column] for column, value in row[0].items())
        return (row[1] == -INFINITY or total >= row[1]) and (row[2] == INFINITY or total <= row[2])

    return [point for point in itertools.product(*boxes) if all(satisfies(point, row) for row in rows)]


@given(programs(), st.sampled_from((0, 1)))
def test_any_duals_prove_no_more_than_is_true(program: tuple[Relaxation, np.ndarray], objective: int) -> None:
    relaxation, multipliers = program
    certificate = Certifier(relaxation, relaxation.rows).certify(
        multipliers, relaxation.lower, relaxation.upper, objective
    )
    proved = proved_value(
        relaxation, relaxation.rows, certificate, relaxation.lower.tolist(), relaxation.upper.tolist()
    )
    assert certificate.value is None or proved * certificate.denominator == certificate.value
    points = points_of(relaxation)
    if certificate.refutes:
        assert not points
    if objective and certificate.bound is not None:
        assert all(relaxation.sense * point[relaxation.objective] >= certificate.bound for point in points)


@given(programs(), st.integers(-5, 5))
def test_fixing_keeps_every_solution_that_is_good_enough(program: tuple[Relaxation, np.ndarray], more: int) -> None:
    relaxation, multipliers = program
    lower, upper = relaxation.lower.copy(), relaxation.upper.copy()
    certificate = Certifier(relaxation, relaxation.rows).certify(multipliers, lower, upper)
    most = relaxation.sense * int(lower[relaxation.objective]) + more
    columns, lows, highs = fix(certificate, most, lower, upper)
    lower[columns], upper[columns] = lows, highs
    for point in points_of(relaxation):
        if relaxation.sense * point[relaxation.objective] <= most:
            assert all(low <= value <= high for value, low, high in zip(point, lower, upper))


def test_the_duals_of_a_small_program_prove_its_optimum_and_fix_what_cannot_be() -> None:
    """minimise z = 3 x + 5 y with x + y >= 4, x <= 3: x = 3, y = 1."""
    rows = [({0: -1, 1: 3, 2: 5}, 0, 0), ({1: 1, 2: 1}, 4, INFINITY)]
    relaxation = make_relaxation(rows, [0, 0, 0], [100, 3, 9])
    certifier = Certifier(relaxation, relaxation.rows)
    certificate = certifier.certify(np.array([-1.0, 5.0]), relaxation.lower, relaxation.upper)
    assert certificate.bound == 14
    columns, lows, highs = fix(certificate, 15, relaxation.lower, relaxation.upper)
    fixed = dict(zip(columns.tolist(), zip(lows.tolist(), highs.tolist())))
    assert fixed[1] == (3, 3)  # each unit less of x costs 2
    assert certifier.certify(np.array([np.nan, np.inf]), relaxation.lower, relaxation.upper).bound == 0


def test_a_ray_refutes_whichever_way_it_points() -> None:
    """Pairs of three literals exclude each other, and yet two of them are wanted."""
    rows = [({0: 1, 1: 1}, -INFINITY, 1), ({1: 1, 2: 1}, -INFINITY, 1), ({0: 1, 2: 1}, -INFINITY, 1)]
    relaxation = make_relaxation([*rows, ({0: 1, 1: 1, 2: 1}, 2, INFINITY)], [0] * 3, [1] * 3)
    certifier, box = Certifier(relaxation, relaxation.rows), (relaxation.lower, relaxation.upper)
    ray = np.array([-1.0, -1.0, -1.0, 2.0])
    for scale in (1.0, -1.0, 1e-20, -1e20):
        assert refute(certifier, scale * ray, *box) is not None
    assert refute(certifier, np.array([-1.0, -1.0, -1.0, 1.4]), *box) is None
    assert refute(certifier, np.full(4, np.nan), *box) is None


@pytest.mark.parametrize("sense", [1, -1])
@pytest.mark.parametrize("scale", [1.0, -1.0, 1e-20, -1e20, 1 / 3_000_017])
def test_a_ray_keeps_the_multiplier_of_an_objective_of_large_coefficients(scale: float, sense: int) -> None:
    """sense * z is the cost, which is 3,000,017 at least."""
    rows = [({0: -sense, 1: 3_000_017, 2: 5_000_011}, 0, 0), ({1: 1, 2: 1}, 1, INFINITY)]
    for end, is_refuted in ((3_000_016, True), (3_000_017, False)):
        ends = sorted((0, sense * end))
        relaxation = make_relaxation(rows, [ends[0], 0, 0], [ends[1], 1, 1], sense=sense)
        ray = scale * np.array([-1.0, 3_000_017.0])
        certificate = refute(Certifier(relaxation, relaxation.rows), ray, relaxation.lower, relaxation.upper)
        assert (certificate is not None) == is_refuted


@pytest.mark.parametrize(("factor", "noise"), [(7, 0.0), (7, 1e-9), (1_000_003, 0.0)])
def test_a_ray_of_fractions_refutes_over_wide_domains(factor: int, noise: float) -> None:
    """3 x - y >= 1, and parts of factor y >= 5 z >= 3 factor x, which no power of two divides."""
    rows = [({1: 3, 2: -1}, 1, INFINITY), ({2: factor, 3: -5}, 0, INFINITY), ({3: 5, 1: -3 * factor}, 0, INFINITY)]
    relaxation = make_relaxation(rows, [0] * 4, [10**9] * 4)
    certifier = Certifier(relaxation, relaxation.rows)
    ray = np.array([1.0, 1 / factor + noise, 1 / factor - noise])
    assert refute(certifier, ray, relaxation.lower, relaxation.upper) is not None
    assert refute(certifier, ray * [1, 1, 0.9], relaxation.lower, relaxation.upper) is None


@given(programs())
def test_a_ray_refutes_no_box_with_a_solution(program: tuple[Relaxation, np.ndarray]) -> None:
    relaxation, ray = program
    certifier = Certifier(relaxation, relaxation.rows)
    if refute(certifier, ray, relaxation.lower, relaxation.upper) is not None:
        assert not points_of(relaxation)


# ---- cuts


def cuts_of_rows(rows: list, lower: list[int], upper: list[int], values: list[float]) -> set:
    cutter = Cutter(LinearRows.of(rows), np.array(lower), np.array(upper), np.array(values))
    return {(tuple(sorted(cut.entries.items())), cut.side) for cut in cutter.of_rows()}


def test_a_row_is_rounded_by_its_coefficients() -> None:
    """2 x + 2 y + 3 z <= 3 excludes x = y = 1, and z beside either."""
    rows = [({0: 2, 1: 2, 2: 3}, -INFINITY, 3)]
    assert (((0, 1), (1, 1), (2, 1)), 1) in cuts_of_rows(rows, [0, 0, 0], [1, 1, 1], [1, 0.5, 0])


@pytest.mark.parametrize("constant", [2**63, -(2**63), 2**80, INFINITY, -INFINITY])
def test_a_row_with_a_side_beyond_all_bounds_is_no_row(constant: int) -> None:
    builder = RelaxationBuilder()
    x, y = (Affine(builder.column(0, 9), 1, 0) for _ in "xy")
    terms = [(1, x), (-1, y), (constant, Affine(-1, 0, 1))]
    builder.add(terms, high=0)
    builder.add(terms, low=0)
    builder.add(terms, 0, 0)
    assert not builder.rows
    builder.add(terms, 3 + constant, 2 * constant if constant > 0 else INFINITY)
    builder.add(terms, 2 * constant if constant < 0 else -INFINITY, 3 + constant)
    assert [row[1:] for row in builder.rows] == [(3, INFINITY), (-INFINITY, 3)]


def test_fractions_are_found_again_and_nonsense_is_none() -> None:
    assert as_fractions(np.array([0.5, -1 / 3, 0.0, 2.0])) == (6, {0: 3, 1: -2, 3: 12})
    assert as_fractions(np.array([2**0.5, 3**0.5, 5**0.5])) is None
    assert as_fractions(np.array([])) is None


def test_a_relaxation_is_not_made_to_its_end_once_the_search_is_over() -> None:
    options = Options()
    prepared = prepare(parse_text(knapsack(2, items=4)[0]), options, Interrupt(None))
    bounding = Bounding(Judge(prepared, options))
    assert bounding.beside.make() is not None
    bounding.beside.stop()
    assert bounding.beside.make() is None


# ---- the whole


def knapsack(seed: int, items: int = 25, copies: int = 3) -> tuple[str, int]:
    """A bounded knapsack whose weights and values nearly agree, and its optimum by dynamic programming."""
    random = Random(seed)
    weights = [random.randint(20, 99) for _ in range(items)]
    values = [weight + random.randint(-10, 10) for weight in weights]
    capacity = sum(weights) * copies * 43 // 100
    best = [0] * (capacity + 1)
    for weight, value in zip(weights, values):
        for _ in range(copies):
            for room in range(capacity, weight - 1, -1):
                best[room] = max(best[room], best[room - weight] + value)
    names = ",".join(f"x{i}" for i in range(items))
    text = "".join(f"var 0..{copies}: x{i} :: output_var;\n" for i in range(items))
    text += f"var 0..{sum(values) * copies}: total :: output_var;\n"
    text += f"constraint int_lin_le({weights},[{names}],{capacity});\n"
    return text + f"constraint int_lin_eq({[*values, -1]},[{names},total],0);\nsolve maximize total;\n", best[capacity]


@pytest.mark.parametrize("seed", range(3))
def test_a_knapsack_is_proved(engine: str, seed: int) -> None:
    text, optimum = knapsack(seed)
    result = solve_text(text, arch=engine, threads=2, check=True)
    assert (result.status, result.objective) == ("OPTIMAL_SOLUTION", optimum)
    assert result.statistics["objectiveBound"] == optimum


def test_what_only_the_relaxation_refutes_has_no_solution() -> None:
    names = "abc"
    text = "".join(f"var bool: {name} :: output_var;\n" for name in names) + "var 0..3: n;\n"
    text += "".join(f"constraint bool_clause([],[{x},{y}]);\n" for x, y in itertools.combinations(names, 2))
    text += "constraint bool_lin_eq([1,1,1],[a,b,c],n);\nconstraint int_le(2,n);\nsolve minimize n;\n"
    beside = beside_of(text)
    beside.run()
    assert beside.bound == NO_SOLUTION and beside.n_nodes == 0
    assert solve_text(text, arch="cpu", threads=2).status == "UNSATISFIABLE"


def test_a_rounded_objective_is_a_multiple_of_its_coefficients() -> None:
    text = "var 0..9: x :: output_var;\nvar 0..9: y :: output_var;\nvar 0..900: z :: output_var;\n"
    text += "constraint int_lin_eq([6,10,-1],[x,y,z],-1);\nconstraint int_lin_le([-2,-3],[x,y],-5);\n"
    text += "solve minimize z;\n"
    beside = beside_of(text)
    beside.run()
    assert beside.bound == beside.best == 17  # x = 1, y = 1; or x = 3: 19


def test_nothing_is_proved_of_an_objective_that_no_row_has() -> None:
    beside = beside_of("var 1..5: x;\nvar 1..5: y;\nconstraint int_pow(x,3,y);\nsolve maximize y;\n")
    beside.run()
    assert beside.bound == -NO_SOLUTION and beside.fault is None


@pytest.mark.parametrize("settings", [{"threads": 1}, {"seed": 1}, {"threads": 2, "relaxation": "off"}, {"blocks": 1}])
def test_there_is_none_beside_a_tree_of_one_block_or_where_it_is_not_wanted(settings, monkeypatch) -> None:
    started = []
    monkeypatch.setattr(Beside, "start", lambda beside: started.append(beside))
    monkeypatch.setattr(Beside, "join", lambda beside: None)
    text, optimum = knapsack(1, items=4)
    settings = {"arch": "cpu", "learn": "off", **settings}
    assert solve_text(text, **settings).objective == optimum and started == []
    assert solve_text(text, **{**settings, "relaxation": "on"}).objective == optimum and len(started) == 1


def test_free_search_on_one_thread_has_it_with_a_share_of_the_time(monkeypatch) -> None:
    started = []
    monkeypatch.setattr(Beside, "start", lambda beside: started.append(beside.share))
    monkeypatch.setattr(Beside, "join", lambda beside: None)
    text, optimum = knapsack(1, items=4)
    for threads, seed in ((1, None), (1, 7), (2, 7)):
        assert solve_text(text, arch="cpu", threads=threads, seed=seed, free_search=True).objective == optimum
    assert started == [TUNING.relaxation_share, TUNING.relaxation_share, 1]


def test_dividing_rests_while_it_has_had_its_share(monkeypatch) -> None:
    clock = [10.0]
    times = {"monotonic": lambda: clock[0], "thread_time": lambda: 3.0}
    sleep = lambda seconds: clock.append(clock.pop() + seconds)  # noqa: E731
    monkeypatch.setattr("turbo_fzn.bounds.thread.relaxation_thread.time", SimpleNamespace(**times, sleep=sleep))
    beside = beside_of(knapsack(1, items=4)[0])
    beside.began, beside.worked, beside.share = 8.0, 1.0, 1  # 2 s of work in 2 s
    beside.rest()
    assert clock == [10]
    beside.share = 0.5
    beside.rest()
    assert 12 <= clock[0] < 12.1


def test_without_the_solver_the_search_is_alone(monkeypatch, caplog) -> None:
    for name in ("search.root", "search.tree", "cuts.cutter", "lp.highs"):
        monkeypatch.delitem(sys.modules, f"turbo_fzn.bounds.{name}", raising=False)
    monkeypatch.setitem(sys.modules, "highspy", None)
    beside = beside_of(knapsack(1)[0])
    with caplog.at_level("INFO", "turbo_fzn"):
        beside.run()
    assert "no bounds from relaxations: import of highspy" in caplog.text
    assert beside.bound == -NO_SOLUTION and beside.fault is None


def test_nothing_of_it_is_imported_without_an_objective() -> None:
    script = (
        "import sys; from turbo_fzn import solve_text;"
        "solve_text('var 1..3: x :: output_var; solve satisfy;', arch='cpu', threads=2);"
        "print([name for name in sys.modules if name == 'highspy' or name.startswith('turbo_fzn.bounds')])"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=PATIENCE)
    assert run.stdout == "[]\n", run.stdout + run.stderr


def test_no_other_package_can_take_its_library_for_its_own() -> None:
    """OR-Tools has a shared library of the same name in it: a process has room for one of them."""
    script = "import highspy; print(*sorted({line.split()[-1] for line in open('/proc/self/maps')}))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=PATIENCE)
    mapped = {Path(path).name for path in run.stdout.split()}
    assert any(name.startswith("_core") for name in mapped), run.stderr
    assert not any(name.startswith("libhighs") for name in mapped)


def test_a_fault_of_the_relaxation_costs_no_answer(monkeypatch, caplog) -> None:
    def fail(prepared, stopped):
        raise ZeroDivisionError("a fault")

    monkeypatch.setattr("turbo_fzn.run.bounding.relaxation_of", fail)
    monkeypatch.setattr(Beside, "_begin", Beside.run)  # without a head start of the search, which would end before
    text, optimum = knapsack(2, items=4)
    assert solve_text(text, arch="cpu", threads=2).objective == optimum
    assert "ZeroDivisionError: a fault" in caplog.text


def test_a_search_that_ends_within_its_head_start_makes_no_relaxation(monkeypatch) -> None:
    monkeypatch.setattr("turbo_fzn.bounds.thread.tuning.TUNING.head_start_seconds", 10**6)
    beside = beside_of(knapsack(1)[0])
    beside.start()
    beside.stop()
    beside.thread.join(PATIENCE)
    assert not beside.thread.is_alive() and beside.bound == -NO_SOLUTION
