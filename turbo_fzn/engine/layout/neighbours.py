"""The variables that neighbourhoods fix, and for each variable of the model the nearest of them."""

from __future__ import annotations

import itertools

import numpy as np

from turbo_fzn.engine.tuning import TUNING
from turbo_fzn.tnf.language import TNF, Op


def decision_variables(tnf: TNF, n_vars: int) -> tuple[np.ndarray, np.ndarray]:
    """(variables, numbers of their strategies), int32 each: the distinct unfixed variables of the strategies, in order,
    or the first `n_vars` where it has no strategies; without the objective, which must improve."""
    named = [strategy.variables for strategy in tnf.strategies] or [np.arange(n_vars)]
    every = np.concatenate(named)
    groups = np.repeat(np.arange(len(named)), [len(variables) for variables in named])
    wanted = (tnf.lower[every] < tnf.upper[every]) & (every != tnf.objective)
    if tnf.floats is not None:  # real variables follow from others or are split: fixing them to a bound is useless
        wanted &= ~tnf.floats.mask[every]
    groups, unfixed = groups[wanted], every[wanted]
    _, first = np.unique(unfixed, return_index=True)
    first.sort()
    return np.ascontiguousarray(unfixed[first], np.int32), np.ascontiguousarray(groups[first], np.int32)


def owners(tnf: TNF, neighbours: np.ndarray) -> np.ndarray:
    """For each variable (int32 [n]) a nearest decision variable in the constraint graph, -1 beyond `owner_distance`
    rows.

    Breadth-first search from all decision variables at once, one row further in each round.
    """
    nearest = np.full(tnf.n_vars, -1, np.int32)
    nearest[neighbours] = neighbours
    unfixed = tnf.lower < tnf.upper
    third = np.where(tnf.op == Op.ELEMENT, tnf.y, tnf.z)
    for _ in range(TUNING.owner_distance):
        before = nearest.copy()
        for one, other in itertools.permutations((tnf.x, tnf.y, third), 2):
            found = (before[one] < 0) & unfixed[one] & (before[other] >= 0)
            nearest[one[found]] = before[other[found]]
        if np.array_equal(before, nearest):
            break
    return nearest
