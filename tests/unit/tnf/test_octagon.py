"""Octagons: no solution is lost, and over the integers what is closed is as tight as can be."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support import naive
from support.small_tnf import make_tnf
from turbo_fzn import solve_text
from turbo_fzn.tnf import octagon
from turbo_fzn.tnf.language import ADD, EQ, LEQ, MAX, MIN
from turbo_fzn.tnf.tuning import TUNING


@st.composite
def models(draw):
    """Rows over four variables and four truths."""
    domains = [
        (low, low + draw(st.integers(0, 4))) for low in draw(st.lists(st.integers(-3, 3), min_size=4, max_size=4))
    ]
    domains += [draw(st.sampled_from(((0, 1), (0, 0), (1, 1)))) for _ in range(4)]
    numbers, truths = st.integers(0, 3), st.integers(4, 7)
    sums = st.tuples(st.sampled_from((ADD, MIN, MAX)), numbers, numbers, numbers)
    tests = st.tuples(st.sampled_from((EQ, LEQ)), truths, numbers, numbers)
    return make_tnf(domains, draw(st.lists(st.one_of(sums, tests), max_size=6)))


@given(models())
def test_no_solution_is_lost(tnf):
    found = octagon.tightened(tnf)
    solutions = np.array(list(naive.solutions(tnf)), np.int64).reshape(-1, tnf.n_vars)
    if found is None:
        assert len(solutions) == 0
        return
    lower, upper = found
    assert np.all(solutions >= lower) and np.all(solutions <= upper)
    assert np.all(lower >= tnf.lower) and np.all(upper <= tnf.upper)


PAIRS = [(a, b) for a in range(6) for b in range(6) if a // 2 != b // 2]


@given(
    st.lists(st.tuples(st.sampled_from(PAIRS), st.integers(-4, 6)), max_size=8),
    st.lists(st.integers(0, 3), min_size=6, max_size=6),
)
def test_the_closure_is_the_tightest_of_all(constraints, ends):
    """Three variables: each bound that is closed is one that a solution reaches."""
    signed = np.array([(x, -x, y, -y, z, -z) for x, y, z in product(range(-3, 4), repeat=3)])
    most = np.full((6, 6), octagon.FREE)
    np.fill_diagonal(most, 0)
    for node, end in enumerate(ends):
        most[node, node ^ 1] = 2 * end
    for (a, b), bound in constraints:
        most[a, b] = most[b ^ 1, a ^ 1] = min(most[a, b], bound)
    good = signed[np.all(signed[:, :, None] - signed[:, None, :] <= most, axis=(1, 2))]
    if not octagon.close(most):
        assert len(good) == 0
    else:
        assert np.array_equal(most, (good[:, :, None] - good[:, None, :]).max(axis=0))


def test_a_comparison_follows_from_others_where_bounds_say_nothing():
    chain = [(LEQ, 3, 0, 1), (LEQ, 3, 1, 2), (LEQ, 4, 0, 2), (LEQ, 5, 2, 0)]
    tnf = make_tnf([(0, 99)] * 3 + [(1, 1), (0, 1), (0, 1)], chain)
    lower, upper = octagon.tightened(tnf)
    assert (lower[4], upper[4]) == (1, 1) and (lower[5], upper[5]) == (0, 1)
    assert naive.propagate(tnf)[0][4] == 0  # rows one by one do not see it


def test_a_difference_follows_from_sums():
    """x + y <= 10 and x - y <= 3 leave x <= 6."""
    tnf = make_tnf([(0, 20), (0, 20), (-99, 10), (-99, 3)], [(ADD, 2, 0, 1), (ADD, 0, 3, 1)])
    assert octagon.tightened(tnf)[1][0] == 6


def test_a_sum_with_a_constant_connects_the_two_others():
    """a = b + 3 and b <= c: a - 3 <= c, which decides a + -3 > c."""
    rows = [(ADD, 0, 1, 3), (LEQ, 4, 1, 2), (ADD, 6, 0, 5), (LEQ, 7, 6, 2)]
    tnf = make_tnf([(3, 99), (0, 96), (0, 99), (3, 3), (1, 1), (-3, -3), (0, 96), (0, 1)], rows)
    lower, _ = octagon.tightened(tnf)
    assert lower[7] == 1 and naive.propagate(tnf)[0][7] == 0


def test_groups_that_are_too_large_are_left_alone(monkeypatch):
    monkeypatch.setattr(TUNING, "octagon_variables", 2)
    tnf = make_tnf([(0, 20), (0, 20), (-99, 10), (-99, 3)], [(ADD, 2, 0, 1), (ADD, 0, 3, 1)])
    assert octagon.tightened(tnf)[1][0] == 20


@pytest.mark.parametrize("goal", ["satisfy", "minimize s", "maximize s"])
def test_a_model_has_the_same_answers(goal):
    lines = [f"var 0..6: {name} :: output_var;" for name in "abc"] + ["var 0..18: s :: output_var;", "var bool: p;"]
    lines += [
        "constraint int_lin_eq([1,1,1,-1],[a,b,c,s],0);",
        "constraint int_le_reif(a,b,p);",
        "constraint int_lt(b,c);",
    ]
    lines += ["constraint int_lin_le([1,1],[a,c],8);", f"solve {goal};\n"]
    plain, other = (
        solve_text("\n".join(lines), arch="cpu", all_solutions=True, variant=variant) for variant in (None, "octagon")
    )

    def distinct(result):
        return {tuple(one.values()) for one in result.solutions}

    if goal == "satisfy":
        assert distinct(plain) == distinct(other)
    assert (plain.status, plain.objective) == (other.status, other.objective)
