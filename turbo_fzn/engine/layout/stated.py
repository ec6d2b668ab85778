"""What a model states about its search besides an order: a neighbourhood (relax_and_reconstruct), for
kernels/free/fixing.h, and restarts, for kernels/search/schedule.h."""

from __future__ import annotations

import numpy as np

from turbo_fzn.engine.abi.abi import SHARE_UNIT, Method, Problem
from turbo_fzn.engine.abi.aligned import columns
from turbo_fzn.engine.abi.model_records import Stated
from turbo_fzn.tnf.language import TNF, Restarts

N_LIMITS = 2**14 - 1  # format: of a schedule; the last one is repeated
UNLIMITED = 2**31 - 1  # format: failures that no search reaches: INT32_MAX in the kernels


def pack(tnf: TNF, restarts: Restarts | None) -> dict[str, np.ndarray]:
    """The arrays by their names in Problem; `restarts` are the user's, which take precedence over the model's. Those of
    a model that states no neighbourhood are meant for another search than free search."""
    restarts = restarts or (tnf.restarts if tnf.stated is not None else None)
    return {
        "stated": neighbourhood(tnf),
        "restart_limits": np.zeros(0, np.int32) if restarts is None else limits(restarts),
    }


def neighbourhood(tnf: TNF) -> np.ndarray:
    """The records of the variables that it fixes (int32 [k, 2]): unfixed ones, but for the objective, which must
    improve."""
    variables, percentages = tnf.stated or (np.zeros(0, np.int32), np.zeros(0, np.int64))
    wanted = (tnf.lower[variables] < tnf.upper[variables]) & (variables != tnf.objective)
    return columns(Stated, var=variables[wanted], share=percentages[wanted] * SHARE_UNIT // 100)


def limits(restarts: Restarts) -> np.ndarray:
    """The failures of each search between two restarts (int32 [k])."""
    if restarts.kind == "none":
        return np.full(1, UNLIMITED, np.int32)
    number = np.arange(N_LIMITS)
    with np.errstate(over="ignore"):
        steps = {
            "constant": np.ones(1),
            "linear": number + 1.0,
            "luby": luby(),
            "geometric": restarts.base ** number.astype(float),
        }[restarts.kind]
    scale = min(max(restarts.scale, 1), UNLIMITED)
    return np.clip(np.clip(steps, 0, UNLIMITED) * scale, 1, UNLIMITED).astype(np.int32)


def luby() -> np.ndarray:
    """1 1 2 1 1 2 4 ... (Luby, Sinclair, Zuckerman 1993; float [N_LIMITS]): twice what was, then the next power."""
    sequence = np.ones(1)
    while len(sequence) < N_LIMITS:
        sequence = np.concatenate((sequence, sequence, [(len(sequence) + 1.0)]))
    return sequence


def count(problem: Problem, arrays: dict[str, np.ndarray]) -> None:
    """Sets the sizes of these arrays; without a stated neighbourhood, no block may search it."""
    problem.n_stated, problem.n_restart_limits = len(arrays["stated"]), len(arrays["restart_limits"])
    if not problem.n_stated:
        problem.methods &= ~(1 << Method.STATED)
