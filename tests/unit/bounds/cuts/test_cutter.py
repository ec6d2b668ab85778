"""Cuts: which of them are chosen, and that the look before exact arithmetic loses none of a row."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from turbo_fzn.base.domains import INFINITY
from turbo_fzn.bounds.cuts import cutter
from turbo_fzn.bounds.cuts.cutter import Cut, Cutter, select, sum_of
from turbo_fzn.bounds.lp.relaxation import LinearRows


def test_of_cuts_that_are_nearly_parallel_the_deepest_is_chosen() -> None:
    deep, same, other = Cut({0: 10, 1: 10}, 5, 2.0), Cut({1: 11, 0: 10}, 6, 3.0), Cut({0: 1, 1: -1}, 0, 0.5)
    assert select([deep, other, same], 5) == [(cut.entries, -INFINITY, cut.side) for cut in (same, other)]
    assert select([deep, other, same], 1) == [(same.entries, -INFINITY, same.side)]
    opposite = Cut({0: -10, 1: -11}, -7, 1.0)
    assert len(select([deep, opposite], 5)) == 2


def of_rows(random: Random, size: int) -> list[Cut]:
    """Cuts from random rows that are tight at a random point."""
    values = np.array([random.choice((0, 1, 0.5, 1.25, 2, 3)) for _ in range(4)])
    rows = []
    for _ in range(3):
        entries = {column: random.randint(-size, size) or 1 for column in random.sample(range(4), 3)}
        side = int(np.floor(sum(value * values[column] for column, value in entries.items())))
        rows.append((entries, side, INFINITY) if random.random() < 0.5 else (entries, -INFINITY, side))
    lower, upper = np.zeros(4, np.int64), np.full(4, 3, np.int64)
    return list(Cutter(LinearRows.of(rows), lower, upper, values).of_rows())


@pytest.mark.parametrize("size", [3, 9, 10**6])
def test_no_cut_of_a_row_is_lost_by_the_look_before_it_is_made(monkeypatch, size: int) -> None:
    n_found = 0
    for seed in range(600):
        found = of_rows(Random(seed), size)
        n_found += len(found)
        with monkeypatch.context() as patch:
            patch.setattr(cutter, "is_cut_off", lambda factors, distances, b, d: b % d != 0)
            assert of_rows(Random(seed), size) == found
    assert n_found > 50


@given(st.data())
def test_a_sum_of_rows_is_that_of_their_coefficients(data: st.DataObject) -> None:
    numbers = st.one_of(st.integers(-3, 3), st.integers(-(2**31), 2**31)).filter(bool)
    entries = st.dictionaries(st.integers(0, 4), numbers, min_size=1)
    rows = data.draw(st.lists(entries, min_size=1, max_size=5))
    factors = st.one_of(st.integers(-3, 3), st.integers(-(2**40), 2**40)).filter(bool)
    multipliers = data.draw(st.dictionaries(st.integers(0, len(rows) - 1), factors))
    expected = {c: sum(factor * rows[row].get(c, 0) for row, factor in multipliers.items()) for c in range(5)}
    found = sum_of(LinearRows.of([(row, 0, 1) for row in rows]), multipliers)
    assert found == {column: value for column, value in expected.items() if value}
