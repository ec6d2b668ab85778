"""MiniZinc models from Python: flattened by the installed minizinc with the library of this source tree."""

from __future__ import annotations

from enum import Enum
from pathlib import Path

import numpy as np
import pytest

from support.needs import needs_minizinc
from turbo_fzn import Front, Model
from turbo_fzn.base.errors import ModelError, UsageError

KNAPSACK = """\
include "alldifferent.mzn";
int: n;
array [1..n] of int: weight;
array [1..n] of var 0..1: take;
array [1..n] of var 1..n: order;
constraint alldifferent(order) /\\ sum(i in 1..n)(weight[i] * take[i]) <= 10;
solve maximize sum(i in 1..n)(weight[i] * take[i]);
"""
DATA = "n = 4;\nweight = [3,5,6,4];\n"


def as_files(folder: Path) -> tuple[Path, Path]:
    (folder / "sack.mzn").write_text(KNAPSACK)
    (folder / "sack.dzn").write_text(DATA)
    return folder / "sack.mzn", folder / "sack.dzn"


@pytest.mark.parametrize(("model", "data", "kind"), [(b"", None, "bytes"), (3, None, "int"), (KNAPSACK, 3, "int")])
def test_what_is_neither_text_nor_path_nor_mapping_is_refused_as_such(model, data, kind):
    with pytest.raises(TypeError, match=f"texts, paths, or values by name, not {kind}"):
        Model.from_minizinc(model, data)


@needs_minizinc
def test_paths_texts_and_mappings_are_the_same_model(tmp_path):
    model, data = as_files(tmp_path)
    ways = [(model, data), (str(model), str(data)), (KNAPSACK, DATA), (KNAPSACK, {"n": 4, "weight": [3, 5, 6, 4]})]
    for one in ways:
        result = Model.from_minizinc(*one, arch="cpu").solve()
        assert (result.status, result.objective) == ("OPTIMAL_SOLUTION", 10)
        take, order = (result.solutions[-1][name] for name in ("take", "order"))
        assert sum(w * x for w, x in zip((3, 5, 6, 4), take)) == 10 and sorted(order) == [1, 2, 3, 4]


@needs_minizinc
def test_our_own_library_is_used(tmp_path):
    """Whatever is installed: a global arrives whole."""
    parsed = Model.from_minizinc(KNAPSACK, DATA, arch="cpu").parsed
    assert "turbo_all_different" in {constraint.name for constraint in parsed.constraints}


@needs_minizinc
def test_what_minizinc_says_of_a_wrong_model_is_said():
    with pytest.raises(ModelError, match="undefined identifier"):
        Model.from_minizinc("var 1..2: x; constraint y > 1; solve satisfy;")
    with pytest.raises(ModelError, match="weight"):
        Model.from_minizinc(KNAPSACK, {"n": 2}, arch="cpu")


VALUES = """\
set of int: few;
set of int: many;
array [1..3] of int: factor;
enum Colour = {red, green};
Colour: colour;
int: least;
var few: x;
constraint x * factor[1] > least /\\ x in many /\\ colour = red;
solve minimize x;
"""


@needs_minizinc
def test_data_may_have_values_that_json_has_not():
    colour = Enum("Colour", "red green").red  # type: ignore[attr-defined]
    data = {"few": {5, 1, 3}, "many": range(2, 9), "factor": np.array([2, 3, 4]), "colour": colour}
    result = Model.from_minizinc(VALUES, {**data, "least": np.int64(5)}, arch="cpu").solve()
    assert result.solutions == [{"x": 3}]
    for wrong in (object(), 2**63, float("nan"), {1: 2}, b"5"):
        with pytest.raises(UsageError, match="data: MiniZinc has no value like"):
            Model.from_minizinc(VALUES, {**data, "least": wrong})


@needs_minizinc
def test_sets_of_enums_and_long_floats_are_told_and_no_data_are_none():
    class Colour(str, Enum):
        red, green, blue = "green", "blue", "red"  # what a member is called counts

    text = "enum Colour = {red, green, blue}; set of Colour: c; float: f; var c: x; constraint f > 0.0;\n"
    for number in (1e16, 1e-7, 12.5):
        data = {"c": {Colour.green, Colour.blue}, "f": number}
        assert Model.from_minizinc(f"{text}solve minimize x;", data, arch="cpu").solve().objective == 2
    assert Model.from_minizinc("var 1..3: x; solve maximize x;", {}, arch="cpu").solve().objective == 3


@needs_minizinc
def test_files_are_those_of_the_working_directory_and_no_options(tmp_path, monkeypatch):
    (tmp_path / "-part.mzn").write_text("var 1..7: x; solve maximize x;")
    monkeypatch.chdir(tmp_path)
    for model in ("-part.mzn", 'include "-part.mzn";'):
        assert Model.from_minizinc(model, arch="cpu").solve().objective == 7


@needs_minizinc
def test_a_model_with_several_objectives_names_them_and_is_not_solved_without_one():
    several = "solve :: pareto_minimize([x,y]) satisfy;"
    text = f'include "turbo.mzn"; var 1..5: x; var 1..5: y; constraint x + y >= 4; {several}'
    model = Model.from_minizinc(text, arch="cpu")
    assert model.goals == ["minimize x", "minimize y"]
    assert {point.objectives for point in Front(model, model.goals)} == {(1, 3), (2, 2), (3, 1)}
    assert model.solve(goal="minimize x").objective == 1
    with pytest.raises(UsageError, match="several objectives"):
        model.solve()


def test_without_minizinc_that_is_said(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="minizinc cannot be started"):
        Model.from_minizinc("solve satisfy;")
