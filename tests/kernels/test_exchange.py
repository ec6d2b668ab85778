"""The news that running engines get from others: solutions with their values, bounds of the objective, root bounds.

On a GPU played by a driver in Python (fake_cuda.py), and on CPU engines whose memory lies open (engines.py).
test_team.py tests how a team passes them on.
"""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from support.command import golomb, wait_until
from support.engines import OpenEngine, labelled
from support.market_split import market_split_model
from turbo_fzn.engine.abi.abi import NO_INCUMBENT, Common, Island, Units
from turbo_fzn.engine.contract import Found, Roots
from turbo_fzn.engine.cuda import gpu
from turbo_fzn.engine.layout.layout import Settings
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
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


def some_solution(text: str, simplify: bool = True) -> Found:
    """One with the values of all variables, the first that a tree search finds."""
    engine = OpenEngine(text, simplify, blocks=1)
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


# ---- root bounds


def sides_of(engine: OpenEngine, **bounds: tuple[int, int]) -> np.ndarray:
    """The root's, but for some variables."""
    tnf = engine.layout.tnf
    sides = np.column_stack((tnf.lower, -tnf.upper))
    for name, (lower, upper) in bounds.items():
        sides[engine.place(name)] = lower, -upper
    return sides.reshape(-1)


def test_a_task_begins_with_the_root_bounds_that_others_have_proved():
    """They are used as told; that they are wrong here shows it."""
    engine = OpenEngine(GREATEST, blocks=1, simplify=False)
    engine.tighten(Roots(sides_of(engine, a=(0, 2), b=(3, 3)), NO_INCUMBENT))
    assert engine.run()[-1].objective == 2 + 3 + 9 and engine.complete


def test_root_bounds_wake_the_rows():
    """All variables are fixed, against the row: a task that took that for a fixpoint would have a solution."""
    engine = OpenEngine(GREATEST, blocks=1, simplify=False)
    sides = sides_of(engine, a=(1, 1)).reshape(-1, 2)
    sides[:, 1] = -sides[:, 0]
    engine.tighten(Roots(sides.reshape(-1), NO_INCUMBENT))
    assert engine.run() == [] and engine.complete


def test_root_bounds_that_contradict_each_other_end_the_search():
    engine = OpenEngine(GREATEST, blocks=1, simplify=False)
    engine.tighten(Roots(sides_of(engine, a=(5, 4)), NO_INCUMBENT))
    assert engine.run() == [] and engine.complete and engine.counted("nodes") == [1]


@pytest.mark.parametrize(("under", "greatest"), [(-20, 27), (-10, 14)])
def test_root_bounds_are_left_alone_where_a_solution_is_missing_that_they_may_leave_out(under, greatest):
    """The engine has one of 10."""
    engine = OpenEngine(GREATEST, blocks=1, simplify=False)
    engine.common.best = -10
    engine.tighten(Roots(sides_of(engine, a=(0, 2), b=(3, 3)), under))
    assert engine.run()[-1].objective == greatest


def test_a_neighbourhood_leaves_free_what_must_change():
    """All of twenty variables, that is: as the incumbent has it or not, and the first neighbourhood has the answer."""
    names = [f"x{i}" for i in range(20)]
    equal = "".join(f"constraint int_le({x},{y});\n" for x, y in zip(names, [*names[1:], names[0]]))
    total = f"constraint int_lin_eq({[1] * 20 + [-1]},[{','.join(names)},z],0);\n"
    text = labelled(dict.fromkeys(names, "0..1"), f"var 0..20: z :: output_var;\n{equal}{total}", "maximize z")
    found = some_solution(text, simplify=False)
    engine = OpenEngine(text, blocks=2, lns_percent=100, methods=frozenset(["random"]), simplify=False)
    assert found.objective == engine.common.host_bound + 20 == 0
    engine.common.best = 0
    engine.tighten(Roots(sides_of(engine, **dict.fromkeys(names, (1, 1))), 0))
    better = engine.run_alone(block=1, incumbent=found)
    assert [solution.objective for solution in better] == [20] and engine.counted("failures")[1] == 0


def test_root_bounds_go_to_a_running_gpu(fake_gpu):
    fake_gpu.hangs = True
    engine, found = gpu_engine(tnf_of(golomb(5)), blocks=2), some_solution(golomb(5))
    start, n = engine.layout.first_units(), engine.layout.tnf.n_vars
    first = start[ctypes.sizeof(Units) :].view(engine.layout.bound_type)
    engine.start()
    for step, value in enumerate((found.objective, found.objective - 1), 1):
        sides = np.arange(2 * n) + step
        engine.tighten(Roots(sides, value))
        units = read(engine, "units", np.uint8)
        words = units[ctypes.sizeof(Units) :].view(engine.layout.bound_type)
        assert Units.from_buffer(units).version == step - 1
        assert words.tolist() == (sides - 1 if step > 1 else first).tolist(), "not before it knows a solution as good"
        engine.adopt(found._replace(objective=value))
        engine.tighten(Roots(sides, value))
        assert Units.from_buffer(units).version == step and words.tolist() == sides.tolist()
    fake_gpu.hangs = False
    engine.close()


def test_a_learner_tells_what_holds_at_its_root_and_hears_what_holds_at_others():
    settings = {"blocks": 1, "roles": ("prover",), "learn_bytes": 2**24}
    teller = OpenEngine(golomb(7), **settings)
    teller.run()
    roots = teller.roots()
    assert roots is not None and roots.under == 25 and (roots.sides > sides_of_root(teller)).any()
    hearer = OpenEngine(golomb(7), **settings)
    hearer.common.best = 25
    hearer.tighten(roots)
    assert hearer.run() == [] and hearer.complete
    assert sum(hearer.counted("failures")) < sum(teller.counted("failures")) / 100


def sides_of_root(engine: OpenEngine) -> np.ndarray:
    tnf = engine.layout.tnf
    return np.column_stack((tnf.lower, -tnf.upper)).reshape(-1)
