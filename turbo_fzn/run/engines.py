"""Makes the engines of a search by its decision (policy.py), and the relaxation beside them.

`make_engine` has a row in MAKERS for each combination of engines. With `--arch auto` a GPU joins the search of the CPU
as soon as it is ready. Other ranks take part, each with a team.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from turbo_fzn.base.errors import EngineError
from turbo_fzn.engine import cpu, variants
from turbo_fzn.engine.contract import Engine
from turbo_fzn.engine.cuda import wake
from turbo_fzn.engine.layout.layout import Settings
from turbo_fzn.options.options import Options
from turbo_fzn.ranks.job import Job
from turbo_fzn.ranks.world import World, world
from turbo_fzn.run.judge import Judge
from turbo_fzn.run.machine import here
from turbo_fzn.run.policy import CPU, GPU, HYBRID, Decision, decide, ignores_stated, shares_tree
from turbo_fzn.tnf.language import TNF, Restarts, VarChoice

if TYPE_CHECKING:
    import numpy as np

    from turbo_fzn.engine.together.team import Team
    from turbo_fzn.proof.proof import Proof
    from turbo_fzn.run.bounding import Bounding

log = logging.getLogger("turbo_fzn")

IGNORED = "relax_and_reconstruct is ignored: it takes an objective, free search (-f), and at least two threads of a CPU"
UNLIMITED = 2**40  # format: MiB of a log
SEEDS_APART = 15_485_863  # formula: between the seeds of two ranks


def decide_job(job: Job) -> Decision:
    """The decision for a search on this machine."""
    return decide(job.tnf, job.options, here(job.options), job.wanted)


def make_engine(job: Job, decision: Decision) -> Engine:
    """The engines of the decision as one engine. Raises EngineError if none can be made."""
    if ignores_stated(job.tnf, decision):
        log.warning(IGNORED)
    if shares_tree(job.options, world() is not None):
        return _all_ranks(job, decision)
    count = f", {decision.threads} thread{'s' * (decision.threads > 1)} of the CPU" if job.options.arch != GPU else ""
    log.info("search: %s%s", decision.reason, count)
    return MAKERS[decision.engines](job._replace(tnf=ordered(job.tnf, decision)), decision)


def _on_cpu(job: Job, decision: Decision) -> Engine:
    """The CPU engine; it has one block for the profiler."""
    tnf, exports, options, _ = job
    if options.cp_profiler:
        return cpu.CpuEngine(tnf, exports, Settings(seed=options.seed or 0, trace=True))
    engine = cpu.CpuEngine(tnf, exports, cpu_settings(decision, options))
    if options.arch == "auto":
        log.info("no GPU engine: %s", wake.absence())
    return engine


def _on_gpu(job: Job, decision: Decision) -> Engine:
    from turbo_fzn.engine.together import fleet

    return fleet.make(job.tnf, job.exports, _gpu_settings(decision, job.options), job.options.gpus)


def _on_cpu_until_gpu_joins(job: Job, decision: Decision) -> Engine:
    """A team of the CPU engine and a GPU engine that joins it; `--blocks` applies to the GPU."""
    tnf, exports, options, _ = job
    first = cpu.CpuEngine(tnf, exports, cpu_settings(decision, options))
    settings = _gpu_settings(decision, options)
    return team(first, tnf, lambda: make_gpu_engine(tnf, exports, settings, options.gpus))


def _hybrid(job: Job, decision: Decision) -> Engine:
    """The hybrid engine on the first of the GPUs that --gpus names; warns of options that it ignores."""
    from turbo_fzn.engine import hybrid
    from turbo_fzn.engine.together import fleet

    options = job.options
    if unused := [name for name, is_asked in _unused_by_hybrid(options).items() if is_asked]:
        verb = "is" if len(unused) == 1 else "are"
        log.warning("--arch hybrid searches the tree alone: %s %s not used", ", ".join(unused), verb)
    settings = Settings(
        blocks=decision.threads,
        seed=options.seed or 0,
        methods=decision.methods,
        threads=options.gpu_threads,
        device=fleet.devices(options.gpus)[0],
        subproblems=options.subproblems,
        profile=options.profile,
        **{"fused": False, **variants.chosen(options.variant, options.arch).settings(HYBRID)},
    )
    return hybrid.make(job.tnf, job.exports, settings)


def _unused_by_hybrid(options: Options) -> dict[str, bool]:
    """For each option that the hybrid engine ignores, whether it was given."""
    return {"-f": options.free_search, "--lns": options.lns == "on", "--learn": options.learn not in ("auto", "off")}


MAKERS: dict[tuple[str, ...], Callable[[Job, Decision], Engine]] = {
    (CPU,): _on_cpu,
    (GPU,): _on_gpu,
    (HYBRID,): _hybrid,
    (CPU, GPU): _on_cpu_until_gpu_joins,
}


def make_gpu_engine(tnf: TNF, exports: np.ndarray, settings: Settings, wanted: str) -> Engine:
    """Makes the engine of the GPUs; called in a separate thread."""
    waking = wake.begin(wanted)
    waking.wait()  # PyCUDA would hold Python's lock while it waits for the driver
    if waking.failure is not None:
        raise EngineError(waking.failure)
    from turbo_fzn.engine.together import fleet

    return fleet.make(tnf, exports, settings, wanted)


def ordered(tnf: TNF, decision: Decision) -> TNF:
    """The model for an engine: if the decision is to follow failures, first_fail becomes dom/wdeg."""
    if not decision.by_failures:
        return tnf
    orders = {VarChoice.FIRST_FAIL: VarChoice.DOM_W_DEG}
    strategies = [replace(one, var_choice=orders.get(one.var_choice, one.var_choice)) for one in tnf.strategies]
    return replace(tnf, strategies=strategies)


def cpu_settings(decision: Decision, options: Options) -> Settings:
    """The settings of the CPU engine; `--memory` is divided equally among the learners."""
    learners, memory = decision.learners, learners_bytes(options)
    return Settings(
        blocks=decision.threads,
        seed=options.seed or 0,
        lns_percent=decision.cpu_lns_percent,
        methods=decision.methods,
        roles=tuple(learner.role for learner in learners),
        decides=tuple(learner.sets for learner in learners),
        fuses=tuple(learner.fused for learner in learners),
        learn_bytes=None if memory is None else memory // max(len(learners), 1),
        restarts=restarts_of(options),
        posts=decision.relaxation is not None and options.proof is None,
        subproblems=options.subproblems,
        profile=options.profile,
        proof=0 if options.proof is None else (options.proof_limit or UNLIMITED) << 20,
        **variants.chosen(options.variant, options.arch).settings(CPU),
    )


def restarts_of(options: Options) -> Restarts | None:
    """The restarts that the options ask for; None where they leave them to the model."""
    if options.restart == "auto":
        return None
    return Restarts(options.restart, options.restart_scale, options.restart_base)


def learners_bytes(options: Options) -> int | None:
    """The memory of all learners together; None where they share the machine's memory."""
    if options.memory is not None:
        return options.memory << 20
    limit = options.memory_bytes()
    return None if limit is None else limit // 4


