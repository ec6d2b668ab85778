"""The checker: every predicate pinned by hand, then compared with the oracle, then its column form with its plain
one."""

from __future__ import annotations

import random
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.builtin_cases import all_cases
from support.flatzinc_text import make_model, with_text
from support.oracle import all_solutions
from turbo_fzn.base.domains import BOOLEAN, INFINITY, IntSet
from turbo_fzn.base.errors import ModelError, UnsupportedError
from turbo_fzn.check.checker import Checker
from turbo_fzn.check.meanings import MEANINGS
from turbo_fzn.check.own import OWN_MEANINGS
from turbo_fzn.check.relations import FORMS, RELATIONS
from turbo_fzn.predicates.signature import IMPLIED, PLAIN, REIFIED
from turbo_fzn.predicates.table import PREDICATES
from turbo_fzn.read.model import Array, Constraint, Index, Ref, Variable

ODD = IntSet.of_values([-1, 1, 3])
HUGE = 10**30

# (predicate, arguments that satisfy it, arguments that do not), by hand from MiniZinc's reference.
EXPECTED: list[tuple[str, list[list], list[list]]] = [
    ("int_eq", [[3, 3], [-1, -1], [HUGE, HUGE]], [[3, -3], [0, 1], [HUGE, HUGE + 1]]),
    ("int_ne", [[3, -3], [0, 1]], [[3, 3], [-1, -1]]),
    ("int_le", [[-2, -1], [4, 4], [-HUGE, 0]], [[-1, -2], [5, 4]]),
    ("int_lt", [[-2, -1], [0, 1]], [[4, 4], [-1, -2]]),
    ("int_lin_eq", [[[2, -3], [5, 3], 1], [[], [], 0], [[HUGE], [2], 2 * HUGE]], [[[2, -3], [5, 3], 0], [[], [], 1]]),
    ("int_lin_ne", [[[2, -3], [5, 3], 0], [[], [], 1]], [[[2, -3], [5, 3], 1], [[], [], 0]]),
    ("int_lin_le", [[[2, -3], [5, 3], 1], [[1], [-9], -9], [[], [], 0]], [[[2, -3], [5, 3], 0], [[], [], -1]]),
    ("int_plus", [[2, -5, -3], [2**62, 2**62, 2**63]], [[2, 5, 8], [2**62, 2**62, -(2**63)], [2**63, 2**63, 0]]),
    ("int_times", [[-2, 5, -10], [0, 7, 0], [2**40, 2**40, 2**80]], [[2, 5, -10], [2**32, 2**32, 0]]),
    ("int_div", [[7, 2, 3], [-7, 2, -3], [7, -2, -3], [-7, -2, 3], [1, 5, 0], [-1, 5, 0], [0, -3, 0]],
     [[-7, 2, -4], [7, -2, -4], [-1, 5, -1], [1, 0, 0], [0, 0, 0], [0, 0, 1]]),
    ("int_mod", [[7, 2, 1], [-7, 2, -1], [7, -2, 1], [-7, -2, -1], [6, -3, 0], [2, 5, 2], [-2, 5, -2]],
     [[-7, 2, 1], [7, -2, -1], [-2, 5, 3], [3, 0, 3], [0, 0, 0]]),
    ("int_min", [[3, -2, -2], [4, 4, 4]], [[3, -2, 3], [3, 5, 2]]),
    ("int_max", [[3, -2, 3], [4, 4, 4]], [[3, -2, -2], [3, 5, 6]]),
    ("int_abs", [[-3, 3], [3, 3], [0, 0]], [[-3, -3], [3, -3], [3, 2]]),
    ("int_pow", [[2, 10, 1024], [-2, 3, -8], [0, 0, 1], [5, 0, 1], [0, 4, 0], [2, -1, 0], [1, -7, 1], [-1, -3, -1],
                 [-1, -4, 1], [-5, -2, 0], [-1, 10**18, 1], [-1, 10**18 + 1, -1], [0, 10**18, 0], [3, 40, 3**40]],
     [[2, 3, 9], [0, -1, 0], [0, -1, 1], [0, 0, 0], [2, -1, 1], [-1, -3, 1], [2, 10**18, 0], [2, 64, 0], [-2, 3, 8]]),
    ("int_pow_fixed", [[-3, 2, 9], [2, -2, 0]], [[-3, 2, -9], [0, -2, 0]]),
    ("set_in", [[1, ODD], [-1, ODD], [5, IntSet.interval(-9, 9)]], [[0, ODD], [4, ODD], [-2, ODD], [0, IntSet(())]]),
    ("bool2int", [[True, 1], [False, 0]], [[True, 0], [False, 1], [True, 2]]),
    ("array_int_element", [[1, [4, 5], 4], [2, [4, 5], 5]],
     [[0, [4, 5], 5], [3, [4, 5], 5], [-1, [4, 5], 4], [1, [], 0], [1, [4, 5], 5]]),
    ("array_var_int_element", [[2, [4, -5], -5]], [[0, [4, 4], 4], [3, [4, 4], 4], [-1, [4, 4], 4], [1, [], 1]]),
    ("array_bool_element", [[2, [True, False], False]],
     [[2, [True, False], True], [0, [True], True], [2, [True], True]]),
    ("array_var_bool_element", [[1, [True, False], True]], [[1, [False], True], [0, [False], False], [1, [], False]]),
    ("array_int_maximum", [[5, [1, 5, -7]], [-2, [-2]]], [[-7, [1, 5, -7]], [6, [1, 5]], [4, [1, 5]], [0, []]]),
    ("array_int_minimum", [[-7, [1, 5, -7]], [-2, [-2]]], [[5, [1, 5, -7]], [0, [1, 5]], [2, [1, 5]], [0, []]]),
    ("bool_eq", [[True, True], [False, False]], [[True, False], [False, True]]),
    ("bool_le", [[False, True], [True, True], [False, False]], [[True, False]]),
    ("bool_lt", [[False, True]], [[True, False], [True, True], [False, False]]),
    ("bool_not", [[False, True], [True, False]], [[True, True], [False, False]]),
    ("bool_and", [[True, True, True], [True, False, False]], [[True, True, False], [False, True, True]]),
    ("bool_or", [[True, False, True], [False, False, False]], [[False, False, True], [False, True, False]]),
    ("bool_xor", [[True, False, True], [True, True, False], [False, False, False]],
     [[True, True, True], [False, False, True], [False, True, False]]),
    ("bool_xor/2", [[True, False], [False, True]], [[True, True], [False, False]]),
    ("bool_clause", [[[True], []], [[], [False]], [[False, True], [True]], [[False], [True, False]]],
     [[[], []], [[False], []], [[], [True]], [[False, False], [True, True]]]),
    ("array_bool_and", [[[True, True], True], [[], True], [[True, False], False]],
     [[[], False], [[True, True], False], [[False, True], True]]),
    ("array_bool_or", [[[False, True], True], [[], False], [[False, False], False]],
     [[[], True], [[False, True], False], [[False, False], True]]),
    ("array_bool_and/1", [[[True, True]], [[]]], [[[True, False]], [[False]]]),
    ("array_bool_or/1", [[[True, False]], [[True]]], [[[False, False]], [[]]]),
    ("array_bool_xor", [[[True]], [[True, True, True]], [[False, True]]], [[[]], [[False]], [[True, True]]]),
    ("bool_lin_eq", [[[2, -3], [True, True], -1], [[], [], 0]], [[[2, -3], [True, False], 1], [[], [], 1]]),
    ("bool_lin_le", [[[2, -3], [True, True], -1], [[], [], 0]], [[[2, -3], [True, False], 1], [[], [], -1]]),
]  # fmt: skip


