"""One run, from a model's text to its solutions: prepare, search, check, report.

`prepare` turns the text into a TNF at its root fixpoint. `search` drives an engine and yields a `Solution` for each
answer worth printing, then one `Finished`. Every solution is checked against the original FlatZinc before it is
yielded (`check`: auto checks models up to CHECK_LIMIT elements). The engine runs beside all this: while the host
prints, the ring fills, and of the improving solutions that arrive together only the best is looked at.
"""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from dataclasses import dataclass, field, fields, replace
from typing import Any, Callable, Generator, Iterator, Mapping, TypeVar

import numpy as np

from turbo_fzn import build, cpu, progress, wake
from turbo_fzn.check import Checker
from turbo_fzn.domains import INFINITY
from turbo_fzn.engine import Engine, Found
from turbo_fzn.errors import EngineError, InternalError, UsageError
from turbo_fzn.functional import determine_all
from turbo_fzn.interrupt import Interrupt, Interrupted
from turbo_fzn.model import Model
from turbo_fzn.options import Options
from turbo_fzn.output import value_of
from turbo_fzn.problem import METHODS, PHASES, Settings
from turbo_fzn.relay import Relay
from turbo_fzn.rewrite import lower
from turbo_fzn.simplify import Reconstruction, simplify
from turbo_fzn.tnf import TNF, Output

log = logging.getLogger("turbo_fzn")

POLL_SECONDS = 0.001
CHECK_LIMIT = 2_000_000  # literals and array elements; about 0.1 s a check
GPU_LNS_PERCENT = 75
CPU_LNS_PERCENT = 50
T = TypeVar("T")


@dataclass
class Prepared:
    """A model ready for an engine. `model` is None for a .tnf file, which has no FlatZinc to check against."""

    tnf: TNF
    model: Model | None = None
    origin: Mapping[str, int] = field(default_factory=dict)
    reconstruction: Reconstruction | None = None
    times: dict[str, float] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)  # before simplification, as statistics
    started: float | None = None  # when the process began, on the clock of time.monotonic


@dataclass
class Solution:
    """An answer: each output item with the values of its variables, the objective (None to satisfy), and who found it."""

    outputs: list[tuple[Output, np.ndarray]]
    objective: int | None
    block: int
    method: str


@dataclass
class Finished:
    """The end: whether the whole space was searched, how many answers were given, and the statistics."""

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
    cpu.library(32 if tnf.is_narrow() else 64)  # compiled here if need be, where an interrupt ends the compiler too
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
    """The engine that --arch names; `auto` goes on on the GPU, when there is a usable one, as soon as that is ready."""
    tnf = prepared.tnf
    if options.arch == "gpu":
        from turbo_fzn import gpu

        return gpu.GpuEngine(tnf, exports, gpu_settings(prepared, options))
    settings = cpu_settings(prepared, options)
    if options.arch == "cpu":
        return cpu.CpuEngine(tnf, exports, settings)
    failure = wake.begin().failure
    if failure is not None:
        log.info("no GPU engine: %s", failure)
        return cpu.CpuEngine(tnf, exports, settings)
    meanwhile = replace(settings, blocks=min(settings.blocks, options.threads))  # `blocks` may be meant for the GPU
    return Relay(cpu.CpuEngine(tnf, exports, meanwhile), lambda: make_gpu_engine(prepared, exports, options), tnf.sense)


def make_gpu_engine(prepared: Prepared, exports: np.ndarray, options: Options) -> Engine:
    """Called in a thread of its own."""
    from turbo_fzn import gpu

    return gpu.make_elsewhere(prepared.tnf, exports, gpu_settings(prepared, options))


def cpu_settings(prepared: Prepared, options: Options) -> Settings:
    wanted = options.lns == "on" or (options.lns == "auto" and options.free_search)
    percent = CPU_LNS_PERCENT if wanted and wants_portfolio(prepared, options) else 0
    blocks = options.blocks or options.threads
    methods = wanted_methods(options)
    return Settings(blocks=blocks, seed=options.seed, lns_percent=percent, methods=methods, profile=options.profile)


def wants_portfolio(prepared: Prepared, options: Options) -> bool:
    """Whether blocks that do not search the tree are of use: not when all solutions are wanted."""
    return prepared.tnf.sense != 0 or (options.free_search and solution_limit(options, False) == 1)


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
        seed=options.seed,
        lns_percent=GPU_LNS_PERCENT if options.lns != "off" and wants_portfolio(prepared, options) else 0,
        methods=wanted_methods(options),
        threads=options.gpu_threads,
        memory_bytes=None if options.gpu_memory is None else options.gpu_memory << 20,
        profile=options.profile,
    )


