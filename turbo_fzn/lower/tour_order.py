"""The order of the places of a tour with time windows, by a beam search.

The states of step i are the ways to visit i places in time; each is extended by every place that is left. Of the states
with the same places, the same last place and the same time the one with the least cost stays (dynamic programming: Held
and Karp 1962, Dumas et al. 1995), and of all of them the best ones. A state is given up where a place that is
left cannot be reached any more before it closes, even by the shortest way. So narrow windows are solved nearly to the
optimum, where each step has few states, and wide ones may be missed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from turbo_fzn.lower.tuning import TUNING

FAR = 2**40  # format: the delay of an arc that is none; sums of many fit into 64 bits
LATE = 2**38  # format: no time is later


class Windows(NamedTuple):
    """A tour of n places: `delays` (int64 [n, n]), the least time from a place to another, FAR where it cannot follow;
    `opens` and `closes` (int64 [n]), the window of its time at each place; the place `depot` where it begins at
    `start`, and ends before that closes; `costs` (int64 [n, n]), or None to end early."""

    delays: np.ndarray
    opens: np.ndarray
    closes: np.ndarray
    depot: int
    start: int
    costs: np.ndarray | None


class _States(NamedTuple):
    """States of a step: the places visited (bool [k, n]), the last one, its time, the cost so far, and a sum of random
    numbers of the visited places (int64 [k] each)."""

    visited: np.ndarray
    last: np.ndarray
    time: np.ndarray
    cost: np.ndarray
    key: np.ndarray


def best_order(windows: Windows) -> list[int] | None:
    """The places in the order of a tour of small cost, the depot first; None where the search has not found one. Where
    it fails by costs it goes on by time, or the reverse, and then with four times the states, within `tour_cells`."""
    by_time = windows.costs is None
    first, second = (None, windows.delays) if by_time else (windows.costs, None)
    states, kept = TUNING.tour_states, None
    while True:
        found = _beam(windows, first, states)
        if found is not None or kept is not None:
            return found or kept
        kept, states = _beam(windows, second, states), 4 * states
        if (by_time and kept is not None) or states * windows.delays.size > TUNING.tour_cells:
            return kept


def times_along(windows: Windows, order: list[int]) -> list[int]:
    """The earliest time at each place of the order, the last one that at the depot in the end."""
    times = [windows.start]
    for here, there in zip(order, [*order[1:], order[0]]):
        times.append(max(times[-1] + int(windows.delays[here, there]), int(windows.opens[there])))
    return times[1:]


def _beam(windows: Windows, costs: np.ndarray | None, most: int) -> list[int] | None:
    """The order with the least cost, or with the earliest end where there are no costs, among at most so many states
    in a step."""
    n, depot = len(windows.delays), windows.depot
    shortest = _shortest(windows.delays)
    keys = np.random.default_rng(n).integers(1, 2**62, n)
    zero = np.zeros(1, np.int64)
    states = _States(np.arange(n)[None] == depot, zero + depot, zero + windows.start, zero, zero)
    steps = []
    for _ in range(n - 1):
        origin, states = _extended(windows, costs, shortest, keys, states, most)
        steps.append((origin, states.last))
    end = np.maximum(states.time + windows.delays[states.last, depot], windows.opens[depot])
    value = end if costs is None else states.cost + costs[states.last, depot]
    good = np.flatnonzero(end <= windows.closes[depot])
    if not len(good):
        return None
    at = good[np.argmin(value[good])]
    order = []
    for origin, last in reversed(steps):
        order.append(int(last[at]))
        at = origin[at]
    return [depot, *reversed(order)]


def _extended(
    windows: Windows, costs: np.ndarray | None, shortest: np.ndarray, keys: np.ndarray, states: _States, most: int
) -> tuple[np.ndarray, _States]:
    """(the state that each comes from, the best states with a place more), in the order of their values."""
    reached = np.maximum(states.time[:, None] + windows.delays[states.last], windows.opens)
    origin, place = np.nonzero(~states.visited & (reached <= windows.closes))
    time = reached[origin, place]
    cost = time if costs is None else states.cost[origin] + costs[states.last[origin], place]
    best = np.lexsort((time, cost))[: TUNING.tour_extensions * most]
    origin, place, time, cost = (column[best] for column in (origin, place, time, cost))
    visited = states.visited[origin]
    visited[np.arange(len(place)), place] = True
    room = np.where(visited, FAR, windows.closes - shortest[place]).min(axis=1, initial=FAR) - time
    key = states.key[origin] ^ keys[place]
    _, kept = np.unique(np.stack((key, place, time)), axis=1, return_index=True)  # the first ones: of the least cost
    kept = np.sort(kept)
    kept = kept[room[kept] >= 0][:most]
    return origin[kept], _States(visited[kept], place[kept], time[kept], cost[kept], key[kept])


def _shortest(delays: np.ndarray) -> np.ndarray:
    """The length of the shortest way between any two places (Floyd and Warshall 1962)."""
    shortest = delays.copy()
    for between in range(len(delays)):
        np.minimum(shortest, shortest[:, between, None] + shortest[between], out=shortest)
    return shortest
