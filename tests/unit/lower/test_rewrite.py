"""Lowering: every builtin against enumeration, without an engine; and what the result looks like."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support import naive
from support.builtin_cases import PREDICATES, cases_of
from support.operators import apply_operator
from support.oracle import all_solutions
from turbo_fzn import solve_text
from turbo_fzn.base.domains import INFINITY
from turbo_fzn.base.errors import EngineError, ModelError, UnsupportedError
from turbo_fzn.check.reals import find_form
from turbo_fzn.check.relations import find_signature
from turbo_fzn.lower import intervals
from turbo_fzn.lower.rewrite import Lowered, lower
from turbo_fzn.lower.table import PREDICATES as PREDICATES_OF_LOWERING
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.read.model import Index
from turbo_fzn.tnf.language import Op


def solutions_of(lowered: Lowered) -> list[tuple[int, ...]]:
    """All solutions of the TNF, as sorted tuples of the FlatZinc variables' values; sorted, with repetitions."""
    found = naive.solutions(lowered.tnf)
    return sorted(tuple(values[number] for number in lowered.origin.values()) for values in found)


@pytest.mark.parametrize("share", [True, False], ids=["shared", "plain"])
@pytest.mark.parametrize("predicate", PREDICATES)
def test_the_tnf_of_a_builtin_has_the_solutions_of_the_oracle(predicate, share):
    for case in cases_of(predicate):
        lowered = lower(case.model, share)
        lowered.tnf.check()
        expected = {tuple(solution.values()) for solution in all_solutions(case.model)}
        where = f"{predicate}, {case.label}:\n{case.model.text}"
        assert set(solutions_of(lowered)) == expected, where


# Exactness of single pieces


def lowered(text: str, share: bool = True) -> Lowered:
    result = lower(parse_text(text, "model.fzn"), share)
    result.tnf.check()
    return result


def shape(result: Lowered) -> list[str]:
    """The operators of the rows, in order."""
    return [Op(op).name for op in result.tnf.op]


def domain(result: Lowered, name: str) -> tuple[int, int]:
    number = result.origin[name]
    return int(result.tnf.lower[number]), int(result.tnf.upper[number])


small_bounds = st.tuples(st.integers(-7, 7), st.integers(0, 5)).map(lambda pair: (pair[0], pair[0] + pair[1]))


@given(st.sampled_from([op for op in Op if op != Op.ELEMENT]), small_bounds, small_bounds)
def test_the_range_of_an_operator_holds_all_its_results(op, y, z):
    low, high = intervals.RESULT[op](*y, *z)
    results = [apply_operator(op, a, b) for a in range(y[0], y[1] + 1) for b in range(z[0], z[1] + 1)]
    defined = [result for result in results if result is not None]
    assert all(low <= result <= high for result in defined)
    if defined and op not in (Op.MOD, Op.EQ):
        assert (low, high) == (min(defined), max(defined))


huge = st.one_of(st.sampled_from([0, 1, -1, INFINITY - 1, 1 - INFINITY]), st.integers(1 - INFINITY, INFINITY - 1))
huge_bounds = st.one_of(
    st.tuples(huge, huge).map(sorted),
    huge.map(lambda high: [-INFINITY, high]),
    huge.map(lambda low: [low, INFINITY]),
    st.just([-INFINITY, INFINITY]),
)


@given(st.sampled_from([op for op in Op if op != Op.ELEMENT]), huge_bounds, huge_bounds)
def test_the_range_of_an_operator_holds_its_results_near_infinity(op, y, z):
    low, high = intervals.RESULT[op](*y, *z)
    for a in (*y, 0, 1, -1):
        for b in (*z, 0, 1, -1):
            if y[0] <= a <= y[1] and z[0] <= b <= z[1] and max(abs(a), abs(b)) < INFINITY:
                result = apply_operator(op, a, b)
                if result is not None and abs(result) < INFINITY:
                    assert low <= result <= high


def test_aliases_cost_neither_rows_nor_variables():
    result = lowered(
        "var 0..5: x; var 3..9: y = x; var bool: p; var 0..1: i; var bool: q;\n"
        "constraint bool2int(p,i); constraint bool_eq(q,p); constraint int_le_reif(x,y,q);\nsolve satisfy;\n"
    )
    assert shape(result) == []
    assert result.origin["x"] == result.origin["y"]
    assert result.origin["p"] == result.origin["i"] == result.origin["q"]
    assert domain(result, "x") == (3, 5)
    assert domain(result, "p") == (1, 1)


