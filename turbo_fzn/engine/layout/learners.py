"""The arrays of blocks that learn, by their names in Problem."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from turbo_fzn.engine.abi.abi import DECISION_SETS, EXCHANGE_LITERALS, EXCHANGE_SLOTS, METHODS, DecisionSet
from turbo_fzn.engine.abi.aligned import line_aligned
from turbo_fzn.engine.abi.records import CACHE_LINE, align
from turbo_fzn.engine.layout import decisions, fused, goals, wide
from turbo_fzn.engine.layout.neighbours import decision_variables
from turbo_fzn.engine.layout.watch import watch_lists
from turbo_fzn.tnf.crowds import crowds
from turbo_fzn.tnf.language import TNF


def methods_of(blocks: int, roles: Sequence[str]) -> np.ndarray:
    """The method of each block (int32 [blocks]): its role if it learns, as the last ones do, else the tree search."""
    methods = np.zeros(blocks, np.int32)
    methods[blocks - len(roles) :] = [METHODS.index(role) for role in roles]
    return methods


def records(blocks: int, n_learners: int, fuses: Sequence[bool], decides: Sequence[Sequence[str]]) -> np.ndarray:
    """The LearnerSettings of each block (int32 [blocks, 2])."""
    every = np.full((blocks, 2), (1 << DecisionSet.ALL, 1), np.int32)
    own = every[blocks - n_learners :]
    own[: len(fuses), 1] = fuses
    for learner, names in zip(own, decides):
        learner[0] = sum(1 << DECISION_SETS.index(name) for name in names)
    return every


def decision_sets(tnf: TNF) -> np.ndarray:
    """The decision sets that each variable is in, as bits (uint8 [n])."""
    return decisions.decision_sets(tnf, decision_variables(tnf, tnf.n_vars)[0])


def rows(tnf: TNF, fuses: bool, logs: bool) -> dict[str, np.ndarray]:
    """The arrays of rows, as a learner that `logs` may have them: see fused.py, wide.py and goals.py."""
    wides = wide.pack([one for one, _ in crowds(tnf)] if logs else tnf.wides, tnf.n_vars)
    return watches(tnf) | fused.rows_of_learners(tnf, fuses, logs) | wides | goals.pack(tnf)


def watches(tnf: TNF) -> dict[str, np.ndarray]:
    """The watch lists of all ternary rows."""
    return dict(zip(("watches", "watchers"), watch_lists(tnf)))


def first_exchange(blocks: int, bits: int, logs: bool) -> np.ndarray:
    """The memory of the exchange between learners (uint8): a ring for each block, whose size the kernels assert. With
    learners that log, clauses have names."""
    slot = 16 + EXCHANGE_LITERALS * 2 * bits // 8 + 8 * logs
    return line_aligned(blocks * align(8 + EXCHANGE_SLOTS * slot, CACHE_LINE))
