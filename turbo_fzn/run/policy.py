"""Default choices of a run: engines, number of threads, and search methods.

`plan` makes the choices that the lowering of a model needs, as a `Plan`. `decide` makes all others, once for each
search, as a `Decision` that does not change; `-v` prints it with its reason. Options take precedence; the rest depends
on the model and the machine:

* A search annotation is followed by one thread; in optimisation, by a learner (roles.py).
* If all or several solutions are wanted, one thread enumerates them, always in the same order.
* Otherwise a model without a search annotation gets free search, on two threads of the CPU: one searches the tree by
  failure weights (dom/wdeg: Boussemart et al., ECAI 2004), since there is no order to follow; the other searches
  neighbourhoods and restarts. docs/measurements/free-search.md has the figures.
* Beside a GPU, threads of the host are learners in free search: all but two, at most 16, since the GPU finds solutions
  sooner than threads, but proves little. A search annotation is followed by one thread there, too.
* A single thread is a learner, with all roles in turn; if no thread can learn, it searches the tree, unless the
  objective is real: then it restarts, which finds solutions that bound the tree, and also completes the proof.
* A seed means that runs must be reproducible. So without `-p` or `-f` it implies one thread on a CPU, and the
  relaxation beside it takes counted turns with it (turns.py).
* A model with wide rows that stand alone (tnf/wide.py) is searched by learners on the CPU, and by no other engine.
* The hybrid engine searches the tree with a thread for each core, and ignores other methods.
* Ranks share one tree: each has its GPUs with learning threads beside them, or threads of the CPU without a GPU.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from turbo_fzn.base.errors import UsageError
from turbo_fzn.engine import variants
from turbo_fzn.engine.abi.abi import METHODS
from turbo_fzn.engine.cuda import devices
from turbo_fzn.lower.branching import STATED
from turbo_fzn.options.options import Options
from turbo_fzn.options.spellings import no_such
from turbo_fzn.ranks.world import world
from turbo_fzn.read.model import Call, Goal, Model
from turbo_fzn.run.machine import Machine
from turbo_fzn.run.roles import Learner, choose_alone, choose_learners, named_learners, with_rows_by_turns
from turbo_fzn.run.tuning import TUNING
from turbo_fzn.tnf.language import TNF

ON_CPU_ONLY = frozenset(["repair", "stated"])  # methods without learning that need the CPU (kernels/free)
RESTARTS = {"weighted", "annotated"}  # methods that complete the proof without the tree search
CPU, GPU, HYBRID = "cpu", "gpu", "hybrid"
NO_GOAL = Goal("satisfy", None, [], 0)


class Plan(NamedTuple):
    """The choices for a model before it is lowered.

    `simplifies`: by the simplifier; `breaks_symmetry`: rows leave one solution of each class (symmetry/);
    `may_stand_alone`: a wide row may take the place of ternary rows (lower/inner.py), which learners alone can search;
    `closes_octagons`, `closes_holes`: the root is tightened by octagons, and by holes of domains; `suggests_tours`:
    tours with time windows get a warm start (lower/time_windows.py).
    """

    simplifies: bool
    breaks_symmetry: bool
    may_stand_alone: bool
    closes_octagons: bool
    closes_holes: bool
    suggests_tours: bool


class Relaxation(NamedTuple):
    """A linear relaxation beside the search: whether the two take counted turns, and the share of the time for branch
    and bound."""

    in_turns: bool
    share: float


@dataclass(frozen=True, repr=False)
class Decision:
    """The choices for a search.

    `engines`: in the order in which they begin; with several ranks, the engines of this rank. `threads` of the CPU or
    hybrid engine (0 without one), the last ones of which are `learners`; `by_failures`: the tree search uses failure
    weights; `methods` and `gpu_methods`: the methods that each engine may use; `cpu_lns_percent`, `gpu_lns_percent`:
    the share of the blocks that search neighbourhoods and restart. `relaxation`: None without a relaxation.
    `repeatable`: runs must be reproducible. `reason` is printed by `-v`.
    """

    engines: tuple[str, ...]
    threads: int
    learners: tuple[Learner, ...]
    by_failures: bool
    methods: frozenset[str]
    gpu_methods: frozenset[str]
    cpu_lns_percent: int
    gpu_lns_percent: int
    relaxation: Relaxation | None
    repeatable: bool
    reason: str


class _Case(NamedTuple):
    """The input of a decision: model, options, machine. `several`: more than one solution is wanted; `learns`: a thread
    could learn."""

    tnf: TNF
    options: Options
    machine: Machine
    several: bool
    learns: bool


class _Way(NamedTuple):
    """The number of threads, and whether they use free search."""

    threads: int
    free: bool


def plan(model: Model, options: Options, for_once: bool) -> Plan:
    """The choices for a model before it is lowered; `for_once`: it will be searched with these options only."""
    return Plan(
        options.simplify and variants.simplifies(options.variant),
        breaks_symmetry(model, options) and options.proof is None,  # a proof has its own way (proof/leaders.py)
        for_once and _learners_are_enough(options),
        variants.closes_octagons(options.variant),
        variants.has_holes(options.variant),
        _suggests_tours(model.goal or NO_GOAL, options),
    )


def breaks_symmetry(model: Model, options: Options) -> bool:
    """Whether symmetries are to be broken: one solution is enough, and there is no warm start, whose solution may not
    be the least of its class."""
    goal = model.goal or NO_GOAL
    wanted = options.solution_limit() if goal.method == "satisfy" else options.optimal_limit()
    is_left_to_us = options.symmetry == "auto" and options.free_search and not _has_warm_start(goal.annotations)
    return (options.symmetry == "on" or is_left_to_us) and wanted == 1 and options.cp_profiler is None


def _suggests_tours(goal: Goal, options: Options) -> bool:
    """Whether tours are suggested: one solution or the best is wanted, and nobody has asked for another order."""
    several = goal.method == "satisfy" and options.solution_limit() != 1
    return not (several or options.cp_profiler) and (not goal.annotations or options.free_search)


def _has_warm_start(annotation: object) -> bool:
    if isinstance(annotation, Call):
        is_one = annotation.name.startswith("warm_start") or (annotation.name == STATED and len(annotation.args) == 3)
        return is_one or _has_warm_start(annotation.args)
    return isinstance(annotation, list) and any(map(_has_warm_start, annotation))


def _learners_are_enough(options: Options) -> bool:
    """Whether learners on the CPU are enough: no option needs another engine, as the search for further optimal
    solutions does."""
    needs_rows = options.dump_tnf or options.cp_profiler or options.proof or world() or options.optimal_limit() != 1
    learners = choose_alone(options, 1, True, wanted_methods(options))
    return bool(learners) and options.arch in ("auto", "cpu") and not needs_rows


def decide(tnf: TNF, options: Options, machine: Machine, wanted: int) -> Decision:
    """The decision for a search. `wanted` is the number of solutions of a satisfaction model (0: all), or of optimal
    solutions in the search for these. Raises UsageError for an unknown method or role."""
    case = _case(tnf, options, machine, wanted)
    if options.proof is not None:
        return _logged(case)
    engines = _engines(options, machine)
    if engines == (HYBRID,):
        return _hybrid(case)
    beside_gpu = len(engines) == 2
    whole = _way(case, options.blocks or options.threads)
    own = _way(case, options.threads, beside_gpu) if beside_gpu or shares_tree(options, machine.is_rank) else whole
    wanted_roles = choose_learners(tnf, options, own.threads, own.free, beside_gpu, machine.is_rank)
    if tnf.needs_learners:
        return _learners_alone(case, whole)
    gpu_methods = wanted_methods(options)
    learners = with_rows_by_turns(learner for learner in wanted_roles if learner.role in gpu_methods)
    if beside_gpu and machine.is_rank and not learners:
        engines = (GPU,)
    if CPU not in engines or options.cp_profiler:
        learners = ()
    percent, methods = _neighbourhoods(case, own, len(learners), gpu_methods)
    return Decision(
        engines,
        own.threads if CPU in engines else 0,
        learners,
        _follows_failures(case),
        methods,
        gpu_methods - ON_CPU_ONLY,
        percent,
        TUNING.gpu_lns_percent if options.lns != "off" and _has_portfolio(case, whole) else 0,
        _relaxation(case, engines, whole, len(learners)),
        options.seed is not None and whole.threads == 1 and len(engines) == 1,
        _reason(case, own, len(learners)),
    )


def _hybrid(case: _Case) -> Decision:
    """The decision for the hybrid engine: tree search by a thread for each core, or by one thread if runs must be
    reproducible."""
    options = case.options
    asked = options.blocks or options.threads
    way = _Way(asked or (1 if options.seed is not None else case.machine.cores), free=False)
    return _alike(case, HYBRID, way.threads, (), _relaxation(case, (HYBRID,), way, 0), _reason(case, way, 0))


def _learners_alone(case: _Case, way: _Way) -> Decision:
    """The decision for a model with constraints that only learners propagate."""
    learners = with_rows_by_turns(choose_alone(case.options, way.threads, way.free, wanted_methods(case.options)))
    way = way._replace(threads=len(learners))
    reason = f"{_reason(case, way, way.threads)}; learners only, since a constraint is too large for rows"
    return _alike(case, CPU, way.threads, learners, _relaxation(case, (CPU,), way, way.threads), reason)


def _logged(case: _Case) -> Decision:
    """The decision for a search whose conclusions are logged: the learners of the CPU that a search without a log has,
    or else a follower of the annotation, or a soloist. All other threads only look for solutions. The relaxation is
    that of the proof's model. Raises UsageError if no thread can learn."""
    options = case.options
    if case.machine.is_rank or options.cp_profiler or options.variant:
        raise UsageError("--proof: not with several ranks, --variant or --cp-profiler")
    if case.tnf.sense and options.optimal_limit() != 1:
        raise UsageError("--proof: not with --optimal-solutions or -a-o, whose second search would have no proof")
    if not case.learns:
        raise UsageError("--proof: no thread can learn from conflicts here: they need finite bounds and no real "
                         "variables, one solution must be enough, and --learn must not be off")  # fmt: skip
    way = _way(case, options.blocks or options.threads)
    follows = case.tnf.annotated and not options.free_search
    own = choose_learners(case.tnf, options, way.threads, way.free)
    own = with_rows_by_turns(own or (Learner("follower" if follows else "soloist"),))
    relaxation = _relaxation(case, (CPU,), way, 0)
    reason = f"{'one learner' if len(own) == 1 else f'{len(own)} learners'}, whose conclusions are logged"
    decision = _alike(case, CPU, len(own), own, relaxation, reason)
    if way.threads == 1 or options.lns == "off":
        return decision
    methods = decision.methods - {"tree"}  # also for a learner that lacks memory: others may have a proof
    reason = f"{decision.reason}; the others look for solutions" if way.threads > len(own) else decision.reason
    return replace(decision, threads=way.threads, methods=methods, cpu_lns_percent=100, repeatable=False, reason=reason)


