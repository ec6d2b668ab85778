"""Work goes from block to block: subproblems through the pool, the best objective and the proved bound by `Common`.

Without it every answer would be the same, only later. So these tests look at who has done what, and hold the blocks
where that would depend on who is first.
"""

from __future__ import annotations

import pytest

from support.command import wait_until
from support.engines import OpenEngine, labelled
from support.market_split import market_split_model
from turbo_fzn.engine.contract import Found

FREE = labelled(dict.fromkeys("abcd", "1..6"))  # nothing fails
N_FREE = 6**4
YOUNG = labelled({"x": "1..2", "y": "1..5"})  # where something is left for others it has one open level, and 6 nodes
SUM = labelled(
    dict.fromkeys("abc", "0..9"),
    "var 0..27: z :: output_var;\nconstraint int_lin_eq([1,1,1,-1],[a,b,c,z],0);\n",
    "minimize z",
    "indomain_max",
)


def assignments(found: list[Found]) -> set[tuple[int, ...]]:
    return {tuple(solution.values) for solution in found}


# ---- subproblems


@pytest.mark.parametrize("blocks", [2, 5, 16])
def test_blocks_that_wait_are_given_work(blocks):
    engine = OpenEngine(FREE, blocks=blocks, ring_slots=1)
    found = engine.run_held()
    assert engine.complete and len(found) == len(assignments(found)) == N_FREE
    assert sum(engine.counted("donations")) >= blocks - 1
    assert min(engine.counted("nodes")) > 0


def test_a_small_subproblem_is_not_worth_sharing():
    engine = OpenEngine(YOUNG, blocks=2, ring_slots=1)
    assert len(engine.run_held()) == 10
    assert engine.counted("donations") == [0, 0]


def test_where_nobody_waits_nothing_is_given_away():
    engine = OpenEngine(FREE, blocks=2)
    assert len(engine.run_alone()) == N_FREE
    assert engine.counted("donations") == [0, 0]


def test_of_many_blocks_a_subproblem_is_kept_ready_for_each_sixteen():
    engine = OpenEngine(FREE, blocks=32)
    assert len(engine.run_alone()) == N_FREE
    assert engine.counted("donations")[0] >= 2


def test_the_slots_of_the_pool_are_used_again_and_again():
    engine = OpenEngine(FREE, blocks=1, level_capacity=1)
    found = engine.run()
    assert engine.complete and len(found) == len(assignments(found)) == N_FREE
    assert engine.counted("donations")[0] > 2 * engine.layout.pool_slots


# ---- what all know


def test_a_solution_bounds_what_is_searched_from_then_on():
    engine = OpenEngine(SUM, blocks=1)
    objectives = [solution.objective for solution in engine.run()]
    assert objectives == list(range(27, -1, -1)) and engine.complete
    assert engine.counted("nodes")[0] < 100  # of more than a thousand


def test_a_solution_of_another_block_bounds_the_search_too():
    """The block waits for room with its second solution; meanwhile another one has found a better one."""
    engine = OpenEngine(SUM, blocks=1, ring_slots=1)
    engine.start()
    wait_until(lambda: engine.common.ring_head == 2)
    engine.common.best = 1
    assert [solution.objective for solution in engine.search_until(lambda: False)] == [27, 26, 0]
    assert engine.counted("nodes")[0] < 20


def test_no_objective_is_published_twice():
    """Also where neighbourhoods of islands accept solutions that are no better than the best."""
    engine = OpenEngine(market_split_model(), blocks=16, lns_percent=75)
    engine.start()
    found = engine.search_until(lambda: sum(engine.books[:, 0]) > 2000)
    objectives = [solution.objective for solution in found]
    assert len(objectives) == len(set(objectives)) > 0


WHO_PROVES = pytest.mark.parametrize("bound", ["bound", "host_bound"], ids=["blocks", "host"])


@WHO_PROVES
def test_the_search_ends_where_the_bound_meets_the_best_solution(bound):
    """The block waits for room with its second solution; meanwhile it is proved that there is nothing better."""
    engine = OpenEngine(SUM, blocks=1, ring_slots=1)
    engine.start()
    wait_until(lambda: engine.common.ring_head == 2)
    setattr(engine.common, bound, 26)
    assert [solution.objective for solution in engine.search_until(lambda: False)] == [27, 26] and engine.complete
    assert engine.counted("nodes")[0] < 10


@WHO_PROVES
def test_the_proved_bound_is_known_at_the_root(bound):
    engine = OpenEngine(labelled({"z": "{0,20}"}, goal="minimize z", how="indomain_max"), blocks=1)
    setattr(engine.common, bound, 10)
    assert [solution.objective for solution in engine.run()] == [20] and engine.complete


def test_neighbourhoods_end_when_the_tree_is_exhausted():
    """Block 1 can prove nothing, and would go on for ever."""
    engine = OpenEngine(SUM, blocks=2, lns_percent=50, methods=frozenset(("tree", "random")))
    engine.common.outstanding = 0
    engine.run_alone(block=1)
    assert engine.complete
