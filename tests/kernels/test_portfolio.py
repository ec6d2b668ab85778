"""Free search: whatever method finds a solution or proves a bound, the optimum is the one that enumeration finds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from support.command import write
from support.free_search import BEST_GAIN, KNAPSACK, NEIGHBOURHOODS, RESTARTS, search_for_ever
from support.oracle import all_solutions, optimum
from support.random_models import models
from support.warm import ask
from turbo_fzn import Result, solve_text
from turbo_fzn.base.errors import UsageError
from turbo_fzn.engine.abi.abi import METHODS
from turbo_fzn.engine.cpu import CpuEngine
from turbo_fzn.engine.layout.layout import Settings
from turbo_fzn.read.model import Model


def solve(text: str, engine: str, *methods: str, **options: object) -> Result:
    """By these methods alone; without "tree" nobody searches the tree, and a proof must come from the restarts."""
    without = ",".join(method for method in METHODS if method not in methods)
    return solve_text(text, arch=engine, free_search=True, blocks=4, check=True, without=without, **options)


def assert_optimal(result: Result, model: Model) -> None:
    best = optimum(model, all_solutions(model))
    assert result.status == ("UNSATISFIABLE" if best is None else "OPTIMAL_SOLUTION"), model.text
    assert result.objective == best, model.text


@given(model=models(["minimize", "maximize"]))
def test_all_methods_together_prove_the_optimum_of_a_random_model(engine, model):
    assert_optimal(solve(model.text, engine, *METHODS), model)


@given(model=models(["minimize", "maximize"]))
def test_restarts_without_the_tree_prove_the_optimum_of_a_random_model(engine, model):
    assert_optimal(solve(model.text, engine, *RESTARTS), model)


@given(model=models(["satisfy"]))
def test_restarts_without_the_tree_find_a_solution_of_a_random_model_or_prove_that_there_is_none(engine, model):
    result = solve(model.text, engine, "weighted", "annotated")
    assert result.status == ("SATISFIED" if all_solutions(model) else "UNSATISFIABLE"), model.text


@pytest.mark.parametrize("method", NEIGHBOURHOODS + RESTARTS)
def test_each_method_beside_the_tree_keeps_the_optimum(engine, method):
    result = solve(KNAPSACK, engine, "tree", "weighted", method)
    assert (result.status, result.objective) == ("OPTIMAL_SOLUTION", BEST_GAIN)


def test_a_probe_alone_closes_the_gap_from_below(engine):
    result = solve(KNAPSACK, engine, "probe")
    assert (result.status, result.objective) == ("OPTIMAL_SOLUTION", BEST_GAIN)
    assert result.statistics["objectiveBound"] == BEST_GAIN
    assert result.statistics["probeTries"] > 1
    assert "treeTries" not in result.statistics


def test_the_shares_of_the_methods_add_up_and_each_improvement_is_counted_once(engine):
    statistics = solve(KNAPSACK, engine, *METHODS).statistics
    shares = [statistics[f"{method}Share"] for method in METHODS if f"{method}Share" in statistics]
    assert sum(shares) == pytest.approx(1)
    improvements = [statistics.get(f"{method}Improvements", 0) for method in METHODS]
    assert sum(improvements) >= statistics["solutions"] > 0


def test_a_name_that_is_no_method_is_an_error():
    with pytest.raises(UsageError, match="no method magic"):
        solve_text(KNAPSACK, arch="cpu", without="window,magic")


def test_without_free_search_one_thread_follows_the_annotation_and_does_nothing_else():
    names = {name for name in solve_text(KNAPSACK, arch="cpu").statistics if name.endswith("Tries")}
    assert names == {"followerTries"}
    assert not [name for name in solve_text(KNAPSACK, arch="cpu", learn="off").statistics if name.endswith("Tries")]


def island_versions(engine: CpuEngine) -> list[int]:
    """How often each island was written, twice; but for the host's, which is the last."""
    return engine.memory["islands"].view(np.int64).reshape(engine.layout.n_islands + 1, -1)[:-1, 0].tolist()


@pytest.mark.parametrize("percent", [50, 75])
def test_every_island_is_settled(percent):
    settings = Settings(blocks=16, lns_percent=percent, seed=1)
    engine = search_for_ever(settings, lambda engine: min(island_versions(engine)) > 1)
    assert engine.layout.n_islands == 1 + 16 * percent // 100


def test_islands_are_settled_by_methods_that_are_allowed():
    settings = Settings(blocks=16, lns_percent=75, seed=1, methods=frozenset(("tree", *NEIGHBOURHOODS)))
    engine = search_for_ever(settings, lambda engine: engine.methods()[METHODS.index("graph"), 0] > 300)
    apart = island_versions(engine)[3::3]
    assert engine.methods()[METHODS.index("annotated"), 0] == 0 and apart == [0] * len(apart)


def test_a_failure_of_a_restart_is_charged_to_the_decision_variables_near_the_row_that_failed():
    settings = Settings(blocks=2, lns_percent=100, methods=("weighted",))
    engine = search_for_ever(settings, lambda engine: charges(engine).sum() > 100_000)
    charged, decided = charges(engine), engine.layout.arrays["neighbours"]
    assert charged.sum() > 1.2 * engine.statistics()["failures"]  # not just the one that was decided last
    assert charged[decided].sum() > 0.9 * charged.sum()


def charges(engine: CpuEngine) -> np.ndarray:
    """The number of failures that each variable was charged with (int32 [n])."""
    return engine.memory["weights"] - engine.layout._degrees()


def test_a_variable_without_a_lower_bound_is_not_given_the_end_of_the_store(tmp_path):
    names = [f"x{i}" for i in range(12)]
    lines = [f"var int: {name} :: output_var;\nconstraint int_le({name},5);" for name in names]
    lines += ["var 0..1000: s;\nvar 0..1000: t;\nvar 0..100000: o;\nconstraint int_lin_le([-1,-1],[s,t],-100);"]
    path = write(tmp_path, "\n".join([*lines, "constraint int_times(s,t,o);\nsolve minimize o;\n"]))
    for seed in (1, 2, 3):  # in each of them some restart tries the lower end of every domain first
        answer = ask("--arch", "cpu", "-i", "-f", "-p", 2, "--without", "tree,annotated,probe", "-r", seed, path)
        assert answer.markers == ["=========="]
        values = [int(line.split(" = ")[1].rstrip(";")) for lines in answer.solutions for line in lines]
        assert min(values) >= -1000
