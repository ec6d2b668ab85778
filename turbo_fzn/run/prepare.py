"""Prepares a parsed model: a TNF at its root fixpoint, from which every engine starts.

Lowering and simplifying are Python and NumPy, which a signal interrupts by itself. Propagation and probing are calls
into the kernels (interruptible.py).
"""

from __future__ import annotations

import logging
import time
from dataclasses import replace

import numpy as np

from turbo_fzn.base import progress
from turbo_fzn.base.errors import UsageError
from turbo_fzn.engine import root
from turbo_fzn.engine.library import library
from turbo_fzn.engine.variants import BITSETS
from turbo_fzn.lower.conditions import complete_implications
from turbo_fzn.lower.definitions import refuse_wrong_definitions
from turbo_fzn.lower.rewrite import Lowered, Order, lower
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.read.model import Model
from turbo_fzn.run.interruptible import call_kernels
from turbo_fzn.run.policy import plan
from turbo_fzn.run.prepared import Prepared
from turbo_fzn.run.presolve import Presolve
from turbo_fzn.run.projection import names_of, projected
from turbo_fzn.run.roles import NO_BOUNDS, can_learn, obstacle_to_learning, unbounded
from turbo_fzn.run.tuning import TUNING
from turbo_fzn.tnf import octagon
from turbo_fzn.tnf.language import TNF
from turbo_fzn.tnf.simplify import simplify

log = logging.getLogger("turbo_fzn")


def prepare(model: Model, options: Options, interrupt: Interrupt, for_once: bool = True) -> Prepared:
    """Lowers, simplifies and propagates the root. `for_once`: it will be searched with these options only. Raises
    Interrupted, ModelError or EngineError."""
    if options.count and model.goal is not None and model.goal.method != "satisfy":
        raise UsageError("--count: the model has an objective")
    if options.project is not None:
        model = projected(model, names_of(options.project))
    start = time.monotonic()
    chosen = plan(model, options, for_once)
    refuse_wrong_definitions(model)
    stated = complete_implications(model) if chosen.simplifies else model
    orders = symmetries(stated) if chosen.breaks_symmetry else []
    lowered = lower(stated, chosen.simplifies, orders, chosen.may_stand_alone)
    if lowered.tnf.needs_learners and not can_learn(lowered.tnf, options):
        lowered = lower(stated, chosen.simplifies, orders)
    if chosen.suggests_tours:
        suggest_tours(lowered, model)
    times = {"lowerTime": time.monotonic() - start}
    log_phase("lower", times["lowerTime"], lowered.tnf)
    set_precision(lowered.tnf, options.float_precision)
    start = time.monotonic()
    sizes = {
        "flatzincVariables": len(model.variables),
        "flatzincConstraints": len(model.constraints),
        "loweredVariables": lowered.tnf.n_vars,
        "loweredPropagators": lowered.tnf.n_rows,
    }
    prepared = Prepared(lowered.tnf, model, lowered.origin, times=times, sizes=sizes)
    if chosen.simplifies and not lowered.tnf.infeasible:
        make_smaller(prepared, options, interrupt)
        log_phase("simplify", time.monotonic() - start, prepared.tnf)
    times["simplifyTime"] = time.monotonic() - start
    settle_root(prepared, interrupt)
    solve_equations(prepared, interrupt)
    if chosen.closes_octagons:
        close_octagons(prepared, interrupt)
    if chosen.closes_holes:
        close_holes(prepared, interrupt)
    report_obstacle(prepared, options)
    return prepared


def make_smaller(prepared: Prepared, options: Options, interrupt: Interrupt) -> None:
    """Replaces the TNF by the result of simplifier and presolve."""
    presolve = Presolve(prepared.tnf, options, interrupt)
    with progress.stage("simplify"):
        simplified = simplify(prepared.tnf, presolve.propagate, probe=presolve.probe)
    prepared.tnf, prepared.reconstruction = simplified.tnf, simplified.reconstruction
    prepared.implications = presolve.implications
    presolve.report()


