"""Many blocks at once: the same answers for every launch shape, whole solutions, and a stop that is heard.

The blocks of the CPU engine are threads of one process, so that ThreadSanitizer sees what they share. The lanes of a
block are a GPU's alone; what they share, the trail above all, has a test of its own there.
"""

from __future__ import annotations

import os
import platform
import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from support.builds import kernel_cache
from support.capacities import QUEENS_SOLUTIONS, TOO_SMALL, engine_for, run
from support.command import PATIENCE, long_propagation, wait_until
from support.engines import drain, make_engine
from support.places import ROOT, TESTS
from turbo_fzn.engine.contract import Engine
from turbo_fzn.engine.layout.layout import Settings
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.run.prepare import prepare
from turbo_fzn.run.prepared import Prepared

BLOCKS = [1, 2, 3, 32, 1000]


# ---- the same for every shape


@pytest.mark.parametrize("blocks", BLOCKS)
def test_every_number_of_blocks_has_the_same_solutions(engine, blocks):
    found, _, statistics = run(engine, blocks=blocks)
    reference, _, _ = run(engine, blocks=1)
    assert statistics["complete"] and statistics["solutions"] == QUEENS_SOLUTIONS
    assert Counter(found) == Counter(reference)


@pytest.mark.parametrize("blocks", BLOCKS)
def test_every_number_of_blocks_has_the_same_optimum(engine, blocks):
    reference, _, _ = run(engine, "maximize cost", blocks=1)
    found, _, statistics = run(engine, "maximize cost", blocks=blocks, lns_percent=50)
    assert statistics["complete"]
    assert max(objective for objective, _ in found) == max(objective for objective, _ in reference)


def test_many_runs_of_random_shapes_have_the_same_answers(engine):
    """Few blocks or many, any capacity too small, the host quick or slow: seeded, and always the same answer."""
    shapes = random.Random(11)
    optimum = max(objective for objective, _ in run(engine, "maximize cost", blocks=1)[0])
    for _ in range(30):
        blocks, pause = shapes.choice((2, 3, 5, 17)), shapes.choice((0.0, 0.0, 0.003))
        small = TOO_SMALL[shapes.choice(list(TOO_SMALL))]
        found, _, statistics = run(engine, blocks=blocks, pause=pause, seed=shapes.randrange(99), **small)
        assert statistics["complete"], (blocks, small)
        assert len(found) == len(set(found)) == QUEENS_SOLUTIONS, (blocks, small)
        found, _, statistics = run(
            engine, "maximize cost", blocks=blocks, pause=pause, seed=shapes.randrange(99), lns_percent=50, **small
        )
        assert statistics["complete"], (blocks, small)
        assert max(objective for objective, _ in found) == optimum, (blocks, small)


# ---- publication

WIDE = 400  # variables that all equal one: a solution that is torn has two values


def torn_text(goal: str) -> str:
    lines = [f"var 1..60: x{i} :: output_var;" for i in range(WIDE)]
    lines += [f"constraint int_lin_le([1,-1],[x{i},x{i + 1}],0);" for i in range(WIDE - 1)]
    lines.append(f"constraint int_lin_le([1,-1],[x{WIDE - 1},x0],0);")
    return "\n".join(lines) + f"\nsolve :: int_search([x0],input_order,indomain_min,complete) {goal};\n"


def prepare_plainly(text: str) -> Prepared:
    """Not simplified: every row and every variable is there."""
    return prepare(parse_text(text), Options(simplify=False), Interrupt())


def engine_of(name: str, text: str, settings: Settings) -> Engine:
    return make_engine(name, prepare_plainly(text), settings)


@pytest.mark.parametrize("ring_slots", [1, 2, 64])
@pytest.mark.parametrize("goal", ["satisfy", "maximize x0"])
def test_no_solution_is_torn(engine, goal, ring_slots):
    """Many blocks publish large solutions through few slots, while the host reads them now and then."""
    percent = 0 if goal == "satisfy" else 50  # neighbourhoods find a solution again and again
    searched = engine_of(engine, torn_text(goal), Settings(blocks=16, ring_slots=ring_slots, lns_percent=percent))
    searched.start()
    found = drain(searched, pause=0.0005)
    assert searched.complete
    searched.close()
    for solution in found:
        values = {int(value) for value in solution.values if value > 1}  # constants and truths are 0 and 1
        assert len(values) <= 1, values
        if goal != "satisfy" and values:
            assert solution.objective == values.pop()
    if goal == "satisfy":
        assert len(found) == 60
    else:
        assert max(solution.objective for solution in found) == 60