def _alike(
    case: _Case,
    engine: str,
    threads: int,
    learners: tuple[Learner, ...],
    relaxation: Relaxation | None,
    reason: str,
) -> Decision:
    """The decision for one engine without neighbourhoods: its threads are all learners, or all search the tree."""
    methods = wanted_methods(case.options)
    repeatable = case.options.seed is not None and threads == 1
    follows = _follows_failures(case)
    return Decision((engine,), threads, learners, follows, methods, methods, 0, 0, relaxation, repeatable, reason)


def _case(tnf: TNF, options: Options, machine: Machine, wanted: int) -> _Case:
    several = tnf.sense == 0 and wanted != 1
    return _Case(tnf, options, machine, several, bool(choose_learners(tnf, options, 1, True)))


def shares_tree(options: Options, is_rank: bool) -> bool:
    """Whether this process shares the tree with other ranks."""
    return is_rank and not options.cp_profiler


def _engines(options: Options, machine: Machine) -> tuple[str, ...]:
    """The engines of the search. With `--arch auto` the GPU joins the CPU as soon as it is ready; on a rank both begin
    together. A rank has none if `--arch` requires a GPU that is missing, or is hybrid. The profiler needs the tree of
    one CPU block."""
    has_gpu = options.may_use_gpu() and machine.no_gpu is None
    if options.cp_profiler:
        return (CPU,)
    if options.arch == HYBRID:
        return () if machine.is_rank else (HYBRID,)
    if machine.is_rank:
        return (GPU, CPU) if has_gpu else (CPU,) if options.arch != GPU else ()
    if options.arch == GPU:
        return (GPU,)
    return (CPU, GPU) if has_gpu else (CPU,)


