"""Models with float variables: what each builtin means, plain and reified, and what is said where little can be said.

Answers are compared with Python's own functions. Random models are tests/fuzz/reals.py's.
"""

from __future__ import annotations

import io
import math
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from support.flatzinc_text import with_text
from support.float_cases import BROKEN, CASES, FORMS, FUNCTIONS, broken, posed
from turbo_fzn import solve_text
from turbo_fzn.base import floats
from turbo_fzn.base.errors import UnsupportedError
from turbo_fzn.check.checker import Checker
from turbo_fzn.check.reals import distance, excess, linear, may_be
from turbo_fzn.interface.api import Result
from turbo_fzn.lower.float_table import PARTIAL
from turbo_fzn.lower.rewrite import lower
from turbo_fzn.predicates.floats import FLOATS
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.run.answer.output import float_text
from turbo_fzn.tnf import text


def solve(model: str, **settings: object) -> Result:
    return solve_text(model, **{"arch": "cpu", "threads": 1, "time_limit": 60_000, **settings})


def test_every_builtin_is_here():
    assert CASES.keys() == {one.name for one in FLOATS}
    assert BROKEN.keys() == {one.name for one in FLOATS if one.defined != len(one.kinds) - 1}


@pytest.mark.parametrize(("name", "index"), FORMS)
def test_a_builtin_holds_where_it_should_and_fails_elsewhere(name, index):
    arguments = CASES[name][index]
    assert solve(posed(name, arguments)).status == "SATISFIED"
    assert solve(posed(name, broken(name, arguments)), simplify=False).status == "UNSATISFIABLE"


TOTAL = [(name, index) for name, index in FORMS if name.removeprefix("float_") not in {*PARTIAL, "div", "pow"}]


@pytest.mark.parametrize(("name", "index"), TOTAL)
def test_a_reified_builtin_has_the_truth_value_of_its_relation(name, index):
    """A result that is only known to be about the exact one may also be another."""
    arguments = CASES[name][index]
    for wanted, values in ((True, arguments), (False, broken(name, arguments))):
        result = solve(posed(name, values, "_reif"), all_solutions=True)
        truths = {solution["b"] for solution in result.solutions}
        assert wanted in truths and (truths == {wanted} or (wanted and name in FUNCTIONS)), (name, values)
    assert solve(posed(name, broken(name, arguments), "_imp", " = true")).status == "UNSATISFIABLE"
    assert solve(posed(name, broken(name, arguments), "_imp", " = false")).status == "SATISFIED"
    assert solve(posed(name, arguments, "_imp", " = true")).status == "SATISFIED"


def test_a_partial_function_that_is_reified_is_refused_by_name():
    with pytest.raises(UnsupportedError, match="cannot be reified"):
        solve(posed("float_sqrt", [2.0, 1.5], "_reif"))
    with pytest.raises(UnsupportedError, match="float_pow of a base that may be 0"):
        solve("var -1.0..1.0: x; var 0.0..1.0: y; constraint float_pow(x,0.3,y); solve satisfy;")


# ---- reals, not doubles


def test_between_two_doubles_there_are_numbers():
    after = math.nextafter(1.5, 2)
    between = f"var float: x; constraint float_lt(1.5,x); constraint float_lt(x,{after!r}); solve satisfy;"
    assert solve(between).status != "UNSATISFIABLE"
    root = "var 1.0..2.0: x :: output_var; constraint float_times(x,x,2.0); solve satisfy;"
    (solution,) = solve(root).solutions
    assert abs(solution["x"] - math.sqrt(2)) < 1e-6  # type: ignore[operator]


@pytest.mark.parametrize(
    "model",
    [
        "var float: x; var float: y; constraint float_times(x,x,y); constraint float_lt(y,0.0); solve satisfy;",
        "var 0.5..1.0: x; var float: y; constraint float_exp(x,y); constraint float_le(y,1.6); solve satisfy;",
        "var 1..4: n; var float: x; constraint int2float(n,x); constraint float_in(x,1.25,1.75); solve satisfy;",
        "var -9.0..9.0: x; var float: y; constraint float_div(x,y,2.0); constraint float_eq(y,0.0); solve satisfy;",
        "var 2.0..1.0: x; solve satisfy;",
        "var 0.0..5.0: x; constraint float_in(x,3.0,1.0); solve satisfy;",
        "var 0.0..5.0: x; constraint float_dom(x,[4.0,2.0,3.0,1.0]); solve satisfy;",
        "var 0.0..1.0: x; var 0.0..1.0: y; var bool: b = false; constraint float_lin_le_reif([1.0,1.0],[x,y],2.0,b);"
        " solve satisfy;",
    ],
)
@pytest.mark.parametrize("simplify", [True, False])
def test_what_no_numbers_satisfy_is_unsatisfiable(model, simplify):
    assert solve(model, simplify=simplify).status == "UNSATISFIABLE"


