"""Learned clauses that become shorter by propagation (kernels/learn/analysis/vivify.h).

An eager build reduces its clauses after a few conflicts, so that small models come to it, and follows each shorter
clause by plain propagation, without watches and reasons (learn/propagators/check.h).
"""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given

from lab.bench.instances import job_shop
from support.checked_learners import CHECKED, engine_with
from support.corpus import EXPECTED, text_of
from support.oracle import all_solutions, optimum
from support.random_models import models
from turbo_fzn import Result, solve_text
from turbo_fzn.engine.abi.abi import LEARNERS

EAGER = ("-DFIRST_REDUCTION=4", *CHECKED)
MODELS = ("photo", "picnic", "pipelines", "rucksack", "teams", "warehouse")
SHOPS = {3: 143, 4: 119}  # of ten jobs and five machines: the seed, and the least makespan, which CP-SAT 9.15 proves


def solve(text: str, *team: str, **options: object) -> Result:
    """Without errors in explanations, or clauses that do not follow."""
    result = solve_text(text, arch="cpu", learn=",".join(team), blocks=len(team), check=True, **options)
    wrong = (result.statistics.get(name, 0) for name in ("explanationErrors", "fixpointErrors"))
    assert not any(wrong), text
    return result


@pytest.mark.parametrize("role", ["prover", "finder"])
def test_clauses_of_a_search_with_many_conflicts_become_shorter(role):
    for seed, makespan in SHOPS.items():
        result = solve(job_shop(Random(seed), 10, 5), role, relaxation="off")
        assert (result.status, result.objective) == ("OPTIMAL_SOLUTION", makespan)
        assert result.statistics["nogoodsShortened"] > 100


@pytest.fixture
def eager():
    """The engine of this process begins to reduce its clauses soon."""
    with engine_with(EAGER):
        yield


@pytest.mark.slow
@pytest.mark.parametrize("team", [*((role,) for role in LEARNERS), LEARNERS], ids="+".join)
def test_shorter_clauses_cost_no_optimum(eager, team):
    shortened = 0
    for entry in EXPECTED:
        if entry["model"].removesuffix(".mzn") in MODELS:
            result = solve(text_of(entry), *team, relaxation="off")
            assert (result.status, result.objective) == ("OPTIMAL_SOLUTION", entry["figure"]), entry["model"]
            shortened += result.statistics.get("nogoodsShortened", 0)
    assert shortened > len(MODELS)


@given(model=models(["minimize", "maximize"]))
def check_optimum_of(model):
    best = optimum(model, all_solutions(model))
    for role in ("prover", "cores"):
        result = solve(model.text, role, relaxation="off")
        assert result.status == ("UNSATISFIABLE" if best is None else "OPTIMAL_SOLUTION"), model.text
        assert result.objective == best, model.text


@pytest.mark.slow
def test_the_optimum_of_a_random_model_is_that_of_the_oracle(eager):
    check_optimum_of()


@pytest.mark.slow
def test_a_search_whose_proof_is_logged_keeps_its_clauses(tmp_path):
    shop = job_shop(Random(2), 10, 5)
    result = solve(shop, "prover", relaxation="off", proof=str(tmp_path / "shop"))
    assert result.statistics["reductions"] > 0 and result.statistics["nogoodsShortened"] == 0
