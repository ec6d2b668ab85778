"""The command `fzn-turbo`: argv in, MiniZinc's text protocol out, an exit code.

Nothing else knows sys, signals or the process's age. On SIGINT, SIGTERM or the time limit the search is asked to stop,
the best solution is printed, and the exit code is 0; so it is, quietly, when nobody reads stdout any more. An error is
one line on stderr, `=====ERROR=====` on stdout and exit code 1; the best solution that was found before is printed all
the same. Heavy modules are imported only when a model is to be solved, and after the signals are caught.

In the end the process leaves without taking anything down (process/leaving.py).
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from turbo_fzn import memory
from turbo_fzn.collector import without_collector
from turbo_fzn.messages import complain, explain, set_up_logging
from turbo_fzn.options import Options, parse_arguments
from turbo_fzn.process import streams, worker
from turbo_fzn.process.age import process_start
from turbo_fzn.process.interrupt import Interrupt, Interrupted, deadline
from turbo_fzn.process.leaving import leave_process
from turbo_fzn.process.stopping import LastCall, Stopped, catch_signals, ignore_signals, let_signals_in
from turbo_fzn.ranks.world import World, is_launched, join
from turbo_fzn.read.files import refuse_overwriting
from turbo_fzn.run import output

if TYPE_CHECKING:
    from turbo_fzn.run.outcome import Finished, Solution
    from turbo_fzn.run.prepared import Prepared
    from turbo_fzn.run.search import Search

STOP_MARGIN_SECONDS = 0.1  # how long before the time limit to stop, so that the last solution is out in time
LONG_READ_BYTES = 500_000  # of a model that takes the tenths of a second to read in which a GPU wakes


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command; returns the exit code. As a process of its own (`argv` None) it ends here."""
    if argv is None:
        leave_process(run(sys.argv[1:], leave=True))
    return run(argv, leave=False)


def run(argv: Sequence[str], leave: bool) -> int:
    started = process_start()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # no BLAS is used here, and its idle threads cost 0.1 s of CPU
    streams.open_missing()
    if leave:
        streams.keep_libraries_out()
        streams.complain_in_utf8()
    try:
        everybody = join() if leave else None
        if everybody is not None and everybody.rank:
            return serve_rank(everybody)
        return obey(argv, started, leave)
    except BrokenPipeError:
        streams.forget_stdout()
        code = 0
    except BaseException as error:
        message = explain(error)
        if message is None:
            raise
        code = complain(message, argv, error)
        if leave:
            leave_process(code)  # here, where the error still holds what has failed: nothing of it is taken down
    return code


def serve_rank(everybody: World) -> int:
    """This process is a rank whose work rank 0 gives. A stop is rank 0's to obey: it gets it too."""
    ignore_signals()
    let_signals_in()
    set_up_logging("-v" in sys.argv[1:])
    from turbo_fzn.ranks.serve import serve
    from turbo_fzn.run.engines import team_of

    serve(everybody, team_of)
    return 0


def obey(argv: Sequence[str], started: float, leave: bool) -> int:
    try:
        command = parse_arguments(argv)
        for note in command.notes:
            print(f"fzn-turbo: {note}", file=sys.stderr)
        if command.action:
            let_signals_in()
            from turbo_fzn.actions import act

            return act(command)
        return solve(command.options, started, leave)
    finally:
        sys.stdout.flush()  # what cannot be written shows here, and not when Python ends


def solve(options: Options, started: float, leave: bool) -> int:
    for flag, path in (("--report", options.report), ("--dump-tnf", options.dump_tnf)):
        refuse_overwriting(options.file, flag, path)
    end = deadline(options.time_limit, started, STOP_MARGIN_SECONDS)
    interrupt = Stopped(end) if options.dump_tnf is None else Interrupt(end)  # a file needs no reader
    memory.require(memory.LIBRARIES_BYTES)
    try:
        if leave and options.arch == "auto" and not is_launched():
            work_behind()
        last_call = LastCall() if leave else None
        catch_signals(interrupt, lambda: output.unknown_answer(options), last_call)
        let_signals_in()
        set_up_logging(options.verbose)
        if (options.time_limit or 0) < 0:  # MiniZinc 2.6 passes what flattening has left of its limit
            raise Interrupted
        if options.arch != "cpu" and not is_launched():  # a rank wakes its share of the GPUs
            wake_gpu(options)
        with without_collector(keep=True):
            prepared = prepare_file(options, interrupt)
        prepared.started = started
        if options.dump_tnf is not None:
            interrupt.settle()
            return dump(prepared, options.dump_tnf)
        return print_answers(prepared, options, interrupt, last_call)
    except Interrupted:
        output.style_of(options.file)(sys.stdout, options).unknown()
        return 0


