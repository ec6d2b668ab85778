"""The flattened examples (examples/flatten.py) give the figures that Gecode found (examples/expected.json)."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from turbo_fzn import solve_text

TESTS = Path(__file__).resolve().parent
EXPECTED = json.loads((TESTS.parent / "examples" / "expected.json").read_text())


FLOAT = re.compile(r"^var (float|-?\d+\.\d)", re.MULTILINE)


def has_floats(text: str) -> bool:
    """Whether a flattened model has float variables."""
    return bool(FLOAT.search(text))


def is_long(entry: dict) -> bool:
    """Whether it takes seconds: boxes of real variables down to the usual precision."""
    return entry["model"] == "ladder.mzn"


def text_of(entry: dict) -> str:
    return (TESTS / "corpus" / (Path(entry["model"]).stem + ".fzn")).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "entry", [pytest.param(entry, id=entry["model"], marks=[pytest.mark.slow] * is_long(entry)) for entry in EXPECTED]
)
@pytest.mark.parametrize("blocks", [1, None], ids=["one-block", "default-blocks"])
def test_an_example_has_the_optimum_or_count_that_gecode_found(engine, blocks, entry):
    settings = {"blocks": blocks or (4 if engine == "cpu" else None), "all_solutions": entry["kind"] == "count"}
    result = solve_text(text_of(entry), arch=engine, check=True, **settings)
    assert result.complete and (result.status == "UNSATISFIABLE") == (not entry["figure"])
    if entry["kind"] == "count":
        assert len(result.solutions) == entry["figure"]
    else:
        assert result.objective == pytest.approx(entry["figure"], rel=2e-6, abs=2e-6)
