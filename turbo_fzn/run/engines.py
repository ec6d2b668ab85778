"""What a run does where its user leaves it open: which engine, how many threads, and how they search.

All such choices are made here, and `-v` says which and why. What was asked for counts first; the rest follows from the
model:

* A search annotation is followed, by one thread: by one that learns from conflicts, to optimise (roles.py).
* Where all solutions are wanted, or several of them, one thread enumerates them, always in the same order.
* Else a model without a search annotation is given to free search, on two threads of the CPU: one searches the tree,
  and as there is no order to follow, it follows the failures (dom/wdeg: Boussemart et al., ECAI 2004); the other
  searches neighbourhoods and restarts. docs/search.md has the measurements.
* Beside a GPU, free search has the host's threads learn from conflicts: all but two, at most 16, since the GPU finds
  solutions sooner than they do, but proves little. A search annotation is followed by one thread there, too.
* One thread learns from conflicts, in all roles in turn; where nobody can learn, it searches the tree, unless the
  objective is real: then restarts, which find the solutions that the tree is bounded by, and see to the proof.
* A seed says that equal runs are to print the same. So without `-p` or `-f` it means one thread on a CPU, and the
  relaxation beside that takes turns with it, which are counted (turns.py).
"""

from __future__ import annotations

import logging
import os
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from turbo_fzn.engine import cpu, devices, wake
from turbo_fzn.engine.abi import METHODS
from turbo_fzn.engine.contract import Engine
from turbo_fzn.engine.layout import Settings
from turbo_fzn.engine.team import Team
from turbo_fzn.errors import EngineError, UsageError
from turbo_fzn.options import Options
from turbo_fzn.ranks.world import World, world
from turbo_fzn.run.judge import Judge
from turbo_fzn.run.prepared import Prepared
from turbo_fzn.run.roles import choose_learners, named_learners
from turbo_fzn.spellings import no_such
from turbo_fzn.tnf.language import TNF, VarChoice

if TYPE_CHECKING:
    from turbo_fzn.ranks.serve import Job
    from turbo_fzn.run.bounding import Bounding

log = logging.getLogger("turbo_fzn")

FREE_THREADS = 2
THREADS_LEFT = 2  # beside a GPU, for the host's own work: to check solutions, to seek bounds
MOST_THREADS = 16
GPU_LNS_PERCENT = 75  # a GPU has blocks to spare
CPU_LNS_PERCENT = 50
SHARE_BESIDE_ONE = 0.1  # of the time, for dividing relaxations beside a single block
SEEDS_APART = 15_485_863  # of two ranks
RESTARTS = {"weighted", "annotated"}  # one of them proves what the tree does not


class Plan(NamedTuple):
    """How a model is searched: by so many threads of the CPU; `free`: by free search; `portfolio`: other methods are of
    use beside the tree; `by_failures`: the tree follows the failures. `reason` is what `-v` says."""

    threads: int
    free: bool
    portfolio: bool
    by_failures: bool
    reason: str


def plan(tnf: TNF, options: Options, wanted: int, beside_gpu: bool = False) -> Plan:
    """`wanted`: so many solutions of a satisfaction model (0: all), as which the search for all optima counts, too;
    `beside_gpu`: a GPU is to join."""
    asked = options.blocks or options.threads
    several = tnf.sense == 0 and wanted != 1
    alone = asked == 1 or (asked is None and options.seed is not None and not options.free_search)
    free = not several and (options.free_search or suits_free_search(tnf, options, alone))
    by_failures = not (tnf.annotated or several)
    threads = asked or (1 if alone or not free or options.cp_profiler else FREE_THREADS)
    if beside_gpu and not asked and free and choose_learners(tnf, options, FREE_THREADS, free):
        threads = threads_beside_gpu()
    if free:
        reason = "free search, by -f" if options.free_search else "free search: there is no search annotation to follow"
    else:
        order = "by failure weights" if by_failures else "as annotated" if tnf.annotated else "smallest domain first"
        all_learn = len(choose_learners(tnf, options, threads, free)) == threads
        reason = f"{'learning from conflicts' if all_learn else 'the tree'}, {order}"
    return Plan(threads, free, not several and (tnf.sense != 0 or free), by_failures, reason)


def suits_free_search(tnf: TNF, options: Options, alone: bool) -> bool:
    """Whether free search is the default. One thread needs a learner for that, which proves and finds; else the tree
    does more, but for one that would halve a real objective first, which may be long without a solution. Ranks of one
    thread each share the tree."""
    if tnf.annotated or options.lns == "off" or options.cp_profiler:
        return False
    learns = world() is None and choose_learners(tnf, options, 1, True)
    return not alone or tnf.has_real_objective or bool(learns)