# ---- the stop flag

ENDLESS = "\n".join(f"var 0..1000000: x{i} :: output_var;" for i in range(12)) + "\nsolve satisfy;\n"


@pytest.mark.parametrize("blocks", BLOCKS)
@pytest.mark.parametrize("ring_slots", [1, 64])
def test_a_stop_is_heard_by_all_blocks_even_while_they_wait_for_room(engine, blocks, ring_slots):
    if engine == "cpu":
        blocks = min(blocks, 100)  # each passes its solution through the ring, a thousand threads in a minute
    searched = engine_of(engine, ENDLESS, Settings(blocks=blocks, ring_slots=ring_slots))
    searched.start()
    wait_until(searched.poll)
    time.sleep(0.01)  # the ring is full
    searched.stop()
    drain(searched)
    assert not searched.complete
    searched.close()


def test_a_stop_is_heard_within_a_propagation_that_would_take_ages(engine):
    searched = engine_of(engine, long_propagation("int"), Settings(blocks=2))
    searched.start()
    time.sleep(0.2)
    searched.stop()
    assert drain(searched) == [] and not searched.complete
    searched.close()


def test_a_search_that_is_closed_while_the_ring_is_full_ends(engine):
    searched = engine_of(engine, ENDLESS, Settings(blocks=8, ring_slots=1))
    searched.start()
    time.sleep(0.05)
    searched.close()
    if engine == "cpu":
        assert not any(thread.is_alive() for thread in searched.threads)


def test_a_stop_before_the_first_node_claims_nothing(engine):
    searched = engine_for(engine, "satisfy", Settings(blocks=3))
    if engine == "cpu":
        searched.stop()
        searched.start()
    else:
        searched.start()
        searched.stop()
    found = drain(searched)
    assert not searched.complete or engine == "gpu"
    assert len(found) <= QUEENS_SOLUTIONS
    searched.close()


# ---- the trail, where the lanes of a block change one variable at the same time


def contended_text() -> str:
    """Hundreds of rows on four variables: all lanes want to tighten the same bounds at every level."""
    lines = [f"var 0..7: x{i} :: output_var;" for i in range(4)]
    rows = [(a, b, c) for a in (1, 2, 3) for b in (-2, -1, 1, 2) for c in (-3, 1, 2)]
    for i, j, k in ((0, 1, 2), (1, 2, 3), (0, 2, 3), (0, 1, 3)):
        lines += [f"constraint int_lin_le([{a},{b},{c}],[x{i},x{j},x{k}],{9 + a + b + c});" for a, b, c in rows]
    return "\n".join(lines) + "\nsolve satisfy;\n"


def contended_solutions() -> set[tuple[int, ...]]:
    points = np.stack(np.meshgrid(*[np.arange(8)] * 4, indexing="ij"), axis=-1).reshape(-1, 4)
    holds = np.ones(len(points), bool)
    for columns in ((0, 1, 2), (1, 2, 3), (0, 2, 3), (0, 1, 3)):
        for a in (1, 2, 3):
            for b in (-2, -1, 1, 2):
                for c in (-3, 1, 2):
                    holds &= points[:, columns] @ np.array([a, b, c]) <= 9 + a + b + c
    return {tuple(map(int, point)) for point in points[holds]}


SHAPES: list[dict] = [{}, {"trail_capacity": 1}]
GPU_SHAPES = [*SHAPES, {"threads": 32}, {"threads": 128}, {"threads": 512}, {"store": "global"}]


@pytest.mark.parametrize("blocks", [1, 7])
def test_the_trail_keeps_the_bounds_of_before_whoever_changes_them_first(engine, blocks):
    expected = contended_solutions()
    assert 100 < len(expected) < 4096
    text = contended_text()
    places = [item.variables[0] for item in prepare_plainly(text).tnf.outputs]
    for shape in GPU_SHAPES if engine == "gpu" else SHAPES:
        for seed in range(3):
            searched = engine_of(engine, text, Settings(blocks=blocks, seed=seed, **shape))
            searched.start()
            found = drain(searched)
            assert searched.complete
            searched.close()
            shown = [tuple(int(solution.values[place]) for place in places) for solution in found]
            assert set(shown) == expected, shape