def pinned_calls() -> list[tuple[str, list, bool]]:
    """The table as (name, arguments, whether it holds), in all forms of every row."""
    calls: list[tuple[str, list, bool]] = []
    for row, *sides in EXPECTED:
        name = row.partition("/")[0]
        for truth, args in [(truth, args) for truth, side in zip((True, False), sides) for args in side]:
            known = {
                PLAIN: [(name, args, truth)],
                REIFIED: [(f"{name}_reif", [*args, b], b == truth) for b in (True, False)],
                IMPLIED: [(f"{name}_imp", [*args, b], b <= truth) for b in (True, False)],
            }
            calls += [call for form in PREDICATES[row].forms for call in known[form]]
    return calls


ALL = (PLAIN, REIFIED, IMPLIED)
SOME = {  # of those that are understood in some forms alone, by the number of their arguments
    "array_bool_and": (PLAIN, REIFIED),
    "array_bool_or": (PLAIN, REIFIED),
    "array_bool_and/1": (IMPLIED,),
    "array_bool_or/1": (IMPLIED,),
}


@pytest.mark.parametrize("name", [row for row, *_ in EXPECTED])
def test_a_builtin_is_understood_in_these_forms(name):
    assert PREDICATES[name].forms == SOME.get(name, ALL)


def abstract(args: list) -> tuple[list, dict[str, int]]:
    """The arguments with a variable in the place of each integer and Boolean, and the variables' values."""
    values: dict[str, int] = {}

    def name_of(value: object) -> object:
        if isinstance(value, list):
            return [name_of(element) for element in value]
        if isinstance(value, IntSet):
            return value
        values[f"v{len(values)}"] = int(value)  # type: ignore[call-overload]
        return Ref(f"v{len(values) - 1}")

    return [name_of(arg) for arg in args], values


