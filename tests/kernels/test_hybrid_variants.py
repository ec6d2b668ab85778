"""Variants of the hybrid engine: threads that search in another way, and blocks that propagate in another way.

Where there is no GPU the blocks are threads (fake_cuda.py); both are built with assertions, by which the stores of a
thread and its block are compared after each message, and run every row once more at each fixpoint.
"""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.builds import build_once
from support.corpus import EXPECTED, text_of
from support.engines import labelled
from support.fake_gpu import lent_gpu
from support.variant_engines import ASSERTING, FLAGS
from turbo_fzn import solve_text
from turbo_fzn.base.errors import TurboError
from turbo_fzn.base.resources import kernels_folder
from turbo_fzn.engine import hybrid, variants
from turbo_fzn.engine.toolchain import compiler

DIFFERENT = "".join(f"constraint int_ne(x{i},x{j});\n" for i in range(5) for j in range(i))
PERMUTATIONS = labelled({f"x{i}": "0..4" for i in range(5)}, DIFFERENT + "constraint int_lt(x0,x1);\n")
SOLUTIONS = 60
GOLOMB = next(entry for entry in EXPECTED if entry["model"] == "golomb.mzn")

# Names of --variant that go together; together all that the engine has, but for those that are as is usual.
SWEEP, WARP_SWEEP = (
    "sweep,no-sync,recompute,static-split,sort=operator,unsimplified",
    "warp-sweep,plain-bounds,store=shared,model=shared,sort=neighbourhood,octagon",
)
QUICK = (SWEEP, WARP_SWEEP)
EACH = ("sweep", "warp-sweep", "plain-bounds", "recompute", "static-split", "static-split,recompute", "store=global")


def built(bits: int, *extra: str) -> ctypes.CDLL:
    """The library of hybrid.searchers, compiled quickly, and once for all tests."""
    command = [*compiler.find_cpu_compiler(), *FLAGS, ASSERTING, f"-DBOUND_BITS={bits}", *extra]

    def compile_here(folder: Path) -> None:
        source = str(kernels_folder() / "hybrid.cpp")
        subprocess.run([*command, source, "-o", str(folder / "hybrid.so")], check=True)

    folder = build_once("hybrid-variant", compile_here, command, compiler.source_hash())
    return hybrid.prepared(ctypes.CDLL(str(folder / "hybrid.so")), extra)


@pytest.fixture(scope="module", params=["loopback", pytest.param("gpu", marks=pytest.mark.gpu)], autouse=True)
def device(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The device of the blocks."""
    if request.param == "gpu":
        yield
        return
    cache = tmp_path_factory.mktemp("hybrid") / "cache"
    with pytest.MonkeyPatch.context() as patch, lent_gpu(patch, cache):
        patch.setattr(hybrid, "searchers", built)
        yield


def solve(text: str, names: str, **settings: object):
    result = solve_text(text, **{"arch": "hybrid", "variant": names, "relaxation": "off", **settings})
    assert result.complete and result.statistics["fixpointErrors"] == 0
    return result


@pytest.mark.parametrize(
    "names", [SWEEP, *(pytest.param(names, marks=pytest.mark.slow) for names in (WARP_SWEEP, *EACH))]
)
def test_a_variant_finds_every_solution_once_and_proves_the_optimum(names):
    for threads in (1, 3):
        found = solve(PERMUTATIONS, names, threads=threads, all_solutions=True, check=True).solutions
        assert len(found) == len({tuple(one.values()) for one in found}) == SOLUTIONS
    assert solve(text_of(GOLOMB), names, threads=2).objective == GOLOMB["figure"]


def test_blocks_sweep_and_threads_recompute_and_split_ahead():
    counted = solve(PERMUTATIONS, SWEEP, threads=1, all_solutions=True, subproblems=16).statistics
    assert counted["propagations"] == counted["iterations"] * counted["propagators"] > 0
    assert counted["replays"] > 0 == counted["donations"]
    assert counted["subproblems"] == counted["subproblemsSolved"] + counted["subproblemsSkipped"] == 16


@pytest.mark.parametrize(("names", "store", "model"), [
    ("default", "shared", "global"), ("store=global", "global", "global"),
    pytest.param("model=shared", "shared", "shared", marks=pytest.mark.slow),  # for the kernels
])  # fmt: skip
def test_the_memory_of_blocks_is_as_it_was_asked_for(names, store, model):
    counted = solve(PERMUTATIONS, names, threads=1, all_solutions=True).statistics
    assert (counted["store"], counted["model"], counted["solutions"]) == (store, model, SOLUTIONS)
    assert 0 < counted["memoryStore"] < counted["memoryStack"]


@pytest.mark.parametrize("names", ["retire", "sweep,retire=scan"])
def test_rows_that_would_retire_are_refused_in_one_line(names):
    with pytest.raises(TurboError) as refused:
        solve(PERMUTATIONS, names)
    assert "is not of the engine hybrid, its blocks know no levels" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_every_variant_that_the_engine_has_is_tried():
    own = {one.name for one in variants.VARIANTS if variants.HYBRID in one.engines}
    usual = {one.name for one in variants.VARIANTS if variants.HYBRID in one.usual}
    assert {name for names in (*QUICK, *EACH) for name in names.split(",")} | usual == own
    others = {"bitset", "fused", "packed", "retire", "retire=scan", "unfused", "unpacked"}
    assert {one.name for one in variants.VARIANTS} - own == others
