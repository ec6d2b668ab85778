"""The fused rows that symmetries are looked for in, and the rows that break these for learners."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from random import Random

import numpy as np
import pytest

from support.drafts import Draft, assignments, draw, rule_of_linear, rules_of_rows, solutions
from turbo_fzn.base.domains import INFINITY
from turbo_fzn.engine.layout.fused import pack
from turbo_fzn.tnf.arrange import arrange, moved_to
from turbo_fzn.tnf.fuse import Fused, fuse_for_log, fuse_whole
from turbo_fzn.tnf.language import ADD, EQ, LEQ, MAX, TNF
from turbo_fzn.tnf.linear_rows import LinearKind, linear_rows, with_sums
from turbo_fzn.tnf.links import NOBODY
from turbo_fzn.tnf.tuning import TUNING

MODELS = 300


@pytest.fixture(scope="module")
def drawn() -> list[TNF]:
    models = [draw(Random(f"whole/{number}"))[0] for number in range(MODELS)]
    return [tnf for tnf in models if not tnf.infeasible]


def nothing_kept(tnf: TNF) -> np.ndarray:
    return np.zeros(tnf.n_vars, bool)


def long_sum(n: int) -> TNF:
    """n truths, and how many of them are true."""
    draft = Draft(Random(0))
    total = draft.variable(0, 1)
    for _ in range(n - 1):
        total = draft.row(ADD, draft.variable(0, draft.upper[total] + 1), total, draft.variable(0, 1))
    draft.row(LEQ, draft.variable(1, 1), total, draft.variable(n - 1, n - 1))
    draft.upper[total] = n - 1
    return draft.tnf()


# ---- whole rows


@pytest.mark.parametrize("n", [TUNING.joint_terms + 3, 10 * TUNING.joint_terms])
def test_a_long_sum_is_one_row_without_joints(n):
    tnf = long_sum(n)
    whole = fuse_whole(tnf).linears
    assert whole.sizes.tolist() == [n] and fuse_for_log(tnf, nothing_kept(tnf)).linears.n_rows != 1


def any_true(signs: list[int], *values: int) -> bool:
    return any(value != sign for value, sign in zip(values, signs))


def solutions_of(tnf: TNF, fused: Fused) -> set[tuple[int, ...]]:
    """What the fused rows, and those that they do not replace, leave of the variables that are no links."""
    places = np.flatnonzero(~fused.links).tolist()
    rules = [rule_of_linear(fused.linears, i) for i in range(fused.linears.n_rows)]
    rules += rules_of_rows(tnf, np.flatnonzero(~fused.absorbed).tolist())
    clauses = fused.clauses
    for number in range(clauses.n_clauses):
        literals = clauses.literals[clauses.starts[number] : clauses.starts[number + 1]].tolist()
        signs = [literal & 1 for literal in literals]
        rules.append((tuple(literal >> 1 for literal in literals), partial(any_true, signs)))
    return {tuple(one[v] for v in places) for one in assignments(tnf, places, rules)}


def test_whole_rows_have_the_solutions_of_the_rows_that_they_replace(drawn):
    links = 0
    for tnf in drawn:
        fused = fuse_whole(tnf)
        places = np.flatnonzero(~fused.links).tolist()
        assert solutions_of(tnf, fused) == {tuple(one[v] for v in places) for one in solutions(tnf)}
        links += fused.links.sum()
    assert links > MODELS, links


def compared_sums(high: int) -> tuple[TNF, list[int]]:
    """Whether two sums are equal, of two variables each; a truth that a disjunction of three defines."""
    draft = Draft(Random(0))
    sums = [draft.row(ADD, draft.variable(0, high), draft.variable(0, high), draft.variable(0, 0)) for _ in range(2)]
    draft.row(EQ, draft.variable(0, 1), *sums)
    draft.row(MAX, draft.variable(0, 1), draft.row(MAX, draft.variable(0, 1), 0, 0), draft.variable(0, 1))
    return draft.tnf(), sums


@pytest.mark.parametrize(("high", "stay"), [(1, True), (2, False)])
def test_truths_that_are_compared_with_each_other_stay(high, stay):
    tnf, sums = compared_sums(high)
    assert (not fuse_whole(tnf).links[sums].any()) == stay


# ---- leaders


def test_sums_are_rows_behind_all_others(drawn):
    """Which keep theirs; and no sum, no row."""
    tnf = long_sum(9)
    linears = linear_rows(tnf, nothing_kept(tnf))
    assert with_sums(linears, []) is linears
    more = with_sums(linears, [[(3, -5), (0, 2)], [(1, 1), (2, -1), (4, 7)]])
    n = linears.n_rows
    assert more.n_rows == n + 2 and more.sizes.tolist() == [*linears.sizes.tolist(), 2, 3]
    last = slice(more.starts[n], None)
    assert more.variables[last].tolist() == [3, 0, 1, 2, 4] and more.coefficients[last].tolist() == [-5, 2, 1, -1, 7]
    for name, value in ("low", 0), ("high", INFINITY), ("kind", LinearKind.RANGE), ("truth", NOBODY), ("roots", NOBODY):
        column, before = getattr(more, name), getattr(linears, name)
        assert column[n:].tolist() == [value] * 2 and column[:n].tolist() == before.tolist()
        assert column.dtype == before.dtype, name
    assert {getattr(more, name).dtype for name in ("starts", "variables", "coefficients")} == {np.dtype(np.int32)}


def test_the_sums_of_leaders_are_rows_of_learners_that_log():
    tnf = replace(long_sum(9), leaders=[[(0, -1), (2, 1)]])
    arrays = pack(fuse_for_log(tnf, nothing_kept(tnf)), tnf.n_vars)
    assert len(arrays["linears"]) == len(pack(fuse_for_log(long_sum(9), nothing_kept(tnf)), tnf.n_vars)["linears"]) + 1


def test_what_leaders_name_is_no_link(drawn):
    """A learner would have a row of a variable that is not in its store."""
    found = 0
    for tnf in drawn:
        kept = nothing_kept(tnf)
        links = np.flatnonzero(fuse_for_log(tnf, kept).links)
        for link in links.tolist():
            named = replace(tnf, leaders=[[(link, -1), (0 if link else 1, 1)]])
            fused = fuse_for_log(named, kept)
            assert not fused.links[[v for v, _ in named.leaders[0]]].any() and not kept.any()
            found += 1
    assert found > MODELS / 4, found


def test_leaders_name_the_same_variables_where_these_have_other_numbers():
    tnf = replace(long_sum(40), leaders=[[(0, -3), (2, 3), (6, 1)], [(2, -1), (4, 1)]])
    number = np.random.default_rng(1).permutation(tnf.n_vars)
    moved = moved_to(tnf, number, np.arange(tnf.n_rows))
    assert moved.leaders == [[(int(number[v]), a) for v, a in one] for one in tnf.leaders]
    arranged, number = arrange(tnf)
    assert arranged.arranged is not None
    assert arranged.leaders == [[(int(number[v]), a) for v, a in one] for one in tnf.leaders]
