"""The command `fzn-turbo`: argv in, MiniZinc's text protocol out, an exit code.

No other module reads sys.argv and the start time of the process. On SIGINT, SIGTERM or the time limit the search is
asked to stop, the best solution is printed, and the exit code is 0 (process/stopping.py). The exit code is 0 as well,
without a message, when stdout has been closed by its reader. An error is one line on stderr, `=====ERROR=====` on
stdout and exit code 1; the best solution found before is still printed. Heavy modules are imported only to solve a
model, and after the signals are caught. The process ends without freeing anything (process/leaving.py).
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Sequence

from turbo_fzn.base import memory
from turbo_fzn.base.collector import resume, without_collector
from turbo_fzn.base.tuning import TUNING as BASE
from turbo_fzn.command.messages import complain, end_logging_of_run, explain, log, set_up_logging, set_up_logging_of_run
from turbo_fzn.command.tuning import TUNING
from turbo_fzn.options.options import NEED_GPU, Options
from turbo_fzn.options.parsing import parse_arguments
from turbo_fzn.process import footprint, streams, worker
from turbo_fzn.process.age import process_start
from turbo_fzn.process.interrupt import Interrupt, Interrupted, deadline
from turbo_fzn.process.leaving import before_leaving, leave_process
from turbo_fzn.process.stopping import LastCall, Stopped, catch_signals, ignore_signals, let_signals_in
from turbo_fzn.ranks.world import World, is_launched, join
from turbo_fzn.read.files import check_proof_names, forget_proof, model_of_proof, refuse_overwriting, refuse_same
from turbo_fzn.run.answer import output, styles


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command and returns the exit code; without `argv` it runs sys.argv and ends the process."""
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
            leave_process(code)  # here, while the error still refers to the objects in use, so that none is freed
    finally:
        end_logging_of_run()
    return code


def serve_rank(everybody: World) -> int:
    """Runs this process as a rank that gets its work from rank 0. It ignores signals: rank 0 gets them too, and stops
    it."""
    ignore_signals()
    let_signals_in()
    resume()
    set_up_logging("-v" in sys.argv[1:])
    from turbo_fzn.ranks.serve import serve
    from turbo_fzn.run.engines import team_of

    serve(everybody, team_of)
    return 0


def obey(argv: Sequence[str], started: float, leave: bool) -> int:
    try:
        command = parse_arguments(argv)
        if command.action:
            let_signals_in()
            resume()
            from turbo_fzn.command.actions import act

            return act(command)
        refuse_overwriting_files(command.options)
        forget_proof(command.options.proof)
        set_up_logging_of_run(command.options, argv)
        for note in command.notes:
            log().warning(note)
        return solve(command.options, started, leave)
    finally:
        sys.stdout.flush()  # a failure to write is reported here, not when Python ends


def solve(options: Options, started: float, leave: bool) -> int:
    end = deadline(options.time_limit, started, TUNING.stop_margin_seconds)
    interrupt = Stopped(end) if options.dump_tnf is None else Interrupt(end)  # a dump needs no reader of stdout
    memory.require(BASE.libraries_bytes)
    unknown = styles.unknown_answer(options)
    try:
        if leave and options.arch == "auto" and not is_launched():
            work_behind()
        last_call = LastCall() if leave else None
        catch_signals(interrupt, unknown, last_call)
        let_signals_in()
        if (options.time_limit or 0) < 0:  # MiniZinc 2.6 passes the rest of its limit after flattening
            raise Interrupted
        with footprint.watched(options.memory_bytes(), lambda: end_of_memory(options)):
            if options.may_use_gpu() and not is_launched():  # a rank wakes its share of the GPUs
                wake_gpu(options)
            drive(options, interrupt, started, last_call)
    except Interrupted:
        interrupt.settle()  # the answer is complete: a later signal must not print another answer
        output.write(sys.stdout, unknown())
    return 0


def refuse_overwriting_files(options: Options) -> None:
    """Raises UsageError if a file to be written is the model's file, or another file to be written."""
    written = {"--report": options.report, "--dump-tnf": options.dump_tnf, "--log-file": options.log_file}
    for flag, path in written.items():
        refuse_overwriting(options.file, flag, path)
    check_proof_names(options.file, options.proof)
    proof = options.proof
    refuse_same({**written, "--proof": proof, "the model of --proof": proof and model_of_proof(proof)})


def end_of_memory(options: Options) -> None:
    """Called in another thread: makes the main thread end the run with the answer so far, as at SIGTERM."""
    log().warning("the memory limit of %d MiB is reached: the run ends with what is known", options.memory_limit)
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)


def drive(options: Options, interrupt: Interrupt, started: float, last_call: LastCall | None) -> None:
    """Prepares the model, and searches it. Without a `last_call` the process goes on: all resources are freed."""
    with without_collector(keep=True):  # it would look again and again at modules, too
        from turbo_fzn.command.answering import dump_or_answer
        from turbo_fzn.run.driver import Run

        begun = Run(options.file, options, interrupt, started)
    if last_call is not None:
        before_leaving(begun.proving.give_up)
    try:
        with begun.proving.guarded():
            with without_collector(keep=True):
                if several := begun.several():
                    from turbo_fzn.command.goals import GoalRun  # only here: few runs have several objectives

                    begun = GoalRun(begun, several)
                prepared = begun.prepare()
            resume()
            dump_or_answer(begun, prepared, options, interrupt, last_call)
    finally:
        if last_call is None:
            begun.close()


def work_behind() -> None:
    """Moves the work to a child process if there is a GPU: ending a process that uses one takes time, and nothing waits
    for the child's end."""
    from turbo_fzn.engine.cuda import wake

    if wake.foreseen_absence() is None:
        worker.move_to_child()


def wake_gpu(options: Options) -> None:
    """Begins to initialise the GPUs at once if the CPU does not search, or if the model takes long to read."""
    if options.arch in NEED_GPU or size_of(options.file) >= TUNING.long_read_bytes:
        from turbo_fzn.engine.cuda import wake

        wake.begin(options.gpus)


def size_of(path: str) -> int:
    """The size of a file in bytes, 0 where there is no such file."""
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
