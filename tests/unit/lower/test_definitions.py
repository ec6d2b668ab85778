"""A Boolean variable that is defined by its own negation, or in the direction that nothing needs: a model that no
author meant is refused, and not answered.
"""

from __future__ import annotations

import pytest

from turbo_fzn import solve_text
from turbo_fzn.base.errors import ModelError

HEAD = (
    "bool: no = false;\nvar bool: p :: output_var :: is_defined_var;\nvar bool: q :: output_var;\n"
    "array [1..2] of var bool: pp = [p,p];\n"
)
OWN_NEGATIONS = [
    "bool_not(p,p)",
    "bool_xor(p,true,p)",
    "bool_xor(true,p,p)",
    "bool_xor(p,p,true)",
    "bool_xor(p,p)",
    "bool_eq_reif(p,false,p)",
    "bool_eq_reif(no,p,p)",
    "bool_not_reif(p,true,p)",
    "bool_xor_reif(p,true,p,true)",
    "bool_clause_reif([],[p],p)",
    "bool_clause_reif([no],[p],p)",
    "array_bool_xor([p,p])",
    "array_bool_xor(pp)",
]
OTHERS = [
    ("bool_not(q,p)", 2),
    ("bool_xor(p,q,p)", 2),
    ("bool_xor(p,false,p)", 4),
    ("bool_eq_reif(p,true,p)", 4),
    ("bool_eq_reif(p,p,p)", 2),
    ("bool_clause_reif([p],[],p)", 4),
    ("array_bool_xor([p,p,p])", 2),
    ("array_bool_and([p,q],p)", 3),
]


@pytest.mark.covers("G14")
@pytest.mark.parametrize("call", OWN_NEGATIONS)
def test_a_definition_by_its_own_negation_is_refused_with_its_line(call):
    with pytest.raises(ModelError) as caught:
        solve_text(f"{HEAD}constraint {call} :: domain :: defines_var(p);\nsolve satisfy;\n", arch="cpu")
    assert (caught.value.line, caught.value.column) == (5, 1)
    assert "`p` is defined by its own negation: MiniZinc 2.6" in str(caught.value)


@pytest.mark.covers("G14")
def test_a_variable_that_is_called_otherwise_is_the_same_one():
    text = f"{HEAD}var bool: r = p;\nconstraint bool_not(r,p) :: defines_var(p);\nsolve satisfy;\n"
    with pytest.raises(ModelError, match="own negation"):
        solve_text(text, arch="cpu")


@pytest.mark.parametrize("call", OWN_NEGATIONS)
def test_the_same_constraint_that_defines_nothing_has_no_solution(call):
    for annotation in ("", ":: defines_var(q)", ":: domain"):
        result = solve_text(f"{HEAD}constraint {call} {annotation};\nsolve satisfy;\n", arch="cpu")
        assert result.status == "UNSATISFIABLE"


@pytest.mark.parametrize("call, count", OTHERS)
def test_other_definitions_are_lowered(call, count):
    text = f"{HEAD}constraint {call} :: defines_var(p);\nsolve satisfy;\n"
    assert len(solve_text(text, arch="cpu", all_solutions=True).solutions) == count


def test_wrong_arguments_of_a_definition_are_said_as_anywhere():
    with pytest.raises(ModelError, match="argument 1 of bool_clause_reif"):
        solve_text(f"{HEAD}constraint bool_clause_reif(p,[p],p) :: defines_var(p);\nsolve satisfy;\n", arch="cpu")


LOST = """\
var bool: p :: output_var;
var bool: q :: output_var;
var bool: X :: var_is_introduced :: is_defined_var;
"""
BACK = "constraint bool_clause([],[p,q,X]) :: defines_var(X);\n"  # X -> not (p /\\ q)
GOAL = "solve satisfy;\n"


def n_solutions(text: str) -> int:
    found = solve_text(text, arch="cpu", all_solutions=True).solutions
    return len({(solution["p"], solution["q"]) for solution in found})


@pytest.mark.covers("G14")
@pytest.mark.parametrize(
    "uses, definition",
    [
        ("constraint bool_clause([],[p,X]);\n", BACK),
        ("constraint bool_clause([],[p,X]);\nconstraint bool_clause([q],[X]);\n", BACK),
        ("array [1..2] of var bool: two = [p,X];\nconstraint bool_clause([],two);\n", BACK),
        ("constraint array_bool_and([p,X],false);\n", BACK),
        ("constraint array_bool_or([p,X],true);\n", "constraint bool_clause([X],[p,q]) :: defines_var(X);\n"),
        ("constraint bool_clause([p,X],[]);\n", "constraint bool_clause([X],[p,q]) :: defines_var(X);\n"),
        ("constraint bool_eq_imp(p,q,X);\n", BACK),
        ("constraint bool_clause([],[p,X]);\n", "constraint bool_eq_imp(p,q,X) :: defines_var(X);\n"),
        ("constraint bool_le_imp(p,q,X);\n", "constraint bool_eq_imp(p,q,X) :: defines_var(X);\n"),
    ],
)
def test_a_definition_in_the_direction_that_nothing_needs_is_refused_with_its_line(uses, definition):
    """MiniZinc has lost the other one. Both releases write the first of `(not (not (p /\\ q))) <- p`."""
    with pytest.raises(ModelError, match="nothing needs this definition of `X`") as caught:
        solve_text(f"{LOST}{uses}{definition}{GOAL}", arch="cpu")
    assert caught.value.line == 4 + uses.count("\n")


@pytest.mark.parametrize(
    "uses, count",
    [
        ("", 4),
        ("constraint bool_clause([X],[p]);\n", 3),
        ("constraint bool_clause([X],[p]);\nconstraint bool_clause([],[X,q]);\n", 3),
        ("constraint array_bool_and([p,X],q);\n", 2),
        ("constraint array_bool_or([p,X],true);\n", 4),
        ("constraint bool_eq(X,p);\n", 3),
        ("var bool: Y = X;\nconstraint bool_clause([],[p,X]);\nconstraint bool_eq(Y,q);\n", 3),
    ],
)
def test_a_definition_in_a_direction_that_is_needed_is_lowered(uses, count):
    assert n_solutions(f"{LOST}{uses}{BACK}{GOAL}") == count


@pytest.mark.parametrize(
    "uses, count",
    [
        ("", 4),
        ("constraint bool_clause([X],[p]);\n", 3),
        ("constraint bool_clause([X],[p]);\nconstraint bool_clause([],[X,q]);\n", 2),
        ("constraint bool_le_imp(q,X,p);\n", 4),
    ],
)
def test_an_implication_in_a_direction_that_is_needed_is_lowered(uses, count):
    assert n_solutions(f"{LOST}{uses}constraint bool_eq_imp(p,q,X) :: defines_var(X);\n{GOAL}") == count


def test_a_variable_of_the_author_may_be_defined_in_any_direction():
    text = LOST.replace("var_is_introduced", "output_var")
    assert n_solutions(f"{text}constraint bool_clause([],[p,X]);\n{BACK}{GOAL}") == 4