# ---- ThreadSanitizer

RACES = """
import sys
sys.path.insert(0, sys.argv[1])
from support.capacities import TOO_SMALL, run
for goal, percent in (("satisfy", 0), ("maximize cost", 50)):
    for blocks in (2, 8):
        for small in ({}, TOO_SMALL["trail"], TOO_SMALL["levels"], TOO_SMALL["pool path"]):
            found, _, statistics = run("cpu", goal, blocks=blocks, lns_percent=percent, **small)
            assert found and statistics["complete"]
for roles in (("prover", "finder"), ("follower", "finder", "prover")):
    found, _, statistics = run("cpu", "maximize cost", blocks=4, lns_percent=50, roles=roles)
    assert found and statistics["complete"]
import numpy as np
from support.engines import OpenEngine
from support.market_split import market_split_model
from turbo_fzn.engine.contract import Inequality
engine = OpenEngine(market_split_model(), blocks=2, roles=("finder", "prover"), learn_bytes=2**24, posts=True)
engine.start()
for i in range(3000):  # while the learners restart often
    variables = np.arange(i % 7, 30, dtype=np.int32)
    engine.post(Inequality(variables, np.ones(len(variables), np.int64), 10**6 + i, 2**63 - 1, "root" * (i % 5 == 0)))
    engine.poll()
engine.close()
assert any(one.n_terms for one in engine.places.records)
print("done")
"""


HYBRID_RACES = """
import os, sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
import pytest
from support.fake_gpu import lent_gpu
from support.capacities import TOO_SMALL, run
from turbo_fzn.engine import hybrid
from turbo_fzn.engine.library import library
library(32), library(64), hybrid.searchers(32)
del os.environ["LD_PRELOAD"]  # of a compiler that is none, and a shell
with pytest.MonkeyPatch.context() as patch, lent_gpu(patch, Path(os.environ["TURBO_FZN_CACHE"])):
    for goal in ("satisfy", "maximize cost"):
        for blocks, entries in ((2, None), (6, 2)):
            for small in ({}, TOO_SMALL["trail"], TOO_SMALL["levels"], TOO_SMALL["pool path"]):
                found, _, statistics = run("hybrid", goal, blocks=blocks, mailbox_entries=entries, **small)
                assert found and statistics["complete"]
print("done")
"""


def at_fixed_addresses() -> list[str]:
    """The command that runs another one without random addresses, which an older ThreadSanitizer needs on a new kernel;
    empty where the system does not allow it."""
    command = ["setarch", platform.machine(), "-R"]
    allowed = shutil.which("setarch") and subprocess.run([*command, "true"], capture_output=True).returncode == 0
    return command if allowed else []


@pytest.mark.slow
@pytest.mark.parametrize("script", [RACES, HYBRID_RACES], ids=["cpu", "hybrid"])
def test_the_blocks_have_no_data_race(script):
    """The ring is large here: that a slot is free again is told through the host, which ThreadSanitizer cannot see."""
    compiler = shutil.which("g++")
    library = (
        compiler
        and subprocess.run(
            [compiler, "-print-file-name=libtsan.so"], capture_output=True, text=True, check=True
        ).stdout.strip()
    )
    if not library or not Path(library).is_absolute():
        pytest.skip("g++ is not installed, or is here without its library of ThreadSanitizer (libtsan)")
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "CXX": compiler,
        "LD_PRELOAD": library,
        "TURBO_FZN_KERNEL_FLAGS": "-fsanitize=thread -O1 -g",
        **kernel_cache(),
        "TSAN_OPTIONS": "exitcode=66",
    }
    command = [*at_fixed_addresses(), sys.executable, "-c", script, str(TESTS)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=PATIENCE)
    if "FATAL: ThreadSanitizer: unexpected memory mapping" in done.stderr:
        pytest.skip("memory is laid out as this ThreadSanitizer does not support, and setarch -R is not allowed here")
    assert done.returncode == 0 and done.stdout.endswith("done\n"), done.stderr[:3000]
