"""Every node is at the full fixpoint: a build that runs all rows again finds none that could tighten anything.

It also tells whether a row that was left out as entailed had still something to say.
"""

from __future__ import annotations

import pytest
from command import CORPUS, run

MODELS = ("crossword", "golomb", "hamilton", "job_shop", "lights_out", "magic_square", "rcpsp", "remainders", "rota")
CHECKED = {"TURBO_FZN_KERNEL_FLAGS": "-DCHECK_FIXPOINT"}


@pytest.mark.parametrize("flags", [("--lns", "off"), ("-f", "-p", "3")], ids=["tree", "free"])
@pytest.mark.parametrize("model", MODELS)
def test_no_row_can_tighten_anything_at_a_fixpoint(model, flags):
    answer = run("--arch", "cpu", "-a", "-s", *flags, CORPUS / f"{model}.fzn", **CHECKED)
    assert answer.code == 0 and answer.solutions
    assert int(answer.statistics["nodes"]) > 1
    assert answer.statistics["fixpointErrors"] == "0"
