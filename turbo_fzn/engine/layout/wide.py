"""Wide rows (tnf/wide.py) -> the arrays in which learners read them: see `Wide` and Problem of abi.py."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from turbo_fzn.engine.abi.abi import Problem
from turbo_fzn.engine.abi.model_records import Wide as Record
from turbo_fzn.engine.layout.watch import wake_lists
from turbo_fzn.tnf.arrays import distinct_rows
from turbo_fzn.tnf.wide import KINDS, Wide


def pack(wides: Sequence[Wide], n_vars: int) -> dict[str, np.ndarray]:
    """The arrays by their names in Problem."""
    arguments = [wide.variables for wide in wides]
    ends = np.cumsum([len(variables) for variables in arguments], dtype=np.int64)
    rows = np.zeros(len(wides), np.dtype(Record))
    rows["kind"] = [wide.kind for wide in wides]
    rows["start"], rows["end"] = np.concatenate(([0], ends))[: len(wides)], ends
    return {
        "wides": rows,
        "wide_arguments": np.concatenate([np.empty(0, np.int32), *arguments]).astype(np.int32),
        "wide_wakes": _wake_lists(wides, 2 * n_vars),
    }


def count(problem: Problem, arrays: dict[str, np.ndarray]) -> None:
    """Sets the fields of `problem` that contain the lengths of the arrays."""
    rows = arrays["wides"]
    problem.n_wides = len(rows)
    problem.most_arguments = int((rows["end"] - rows["start"]).max(initial=0))


def _wake_lists(wides: Sequence[Wide], n_sides: int) -> np.ndarray:
    """The wide rows that a change of each side wakes (int32), as watch.wake_lists."""
    pairs = [np.empty((0, 2), np.int64)]
    for row, wide in enumerate(wides):
        of_head = [(variable, ends) for variable, ends in zip(wide.head, KINDS[wide.kind].head_wakes)]
        of_groups = list(zip(wide.groups.T, KINDS[wide.kind].group_wakes))
        for variables, ends in (*of_head, *of_groups):
            for end in ends:
                sides = 2 * np.atleast_1d(variables) + end
                pairs.append(np.column_stack((sides, np.full(len(sides), row))))
    side, row = distinct_rows(np.concatenate(pairs)).T
    return wake_lists(side, row, n_sides)
