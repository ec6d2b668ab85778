"""Statistics by the names that C++ Turbo (1.2.8) gives them, for scripts that read these: `--turbo-statistics`.

A name that is missing here has no counterpart, or is printed in other runs only; docs/guide/from-turbo.md has the
reasons.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from turbo_fzn.version import __version__

Statistics = Mapping[str, Any]


def own(name: str) -> Callable[[Statistics], Any]:
    """A function that returns the statistic of this name unchanged."""
    return lambda statistics: statistics[name]


def _best_time(statistics: Statistics) -> float:
    """The seconds to the best solution from the start of the solver."""
    return float(statistics["initTime"] + statistics["bestTime"])


def _runs_per_block_second(statistics: Statistics) -> float:
    return float(statistics["propagations"] / statistics["blocks"] / max(statistics["busyTime"], 1e-9))


PLACES = {"shared": "store_shared", "global": "global"}
SAME = ("nodes", "failures", "variables", "propagators", "peakDepth", "initTime", "solveTime", "objective")
RENAMED = {
    "arch": "engine",
    "num_blocks": "blocks",
    "num_solutions": "solutions",
    "eps_num_subproblems": "subproblems",
    "eps_solved_subproblems": "subproblemsSolved",
    "eps_skipped_subproblems": "subproblemsSkipped",
    "fixpoint_iterations": "iterations",
    "num_deductions": "propagations",
    "cumulative_time_block_sec": "busyTime",
    "store_mem": "memoryStore",
    "propagator_mem": "memoryRows",
}
# Name in C++ Turbo -> function of the run's statistics; a KeyError means that this run does not have it.
NAMES: dict[str, Callable[[Statistics], Any]] = {
    "solver": lambda statistics: "turbo_fzn",
    "version": lambda statistics: __version__,
    **{name: own(name) for name in SAME},
    **{theirs: own(name) for theirs, name in RENAMED.items()},
    "deductions_per_block_second": _runs_per_block_second,
    "best_obj_time": _best_time,
    "memory_configuration": lambda statistics: PLACES[statistics["store"]],
}


def named(statistics: Statistics) -> dict[str, Any]:
    """The statistics that this run has, by the names of C++ Turbo."""
    found = {}
    for name, make in NAMES.items():
        try:
            found[name] = make(statistics)
        except KeyError:
            continue
    return found
