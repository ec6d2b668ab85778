"""All GPUs of a host: which are used, that they share one tree, and what becomes of one that fails.

On a CUDA driver in Python (fake_cuda.py), which refuses what is asked of a device whose context is not current.
"""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from support import fake_cuda
from support.command import golomb
from support.places import CORPUS
from turbo_fzn import solve_text
from turbo_fzn.base.errors import EngineError, UsageError
from turbo_fzn.engine.cuda import devices, gpu
from turbo_fzn.engine.cuda.devices import chosen
from turbo_fzn.engine.tuning import TUNING
from turbo_fzn.run import engines


@pytest.fixture
def three_gpus(fake_gpu) -> fake_cuda.Driver:
    fake_gpu.count = 3
    return fake_gpu


@pytest.mark.parametrize(
    ("wanted", "numbers"),
    [("all", [0, 1, 2, 3]), ("1", [0]), ("3", [0, 1, 2]), ("0,2", [0, 2]), ("2,0,2", [0, 2]), ("1,", [1]), ("3,", [3])],
)
def test_gpus_are_named_by_how_many_or_by_their_numbers(wanted, numbers):
    assert chosen(wanted, 4) == numbers


@pytest.mark.parametrize("wanted", ["", "0", "-1", "two", "0,,1", ",", "1.5", "all,1"])
def test_what_names_no_gpus_is_refused(wanted):
    with pytest.raises(UsageError, match="--gpus: expected all, a number from 1 on, or a list as in 0,2"):
        chosen(wanted, 4)


@pytest.mark.parametrize(("wanted", "missing"), [("5", 4), ("0,7", 7), ("4,", 4)])
def test_gpus_that_are_not_there_are_told(wanted, missing):
    with pytest.raises(UsageError, match=f"there is no GPU {missing}, the last one is 3"):
        chosen(wanted, 4)


@pytest.mark.parametrize(("wanted", "launches", "engine"), [("all", 3, "gpu0+gpu1+gpu2"), ("2", 2, "gpu0+gpu1")])
def test_each_gpu_has_an_engine(three_gpus, wanted, launches, engine):
    result = solve_text(golomb(7), arch="gpu", gpus=wanted, blocks=4, lns="off")
    assert (result.status, result.objective) == ("OPTIMAL_SOLUTION", 25)
    assert len(three_gpus.launches) == launches and result.statistics["engine"] == engine
    assert result.statistics["blocks"] == 4 * launches and three_gpus.held == set()


def test_a_gpu_that_is_named_is_used_alone(three_gpus):
    result = solve_text(golomb(6), arch="gpu", gpus="1,", blocks=4)
    assert result.statistics["engine"] == "gpu1" and {stream.device for stream in three_gpus.streams} == {1}


def test_a_single_block_is_on_one_gpu(three_gpus):
    assert solve_text(golomb(6), arch="gpu", blocks=1).statistics["engine"] == "gpu"
    assert len(three_gpus.launches) == 1


@pytest.mark.parametrize("name", ["queens", "steiner_triples", "all_interval", "demo", "pigeons", "wide"])
def test_several_gpus_answer_as_one(three_gpus, name):
    text = (CORPUS / f"{name}.fzn").read_text()
    one, all_of_them = (
        solve_text(text, arch="gpu", gpus=wanted, blocks=3, all_solutions=True, lns="off", check=True)
        for wanted in ("1", "all")
    )
    assert (all_of_them.status, all_of_them.objective) == (one.status, one.objective)
    if one.objective is None:
        told = [sorted(repr(sorted(found.items())) for found in result.solutions) for result in (one, all_of_them)]
        assert told[0] == told[1]
        assert all_of_them.statistics["nodes"] == one.statistics["nodes"], "each part of the tree was searched once"


@pytest.mark.parametrize("name", ["queens", "steiner_triples", "all_interval", "pigeons"])
def test_stores_with_inner_links_share_the_tree_with_those_without(three_gpus, monkeypatch, name):
    """No decision is about a link, so each can take what the others give away."""
    make, stored = gpu.GpuEngine._prepare, []

    def of_two_kinds(self, here, tnf, exports, settings):
        make(self, here, tnf, exports, replace(settings, fused=settings.device == 1))
        stored.append(self.layout.stored.n_vars)

    text = re.sub(r" *:: *\w+_search\(.*\) satisfy", " satisfy", (CORPUS / f"{name}.fzn").read_text())
    asked = {"arch": "gpu", "blocks": 3, "all_solutions": True, "lns": "off", "check": True}
    one = solve_text(text, gpus="1", **asked)
    monkeypatch.setattr(gpu.GpuEngine, "_prepare", of_two_kinds)
    together = solve_text(text, gpus="all", **asked)
    told = [sorted(repr(sorted(found.items())) for found in result.solutions) for result in (one, together)]
    assert together.status == one.status and told[0] == told[1] and len(set(stored)) == 2


def test_devices_search_different_neighbourhoods(three_gpus, monkeypatch):
    seeds = []
    make = gpu.GpuEngine._prepare

    def note(self, here, tnf, exports, settings):
        seeds.append(settings.seed)
        make(self, here, tnf, exports, settings)

    monkeypatch.setattr(gpu.GpuEngine, "_prepare", note)
    solve_text(golomb(6), arch="gpu", blocks=4, seed=5)
    assert len(set(seeds)) == 3 and 5 in seeds