def plain_verdicts(checker: Checker, values: dict[str, int]) -> set[int]:
    """The failing constraints as the plain relations say."""
    assignment = checker.assign(values)
    groups = checker.tables.groups.values()
    return {number for group in groups for number in group.plain_failures(assignment, range(len(group.rows)))}


def column_verdicts(checker: Checker, values: dict[str, int]) -> set[int]:
    return set(checker.failed_constraints(checker.assign(values)))


def test_every_builtin_is_pinned_by_hand():
    """The global constraints are compared with global_meanings.py (test_global_meanings.py), and what only XCSP3 has
    is pinned in test_expressions.py."""
    assert {row for row, _, _ in EXPECTED} == set(RELATIONS) - set(MEANINGS) - set(OWN_MEANINGS)
    assert all(holding and failing for _, holding, failing in EXPECTED)


@pytest.mark.parametrize("row", EXPECTED, ids=lambda row: row[0])
def test_a_predicate_on_constants_holds_as_pinned(row):
    name = row[0].partition("/")[0]
    for call, args, expected in pinned_calls():
        if call in (name, f"{name}_reif", f"{name}_imp"):
            violation = Checker(make_model({}, [(call, *args)])).violation({})
            assert (violation is None) == expected, (call, args, violation)


def test_predicates_on_variables_hold_as_pinned():
    for call, args, expected in pinned_calls():
        abstracted, values = abstract(args)
        checker = Checker(make_model(dict.fromkeys(values), [(call, *abstracted)]))
        assert (checker.violation(values) is None) == expected, (call, args)


def test_plain_and_column_forms_agree_with_the_pins_in_one_large_model():
    small = [call for call in pinned_calls() if max_value(call[1]) < INFINITY]
    model = make_model({}, [(name, *args) for name, args, _ in small])
    checker = Checker(model)
    expected = {number for number, (_, _, holds) in enumerate(small) if not holds}
    assert checker.assign({}).fits
    assert plain_verdicts(checker, {}) == expected
    assert column_verdicts(checker, {}) == expected


def max_value(arg: object) -> int:
    if isinstance(arg, list):
        return max(map(max_value, arg), default=0)
    return 0 if isinstance(arg, IntSet) else abs(int(arg))  # type: ignore[call-overload]


