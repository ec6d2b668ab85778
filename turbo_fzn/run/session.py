"""One run, from a model's text to its solutions: prepare, search, check, report.

`prepare` turns the text into a TNF at its root fixpoint. `search` drives an engine and yields a `Solution` for each
answer worth printing, then one `Finished`. Every solution is checked against the original FlatZinc before it is
yielded (judge.py). The engine runs beside all this: while the host prints, the ring fills, and of the improving
solutions that arrive together only the best is looked at. When several optimal solutions are wanted, a second search
enumerates them, with the objective fixed.
"""

from __future__ import annotations

import logging
import threading
import time
from contextlib import closing
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Callable, Generator, Protocol, TypeVar

import numpy as np

from turbo_fzn import progress
from turbo_fzn.engine import cpu, wake
from turbo_fzn.engine.abi import METHODS
from turbo_fzn.engine.contract import Engine, Found
from turbo_fzn.engine.layout import Settings
from turbo_fzn.engine.pair import Pair
from turbo_fzn.errors import EngineError, InternalError, UsageError
from turbo_fzn.interrupt import Interrupt, Interrupted, deadline
from turbo_fzn.lower.rewrite import lower
from turbo_fzn.options import Options
from turbo_fzn.read.model import Model
from turbo_fzn.run import report
from turbo_fzn.run.answers import Distinct, Everything, Improvements, output_determines_all
from turbo_fzn.run.judge import Judge, Prepared
from turbo_fzn.run.output import value_of
from turbo_fzn.run.profiler import Profiler
from turbo_fzn.run.roles import choose_roles
from turbo_fzn.tnf.language import TNF, Output
from turbo_fzn.tnf.simplify import simplify

if TYPE_CHECKING:
    from turbo_fzn.run.bounding import Bounding

log = logging.getLogger("turbo_fzn")

POLL_SECONDS = 0.001
PATIENCE_SECONDS = 0.15  # less than the 0.2 s that MiniZinc leaves between SIGTERM and SIGKILL
GPU_LNS_PERCENT = 75
CPU_LNS_PERCENT = 50
SHARE_BESIDE_ONE = 0.1  # of the time, for dividing relaxations beside a single block
T = TypeVar("T")


@dataclass
class Solution:
    """An answer: each output item with the values of its variables, the objective (None to satisfy), and who found it.
    `statistics` are those of that moment, where they were asked for."""

    outputs: list[tuple[Output, np.ndarray]]
    objective: int | None
    block: int
    method: str
    statistics: dict[str, Any] | None = None


@dataclass
class Finished:
    """The end: whether all that was asked for is known, how many answers were given, and the statistics."""

    complete: bool
    n_solutions: int
    statistics: dict[str, Any]


def prepare(model: Model, options: Options, interrupt: Interrupt) -> Prepared:
    """Lowers, simplifies and propagates the root. Raises Interrupted, ModelError or EngineError."""
    start = time.monotonic()
    lowered = lower(model, share=options.simplify)
    times = {"lowerTime": time.monotonic() - start}
    log_phase("lower", times["lowerTime"], lowered.tnf)
    start = time.monotonic()
    sizes = {
        "flatzincVariables": len(model.variables),
        "flatzincConstraints": len(model.constraints),
        "loweredVariables": lowered.tnf.n_vars,
        "loweredPropagators": lowered.tnf.n_rows,
    }
    prepared = Prepared(lowered.tnf, model, lowered.origin, times=times, sizes=sizes)
    if options.simplify and not lowered.tnf.infeasible:
        with progress.phase("simplify"):
            simplified = simplify(lowered.tnf, lambda tnf: propagate_interruptibly(tnf, interrupt))
        prepared.tnf, prepared.reconstruction = simplified.tnf, simplified.reconstruction
        log_phase("simplify", time.monotonic() - start, prepared.tnf)
    times["simplifyTime"] = time.monotonic() - start
    return settle_root(prepared, interrupt)


def log_phase(name: str, seconds: float, tnf: TNF) -> None:
    """The line of `-v` for a phase: its time, and the sizes after it."""
    log.info("%s: %.2f s, %d variables, %d rows", name, seconds, tnf.n_vars, tnf.n_rows)