def test_contradicting_aliases_make_the_model_infeasible():
    assert lowered("var 0..2: x; var 3..9: y; constraint int_eq(x,y); solve satisfy;\n").tnf.infeasible
    assert lowered("var {1,5}: x; var {2,4}: y; constraint int_eq(x,y); solve satisfy;\n").tnf.infeasible
    assert lowered("var 0..2: x = 3; solve satisfy;\n").tnf.infeasible


def test_constraints_on_one_variable_only_narrow_its_domain():
    result = lowered(
        "var int: x; constraint int_le(-3,x); constraint int_lin_le([2],[x],11); constraint int_ne(x,5);\n"
        "constraint int_lt(x,9); constraint int_lin_ne([3],[x],7); constraint set_in(x,-9..9);\nsolve satisfy;\n"
    )
    assert shape(result) == []
    assert domain(result, "x") == (-3, 4)


def test_several_removed_values_become_one_table():
    result = lowered(
        "var 0..9: x; var bool: b; constraint int_ne(x,4); constraint int_lin_ne([-1],[x],-6);\n"
        "constraint int_ne(9,x); constraint int_eq_reif(x,6,b); solve satisfy;\n"
    )
    assert shape(result) == ["ELEMENT"]
    assert result.tnf.tables.tolist() == [0, 1, 2, 3, 5, 7, 8]
    assert domain(result, "b") == (0, 0)


def test_a_large_domain_with_few_holes_is_said_by_comparisons():
    text = "var -100000..100000: x; var bool: b; constraint set_in_reif(x,{1,3},b); solve satisfy;\n"
    assert sorted(shape(lowered(text))) == ["EQ", "EQ", "MAX"]
    holes = " ".join(f"constraint int_ne(x,{value});" for value in (-7, 0, 500))
    assert shape(lowered(f"var int: x; {holes} solve satisfy;\n")) == ["EQ", "EQ", "EQ"]


def test_a_clause_of_two_literals_is_one_row_without_a_new_variable():
    for constraint, op in (
        ("bool_clause([p,q],[])", "MAX"),
        ("bool_clause([p],[q])", "LEQ"),
        ("bool_clause([],[p,q])", "MIN"),
        ("array_bool_or([p,q],true)", "MAX"),
        ("bool_lin_le([1,1],[p,q],1)", "MIN"),
        ("bool_lin_le([3,-2],[p,q],1)", "LEQ"),
        ("bool_lin_le([-1,-1],[p,q],-1)", "MAX"),
    ):
        result = lowered(f"var bool: p; var bool: q; constraint {constraint}; solve satisfy;\n")
        assert shape(result) == [op], constraint
        assert result.tnf.n_vars - len(result.origin) <= 2, constraint  # the constants


def test_a_negation_counts_as_what_it_negates():
    result = lowered(
        "var 0..9: x; var bool: same; var bool: other; var bool: p;\n"
        "constraint array_bool_or([other,p],true);\n"
        "constraint int_ne_reif(x,3,other); constraint int_eq_reif(x,3,same);\n"
        "solve satisfy;\n"
    )
    rows = list(zip(shape(result), result.tnf.x.tolist(), result.tnf.y.tolist(), result.tnf.z.tolist()))
    assert ("LEQ", result.origin["same"], result.origin["p"]) in [(op, y, z) for op, _, y, z in rows]


def test_an_equation_hangs_its_defined_variable_on_the_tree():
    result = lowered(
        "var 0..3: a; var 0..3: b; var 0..3: c; var 0..99: s;\n"
        "constraint int_lin_eq([-1,2,1,1],[s,a,b,c],-4); solve satisfy;\n"
    )
    assert sorted(shape(result)) == ["ADD", "ADD", "ADD", "MUL"]
    assert domain(result, "s") == (4, 16)


def test_sums_with_common_parts_share_them():
    text = "var 0..9: a; var 0..9: b; var 0..9: c; var 0..9: d;\n"
    text += "constraint int_lin_le([1,1,1],[a,b,c],12); constraint int_lin_le([1,1,1],[d,b,a],12); solve satisfy;\n"
    assert len(shape(lowered(text))) == 3
    assert len(shape(lowered(text, share=False))) == 6


def test_constants_near_the_largest_integer_are_exact():
    largest = INFINITY - 1
    text = f"var -{largest}..0: x; var bool: p; var bool: q; constraint int_le(x,-{largest});"
    text += f"constraint int_lin_le_reif([1],[x],{-largest},p); constraint int_lin_le_reif([2],[x],{-2 * INFINITY},q);"
    result = lowered(text + "solve satisfy;\n")
    assert (domain(result, "p"), domain(result, "q")) == ((1, 1), (0, 0))


