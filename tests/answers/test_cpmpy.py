"""The solver class of CPMpy: answers, statuses and refusals as CPMpy's users expect them.

Random models: tests/fuzz/cpmpy_models.py. CPMpy and OR-Tools come with the extra `test`.
"""

from __future__ import annotations

import inspect
import itertools
import re
from pathlib import Path
from random import Random

import pytest

from support.needs import needs_cpmpy
from support.places import ROOT

pytestmark = needs_cpmpy
SEED = 30
COUNT, PART = 240, 12


@pytest.fixture(scope="module")
def cp():
    import cpmpy

    import turbo_fzn.cpmpy

    turbo_fzn.cpmpy.register()
    return cpmpy


def solutions(cp, *constraints, solver="turbo", **goal) -> tuple[list[tuple], str]:
    """All solutions as the user's variables have them, in order of names, and the exit status."""
    found: list[tuple] = []
    solver = cp.SolverLookup.get(solver, cp.Model(*constraints, **goal))
    variables = sorted(solver.user_vars, key=lambda one: one.name)
    count = solver.solveAll(display=lambda: found.append(tuple(one.value() for one in variables)))
    assert count == len(found) == len(set(found))
    return sorted(found), solver.status().exitstatus.name


CONSTRAINTS = {
    "a difference": lambda cp, x, y, p: cp.expressions.core.Operator("sub", [x, y]) >= 1,
    "a difference, reified": lambda cp, x, y, p: p == (cp.expressions.core.Operator("sub", [x, y]) != 1),
    "an opposite": lambda cp, x, y, p: cp.expressions.core.Operator("-", [x]) > y,
    "true": lambda cp, x, y, p: [cp.BoolVal(True), p.implies(True), x <= y],
    "false": lambda cp, x, y, p: [cp.BoolVal(False), x <= y],
    "tasks apart": lambda cp, x, y, p: cp.NoOverlap([x, y], [2, 1]),
    "tasks at once": lambda cp, x, y, p: cp.Cumulative([x, y], [1, y], demand=[2, 1], capacity=2),
    "tasks, reified": lambda cp, x, y, p: p == cp.NoOverlap([x, y], [x, 1]),
    "absent tasks, negated": lambda cp, x, y, p: ~cp.NoOverlapOptional([x, 0], [y, 2], None, [p, True]),
    "absent tasks at once": lambda cp, x, y, p: cp.CumulativeOptional([x, y], [1, 2], [0, 2], [2, y], 2, [p, ~p]),
    "an absent task that starts nowhere": lambda cp, x, y, p: cp.NoOverlapOptional([x // y, 1], [0, 1], None, [p, ~p]),
    "a conjunction compared": lambda cp, x, y, p: cp.all([x > 1, y > 1]) + p >= 1,
    "a global constraint compared": lambda cp, x, y, p: cp.AllDifferent(x, y) >= 1,
    "a table that must not hold": lambda cp, x, y, p: cp.Table([x, y], [[1, 2], [0, 0]]) < 1,
    "a division": lambda cp, x, y, p: x // y == -2,
    "a division, reified": lambda cp, x, y, p: p == (x // y == 1),
    "a remainder, negated": lambda cp, x, y, p: ~(x % y == 1),
    "an element beyond its array": lambda cp, x, y, p: p.implies(cp.cpm_array([3, y, 1])[x] >= 1),
    "a count": lambda cp, x, y, p: p == (cp.Count([x, y, 2], y) > 1),
    "a negated circuit": lambda cp, x, y, p: ~cp.Circuit([x, y]),
    "a list with constants": lambda cp, x, y, p: p == cp.Xor([x > 0, True, y > 0, False]),
}


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_the_solutions_are_those_that_the_values_of_the_constraint_say(cp, name):
    x, y, p = cp.intvar(-2, 3, name="x"), cp.intvar(-3, 2, name="y"), cp.boolvar(name="p")
    constraint = cp.all(cp.transformations.normalize.toplevel_list(CONSTRAINTS[name](cp, x, y, p)))
    expected = []
    for p._value, x._value, y._value in itertools.product((False, True), range(-2, 4), range(-3, 3)):
        if cp.expressions.utils.argval(constraint):
            expected.append((p.value(), x.value(), y.value()))
    every = p + x + y >= -9  # names all variables
    assert solutions(cp, constraint, every) == (sorted(expected), "OPTIMAL" if expected else "UNSATISFIABLE")


def test_all_optimal_solutions_are_found(cp):
    z = cp.intvar(0, 3, shape=3, name="z")
    found, status = solutions(cp, cp.sum(z) >= 1, minimize=cp.sum(z))
    assert (found, status) == ([(0, 0, 1), (0, 1, 0), (1, 0, 0)], "OPTIMAL")


def test_a_limit_of_solutions_makes_the_enumeration_incomplete(cp):
    x = cp.intvar(1, 3, name="x")
    for goal, n_all in (({}, 3), ({"maximize": x * 0}, 3), ({"maximize": x}, 1)):
        model = cp.Model(x >= 1, **goal)
        for limit in (1, 3, 9):
            assert model.solveAll(solver="turbo", solution_limit=limit) == min(limit, n_all)
            assert model.status().exitstatus.name == ("FEASIBLE" if limit <= n_all else "OPTIMAL")


@pytest.mark.parametrize("limit", [-1, 0, float("nan")])
def test_a_time_limit_must_be_positive(cp, limit):
    solver = cp.SolverLookup.get("turbo", cp.Model(cp.boolvar()))
    for call in (solver.solve, solver.solveAll):
        with pytest.raises(ValueError, match="must be positive"):
            call(time_limit=limit)
    assert solver.solve(time_limit=60) and solver.solve(time_limit=float("inf"))


def test_what_is_not_known_is_refused_by_name(cp):
    cp.expressions.core.Operator.allowed["mystery"] = (1, True)
    x, p = cp.intvar(0, 3, name="x"), cp.boolvar(name="p")
    try:
        mystery = cp.expressions.core.Operator("mystery", [p])
        for constraint in (mystery, p == mystery, p.implies(mystery)):
            with pytest.raises(cp.exceptions.NotSupportedError, match="mystery"):
                cp.SolverLookup.get("turbo", cp.Model(constraint))
    finally:
        del cp.expressions.core.Operator.allowed["mystery"]
    for constraint, name in ((x >= 1.5, "1.5"), (cp.intvar(0, 2**63, name="far") > 1, "far")):
        with pytest.raises(cp.exceptions.NotSupportedError, match=name):
            cp.SolverLookup.get("turbo", cp.Model(constraint))
    solver = cp.SolverLookup.get("turbo", cp.Model(x >= 1))
    with pytest.raises(cp.exceptions.NotSupportedError, match="x > 1"):
        solver.solve(assumptions=[x > 1])
    with pytest.raises(cp.exceptions.NotSupportedError, match="gecode"):
        cp.SolverLookup.get("turbo:gecode")


def test_values_are_cleared_where_there_is_no_solution_and_objectives_may_change(cp):
    x = cp.intvar(0, 10, shape=2, name="x")
    solver = cp.SolverLookup.get("turbo", cp.Model(x[0] + 3 <= x[1]))
    for sense, value in ((solver.minimize, 3), (solver.maximize, 17)):
        sense(cp.sum(x))
        assert solver.solve() and solver.status().exitstatus.name == "OPTIMAL"
        assert solver.objective_value() == value == sum(x.value())
    solver += x[0] > 8
    assert not solver.solve() and solver.objective_value() is None
    assert solver.status().exitstatus.name == "UNSATISFIABLE" and set(x.value()) == {None}


def test_an_objective_with_fractions_is_exact(cp):
    a, b, c = cp.boolvar(shape=3, name=("a", "b", "c"))
    gain = cp.expressions.globalfunctions.FloatSum([0.1, 0.2, 0.3, 1e-9], [~a, b, ~c, c], const=1)
    solver = cp.SolverLookup.get("turbo")
    solver.maximize(gain)
    assert solver.solve() and (a.value(), b.value(), c.value()) == (False, True, False)
    assert gain.value() == pytest.approx(1.6) and solver.objective_value() is None
    with pytest.raises(cp.exceptions.NotSupportedError, match="digits"):
        solver.maximize(cp.expressions.globalfunctions.FloatSum([1e30, 1e-30], [a, b]))


def test_assumptions_are_heeded_and_their_core_is_minimal(cp):
    a, b, c = cp.boolvar(shape=3, name=("a", "b", "c"))
    solver = cp.SolverLookup.get("turbo", cp.Model(a | b, ~a | c))
    with pytest.raises(ValueError, match="get_core"):
        solver.get_core()
    assert solver.solve(assumptions={a, ~b}) and (a.value(), b.value(), c.value()) == (True, False, True)
    assert not solver.solve(assumptions=cp.cpm_array([c, ~a, ~b])) and {*map(str, solver.get_core())} == {"~a", "~b"}
    assert not solver.solve(assumptions=[b, c, ~c]) and {*map(str, solver.get_core())} == {"c", "~c"}
    assert not solver.solve(assumptions=[a, cp.BoolVal(False)]) and str(solver.get_core()) == "[boolval(False)]"
    solver.native_model.bool_clause([], [solver.solver_var(b)])
    assert not solver.solve(assumptions=[~a]) and solver.solve()


def test_hints_are_tried_first_and_display_shows_every_improvement(cp):
    a, b = cp.boolvar(shape=2, name=("a", "b"))
    solver = cp.SolverLookup.get("turbo", cp.Model(a | b))
    for values in ((True, False), (False, True)):
        solver.solution_hint([a, ~b], [values[0], not values[1]])
        assert solver.solve() and (a.value(), b.value()) == values
    x, shown = cp.intvar(0, 40, shape=4, name="mark"), []
    model = cp.Model(x[0] == 0, cp.IncreasingStrict(x), minimize=x[3])
    model += cp.AllDifferent([x[j] - x[i] for j in range(4) for i in range(j)])
    assert model.solve(solver="turbo", display=lambda: shown.append(int(x[3].value())))
    assert shown == sorted(set(shown), reverse=True) and shown[-1] == model.objective_value() == 6


def test_names_may_be_anything_and_only_the_variables_of_the_user_count(cp):
    names = ("a, b", "a; b", "not a", "x[0]", " ", "truth", "number of p", "p")
    variables = [cp.intvar(0, 1, name=name) for name in names[:-1]] + [cp.boolvar(name="p")]
    found, status = solutions(cp, cp.sum(variables) == 1)
    assert (len(found), status) == (8, "OPTIMAL")
    x = cp.intvar(-2, 2, name="x")
    assert len(solutions(cp, (x // x == 1) | (x == 0))[0]) == 5  # once each, whatever the auxiliary variables are


def test_a_predicate_of_the_solver_may_be_posted_by_name(cp):
    x = cp.intvar(0, 3, shape=2, name="x")
    direct = cp.expressions.globalconstraints.DirectConstraint("int_lt", (x[0], x[1]))
    assert len(solutions(cp, direct)[0]) == 6


@pytest.mark.parametrize(
    "first", [pytest.param(first, marks=[pytest.mark.slow] * (first > 0)) for first in range(0, COUNT, PART)]
)
def test_random_models_are_solved_as_enumeration_says(cp, first):
    from fuzz.run import try_cpmpy

    for number in range(first, first + PART):
        verdict, text = try_cpmpy(Random(f"cpmpy/{SEED}/{number}"))
        assert not verdict.is_fault, f"number {number}: {verdict.fault}\n{text}"


def test_a_fault_of_the_class_would_be_seen(cp, monkeypatch):
    from fuzz.run import try_cpmpy
    from turbo_fzn.cpmpy import flat

    monkeypatch.setitem(flat.SUMS, "<=", ("int_lin_le", 1))
    monkeypatch.setitem(flat.SUMS, "!=", ("int_lin_eq", 0))
    assert any(try_cpmpy(Random(f"cpmpy/{SEED}/{number}"))[0].is_fault for number in range(20))


def test_every_constraint_and_function_of_cpmpy_is_drawn(cp):
    from cpmpy.expressions import globalconstraints, globalfunctions

    from fuzz import cpmpy_models

    bases = globalconstraints.GlobalConstraint, globalfunctions.GlobalFunction
    classes = [*vars(globalconstraints).values(), *vars(globalfunctions).values()]
    known = {one.__name__ for one in classes if inspect.isclass(one) and issubclass(one, bases) and one not in bases}
    text = Path(cpmpy_models.__file__).read_text(encoding="utf-8")
    assert len(known) > 40 and sorted(name for name in known if f"cp.{name}" not in text) == []


def test_nothing_else_of_the_package_imports_it():
    package = ROOT / "turbo_fzn"
    others = [path for path in package.rglob("*.py") if path.parent != package / "cpmpy"]
    importing = re.compile(r"^ *(from|import) (turbo_fzn\.)?cpmpy\b", re.MULTILINE)
    assert len(others) > 200 and [path for path in others if importing.search(path.read_text(encoding="utf-8"))] == []