def work_behind() -> None:
    """In a process for which nobody waits at its end, which a GPU makes late."""
    from turbo_fzn.engine import wake

    if wake.absence() is None:
        worker.move_to_child()


def wake_gpu(options: Options) -> None:
    """At once where the CPU cannot be first: it is not to search, or the model takes long to read."""
    if options.arch == "gpu" or size_of(options.file) >= LONG_READ_BYTES:
        from turbo_fzn.engine import wake

        wake.begin(options.gpus)


def size_of(path: str) -> int:
    """In bytes; 0 of what is no file."""
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def prepare_file(options: Options, interrupt: Interrupt) -> Prepared:
    from turbo_fzn.read.files import suffix_of
    from turbo_fzn.run.policy import check_names
    from turbo_fzn.run.prepare import log, prepare, set_precision, settle_root

    check_names(options)
    if suffix_of(options.file) == ".tnf":
        from turbo_fzn.run.prepared import Prepared
        from turbo_fzn.tnf.text import read

        tnf = read(options.file)
        set_precision(tnf, options.float_precision)
        return settle_root(Prepared(tnf), interrupt)
    from turbo_fzn.read.languages import parse_file

    start = time.monotonic()
    model = parse_file(options.file)
    seconds = time.monotonic() - start
    sizes = len(model.variables), len(model.constraints), len(model.text) / 1e6
    log.info("parse: %.2f s, %d variables, %d constraints, %.1f MB", seconds, *sizes)
    prepared = prepare(model, options, interrupt)
    prepared.times["parseTime"] = seconds
    return prepared


def dump(prepared: Prepared, path: str) -> int:
    from turbo_fzn.tnf.text import write_file

    write_file(prepared.tnf, path)
    return 0


class Telling:
    """What a search hands out, on its way to stdout and into the report; also as stopping.Answering."""

    def __init__(self, answers: output.MiniZincStyle, search: Search, note: Callable[[Solution | Finished], object]):
        self.answers, self.search, self.note = answers, search, note
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
            finished = self.search.so_far(self.n_told, self.objective)
        except Exception:  # the engine was in the midst of something: there are no statistics
            self.answers.fail()
            return
        self.answers.end(finished)
        self.note(finished)


def print_answers(prepared: Prepared, options: Options, interrupt: Interrupt, last_call: LastCall | None) -> int:
    """With a `last_call` the process ends after the last line: a GPU context takes 0.1 s to be taken down in order."""
    from turbo_fzn.report.recorder import recorder
    from turbo_fzn.run.outcome import Finished
    from turbo_fzn.run.search import Search

    answers = output.style_of(options.file, prepared.model)(sys.stdout, options, prepared.model)
    search = Search(prepared, options, interrupt)
    ending = last_call or LastCall()
    try:
        note = recorder(options, search)
        telling = Telling(answers, search, note)
        ending.answering = None if is_launched() else telling  # of several ranks, all come to an end together
        for event in search.events():
            with ending.whole():
                if not isinstance(event, Finished):
                    telling.add(event)
                    continue
                answers.end(event)
                ending.is_told = True
                note(event)
                if not event.complete and interrupt.is_late:
                    advise(prepared, options)
        if last_call is not None:
            leave_process()
    except BaseException as error:
        with ending.whole():
            ending.is_told = True
            if answers.fail():
                error.answered = True  # type: ignore[attr-defined]
        raise
    finally:
        if last_call is None:
            search.close()
    return 0


def advise(prepared: Prepared, options: Options) -> None:
    """A line on stderr, where another search may do more within the same time."""
    from turbo_fzn.run.policy import advice

    words = advice(prepared.tnf, options)
    if words:
        print(f"fzn-turbo: {words}", file=sys.stderr, flush=True)