def settle_root(prepared: Prepared, interrupt: Interrupt) -> Prepared:
    """The engines start from the root fixpoint."""
    tnf = prepared.tnf
    if not tnf.infeasible:
        start = time.monotonic()
        with progress.phase("root"):
            bounds = propagate_interruptibly(tnf, interrupt)
        if bounds is None:
            tnf.infeasible = True
        else:
            tnf.lower, tnf.upper = bounds
        prepared.times["rootTime"] = time.monotonic() - start
        log_phase("root", prepared.times["rootTime"], tnf)
    return prepared


def propagate_interruptibly(tnf: TNF, interrupt: Interrupt) -> tuple[np.ndarray, np.ndarray] | None:
    """cpu.propagate in a thread, so that a signal handler of the main thread can run and stop it."""
    cpu.library(32 if tnf.is_narrow() else 64)  # compiled here if need be: of that a stop tells
    stop = cpu.Stop()
    result = in_thread(lambda: cpu.propagate(tnf, stop), interrupt, stop.set)
    if interrupt:
        raise Interrupted
    return result


def in_thread(work: Callable[[], T], interrupt: Interrupt, stop: Callable[[], None]) -> T:
    """Runs `work` in a thread and calls `stop` when interrupted; returns or raises what `work` does."""
    outcome: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(work())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        while thread.is_alive() and not interrupt:
            thread.join(0.02)
    finally:
        if thread.is_alive():
            stop()
    thread.join()
    if errors:
        raise errors[0]
    return outcome[0]


def choose_engine(prepared: Prepared, options: Options, exports: np.ndarray) -> Engine:
    """The engine that --arch names; with `auto` the GPU, when there is a usable one, joins as soon as it is ready. The
    profiler wants one CPU block."""
    tnf = prepared.tnf
    if options.cp_profiler:
        return cpu.CpuEngine(tnf, exports, Settings(seed=options.seed or 0, trace=True))
    if options.arch == "gpu":
        from turbo_fzn.engine import gpu

        return gpu.GpuEngine(tnf, exports, gpu_settings(prepared, options))
    settings = cpu_settings(prepared, options)
    if options.arch == "cpu":
        return cpu.CpuEngine(tnf, exports, settings)
    failure = wake.begin().failure
    if failure is not None:
        log.info("no GPU engine: %s", failure)
        return cpu.CpuEngine(tnf, exports, settings)
    meanwhile = replace(settings, blocks=min(settings.blocks, options.threads))  # `blocks` may be meant for the GPU
    return Pair(cpu.CpuEngine(tnf, exports, meanwhile), lambda: make_gpu_engine(prepared, exports, options), tnf.sense)


def begin_bounding(prepared: Prepared, options: Options, exports: np.ndarray) -> Bounding | None:
    """What seeks bounds of the objective beside the search. With one block it would be as much as the search itself, and
    what equal runs print would not be equal: there free search alone has it, without a seed, and with little time."""
    if prepared.model is None or options.cp_profiler or options.relaxation == "off":
        return None
    alone = is_alone(options)
    if options.relaxation == "auto" and alone and (options.seed is not None or not options.free_search):
        return None
    from turbo_fzn.run.bounding import Bounding

    return Bounding(prepared, exports, SHARE_BESIDE_ONE if alone else 1)


def is_alone(options: Options) -> bool:
    """Whether the search is that of a single block."""
    on_cpu = options.arch == "cpu" or (options.arch == "auto" and wake.begin().failure is not None)
    return options.blocks == 1 or (on_cpu and (options.blocks or options.threads) == 1)


def make_gpu_engine(prepared: Prepared, exports: np.ndarray, options: Options) -> Engine:
    """Called in a thread of its own."""
    waking = wake.begin()
    waking.wait()  # PyCUDA would keep Python's lock while it waits for the driver
    if waking.failure is not None:
        raise EngineError(waking.failure)
    from turbo_fzn.engine import gpu

    return gpu.make_elsewhere(prepared.tnf, exports, gpu_settings(prepared, options))


