"""`--project`: what is printed, and which names there are."""

from __future__ import annotations

import pytest

from support.command import write
from support.warm import ask
from turbo_fzn import solve_text
from turbo_fzn.base.errors import UsageError

TEXT = """\
var 1..3: x :: output_var;
var 1..3: y;
var 0..9: hidden :: var_is_introduced;
array [1..4] of var int: square :: output_array([1..2,1..2]) = [x,y,y,x];
array [1..2] of var int: row = [y,3];
constraint int_lt(x,y);
constraint int_le(hidden,x);
solve satisfy;
"""
XCSP3 = '<instance type="CSP"><variables><var id="a"> 1..3 </var></variables><constraints/></instance>'


@pytest.mark.parametrize(
    ("names", "solutions"),
    [
        ("y", [("y = 2;",), ("y = 3;",)]),
        ("x, y", [("x = 1;", "y = 2;"), ("x = 1;", "y = 3;"), ("x = 2;", "y = 3;")]),
        ("row", [("row = array1d(1..2, [2, 3]);",), ("row = array1d(1..2, [3, 3]);",)]),
        ("square", [(f"square = array2d(1..2, 1..2, [{x}, {y}, {y}, {x}]);",) for x, y in ((1, 2), (1, 3), (2, 3))]),
        ("hidden", [("hidden = 0;",), ("hidden = 1;",), ("hidden = 2;",)]),
        ("", [()]),
    ],
)
def test_each_combination_of_what_is_named_is_printed_once_in_its_shape(tmp_path, names, solutions):
    answer = ask("--arch", "cpu", "-a", "--project", names, write(tmp_path, TEXT))
    assert sorted(answer.solutions) == solutions and answer.markers == ["=========="]


FREE = [f"h{number}" for number in range(5)]
MANY_COMPLETIONS = f"""\
{"".join(f"var 1..9: {name};" for name in FREE)}
var 1..5: x :: output_var;
var 1..50: total;
array [1..7] of var int: all = [{",".join(FREE)},x,total];
constraint int_lin_eq([{"1," * 6}-1],all,0);
solve :: seq_search([int_search([{",".join(FREE)}],input_order,indomain_max,complete),
                     int_search([x],input_order,indomain_max,complete)]) satisfy;
"""


@pytest.mark.parametrize("blocks", [1, 3])
def test_a_combination_is_completed_once_and_the_models_order_of_values_stays(engine, blocks):
    """Each has 9^5 completions."""
    result = solve_text(MANY_COMPLETIONS, arch=engine, blocks=blocks, all_solutions=True, project="x")
    found = [solution["x"] for solution in result.solutions]
    assert sorted(found) == [1, 2, 3, 4, 5] and result.status == "ALL_SOLUTIONS"
    assert blocks > 1 or found == [5, 4, 3, 2, 1]
    assert result.statistics["nodes"] < 500


def test_solutions_are_counted_without_being_printed(tmp_path):
    path = write(tmp_path, TEXT)
    answer = ask("--arch", "cpu", "--count", "--project", "y", path)
    assert answer.text == "%%%mzn-stat: solutions=2\n%%%mzn-stat-end\n==========\n"
    result = solve_text(TEXT, arch="cpu", count=True)
    assert (result.solutions, result.status, result.statistics["solutions"]) == ([], "ALL_SOLUTIONS", 3)
    assert ask("--arch", "cpu", "--count", "-s", path).text.count("mzn-stat: solutions=3\n") == 1


def test_where_there_is_an_objective_nothing_is_counted():
    with pytest.raises(UsageError, match="--count: the model has an objective"):
        solve_text("var 1..3: x; solve maximize x;", count=True)


def test_a_name_that_there_is_not_is_refused_and_those_of_the_model_are_told(tmp_path):
    answer = ask("--arch", "cpu", "--project", "z,x", write(tmp_path, TEXT))
    assert (answer.code, answer.markers) == (1, ["=====ERROR====="])
    assert answer.errors == "fzn-turbo: --project: no variable z; there are row, square, x, y\n"


def test_an_instance_of_xcsp3_and_a_ternary_model_are_not_projected(tmp_path):
    with pytest.raises(UsageError, match="all of its variables"):
        solve_text(XCSP3, arch="cpu", project="a")
    ask("--dump-tnf", tmp_path / "model.tnf", write(tmp_path, TEXT))
    answer = ask("--project", "x", tmp_path / "model.tnf")
    assert answer.code == 1 and "no variables with names" in answer.errors