def _way(case: _Case, asked: int | None, beside_gpu: bool = False) -> _Way:
    """The number of threads, and whether they use free search; `asked` is the number of threads or blocks in the
    options."""
    alone = asked == 1 or (asked is None and case.options.seed is not None and not case.options.free_search)
    free = not case.several and (case.options.free_search or _suits_free_search(case, alone))
    if beside_gpu and free and case.learns:
        return _Way(asked or _threads_beside_gpu(case.machine.cores), free)
    return _Way(asked or (1 if alone or not free or case.options.cp_profiler else TUNING.free_threads), free)


def _suits_free_search(case: _Case, alone: bool) -> bool:
    """Whether free search is the default. One thread must be able to learn, or the tree search is better, except for a
    real objective, whose interval the tree would split first, perhaps long without a solution. Ranks of one thread each
    share the tree."""
    if case.tnf.annotated or case.options.lns == "off" or case.options.cp_profiler:
        return False
    return not alone or case.tnf.has_real_objective or (case.learns and not case.machine.is_rank)


def _threads_beside_gpu(cores: int) -> int:
    return max(min(cores - TUNING.threads_left, TUNING.most_threads), TUNING.free_threads)


def _follows_failures(case: _Case) -> bool:
    return not (case.tnf.annotated or case.several)


