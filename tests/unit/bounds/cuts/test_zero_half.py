"""Zero-half cuts: which sums of rows are halved, and that no cut takes an integer point away."""

from __future__ import annotations

from itertools import product
from random import Random

import numpy as np
import pytest

from turbo_fzn.base.domains import INFINITY
from turbo_fzn.bounds.cuts.cutter import Cut, Cutter
from turbo_fzn.bounds.cuts.zero_half import Parity, eliminate, sums_of_rows
from turbo_fzn.bounds.lp.relaxation import LinearRows


def cuts_of(rows: list[tuple[dict[int, int], int, int]], values: list[float], most: int = 1) -> list[Cut]:
    """The cuts that separate the point from the integer points of the rows within 0..most."""
    n = len(values)
    lower, upper = np.zeros(n, np.int64), np.full(n, most, np.int64)
    return list(Cutter(LinearRows.of(rows), lower, upper, np.array(values)).of_halves())


@pytest.mark.parametrize("n", [3, 5, 7, 9])
def test_an_odd_cycle_of_pairs_that_exclude_each_other_gives_its_cut(n: int) -> None:
    pairs = [({place: 1, (place + 1) % n: 1}, -INFINITY, 1) for place in range(n)]
    best = max(cuts_of(pairs, [0.5] * n), key=lambda cut: cut.distance)
    assert (best.entries, best.side) == (dict.fromkeys(range(n), 1), n // 2)


def test_an_even_cycle_gives_none() -> None:
    assert cuts_of([({place: 1, (place + 1) % 4: 1}, -INFINITY, 1) for place in range(4)], [0.5] * 4) == []


def test_the_lower_side_of_a_row_counts_where_it_is_nearer() -> None:
    """Each two of three have one: so there are two of them, though a half of each would do."""
    pairs = [({place: 1, (place + 1) % 3: 1}, 1, 5) for place in range(3)]
    assert [(cut.entries, cut.side) for cut in cuts_of(pairs, [0.5] * 3)] == [(dict.fromkeys(range(3), -1), -2)]


def test_slacks_and_odd_columns_take_from_what_is_won() -> None:
    tight, loose = Parity(1, 0b01, True, 0.0), Parity(2, 0b11, False, 0.5)
    assert eliminate([tight, loose], [0.5, 0.3]) == [0b01, 0b11]
    assert eliminate([tight, loose], [0.96, 0.3]) == [0b11]
    assert eliminate([tight, loose], [0.96, 0.5]) == []


def test_only_odd_sides_win_anything_and_two_of_them_are_even() -> None:
    assert eliminate([Parity(1, 0b1, False, 0.0)], [0.1]) == []
    assert eliminate([Parity(1, 0b1, True, 0.0), Parity(2, 0b1, True, 0.0)], [0.96]) == []
    assert eliminate([Parity(1, 0b1, True, 0.0), Parity(2, 0b1, False, 0.0)], [0.96]) == [0b11]


@pytest.mark.parametrize(("side", "end", "value"), [(1, 0, 0.05), (2, 1, 0.95)])
def test_a_side_is_odd_as_columns_are_counted(side: int, end: int, value: float) -> None:
    """With 2 x + y <= 1 and y = 0, or 2 x + y <= 2 and y = 1, x is 0."""
    rows, values = LinearRows.of([({0: 2, 1: 1}, -INFINITY, side)]), np.array([0.45, value])
    activity = np.array([0.9 + value])
    assert list(sums_of_rows(rows, activity, np.array([0, end]), values)) == [{0: 1}]
    assert list(sums_of_rows(rows, activity, np.array([0, 1 - end]), values)) == []


def test_no_integer_point_of_random_rows_is_cut_off() -> None:
    """Rows of both sides and of one, coefficients of any parity, and points that need not satisfy them."""
    n_cuts = 0
    for seed in range(400):
        random = Random(seed)
        rows, values = [], [random.choice((0, 0.25, 0.5, 0.5, 1, 1.5, 2)) for _ in range(4)]
        for _ in range(random.randint(2, 5)):
            entries = {column: random.choice((-3, -2, -1, 1, 1, 2, 3)) for column in random.sample(range(4), 3)}
            activity = sum(value * values[column] for column, value in entries.items())
            low, high = int(np.floor(activity)) - random.randint(0, 1), int(np.ceil(activity)) + random.randint(0, 1)
            rows.append((entries, *random.choice(((low, high), (-INFINITY, high), (low, INFINITY), (high, high)))))
        found = cuts_of(rows, values, most=2)
        n_cuts += len(found)
        for point in product(range(3), repeat=4):
            if all(low <= sum(v * point[c] for c, v in entries.items()) <= high for entries, low, high in rows):
                for cut in found:
                    assert sum(v * point[c] for c, v in cut.entries.items()) <= cut.side, (seed, point, cut)
    assert n_cuts > 100
