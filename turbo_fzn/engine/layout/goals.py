"""The objective as a sum (tnf/goal.py) -> the arrays in which learners read it: see Problem of abi.py."""

from __future__ import annotations

import numpy as np

from turbo_fzn.engine.abi.abi import Problem
from turbo_fzn.engine.abi.aligned import columns
from turbo_fzn.engine.abi.model_records import Term
from turbo_fzn.tnf.goal import goal_of
from turbo_fzn.tnf.language import TNF


def pack(tnf: TNF) -> dict[str, np.ndarray]:
    """The arrays by their names in Problem: terms with the sides that grow with sense * objective, and the constant.
    Empty if the objective is no sum."""
    goal = goal_of(tnf)
    if goal is None:
        return {"goal_terms": np.zeros(0, np.dtype(Term)), "goal_constant": np.zeros(1, np.int64)}
    sides = (2 * goal.variables + (goal.factors < 0)).astype(np.int32)
    terms = columns(Term, side=sides, factor=np.abs(goal.factors))
    return {"goal_terms": terms, "goal_constant": np.array([goal.constant], np.int64)}


def count(problem: Problem, arrays: dict[str, np.ndarray]) -> None:
    """Sets the field of `problem` that holds the length of the terms."""
    problem.n_goal_terms = len(arrays["goal_terms"])