def cpu_settings(prepared: Prepared, options: Options) -> Settings:
    wanted = options.lns == "on" or (options.lns == "auto" and options.free_search)
    blocks = options.blocks or options.threads
    methods = wanted_methods(options)
    roles = tuple(role for role in choose_roles(prepared.tnf, options, blocks) if role in methods)
    percent = CPU_LNS_PERCENT if wanted and wants_portfolio(prepared, options) else 0
    if percent and roles and blocks - len(roles) == 1:
        percent = 100  # a learner takes over the proof
    return Settings(
        blocks=blocks,
        seed=options.seed or 0,
        lns_percent=percent,
        methods=methods,
        roles=roles,
        learn_bytes=None if options.memory is None else options.memory << 20,
        profile=options.profile,
    )


def wants_portfolio(prepared: Prepared, options: Options) -> bool:
    """Whether blocks that do not search the tree are of use: not when all solutions are wanted."""
    return prepared.tnf.sense != 0 or (options.free_search and options.solution_limit() == 1)


def wanted_methods(options: Options) -> frozenset[str]:
    """Raises UsageError for a name that is no method."""
    unwanted = frozenset((options.without or "").replace(",", " ").split())
    if unknown := unwanted - frozenset(METHODS):
        raise UsageError(f"--without: no method {', '.join(sorted(unknown))}; there are {', '.join(METHODS)}")
    return frozenset(METHODS) - unwanted


def gpu_settings(prepared: Prepared, options: Options) -> Settings:
    """`blocks` 0 lets the engine choose. A GPU has blocks to spare, so most search neighbourhoods unless told not to."""
    return Settings(
        blocks=options.blocks or 0,
        seed=options.seed or 0,
        lns_percent=GPU_LNS_PERCENT if options.lns != "off" and wants_portfolio(prepared, options) else 0,
        methods=wanted_methods(options),
        threads=options.gpu_threads,
        memory_bytes=None if options.gpu_memory is None else options.gpu_memory << 20,
        profile=options.profile,
    )


class Patience:
    """How long an engine that was told to stop may go on."""

    def __init__(self) -> None:
        self.end: float | None = None

    def is_left(self) -> bool:
        now = time.monotonic()
        self.end = now + PATIENCE_SECONDS if self.end is None else self.end
        return now < self.end


class Choice(Protocol):
    """Which of the solutions that arrived are answers; see answers.py."""

    def worth_printing(self, arrived: list[Found]) -> list[Found]: ...


def search(
    prepared: Prepared, options: Options, interrupt: Interrupt
) -> Generator[Solution | Finished, None, None]:
    """Solves a prepared model. The engine is closed when the iterator is, however it ends."""
    with closing(Search(prepared, options, interrupt)) as begun:
        yield from begun.events()


