"""Proofs of learners with fused rows: these are used, what they explain is accepted, and their clauses too.

The kernels that log are a build of their own, so what runs them is slow.
"""

from __future__ import annotations

from collections import Counter
from itertools import product
from operator import mul
from random import Random

import pytest

from support.proofs import optimum, prove
from support.tree_models import random_trees
from turbo_fzn import solve_text
from turbo_fzn.proof.checker import check
from turbo_fzn.proof.checking import check_files, scale_of

N_MODELS = 600
ROLES = ("soloist", "prover", "finder", "follower")
WEIGHTS, PRICES = (31, 41, 59, 26, 53, 58, 97, 93), (27, 18, 28, 18, 28, 45, 90, 45)
SIZES, MOST_WEIGHT, MOST_SIZE = (3, 1, 4, 1, 5, 9, 2, 6), 400, 40


@pytest.mark.slow
def test_trees_of_sums_and_truths_are_proved_as_single_rows():
    """Their inequalities are sums of the rows' (`pol` without saturation), and so are the clauses; enumeration finds
    the same optimum."""
    random, counts = Random(46), Counter[str]()
    for number in range(N_MODELS):
        tnf = random_trees(Random(f"fused/{number}"))
        if tnf is None:
            continue
        one = prove(tnf, random.choice(ROLES), random.choice((0, 1, 2)), blocks=random.choice((1, 1, 2)))
        verdict = check(one.model.splitlines(), one.proof.splitlines())
        assert verdict.conclusion == one.conclusion != "NONE", number
        if number % 10 == 0:
            assert optimum(tnf) == one.found, number
        counts[verdict.conclusion] += 1
        counts["with a fused row"] += any(is_derivation(line) for line in one.proof.splitlines())
    assert counts["with a fused row"] > N_MODELS / 10 and min(counts.values()) > 5, counts


def knapsack() -> str:
    """FlatZinc: at most three of each thing, of which two sums are bounded and a third is largest."""
    names = [f"x{i}" for i in range(len(WEIGHTS))]
    lines = [f"var 0..3: {name} :: output_var;" for name in names]
    lines.append("var 0..2000: best :: output_var;")
    sums = (WEIGHTS, "le", MOST_WEIGHT, names), (SIZES, "le", MOST_SIZE, names)
    for factors, relation, most, variables in (*sums, ((*PRICES, -1), "eq", 0, [*names, "best"])):
        lines.append(f"constraint int_lin_{relation}({list(factors)},[{','.join(variables)}],{most});")
    return "\n".join([*lines, "solve maximize best;\n"])


@pytest.mark.slow
def test_long_sums_of_a_model_are_single_rows_of_its_proof(tmp_path):
    proof = tmp_path / "a.pbp"
    result = solve_text(knapsack(), arch="cpu", proof=str(proof), free_search=True)
    amounts = product(range(4), repeat=len(WEIGHTS))
    allowed = (
        sum(map(mul, PRICES, one))
        for one in amounts
        if sum(map(mul, WEIGHTS, one)) <= MOST_WEIGHT and sum(map(mul, SIZES, one)) <= MOST_SIZE
    )
    model = str(tmp_path / "a.opb")
    words = scale_of(model).words(check_files(model, str(proof)))
    assert words == f"OPTIMAL_SOLUTION, objective {max(allowed)}" and result.status == "OPTIMAL_SOLUTION"
    assert any(map(is_derivation, proof.read_text().splitlines()))


def is_derivation(line: str) -> bool:
    """Whether the line derives the inequality of a fused row: no other sum is without saturation."""
    return line.startswith("pol") and "s" not in line.split()
