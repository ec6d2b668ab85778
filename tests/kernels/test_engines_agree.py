"""In fixed mode with one block, both engines walk the same tree: the one that the annotation says."""

from __future__ import annotations

import pytest

from support.corpus import COUNTED, EXPECTED, LONG, text_of
from turbo_fzn import Result, solve_text

TREES = [entry for entry in EXPECTED if entry["model"] != "two_circles.mzn"]  # that one's is long without restarts
TAKE_SECONDS = {"can.mzn", "fence.mzn", "refraction.mzn"}
# Rows over reals in a cycle, where small steps are left out (leave_small_steps): their fixpoint depends on the order in
# which rows run, and the lanes of a GPU run them at once.
ORDER_TELLS = {"beam.mzn", "ladder.mzn", "mortgage.mzn"}


def run(entry: dict, engine: str) -> Result:
    flags = {"float_precision": 1e-4} if entry["model"] in LONG else {}
    every = entry["kind"] == "count"
    alone = {"lns": "off", "learn": "off", "relaxation": "off"}  # bounds from beside would come at any time
    return solve_text(text_of(entry), arch=engine, blocks=1, all_solutions=every, **alone, **flags)


@pytest.mark.gpu
@pytest.mark.parametrize("entry", TREES, ids=lambda entry: entry["model"])
def test_gpu_and_cpu_walk_the_same_tree(entry):
    cpu, gpu = run(entry, "cpu"), run(entry, "gpu")
    if entry["model"] in ORDER_TELLS:
        assert cpu.status == gpu.status and gpu.objective == pytest.approx(cpu.objective, rel=1e-3)
        return
    assert {name: cpu.statistics[name] for name in COUNTED} == {name: gpu.statistics[name] for name in COUNTED}
    assert cpu.status == gpu.status and cpu.objective == gpu.objective
    if entry["kind"] == "count":
        assert cpu.solutions == gpu.solutions  # in the same order
    else:
        assert cpu.solutions[-1:] == gpu.solutions[-1:]


@pytest.mark.parametrize(
    "entry",
    [pytest.param(one, id=one["model"], marks=[pytest.mark.slow] * (one["model"] in TAKE_SECONDS)) for one in TREES],
)
def test_a_run_repeats_itself(engine, entry):
    first, second = run(entry, engine), run(entry, engine)
    assert first.statistics["nodes"] == second.statistics["nodes"]
    assert first.solutions[-1:] == second.solutions[-1:]