def _has_portfolio(case: _Case, way: _Way) -> bool:
    """Whether other methods than the tree search are useful."""
    return not case.several and (case.tnf.sense != 0 or way.free)


def _neighbourhoods(case: _Case, way: _Way, n_learners: int, methods: frozenset[str]) -> tuple[int, frozenset[str]]:
    """(share in per cent of the threads that do not learn, methods). Half search neighbourhoods and restarts; a single
    thread does only that if a learner, or its own restarts, can complete the proof. So do all of them in free search
    for an optimum, where no fewer threads learn, unless ranks share the tree. For one solution a single thread searches
    the tree where this branches on rows (tnf/covering.py)."""
    lns = case.options.lns
    if not _has_portfolio(case, way) or lns == "off" or (lns == "auto" and not way.free):
        return 0, methods
    others = way.threads - n_learners
    if others == 1 and case.tnf.branches_on_rows:
        return 0, methods
    most_learn = way.free and case.tnf.sense != 0 and others <= n_learners and not case.machine.is_rank
    if n_learners and (others == 1 or (others and most_learn)):
        return 100, methods
    if way.free and way.threads == 1 and not n_learners and methods & RESTARTS:
        return 100, methods - {"tree"}
    return TUNING.cpu_lns_percent, methods


def ignores_stated(tnf: TNF, decision: Decision) -> bool:
    """Whether the model states a neighbourhood (relax_and_reconstruct) that no block of this search can use."""
    others = decision.threads - len(decision.learners) if CPU in decision.engines else 0
    used = tnf.sense != 0 and "stated" in decision.methods and others * decision.cpu_lns_percent >= 100
    return tnf.stated is not None and not used


def _relaxation(case: _Case, engines: tuple[str, ...], whole: _Way, n_learners: int) -> Relaxation | None:
    """The relaxation beside the search. With a single block it would take as much time as the search, so only free
    search has it, with a small share; with a seed it takes counted turns with a learner, or there is none, since runs
    must be reproducible."""
    options = case.options
    if case.tnf.sense == 0 or options.cp_profiler or options.relaxation == "off":
        return None
    on_cpu = engines in ((CPU,), (HYBRID,))
    alone = options.blocks == 1 or (on_cpu and whole.threads == 1)
    in_turns = alone and options.seed is not None and on_cpu and _takes_turns(case.machine, n_learners)
    timed = not alone or (options.seed is None and whole.free)
    if options.relaxation == "auto" and not (timed or in_turns):
        return None
    return Relaxation(in_turns, TUNING.relaxation_share if alone else 1)


def _takes_turns(machine: Machine, n_learners: int) -> bool:
    """Whether the single block of a search on the CPU can take turns: a learner, without other ranks."""
    return not machine.is_rank and n_learners > 0


def _reason(case: _Case, way: _Way, n_learners: int) -> str:
    if way.free:
        by_flag = case.options.free_search
        return "free search, by -f" if by_flag else "free search: there is no search annotation to follow"
    tnf, plain = case.tnf, "smallest domain first" if case.several else "by failure weights"
    order = "as annotated" if tnf.annotated else "by rows that want members" if tnf.branches_on_rows else plain
    return f"{'learning from conflicts' if n_learners == way.threads else 'the tree'}, {order}"


def advice(tnf: TNF, options: Options) -> str | None:
    """Advice for a user whose time limit was over before the search ended, if free search was not used; else None."""
    wanted = options.solution_limit() if tnf.sense == 0 else 1
    if options.free_search or options.cp_profiler or not tnf.annotated or wanted != 1:
        return None
    return "the time was over first: the search followed the annotation; -f (free search) may find or prove more"


def check_names(options: Options) -> None:
    """Raises UsageError for invalid GPUs, methods, roles and variants, even if the run would not use them."""
    wanted_methods(options)
    named_learners(options)
    devices.check_form(options.gpus)
    _check_variants(options)


def _check_variants(options: Options) -> None:
    wanted, parts = variants.chosen(options.variant, options.arch), options.subproblems
    if options.cp_profiler and wanted.settings(CPU)["macros"]:
        raise UsageError("--variant: --cp-profiler has kernels of its own")
    if parts is not None and variants.SPLIT not in wanted.names:
        raise UsageError(f"--subproblems goes with --variant {variants.SPLIT}")
    if parts is not None and parts & (parts - 1):
        raise UsageError(f"--subproblems: {parts} is not a power of two")


def wanted_methods(options: Options) -> frozenset[str]:
    """The methods that --without leaves. Raises UsageError for an unknown method."""
    unwanted = frozenset((options.without or "").replace(",", " ").split())
    if unknown := unwanted - frozenset(METHODS):
        raise UsageError(no_such("--without: no method", unknown, METHODS))
    return frozenset(METHODS) - unwanted
