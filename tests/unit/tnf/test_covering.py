"""The rows that a search branches on, against enumeration, and as they come from models."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest

from support.drafts import assignments, draw, rules_of_rows
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.run.arrangement import arranged
from turbo_fzn.run.prepare import prepare
from turbo_fzn.tnf.covering import covering
from turbo_fzn.tnf.language import TNF, Strategy, ValueChoice, VarChoice
from turbo_fzn.tnf.tuning import TUNING

MODELS = 1000
NAMES = [f"x{i}" for i in range(70)]
TRUTHS = "".join(f"var 0..1: {name};" for name in NAMES)
ONES = ",".join("1" for _ in NAMES)


def rows_of(tnf: TNF) -> list[tuple[list[int], int]]:
    """(members, how many must be 1) of each row that the search branches on."""
    found = [strategy for strategy in tnf.strategies if strategy.rows is not None]
    if not found:
        return []
    sizes, needs = found[0].rows
    ends = np.cumsum(sizes)
    return [(found[0].variables[end - size : end].tolist(), int(need)) for size, end, need in zip(sizes, ends, needs)]


def prepared(text: str) -> TNF:
    return arranged(prepare(parse_text(text), Options(simplify=False), Interrupt())).tnf


def test_each_row_has_its_members_in_every_solution(monkeypatch):
    """Random trees of sums, maxima and comparisons."""
    monkeypatch.setattr(TUNING, "row_share", 0.0)
    rows = 0
    for number in range(MODELS):
        random = Random(f"covering/{number}")
        tnf, _ = draw(random)
        named = np.array([v for v in range(tnf.n_vars) if random.random() < 0.8], np.int32)
        tnf = replace(tnf, strategies=[Strategy(VarChoice.FIRST_FAIL, ValueChoice.MIN, named, asked=False)])
        found = covering(tnf)
        if found is None:
            continue
        rules = rules_of_rows(tnf, range(tnf.n_rows))
        wanted = rows_of(replace(tnf, strategies=[found]))
        for values in assignments(tnf, list(range(tnf.n_vars)), rules):
            for members, need in wanted:
                assert 0 < need <= sum(values[member] for member in members), number
        rows += len(wanted)
    assert rows > 30


@pytest.mark.parametrize(
    ("constraint", "need"),
    [
        (f"int_lin_eq([{ONES}],[{','.join(NAMES)}],2)", 2),
        (f"int_lin_le([{ONES.replace('1', '-1')}],[{','.join(NAMES)}],-3)", 3),
    ],
)
def test_a_long_sum_is_one_row(constraint, need):
    rows = rows_of(prepared(f"{TRUTHS} constraint {constraint}; solve satisfy;"))
    assert [(len(members), k) for members, k in rows] == [(70, need)]


def test_a_clause_is_a_row_that_wants_one():
    names = [f"b{i}" for i in range(5)]
    text = "".join(f"var bool: {name};" for name in names) + f"constraint array_bool_or([{','.join(names)}],true);"
    assert [(len(members), k) for members, k in rows_of(prepared(f"{text} solve satisfy;"))] == [(5, 1)]


@pytest.mark.parametrize(
    "text",
    [
        f"{TRUTHS} constraint int_lin_eq([{ONES}],[{','.join(NAMES)}],2);"
        "solve :: int_search([x0], input_order, indomain_min, complete) satisfy;",
        f"{TRUTHS} constraint int_lin_eq([{ONES}],[{','.join(NAMES)}],2); solve minimize x0;",
        f"{TRUTHS} constraint int_lin_le([{ONES}],[{','.join(NAMES)}],2); solve satisfy;",
        f"{TRUTHS} constraint int_lin_eq([1,1,1],[x0,x1,x2],1); solve satisfy;",
        f"{TRUTHS} var 0..9: y; constraint int_lin_eq([{ONES},1],[{','.join(NAMES)},y],20); solve satisfy;",
    ],
    ids=["annotated", "optimised", "wants none", "few of the variables", "other terms"],
)
def test_other_models_have_no_rows(text):
    assert rows_of(prepared(text)) == []
