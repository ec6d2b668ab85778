"""Learners with fused rows: what they find has the values of links, and half of them have such rows.

What fused rows mean is tested in tests/unit/tnf/test_fuse.py, what they explain in test_linear_rows.py.
"""

from __future__ import annotations

import ctypes
from random import Random

import pytest

from support import naive
from support.corpus import EXPECTED, text_of
from support.engines import OpenEngine
from support.lone_rows import cpu_rows
from turbo_fzn import solve_text
from turbo_fzn.tnf.tuning import TUNING

WITH_LINKS = ("crossword", "rota", "rucksack", "toll_roads")


@pytest.mark.parametrize("model", WITH_LINKS)
def test_a_solution_has_the_values_of_links(model):
    (entry,) = [entry for entry in EXPECTED if entry["model"] == f"{model}.mzn"]
    engine = OpenEngine(text_of(entry), blocks=1, roles=("finder",), learn_bytes=2**26)
    assert engine.problem.n_links > 20
    found = engine.run()
    assert found and all(naive.holds(engine.prepared.tnf, one.values.tolist()) for one in found)


# 3 * x + 5 * y is never 7. Where it is to be, y = 1 leaves x no other value than 0, by the row itself: only a second
# run of it finds the fault.
NO_SUM = """
var 0..3: x; var 0..3: y; var bool: equal; var 0..1: gain;
constraint int_lin_eq_reif([3, 5], [x, y], 7, equal);
constraint bool2int(equal, gain);
solve :: int_search([gain, y], input_order, indomain_max, complete) maximize gain;
"""


def test_a_row_of_both_ends_of_a_sum_runs_again_for_what_it_has_said_itself(monkeypatch):
    monkeypatch.setattr(TUNING, "joint_values", 0)
    engine = OpenEngine(NO_SUM, blocks=1, roles=("follower",), learn_bytes=2**24)
    assert engine.problem.n_linears == 1
    found = engine.run()
    assert engine.complete and [one.objective for one in found] == [0]
    assert all(naive.holds(engine.prepared.tnf, one.values.tolist()) for one in found)


def conjunctions(n: int, size: int) -> str:
    """A sum of truths of conjunctions: many clauses, and little else."""
    random = Random(0)
    lines = [f"var bool: leaf{i};" for i in range(n)]
    lines += [f"var bool: all{i}; var 0..1: one{i};" for i in range(n)]
    for i in range(n):
        leaves = ",".join(f"leaf{j}" for j in random.sample(range(n), size))
        lines += [f"constraint array_bool_and([{leaves}], all{i});", f"constraint bool2int(all{i}, one{i});"]
    ones = ",".join(f"one{i}" for i in range(n))
    lines += [f"var 0..{n}: sum;", f"constraint int_lin_eq([{'1,' * n}-1], [{ones}, sum], 0);"]
    return "\n".join([*lines, "solve maximize sum;"])


def test_a_learner_that_has_no_memory_for_the_stated_clauses_searches_like_the_rest():
    """It left, and its thread did nothing. Between too little for anything and enough is a span of memory in which only
    the clauses are too many."""
    text, nogoods = conjunctions(150, 9), []
    for kilobytes in range(1100, 1281, 20):
        engine = OpenEngine(text, blocks=2, roles=("prover", "finder"), learn_bytes=1000 * kilobytes)
        assert engine.problem.n_clauses > 1000
        assert engine.run_alone(0)
        nogoods.append(engine.statistics()["nogoods"])
    assert nogoods[0] == 0 < nogoods[-1]


@pytest.mark.slow
def test_the_variant_unfused_has_ternary_rows():
    """The variant solves the model by another search."""
    (entry,) = [entry for entry in EXPECTED if entry["model"] == "rota.mzn"]
    usual, unfused = (
        solve_text(text_of(entry), arch="cpu", blocks=1, learn="finder", relaxation="off", seed=1, variant=variant)
        for variant in (None, "unfused")
    )
    assert usual.objective == unfused.objective == entry["figure"] and usual.complete and unfused.complete
    assert usual.statistics["nogoods"] != unfused.statistics["nogoods"]


@pytest.mark.parametrize("fuses", [(), (True, False, False), (False, True, True)])
def test_learners_have_fused_rows_as_the_settings_say(fuses):
    """Every second one had, whatever its host knew."""
    engine = OpenEngine(NO_SUM, blocks=5, roles=("prover", "finder", "finder"), fuses=fuses, learn_bytes=2**20)
    has_them = [cpu_rows(32).learns_with_fused_rows(ctypes.byref(engine.problem), block) for block in (2, 3, 4)]
    assert has_them == [int(fused) for fused in fuses or (True, True, True)]