def solve_equations(prepared: Prepared, interrupt: Interrupt) -> None:
    """Tightens the root of a model with real variables by its linear equations and rows in turn, while they find new
    bounds."""
    tnf = prepared.tnf
    if tnf.floats is None or tnf.infeasible:
        return
    from turbo_fzn.bounds.reals.elimination import bound_by_equations, reaches_far

    for _ in range(TUNING.equation_rounds):
        if tnf.infeasible or not reaches_far(tnf):
            break
        start = time.monotonic()
        found = bound_by_equations(tnf)
        log_phase("equations", time.monotonic() - start, tnf)
        if found is None:
            tnf.infeasible = True
        elif np.array_equal(found[0], tnf.lower) and np.array_equal(found[1], tnf.upper):
            break
        else:
            tnf.lower, tnf.upper = found
            settle_root(prepared, interrupt)
    if not tnf.infeasible and reaches_far(tnf) and len(tnf.op):
        from turbo_fzn.bounds.reals.enclosure import Enclosure

        tnf.infeasible = Enclosure(tnf, (tnf.lower, tnf.upper), lambda: bool(interrupt)).is_empty()


def report_obstacle(prepared: Prepared, options: Options) -> None:
    """Logs why no block may learn from conflicts, if so, with a variable whose missing bounds are the reason."""
    tnf = prepared.tnf
    obstacle = None if tnf.infeasible else obstacle_to_learning(tnf, options)
    if obstacle == NO_BOUNDS:
        obstacle = f"{prepared.name_of(unbounded(tnf)) or 'a variable of an inner sum or product'} has no bounds"
    if obstacle is not None:
        log.info("no learning: %s", obstacle)


def close_holes(prepared: Prepared, interrupt: Interrupt) -> None:
    """Tightens the root by the holes of domains."""
    tnf = prepared.tnf
    if tnf.is_narrow():
        library(32, BITSETS)  # compiled in this thread, where a stop reports it
    found = None if tnf.infeasible else call_kernels(tnf, interrupt, lambda stop: root.propagate_holes(tnf, stop))
    tnf.infeasible = found is None
    if found is not None:
        tnf.lower, tnf.upper = found


def close_octagons(prepared: Prepared, interrupt: Interrupt) -> None:
    """Tightens the root by octagons and rows in turn, until nothing changes or for `octagon_rounds`."""
    start = time.monotonic()
    tnf = prepared.tnf
    for _ in range(TUNING.octagon_rounds):
        found = None if tnf.infeasible else octagon.tightened(tnf)
        if found is None:
            tnf.infeasible = True
            break
        if np.array_equal(found[0], tnf.lower) and np.array_equal(found[1], tnf.upper):
            break
        tnf.lower, tnf.upper = found
        settle_root(prepared, interrupt)
    log_phase("octagon", time.monotonic() - start, tnf)


def suggest_tours(lowered: Lowered, model: Model) -> None:
    """Gives a model whose circuits have time windows a warm start, unless it has its own."""
    tnf = lowered.tnf
    if tnf.infeasible or tnf.warm_start is not None or all(one.name != "turbo_circuit" for one in model.constraints):
        return
    from turbo_fzn.lower.time_windows import suggested  # only here: few models have tours

    values = suggested(model)
    if values:
        variables = np.array([lowered.origin[name] for name in values], np.int32)
        tnf.warm_start = variables, np.array(list(values.values()), np.int64)


def symmetries(model: Model) -> list[Order]:
    from turbo_fzn.symmetry.breaking import leaders  # only here: few runs look for them

    return leaders(model)


def set_precision(tnf: TNF, precision: float) -> None:
    """Sets the width of intervals and the step of the objective so that solutions and the optimum are within the
    precision; both are smaller than the precision, since rows add up the errors of their variables."""
    if tnf.floats is not None:
        tnf.floats = replace(tnf.floats, width=precision / 8, step=precision / 2)


def log_phase(name: str, seconds: float, tnf: TNF) -> None:
    """Logs the line of `-v` for a stage: its time, and the sizes after it."""
    log.info("%s: %.2f s, %d variables, %d rows", name, seconds, tnf.n_vars, tnf.n_rows)


def settle_root(prepared: Prepared, interrupt: Interrupt) -> Prepared:
    """The prepared model with its TNF at the root fixpoint."""
    tnf = prepared.tnf
    if not tnf.infeasible:
        start = time.monotonic()
        with progress.stage("root"):
            bounds = call_kernels(tnf, interrupt, lambda stop: root.propagate(tnf, stop))
        if bounds is None:
            tnf.infeasible = True
        else:
            tnf.lower, tnf.upper = bounds
        prepared.times["rootTime"] = time.monotonic() - start
        log_phase("root", prepared.times["rootTime"], tnf)
    return prepared
