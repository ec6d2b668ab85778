"""What engines are told by others while they run: solutions with their values, bounds of the objective, and root bounds.

On a GPU played by a driver in Python (fake_cuda.py), and on CPU engines whose memory lies open (engines.py). How a team
passes it on is tested in test_team.py.
"""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from command import golomb, wait_until
from engines import OpenEngine, labelled
from soak import market_split_model

from turbo_fzn.engine import gpu
from turbo_fzn.engine.abi import Common, Island
from turbo_fzn.engine.contract import Found
from turbo_fzn.engine.layout import NO_INCUMBENT, Settings
from turbo_fzn.interrupt import Interrupt
from turbo_fzn.options import Options
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.run.prepare import prepare
from turbo_fzn.tnf.language import TNF

NEIGHBOURHOODS = frozenset(("random", "window"))
GREATEST = labelled(
    dict.fromkeys("abc", "0..9"),
    "var 0..27: z :: output_var;\nconstraint int_lin_eq([1,1,1,-1],[a,b,c,z],0);\n",
    "maximize z",
)


def tnf_of(text: str) -> TNF:
    return prepare(parse_text(text), Options(), Interrupt()).tnf


def gpu_engine(tnf: TNF, **settings: object) -> gpu.GpuEngine:
    return gpu.GpuEngine(tnf, np.arange(tnf.n_vars, dtype=np.int32), Settings(**settings))


def read(engine: gpu.GpuEngine, name: str, kind: type) -> np.ndarray:
    """Device memory, as it is now."""
    return engine.memory[name].memory.view(kind)


def some_solution(text: str) -> Found:
    """One with the values of all variables, the first that a tree search finds."""
    engine = OpenEngine(text, blocks=1)
    engine.start()
    found: list[Found] = []
    wait_until(lambda: found.extend(engine.poll()) or found)
    engine.close()
    return found[0]


# ---- solutions


@pytest.mark.parametrize("lns_percent", [0, 75])
def test_a_solution_goes_to_the_hosts_island_of_a_running_gpu(fake_gpu, lns_percent):
    """No block runs here, so that what was sent stays as it is."""
    fake_gpu.hangs = True
    engine, found = gpu_engine(tnf_of(golomb(5)), blocks=4, lns_percent=lns_percent), some_solution(golomb(5))
    engine.adopt(found)
    assert Common.from_buffer(read(engine, "common", np.uint8)).host_best == NO_INCUMBENT, "not before the start"
    engine.start()
    for step in range(2):
        engine.adopt(found._replace(objective=found.objective - step, values=found.values - step))
        engine.adopt(found)  # no better one
        host = engine.layout.n_islands
        island = Island.from_buffer(read(engine, "islands", np.uint8), host * ctypes.sizeof(Island))
        assert (island.version, island.value, island.patience) == (2 + 2 * step, found.objective - step, 0)
        values = read(engine, "incumbents", engine.layout.bound_type).reshape(host + 1, -1)[host]
        assert values.tolist() == (found.values - step).tolist()
        assert Common.from_buffer(read(engine, "common", np.uint8)).host_best == found.objective - step
    fake_gpu.hangs = False
    engine.close()


def test_a_gpu_that_is_told_the_optimum_and_its_bound_ends(fake_gpu):
    """It would search for hours."""
    text = golomb(12)
    engine, found = gpu_engine(tnf_of(text), blocks=4, lns_percent=75), some_solution(text)
    engine.start()
    engine.adopt(found)
    engine.raise_bound(found.objective)
    wait_until(lambda: not engine.running)
    assert engine.complete and engine.bound == found.objective
    engine.close()


class Told(OpenEngine):
    """One with something on the host's island when it starts."""

    def put(self, found: Found, version: int = 2) -> Island:
        host, n = self.layout.n_islands, self.layout.tnf.n_vars
        island = Island.from_buffer(self.memory["islands"].data, host * ctypes.sizeof(Island))
        island.version, island.value = version, self.layout.tnf.sense * found.objective
        self.memory["incumbents"][host * n :][:n] = found.values
        return island

    def record(self) -> tuple[int, list[int]]:
        island, n = Island.from_buffer(self.memory["islands"].data), self.layout.tnf.n_vars
        return island.value, self.memory["incumbents"][:n].tolist()


def test_neighbourhoods_start_from_a_solution_that_was_found_elsewhere():
    """They have no other: what they need is never found by themselves, since nothing else is allowed."""
    found = some_solution(market_split_model())
    engine = Told(market_split_model(), blocks=2, lns_percent=100, methods=NEIGHBOURHOODS)
    island = engine.put(found)
    engine.run_alone(block=1, enough=lambda: engine.book("random").tries + engine.book("window").tries > 0)
    assert engine.common.best <= found.objective and island.patience == 2
    assert engine.book("weighted").tries == 0
    value, values = engine.record()
    assert value < found.objective or values == found.values.tolist()


def test_a_solution_that_is_being_written_is_not_taken():
    engine, found = Told(market_split_model(), blocks=2, lns_percent=100), some_solution(market_split_model())
    island = engine.put(found, version=3)
    engine.run_alone(block=1, enough=lambda: engine.book("weighted").tries + engine.book("annotated").tries > 0)
    assert island.patience == 0


@pytest.mark.parametrize("best", [20, 26])
def test_the_tree_wants_better_solutions_than_those_found_elsewhere(best):
    engine = OpenEngine(GREATEST, blocks=1)
    engine.common.host_best = -best
    assert [solution.objective for solution in engine.run()] == list(range(best + 1, 28))
    assert engine.complete and engine.common.best == -27


def test_of_what_was_found_elsewhere_nothing_is_published_again():
    engine = OpenEngine(GREATEST, blocks=1)
    engine.common.host_best = -27
    assert engine.run() == [] and engine.complete
