"""MiniZinc models from Python: flattened by the installed minizinc with the library of this source tree."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.needs import needs_minizinc
from turbo_fzn import Model
from turbo_fzn.errors import ModelError, UsageError

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


def test_without_minizinc_that_is_said(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="minizinc cannot be started"):
        Model.from_minizinc("solve satisfy;")