class Search:
    """One or two engines, one after the other, and what they have found so far.

    The engine is closed behind the last answer, by `close`: giving back what it holds must not delay or lose an answer.
    """

    def __init__(self, prepared: Prepared, options: Options, interrupt: Interrupt):
        self.prepared, self.options, self.interrupt = prepared, options, interrupt
        self.engine: Engine | None = None
        self.start = time.monotonic()
        self.counted: dict[str, int] = {}  # by the engines that are closed
        self.shape: dict[str, Any] = {}
        self.bound: int | None = None  # proved of the objective
        self.n_solutions = 0
        self.last: Found | None = None
        self.best: int | None = None
        self.bounding: Bounding | None = None
        self.all_are_optimal = False  # what is found from now on is as good as the best
        self.profiler = Profiler.connect(prepared, options) if options.cp_profiler else None
        if self.profiler is None:  # nobody wants the tree, which would need kernels of its own and one block
            self.options = replace(options, cp_profiler=None)

    def events(self) -> Generator[Solution | Finished, None, None]:
        tnf = self.prepared.tnf
        complete = proved = True
        if tnf.infeasible:
            self.interrupt.settle()
        else:
            self.judge = Judge(self.prepared, self.options)
            if tnf.sense:
                self.bounding = begin_bounding(self.prepared, self.options, self.judge.exports)
                steps = Improvements(tnf.sense, self.wants_every_step())
                complete = proved = yield from self.run(tnf, lambda engine: steps, 0)
                if proved and self.last is not None and self.options.optimal_limit() != 1:
                    complete = yield from self.enumerate_optimal()
            else:
                complete = yield from self.run(tnf, self.new_outputs, self.options.solution_limit())
        if self.profiler:
            self.profiler.finish(self.interrupt)
        bound = self.best if proved else self.bound
        counts = self.prepared, self.counted, self.shape, self.start, self.n_solutions, self.best, bound
        yield Finished(complete, self.n_solutions, report.final(*counts))

    def wants_every_step(self) -> bool:
        """With a seed and one block, equal runs are to print the same; else steps that come together are one."""
        return self.options.seed is not None and (self.options.blocks or self.options.threads) == 1

    def new_outputs(self, engine: Engine) -> Choice:
        once = not engine.repeats and output_determines_all(self.prepared.tnf)
        return Everything() if once else Distinct(self.judge.places)

    def enumerate_optimal(self) -> Generator[Solution, None, bool]:
        """The other solutions that have the objective of the last one, which is the best."""
        assert self.last is not None and self.best is not None
        limit = self.options.optimal_limit()
        tnf = self.prepared.tnf
        lower, upper = tnf.lower.copy(), tnf.upper.copy()
        lower[tnf.objective] = upper[tnf.objective] = self.best
        fixed = replace(tnf, lower=lower, upper=upper, objective=-1, sense=0, warm_start=None)
        try:
            settle_root(replace(self.prepared, tnf=fixed, times={}), self.interrupt)
        except Interrupted:
            return False
        if fixed.infeasible:
            raise InternalError("the best solution has vanished")
        self.all_are_optimal = True
        choice = Distinct(self.judge.places)
        choice.worth_printing([self.last])
        limit = limit and self.n_solutions + limit - 1
        complete = yield from self.run(fixed, lambda engine: choice, limit)
        return complete or self.n_solutions >= limit > 0

    def run(
        self, tnf: TNF, make_choice: Callable[[Engine], Choice], limit: int
    ) -> Generator[Solution, None, bool]:
        """The answers that an engine finds, until there are `limit` in all (0: no limit); at the end, whether the whole
        space was searched."""
        self.close_engine()
        start = time.monotonic()
        with progress.phase("engine"):
            self.engine = engine = choose_engine(replace(self.prepared, tnf=tnf), self.options, self.judge.exports)
        if "engineTime" not in self.prepared.times:
            self.prepared.times["engineTime"] = time.monotonic() - start
            self.start = time.monotonic()
        log_phase("engine", time.monotonic() - start, tnf)
        self.interrupt.settle()
        complete = yield from self.drive(engine, make_choice(engine), limit)
        return (complete or self.is_proved()) and not self.has_enough(limit)

    def close(self) -> None:
        """Gives back what the engine and the relaxation hold."""
        self.close_engine()
        if self.bounding is not None:
            self.bounding.close()

    def close_engine(self) -> None:
        if self.engine is not None:
            self.engine.close()

    def drive(self, engine: Engine, choice: Choice, limit: int) -> Generator[Solution, None, bool]:
        """Yields the answers until the engine ends; returns whether it has searched the whole space."""
        engine.start()
        if self.bounding and not self.all_are_optimal:
            self.bounding.start()
        if not self.shape and self.prepared.started is not None:
            self.shape["firstNodeTime"] = time.monotonic() - self.prepared.started
        complete = yield from self.answers(engine, choice, limit)
        self.counted = report.merge_counts(self.counted, engine.statistics())
        self.shape = {**engine.methods(), "engine": engine.name, **engine.shape, **self.shape}
        self.note_bound(engine)
        if self.profiler:
            self.drain_trace(engine)
        return complete

    def answers(self, engine: Engine, choice: Choice, limit: int) -> Generator[Solution, None, bool]:
        """The same, while the engine runs. One that does not end soon after it was told to is left alone."""
        arrived: list[Found] = []
        failure: EngineError | None = None
        patience = Patience()
        while True:
            try:
                running, complete = engine.running, engine.complete  # before the poll, so that no solution is missed
            except EngineError as error:  # told after what was found before
                running, complete, failure = False, False, error
            arrived += engine.poll()
            if self.bounding and not self.all_are_optimal:
                arrived += self.bounding.exchange(engine, self.best)
            if self.profiler:
                self.profiler.pump(engine)
            if running and (complete or self.interrupt or self.has_enough(limit) or self.is_proved()):
                engine.stop()
                if patience.is_left():  # soon it is not running, and then only the best of what arrived needs a check
                    time.sleep(POLL_SECONDS)
                    continue
                running = False
            arrived, new = [], arrived
            answers = choice.worth_printing(new)
            for found in self.judge.check(answers[: limit - self.n_solutions] if limit else answers):
                yield self.answer(found, engine)
            if not running:
                break
            time.sleep(POLL_SECONDS)
        if failure is not None:
            raise failure
        return complete

    def has_enough(self, limit: int) -> bool:
        return 0 < limit <= self.n_solutions

    def is_proved(self) -> bool:
        """Whether the relaxation has proved that nothing is better than the best solution."""
        return self.bounding is not None and not self.all_are_optimal and self.bounding.proves(self.best)

    def drain_trace(self, engine: Engine) -> None:
        """The engine has ended: what it has written last, unless the profiler keeps us waiting."""
        assert self.profiler is not None
        while self.profiler.pump(engine) and not self.interrupt:
            time.sleep(POLL_SECONDS)
        self.profiler.next_engine()

    def note_bound(self, engine: Engine) -> None:
        """What the engine has proved by now."""
        if self.prepared.tnf.sense and not self.all_are_optimal:
            self.bound = report.finite(self.prepared.tnf.sense * engine.bound)

    def answer(self, found: Found, engine: Engine) -> Solution:
        """The solution that was found, counted and remembered."""
        self.n_solutions += 1
        statistics = None
        if self.prepared.tnf.sense and not self.all_are_optimal:
            self.last, self.best = found, found.objective
        if self.best is not None and (self.options.statistics or log.isEnabledFor(logging.INFO)):
            self.note_bound(engine)
        bound = self.best if self.all_are_optimal else self.bound
        if self.best is not None and self.options.statistics:
            counted = report.merge_counts(self.counted, engine.statistics())
            statistics = report.progress(counted, self.start, self.best, bound)
        seconds = time.monotonic() - self.start
        who = found.method, found.block
        objective = "" if self.best is None else f" objective {self.best}{'' if bound is None else f' (bound {bound})'},"
        log.info("%.2f s: solution %d,%s by %s in block %d", seconds, self.n_solutions, objective, *who)
        return Solution(self.judge.outputs(found), self.best, *reversed(who), statistics)


