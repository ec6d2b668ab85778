"""The beam that orders the places of a tour: against all orders, where it keeps every state."""

from __future__ import annotations

from itertools import permutations
from random import Random

import numpy as np
import pytest

from turbo_fzn.lower.tour_order import FAR, LATE, Windows, best_order, times_along
from turbo_fzn.lower.tuning import TUNING


def drawn(random: Random, by_cost: bool) -> Windows:
    """Six places with random delays, windows, depot and costs; some cannot follow each other."""
    n = 6
    delays = np.array([[random.choice((random.randint(0, 20),) * 5 + (FAR,)) for _ in range(n)] for _ in range(n)])
    opens = np.array([random.randint(0, 60) for _ in range(n)])
    closes = opens + np.array([random.randint(0, 60) for _ in range(n)])
    depot = random.randrange(n)
    closes[depot] = random.choice((100, LATE))
    costs = np.array([[random.randint(-9, 9) for _ in range(n)] for _ in range(n)]) if by_cost else None
    return Windows(delays, opens, closes, depot, random.randint(0, 20), costs)


def value_of(windows: Windows, order: list[int]) -> int | None:
    """The cost of an order, or its end where there are no costs; None where it is late."""
    after = [*order[1:], order[0]]
    times = times_along(windows, order)
    if any(time > windows.closes[place] for place, time in zip(after, times)):
        return None
    costs = windows.costs
    return times[-1] if costs is None else int(sum(costs[a, b] for a, b in zip(order, after)))


def least(windows: Windows) -> int | None:
    others = [place for place in range(len(windows.opens)) if place != windows.depot]
    values = (value_of(windows, [windows.depot, *order]) for order in permutations(others))
    return min((value for value in values if value is not None), default=None)


@pytest.mark.parametrize("by_cost", [False, True])
def test_a_beam_of_all_states_is_exact(by_cost, monkeypatch):
    monkeypatch.setattr(TUNING, "tour_states", 10**6)
    found = 0
    for seed in range(150):
        windows = drawn(Random(seed), by_cost)
        order = best_order(windows)
        assert (None if order is None else value_of(windows, order)) == least(windows), seed
        found += order is not None
    assert 30 < found < 150


def test_a_narrow_beam_finds_only_tours_in_time(monkeypatch):
    monkeypatch.setattr(TUNING, "tour_states", 1)
    orders = [(windows, best_order(windows)) for windows in (drawn(Random(seed), True) for seed in range(150))]
    values = [value_of(windows, order) for windows, order in orders if order is not None]
    assert values and None not in values


def test_more_states_follow_where_few_find_no_tour(monkeypatch):
    monkeypatch.setattr(TUNING, "tour_states", 1)
    cases = {seed: drawn(Random(seed), seed % 2 == 0) for seed in range(150)}
    found = []
    for cells in (0, 10**6):
        monkeypatch.setattr(TUNING, "tour_cells", cells)
        found.append({seed for seed, windows in cases.items() if best_order(windows) is not None})
    assert found[0] < found[1] == {seed for seed, windows in cases.items() if least(windows) is not None}
