"""A run of the command: prints its events to stdout, passes them to the report, and gives the answer for a last
call."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from turbo_fzn.command.messages import log
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.process.leaving import leave_process
from turbo_fzn.process.stopping import LastCall
from turbo_fzn.ranks.world import is_launched
from turbo_fzn.report import listener
from turbo_fzn.run.answer.outcome import Finished, Sample, SearchEvent, Solution
from turbo_fzn.run.answer.output import MiniZincStyle
from turbo_fzn.run.answer.styles import style_of
from turbo_fzn.run.driver import Run
from turbo_fzn.run.policy import advice
from turbo_fzn.run.prepared import Prepared

if TYPE_CHECKING:  # imported where reasons are wanted
    from turbo_fzn.explain.explainer import Explainer


class Telling:
    """Prints the events of a search, and passes each to `note`; passes the answer so far to stopping.LastCall."""

    def __init__(self, answers: MiniZincStyle, run: Run, note: Callable[[SearchEvent], object]):
        self.answers, self.run, self.note = answers, run, note
        self.n_told = 0
        self.objective: float | None = None
        self.finished: Finished | None = None  # the end of the search, while its reasons are searched for
        self.explainer: Explainer | None = None

    def add(self, solution: Solution) -> None:
        if not self.run.options.count:
            self.answers.add(solution)
        self.n_told, self.objective = self.n_told + 1, solution.objective
        self.note(solution)

    def has_solution(self) -> bool:
        return self.n_told > 0 or self.finished is not None

    def look_why(self, finished: Finished, options: Options, interrupt: Interrupt) -> None:
        """Searches for the reasons why there is no solution; a last call during this search prints the answer so
        far."""
        from turbo_fzn.explain.explainer import Explainer

        self.finished = finished
        model = self.run.prepared.model if self.run.prepared is not None else None
        if model is None:
            log().warning("--explain: a model in ternary normal form has no constraints with names")
            return
        self.explainer = Explainer(model, options, interrupt, finished.seconds)
        core = self.explainer.run()
        if not all(one.place for one in core.constraints):
            log().warning("--explain: with --keep-paths MiniZinc says where a constraint stands in the model")

    def end(self, finished: Finished) -> None:
        if self.explainer is not None:
            self.answers.explain(self.explainer.core)
        if self.run.options.count and not self.run.options.statistics:
            self.answers.print_statistics({"solutions": finished.n_solutions})
        self.answers.end(finished)

    def tell(self) -> None:
        try:
            finished = self.finished or self.run.so_far(self.n_told, self.objective)
        except Exception:  # the engine was interrupted within a step: no statistics
            self.answers.fail()
            return
        self.end(finished)
        self.note(finished)


def dump_or_answer(
    run: Run, prepared: Prepared, options: Options, interrupt: Interrupt, last_call: LastCall | None
) -> None:
    """Writes the TNF, or solves and prints the answer. With a `last_call` the process ends after the last line of the
    answer, since freeing a GPU context takes 0.1 s."""
    if options.dump_tnf is not None:
        interrupt.settle()
        run.dump(prepared, options.dump_tnf)
        return
    answer(run, prepared, options, interrupt, last_call or LastCall())
    if last_call is not None:
        leave_process()


def answer(run: Run, prepared: Prepared, options: Options, interrupt: Interrupt, ending: LastCall) -> None:
    """Prints the answers, and the end. Of an error, which is raised, `answered` says that the end is printed."""
    answers = style_of(options, prepared.model)(sys.stdout, options, prepared.model)
    try:
        telling = Telling(answers, run, listener(options, prepared.tnf.sense))
        ending.answering = None if is_launched() else telling  # several ranks end together
        for event in run.events():
            if options.explain and isinstance(event, Finished) and event.status == "UNSATISFIABLE":
                telling.look_why(event, options, interrupt)
            with ending.whole():
                if isinstance(event, Solution):
                    telling.add(event)
                elif isinstance(event, Finished):
                    telling.end(event)
                    ending.is_told = True
                    log().info("end: %s, solutions: %d", event.status, event.n_solutions)
                    telling.note(event)
                    if not event.complete and interrupt.is_late:
                        advise(prepared, options)
                        answers.flush_warnings()
                elif isinstance(event, Sample):
                    answers.look(event)
                    telling.note(event)
        run.conclude()
    except BaseException as error:
        with ending.whole():
            ending.is_told = True
            if answers.fail():
                error.answered = True  # type: ignore[attr-defined]
        raise


def advise(prepared: Prepared, options: Options) -> None:
    """Prints a line of advice to stderr, if another search may do more within the time limit."""
    words = advice(prepared.tnf, options)
    if words:
        log().warning(words)