def test_a_gpu_that_cannot_be_used_is_left_out_and_said_so(three_gpus, caplog):
    three_gpus.fail_at = {"context 1": fake_cuda.LogicError("taken by another")}
    result = solve_text(golomb(7), arch="gpu", blocks=4, lns="off")
    assert (result.status, result.objective) == ("OPTIMAL_SOLUTION", 25)
    assert result.statistics["engine"] == "gpu0+gpu2"
    assert "GPU 1 is left out: the GPU cannot be used: taken by another" in caplog.text


def test_without_any_there_is_an_error(three_gpus):
    three_gpus.fail_at = {"mem_alloc": fake_cuda.MemoryError("out of memory")}
    with pytest.raises(EngineError, match="none of the GPUs can be used"):
        solve_text(golomb(6), arch="gpu")


@pytest.mark.parametrize("broken", [{0}, {1}, {0, 2}])
@pytest.mark.parametrize("name", ["golomb", "queens"])
def test_what_a_gpu_had_that_fails_is_searched_by_the_others(three_gpus, caplog, broken, name):
    text = golomb(8) if name == "golomb" else (CORPUS / "queens.fzn").read_text()
    three_gpus.broken = broken
    result = solve_text(text, arch="gpu", blocks=2, lns="off", all_solutions=True, check=True)
    assert result.complete
    if name == "golomb":
        assert result.objective == 34
    else:
        assert len(result.solutions) == len({repr(sorted(found.items())) for found in result.solutions}) == 92
    for number in broken:
        assert f"the GPU{number} engine has failed, the search goes on without it" in caplog.text


def test_when_all_have_failed_the_solutions_are_told_and_an_error(three_gpus):
    three_gpus.broken = {0, 1, 2}
    with pytest.raises(EngineError, match="all of them have failed"):
        solve_text(golomb(8), arch="gpu", blocks=2, lns="off")
    assert devices.driver().Device.count() == 3


def test_solutions_are_wanted_that_are_better_than_an_incumbent_of_another(three_gpus):
    """The solutions of one bound the others: free search on three devices ends with one proof."""
    result = solve_text(golomb(7), arch="gpu", blocks=4, lns="on", intermediate=True)
    assert (result.status, result.objective) == ("OPTIMAL_SOLUTION", 25)
    objectives = [found["m6"] for found in result.solutions]
    assert objectives == sorted(objectives, reverse=True) and np.all(np.diff(objectives) < 0)


@pytest.mark.parametrize("broken", [set(), {1}, {0, 1, 2}])
def test_with_auto_they_join_the_cpu_together(three_gpus, monkeypatch, broken):
    """When they fail, all of them too, the CPU engine goes on."""
    awake = SimpleNamespace(wait=lambda: None, failure=None)
    monkeypatch.setattr(engines.wake, "absence", lambda: None)
    monkeypatch.setattr(engines.wake, "begin", lambda wanted: awake)
    monkeypatch.setattr(TUNING, "gpu_start_seconds", 0.0)
    three_gpus.broken = broken
    result = solve_text(golomb(8), arch="auto", blocks=2, lns="off", check=True)
    assert (result.status, result.objective) == ("OPTIMAL_SOLUTION", 34)
    left = [f"gpu{number}" for number in range(3) if number not in broken]
    assert result.statistics["engine"] in ("cpu", "+".join(["cpu", *left]))


# ---- on real GPUs


@pytest.fixture
def real_gpus() -> int:
    """How many there are, at least two."""
    count = devices.driver().Device.count()
    if count < 2:
        pytest.skip("this machine has one GPU")
    return count


@pytest.mark.gpu
@pytest.mark.parametrize(
    "name", ["queens", "steiner_triples", "all_interval", "demo", "photo", "pigeons", "wide", "taxicab", "knights"]
)
def test_real_gpus_answer_as_one(real_gpus, name):
    text = (CORPUS / f"{name}.fzn").read_text()
    one, several = (
        solve_text(text, arch="gpu", gpus=wanted, all_solutions=True, lns=lns, check=True)
        for wanted, lns in (("1", "off"), ("all", "off"))
    )
    assert (several.status, several.objective) == (one.status, one.objective)
    if one.objective is None:
        told = [sorted(repr(sorted(found.items())) for found in result.solutions) for result in (one, several)]
        assert told[0] == told[1]


@pytest.mark.gpu
@pytest.mark.parametrize("lns", ["off", "on"])
@pytest.mark.parametrize("arch", ["gpu", "auto"])
def test_real_gpus_share_the_tree_of_a_proof(real_gpus, arch, lns):
    result = solve_text(golomb(10), arch=arch, lns=lns, free_search=lns == "on", check=True)
    assert (result.status, result.objective) == ("OPTIMAL_SOLUTION", 55)
    if arch == "gpu":
        assert result.statistics["parcels"] > 0 and result.statistics["engine"].count("gpu") == real_gpus