@dataclass
class Result:
    """What `solve_text` returns. `status`: SATISFIED, ALL_SOLUTIONS (space exhausted, so an optimum is proved),
    UNSATISFIABLE or UNKNOWN. `solutions`: one dict a solution, output name -> bool, int or flat list."""

    status: str
    solutions: list[dict[str, object]]
    objective: int | None
    statistics: dict[str, Any]


def solve_text(text: str, **settings: Any) -> Result:
    """Solves FlatZinc given as text. `settings` are fields of `Options`; `check` may also be True or False.

    Raises the errors of errors.py.
    """
    from turbo_fzn.read.flatzinc import parse_text

    return solve_model(parse_text(text), **settings)


def solve_model(model: Model, **settings: Any) -> Result:
    """The same for a model that is parsed already."""
    if isinstance(settings.get("check"), bool):
        settings["check"] = "always" if settings["check"] else "never"
    unknown = settings.keys() - {option.name for option in fields(Options)}
    if unknown:
        raise TypeError(f"unknown settings: {', '.join(sorted(unknown))}")
    options = Options(**settings)
    interrupt = Interrupt(deadline(options.time_limit, time.monotonic()))
    solutions: list[dict[str, object]] = []
    objective, finished = None, None
    try:
        for event in search(prepare(model, options, interrupt), options, interrupt):
            if isinstance(event, Finished):
                finished = event
            else:
                solutions.append({item.name: value_of(item, values) for item, values in event.outputs})
                objective = event.objective
    except Interrupted:
        return Result("UNKNOWN", [], None, {})
    return Result(status_of(finished), solutions, objective, finished.statistics)


def status_of(finished: Finished) -> str:
    if finished.complete:
        return "ALL_SOLUTIONS" if finished.n_solutions else "UNSATISFIABLE"
    return "SATISFIED" if finished.n_solutions else "UNKNOWN"
