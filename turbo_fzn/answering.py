"""A run of the command: prints its events to stdout, passes them to the report, and gives the answer for a last
call."""

from __future__ import annotations

import sys
from collections.abc import Callable

from turbo_fzn.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.process.leaving import leave_process
from turbo_fzn.process.stopping import LastCall
from turbo_fzn.ranks.world import is_launched
from turbo_fzn.report.recorder import recorder
from turbo_fzn.run import output
from turbo_fzn.run.driver import Run
from turbo_fzn.run.outcome import Finished, SearchEvent, Solution
from turbo_fzn.run.policy import advice
from turbo_fzn.run.prepared import Prepared
from turbo_fzn.tnf.text import write_file


class Telling:
    """Prints the events of a search, and passes each to `note`; gives the answer so far to stopping.LastCall."""

    def __init__(self, answers: output.MiniZincStyle, run: Run, note: Callable[[SearchEvent], object]):
        self.answers, self.run, self.note = answers, run, note
        self.n_told = 0
        self.objective: float | None = None

    def add(self, solution: Solution) -> None:
        self.answers.add(solution)
        self.n_told, self.objective = self.n_told + 1, solution.objective
        self.note(solution)

    def has_solution(self) -> bool:
        return self.n_told > 0

    def tell(self) -> None:
        try:
            finished = self.run.so_far(self.n_told, self.objective)
        except Exception:  # the engine was interrupted within a step: no statistics
            self.answers.fail()
            return
        self.answers.end(finished)
        self.note(finished)


def dump_or_answer(
    run: Run, prepared: Prepared, options: Options, interrupt: Interrupt, last_call: LastCall | None
) -> None:
    """Writes the TNF, or solves and prints the answer. With a `last_call` the process ends after the last line of the
    answer, since freeing a GPU context takes 0.1 s."""
    if options.dump_tnf is not None:
        interrupt.settle()
        write_file(prepared.tnf, options.dump_tnf)
        return
    answer(run, prepared, options, interrupt, last_call or LastCall())
    if last_call is not None:
        leave_process()


def answer(run: Run, prepared: Prepared, options: Options, interrupt: Interrupt, ending: LastCall) -> None:
    """Prints the answers and the end. An error is raised after that, with its attribute `answered` true if the end is
    printed."""
    answers = output.style_of(options.file, prepared.model)(sys.stdout, options, prepared.model)
    try:
        telling = Telling(answers, run, recorder(options, prepared.tnf.sense))
        ending.answering = None if is_launched() else telling  # several ranks end together
        for event in run.events():
            with ending.whole():
                if isinstance(event, Solution):
                    telling.add(event)
                elif isinstance(event, Finished):
                    answers.end(event)
                    ending.is_told = True
                    telling.note(event)
                    if not event.complete and interrupt.is_late:
                        advise(prepared, options)
                elif not isinstance(event, Prepared):
                    telling.note(event)
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
        print(f"fzn-turbo: {words}", file=sys.stderr, flush=True)
