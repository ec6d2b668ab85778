"""Probing of the root: whatever it finds holds in every solution, against enumeration of random small models."""

from __future__ import annotations

from dataclasses import replace
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
from turbo_fzn.engine.probing import Budget, Found, equal_truths, probe
from turbo_fzn.engine.root import Box
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.run.presolve import Presolve
from turbo_fzn.tnf.language import TNF, Op, Output
from turbo_fzn.tnf.simplify import simplify

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
        for literal, variable, kind in found.implied.tolist():
            assert kind <= Implied.TRUE, "all variables have bounds"
            assert solution[literal >> 1] != literal & 1 or solution[variable] == kind
    equal = equal_truths(root.Propagator(tnf), tnf.n_vars, found.implications())
    if equal is None:
        assert not solutions
    for solution in solutions:
        assert all(solution[one] == solution[other] for one, other in equal.tolist())
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


def by_hand(tnf: TNF) -> tuple[Box | None, set[tuple[int, int, int]]]:
    """(box, implied): what probing the truths in order finds, by propagation and hulls of tests/support/naive.py."""
    box, implied = naive.propagate(tnf), set()
    for truth in range(TRUTHS):
        if box is None or box[0][truth] == box[1][truth]:
            continue
        cases = []
        for value in (1, 0):
            lower, upper = box[0].copy(), box[1].copy()
            lower[truth] = upper[truth] = value
            case = naive.propagate(replace(tnf, lower=lower, upper=upper))
            if case is not None:
                cases.append(case)
                changed = (box[0] == 0) & (box[1] == 1) & (case[0] == case[1])
                others = np.flatnonzero(changed & (np.arange(tnf.n_vars) != truth)).tolist()
                implied |= {(2 * truth + value, other, int(case[0][other])) for other in others}
        if not cases:
            return None, implied
        hull = np.minimum.reduce([low for low, _ in cases]), np.maximum.reduce([high for _, high in cases])
        box = naive.propagate(replace(tnf, lower=hull[0], upper=hull[1]))
    return box, implied


@given(models())
def test_it_finds_what_a_plain_prober_finds(case):
    tnf, _ = case
    box, implied = by_hand(tnf)
    found = probed(tnf, 2 * np.arange(TRUTHS) + 1)
    assert (found is None or found.box is None) == (box is None)
    if box is not None:
        assert all(np.array_equal(*bounds) for bounds in zip(found.box, box))
        assert set(map(tuple, found.implied.tolist())) == implied


@given(models(), st.sampled_from([1, 10, 10**6]), st.integers(0, 2**12))
def test_a_presolved_model_has_the_same_solutions(case, work, shown):
    """Definitions of variables that are not shown are removed, before and after truths are found to be equal."""
    tnf, _ = case
    outputs = [Output(f"o{v}", "int", None, np.array([v], np.int32)) for v in range(tnf.n_vars)]
    tnf.outputs = [output for v, output in enumerate(outputs) if shown >> v & 1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("turbo_fzn.run.tuning.TUNING.truth_work", work)
        presolve = Presolve(tnf, Options(), Interrupt())
        simplified = simplify(tnf, presolve.propagate, probe=presolve.probe)
    before = list(naive.solutions(tnf))
    after = [
        tuple(simplified.reconstruction.values(np.array(found)).tolist()) for found in naive.solutions(simplified.tnf)
    ]
    assert set(after) <= set(before)
    places = [v for v in range(tnf.n_vars) if shown >> v & 1]
    both = ({tuple(solution[v] for v in places) for solution in some} for some in (before, after))
    assert next(both) == next(both)
    for solution in before:
        for literal, implied in presolve.implications.tolist():
            assert solution[literal >> 1] != literal & 1 or solution[implied >> 1] == implied & 1


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


def equal_of(tnf: TNF, *truths: int) -> set[frozenset[int]] | None:
    """The classes of equal truths after probing these alone; None where there is no solution."""
    found = check(tnf, [literals(truth) for truth in truths])
    pairs = equal_truths(root.Propagator(tnf), tnf.n_vars, found.implications())
    return None if pairs is None else classes_of(pairs.tolist())


def classes_of(pairs) -> set[frozenset[int]]:
    found: set[frozenset[int]] = set()
    for pair in pairs:
        touched = {one for one in found if not one.isdisjoint(pair)}
        found = found - touched | {frozenset(pair).union(*touched)}
    return found


def test_truths_with_the_same_two_values_are_equal():
    tnf = model([(Op.LEQ, ONE, A, B), (Op.LEQ, ONE, B, A), (Op.ADD, ONE, A, C)])
    assert equal_of(tnf, A) == {frozenset((A, B))}


def test_two_opposites_of_a_truth_are_equal():
    tnf = model([(Op.ADD, ONE, A, B), (Op.ADD, ONE, A, C)])
    assert equal_of(tnf, A) == {frozenset((B, C))}


def test_truths_that_imply_each_other_in_a_circle_are_equal():
    """Each of them implies the next one, and none the one before: that follows the other way round only."""
    n = 4
    ring = np.array([(2 * i + 1, 2 * ((i + 1) % n) + 1) for i in range(n)], np.int32)
    propagator = root.Propagator(model(CASES))
    assert classes_of(equal_truths(propagator, n, ring).tolist()) == {frozenset(range(n))}
    assert equal_truths(propagator, n, ring[1:]).tolist() == []


@given(st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=20))
def test_equal_truths_are_those_that_reach_each_other(pairs):
    """Against the transitive closure of the implications and their contrapositives."""
    n = 6
    reach = np.eye(2 * n, dtype=bool)
    for a, b in pairs:
        reach[a, b] = reach[b ^ 1, a ^ 1] = True
    for middle in range(2 * n):
        reach |= np.outer(reach[:, middle], reach[middle])
    mutual = reach & reach.T
    found = equal_truths(root.Propagator(model(CASES)), n, np.array(pairs, np.int32).reshape(-1, 2))
    if mutual[np.arange(2 * n), np.arange(2 * n) ^ 1].any():
        assert found is None
    else:
        alike = [(i, j) for i in range(n) for j in range(i) if mutual[2 * i + 1, 2 * j + 1]]
        assert classes_of(found.tolist()) == classes_of(alike)


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


def test_bounds_that_fix_nothing_are_no_reward():
    tnf = model([*CASES[:2], (Op.MAX, ONE, A, B)])
    found = check(tnf, [literals(A), literals(C)], Budget(1, reward=100, most_rewards=1000))
    assert (found.box[0][X], found.box[1][X]) == (3, 5) and found.n_tried == 1


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
