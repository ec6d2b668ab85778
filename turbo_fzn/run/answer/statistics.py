"""Statistics: MiniZinc's standard names (handbook, FlatZinc), then the solver's own."""

from __future__ import annotations

import resource
import time
from collections import Counter
from typing import Any

import numpy as np

from turbo_fzn.base.domains import INFINITY
from turbo_fzn.engine.abi.abi import ACTIVITIES, N_DEPTHS
from turbo_fzn.engine.contract import DEPTHS, MAXIMA
from turbo_fzn.engine.toolchain import compiler
from turbo_fzn.run.prepared import Prepared
from turbo_fzn.tnf.language import TNF

STANDARD = {"nodes": "nodes", "failures": "failures", "restarts": "restarts", "peakDepth": "peak_level",
            "propagations": "propagations", "nogoods": "nogoods", "backjumps": "backjumps"}  # fmt: skip
SUBPROBLEMS = ("subproblems", "subproblems_taken", "subproblems_solved", "subproblems_skipped")


def merge_counts(first: dict[str, int], second: dict[str, int]) -> dict[str, int]:
    """The counts of two searches, one after the other."""
    return {
        name: max(first.get(name, 0), count) if name in MAXIMA else first.get(name, 0) + count
        for name, count in second.items()
    }


def shares(finders: Counter[str]) -> str:
    """The counts as text, largest first, such as "gpu window 12, cpu finder 3"."""
    return ", ".join(f"{finder} {count}" for finder, count in finders.most_common())


def finite(bound: int) -> int | None:
    return bound if abs(bound) < INFINITY else None


def progress(counted: dict[str, int], start: float, objective: float, bound: float | None) -> dict[str, Any]:
    """The statistics that are printed with an improving solution, while the search goes on."""
    return {
        "objective": objective,
        **({} if bound is None else {"objectiveBound": bound}),
        "nodes": counted["nodes"],
        "failures": counted["failures"],
        "solveTime": time.monotonic() - start,
    }


def _variable_counts(tnf: TNF) -> dict[str, int]:
    real = np.zeros(tnf.n_vars, dtype=bool) if tnf.floats is None else tnf.floats.mask
    boolean = (tnf.lower >= 0) & (tnf.upper <= 1) & (tnf.lower < tnf.upper) & ~real
    counts = {"boolVariables": boolean, "intVariables": ~(boolean | real)}
    counts |= {"floatVariables": real} if tnf.floats is not None else {}
    return {"variables": tnf.n_vars, **{name: int(mask.sum()) for name, mask in counts.items()}}


def final(
    prepared: Prepared,
    counted: dict[str, int],
    shape: dict[str, Any],
    start: float,
    n_solutions: int,
    best: float | None,
    bound: float | None,
) -> dict[str, Any]:
    """All statistics at the end. `counted` are the engine's counts, empty if there was no search; `bound` is the proved
    bound of the objective, or None."""
    tnf = prepared.tnf
    statistics: dict[str, Any] = {
        **{name: counted.get(field, 0) for name, field in STANDARD.items()},
        **_variable_counts(tnf),
        "propagators": tnf.n_rows,
        **prepared.sizes,
        "solutions": n_solutions,
        "peakMem": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "initTime": sum(prepared.times.values()),
        "solveTime": time.monotonic() - start,
        **prepared.times,
    }
    if best is not None:
        statistics["objective"] = best
    if bound is not None:
        statistics["objectiveBound"] = bound
    return {**statistics, **_of_search(counted, shape)} if counted else statistics


def _of_search(counted: dict[str, int], shape: dict[str, Any]) -> dict[str, Any]:
    """The statistics of the search: the engine's counts, and its shape."""
    names = ("iterations", "donations", "replays", "moves", "fixpoint_errors")
    return {
        "compileTime": sum(compiler.compile_seconds),
        **{camel(name): counted[name] for name in names},
        **{camel(name): counted.get(name, 0) for name in SUBPROBLEMS},
        "busyTime": counted["busy_ns"] / 1e9,
        "idleTime": counted["idle_ns"] / 1e9,
        **shape,
        **_activity_shares(counted),
        **depths(counted),
        **learning(counted),
        **round_trips(counted),
    }


def learning(counted: dict[str, int]) -> dict[str, Any]:
    """The statistics of learners; empty if no learner has learned a clause or found a core."""
    if not counted.get("nogoods") and not counted.get("cores"):
        return {}
    nogoods = max(counted["nogoods"], 1)
    rows = max(counted["explanations"], 1)
    return {
        "nogoodLength": counted["literals"] / nogoods,
        "nogoodLevels": counted["lbd"] / nogoods,
        "nogoodMinimised": counted["minimised"] / nogoods,
        "nogoodsShortened": counted["shortened"],
        "nogoodsTold": counted["told"],
        "nogoodsHeard": counted["heard"],
        "cores": counted["cores"],
        "reductions": counted["reductions"],
        "explanations": counted["explanations"],
        "explanationLength": counted["premises"] / rows,
        "explanationErrors": counted["explanation_errors"],
    }


def round_trips(counted: dict[str, int]) -> dict[str, Any]:
    """The statistics of the hybrid engine's messages; empty for other engines."""
    if "round_trips" not in counted:
        return {}
    return {
        "roundTrips": counted["round_trips"],
        "roundTripSeconds": counted["round_trip_ns"] / 1e9,
        "propagationSeconds": counted["propagation_ns"] / 1e9,
        "messagesToGpu": counted["messages"],
        "bytesToGpu": counted["sent_bytes"],
        "bytesFromGpu": counted["returned_bytes"],
    }


def _activity_shares(counted: dict[str, int]) -> dict[str, float]:
    """The share of the blocks' time for each activity; empty unless the kernels were built to count it."""
    ticks = {activity: counted[f"{activity}_ticks"] for activity in ACTIVITIES}
    total = sum(ticks.values())
    return {f"profile{name.capitalize()}": count / total for name, count in ticks.items()} if total else {}


def depths(counted: dict[str, int]) -> dict[str, Any]:
    """The mean depth of nodes, and the rounds of propagation for a node at each depth; empty unless the kernels were
    built to count it."""
    classes = [{name: counted.get(f"depth_{place}_{name}", 0) for name in DEPTHS} for place in range(N_DEPTHS)]
    nodes = sum(one["nodes"] for one in classes)
    if not nodes:
        return {}
    each = [
        f"{1 << place >> 1}: {one['iterations'] / one['nodes']:.1f}"
        for place, one in enumerate(classes)
        if one["nodes"]
    ]
    return {"depth": sum(one["length"] for one in classes) / nodes, "iterationsByDepth": ", ".join(each)}


def camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