def advice(tnf: TNF, options: Options) -> str | None:
    """What to tell a user whose time was over before the search, where free search was not tried."""
    wanted = options.solution_limit() if tnf.sense == 0 else 1
    if options.free_search or options.cp_profiler or not tnf.annotated or wanted != 1:
        return None
    return "the time was over first: the search followed the annotation; -f (free search) may find or prove more"


def threads_beside_gpu() -> int:
    return max(min(len(os.sched_getaffinity(0)) - THREADS_LEFT, MOST_THREADS), FREE_THREADS)


def choose_engine(prepared: Prepared, options: Options, exports: np.ndarray, wanted: int = 1) -> Engine:
    """The engine that --arch names; with `auto` the GPU, when there is a usable one, joins as soon as it is ready. The
    profiler wants one CPU block. `exports` are the variables whose values are wanted; `wanted` is as in `plan`. Where
    there are other ranks, they take part."""
    if world() is not None and not options.cp_profiler:
        return all_ranks(prepared, options, exports, wanted)
    gpu_joins = options.arch == "auto" and not options.cp_profiler and wake.absence() is None
    chosen = plan(prepared.tnf, replace(options, blocks=None) if gpu_joins else options, wanted, gpu_joins)
    count = "" if options.arch == "gpu" else f", {chosen.threads} thread{'s' * (chosen.threads > 1)} of the CPU"
    log.info("search: %s%s", chosen.reason, count)
    tnf = by_failures(prepared.tnf) if chosen.by_failures else prepared.tnf
    prepared = replace(prepared, tnf=tnf)
    if options.cp_profiler:
        return cpu.CpuEngine(tnf, exports, Settings(seed=options.seed or 0, trace=True))
    if options.arch == "gpu":
        from turbo_fzn.engine import fleet

        return fleet.make(tnf, exports, gpu_settings(chosen, options), options.gpus)
    first = cpu.CpuEngine(tnf, exports, cpu_settings(tnf, chosen, options, gpu_joins))
    if not gpu_joins:
        if options.arch == "auto":
            log.info("no GPU engine: %s", wake.absence())
        return first
    settings = gpu_settings(plan(tnf, options, wanted), options)  # --blocks is meant for the GPU
    return Team(first, [lambda: make_gpu_engine(prepared, exports, settings, options.gpus)], tnf.sense)


def all_ranks(prepared: Prepared, options: Options, exports: np.ndarray, wanted: int) -> Engine:
    """Rank 0 gives the others the prepared model."""
    from turbo_fzn.ranks.ranks import Ranks
    from turbo_fzn.ranks.serve import Job

    everybody = world()
    assert everybody is not None
    job = Job(prepared.tnf, exports, options, wanted)
    everybody.publish(job)
    return Ranks(own_team(job), everybody)


def own_team(job: Job) -> Team:
    """The engines of this rank, which share the tree: its GPUs, and beside them threads of the CPU that learn; without
    a GPU, threads of the CPU."""
    everybody = world()
    assert everybody is not None
    tnf, exports, options, wanted = job
    seed = (options.seed or 0) + SEEDS_APART * everybody.rank
    options = replace(options, seed=seed)
    gpus: list[Engine] = []
    if options.arch != "cpu" and wake.absence() is None:
        gpus = own_gpus(job, options, everybody)
    if not gpus and options.arch == "gpu":
        raise EngineError(f"rank {everybody.rank} has no GPU: with --arch auto it takes the CPU")
    chosen = plan(tnf, replace(options, blocks=None, seed=job.options.seed), wanted, bool(gpus))
    tnf = by_failures(tnf) if chosen.by_failures else tnf
    log.info("search of rank %d: %s", everybody.rank, chosen.reason)
    settings = replace(cpu_settings(tnf, chosen, options, bool(gpus)), shares=True)
    if gpus and not settings.roles:
        return Team(gpus, [], tnf.sense)
    return Team([*gpus, cpu.CpuEngine(tnf, exports, settings)], [], tnf.sense)


def own_gpus(job: Job, options: Options, everybody: World) -> list[Engine]:
    """Of the GPUs of a host each rank takes its share; where it sees but one, as some launchers see to, that one."""
    from turbo_fzn.engine import fleet

    try:
        numbers = fleet.devices(options.gpus)
        own = numbers[everybody.place :: everybody.neighbours] if len(numbers) > 1 else numbers
        if not own:
            return []
        chosen = plan(job.tnf, job.options, job.wanted)
        tnf = by_failures(job.tnf) if chosen.by_failures else job.tnf
        return [*fleet.make_all(tnf, job.exports, gpu_settings(chosen, options), own)]
    except EngineError as error:
        if options.arch == "gpu":
            raise
        log.info("no GPU engine on rank %d: %s", everybody.rank, error)
        return []