@pytest.mark.slow
def test_the_checker_agrees_with_the_oracle_on_every_builtin_case():
    chance = random.Random(1)
    for case in all_cases():
        checker, model = Checker(case.model), case.model
        solutions = all_solutions(model)
        wanted = {tuple(solution.values()) for solution in solutions}
        names = list(model.variables)
        pools = [list(v.domain or (BOOLEAN if v.kind == "bool" else range(-4, 6))) for v in model.variables.values()]
        tried = [tuple(map(chance.choice, pools)) for _ in range(25)] + [
            tuple(solution.values()) for solution in chance.sample(solutions, min(10, len(solutions)))
        ]
        for values in tried:
            violation = checker.violation(dict(zip(names, values)))
            assert (violation is None) == (values in wanted), (case.predicate, case.label, values, violation)
        check_batches(checker, names, tried, wanted)


def check_batches(checker: Checker, names: list[str], tried: list[tuple], wanted: set[tuple]) -> None:
    """Many assignments at once: all hold where each one does, and one that does not is enough. Numbers whose products
    columns cannot hold are left to single checks."""
    rows = np.array(tried, np.int64).reshape(len(tried), len(names))
    is_small = bool(np.all(np.abs(rows) < 2**31))
    for row in rows:
        holds = tuple(row.tolist()) in wanted
        assert checker.all_hold(row[None]) == holds or (holds and not is_small)
    right = rows[[tuple(row.tolist()) in wanted for row in rows]]
    assert checker.all_hold(right) or not is_small
    wrong = [row for row in tried if row not in wanted]
    if wrong:
        assert not checker.all_hold(np.concatenate([right, np.array(wrong[:1], np.int64)]))


def test_a_batch_with_numbers_too_large_for_columns_is_left_to_single_checks():
    model = make_model({"x": None}, [("int_eq", Ref("x"), Ref("x"))])
    assert Checker(model).all_hold(np.array([[5], [-7]]))
    assert not Checker(model).all_hold(np.array([[5], [INFINITY]]))
    constant = make_model({"x": None}, [("int_le", Ref("x"), 2**63 - 1)])
    assert not Checker(constant).all_hold(np.array([[5]]))
    sums = make_model({"x": None}, [("int_lin_le", [2**40], [Ref("x")], 2**62 - 1)])
    assert Checker(sums).all_hold(np.array([[3]]))
    assert not Checker(sums).all_hold(np.array([[2**40]])), "the product does not fit"


def test_right_hand_sides_and_domains_with_holes_are_checked_in_batches():
    holed = make_model({"x": IntSet.of_values([1, 2, 7]), "y": None}, [])
    holed.variables["y"].value = Ref("x")
    checker = Checker(holed)
    assert checker.all_hold(np.array([[1, 1], [7, 7]]))
    for wrong in ([3, 3], [0, 0], [8, 8], [1, 2]):
        assert not checker.all_hold(np.array([[1, 1], wrong]))


NEAR = [0, 1, 2**31, 2**32, 2**40, 2**61, 2**62, 2**63, 2**64]
integers = st.builds(lambda base, sign, offset: sign * base + offset, st.sampled_from(NEAR), st.sampled_from([1, -1]),
                     st.integers(-2, 2))  # fmt: skip


@given(st.lists(st.tuples(st.lists(st.tuples(integers, integers), max_size=4), integers), min_size=1, max_size=4))
def test_linear_rows_near_the_limits_of_64_bits_are_exact(rows):
    constraints = [
        (name, [c for c, _ in terms], [x for _, x in terms], k + shift)
        for terms, k in rows
        for name in ("int_lin_eq", "int_lin_ne", "int_lin_le", "int_lin_le_reif")
        for shift in (0, sum(c * x for c, x in terms) - k)
    ]
    constraints = [(*row, True) if row[0].endswith("reif") else row for row in constraints]
    checker = Checker(make_model({}, constraints))
    assert column_verdicts(checker, {}) == plain_verdicts(checker, {})


