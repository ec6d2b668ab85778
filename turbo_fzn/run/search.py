"""The search of a prepared model: drives an engine, has its solutions checked, and yields the answers.

`Search.events` yields a `Solution` for each answer to print, a `Sample` at intervals if they are asked for, then one
`Finished`. Every solution is checked against the original FlatZinc before it is yielded (judge.py). While the host
prints, the ring fills, and only the best of the improving solutions that arrive together is checked. If several optimal
solutions are wanted, a second search enumerates them, with the objective fixed.
"""

from __future__ import annotations

import logging
import math
import time
from collections import Counter
from collections.abc import Callable, Generator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from turbo_fzn.base import floats, progress
from turbo_fzn.base.errors import EngineError, InternalError
from turbo_fzn.engine.contract import Engine, Found, method_statistics
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt, Interrupted
from turbo_fzn.ranks.job import Job
from turbo_fzn.run.answer import statistics
from turbo_fzn.run.answer.live import Live
from turbo_fzn.run.answer.outcome import Finished, SearchEvent, Solution
from turbo_fzn.run.answer.selection import Choice, Distinct, Everything, Improvements, output_determines_all
from turbo_fzn.run.engines import begin_bounding, decide_job, make_engine, warn_of_memory
from turbo_fzn.run.judge import Judge
from turbo_fzn.run.prepare import log, log_phase, settle_root
from turbo_fzn.run.prepared import Prepared
from turbo_fzn.run.projection import output_first
from turbo_fzn.run.refinement import refine
from turbo_fzn.run.tuning import TUNING
from turbo_fzn.tnf.language import TNF

if TYPE_CHECKING:
    from turbo_fzn.proof.proof import Proof
    from turbo_fzn.run.bounding import Bounding
    from turbo_fzn.run.profiler import Profiler
    from turbo_fzn.run.unbounded import Horizon

Course = Generator[SearchEvent, None, bool]  # returns whether the whole space was searched


class _Patience:
    """The time for which an engine may go on after a stop."""

    def __init__(self) -> None:
        self.end: float | None = None

    def is_left(self) -> bool:
        now = time.monotonic()
        self.end = now + TUNING.stop_seconds if self.end is None else self.end
        return now < self.end