def begin_bounding(judge: Judge, options: Options) -> Bounding | None:
    """What seeks bounds of the objective beside the search. With one block it would be as much as the search itself:
    there free search alone has it, and with little time. With a seed, too, it takes turns with a learner, or there is
    none, since equal runs are to print the same."""
    prepared = judge.prepared
    tnf = prepared.tnf
    if prepared.model is None or options.cp_profiler or options.relaxation == "off":
        return None
    alone = is_alone(tnf, options)
    in_turns = alone and options.seed is not None and is_lone_learner(tnf, options)
    timed = not alone or (options.seed is None and plan(tnf, options, 1).free)
    if options.relaxation == "auto" and not (timed or in_turns):
        return None
    from turbo_fzn.run.bounding import Bounding, RealBounding
    from turbo_fzn.run.turns import TurnBounding

    kind = TurnBounding if in_turns else Bounding if tnf.floats is None else RealBounding
    return kind(judge, SHARE_BESIDE_ONE if alone else 1)


def is_on_cpu(options: Options) -> bool:
    """Whether no GPU searches, nor is to join."""
    return options.arch == "cpu" or (options.arch == "auto" and wake.absence() is not None)


def is_alone(tnf: TNF, options: Options) -> bool:
    """Whether the search is that of a single block."""
    return options.blocks == 1 or (is_on_cpu(options) and plan(tnf, options, 1).threads == 1)


def is_lone_learner(tnf: TNF, options: Options) -> bool:
    """Whether a search that is that of a single block is that of a learner on the CPU."""
    chosen = plan(tnf, options, 1)
    return is_on_cpu(options) and world() is None and bool(cpu_settings(tnf, chosen, options).roles)


def make_gpu_engine(prepared: Prepared, exports: np.ndarray, settings: Settings, wanted: str) -> Engine:
    """Called in a thread of its own."""
    waking = wake.begin(wanted)
    waking.wait()  # PyCUDA would keep Python's lock while it waits for the driver
    if waking.failure is not None:
        raise EngineError(waking.failure)
    from turbo_fzn.engine import fleet

    return fleet.make(prepared.tnf, exports, settings, wanted)


def by_failures(tnf: TNF) -> TNF:
    """The same model; where ours is to label the smallest domain first, by failure weights."""
    orders = {VarChoice.FIRST_FAIL: VarChoice.DOM_W_DEG}
    strategies = [replace(one, var_choice=orders.get(one.var_choice, one.var_choice)) for one in tnf.strategies]
    return replace(tnf, strategies=strategies)


def cpu_settings(tnf: TNF, chosen: Plan, options: Options, beside_gpu: bool = False) -> Settings:
    """Of the threads that do not learn, half search neighbourhoods and restarts; one that is alone does nothing else
    where a learner, or a restart of its own, proves what the tree would."""
    methods = wanted_methods(options)
    wanted = chosen.portfolio and (options.lns == "on" or (options.lns == "auto" and chosen.free))
    every = choose_learners(tnf, options, chosen.threads, chosen.free, beside_gpu)
    learners = [learner for learner in every if learner.role in methods]
    percent = CPU_LNS_PERCENT if wanted else 0
    if wanted and learners and chosen.threads - len(learners) == 1:
        percent = 100
    elif wanted and chosen.free and chosen.threads == 1 and not learners and methods & RESTARTS:
        percent, methods = 100, methods - {"tree"}
    return Settings(
        blocks=chosen.threads,
        seed=options.seed or 0,
        lns_percent=percent,
        methods=methods,
        roles=tuple(learner.role for learner in learners),
        decides=tuple(learner.sets for learner in learners),
        learn_bytes=None if options.memory is None else (options.memory << 20) // max(len(learners), 1),
        profile=options.profile,
    )


def gpu_settings(chosen: Plan, options: Options) -> Settings:
    """`blocks` 0 lets the engine choose. Most blocks search neighbourhoods unless told not to."""
    return Settings(
        blocks=options.blocks or 0,
        seed=options.seed or 0,
        lns_percent=GPU_LNS_PERCENT if options.lns != "off" and chosen.portfolio else 0,
        methods=wanted_methods(options),
        threads=options.gpu_threads,
        memory_bytes=None if options.gpu_memory is None else options.gpu_memory << 20,
        profile=options.profile,
    )


def check_names(options: Options) -> None:
    """Raises UsageError for GPUs, methods and roles that there cannot be, also where the run would not use them."""
    wanted_methods(options)
    named_learners(options)
    devices.check_form(options.gpus)


def wanted_methods(options: Options) -> frozenset[str]:
    """Raises UsageError for a name that is no method."""
    unwanted = frozenset((options.without or "").replace(",", " ").split())
    if unknown := unwanted - frozenset(METHODS):
        raise UsageError(no_such("--without: no method", unknown, METHODS))
    return frozenset(METHODS) - unwanted