@given(st.lists(st.tuples(integers, integers), min_size=1, max_size=5))
def test_products_sums_and_comparisons_near_the_limits_of_64_bits_are_exact(pairs):
    constraints = [
        (name, x, y, result)
        for x, y in pairs
        for name, results in (("int_times", [x * y]), ("int_plus", [x + y]), ("int_min", [x]), ("int_max", [x]))
        for result in (*results, results[0] + 2**64, results[0] - 2**64, 0)
    ] + [(name, x, y) for x, y in pairs for name in ("int_eq", "int_ne", "int_le", "int_lt", "int_abs")]
    checker = Checker(make_model({}, constraints))
    assert column_verdicts(checker, {}) == plain_verdicts(checker, {})


def test_a_wide_row_does_not_slow_or_spoil_the_safe_rows_beside_it():
    values = {"x": 2**61, "y": 3}
    constraints = [("int_lin_eq", [8, -1], [Ref("x"), Ref("y")], 2**64 - 3), ("int_lin_eq", [1], [Ref("y")], 4)]
    checker = Checker(make_model(dict.fromkeys(values), constraints))
    assert column_verdicts(checker, values) == plain_verdicts(checker, values) == {1}


def test_a_value_outside_its_domain_is_named():
    domains = {"x": IntSet.of_values([1, 2, 9]), "b": BOOLEAN, "free": None, "none": IntSet(())}
    checker = Checker(make_model({name: domains[name] for name in ("x", "b", "free")}, []))
    assert checker.violation({"x": 9, "b": 1, "free": -HUGE}) is None
    assert checker.violation({"x": 9, "b": 1, "free": 4}) is None
    assert checker.violation({"x": 5, "b": 1, "free": 4}) == "x = 5 is outside its domain 1..2 union 9..9"
    assert checker.violation({"x": 5, "b": 1, "free": HUGE}) == "x = 5 is outside its domain 1..2 union 9..9"
    assert checker.violation({"x": 10, "b": 1, "free": 4}) == "x = 10 is outside its domain 1..2 union 9..9"
    assert checker.violation({"x": 1, "b": 2, "free": 4}) == "b = 2 is outside its domain 0..1"
    assert checker.violation({"x": 1, "free": 4}) == "variable b has no value"
    assert Checker(make_model({"none": domains["none"]}, [])).violation({"none": 0}) is not None


def test_the_domain_of_an_array_binds_its_elements():
    array = Array("xs", "int", True, IntSet.interval(1, 3), [Ref("x"), 2], [], 0)
    checker = Checker(make_model({"x": None}, [], arrays=[array]))
    assert checker.violation({"x": 3}) is None
    assert checker.violation({"x": 4}) == "xs[1] = 4 is outside its domain 1..3"


def test_a_right_hand_side_is_an_equation():
    model = make_model({"x": None}, [], arrays=[Array("xs", "int", True, None, [7, Ref("x")], [], 0)])
    model.parameters["k"] = -2
    for name, value in {"same": Ref("x"), "third": Index("xs", 2), "five": 5, "par": Ref("k")}.items():
        model.variables[name] = Variable(name, "int", None, [], value, 0)
    checker = Checker(with_text(model))
    good = {"x": 4, "same": 4, "third": 4, "five": 5, "par": -2}
    assert checker.violation(good) is None
    for name in ("same", "third", "five", "par"):
        violation = checker.violation(good | {name: 6})
        assert violation is not None and violation.startswith(f"{name} = 6 differs from its right-hand side")


def test_named_arrays_and_parameters_are_the_same_as_literals():
    arrays = [Array("c", "int", False, None, [2, -1], [], 0), Array("xs", "int", True, None, [Ref("x"), 3], [], 0)]
    parameters = {"k": 5, "s": ODD, "t": True}
    constraints = [("int_lin_eq_reif", Ref("c"), Ref("xs"), Ref("k"), Ref("t")), ("set_in", Ref("x"), Ref("s"))]
    checker = Checker(make_model({"x": None}, constraints, arrays=arrays, parameters=parameters))
    assert checker.violation({"x": 4}) is not None and "set_in" in checker.violation({"x": 4})
    assert checker.violation({"x": 3}) is not None and "int_lin_eq_reif" in checker.violation({"x": 3})
    parameters["k"] = 3
    assert (
        Checker(make_model({"x": None}, constraints, arrays=arrays, parameters=parameters)).violation({"x": 3}) is None
    )