@pytest.mark.parametrize(
    ("coefficients", "at", "form"),
    [
        ([0.1], [5], "eq"),
        ([27.9, -0.243], [1, 9], "eq"),
        ([-0.106, 10.3], [7, 6], "le"),
        ([0.1, 0.2, -0.3], [1, 1, 1], "eq"),
        ([0.1, 0.7, 0.2], [1, 1, 1], "eq"),
    ],
)
@pytest.mark.parametrize("room", [0, 3])
def test_a_sum_of_decimal_fractions_is_what_it_is_on_paper(coefficients, at, form, room):
    """Their doubles miss it by a last place or two. `room`: the integers are not known beforehand."""
    k = sum(Decimal(str(c)) * x for c, x in zip(coefficients, at))
    integers = [f"var {x}..{x + room}: n{i} :: output_var; var float: x{i};" for i, x in enumerate(at)]
    links = [f"constraint int2float(n{i},x{i});" for i in range(len(at))]
    total = f"constraint float_lin_{form}({coefficients},[{','.join(f'x{i}' for i in range(len(at)))}],{float(k)!r});"
    result = solve("".join([*integers, *links, total, "solve satisfy;"]), all_solutions=True)
    assert at in [list(solution.values()) for solution in result.solutions]


@pytest.mark.parametrize("precision", [1e-6, 1e-9, 1e-12])
def test_decimal_fractions_and_wide_domains_leave_room_for_a_small_precision(precision):
    model = (
        "var 0.0..1e7: x :: output_var; var 0.0..1e7: y :: output_var;"
        "constraint float_lin_eq([0.1,1.3],[x,y],0.3); constraint float_lin_le([0.7,-1.1],[x,y],0.1); solve maximize x;"
    )
    result = solve(model, float_precision=precision)
    assert result.status == "OPTIMAL_SOLUTION" and result.objective == pytest.approx(0.46 / 1.02, abs=2 * precision)


@pytest.mark.parametrize(
    "model",
    [
        "var float: x :: output_var; constraint float_eq(x,1e200); solve satisfy;",  # beyond all codes
        "var float: x :: output_var; var float: y; constraint float_exp(x,y); constraint float_lt(400.0,x);"
        " solve satisfy;",
    ],
)
@pytest.mark.parametrize("time_limit", [300, pytest.param(2000, marks=pytest.mark.slow)])
def test_where_nothing_can_be_said_nothing_is(model, time_limit):
    for settings in ({"check": True}, {"check": False}, {"threads": 2}):
        assert solve(model, time_limit=time_limit, **settings).status == "UNKNOWN"


@pytest.mark.parametrize("settings", [{"check": False}, {"threads": 2}, {"free_search": True}], ids=str)
def test_no_optimum_is_claimed_where_an_objective_in_constraints_has_no_bound(settings):
    model = "var float: x :: output_var; var float: y; constraint float_lin_eq([1.0,-2.0],[x,y],0.0); solve maximize x;"
    assert solve(model, time_limit=500, **settings).status in ("UNKNOWN", "SATISFIED")


def test_an_unbounded_real_objective_is_claimed_where_the_check_is_on_only():
    model = "var float: x :: output_var; var 1.0..2.0: y :: output_var; solve maximize x;"
    checked, trusted = (solve(model, time_limit=2000, check=check) for check in (True, False))
    assert (checked.status, trusted.status) == ("UNBOUNDED", "SATISFIED")
    assert len(checked.solutions) == 1 and 1 <= checked.solutions[0]["y"] <= 2


@pytest.mark.parametrize("precision", [1e-3, 1e-6])
@pytest.mark.parametrize("way", [{"threads": 1}, {"threads": 2}, {"free_search": True}, {"lns": "off"}], ids=str)
def test_the_optimum_is_found_and_proved_to_within_the_precision(precision, way):
    """The smallest x + y on the branch of a hyperbola: 2 at (1, 1)."""
    model = (
        "var 0.1..10.0: x :: output_var; var 0.1..10.0: y :: output_var; var 0.0..20.0: s :: output_var;"
        "constraint float_times(x,y,1.0); constraint float_lin_eq([1.0,1.0,-1.0],[x,y,s],0.0); solve {} s;"
    )
    result = solve(model.format("minimize"), float_precision=precision, **way)
    assert result.status == "OPTIMAL_SOLUTION"
    assert result.objective == pytest.approx(2.0, abs=2 * precision)
    result = solve(model.format("maximize"), float_precision=precision, **way)
    assert result.status == "OPTIMAL_SOLUTION"
    assert result.objective == pytest.approx(10.1, abs=10.1 * precision)


def test_integers_that_determine_all_floats_leave_one_number():
    model = (
        "var 1..3: n :: output_var; var float: f; var float: x :: output_var; constraint int2float(n,f);"
        "constraint float_lin_eq([2.5,-1.0],[f,x],0.0); solve satisfy;"
    )
    result = solve(model, all_solutions=True)
    assert result.status == "ALL_SOLUTIONS"
    assert [(s["n"], s["x"]) for s in result.solutions] == [(1, 2.5), (2, 5.0), (3, 7.5)]