def warn_of_memory(tnf: TNF, options: Options, decision: Decision) -> None:
    """Warns how to help a search that has ended by itself, and is not complete: learners leave it where they have too
    little memory, and for some models only learners know all constraints."""
    if not tnf.needs_learners:
        return
    ways = ["--learn off, which states all constraints by rows"]
    if len(decision.learners) > 1:
        ways.insert(0, "one thread (-p 1), which has the memory of all")
    if learners_bytes(options) is not None:
        ways.insert(0, f"a larger {'--memory' if options.memory is not None else '--memory-limit'}")
    said = "the search ends early, since its learners have too little memory, and nothing else can search this model"
    log.warning("%s; what may help: %s", said, "; ".join(ways))


def _gpu_settings(decision: Decision, options: Options) -> Settings:
    """The settings of the GPU engine; 0 blocks let it choose. Most blocks search neighbourhoods, unless excluded."""
    return Settings(
        blocks=options.blocks or 0,
        seed=options.seed or 0,
        lns_percent=decision.gpu_lns_percent,
        methods=decision.gpu_methods,
        threads=options.gpu_threads,
        memory_bytes=None if options.gpu_memory is None else options.gpu_memory << 20,
        subproblems=options.subproblems,
        profile=options.profile,
        **variants.chosen(options.variant, options.arch).settings(GPU),
    )