BEYOND_THE_LARGEST = [
    f"int_lt({INFINITY - 1},x)",
    f"int_lin_le([2],[x],{-2 * INFINITY})",
    f"int_lin_eq([2,-1],[x,{INFINITY - 2}],{INFINITY + 2})",
]
COMPARED_WITH_WHAT_LIES_BEYOND = [  # and what p is for all x that can be stored
    (f"int_lin_le_reif([2],[x],{-2 * INFINITY},p)", 0),
    (f"int_lin_le_reif([1,-1],[x,{INFINITY - 1}],1,p)", 1),
    (f"int_lin_le_reif([-1,1],[x,{INFINITY - 1}],-1,p)", 0),
    (f"int_lin_eq_reif([2,-1],[x,{INFINITY - 2}],{INFINITY + 2},p)", 0),
    (f"int_lin_ne_reif([-2,-1],[x,{INFINITY - 2}],{INFINITY + 2},p)", 1),
    (f"int_lin_eq_reif([1,1],[x,{INFINITY - 1}],0,p)", None),  # within
]


@pytest.mark.parametrize("constraint", BEYOND_THE_LARGEST)
def test_what_lies_beyond_the_largest_integer_is_refused_without_bounds_and_decided_with_them(constraint):
    """`var int: x` may be anything, so that there is a solution, but none that can be stored."""
    text = f"var bool: p; constraint {constraint}; solve satisfy;\n"
    with pytest.raises(UnsupportedError, match="beyond"):
        lowered("var int: x; " + text)
    result = lowered(f"var {1 - INFINITY}..{INFINITY - 1}: x; " + text)
    assert result.tnf.infeasible or domain(result, "p") in ((0, 0), (1, 1))


@pytest.mark.parametrize(("constraint", "truth"), COMPARED_WITH_WHAT_LIES_BEYOND)
@pytest.mark.parametrize("share", [True, False])
def test_a_comparison_with_what_lies_beyond_the_largest_integer_says_what_it_is_for_small_ones(
    constraint, truth, share
):
    text = f"var bool: p; constraint {constraint}; solve satisfy;\n"
    small = lowered(f"var -2..2: x; {text}", share)
    assert {p for _, p in solutions_of(small)} == {truth or 0}
    late = "var 0..0: zero; constraint int_lin_le([1,1],[x,zero],2); constraint int_lin_le([-1,-1],[x,zero],2);"
    unbounded = solve_text(f"var int: x :: output_var; {late} {text}", arch="cpu", all_solutions=True, simplify=share)
    assert unbounded.status == "ALL_SOLUTIONS" and len(unbounded.solutions) == 5
    if truth is not None:  # nothing that can be stored has the other truth value, and that is no claim
        other = f"var int: x; constraint bool_eq(p,{'false' if truth else 'true'}); {text}"
        with suppress(EngineError, UnsupportedError):
            assert solve_text(other, arch="cpu", all_solutions=True, simplify=share).status == "UNKNOWN"


def test_a_square_names_its_operand_twice():
    result = lowered("var -5..4: x; var int: y; constraint int_times(x,x,y); solve satisfy;\n")
    assert result.tnf.y.tolist() == result.tnf.z.tolist() == [result.origin["x"]]
    assert domain(result, "y") == (0, 25)


def test_a_result_without_bounds_gets_those_of_its_operands_and_stays_unbounded_without_them():
    text = "var 0..9: x; var int: u; var int: y; var int: z;\n"
    text += "constraint int_plus(x,x,y); constraint int_plus(x,u,z); solve satisfy;\n"
    assert domain(lowered(text), "y") == (0, 18)
    assert domain(lowered(text), "z") == (-INFINITY, INFINITY)


