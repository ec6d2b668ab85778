"""The variables that neighbourhoods fix, and which of them is near to each variable of the model."""

from __future__ import annotations

import itertools

import numpy as np

from turbo_fzn.tnf.language import TNF, Op

FURTHEST_OWNER = 16


def decision_variables(tnf: TNF) -> tuple[np.ndarray, np.ndarray]:
    """Unfixed variables of the strategies, each once, in their order, but not the objective, which must improve; of all
    variables when there are no strategies. With each the number of its strategy."""
    named = [strategy.variables for strategy in tnf.strategies] or [np.arange(tnf.n_vars)]
    every = np.concatenate(named)
    groups = np.repeat(np.arange(len(named)), [len(variables) for variables in named])
    wanted = (tnf.lower[every] < tnf.upper[every]) & (every != tnf.objective)
    if tnf.floats is not None:  # real variables follow, or are split: to fix them to an end would be no use
        wanted &= ~tnf.floats.mask[every]
    groups, unfixed = groups[wanted], every[wanted]
    _, first = np.unique(unfixed, return_index=True)
    first.sort()
    return np.ascontiguousarray(unfixed[first], np.int32), np.ascontiguousarray(groups[first], np.int32)


def owners(tnf: TNF, neighbours: np.ndarray) -> np.ndarray:
    """For each variable (int32 [n]) a decision variable that is nearest in the constraint graph; -1 where there is none
    near.

    The decision variables spread over the rows all at once, one row further in each round.
    """
    nearest = np.full(tnf.n_vars, -1, np.int32)
    nearest[neighbours] = neighbours
    unfixed = tnf.lower < tnf.upper
    third = np.where(tnf.op == Op.ELEMENT, tnf.y, tnf.z)
    for _ in range(FURTHEST_OWNER):
        before = nearest.copy()
        for one, other in itertools.permutations((tnf.x, tnf.y, third), 2):
            found = (before[one] < 0) & unfixed[one] & (before[other] >= 0)
            nearest[one[found]] = before[other[found]]
        if np.array_equal(before, nearest):
            break
    return nearest
