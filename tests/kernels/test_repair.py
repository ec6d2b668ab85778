"""Walks (kernels/repair): they find solutions, claim nothing, and keep account of what their assignment violates."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from support.free_search import BEST_GAIN, KNAPSACK
from support.oracle import all_solutions, optimum
from support.random_models import models
from support.variant_engines import ManyLanes
from turbo_fzn import Result, solve_text
from turbo_fzn.engine.abi.abi import METHODS

N = 12
QUEENS = "\n".join(
    [f"var 1..{N}: q{i} :: output_var;" for i in range(N)]
    + [
        f"constraint int_lin_ne([1, -1], [q{i}, q{j}], {step});"
        for i in range(N)
        for j in range(i)
        for step in (0, i - j, j - i)
    ]
    + ["solve satisfy;"]
)
PIGEONS = "\n".join(
    [f"var 1..4: p{i} :: output_var;" for i in range(5)]
    + [f"constraint int_lin_ne([1, -1], [p{i}, p{j}], 0);" for i in range(5) for j in range(i)]
    + ["solve satisfy;"]
)
# Each kind of row defines a variable or is a constraint; 64-bit stores, since the product may be 10^10.
MANY_ROWS = """
array [1..5] of int: squares = [1, 4, 9, 16, 25];
var 1..100000: a :: output_var;
var 1..100000: b :: output_var;
var 0..10000000000: product :: output_var;
var 1..5: i :: output_var;
var 1..25: s :: output_var;
var 0..100000: q :: output_var;
var 0..99: r :: output_var;
var 0..100000: least :: output_var;
var bool: less :: output_var;
constraint int_times(a, b, product);
constraint array_int_element(i, squares, s);
constraint int_div(a, s, q);
constraint int_mod(b, 100, r);
constraint int_min(q, b, least);
constraint int_lt_reif(q, b, less);
constraint bool_eq(less, true);
constraint int_lin_eq([1, -1, -1], [r, s, i], 7);
constraint int_le(5000, least);
constraint int_lin_le([-1], [product], -100000000);
solve satisfy;
"""


# No move from the only violated constraint: each wish goes down a chain that is deeper than a walk goes.
DEPTH = 60
CHAINS = [(f"{name}{i}", f"p{name}{i}", f"{name}{i + 1}") for name in "xy" for i in range(DEPTH)]
DEEP = "\n".join(
    ["var 0..256: x0 :: output_var;", "var 0..256: y0 :: output_var;"]
    + [f"var 0..65536: {square}; var 0..256: {after};" for _, square, after in CHAINS]
    + [f"constraint int_times({x}, {x}, {p}); constraint int_mod({p}, 257, {after});" for x, p, after in CHAINS]
    + [f"constraint int_lin_eq([1, 1], [x{DEPTH}, y{DEPTH}], 100);", "solve satisfy;"]
)
# A divisor may be 0 in the domain, where nothing satisfies the division.
DIVISOR = """
var -9..9: y :: output_var;
var -3..3: z :: output_var;
var -9..9: q :: output_var;
var -9..9: r :: output_var;
constraint int_div(y, z, q);
constraint int_mod(7, z, r);
constraint int_le(2, q);
solve satisfy;
"""


def solve(text: str, *methods: str, **options: object) -> Result:
    without = ",".join(method for method in METHODS if method not in methods)
    return solve_text(text, arch="cpu", free_search=True, blocks=2, check=True, without=without, **options)


@pytest.mark.parametrize("text", [QUEENS, MANY_ROWS, DIVISOR], ids=["queens", "many rows", "divisor"])
def test_walks_alone_find_a_solution(text):
    result = solve(text, "repair")
    assert result.status == "SATISFIED"
    assert result.statistics["repairImprovements"] >= 1


def test_walks_alone_improve_on_an_objective_until_a_bound_is_met():
    result = solve(KNAPSACK, "repair", "probe")
    assert (result.status, result.objective) == ("OPTIMAL_SOLUTION", BEST_GAIN)


def test_walks_alone_claim_nothing_of_a_model_without_a_solution():
    result = solve(PIGEONS, "repair", time_limit=300)
    assert result.status == "UNKNOWN"
    assert result.statistics["repairTries"] >= 1


def test_a_walk_without_any_move_ends_when_the_search_is_over():
    result = solve(DEEP, "tree", "repair")
    assert result.status == "UNSATISFIABLE"
    assert result.statistics["repairTries"] >= 1


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["", "fused"])
@pytest.mark.parametrize("text", [QUEENS, KNAPSACK], ids=["queens", "knapsack"])
def test_the_lanes_of_a_warp_walk_as_one(text, variant):
    """The kernels assert after each task that sums, definitions and costs are those of the assignment."""
    methods = frozenset(["repair"])
    engine = ManyLanes(text, variant, blocks=2, lns_percent=100, methods=methods, seed=1)
    tries = engine.books[METHODS.index("repair")]
    engine.start()
    assert engine.search_until(lambda: tries[0] >= 1)


def test_a_single_block_does_not_walk_since_its_clock_would_not_count_that():
    without = ",".join(method for method in METHODS if method not in ("repair", "random", "weighted"))
    result = solve_text(KNAPSACK, arch="cpu", free_search=True, blocks=1, learn="off", without=without)
    assert (result.status, result.objective) == ("OPTIMAL_SOLUTION", BEST_GAIN)
    assert result.statistics["moves"] == 0 and "repairTries" not in result.statistics


@settings(max_examples=settings.default.max_examples // 2)
@given(model=models(["satisfy", "minimize", "maximize"]))
def test_walks_beside_the_tree_keep_the_answer_of_a_random_model(model):
    result = solve(model.text, "tree", "repair")
    solutions = all_solutions(model)
    if model.goal.method == "satisfy":
        assert result.status == ("SATISFIED" if solutions else "UNSATISFIABLE"), model.text
    else:
        assert result.status == ("OPTIMAL_SOLUTION" if solutions else "UNSATISFIABLE"), model.text
        assert result.objective == optimum(model, solutions), model.text
