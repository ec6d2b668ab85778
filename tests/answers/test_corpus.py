"""The flattened examples (examples/flatten.py) give the figures that Gecode found (examples/expected.json)."""

from __future__ import annotations

import pytest

from support.corpus import EXPECTED, text_of
from turbo_fzn import solve_text


def is_long(entry: dict) -> bool:
    """Whether it takes seconds: boxes of real variables down to the usual precision."""
    return entry["model"] == "ladder.mzn"


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
