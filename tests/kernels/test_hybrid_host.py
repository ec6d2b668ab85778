"""The host's side of the hybrid engine: what it tells, what it refuses, and faults of the GPU. See hybrid_runs.py."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from types import SimpleNamespace

import numpy as np
import pytest

from support import fake_cuda
from support.capacities import queens_text
from support.command import wait_until
from support.hybrid_runs import ENDLESS, open_engine
from turbo_fzn import solve_text
from turbo_fzn.base.errors import EngineError, InternalError
from turbo_fzn.engine import hybrid, library
from turbo_fzn.engine.tuning import TUNING
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.ranks import world
from turbo_fzn.ranks.job import Job
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.run import engines
from turbo_fzn.run.answer.glossary import GLOSSARY, HYBRID
from turbo_fzn.run.prepare import prepare

# Of a test that orders faults, which a real GPU has not when it is told to.
ON_LOOPBACK = pytest.mark.parametrize("hybrid_device", ["loopback"], indirect=True)


@pytest.fixture
def loopback(hybrid_device: fake_cuda.Driver | None) -> Iterator[fake_cuda.Driver]:
    """One of which faults can be ordered; see ON_LOOPBACK."""
    assert hybrid_device is not None
    before = dict(vars(hybrid_device))
    yield hybrid_device
    vars(hybrid_device).update(before)
    hybrid_device.fail_at = {}


def test_what_is_counted_of_round_trips_is_told(hybrid_device):
    result = solve_text(queens_text(), arch="hybrid", threads=2, all_solutions=True)
    told = result.statistics
    assert told["roundTrips"] > 0 and told["messagesToGpu"] >= told["roundTrips"]
    assert 0 < told["propagationSeconds"] <= told["roundTripSeconds"]
    assert min(told["bytesToGpu"], told["bytesFromGpu"]) >= 8 * told["roundTrips"]
    assert told["propagations"] > 0 and told["iterations"] > 0
    assert (told["threadsPerBlock"], told["store"]) == (TUNING.hybrid_threads, "shared")
    names = {entry.name for entry in GLOSSARY if entry.when == HYBRID}
    assert "roundTrips" in names <= told.keys()
    assert not names & solve_text(queens_text(), arch="cpu").statistics.keys()


def test_a_store_too_large_for_shared_memory_lies_in_the_workspace(hybrid_device):
    wide = "var -5000000000..5000000000: x :: output_var;\nconstraint int_le(4999999998,x);\n"
    text = wide + "".join(f"var 1..2: x{i} :: output_var;\n" for i in range(16_000)) + "solve satisfy;\n"
    result = solve_text(text, arch="hybrid", threads=1, simplify=False, check=False)
    assert (result.status, result.statistics["store"]) == ("SATISFIED", "global")


@ON_LOOPBACK
def test_all_memory_is_given_back(loopback):
    for text in (queens_text(), queens_text("maximize cost"), ENDLESS):
        solve_text(text, arch="hybrid", threads=3, n_solutions=3)
    assert loopback.held == set()


def test_what_is_asked_for_beside_the_tree_is_told_to_be_unused(hybrid_device, caplog):
    flags = {"free_search": True, "lns": "on", "learn": "prover", "relaxation": "off"}
    result = solve_text(queens_text("maximize cost"), arch="hybrid", threads=3, **flags)
    assert "--arch hybrid searches the tree alone: -f, --lns, --learn are not used" in caplog.messages
    assert result.status == "OPTIMAL_SOLUTION" and result.statistics["provedBy"] == "hybrid tree"
    assert result.statistics["foundBy"].startswith("hybrid tree ") and "," not in result.statistics["foundBy"]


def test_ranks_are_told_that_it_is_an_engine_of_one_process(monkeypatch):
    tnf = prepare(parse_text(queens_text()), Options(), Interrupt()).tnf
    job = Job(tnf, np.arange(tnf.n_vars, dtype=np.int32), Options(arch="hybrid"), wanted=1)
    monkeypatch.setattr(world, "_world", SimpleNamespace(rank=1, place=0, neighbours=1))
    with pytest.raises(EngineError, match="--arch hybrid is an engine of one process"):
        engines.team_of(job)


@ON_LOOPBACK
def test_more_threads_than_the_gpu_has_blocks_at_once_are_refused(loopback):
    with pytest.raises(EngineError, match=r"the GPU holds \d+ blocks at once: with --arch hybrid, give -p at most"):
        solve_text(queens_text(), arch="hybrid", threads=4 * 64 + 1)


FAULTS = {
    "no driver": ({"init": fake_cuda.LogicError("cuInit failed: no device")}, "no usable NVIDIA driver: cuInit failed"),
    "no memory": ({"mem_alloc": fake_cuda.MemoryError("out of memory")}, "not enough memory on the GPU: out of memory"),
    "bad module": ({"module": fake_cuda.LogicError("no kernel image")}, "the GPU cannot be used: no kernel image"),
    "launch": ({"launch": fake_cuda.LogicError("busy")}, "the GPU kernel cannot be started: busy"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_gpu_that_cannot_be_used_is_an_error(fake_gpu, name):
    hybrid.searchers(32)
    fake_gpu.fail_at, message = FAULTS[name]
    with pytest.raises(EngineError, match=message):
        solve_text(queens_text(), arch="hybrid", threads=2)


@ON_LOOPBACK
def test_a_kernel_that_fails_is_told_and_no_thread_waits_for_it(loopback):
    loopback.fail_after_launch = fake_cuda.LogicError("an illegal memory access")
    loopback.seconds_to_failure = 0.1
    loopback.fail_at = {"free": fake_cuda.LogicError("an illegal memory access")}
    with closing(open_engine(ENDLESS, blocks=3, ring_slots=1)) as engine:
        engine.start()
        with pytest.raises(EngineError, match="the GPU kernel failed: an illegal memory access"):
            wait_until(lambda: not engine.running)
    assert not any(thread.is_alive() for thread in engine.threads)


@pytest.mark.slow
def test_a_library_compiled_for_another_table_is_refused(monkeypatch):
    monkeypatch.setattr(library, "digest", lambda floats: "0123456789abcdef")
    with pytest.raises(InternalError, match="host and kernels differ"):
        hybrid.searchers.__wrapped__(32)
