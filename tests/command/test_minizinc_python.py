"""MiniZinc's Python package (PyPI: minizinc) with this solver."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta

import pytest

from support.command import time_limits
from support.needs import needs_minizinc

minizinc = pytest.importorskip("minizinc", reason="the package minizinc is not installed (pip install minizinc)")

pytestmark = needs_minizinc
Status = minizinc.Status

QUEENS = """\
include "alldifferent.mzn";
int: n;
array [1..n] of var 1..n: row;
constraint alldifferent(row) /\\ alldifferent([row[i] + i | i in 1..n]) /\\ alldifferent([row[i] - i | i in 1..n]);
solve satisfy;
"""
TOP = """\
var 1..4: x; var 1..3: y; constraint x + y <= 5;
solve :: int_search([x, y], input_order, indomain_min) maximize x;
"""
GOLOMB = """\
include "alldifferent.mzn";
array [1..13] of var 0..169: mark;
constraint mark[1] = 0 /\\ forall (i in 1..12) (mark[i] < mark[i + 1]);
constraint alldifferent([mark[j] - mark[i] | i, j in 1..13 where i < j]);
solve :: int_search(mark, input_order, indomain_min) minimize mark[13];
"""


@pytest.fixture(scope="module")
def solver(solvers):
    """The solver that MiniZinc's Python package finds in a folder of configurations."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MZN_SOLVER_PATH", str(solvers))
        yield minizinc.Solver.lookup("turbo", refresh=True)


def instance(solver, text: str, **data: object):
    model = minizinc.Model()
    model.add_string(text)
    made = minizinc.Instance(solver, model)
    for name, value in data.items():
        made[name] = value
    return made


@pytest.mark.covers("P1", "C1", "C2", "C13")
def test_the_solver_is_found_and_its_configuration_is_loaded(solver, solvers):
    path = solvers / "turbo.msc"
    written = json.loads(path.read_text())
    loaded = minizinc.Solver.load(path)
    for known in (solver, loaded):
        assert (known.id, known.name, known.version) == tuple(written[key] for key in ("id", "name", "version"))
    assert loaded.stdFlags == written["stdFlags"]
    assert loaded.needsSolns2Out is True


@pytest.mark.covers("P2")
def test_one_solution_is_found(solver):
    result = instance(solver, QUEENS, n=8).solve()
    assert result.status == Status.SATISFIED
    assert sorted(result["row"]) == list(range(1, 9))
    assert instance(solver, QUEENS, n=3).solve().status == Status.UNSATISFIABLE


@pytest.mark.covers("P3")
def test_all_and_some_solutions_of_a_satisfaction_model(solver):
    result = instance(solver, QUEENS, n=8).solve(all_solutions=True)
    assert (result.status, len(result)) == (Status.ALL_SOLUTIONS, 92)
    assert len({tuple(solution.row) for solution in result.solution}) == 92
    assert len(instance(solver, QUEENS, n=8).solve(nr_solutions=5)) == 5


@pytest.mark.covers("P3", "F6", "F7")
def test_optimal_and_improving_solutions_of_an_optimisation_model(solver):
    result = instance(solver, TOP).solve()
    assert (result.status, result.objective) == (Status.OPTIMAL_SOLUTION, 4)
    result = instance(solver, TOP.replace("<= 5", "<= 6")).solve(all_solutions=True)
    assert result.status == Status.OPTIMAL_SOLUTION
    assert sorted((one.x, one.y) for one in result.solution) == [(4, 1), (4, 2)]
    result = instance(solver, TOP).solve(intermediate_solutions=True)
    assert [one.objective for one in result.solution][-1] == 4


@pytest.mark.covers("P2")
def test_solutions_come_one_by_one_asynchronously(solver):
    async def collect() -> list[tuple[int, ...]]:
        seen = []
        async for result in instance(solver, QUEENS, n=6).solutions(all_solutions=True):
            if result.solution is not None:
                seen.append(tuple(result.solution.row))
        return seen

    seen = asyncio.run(collect())
    assert len(seen) == len(set(seen)) == 4


@pytest.mark.covers("P2")
def test_two_models_are_solved_at_the_same_time(solver):
    async def both():
        return await asyncio.gather(*(instance(solver, QUEENS, n=n).solve_async() for n in (5, 6)))

    assert [sorted(result["row"]) for result in asyncio.run(both())] == [[1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 6]]


@pytest.mark.covers("P4", "S2")
def test_statistics_have_their_types(solver):
    statistics = instance(solver, TOP).solve().statistics
    for name in ("nodes", "failures", "restarts", "peakDepth", "propagations", "variables", "propagators"):
        assert isinstance(statistics[name], int) and statistics[name] >= 0, name
    assert statistics["nodes"] > 0
    for name in ("solveTime", "initTime"):
        assert isinstance(statistics[name], timedelta), name
    assert float(statistics["objective"]) == float(statistics["objectiveBound"]) == 4


@pytest.mark.covers("P5", "T1")
def test_a_time_limit_gives_the_best_solution_found(solver):
    for limit in time_limits():
        result = instance(solver, GOLOMB).solve(time_limit=timedelta(milliseconds=limit), intermediate_solutions=False)
        if result.status != Status.UNKNOWN:
            break
    assert result.status == Status.SATISFIED
    marks = result.solution.mark
    assert len({b - a for i, a in enumerate(marks) for b in marks[i + 1 :]}) == 78


@pytest.mark.covers("P6", "C8")
def test_threads_seeds_free_search_and_our_own_flags_are_passed_on(solver):
    result = instance(solver, TOP).solve(
        processes=2, random_seed=3, free_search=True, **{"--lns": "on", "--check": True}
    )
    assert (result.status, result.objective) == (Status.OPTIMAL_SOLUTION, 4)
    result = instance(solver, TOP).solve(**{"--blocks": "3", "--no-simplify": True})
    assert (result.objective, result.statistics["blocks"]) == (4, 3)


def test_an_error_is_an_exception_that_names_it(solver):
    with pytest.raises(minizinc.error.MiniZincError, match="reified"):
        instance(
            solver,
            "predicate float_sqrt_reif(var float: x, var float: y, var bool: b);"
            "var 0.0..1.0: x; var bool: b; constraint float_sqrt_reif(x, x, b); solve satisfy;",
        ).solve()
