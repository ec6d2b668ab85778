"""The assertions of the kernels hold (kernels/core/assert.h): trails, stacks, paths, tickets, versions, queues,
clauses, watches, heaps, reasons, real bounds.

The build with assertions ends the process where one fails, with a line that has the assertion and its place.
"""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from support.builds import little_optimised
from support.command import PATIENCE, environment, run
from support.places import CORPUS, TESTS

pytestmark = pytest.mark.slow

ASSERTING = little_optimised("-DCHECK_ASSERTIONS")
REALS = ("cooling", "loan", "mortgage", "pendulum", "tariffs", "thermometers", "two_circles")
LEARNERS = ("soloist", "prover:truths+all", "follower", "finder")
TRIES = 10
WALKS_ONLY = "tree,random,window,graph,objective,weighted,annotated,probe"
MODELS = ("crossword", "golomb", "hamilton", "job_shop", "lights_out", "magic_square", "rcpsp", "remainders")

# Every capacity too small: trails that are forgotten, paths that are replayed, subproblems that change hands.
CAPACITIES = """
from support.capacities import TOO_SMALL, run
for goal, lns_percent in (("satisfy", 0), ("maximize cost", 0), ("maximize cost", 50)):
    for blocks in (1, 5):
        for small in TOO_SMALL.values():
            assert run("cpu", goal, blocks=blocks, lns_percent=lns_percent, **small)[2]["complete"]
print("done")
"""

# One learner has fused rows, and the other tells it of links.
LINKS = """
from support.free_search import search_for_ever
from turbo_fzn.process.streams import keep_libraries_out
keep_libraries_out()  # HiGHS greets
from turbo_fzn.engine.layout.layout import Settings
for seed in (1, 2):
    settings = Settings(blocks=2, seed=seed, roles=("prover", "finder"), fuses=(True, False))
    engine = search_for_ever(settings, lambda engine: engine.statistics()["heard"] > 2000)
    assert engine.problem.n_links > 5
print("done")
"""

# A subproblem in the pool whose path is longer than a slot.
BROKEN = """
import numpy as np
from support.capacities import Settings, engine_for
engine = engine_for("cpu", "satisfy", Settings())
engine.memory["pool"].view(np.int32)[0] = 10**6
engine.start()
while engine.running:
    engine.poll()
"""


def run_script(script: str) -> subprocess.CompletedProcess[str]:
    changes = environment(**ASSERTING)
    changes["PYTHONPATH"] += f":{TESTS}"
    command = [sys.executable, "-c", script]
    return subprocess.run(command, capture_output=True, text=True, env=changes, timeout=PATIENCE, check=False)


@pytest.mark.parametrize("flags", [("--lns", "off"), ("-f", "-p", "3")], ids=["tree", "free"])
@pytest.mark.parametrize("model", MODELS)
def test_assertions_hold_while_a_model_is_solved(model, flags):
    answer = run("--arch", "cpu", "-a", "-s", *flags, CORPUS / f"{model}.fzn", **ASSERTING)
    assert (answer.code, answer.errors) == (0, "")
    assert answer.solutions and int(answer.statistics["nodes"]) > 1


@pytest.fixture(scope="module")
def compiled() -> None:
    """The build is there, so that a time limit is for the search."""
    run("--arch", "cpu", CORPUS / "golomb.fzn", **ASSERTING)


@pytest.mark.parametrize("model", MODELS)
def test_assertions_hold_while_a_block_walks(compiled, model):
    """The other block may have the optimum, and its proof, before this one begins: then the run is tried again."""
    flags = ["-p", "2", "-f", "--learn", "off", "--relaxation", "off", "--without", WALKS_ONLY, "-t", "2000"]
    moves = 0
    for _ in range(TRIES):
        answer = run("--arch", "cpu", "-s", *flags, CORPUS / f"{model}.fzn", **ASSERTING)
        assert answer.code == 0 and "does not hold" not in answer.errors
        moves += int(answer.statistics.get("moves", 0))
        if moves:
            break
    assert moves > 0


@pytest.mark.parametrize("role", LEARNERS)
@pytest.mark.parametrize("model", ["golomb", "removal", "toll_roads"])
def test_assertions_hold_while_a_block_learns(model, role):
    flags = ["-p", "1", "-f", "--learn", role, "--lns", "off"]
    answer = run("--arch", "cpu", "-s", *flags, CORPUS / f"{model}.fzn", **ASSERTING)
    assert (answer.code, answer.errors) == (0, "") and int(answer.statistics["nogoods"]) > 0


def test_assertions_hold_while_learners_tell_each_other_clauses():
    flags = ["-p", "3", "-f", "--learn", "prover,finder,follower", "--lns", "off"]
    answer = run("--arch", "cpu", "-s", *flags, CORPUS / "removal.fzn", **ASSERTING)
    assert (answer.code, answer.errors) == (0, "") and int(answer.statistics["nogoodsTold"]) > 0


@pytest.mark.parametrize("model", REALS)
def test_assertions_hold_of_real_bounds(model):
    answer = run("--arch", "cpu", "-s", "-f", "-p", "1", CORPUS / f"{model}.fzn", **ASSERTING)
    assert (answer.code, answer.errors) == (0, "") and int(answer.statistics["nodes"]) > 0


def test_assertions_hold_where_every_capacity_is_too_small():
    done = run_script(CAPACITIES)
    assert done.returncode == 0 and done.stdout.endswith("done\n"), done.stderr[-2000:]


def test_assertions_hold_where_only_one_of_two_learners_has_links():
    done = run_script(LINKS)
    assert done.returncode == 0 and done.stdout.endswith("done\n"), done.stderr[-2000:]


def test_what_does_not_hold_ends_the_process():
    done = run_script(BROKEN)
    assert done.returncode == -signal.SIGABRT
    assert "search/pool.h" in done.stderr and "does not hold: 0 <= length && length <= " in done.stderr
