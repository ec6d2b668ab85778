"""The objective as a sum, against enumeration: in every solution of the rows it has the value of its terms."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest

from support.drafts import Draft, assignments, draw, rules_of_rows
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.run.prepare import prepare
from turbo_fzn.tnf.goal import Goal, goal_of
from turbo_fzn.tnf.language import ADD, MUL, TNF
from turbo_fzn.tnf.tuning import TUNING

MODELS = 300


def prepared(text: str) -> TNF:
    return prepare(parse_text(text), Options(), Interrupt()).tnf


def sum_of(found: Goal, values: dict[int, int]) -> int:
    pairs = zip(found.factors.tolist(), found.variables.tolist())
    return found.constant + sum(factor * values[variable] for factor, variable in pairs)


def test_in_each_solution_the_objective_is_its_terms(monkeypatch):
    """Random trees of sums, multiples and comparisons; the objective is one of their results."""
    monkeypatch.setattr(TUNING, "core_terms", 0)
    several = 0
    for number in range(MODELS):
        random = Random(f"goal/{number}")
        tnf, _ = draw(random)
        if tnf.infeasible:
            continue
        results = tnf.x[np.isin(tnf.op, (ADD, MUL))]
        tnf = replace(tnf, objective=int(random.choice([*results, 0])), sense=random.choice((1, -1)))
        found = goal_of(tnf)
        assert found is not None and len(set(found.variables.tolist())) == len(found.variables)
        assert (tnf.lower[found.variables] < tnf.upper[found.variables]).all()
        rules = rules_of_rows(tnf, range(tnf.n_rows))
        for values in assignments(tnf, list(range(tnf.n_vars)), rules):
            assert tnf.sense * values[tnf.objective] == sum_of(found, values), number
        several += len(found.variables) > 1
    assert several > 20


def test_a_sum_is_taken_apart_through_all_of_its_links():
    names = ",".join(f"x{i}" for i in range(9))
    text = "".join(f"var 0..{i + 1}: x{i};" for i in range(9)) + "var 0..99: z;"
    text += f"constraint int_lin_eq([1,2,3,4,5,6,7,8,9,-1],[{names},z],-3); solve maximize z;"
    found = goal_of(prepared(text))
    assert found is not None and found.constant == -3
    assert sorted(found.factors.tolist()) == sorted(range(-9, 0))


@pytest.mark.parametrize(
    ("text", "is_sum"),
    [
        ("solve satisfy;", False),
        ("solve minimize a;", False),
        ("constraint int_lin_eq([1,1,1,-1],[a,b,c,z],0); solve minimize z;", True),
        ("constraint int_lin_eq([1,1,-1],[a,b,z],0); solve minimize z;", False),  # few terms
        ("constraint int_lin_eq([1,1,1,1],[a,b,c,z],99); solve minimize z;", True),  # z is the result of no row
        ("constraint int_lin_le([1,1,1,-1],[a,b,c,z],0); solve minimize z;", False),
    ],
)
def test_what_is_no_sum_of_several_terms_has_none(text, is_sum):
    variables = "".join(f"var 0..40: {name};" for name in "abc")
    assert (goal_of(prepared(f"{variables}var 0..120: z;{text}")) is not None) == is_sum


def test_a_square_is_no_multiple():
    draft = Draft(Random(1))
    a, b = (draft.variable(0, 3) for _ in range(2))
    square = draft.row(MUL, draft.variable(0, 9), a, a)
    total = draft.add(draft.add(square, b), a)
    found = goal_of(replace(draft.tnf(), objective=total, sense=1))
    assert found is not None and set(found.variables.tolist()) == {a, b, square}


def test_a_variable_among_what_defines_it_is_a_term():
    """a = b + c and b = a + d: in the ternary form, as it stands."""
    draft = Draft(Random(1))
    a, b, c, d = (draft.variable(-3, 3) for _ in range(4))
    draft.row(ADD, a, b, c)
    draft.row(ADD, b, a, d)
    tnf = replace(draft.tnf(), objective=a, sense=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TUNING, "core_terms", 0)
        found = goal_of(tnf)
    assert found is not None
    for values in assignments(tnf, list(range(tnf.n_vars)), rules_of_rows(tnf, range(tnf.n_rows))):
        assert values[a] == sum_of(found, values)


def test_sums_that_the_kernels_cannot_hold_have_none():
    text = "".join(f"var 0..1: x{i};" for i in range(3)) + f"var 0..{2**40}: z;"
    text += f"constraint int_lin_eq([{2**35},1,1,-1],[x0,x1,x2,z],0); solve minimize z;"
    assert goal_of(prepared(text)) is None
