"""Search annotations become the strategies that they name."""

from __future__ import annotations

import logging

import numpy as np
import pytest

from turbo_fzn.base.errors import ModelError
from turbo_fzn.lower.branching import VALUE_CHOICES, VARIABLE_CHOICES
from turbo_fzn.lower.rewrite import Lowered, lower
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.tnf.language import Op, Restarts, ValueChoice, VarChoice

VARIABLES = """int: seven = 7;
var 0..9: x; var 0..9: y; var {1,3,9}: h; var bool: p;
array [1..3] of var int: a = [x,h,seven];
array [1..0] of var int: none = [];
array [1..2] of int: values = [4,9];
constraint int_lin_le([1,1],[x,y],11);
constraint int_times(y,y,h);
"""


def lowered(solve: str) -> Lowered:
    return lower(parse_text(VARIABLES + f"solve {solve};\n"))


def names_of(result: Lowered) -> dict[int, str]:
    """The names of the TNF's variables; an index of a domain with holes is "index of NAME"."""
    names: dict[int, str] = {}
    for op, x, y in zip(result.tnf.op.tolist(), result.tnf.x.tolist(), result.tnf.y.tolist()):
        if op == Op.ELEMENT:
            names[y] = "index of " + next(name for name, number in result.origin.items() if number == x)
    names |= {number: name for name, number in result.origin.items()}
    names |= {
        v: str(low)
        for v, (low, high) in enumerate(zip(result.tnf.lower.tolist(), result.tnf.upper.tolist()))
        if low == high
    }
    return names


def strategies(solve: str) -> list[tuple[VarChoice, ValueChoice, list[str]]]:
    """The strategies, with the variables by name."""
    result = lowered(solve)
    names = names_of(result)
    return [(s.var_choice, s.value_choice, [names[v] for v in s.variables.tolist()]) for s in result.tnf.strategies]


@pytest.mark.covers("A2")
def test_a_search_names_its_choices_and_its_variables_in_order():
    found = strategies(":: int_search([y,x,y],first_fail,indomain_split,complete) satisfy")
    assert found == [(VarChoice.FIRST_FAIL, ValueChoice.SPLIT, ["y", "x", "y"])]


@pytest.mark.covers("A5")
@pytest.mark.parametrize("name", VARIABLE_CHOICES)
def test_every_variable_choice_is_known(name):
    assert strategies(f":: int_search([x],{name},indomain_min) satisfy")[0][0] == VARIABLE_CHOICES[name]


@pytest.mark.covers("A6")
@pytest.mark.parametrize("name", VALUE_CHOICES)
def test_every_value_choice_is_known(name):
    assert strategies(f":: int_search([x],input_order,{name},complete) satisfy")[0][1] == VALUE_CHOICES[name]


@pytest.mark.covers("A2", "A3")
def test_nested_sequences_are_flattened_and_empty_arrays_dropped():
    found = strategies(
        ":: seq_search([seq_search([bool_search([p],input_order,indomain_max,complete)]),"
        "int_search(none,input_order,indomain_min,complete),int_search([],input_order,indomain_min,complete),"
        "int_search([x],largest,indomain_max,complete)]) satisfy"
    )
    assert [variables for _, _, variables in found] == [["p"], ["x"]]


@pytest.mark.covers("A2")
def test_constants_parameters_and_literals_may_stand_in_a_search():
    found = strategies(
        ":: seq_search([int_search(a,smallest,indomain_min),int_search([5,x],smallest,indomain_min)]) satisfy"
    )
    assert [variables for _, _, variables in found] == [["x", "index of h", "7"], ["5", "x"]]


@pytest.mark.covers("A6")
@pytest.mark.parametrize("value", ["indomain_min", "indomain_max", "indomain_median", "indomain_random"])
@pytest.mark.parametrize("variable", ["input_order", "first_fail", "anti_first_fail", "dom_w_deg"])
def test_a_domain_with_holes_is_searched_by_the_index_of_its_value(variable, value):
    assert strategies(f":: int_search([h,x],{variable},{value},complete) satisfy")[0][2] == ["index of h", "x"]


@pytest.mark.parametrize(
    ("variable", "value", "labelled", "measured"),
    [
        ("smallest", "indomain_median", "index of h", "h"),
        ("largest", "indomain_split", "h", "h"),
        ("first_fail", "indomain_split", "h", "index of h"),
        ("max_regret", "indomain_min", "index of h", "h"),
    ],
)
def test_of_a_domain_with_holes_the_value_or_its_index_is_labelled_and_measured(variable, value, labelled, measured):
    result = lowered(f":: int_search([x,h],{variable},{value},complete) satisfy")
    names, (strategy,) = names_of(result), result.tnf.strategies
    assert [names[v] for v in strategy.variables.tolist()] == ["x", labelled]
    assert [names[v] for v in strategy.measured.tolist()] == ["x", measured]


def test_a_regret_knows_the_gaps_of_the_domain():
    (strategy,) = lowered(":: int_search([x,h],max_regret,indomain_min,complete) satisfy").tnf.strategies
    assert [gaps.tolist() for gaps in strategy.gaps] == [[], [[1, 3], [3, 9]]]


