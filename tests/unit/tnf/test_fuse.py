"""Fused rows against enumeration: they say what the rows that they replace say, and give the links back.

The rows of a random TNF are trees of sums, multiples and comparisons, with root bounds that are now and then tighter
than what the rows give. What is compared is plain Python over all assignments.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import eq
from random import Random

import numpy as np
import pytest

from support.drafts import RESULT, Draft, Rule, assignments, draw, rule_of_linear, rules_of_rows, solutions
from turbo_fzn.base.domains import INFINITY
from turbo_fzn.tnf import linear_rows
from turbo_fzn.tnf.fuse import Fused, fuse
from turbo_fzn.tnf.language import ADD, LEQ, MUL, TNF
from turbo_fzn.tnf.linear_rows import LinearKind
from turbo_fzn.tnf.tuning import TUNING

MODELS = 400


def rule_of_clause(fused: Fused, i: int) -> Rule:
    clauses = fused.clauses
    literals = clauses.literals[clauses.starts[i] : clauses.starts[i + 1]].tolist()
    wanted = [1 - literal % 2 for literal in literals]
    return tuple(literal // 2 for literal in literals), lambda *values: any(map(eq, values, wanted))


def solutions_of(tnf: TNF, fused: Fused) -> set[tuple[int, ...]]:
    """The solutions of the fused rows and the remaining rows, with links computed by the rows that define them."""
    rules = [rule_of_linear(fused.linears, i) for i in range(fused.linears.n_rows)]
    rules += [rule_of_clause(fused, i) for i in range(fused.clauses.n_clauses)]
    rules += rules_of_rows(tnf, np.flatnonzero(~fused.absorbed).tolist())
    found = set()
    for values in assignments(tnf, np.flatnonzero(~fused.links).tolist(), rules):
        for r in fused.order.tolist():
            op, x, y, z = (int(column[r]) for column in (tnf.op, tnf.x, tnf.y, tnf.z))
            values[x] = RESULT[op](values[y], values[z])
        found.add(tuple(values[v] for v in range(tnf.n_vars)))
    return found


@pytest.fixture(autouse=True, scope="module")
def links_of_few_values() -> Iterator[None]:
    """The models drawn have only links of few values, so these leave, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TUNING, "joint_values", 0)
        yield


@pytest.fixture(scope="module")
def drawn(links_of_few_values) -> list[tuple[TNF, np.ndarray, Fused]]:
    pairs = [draw(Random(f"fuse/{number}")) for number in range(MODELS)]
    return [(tnf, kept, fuse(tnf, kept)) for tnf, kept in pairs if not tnf.infeasible]


@pytest.mark.parametrize(
    ("most_terms", "narrow"),
    [(2, 0), pytest.param(TUNING.joint_terms, 0, marks=pytest.mark.slow), (TUNING.joint_terms, 3)],
)
def test_fused_rows_and_links_have_the_solutions_of_the_rows_that_they_replace(most_terms, narrow, drawn, monkeypatch):
    monkeypatch.setattr(TUNING, "joint_terms", most_terms)
    monkeypatch.setattr(TUNING, "joint_values", narrow)
    for tnf, kept, _ in drawn:
        assert solutions_of(tnf, fuse(tnf, kept)) == solutions(tnf)


def test_what_is_drawn_has_everything(drawn):
    linears = [fused.linears for *_, fused in drawn]
    kinds = [int(kind) for one in linears for kind in one.kind]
    forms = (LinearKind.RANGE, LinearKind.AT_MOST, LinearKind.EQUAL)
    assert set(kinds) == set(forms) and min(map(kinds.count, forms)) > 10
    assert any(np.any(one.low == -INFINITY) for one in linears) and any(np.any(one.high == INFINITY) for one in linears)
    lengths = [int(size) for *_, fused in drawn for size in np.diff(fused.clauses.starts)]
    assert lengths.count(2) > 50 and max(lengths) > 4
    assert sum(fused.links.any() for *_, fused in drawn) > len(drawn) / 3


def test_what_is_kept_stays_a_variable(drawn):
    for _, kept, fused in drawn:
        assert not np.any(fused.links & kept)


def test_every_link_is_defined_by_one_row_of_the_order(drawn):
    for tnf, _, fused in drawn:
        assert sorted(tnf.x[fused.order]) == np.flatnonzero(fused.links).tolist()
        assert fused.absorbed[fused.order].all()


def long_sum(n: int) -> tuple[TNF, np.ndarray]:
    """The balanced tree of a sum of n truth values, whose top stays."""
    draft = Draft(Random(0))
    pool = [draft.variable(0, 1) for _ in range(n)]
    while len(pool) > 1:
        y, z, *pool = pool
        pool.append(draft.row(ADD, draft.variable(0, draft.upper[y] + draft.upper[z]), y, z))
    kept = np.zeros(len(draft.lower), bool)
    kept[pool[0]] = True
    return draft.tnf(), kept


def test_a_long_sum_has_joints():
    linears = fuse(*long_sum(200)).linears
    sizes = np.diff(linears.starts)
    assert sizes.sum() - linears.n_rows == 199 + linears.n_rows
    assert sizes.max() <= 2 * TUNING.joint_terms + 1 and linears.n_rows < 200 / (TUNING.joint_terms - 2)