@pytest.mark.parametrize(
    ("item", "line", "message"),
    [
        ("constraint int_magic(x,y);", 2, "unknown predicate `int_magic`"),
        ("constraint int_le(x,y,x);", 2, "int_le takes 2 arguments, found 3"),
        ("constraint bool_xor(p);", 2, "bool_xor takes"),
        ("constraint int_le(x,p);", 2, "argument 2 of int_le: expected var int, found the var bool `p`"),
        ("constraint bool_eq(p,1);", 2, "argument 2 of bool_eq: expected var bool, found the int 1"),
        ("constraint int_le(x,true);", 2, "argument 2 of int_le: expected var int, found the bool true"),
        ("constraint int_le(x,missing);", 2, "undefined identifier `missing`"),
        ("constraint int_le(x,a);", 2, "expected var int, found the array of var int `a`"),
        ("constraint int_lin_le([1,2],a,5);", 2, "2 coefficients for 3 variables"),
        ("constraint int_lin_le([1,x,1],a,5);", 2, "argument 1 of int_lin_le: expected int, found the var int `x`"),
        ("constraint int_lin_le([1,1,1],[x,y,missing],5);", 2, "undefined identifier `missing`"),
        ("constraint int_lin_le(a,a,5);", 2, "expected array of int, found the array of var int `a`"),
        ("constraint set_in(x,y);", 2, "expected set of int"),
        ("constraint array_int_element(x,q,y);", 2, "undefined identifier `q`"),
        ("constraint int_le(x,4611686018427387904);", 2, "the largest absolute value is 2**62 - 1"),
        ("constraint float_plus(x,y,y);", 2, "argument 1 of float_plus: expected var float, found the var int `x`"),
        ("constraint float_frob(x,y,y);", 2, "float_frob is not supported"),
        ("constraint set_card(x,y);", 2, "set variables are not supported"),
        ("constraint int_eq(x,0);\nconstraint int_eq(x,1);\nconstraint int_le(x,missing);", 4, "undefined identifier"),
    ],
)
def test_a_wrong_constraint_is_refused_where_it_stands(item, line, message):
    text = f"var 0..9: x; var 0..9: y; var bool: p; array [1..3] of var int: a = [x,y,3];\n{item}\nsolve satisfy;\n"
    with pytest.raises(ModelError) as caught:
        lower(parse_text(text, "model.fzn"))
    assert message in caught.value.message
    assert (caught.value.file, caught.value.line) == ("model.fzn", line)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("var set of 1..3: s; solve satisfy;\n", "set variables are not supported"),
        ("var -4611686018427387904..0: x; solve satisfy;\n", "the domain of `x` goes beyond"),
        ("var 0..9: x = missing; solve satisfy;\n", "undefined identifier `missing`"),
        ("var 0..9: x; array [1..2] of var int: a = [x,missing]; solve satisfy;\n", "undefined identifier `missing`"),
        ("var bool: p; solve minimize p;\n", "expected var int, found the var bool `p`"),
        ("var bool: p; array [1..1] of var bool: a :: output_array([1..2]) = [p]; solve satisfy;\n", "2 elements"),
    ],
)
def test_a_wrong_declaration_is_refused(text, message):
    with pytest.raises(ModelError) as caught:
        lower(parse_text(text, "model.fzn"))
    assert message in caught.value.message
    assert caught.value.line == 1


@pytest.mark.parametrize(("objective", "expected"), [("x", (2, 9)), ("7", (7, 7)), ("five", (5, 5)), ("a[2]", (4, 4))])
def test_the_objective_may_be_any_expression(objective, expected):
    text = "int: five = 5; var 2..9: x; array [1..2] of var int: a = [x,4];\n"
    if "[" in objective:
        model = parse_text(text + "solve maximize x;\n")
        model.goal.objective = Index("a", 2)
        result = lower(model)
    else:
        result = lowered(text + f"solve maximize {objective};\n")
    assert result.tnf.sense == -1
    assert (result.tnf.lower[result.tnf.objective], result.tnf.upper[result.tnf.objective]) == expected


def test_outputs_keep_names_kinds_index_ranges_and_order():
    result = lowered(
        "bool: yes = true; var 0..9: hidden; var bool: p :: output_var; var 1..2: x :: output_var;\n"
        "array [1..4] of var bool: grid :: output_array([0..1,2..3]) = [p,true,yes,p];\n"
        "array [1..0] of var int: none :: output_array([1..0]) = [];\nsolve satisfy;\n"
    )
    found = [(item.name, item.kind, item.ranges) for item in result.tnf.outputs]
    assert found == [
        ("p", "bool", None),
        ("x", "int", None),
        ("grid", "bool", [(0, 1), (2, 3)]),
        ("none", "int", [(1, 0)]),
    ]
    p = result.origin["p"]
    grid = result.tnf.outputs[2].variables
    assert [p == v for v in grid.tolist()] == [True, False, False, True]
    assert result.tnf.lower[grid].tolist() == [0, 1, 1, 0]


def test_every_constraint_of_the_table_has_a_meaning_in_the_checker():
    for name, predicate in PREDICATES_OF_LOWERING.items():
        bare, _, arity = name.partition("/")
        if find_form(bare) is not None:
            assert find_form(bare).n_args == len(predicate.kinds), name
            continue
        assert find_signature(bare, int(arity or len(predicate.kinds))) is not None, name