class Judge:
    """Checks solutions against the original model, and turns them into values of the output items."""

    def __init__(self, prepared: Prepared, options: Options):
        self.prepared = prepared
        self.checker = self._checker(options)
        self.exports = self._exports()
        self.place = np.zeros(prepared.tnf.n_vars, np.int64)
        self.place[self.exports] = np.arange(len(self.exports))
        self.items = [(item, self.place[item.variables]) for item in prepared.tnf.outputs]
        self.seconds = 0.0

    def _checker(self, options: Options) -> Checker | None:
        model = self.prepared.model
        if model is None or options.check == "never":
            return None
        checker = Checker(model)
        return checker if options.check == "always" or checker.cost <= CHECK_LIMIT else None

    def _exports(self) -> np.ndarray:
        """What solutions carry: every variable when they are checked, else those of the output."""
        tnf = self.prepared.tnf
        if self.checker is not None:
            return np.arange(tnf.n_vars, dtype=np.int32)
        needed = [item.variables for item in tnf.outputs] + [np.array([tnf.objective][: tnf.sense != 0], np.int32)]
        return np.unique(np.concatenate(needed)).astype(np.int32)

    def solution(self, found: Found) -> Solution:
        """The answer that was found. Raises InternalError when it fails the check."""
        if self.checker is not None:
            self._check(found.values)
        outputs = [(item, found.values[place]) for item, place in self.items]
        return Solution(outputs, found.objective if self.prepared.tnf.sense else None, found.block, found.method)

    def _check(self, values: np.ndarray) -> None:
        start = time.monotonic()
        prepared = self.prepared
        original = values if prepared.reconstruction is None else prepared.reconstruction.values(values)
        plain = original.tolist()
        violation = self.checker.violation({name: plain[variable] for name, variable in prepared.origin.items()})
        self.seconds += time.monotonic() - start
        if violation is not None:
            raise InternalError(f"a solution failed its check and is not printed: {violation}")


def search(
    prepared: Prepared, options: Options, interrupt: Interrupt
) -> Generator[Solution | Finished, None, None]:
    """Solves a prepared model. The engine is closed when the iterator is, however it ends."""
    start = time.monotonic()
    if prepared.tnf.infeasible:
        interrupt.settle()
        yield Finished(True, 0, report(prepared, None, start, 0, None))
        return
    judge = Judge(prepared, options)
    with progress.phase("engine"):
        engine = choose_engine(prepared, options, judge.exports)
    prepared.times["engineTime"] = time.monotonic() - start
    log_phase("engine", prepared.times["engineTime"], prepared.tnf)
    try:
        interrupt.settle()
        yield from _drive(prepared, options, interrupt, judge, engine)
    finally:
        engine.close()


def _drive(
    prepared: Prepared, options: Options, interrupt: Interrupt, judge: Judge, engine: Engine
) -> Iterator[Solution | Finished]:
    start = time.monotonic()
    optimise = prepared.tnf.sense != 0
    limit = solution_limit(options, optimise)
    choose = Improvements(prepared.tnf.sense) if optimise else Distinct(judge)
    count, best = 0, None
    engine.start()
    if prepared.started is not None:
        engine.shape["firstNodeTime"] = time.monotonic() - prepared.started
    arrived: list[Found] = []
    failure: EngineError | None = None
    while True:
        try:
            running = engine.running
        except EngineError as error:  # told after what was found before
            running, failure = False, error
        arrived += engine.poll()
        if interrupt or (limit and count >= limit):
            engine.stop()
            if running:  # soon it is not, and then only the best of what arrived until then needs a check
                time.sleep(POLL_SECONDS)
                continue
        arrived, new = [], arrived
        for found in choose.worth_printing(new):
            if limit and count >= limit:
                break
            solution = judge.solution(found)
            best = solution.objective
            count += 1
            seconds = time.monotonic() - start
            log.info("%.2f s: solution %d, objective %s, by %s in block %d", seconds, count, best, found.method, found.block)
            yield solution
        if not running:
            break
        time.sleep(POLL_SECONDS)
    if failure is not None:
        raise failure
    complete = engine.complete and not (limit and count >= limit)
    yield Finished(complete, count, report(prepared, engine, start, count, best, complete))


def solution_limit(options: Options, optimise: bool) -> int:
    """After how many solutions to stop; 0 for never."""
    if optimise:
        return 0
    if options.n_solutions is not None:
        return options.n_solutions
    return 0 if options.all_solutions else 1