def test_occurrence_sorts_by_the_number_of_rows():
    assert strategies(":: int_search([x,y],occurrence,indomain_min,complete) satisfy")[0][2] == ["y", "x"]
    assert strategies(":: int_search([x,y],input_order,indomain_min,complete) satisfy")[0][2] == ["x", "y"]


@pytest.mark.covers("A8")
def test_a_warm_start_is_a_hint_for_its_variables():
    result = lowered(
        ":: seq_search([warm_start_array([warm_start([x,y],values),warm_start([p],[true])]),"
        "int_search([x],input_order,indomain_min,complete)]) satisfy"
    )
    variables, values = result.tnf.warm_start
    assert variables.tolist() == [result.origin[name] for name in "xyp"]
    assert values.tolist() == [4, 9, 1]
    assert len(result.tnf.strategies) == 1


@pytest.mark.covers("A10")
def test_a_stated_neighbourhood_has_its_variables_and_percentages():
    result = lowered(
        ":: relax_and_reconstruct([x,y],80) :: relax_and_reconstruct([x,7],150,[4,7])"
        " :: int_search([x],input_order,indomain_min,complete) satisfy"
    )
    names, (variables, percentages) = names_of(result), result.tnf.stated
    assert [names.get(v) for v in variables.tolist()][:3] == ["x", "y", "x"]
    assert percentages.tolist() == [80, 80, 100, 100]
    assert result.tnf.warm_start[1].tolist() == [4, 7]


@pytest.mark.covers("A9")
@pytest.mark.parametrize(
    ("annotation", "restarts"),
    [
        ("restart_none", Restarts("none")),
        ("restart_constant(7)", Restarts("constant", 7, 1.0)),
        ("restart_linear(7)", Restarts("linear", 7, 1.0)),
        ("restart_luby(7)", Restarts("luby", 7, 1.0)),
        ("restart_geometric(1.25,7)", Restarts("geometric", 7, 1.25)),
        ("restart_luby(7) :: restart_linear(9)", Restarts("linear", 9, 1.0)),
        ("constraint_name(7)", None),
    ],
)
def test_a_restart_annotation_is_the_schedule_of_the_model(annotation, restarts):
    assert lowered(f":: {annotation} satisfy").tnf.restarts == restarts


@pytest.mark.covers("A1", "A4")
def test_unknown_annotations_are_ignored_with_one_warning(caplog):
    with caplog.at_level(logging.WARNING, logger="turbo_fzn"):
        found = strategies(
            ':: my_search([x],"text") :: seq_search([set_search([],input_order,indomain_min,complete),'
            "int_search([x],fancy,indomain_fancy,complete)]) satisfy"
        )
    assert found == [(VarChoice.INPUT_ORDER, ValueChoice.MIN, ["x"])]
    assert len(caplog.records) == 1
    for name in ("my_search", "set_search", "fancy", "indomain_fancy"):
        assert name in caplog.text


def test_restart_annotations_give_no_warning(caplog):
    with caplog.at_level(logging.WARNING, logger="turbo_fzn"):
        strategies(":: restart_luby(100) :: int_search([x],input_order,indomain_min) satisfy")
    assert not caplog.records


@pytest.mark.parametrize(
    ("search", "message"),
    [
        ("int_search([z],input_order,indomain_min,complete)", "undefined identifier `z`"),
        ("int_search([p],input_order,indomain_min,complete)", "expected var int"),
        ("bool_search([x],input_order,indomain_min,complete)", "expected var bool"),
        ("int_search([x],input_order)", "takes 4 arguments"),
        ("restart_luby", "restart_luby: wrong number of arguments, 0"),
        ("restart_geometric(x,7)", "restart_geometric: expected float, found the var int `x`"),
        ("restart_linear(1.5)", "restart_linear: expected int, found the float 1.5"),
        ("relax_and_reconstruct([x],y)", "relax_and_reconstruct: expected int, found the var int `y`"),
    ],
)
def test_a_wrong_search_is_an_error_of_the_solve_item(search, message):
    with pytest.raises(ModelError, match=message) as caught:
        lowered(f":: {search} satisfy")
    assert caught.value.line == VARIABLES.count("\n") + 1


def test_without_annotation_the_declared_variables_are_searched_and_the_objective_last():
    text = (
        "var 0..3: x :: output_var; var 0..3: t :: var_is_introduced; var 0..9: cost :: is_defined_var;\n"
        "constraint int_lin_eq([1,1,-1],[x,t,cost],0);\nsolve maximize cost;\n"
    )
    result = lower(parse_text(text))
    first, last = result.tnf.strategies
    assert first.variables.tolist() == [result.origin["x"]]
    assert (last.value_choice, last.variables.tolist()) == (ValueChoice.MAX, [result.origin["cost"]])


def test_strategies_are_int32_arrays():
    assert all(
        s.variables.dtype == np.int32 for s in lowered(":: int_search(a,smallest,indomain_min) satisfy").tnf.strategies
    )