@pytest.mark.parametrize(("choice", "first"), [("indomain_split", 1.0), ("indomain_reverse_split", 4.0)])
def test_a_float_search_is_followed(choice, first):
    model = f"var 1.0..4.0: x :: output_var; solve :: float_search([x],0.001,input_order,{choice},complete) satisfy;"
    (solution,) = solve(model).solutions
    assert solution["x"] == pytest.approx(first, abs=1e-6)


@pytest.mark.parametrize("name", ["minimum", "maximum"])
def test_the_rows_of_a_least_number_of_many_are_all_of_real_variables(name):
    """A relaxation would take others for integers or constants, and prove a wrong bound."""
    variables = "".join(f"var {i}.0..9.0: x{i};" for i in range(5))
    constraint = f"constraint array_float_{name}(m,[x0,x1,x2,x3,x4]);"
    tnf = lower(parse_text(f"{variables} var float: m; {constraint} solve satisfy;")).tnf
    assert tnf.floats is not None
    free = tnf.lower < tnf.upper
    for side in (tnf.x, tnf.y, tnf.z):
        assert np.all(tnf.floats.mask[side] | ~free[side])


# ---- the checker, by pinned values


def test_a_relation_holds_to_within_the_precision_and_near_the_border_its_negation_too():
    assert may_be(True, distance(1.0, 1.0 + 1e-7), 1e-6) and not may_be(True, distance(1.0, 1.00001), 1e-6)
    assert may_be(True, distance(1e9, 1e9 + 100), 1e-6) and not may_be(True, distance(1e9, 1e9 + 10_000), 1e-6)
    assert may_be(True, excess(1.0 + 1e-7, 1.0), 1e-6) and may_be(False, excess(1.0 - 1e-7, 1.0), 1e-6)
    assert not may_be(True, excess(1.1, 1.0), 1e-6) and not may_be(False, excess(0.9, 1.0), 1e-6)
    assert linear([1.0, -1.0], [1e9, 1e9], 0.5) == (-0.5, 2e9 + 0.5)


def test_what_overflows_equals_nothing():
    assert not may_be(True, distance(math.inf, 1e154), 1e-6) and may_be(False, distance(math.inf, 1e154), 1e-6)
    assert not may_be(True, linear([1e300, -1e300], [2e100, 1e100], 0.0), 1e-6)
    assert may_be(True, linear([1e300, -1e300], [1e100, 1e100], 0.0), 1e-6)


@pytest.mark.parametrize(("name", "index"), FORMS)
def test_the_checker_knows_right_from_wrong(name, index):
    for values, right in ((CASES[name][index], True), (broken(name, CASES[name][index]), False)):
        model = parse_text(posed(name, values))
        known = {key: variable_value(variable) for key, variable in model.variables.items()}
        strict = name in ("float_ne", "float_lt", "float_lin_lt", "float_lin_ne")
        assert (Checker(model).undecided(known) is None) == (right or strict), (name, values)


def variable_value(variable: object) -> float:
    domain, value = variable.domain, variable.value  # type: ignore[attr-defined]
    if domain is None:
        return value
    return sum(domain.values) / 2 if hasattr(domain, "values") else domain.lower


# ---- texts


@pytest.mark.parametrize(
    ("value", "written"),
    [(1.0, "1.0"), (-0.0, "0.0"), (0.1, "0.1"), (1e22, "1.0e+22"), (1.5e-9, "1.5e-09"), (-1e-7, "-1.0e-07")],
)
def test_floats_are_written_with_a_point_and_read_back(value, written):
    assert float_text(value) == written and float(written) == value


def test_the_point_of_a_box_has_the_fewest_digits():
    assert floats.shortest(0.2999999, 0.3000001) == 0.3
    assert floats.shortest(-1.5, 2.5) == 0.0
    assert floats.shortest(-2.0000001, -1.9999999) == -2.0
    assert floats.shortest(math.pi, math.pi) == math.pi


def test_codes_are_ordered_like_numbers_and_lead_back():
    values = [-floats.GREATEST, -1e9, -1.0, -floats.LEAST, 0.0, floats.LEAST, 1e-9, 0.1, 1.0, 2.0, 1e100]
    codes = [floats.below(value) for value in values]
    assert codes == sorted(set(codes)) and [floats.number(code) for code in codes] == values
    assert floats.numbers(np.array(codes)).tolist() == values
    assert floats.interval(1e-300) == (0, 1) and floats.interval(-1e-300) == (-1, 0)
    assert floats.above(1e300) == 2**62 and floats.below(1e300) == 2**62 - 1


def test_the_ternary_form_with_real_variables_is_written_read_and_solved(tmp_path: Path):
    model = with_text(parse_text("var 1.0..2.0: x :: output_var; constraint float_times(x,x,2.0); solve minimize x;"))
    tnf = lower(model).tnf
    file = io.StringIO()
    text.write(tnf, file)
    path = tmp_path / "m.tnf"
    path.write_text(file.getvalue())
    again = text.read(path)
    assert again.floats is not None and tnf.floats is not None
    for name in ("op", "x", "y", "z", "lower", "upper"):
        assert np.array_equal(getattr(again, name), getattr(tnf, name)), name
    assert np.array_equal(again.floats.mask, tnf.floats.mask)
    assert [output.kind for output in again.outputs] == ["float"]