class Improvements:
    """Of the solutions that arrive, the best one if it is better than all before."""

    def __init__(self, sense: int):
        self.sense = sense
        self.best: int | None = None

    def worth_printing(self, arrived: list[Found]) -> list[Found]:
        if not arrived:
            return []
        found = min(arrived, key=lambda candidate: self.sense * candidate.objective)
        if self.best is not None and self.sense * found.objective >= self.sense * self.best:
            return []
        self.best = found.objective
        return [found]


class Distinct:
    """Solutions that differ from all before in the output: blocks enumerate assignments of all variables.

    Where the output determines all variables there are no others, and nothing needs to be remembered: memory does
    not grow with the number of solutions.
    """

    def __init__(self, judge: Judge):
        tnf = judge.prepared.tnf
        shown = [item.variables for item in tnf.outputs]
        # Only blocks that search the tree enumerate: each assignment of all variables is found once.
        self.all_differ = tnf.sense == 0 and bool(shown) and determine_all(tnf, np.concatenate(shown))
        places = [place for _, place in judge.items]
        self.places = np.unique(np.concatenate(places)) if places else np.empty(0, np.int64)
        self.seen: set[bytes] = set()

    def worth_printing(self, arrived: list[Found]) -> list[Found]:
        return arrived if self.all_differ else [found for found in arrived if self._is_new(found)]

    def _is_new(self, found: Found) -> bool:
        key = found.values[self.places].tobytes()
        key = key if len(key) <= 32 else hashlib.blake2b(key, digest_size=32).digest()
        if key in self.seen:
            return False
        self.seen.add(key)
        return True


def report(
    prepared: Prepared, engine: Engine | None, start: float, count: int, best: int | None, complete: bool = True
) -> dict[str, Any]:
    """Statistics by MiniZinc's standard names (handbook, FlatZinc), then our own."""
    tnf = prepared.tnf
    counted = engine.statistics() if engine is not None else {}
    boolean = (tnf.lower >= 0) & (tnf.upper <= 1) & (tnf.lower < tnf.upper)
    statistics: dict[str, Any] = {
        "nodes": counted.get("nodes", 0),
        "failures": counted.get("failures", 0),
        "restarts": counted.get("restarts", 0),
        "peakDepth": counted.get("peak_level", 0),
        "propagations": counted.get("propagations", 0),
        "variables": tnf.n_vars,
        "boolVariables": int(boolean.sum()),
        "intVariables": int(tnf.n_vars - boolean.sum()),
        "propagators": tnf.n_rows,
        **prepared.sizes,
        "solutions": count,
        "initTime": sum(prepared.times.values()),
        "solveTime": time.monotonic() - start,
        **prepared.times,
    }
    if best is not None:
        statistics["objective"] = best
    if engine is not None and tnf.sense and (bound := objective_bound(tnf, engine, best, complete)) is not None:
        statistics["objectiveBound"] = bound
    if engine is not None:
        statistics.update(engine.methods())
        statistics["engine"] = engine.name
        statistics["compileTime"] = sum(build.compile_seconds)
        for name in ("iterations", "donations", "replays", "fixpoint_errors"):
            statistics[camel(name)] = counted[name]
        statistics["busyTime"] = counted["busy_ns"] / 1e9
        statistics["idleTime"] = counted["idle_ns"] / 1e9
        statistics.update(engine.shape)
        statistics.update(phase_shares(counted))
    return statistics


def objective_bound(tnf: TNF, engine: Engine, best: int | None, complete: bool) -> int | None:
    """What was proved of the objective; None when nothing was."""
    if complete:
        return best
    return tnf.sense * engine.bound if abs(engine.bound) < INFINITY else None


def phase_shares(counted: dict[str, int]) -> dict[str, float]:
    """The share of the blocks' time in each phase; empty unless the kernels were built to count it."""
    ticks = {phase: counted[f"{phase}_ticks"] for phase in PHASES}
    total = sum(ticks.values())
    return {f"profile{phase.capitalize()}": count / total for phase, count in ticks.items()} if total else {}


def camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


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
    from turbo_fzn.parse import parse_text

    return solve_model(parse_text(text), **settings)


def solve_model(model: Model, **settings: Any) -> Result:
    """The same for a model that is parsed already."""
    if isinstance(settings.get("check"), bool):
        settings["check"] = "always" if settings["check"] else "never"
    unknown = settings.keys() - {option.name for option in fields(Options)}
    if unknown:
        raise TypeError(f"unknown settings: {', '.join(sorted(unknown))}")
    options = Options(**settings)
    limit = options.time_limit
    interrupt = Interrupt(None if limit is None else time.monotonic() + limit / 1000)
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
