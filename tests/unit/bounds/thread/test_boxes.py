"""What propagation in a box says of solutions in it, where some variables are no columns of the relaxation."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from support.relaxations import beside_a, beside_of, numbers_of, prepared_of, root_of, unsolved
from turbo_fzn.engine.contract import Found
from turbo_fzn.run.bounding import EngineBoxes

# free is in no constraint, and so in no row of the relaxation.
WITH_FREE = """
var 0..9: x :: output_var; var 0..9: y :: output_var; var -3..9: free :: output_var; var 0..99: total :: output_var;
constraint int_lin_le([-2,-3],[x,y],-17);
constraint int_lin_eq([3,4,-1],[x,y,total],0);
solve minimize total;
"""
LEAST = min(3 * x + 4 * y for x in range(10) for y in range(10) if 2 * x + 3 * y >= 17)


def test_a_solution_is_known_though_a_variable_is_no_column():
    beside = beside_of(WITH_FREE)
    beside.run()
    assert beside.best == beside.bound == LEAST == beside.boxes.found[-1].objective
    assert -3 in beside.boxes.found[-1].values


def boxes_of(columns: str) -> tuple[EngineBoxes, dict[str, int]]:
    """A model of which only these variables are columns, with the number of each variable. u and v are both open at
    the fixpoint, and not both at their least values."""
    prepared = prepared_of(
        "var 0..3: x :: output_var; var 0..7: u :: output_var; var 0..7: v :: output_var; var 0..9: t :: output_var;"
        "constraint int_lin_eq([1,1,1],[u,v,x],9); constraint int_lin_eq([1,1,-1],[x,u,t],0); solve minimize t;"
    )
    names, root = numbers_of(prepared), unsolved(beside_a(prepared))
    boxes = root.listener.boxes
    assert isinstance(boxes, EngineBoxes)
    own = boxes.columns[np.isin(boxes.places, [names[name] for name in columns])]
    variables = np.full(root.relaxation.n_columns, -1)
    variables[own] = root.relaxation.variables[own]
    boxes.attach(replace(root.relaxation, variables=variables))
    return boxes, names


def store(boxes: EngineBoxes, fixed: dict[int, int]) -> tuple[np.ndarray, np.ndarray]:
    low, high = boxes.tnf.lower.copy(), boxes.tnf.upper.copy()
    for number, value in fixed.items():
        low[number] = high[number] = value
    assert boxes.propagator is not None
    bounds = boxes.propagator(low, high)
    assert bounds is not None
    return bounds


def test_open_variables_at_their_least_values_may_be_no_solution():
    boxes, names = boxes_of("x")
    bounds = store(boxes, {names["x"]: 2})
    boxes.deciding = boxes.places
    assert not boxes.is_solved(*bounds) and not boxes.found


def test_nothing_is_solved_while_the_objective_is_open():
    boxes, names = boxes_of("x")
    low, high = store(boxes, {names["x"]: 2, names["u"]: 3})
    assert np.all(low == high)
    high = high.copy()
    high[boxes.tnf.objective] += 1
    assert not boxes.is_solved(low, high) and not boxes.found


@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize("holds", [False, True])
def test_a_constraint_as_a_whole_has_the_last_word(holds, is_open):
    """A store that is a point is over in any case; where variables are open, others of their values may do."""
    boxes, names = boxes_of("xuvt")
    low, high = store(boxes, {names["x"]: 2, names["u"]: 3})
    wides = [SimpleNamespace(alone=True, holds=lambda values: holds), SimpleNamespace(alone=False)]
    boxes.tnf = SimpleNamespace(wides=wides, objective=boxes.tnf.objective, sense=1)  # type: ignore[assignment]
    if is_open:
        boxes.deciding = np.array([names["x"]])
        high = high.copy()
        high[names["v"]] += 1
    assert boxes.is_solved(low, high) == (holds or not is_open)
    assert len(boxes.found) == holds


def test_the_point_of_a_solution_is_taken_once_and_has_its_truths():
    root = root_of(
        "var 1..3: x :: output_var; var bool: b :: output_var; var 0..9: total :: output_var;"
        "constraint int_eq_reif(x,2,b); constraint array_int_element(x,[5,7,4],total); solve minimize total;"
    )
    boxes, relaxation = root.listener.boxes, root.relaxation
    assert isinstance(boxes, EngineBoxes) and not boxes.has_point() and boxes.take_point() is None
    boxes.found.clear()
    assert boxes.narrow(*fixed_at(relaxation, 7), most=9) is None
    boxes.incumbent = boxes.found[-1]
    assert boxes.has_point()
    point = boxes.take_point()
    assert point is not None and not boxes.has_point() and boxes.take_point() is None
    lower, upper = point
    assert np.all(relaxation.lower <= lower) and np.all(upper <= relaxation.upper)
    for truth, (column, value) in relaxation.truths.items():
        assert lower[truth] == upper[truth] == (lower[column] == upper[column] == value)


def fixed_at(relaxation, objective: int) -> tuple[np.ndarray, np.ndarray]:
    lower, upper = relaxation.lower.copy(), relaxation.upper.copy()
    lower[relaxation.objective] = upper[relaxation.objective] = objective
    return lower, upper


def test_what_is_no_solution_has_no_point():
    root = root_of(WITH_FREE)
    boxes = root.listener.boxes
    assert isinstance(boxes, EngineBoxes)
    boxes.incumbent = Found(0, 0, "finder", np.zeros(boxes.tnf.n_vars, np.int64))
    assert boxes.take_point() is None and not boxes.has_point()