def test_a_long_chain_takes_as_many_looks_at_its_links_as_a_short_one(monkeypatch):
    """Each look is one at all links: were there one for each step of the chain, long chains would take hours."""
    looks = []

    def count_looks(*arguments: object) -> object:
        looks[-1] += 1
        return implied(*arguments)

    implied = linear_rows._implied
    monkeypatch.setattr(linear_rows, "_implied", count_looks)
    for n in (100, 1000):
        looks.append(0)
        assert fuse(*running_sum(n)).links.sum() > n / 2
    assert looks[0] == looks[1]


def running_sum(n: int) -> tuple[TNF, np.ndarray]:
    draft = Draft(Random(0))
    total = draft.variable(0, 5)
    for _ in range(n):
        total = draft.row(ADD, draft.variable(0, draft.upper[total] + 5), total, draft.variable(0, 5))
    return draft.tnf(), np.zeros(len(draft.lower), bool)


def test_a_count_of_a_few_truths_stays_a_variable(monkeypatch):
    monkeypatch.setattr(TUNING, "joint_values", 4)
    tnf, kept = long_sum(64)
    links = fuse(tnf, kept).links
    assert links.any() and np.all(tnf.upper[links] > 4)


def two_bounds_that_lean_on_each_other() -> TNF:
    """10 = y + z, where y <= 4 and so z >= 6, and neither follows from anything else."""
    draft = Draft(Random(0))
    a, b, c, d = (draft.variable(0, 5) for _ in range(4))
    y, z = draft.variable(0, 4), draft.variable(6, 10)
    draft.row(ADD, y, a, b)
    draft.row(ADD, z, c, d)
    draft.row(ADD, draft.variable(10, 10), y, z)
    return draft.tnf()


def test_bounds_that_only_lean_on_each_other_are_not_lost():
    tnf = two_bounds_that_lean_on_each_other()
    fused = fuse(tnf, np.zeros(tnf.n_vars, bool))
    assert solutions_of(tnf, fused) == solutions(tnf) != set()
    assert not fused.links.any()


def test_what_is_at_most_something_keeps_its_lower_bound():
    """y <= z, and z >= 4, say nothing of y >= 3."""
    draft = Draft(Random(0))
    y = draft.row(ADD, draft.variable(3, 10), draft.variable(0, 5), draft.variable(0, 5))
    draft.row(LEQ, draft.variable(1, 1), y, draft.variable(4, 10))
    tnf = draft.tnf()
    assert not fuse(tnf, np.zeros(tnf.n_vars, bool)).links[y]


def test_bounds_from_numbers_too_large_to_add_are_not_taken_for_given():
    draft, most = Draft(Random(0)), 2**58
    y = draft.row(ADD, draft.variable(-5, 5), draft.variable(-most, most), draft.variable(-most, most))
    draft.row(ADD, draft.variable(-100, 100), y, draft.variable(-50, 50))
    tnf = draft.tnf()
    assert not fuse(tnf, np.zeros(tnf.n_vars, bool)).links[y]


def test_a_row_whose_truth_is_one_of_its_terms_stays_a_tree():
    draft = Draft(Random(0))
    truth, other = draft.variable(0, 1), draft.variable(0, 5)
    y = draft.row(ADD, draft.variable(0, 6), truth, other)
    draft.row(LEQ, truth, y, draft.variable(3, 3))
    tnf = draft.tnf()
    assert fuse(tnf, np.zeros(tnf.n_vars, bool)).linears.n_rows == 0


@pytest.mark.parametrize(("factor", "n_rows"), [(2**30 - 1, 1), (2**30, 0)])
def test_a_sum_whose_coefficients_together_pass_32_bits_stays_a_tree(factor, n_rows):
    draft = Draft(Random(0))
    x, constant = draft.variable(0, 9), draft.variable(factor, factor)
    products = [draft.row(MUL, draft.variable(0, 9 * factor), x, constant) for _ in range(2)]
    draft.row(ADD, draft.variable(0, 18 * factor), *products)
    tnf = draft.tnf()
    assert fuse(tnf, np.zeros(tnf.n_vars, bool)).linears.n_rows == n_rows


def difference_of_differences(most: int) -> TNF:
    """(a - b) + (c - d), each of them in 0..most."""
    draft = Draft(Random(0))
    minus_one = draft.variable(-1, -1)
    parts = []
    for _ in range(2):
        first, second, negated = draft.variable(0, most), draft.variable(0, most), draft.variable(-most, 0)
        draft.row(MUL, negated, second, minus_one)
        parts.append(draft.row(ADD, draft.variable(-most, most), first, negated))
    draft.row(ADD, draft.variable(-2 * most, 2 * most), *parts)
    return draft.tnf()


@pytest.mark.parametrize(("most", "n_rows"), [(100, 1), (2**58 - 1, 0)])
def test_a_sum_whose_terms_are_too_large_together_stays_a_tree(most, n_rows):
    tnf = difference_of_differences(most)
    assert fuse(tnf, np.zeros(tnf.n_vars, bool)).linears.n_rows == n_rows


def test_a_sum_beyond_64_bits_stays_a_tree():
    tnf, kept = long_sum(3)
    assert fuse(tnf, kept).linears.n_rows == 1
    tnf.lower, tnf.upper = tnf.lower * 2**58, tnf.upper * 2**58
    assert fuse(tnf, kept).linears.n_rows == 0