class Search:
    """One or two engines, one after the other, and their results so far. Searches the model in its own order of
    variables (arrangement.py). `close` closes the engine after the last answer: freeing its resources must neither
    delay nor lose an answer. `proof`: that of the search, if one is wanted."""

    def __init__(self, prepared: Prepared, options: Options, interrupt: Interrupt, sampled: float | None = None):
        self.prepared, self.options, self.interrupt, self.sampled = prepared, options, interrupt, sampled
        interrupt.halt = self.halt
        self.engine: Engine | None = None
        self.start = time.monotonic()
        self.counted: dict[str, int] = {}  # the counts of closed engines
        self.shape: dict[str, Any] = {}
        self.bound: int | None = None  # the proved bound of the objective
        self.n_solutions = 0
        self.finders: Counter[str] = Counter()  # the number of answers of each engine's methods
        self.last: Found | None = None
        self.best: int | None = None
        self.bounding: Bounding | None = None
        self.proof: Proof | None = None
        self.horizon: Horizon | None = None
        self.meaning = _objective_meaning(prepared.tnf)
        self.all_are_optimal = False  # all further solutions have the best objective
        self.objective_is_fixed = False  # at an arbitrary number, so bounds mean nothing
        self.profiler = connect_profiler(prepared, options)
        if self.profiler is None:  # the tree is not sent, which would need kernels of its own and one block
            self.options = replace(options, cp_profiler=None)

    def events(self) -> Generator[SearchEvent, None, None]:
        """Yields the events of the search; the last event is a Finished."""
        tnf = self.prepared.tnf
        complete = proved = True
        if tnf.infeasible:
            self.interrupt.settle()
        else:
            self.judge = Judge(self.prepared, self.options)
            if tnf.sense:
                complete = proved = yield from self.optimise(tnf)
                if proved and self.last is not None and self.options.optimal_limit() != 1 and self.meaning is int:
                    complete = yield from self.enumerate_optimal()
            else:
                first = output_first(tnf) if self.options.project is not None else tnf
                complete = yield from self.run(first, self.new_outputs, self.options.solution_limit())
        if self.profiler:
            self.profiler.finish(self.interrupt)
        best, bound = map(self.told, (self.best, self.best if proved else self.bound))
        yield self.finished(complete, self.n_solutions, best, bound)

    def finished(self, complete: bool, n_solutions: int, best: float | None, bound: float | None) -> Finished:
        """The last event, with the statistics."""
        if self.finders:
            self.shape["foundBy"] = statistics.shares(self.finders)
        relaxed = self.bounding.statistics() if self.bounding else {}
        counts = self.prepared, self.counted, self.shape | relaxed, self.start
        final, sense = statistics.final(*counts, n_solutions, best, bound), self.prepared.tnf.sense
        return Finished(complete, n_solutions, final, self.is_unbounded, sense, final["solveTime"])

    def halt(self) -> None:
        """In a signal handler: makes engine and relaxation leave the processors."""
        if self.engine is not None:
            self.engine.halt()
        if self.bounding is not None:
            self.bounding.halt()

    def so_far(self, n_solutions: int, best: float | None) -> Finished:
        """The end of an interrupted search, for a caller that has got `n_solutions` solutions, the last one with the
        objective `best`. May be called in a signal handler, between two steps of the engine's driver."""
        if self.engine is not None and self.options.statistics:
            self.counted = statistics.merge_counts(self.counted, self.engine.statistics())
            self.shape = {"engine": self.engine.name, **self.engine.shape, **self.shape}
        return self.finished(False, n_solutions, best, self.told(self.bound))

    @property
    def is_unbounded(self) -> bool:
        return self.horizon is not None and self.horizon.proved

    def optimise(self, tnf: TNF) -> Course:
        """Yields the improvements. Returns whether the last improvement is proved to be optimal, or the model to have
        no solution."""
        if tnf.has_unbounded_objective:
            from turbo_fzn.run.unbounded import Horizon  # only here: few objectives have no bound

            self.horizon = Horizon(self.judge)
            if self.horizon.is_free:
                self.objective_is_fixed = True
                complete = yield from self.run(self.horizon.fixed(), self.improvements, 0)
                self.objective_is_fixed = False
                if self.is_unbounded or self.n_solutions == 0 or self.interrupt:
                    return complete and self.n_solutions == 0
        complete = yield from self.run(tnf, self.improvements, 0, bounded=True)
        return complete and not self.is_unbounded

    def improvements(self, engine: Engine) -> Choice:
        """Selects improvements on the best solution that holds, ignoring undecided ones. Of improvements that arrive
        together only the best is selected, unless runs must be reproducible."""
        steps = Improvements(self.prepared.tnf.sense, self.decision.repeatable)
        steps.best = self.best
        return steps

    def new_outputs(self, engine: Engine) -> Choice:
        once = not engine.repeats and output_determines_all(self.prepared.tnf)
        return Everything() if once else Distinct(self.judge.places, self.judge.kind)

    def enumerate_optimal(self) -> Course:
        """Yields the other solutions with the objective of the last solution, which is the best."""
        assert self.last is not None and self.best is not None
        limit = self.options.optimal_limit()
        tnf = self.prepared.tnf
        lower, upper = tnf.lower.copy(), tnf.upper.copy()
        lower[tnf.objective] = upper[tnf.objective] = self.best
        fixed = replace(tnf, lower=lower, upper=upper, objective=-1, sense=0, warm_start=None, stated=None)
        try:
            settle_root(replace(self.prepared, tnf=fixed, times={}), self.interrupt)
        except Interrupted:
            return False
        if fixed.infeasible:
            raise InternalError("the best solution has vanished")
        self.all_are_optimal = True
        choice = Distinct(self.judge.places, self.judge.kind)
        choice.worth_printing([self.last])
        limit = limit and self.n_solutions + limit - 1
        complete = yield from self.run(fixed, lambda engine: choice, limit)
        return complete or self.n_solutions >= limit > 0

    def run(self, tnf: TNF, make_choice: Callable[[Engine], Choice], limit: int, bounded: bool = False) -> Course:
        """Yields the answers of an engine, until there are `limit` in total (0: no limit). Returns whether the whole
        space was searched. Undecided boxes of real variables are searched by a further engine with smaller boxes.
        `bounded`: a relaxation may help."""
        self.decision = decide_job(Job(tnf, self.judge.exports, self.options, limit))
        if bounded:
            self.bounding = begin_bounding(self.judge, self.decision, self.proof)
            tnf = self.bounding.enclosed(tnf, lambda: bool(self.interrupt)) if self.bounding else tnf
        complete = yield from self.run_once(tnf, make_choice, limit)
        while self.judge.undecided and not self.is_proved() and not self.interrupt and not self.has_enough(limit):
            self.judge.undecided = 0
            finer = refine(tnf, self.best)
            if finer is None:
                return False
            tnf = finer
            try:
                settle_root(replace(self.prepared, tnf=tnf, times={}), self.interrupt)
            except Interrupted:
                return False
            except EngineError as error:  # the refined model has numbers beyond a store: no result
                log.info("no search of smaller boxes: %s", error)
                return False
            complete = tnf.infeasible or (yield from self.run_once(tnf, make_choice, limit))
        return complete and (not self.judge.undecided or self.is_proved())

    def run_once(self, tnf: TNF, make_choice: Callable[[Engine], Choice], limit: int) -> Course:
        """Yields the answers of one engine, as `run`."""
        self.close_engine()
        start = time.monotonic()
        with progress.stage("engine"):
            self.engine = engine = make_engine(Job(tnf, self.judge.exports, self.options, limit), self.decision)
        if "engineTime" not in self.prepared.times:
            self.prepared.times["engineTime"] = time.monotonic() - start
            self.start = time.monotonic()
        log_phase("engine", time.monotonic() - start, tnf)
        sense = 0 if self.objective_is_fixed else tnf.sense
        self.live = Live(self.start, sense, self.sampled, self.options.verbose, self.meaning)
        self.interrupt.settle()
        complete = (yield from self.drive(engine, make_choice(engine), limit)) or self.is_proved()
        if not (complete or self.interrupt or self.has_enough(limit)):
            warn_of_memory(tnf, self.options, self.decision)
        if self.has_enough(limit) or not complete:
            return False
        self.shape["provedBy"] = engine.prover or "relaxation"
        return True

    def close(self) -> None:
        """Frees the resources of the engine and the relaxation, and lets go of this object, which the interrupt of a
        longer life would keep: the memory of an engine would wait for the collector of cycles."""
        self.interrupt.halt = None
        self.close_engine()
        if self.bounding is not None:
            self.bounding.close()

    def close_engine(self) -> None:
        if self.engine is not None:
            self.engine.close()

    def drive(self, engine: Engine, choice: Choice, limit: int) -> Course:
        """Yields the answers until the engine ends. Returns whether it has searched the whole space."""
        if self.bounding and not self.all_are_optimal:
            self.bounding.pace(engine)
        engine.start()
        if self.bounding and not self.all_are_optimal:
            self.bounding.start()
        if not self.shape and self.prepared.started is not None:
            self.shape["firstNodeTime"] = time.monotonic() - self.prepared.started
        complete = yield from self.answers(engine, choice, limit)
        self.counted = statistics.merge_counts(self.counted, engine.statistics())
        self.shape = {**method_statistics(engine.methods()), "engine": engine.name, **engine.shape, **self.shape}
        self.note_bound(engine)
        if self.profiler:
            self.drain_trace(engine)
        return complete

    def answers(self, engine: Engine, choice: Choice, limit: int) -> Course:
        """Yields the answers while the engine is running, and returns as `drive`. An engine that does not end soon
        after a stop is abandoned."""
        arrived: list[Found] = []
        failure: EngineError | None = None
        patience, hurry, all_told = _Patience(), _Patience(), True
        ready = time.monotonic() + TUNING.ready_seconds
        while True:
            try:
                running, complete = engine.running, engine.complete  # before the poll, so that no solution is missed
            except EngineError as error:  # raised after the solutions found before are yielded
                running, complete, failure = False, False, error
            arrived += engine.poll()
            if self.bounding and not self.all_are_optimal:
                arrived += self.bounding.exchange(engine, self.best, arrived)
            if self.profiler:
                self.profiler.pump(engine)
            if running and (complete or self.is_over(engine, arrived, limit)):
                engine.stop()
                if patience.is_left():  # the engine ends soon; then only the best of the solutions needs a check
                    time.sleep(TUNING.poll_seconds)
                    continue
                running = False
            if running:
                yield from self.live.samples(engine)
                self.live.look(engine, self.n_solutions)
                if time.monotonic() > ready:
                    self.judge.make_ready()
                    ready = math.inf
            arrived, answers = [], choice.worth_printing(arrived)
            wanted = answers[: limit - self.n_solutions] if limit else answers
            all_told = (yield from self.tell(wanted, engine, hurry)) and all_told
            if not running:
                break
            time.sleep(TUNING.poll_seconds)
        if failure is not None:
            raise failure
        return complete and all_told

    def is_over(self, engine: Engine, arrived: list[Found], limit: int) -> bool:
        """Whether the engine can be stopped before it has searched the whole space."""
        done = bool(self.interrupt) or self.has_enough(limit) or self.is_proved()
        return done or self.walks_on(engine, arrived) or _engine_is_misled(self.prepared.tnf, self.judge)

    def tell(self, answers: list[Found], engine: Engine, patience: _Patience) -> Generator[Solution, None, bool]:
        """Yields the answers that hold. After a stop there may be too many to check in time: then only the best
        improvement is yielded, and as many other solutions as the time allows. Returns whether all were checked."""
        improving = self.prepared.tnf.sense != 0 and not self.all_are_optimal
        while answers:
            if improving and self.interrupt:
                yield from self.tell_best(answers, engine)
                return True
            batch, answers = self.judge.split(answers)
            for place, found in enumerate(self.judge.check(batch), 1):
                yield from self.answer(found, engine, place < len(batch))
                if place < len(batch) and self.interrupt and not improving and not patience.is_left():
                    return False
            if self.interrupt and not improving and not patience.is_left():
                return not answers
        return True

    def tell_best(self, improvements: list[Found], engine: Engine) -> Generator[Solution, None, None]:
        """Yields the best improvement that holds: the last improvement unless boxes are undecided."""
        for found in reversed(improvements):
            for held in self.judge.check([found]):
                yield from self.answer(held, engine)
                return

    def told(self, objective: int | None) -> float | None:
        """The objective's value from the search's number."""
        return None if objective is None else self.meaning(objective)

    def has_enough(self, limit: int) -> bool:
        return 0 < limit <= self.n_solutions

    def walks_on(self, engine: Engine, arrived: list[Found]) -> bool:
        """Whether the objective is proved to be unbounded, or seems to be."""
        if self.horizon is None:
            return False
        self.note_bound(engine)
        self.horizon.count(len(arrived) if self.bound is None else 0)
        return self.horizon.is_over

    def is_proved(self) -> bool:
        """Whether the relaxation has proved that no solution is better than the best solution."""
        return self.bounding is not None and not self.all_are_optimal and self.bounding.proves(self.best)

    def drain_trace(self, engine: Engine) -> None:
        """Sends the last records of an engine that has ended, unless the profiler is too slow."""
        assert self.profiler is not None
        while self.profiler.pump(engine) and not self.interrupt:
            time.sleep(TUNING.poll_seconds)
        self.profiler.next_engine()

    def note_bound(self, engine: Engine) -> None:
        """Records the bound that the engine has proved by now."""
        if self.prepared.tnf.sense and not (self.all_are_optimal or self.objective_is_fixed):
            self.bound = statistics.finite(self.prepared.tnf.sense * engine.bound)

    def answer(self, found: Found, engine: Engine, is_followed: bool = False) -> Generator[Solution, None, None]:
        """Counts, records and yields a solution; logs it after the caller has it. `is_followed`: another checked
        solution follows."""
        self.n_solutions += 1
        self.finders[found.finder] += 1
        self.live.note(found)
        so_far = None
        self.last = self.last if self.all_are_optimal else found
        if self.prepared.tnf.sense and not self.all_are_optimal:
            self.best, self.shape["bestTime"] = found.objective, time.monotonic() - self.start
        if self.best is not None and (self.options.statistics or log.isEnabledFor(logging.INFO)):
            self.note_bound(engine)
        bound = self.best if self.all_are_optimal else self.bound
        best, told = map(self.told, (self.best, bound))
        if best is not None and self.options.statistics:
            counted = statistics.merge_counts(self.counted, engine.statistics())
            so_far = statistics.progress(counted, self.start, best, told)
        seconds = time.monotonic() - self.start
        outputs = self.judge.outputs(found)
        yield Solution(outputs, best, found.block, found.method, so_far, seconds, is_followed)
        if log.isEnabledFor(logging.INFO):
            objective = "" if best is None else f" objective {best}{'' if told is None else f' (bound {told})'},"
            what = self.n_solutions, objective, found.finder, found.block
            log.info("%.2f s: solution %d,%s by %s in block %d", seconds, *what)
        if self.horizon is not None and not self.all_are_optimal:
            self.horizon.see(found)  # after the caller has the solution, since it takes time


def connect_profiler(prepared: Prepared, options: Options) -> Profiler | None:
    """The connected profiler, or None."""
    if not options.cp_profiler:
        return None
    from turbo_fzn.run.profiler import Profiler

    return Profiler.connect(prepared, options)


def _engine_is_misled(tnf: TNF, judge: Judge) -> bool:
    """Whether the engine takes an undecided box for the best solution, and searches only better solutions."""
    return tnf.sense != 0 and judge.undecided > 0


def _objective_meaning(tnf: TNF) -> Callable[[int], float]:
    """The function from the search's number for the objective to its value."""
    return floats.number if tnf.has_real_objective else int
