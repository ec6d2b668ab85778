"""Every node is at the full fixpoint: a build that runs all rows again finds none that could tighten anything.

It also tells whether a row that was left out as entailed had still something to say. And entailed rows are left out.
"""

from __future__ import annotations

import pytest

from support.builds import little_optimised
from support.engines import OpenEngine, labelled
from support.places import CORPUS
from support.warm import ask

MODELS = ("crossword", "golomb", "hamilton", "job_shop", "lights_out", "magic_square", "rcpsp", "remainders", "rota")
CHECKED = little_optimised("-DCHECK_FIXPOINT")


@pytest.mark.slow
@pytest.mark.parametrize("flags", [("--lns", "off"), ("-f", "-p", "3")], ids=["tree", "free"])
@pytest.mark.parametrize("model", MODELS)
def test_no_row_can_tighten_anything_at_a_fixpoint(model, flags):
    answer = ask("--arch", "cpu", "-a", "-s", *flags, CORPUS / f"{model}.fzn", **CHECKED)
    assert answer.code == 0 and answer.solutions
    assert int(answer.statistics["nodes"]) > 1
    assert answer.statistics["fixpointErrors"] == "0"


def test_a_row_that_is_entailed_is_not_run_again():
    """Once `a` is fixed, nothing that happens to the others can matter to a row, though it watches them."""
    others = [f"x{i}" for i in range(6)]
    rows = "".join(f"constraint int_le(a,{other});\n" for other in others)
    text = labelled({"a": "0..1"} | dict.fromkeys(others, "0..3"), rows, how="indomain_max")
    engine = OpenEngine(text, simplify=False, blocks=1)
    assert len(engine.run()) == 4**6 + 3**6
    assert engine.counted("propagations")[0] < engine.counted("nodes")[0] / 5
