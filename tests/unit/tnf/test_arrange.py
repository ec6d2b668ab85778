"""Stores without inner links (tnf/arrange.py) against enumeration: they have the solutions of all rows."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from random import Random

import numpy as np
import pytest

from support.drafts import RESULT, assignments, draw, rule_of_linear, rules_of_rows, solutions
from turbo_fzn.tnf.arrange import Arranged, arrange
from turbo_fzn.tnf.language import TNF, Strategy, ValueChoice, VarChoice
from turbo_fzn.tnf.tuning import TUNING

MODELS = 400
SIZES = [(2, 1), (32, 4)]


@pytest.fixture(scope="module")
def drawn() -> list[tuple[TNF, np.ndarray]]:
    pairs = [draw(Random(f"arrange/{number}")) for number in range(MODELS)]
    return [(tnf, kept) for tnf, kept in pairs if not tnf.infeasible]


def solutions_of_stores(tnf: TNF, arranged: Arranged) -> set[tuple[int, ...]]:
    """The solutions of what a store has, with the other variables computed level by level."""
    rules = [rule_of_linear(arranged.sums, i) for i in range(arranged.sums.n_rows)]
    rules += rules_of_rows(tnf, range(arranged.n_rows))
    found = set()
    for values in assignments(tnf, list(range(arranged.n_vars)), rules):
        for first, end in pairwise(arranged.levels.tolist()):
            level = [[int(c[r]) for c in (tnf.op, tnf.x, tnf.y, tnf.z)] for r in arranged.order[first:end]]
            values |= {x: RESULT[op](values[y], values[z]) for op, x, y, z in level}  # read before any is written
        found.add(tuple(values[v] for v in range(tnf.n_vars)))
    return found


@pytest.mark.parametrize(
    ("most_terms", "short"), [(3, 4), *(pytest.param(most, short, marks=pytest.mark.slow) for most, short in SIZES)]
)
def test_stores_without_links_have_the_solutions_of_the_rows(most_terms, short, drawn, monkeypatch):
    """All variables get their numbers in another order, and those that are named keep their bounds in the store."""
    monkeypatch.setattr(TUNING, "arranged_terms", most_terms)
    monkeypatch.setattr(TUNING, "short_terms", short)
    n_changed = 0
    for tnf, kept in drawn:
        strategy = Strategy(VarChoice.INPUT_ORDER, ValueChoice.MIN, np.flatnonzero(kept).astype(np.int32))
        moved, number = arrange(replace(tnf, strategies=[strategy]))
        every = solutions(tnf)
        back = np.argsort(number)
        assert sorted(number) == list(range(tnf.n_vars))
        assert solutions(moved) == {tuple(one[v] for v in back) for one in every}
        if moved.arranged is not None:
            n_changed += 1
            assert solutions_of_stores(moved, moved.arranged) == solutions(moved)
            assert (number[kept] < moved.arranged.n_vars).all()
            assert np.array_equal(moved.strategies[0].variables, number[strategy.variables])
            sizes = moved.arranged.sums.sizes
            assert (np.diff(sizes) >= 0).all() and (sizes <= short).sum() == moved.arranged.n_short
    assert n_changed > len(drawn) / 3
