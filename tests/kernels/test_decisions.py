"""The first decisions of learners: which variables are in a set, that sets take turns, that seeds perturb, and that
every choice proves the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.builds import little_optimised
from support.lone_rows import cpu_rows
from support.oracle import all_solutions, optimum
from support.places import CORPUS
from support.random_models import models
from support.warm import ask
from turbo_fzn import solve_text
from turbo_fzn.base.errors import UsageError
from turbo_fzn.engine.abi.abi import DECISION_SETS, DecisionSet
from turbo_fzn.engine.layout.decisions import decision_sets, links
from turbo_fzn.run.roles import IN_TURN, Learner, named_learner
from turbo_fzn.tnf.language import TNF, Op

ASSERTING = little_optimised("-DCHECK_ASSERTIONS")


def tnf_of(rows: list[tuple[Op, int, int, int]], upper: list[int], objective: int = -1) -> TNF:
    op, x, y, z = (np.array(column, np.int32) for column in zip(*rows))
    n = len(upper)
    return TNF(op, x, y, z, np.zeros(n, np.int64), np.array(upper, np.int64), np.zeros(8, np.int64),
               objective=objective, sense=int(objective >= 0))  # fmt: skip


def test_the_inner_nodes_of_a_sum_are_links_and_its_ends_are_not():
    #   5 = 0 + 1, 6 = 5 + 2, 7 = 6 + 3: 5 and 6 are inside
    rows = [(Op.ADD, 5, 0, 1), (Op.ADD, 6, 5, 2), (Op.ADD, 7, 6, 3)]
    assert np.flatnonzero(links(tnf_of(rows, [9] * 8))).tolist() == [5, 6]


@pytest.mark.parametrize(
    "more",
    [(Op.LEQ, 4, 5, 3), (Op.MUL, 4, 5, 3), (Op.ADD, 4, 5, 3), (Op.ADD, 5, 3, 4), (Op.ELEMENT, 4, 5, 0)],
    ids=["compared", "multiplied", "in another sum", "defined twice", "an index"],
)
def test_what_anybody_else_uses_is_no_link(more):
    rows = [(Op.ADD, 5, 0, 1), (Op.ADD, 6, 5, 2), more]
    assert not links(tnf_of(rows, [9] * 8)).any()


def test_a_sum_inside_a_maximum_is_no_link_and_neither_is_the_objective():
    assert not links(tnf_of([(Op.ADD, 3, 0, 1), (Op.MAX, 4, 3, 2)], [9] * 5)).any()
    rows = [(Op.MAX, 3, 0, 1), (Op.MAX, 4, 3, 2)]
    assert links(tnf_of(rows, [9] * 5)).tolist() == [False, False, False, True, False]
    assert not links(tnf_of(rows, [9] * 5, objective=3)).any()


N_SETS = len(DECISION_SETS)
OPS = (Op.ADD, Op.MIN, Op.MAX, Op.MUL, Op.LEQ, Op.ELEMENT)
ROWS = st.lists(st.tuples(st.sampled_from(OPS), *[st.integers(0, 5)] * 3), min_size=1, max_size=8)


@given(rows=ROWS, upper=st.lists(st.integers(0, 3), min_size=6, max_size=6), labelled=st.sets(st.integers(0, 5)))
def test_each_variable_is_in_the_sets_that_its_rows_say(rows, upper, labelled):
    tnf = tnf_of(rows, upper)
    bits = decision_sets(tnf, np.array(sorted(labelled), np.int32))
    for v in range(6):
        members = {one for one in DecisionSet if bits[v] >> one & 1}
        defining = [row for row in rows if row[1] == v]
        using = [row for row in rows for operand in (row[2:] if row[0] != Op.ELEMENT else row[2:3]) if operand == v]
        linked = len(defining) == len(using) == 1 and defining[0][0] == using[0][0] in (Op.ADD, Op.MIN, Op.MAX)
        wanted = {DecisionSet.ALL: True, DecisionSet.TRUTHS: upper[v] <= 1, DecisionSet.UNLINKED: not linked,
                  DecisionSet.LABELLED: v in labelled}  # fmt: skip
        assert members == {one for one, holds in wanted.items() if holds}


@pytest.mark.slow
@pytest.mark.parametrize("sets", [*DECISION_SETS, "+".join(DECISION_SETS)])
@pytest.mark.parametrize("model", ["golomb", "removal", "workshop"])
def test_what_is_decided_is_of_the_set_while_one_of_it_is_open(model, sets):
    for role in ("finder", "prover"):
        flags = ["-p", "1", "-f", "--learn", f"{role}:{sets}", "--lns", "off"]
        answer = ask("--arch", "cpu", "-s", *flags, CORPUS / f"{model}.fzn", **ASSERTING)
        assert (answer.code, answer.errors) == (0, "") and int(answer.statistics["nogoods"]) > 0


@given(
    work=st.lists(st.integers(0, 3), min_size=N_SETS, max_size=N_SETS),
    named=st.sets(st.integers(0, N_SETS - 1), min_size=1),
    last=st.integers(0, N_SETS - 1),
)
def test_the_next_set_is_one_that_was_named_with_the_least_work_and_of_several_the_next_in_turn(work, named, last):
    """By work and not by conflicts: those of one set may take twenty times as long as those of another."""
    in_turn = [(last + i) % N_SETS for i in range(1, N_SETS + 1)]
    expected = min((one for one in in_turn if one in named), key=lambda one: work[one])
    column = np.array(work, np.int64)
    assert cpu_rows(32).next_set(column.ctypes.data, sum(1 << one for one in named), last) == expected


@pytest.mark.parametrize(
    "sets", [*(pytest.param(one, marks=pytest.mark.slow) for one in DECISION_SETS), "+".join(DECISION_SETS)]
)
@given(model=models(["minimize", "maximize"]))
def test_every_set_proves_the_optimum_of_the_oracle(sets, model):
    best = optimum(model, all_solutions(model))
    result = solve_text(model.text, arch="cpu", learn=f"soloist:{sets}", blocks=1, check=True)
    assert result.status == ("UNSATISFIABLE" if best is None else "OPTIMAL_SOLUTION"), model.text
    assert result.objective == best, model.text


def test_a_learner_is_named_with_its_sets():
    assert named_learner("finder") == Learner("finder", IN_TURN)
    assert named_learner("prover:truths+unlinked") == Learner("prover", ("truths", "unlinked"))


@pytest.mark.parametrize("name", ["fnder", "finder:truth", "finder:", "finder:all+"])
def test_a_name_that_is_none_is_refused(name):
    with pytest.raises(UsageError, match="--learn: no (role|set)"):
        named_learner(name)


def conflicts(seed: int, sets: str = "all") -> int:
    text = (CORPUS / "removal.fzn").read_text()
    return solve_text(text, arch="cpu", learn=f"finder:{sets}", blocks=1, seed=seed).statistics["nogoods"]


def test_sets_have_their_turns_from_restart_to_restart():
    once = {sets: conflicts(1, sets) for sets in ("all", "truths", "all+truths")}
    assert len(set(once.values())) == 3, once


def test_seeds_perturb_a_learner_and_equal_seeds_search_alike():
    assert conflicts(1) == conflicts(1)
    assert len({conflicts(seed) for seed in range(1, 6)}) > 1
