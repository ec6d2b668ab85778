"""Every capacity of an engine, made too small: nothing is lost, and nothing false is claimed.

The model is a small one with many solutions, run straight on an engine with its settings.
"""

from __future__ import annotations

import numpy as np
import pytest

from support.capacities import QUEENS_SOLUTIONS, TOO_SMALL, run
from support.engines import OpenEngine, drain, labelled
from turbo_fzn.engine import cpu
from turbo_fzn.engine.layout.layout import Settings
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.run.prepare import prepare


@pytest.mark.parametrize("blocks", [1, 3])
@pytest.mark.parametrize("small", TOO_SMALL, ids=str)
def test_all_solutions_survive_a_small_capacity(engine, small, blocks):
    found, _, statistics = run(engine, blocks=blocks, **TOO_SMALL[small])
    assert statistics["complete"]
    assert len(found) == len(set(found)) == QUEENS_SOLUTIONS


@pytest.mark.parametrize("small", TOO_SMALL, ids=str)
def test_the_optimum_survives_a_small_capacity(engine, small):
    expected, _, _ = run(engine, "maximize cost", blocks=1)
    found, _, statistics = run(engine, "maximize cost", blocks=3, **TOO_SMALL[small])
    assert statistics["complete"]
    assert max(objective for objective, _ in found) == max(objective for objective, _ in expected)


def test_a_full_trail_is_replayed(engine):
    _, _, statistics = run(engine, blocks=1, trail_capacity=1)
    assert statistics["replays"] > 0


def test_a_path_is_no_longer_than_its_levels_however_many_values_were_refuted():
    """Else it would not fit, and could not be replayed."""
    engine = OpenEngine(labelled({"x": "1..2000", "y": "1..2", "z": "1..2"}), blocks=1, trail_capacity=1)
    assert len(engine.run()) == 8000 and engine.complete
    assert engine.layout.path_capacity < 2000 < engine.counted("replays")[0]


def test_a_full_stack_gives_its_alternatives_to_the_pool(engine):
    _, _, statistics = run(engine, blocks=1, level_capacity=1)
    assert statistics["donations"] > 0


def test_a_full_stack_of_three_way_choices_gives_until_there_is_room():
    text = "var 1..3: x :: output_var;\nvar 1..3: y :: output_var;\n"
    text += "solve :: int_search([x,y],input_order,indomain_median,complete) satisfy;\n"
    prepared = prepare(parse_text(text), Options(), Interrupt())
    engine = cpu.CpuEngine(prepared.tnf, np.arange(2, dtype=np.int32), Settings(blocks=1, level_capacity=1))
    engine.start()
    assert len(drain(engine)) == 9 and engine.complete
    engine.close()


def test_what_cannot_be_kept_is_never_claimed(engine):
    """Stack full and no path to give away: the search must not call itself complete."""
    found, _, statistics = run(engine, blocks=1, level_capacity=1, pool_path=0)
    assert not statistics["complete"]
    assert len(set(found)) < QUEENS_SOLUTIONS


def test_a_slow_reader_loses_no_solution(engine):
    found, _, statistics = run(engine, blocks=3, ring_slots=2, pause=0.002)
    assert statistics["complete"] and len(set(found)) == QUEENS_SOLUTIONS


@pytest.mark.parametrize("blocks", [1, 2, 3, 32, 1000])
def test_any_number_of_blocks_finds_each_solution_once(engine, blocks):
    if engine == "cpu":
        blocks = min(blocks, 32)  # a thread each
    found, _, statistics = run(engine, blocks=blocks)
    assert statistics["complete"]
    assert len(found) == len(set(found)) == QUEENS_SOLUTIONS


@pytest.mark.gpu
@pytest.mark.parametrize("shape", [{"threads": 32}, {"threads": 64}, {"threads": 256}, {"store": "global"}], ids=str)
def test_any_launch_shape_finds_the_same(shape):
    found, engine, statistics = run("gpu", blocks=0, **shape)
    assert statistics["complete"] and len(set(found)) == QUEENS_SOLUTIONS
    assert engine.shape["store"] == shape.get("store", "shared")


@pytest.mark.gpu
def test_less_device_memory_means_fewer_blocks():
    _, large, _ = run("gpu", blocks=0)
    found, small, statistics = run("gpu", blocks=0, memory_bytes=16 << 20)
    assert statistics["complete"] and len(set(found)) == QUEENS_SOLUTIONS
    assert 0 < small.launch.blocks < large.launch.blocks
