"""Models built in Python: what is posted is what FlatZinc would say, and what does not fit is refused."""

from __future__ import annotations

import numpy as np
import pytest

from support.command import THREE_SOLUTIONS
from turbo_fzn import Builder, Model
from turbo_fzn.base.errors import UsageError
from turbo_fzn.interface.building import Var
from turbo_fzn.predicates.table import FORMS, PREDICATES
from turbo_fzn.read.languages import parse_named


def magic() -> tuple[Builder, np.ndarray]:
    build = Builder()
    square = build.ints("square", 1, 9, (3, 3))
    build.all_different(square)
    diagonals = [square.diagonal(), np.fliplr(square).diagonal()]
    for line in (*square, *square.T, *diagonals):
        build.int_lin_eq([1, 1, 1], line, 15)
    return build, square


def test_an_array_keeps_its_shape_from_the_declaration_to_the_values():
    build, square = magic()
    build.maximize(square[0, 0])
    result = build.model(arch="cpu").solve()
    values = build.values(result.solutions[-1])["square"]
    assert (result.status, result.objective, values.shape, values.dtype) == ("OPTIMAL_SOLUTION", 8, (3, 3), np.int64)
    assert sorted(values.ravel()) == list(range(1, 10))
    assert {*values.sum(0), *values.sum(1), np.trace(values)} == {15} and values[0, 0] == 8


def test_elements_may_be_assumed_and_what_is_added_later_is_in_later_models():
    build, square = magic()
    model = build.model(arch="cpu", all_solutions=True)
    assert len(model.solve().solutions) == 8
    assert [one["square"][:3] for one in model.solve({"square[0][0]": 2, "square[0][1]": 7}).solutions] == [[2, 7, 6]]
    build.int_lt(square[0, 0], 3, name="small")
    build.int_lt(5, square[0, 0], name="large")
    assert build.model(arch="cpu").solve(explain=True).core.titles == ["small", "large"]
    assert len(model.solve().solutions) == 8


def test_each_kind_of_variable_and_of_number_is_taken():
    build = Builder()
    x, y = build.ints_of("x", {1, 3, 7}), build.ints("y", -5, 5)
    on, off = build.bools("b", (2,))
    weight = build.floats("w", 0, 2.5)
    build.int_le_reif(x, 2, on)
    build.bool_clause([on, off], [])
    build.bool_not(on, off)
    build.set_in(y, range(3, 9))
    build.float_le(1, weight)
    build.float_le(weight, 1.0)
    build.table_int([x, y], 3, [[3, 4], [1, 9], [3, 1]])
    result = build.model(arch="cpu", all_solutions=True).solve()
    (solution,) = map(build.values, result.solutions)
    assert solution["b"].tolist() == [False, True] and solution["b"].dtype == bool
    assert (solution["x"], solution["y"], solution["w"]) == (3, 4, 1.0)


def test_it_is_the_model_that_a_text_would_be():
    text = parse_named(THREE_SOLUTIONS)
    build = Builder()
    for variable in text.variables.values():
        build.ints_of(variable.name, variable.domain)
    for constraint in text.constraints:
        build.post(constraint.name, *map(argument, constraint.args))
    settings = {"arch": "cpu", "all_solutions": True}
    found = {tuple(one.values()) for one in build.model(**settings).solve().solutions}
    assert found == {tuple(one.values()) for one in Model(THREE_SOLUTIONS, **settings).solve().solutions}


def argument(part: object) -> object:
    if isinstance(part, list):
        return list(map(argument, part))
    return Var(part, "int") if isinstance(part, str) else part


def test_every_predicate_is_a_method_and_says_what_it_takes():
    build = Builder()
    assert {name.removeprefix("turbo_") for name in FORMS} <= set(dir(build))
    assert build.int_lin_le.__doc__ == "Posts int_lin_le(c [i], x [I], k i)."
    assert build.signature("int_le_reif") == "x I, y I, truth B"
    assert build.signature("bool_xor") == "x B, y B, r B or x B, y B"
    assert all(build.signature(name.partition("/")[0]) for name in PREDICATES if not name.endswith("/1"))
    with pytest.raises(AttributeError):
        _ = build.int_lin_lee


@pytest.mark.parametrize(
    ("post", "complaint"),
    [
        (lambda build, x: build.int_le(x), "int_le takes x I, y I, not 1 arguments"),
        (lambda build, x: build.int_le(x, 1.5), "int_le: 1.5 is not of kind I"),
        (lambda build, x: build.bool_not(x, True), "bool_not: Var(name='x', kind='int') is not of kind B"),
        (lambda build, x: build.all_different(x), "all_different: expected an array, found Var(name='x', kind='int')"),
        (lambda build, x: build.int_lin_le([1, 2], [x], 3), "int_lin_le: the sizes of its arguments do not fit"),
        (lambda build, x: build.post("int_lee", x, x), "no predicate int_lee"),
        (lambda build, x: build.ints("x", 1, 2), "'x' cannot be the name of a variable, or is one already"),
        (lambda build, x: build.bools("a,b"), "'a,b' cannot be the name"),
    ],
)
def test_what_does_not_fit_is_refused(post, complaint):
    build = Builder()
    x = build.ints("x", 0, 9)
    with pytest.raises(UsageError) as raised:
        post(build, x)
    assert str(raised.value).startswith(complaint)


def test_what_is_built_is_solved_at_once_with_the_output_that_was_named():
    build, square = magic()
    build.maximize(square[0, 0])
    assert build.size == (9, 9)
    build.output([square[0, 0], square[1, 1]])
    result = build.solve(arch="cpu")
    assert (result.status, result.solutions[-1]) == ("OPTIMAL_SOLUTION", {"square[0][0]": 8, "square[1][1]": 5})
    assert build.model(arch="cpu").solve().solutions[-1] == result.solutions[-1]
    build.output([square[2, 2]])
    assert build.solve(arch="cpu", all_optimal=True).solutions == [{"square[2][2]": 2}]  # two squares have it