def test_a_violation_is_one_line_that_names_place_predicate_and_values():
    model = make_model({"x": None, "y": None}, [("int_le", Ref("x"), Ref("y")), ("int_lt", Ref("y"), Ref("x"))])
    assert Checker(model).violation({"x": 3, "y": 4}) == "test.fzn:4: int_lt(y,x) does not hold with y = 4, x = 3"
    long = make_model({}, [("array_bool_or", [False] * 1000, True)])
    violation = Checker(long).violation({})
    assert violation is not None and len(violation) < 200 and "\n" not in violation


def test_what_the_checker_does_not_know_is_refused_with_its_place():
    for constraint, text in [
        (("int_frobnicate", 1), "test.fzn:2:1: unknown predicate int_frobnicate"),
        (("_reif", True), "test.fzn:2:1: unknown predicate _reif"),
        (("int_le", 1, 2, 3), "test.fzn:2:1: int_le has 2 arguments, not 3"),
        (("bool_xor", True), "test.fzn:2:1: bool_xor has 3 arguments, not 1"),
    ]:
        with pytest.raises(ModelError) as caught:
            Checker(make_model({}, [("int_eq", 1, 1), constraint]))
        assert str(caught.value) == text
    model = make_model({}, [])
    model.variables["f"] = Variable("f", "set", None, [], None, 0)
    with pytest.raises(UnsupportedError):
        Checker(model)


@pytest.mark.parametrize(
    "args",
    [([1], [1, 2], 0), (Ref("nowhere"), [1], 0), ([1], [Ref("nobody")], 0), ([1], [2], Ref("none")), (1, [1], 0)],
)
def test_arguments_that_make_no_sense_are_refused_with_their_place(args):
    with pytest.raises(ModelError) as caught:
        Checker(make_model({}, [("int_lin_eq", *args)])).violation({})
    assert str(caught.value).startswith("test.fzn:1:1: int_lin_eq")


def test_the_cost_counts_literals_and_elements_of_arrays():
    arrays = [Array("c", "int", False, None, [2, -1, 3], [], 0)]
    constraints = [("int_lin_le", Ref("c"), [1, 2, Ref("x")], 4), ("int_le", Ref("x"), 3)]
    assert Checker(make_model({"x": None}, constraints, arrays=arrays)).cost == 1 + 3 + 3 + 1 + 2


def test_a_new_checker_has_built_nothing():
    checker = Checker(make_model({"x": None}, [("int_le", Ref("x"), 1)]))
    assert "tables" not in vars(checker)
    assert checker.violation({"x": 1}) is None
    assert "tables" in vars(checker)


def test_a_hundred_thousand_constraints_are_checked_well_within_a_second():
    chance = np.random.default_rng(0)
    names = [Ref(f"x{number}") for number in range(20_000)]
    triples = chance.integers(0, len(names), size=(100_000, 3))
    model = make_model(dict.fromkeys(names, IntSet.interval(0, 9)), [])
    model.constraints = [
        Constraint("int_lin_le", [[1, -2, 1], [names[a], names[b], names[c]], 18], [], 0) for a, b, c in triples
    ]
    checker = Checker(model)
    values = dict(zip(names, chance.integers(0, 10, size=len(names)).tolist()))
    assert checker.violation(values) is None
    start = time.process_time()
    assert checker.violation(values) is None
    assert time.process_time() - start < 0.5


def test_the_forms_are_those_of_minizinc():
    assert set(FORMS) == {"_reif", "_imp", ""}
