"""Simplification keeps the set of solutions; shown by enumeration of random models."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support import naive
from support.builtin_cases import PREDICATES, cases_of
from support.oracle import all_solutions
from support.small_tnf import check_simplified, make_tnf
from turbo_fzn.base.domains import INFINITY
from turbo_fzn.lower.rewrite import lower
from turbo_fzn.tnf.language import TNF, Op, Output, Restarts
from turbo_fzn.tnf.simplify import Probed, simplify


@st.composite
def small_models(draw) -> TNF:
    """Up to seven variables, eight rows of any operator, tables, and some variables mentioned."""
    n = draw(st.integers(1, 7))
    interval = st.one_of(
        st.just((0, 1)),
        st.integers(-4, 4).map(lambda value: (value, value)),
        st.tuples(st.integers(-4, 4), st.integers(0, 6)).map(lambda pair: (pair[0], pair[0] + pair[1])),
    )
    domains = [draw(interval) for _ in range(n)]
    tables = draw(st.lists(st.integers(-4, 4), min_size=27, max_size=27))
    variable = st.integers(0, n - 1)
    rows = []
    for _ in range(draw(st.integers(0, 8))):
        op, x, y, z = draw(st.sampled_from(list(Op))), draw(variable), draw(variable), draw(variable)
        if op in (Op.EQ, Op.LEQ):
            domains[x] = (max(domains[x][0], 0), min(domains[x][1], 1))
        if op == Op.ELEMENT:
            z = draw(st.integers(0, 12)) + 4
        rows.append((op, x, y, z))
    if any(low > high for low, high in domains):
        domains = [(low, high) if low <= high else (0, 0) for low, high in domains]
    rows = [row for row in rows if row[0] not in (Op.EQ, Op.LEQ) or domains[row[1]] in ((0, 0), (0, 1), (1, 1))]
    mentioned = draw(st.lists(variable, max_size=4))
    objective = draw(st.one_of(st.just(-1), variable))
    return make_tnf(domains, rows, tables, mentioned[:2], mentioned[2:], objective)


@given(small_models())
def test_simplification_neither_loses_nor_invents_solutions(tnf):
    check_simplified(tnf)


@st.composite
def boolean_models(draw) -> TNF:
    """Clauses, negations, equivalences and implications of six Booleans, where aliases and literals meet often."""
    variable = st.integers(0, 7)  # 6 is false, 7 is true
    operand = st.one_of(variable, st.sampled_from([6, 7]))
    ops = st.sampled_from([Op.MIN, Op.MAX, Op.EQ, Op.EQ, Op.LEQ, Op.ADD, Op.MUL])
    rows = draw(st.lists(st.tuples(ops, operand, variable, operand), max_size=10))
    mentioned = draw(st.lists(variable, max_size=3))
    return make_tnf([(0, 1)] * 6 + [(0, 0), (1, 1)], rows, outputs=mentioned)


@given(boolean_models())
def test_simplification_of_booleans_neither_loses_nor_invents_solutions(tnf):
    check_simplified(tnf)


@pytest.mark.parametrize("predicate", PREDICATES)
def test_a_lowered_builtin_keeps_its_solutions(predicate):
    for case in cases_of(predicate):
        lowered = lower(case.model)
        simplified = simplify(lowered.tnf, naive.propagate)
        simplified.tnf.check()
        found = set()
        for values in naive.solutions(simplified.tnf):
            whole = simplified.reconstruction.values(np.array(values, np.int64))
            found.add(tuple(int(whole[number]) for number in lowered.origin.values()))
        assert found == {tuple(s.values()) for s in all_solutions(case.model)}, f"{case.label}:\n{case.model.text}"


# The size of what is left


def simplified_rows(tnf: TNF) -> list[str]:
    return [Op(op).name for op in simplify(tnf, naive.propagate).tnf.op]


BOOL = (0, 1)


def test_entailed_rows_go_and_their_variables_with_them():
    tnf = make_tnf([(0, 3), (5, 9), BOOL], [(Op.LEQ, 2, 0, 1)], outputs=[0])
    small = simplify(tnf, naive.propagate).tnf
    assert (small.n_rows, small.n_vars) == (0, 1)


def test_rows_that_can_still_fail_stay():
    assert simplified_rows(make_tnf([(0, 3), (0, 3), (1, 1)], [(Op.LEQ, 2, 0, 1)])) == ["LEQ"]
    assert simplified_rows(make_tnf([(0, 9), (1, 8), (-2, 2)], [(Op.DIV, 0, 1, 2)])) == ["DIV"]
    assert simplified_rows(make_tnf([(0, 4), (0, 3), (0, 3)], [(Op.ADD, 0, 1, 2)])) == ["ADD"]


def test_a_definition_that_nothing_uses_goes_and_is_rebuilt():
    tnf = make_tnf([(0, 6), (0, 3), (0, 3), (0, 36)], [(Op.ADD, 0, 1, 2), (Op.MUL, 3, 0, 0)], outputs=[1, 2])
    simplified = simplify(tnf, naive.propagate)
    assert simplified.tnf.n_rows == 0
    assert simplified.reconstruction.values(np.array([2, 3])).tolist() == [5, 2, 3, 25]


def test_a_sum_that_defines_one_of_its_terms_goes_and_is_rebuilt():
    tnf = make_tnf([(0, 3), (-3, 3), (0, 3)], [(Op.ADD, 0, 1, 2)], outputs=[0, 2])
    simplified = simplify(tnf, naive.propagate)
    assert simplified.tnf.n_rows == 0
    assert simplified.reconstruction.values(np.array([1, 3])).tolist() == [1, -2, 3]


def test_a_definition_without_bounds_stays_because_its_value_may_not_be_representable():
    tnf = make_tnf([(-INFINITY, INFINITY), (-INFINITY, INFINITY)], [(Op.MUL, 0, 1, 1)], outputs=[1])
    assert simplified_rows(tnf) == ["MUL"]


def test_equal_rows_are_shared_whatever_the_order_of_their_operands():
    tnf = make_tnf([(0, 6), (0, 6), (0, 3), (0, 3)], [(Op.ADD, 0, 2, 3), (Op.ADD, 1, 3, 2)], outputs=[0, 1])
    simplified = simplify(tnf, naive.propagate)
    assert simplified.tnf.n_rows == 1
    first, second = simplified.tnf.outputs
    assert first.variables.tolist() == second.variables.tolist()


def test_a_clause_with_a_negation_is_an_implication_and_the_negation_goes():
    domains = [BOOL, BOOL, BOOL, (0, 0), (1, 1)]
    tnf = make_tnf(domains, [(Op.EQ, 1, 0, 3), (Op.MAX, 4, 1, 2)], outputs=[0, 2])
    assert simplified_rows(tnf) == ["LEQ"]


def test_only_reachable_table_entries_are_kept():
    tnf = make_tnf([(-9, 9), (2, 4)], [(Op.ELEMENT, 0, 1, 0)], [0, 1, 3, 2, 7, 9], [0, 1])
    assert simplify(tnf, naive.propagate).tnf.tables.tolist() == [3, 2, 7]


def test_a_contradiction_makes_the_model_infeasible_and_keeps_its_outputs():
    small = simplify(
        make_tnf([(0, 3), (1, 1)], [(Op.LEQ, 1, 1, 0), (Op.EQ, 0, 1, 0)][:1] + [(Op.ADD, 0, 0, 1)]), naive.propagate
    )
    assert small.tnf.infeasible
    assert small.reconstruction.values(np.array([2, 1])).tolist() == [2, 1]


def test_strategies_objective_and_warm_start_speak_of_the_new_variables():
    tnf = make_tnf([(0, 9), (0, 9), (0, 9), (4, 4)], [(Op.ADD, 0, 1, 3)], strategy=[2, 1], objective=0)
    tnf.warm_start = (np.array([1, 2], np.int32), np.array([3, 5]))
    tnf.restarts = Restarts("luby", 7)
    tnf.stated = (np.array([2, 1], np.int32), np.array([80, 60]))
    simplified = simplify(tnf, naive.propagate)
    small, back = simplified.tnf, simplified.reconstruction
    values = back.values(np.arange(small.n_vars) * 100)
    assert [values[v] for v in (2, 1)] == [100 * v for v in small.strategies[0].variables]
    assert values[0] == 100 * small.objective
    assert [values[v] for v in (1, 2)] == [100 * v for v in small.warm_start[0]]
    assert small.warm_start[1].tolist() == [3, 5]
    assert [values[v] for v in (2, 1)] == [100 * v for v in small.stated[0]]
    assert small.stated[1].tolist() == [80, 60] and small.restarts == Restarts("luby", 7)


def test_equal_variables_of_removed_definitions_keep_their_values():
    """p and q are both s = 0, q as 2 s <= 1. The rows of p and of d = q + x are removed first, and computed last."""
    s, p, q, d, x, m, zero, one, two = range(9)
    rows = [(Op.EQ, p, s, zero), (Op.MUL, m, s, two), (Op.LEQ, q, m, one), (Op.ADD, d, q, x)]
    tnf = make_tnf([(0, 1), (0, 1), (0, 1), (0, 9), (0, 5), (0, 3), (0, 0), (1, 1), (2, 2)], rows)
    tnf.outputs = [Output(name, "int", None, np.array([v], np.int32)) for name, v in (("s", s), ("x", x))]
    last = []

    def propagate(tnf: TNF) -> tuple[np.ndarray, np.ndarray] | None:
        last[:] = [naive.propagate(tnf)]
        return last[0]

    simplified = simplify(tnf, propagate, probe=lambda: Probed(*last[0], np.array([(p, q)])))
    assert simplified.tnf.n_rows == 0
    found = {tuple(simplified.reconstruction.values(np.array(one)).tolist()) for one in naive.solutions(simplified.tnf)}
    assert found == set(naive.solutions(tnf))
