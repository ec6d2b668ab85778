"""The neighbourhood that the model states (relax_and_reconstruct), for kernels/free/fixing.h."""

from __future__ import annotations

import numpy as np

from turbo_fzn.engine.abi.abi import SHARE_UNIT, Method, Problem
from turbo_fzn.engine.abi.aligned import columns
from turbo_fzn.engine.abi.model_records import Stated
from turbo_fzn.tnf.language import TNF


def pack(tnf: TNF) -> np.ndarray:
    """The records of the variables that it fixes (int32 [k, 2]): unfixed ones, but for the objective, which must
    improve."""
    variables, percentages = tnf.stated or (np.zeros(0, np.int32), np.zeros(0, np.int64))
    wanted = (tnf.lower[variables] < tnf.upper[variables]) & (variables != tnf.objective)
    return columns(Stated, var=variables[wanted], share=percentages[wanted] * SHARE_UNIT // 100)


def count(problem: Problem, stated: np.ndarray) -> None:
    """Sets the number of these records; without any, no block may search this neighbourhood."""
    problem.n_stated = len(stated)
    if not len(stated):
        problem.methods &= ~(1 << Method.STATED)
