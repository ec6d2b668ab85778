"""Probing of the root: whatever it finds holds in every solution, against enumeration of random small models."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support import naive
from support.small_tnf import make_tnf
from turbo_fzn.base.domains import INFINITY
from turbo_fzn.base.errors import EngineError
from turbo_fzn.engine import root
from turbo_fzn.engine.abi.search_records import Implied
from turbo_fzn.engine.probing import Budget, Found, probe
from turbo_fzn.tnf.language import TNF, Op

AMPLE = Budget(10**9)
TRUTHS = 5


@st.composite
def models(draw) -> tuple[TNF, list[list[int]]]:
    """Five truths, two integers, two constants, up to nine rows over them, and groups of literals."""
    domains = [(0, 1)] * TRUTHS + [(-2, 2)] * 2 + [(0, 0), (1, 1)]
    anything, truth = st.integers(0, 8), st.integers(0, TRUTHS - 1)
    reified = st.tuples(st.sampled_from([Op.EQ, Op.LEQ]), st.one_of(truth, st.just(8)), anything, anything)
    logical = st.tuples(st.sampled_from([Op.MIN, Op.MAX]), st.one_of(truth, st.just(8)), truth, truth)
    other = st.tuples(st.sampled_from([Op.ADD, Op.MUL, Op.MIN, Op.MAX]), anything, anything, anything)
    rows = draw(st.lists(st.one_of(reified, reified, logical, other), min_size=1, max_size=9))
    literal = st.integers(0, 2 * TRUTHS - 1)
    alone = st.lists(literal, min_size=1, max_size=1)
    return make_tnf(domains, rows), draw(st.lists(st.one_of(alone, alone, st.lists(literal, max_size=4)), max_size=12))


def probed(tnf: TNF, groups, budget: Budget = AMPLE) -> Found | None:
    """What probing finds from the root fixpoint; None where there is none."""
    propagator = root.Propagator(tnf)
    box = propagator(tnf.lower, tnf.upper)
    return None if box is None else probe(propagator, box, groups, budget)


def check(tnf: TNF, groups, budget: Budget = AMPLE) -> Found | None:
    """The result, of which all is true in each solution."""
    solutions = [np.array(solution) for solution in naive.solutions(tnf)]
    found = probed(tnf, groups, budget)
    if found is None or found.box is None:
        assert not solutions
        return found
    for solution in solutions:
        assert (found.box[0] <= solution).all() and (solution <= found.box[1]).all()
        assert all(solution[a] == (solution[b] ^ opposite) for a, b, opposite in found.equal().tolist())
        for literal, variable, kind in found.implied.tolist():
            assert kind <= Implied.TRUE, "all variables have bounds"
            assert solution[literal >> 1] != literal & 1 or solution[variable] == kind
    return found


@given(models(), st.sampled_from([1, 4, 30, 10**9]), st.sampled_from([1, 3, 10**9]))
def test_all_that_probing_finds_holds_in_every_solution(case, work, probe_work):
    tnf, groups = case
    check(tnf, groups, Budget(work, reward=1, most_rewards=5, probe_work=probe_work))


@given(models())
def test_the_root_is_left_at_a_fixpoint(case):
    tnf, groups = case
    found = probed(tnf, groups)
    if found is not None and found.box is not None:
        again = root.Propagator(tnf)(*found.box)
        assert again is not None and all(np.array_equal(*bounds) for bounds in zip(again, found.box))


@given(models())
def test_after_probing_all_truths_until_nothing_changes_no_value_of_a_truth_is_refuted_by_propagation(case):
    tnf, _ = case
    propagator = root.Propagator(tnf)
    box = propagator(tnf.lower, tnf.upper)
    while box is not None:
        before, box = box, probe(propagator, box, 2 * np.arange(TRUTHS) + 1, AMPLE).box
        if box is not None and all(np.array_equal(*bounds) for bounds in zip(before, box)):
            break
    for truth, value in product(range(TRUTHS) if box is not None else (), (0, 1)):
        lower, upper = box[0].copy(), box[1].copy()
        if lower[truth] < upper[truth]:
            lower[truth] = upper[truth] = value
            assert propagator(lower, upper) is not None


# Truths a, b, c; x; the constants 3, 5, 8, 1, 0.
A, B, C, X, THREE, FIVE, EIGHT, ONE, ZERO = range(9)
CONSTANTS = [(3, 3), (5, 5), (8, 8), (1, 1), (0, 0)]
CASES = [(Op.EQ, A, X, THREE), (Op.EQ, B, X, FIVE), (Op.EQ, C, X, EIGHT)]


def model(rows, x=(0, 9)) -> TNF:
    return make_tnf([(0, 1)] * 3 + [x, *CONSTANTS], rows)


def literals(*truths) -> list[int]:
    return [2 * truth + 1 for truth in truths]


def test_a_literal_that_fails_is_false():
    found = check(model([(Op.LEQ, ONE, A, B), (Op.LEQ, ONE, A, C), (Op.MIN, ZERO, B, C)]), [literals(A)])
    assert found.n_failed == 1 and found.box[1][A] == 0


def test_where_the_opposite_fails_it_is_true():
    found = check(model([(Op.LEQ, ONE, B, A), (Op.LEQ, ONE, C, A), (Op.MAX, ONE, B, C)]), [literals(A)])
    assert found.n_failed == 1 and found.box[0][A] == 1


def test_where_both_fail_there_is_no_solution():
    clauses = [(Op.MAX, ONE, A, B), (Op.LEQ, ONE, A, B), (Op.LEQ, ONE, B, A), (Op.MIN, ZERO, A, B)]
    found = check(model(clauses), [literals(A)])
    assert found is None or found.box is None


def test_a_variable_lies_in_the_hull_of_both_cases():
    found = check(model([*CASES[:2], (Op.MAX, ONE, A, B)]), [literals(A)])
    assert (found.box[0][X], found.box[1][X]) == (3, 5)


def test_a_group_has_as_many_cases_as_it_needs():
    """The literals x = 3, x = 5, x = 8, of which a clause says that one is true."""
    either = (Op.MAX, 9, A, B), (Op.MAX, ONE, 9, C)
    tnf = make_tnf([(0, 1)] * 3 + [(-INFINITY, INFINITY), *CONSTANTS, (0, 1)], [*CASES, *either])
    alone = probed(tnf, [literals(A), literals(B), literals(C)])
    assert alone.box[0][X] <= -INFINITY
    given_bounds = {(literal, kind) for literal, variable, kind in alone.implied.tolist() if variable == X}
    assert given_bounds == set(product(literals(A, B, C), (Implied.LOWER, Implied.UPPER)))
    together = probed(tnf, [literals(A, B, C)])
    assert (together.box[0][X], together.box[1][X]) == (3, 8)
    free = make_tnf([(0, 1)] * 3 + [(-INFINITY, INFINITY), *CONSTANTS], CASES)  # all may be false, and x anything
    assert probed(free, [literals(A, B, C)]).box[0][X] <= -INFINITY


def test_equal_and_opposite_truths_are_found():
    found = check(model([(Op.LEQ, ONE, A, B), (Op.LEQ, ONE, B, A), (Op.ADD, ONE, A, C)]), [literals(A)])
    assert found.equal().tolist() == [[A, B, 0], [A, C, 1]]


def test_work_is_counted_and_ends_it():
    tnf = model([*CASES, (Op.LEQ, ONE, A, B)])
    groups = [literals(A), literals(B), literals(C)]
    whole, some = probed(tnf, groups), probed(tnf, groups, Budget(1))
    assert whole.n_probes == 3 and some.n_probes == 1 and some.work <= 0
    assert probed(tnf, groups).work == whole.work


def test_rewards_are_more_work():
    rows = [(Op.LEQ, ONE, A, B), (Op.LEQ, ONE, A, C), (Op.MIN, ZERO, B, C)]
    groups = [literals(A), literals(B), literals(C)]
    assert probed(model(rows), groups, Budget(1)).n_tried == 1
    assert probed(model(rows), groups, Budget(1, reward=100, most_rewards=1000)).n_tried == 3
    assert probed(model(rows), groups, Budget(1, reward=100)).n_tried == 1


def test_a_stop_ends_it_with_bounds_that_hold():
    tnf = model([*CASES, (Op.MAX, ONE, A, B)])
    stop = root.Stop()
    propagator = root.Propagator(tnf)
    box = propagator(tnf.lower, tnf.upper)
    stop.set()
    propagator.obey(stop)
    found = probe(propagator, box, [literals(A)], AMPLE)
    assert found.n_probes == 0 and np.array_equal(found.box, box)


@pytest.mark.parametrize("x", [(-5, INFINITY), (-INFINITY, INFINITY)])
def test_a_case_that_needs_a_number_beyond_the_store_denies_nothing(x):
    """Where a is true, x is y * y for a y of 2^40 at least, which 64 bits do not hold: that is no contradiction."""
    y, most = 9, 2**62 - 1
    domains = [(0, 1)] * 3 + [x, *CONSTANTS, (2**40, 2**41), (0, most)]
    rows = [(Op.MUL, 11, y, y), (Op.LEQ, A, 11, X)]
    tnf = make_tnf([*domains, x], rows)
    try:
        found = probed(tnf, [literals(A)])
    except EngineError:
        return  # the root itself needs it
    assert found.box is not None and found.box[1][A] == 1


def test_rows_that_push_each_other_for_ever_are_cut():
    """Where a is true, x and y climb by one in turn, without an end."""
    y, x1, y1 = 9, 10, 11
    free = (0, 2**50)
    rows = [(Op.ADD, x1, X, ONE), (Op.ADD, y1, y, ONE), (Op.LEQ, A, x1, y), (Op.LEQ, A, y1, X)]
    tnf = make_tnf([(0, 1)] * 3 + [free, *CONSTANTS, *[free] * 3], rows)
    found = probed(tnf, [literals(A)], Budget(1, probe_work=500))
    assert found.n_probes == 1 and found.box[1][A] == 1