# ---- several ranks


def _all_ranks(job: Job, decision: Decision) -> Engine:
    """The engine of all ranks, on rank 0, which sends the prepared model to the others."""
    from turbo_fzn.ranks.ranks import Ranks

    everybody = world()
    assert everybody is not None
    everybody.publish(job)
    return Ranks(own_team(job, decision), everybody)


def team(first: Engine | list[Engine], tnf: TNF, *joining: Callable[[], Engine]) -> Team:
    """A team of engines for a search of this TNF; `joining` make the engines that join later."""
    from turbo_fzn.engine.together.team import Team  # only here: most runs have one engine

    return Team(first, joining, tnf.sense)


def team_of(job: Job) -> Team:
    """The engines of a rank for a job that it has received."""
    return own_team(job, decide_job(job))


def own_team(job: Job, decision: Decision) -> Team:
    """The engines of this rank, which share the tree: its GPUs and learning threads of the CPU; without a GPU, threads
    of the CPU."""
    everybody = world()
    assert everybody is not None
    options = replace(job.options, seed=(job.options.seed or 0) + SEEDS_APART * everybody.rank)
    if options.arch == HYBRID:
        raise EngineError("--arch hybrid is an engine of one process: ranks search with --arch auto, gpu or cpu")
    gpus = _own_gpus(job, decision, options, everybody) if GPU in decision.engines else []
    if not gpus and options.arch == GPU:
        raise EngineError(f"rank {everybody.rank} has no GPU: with --arch auto it takes the CPU")
    if not gpus and GPU in decision.engines:
        machine = replace(here(job.options), no_gpu="it cannot be used")
        decision = decide(job.tnf, job.options, machine, job.wanted)
    log.info("search of rank %d: %s", everybody.rank, decision.reason)
    if CPU not in decision.engines:
        return team(gpus, job.tnf)
    settings = replace(cpu_settings(decision, options), shares=True)
    own = cpu.CpuEngine(ordered(job.tnf, decision), job.exports, settings)
    return team([*gpus, own], job.tnf)


def _own_gpus(job: Job, decision: Decision, options: Options, everybody: World) -> list[Engine]:
    """The engines of this rank's share of the host's GPUs; if it sees only one GPU, as with some launchers, the engine
    of that GPU."""
    from turbo_fzn.engine.together import fleet

    try:
        numbers = fleet.devices(options.gpus)
        own = numbers[everybody.place :: everybody.neighbours] if len(numbers) > 1 else numbers
        if not own:
            return []
        return [*fleet.make_all(ordered(job.tnf, decision), job.exports, _gpu_settings(decision, options), own)]
    except EngineError as error:
        if options.arch == GPU:
            raise
        log.info("no GPU engine on rank %d: %s", everybody.rank, error)
        return []


# ---- the relaxation


def begin_bounding(judge: Judge, decision: Decision, proof: Proof | None = None) -> Bounding | None:
    """The relaxation beside the search, or None, as for a model that was not read from FlatZinc. With a proof, that of
    its model, whose bound it can state."""
    if decision.relaxation is not None and proof is not None:
        from turbo_fzn.run.stated_bounding import StatedBounding

        return StatedBounding(judge, proof.relaxed, decision.relaxation[1])
    if judge.prepared.model is None or decision.relaxation is None:
        return None
    from turbo_fzn.run.bounding import Bounding
    from turbo_fzn.run.real_bounding import RealBounding
    from turbo_fzn.run.turns import TurnBounding

    in_turns, share = decision.relaxation
    kind = TurnBounding if in_turns else Bounding if judge.prepared.tnf.floats is None else RealBounding
    return kind(judge, share)
