"""The command `fzn-turbo`: argv in, MiniZinc's text protocol out, an exit code.

Nothing else knows sys, signals or the process's age. On SIGINT, SIGTERM or the time limit the search is asked to stop,
the best solution is printed, and the exit code is 0; so it is, quietly, when nobody reads stdout any more. An error is
one line on stderr, `=====ERROR=====` on stdout and exit code 1; the best solution that was found before is printed all
the same. Heavy modules are imported only when a model is to be solved, and after the signals are caught.

What the process holds is never taken down in order: a GPU that is still being made ready, or a compiler, would delay
the end, or the answer. The last line is printed, and the process leaves.
"""

from __future__ import annotations

import contextlib
import io
import os
import select
import sys
import time
from collections.abc import Sequence
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

from turbo_fzn import memory, progress, streams, worker
from turbo_fzn.collector import without_collector
from turbo_fzn.errors import InternalError, TurboError, UnsupportedError
from turbo_fzn.interrupt import Interrupt, Interrupted, deadline
from turbo_fzn.options import Command, Options, parse_arguments
from turbo_fzn.ranks.world import World, is_launched, join
from turbo_fzn.run import output

if TYPE_CHECKING:
    from turbo_fzn.run.judge import Prepared

STOP_MARGIN_SECONDS = 0.1  # how long before the time limit to stop, so that the last solution is out in time
LONG_READ_BYTES = 500_000  # of a model that takes the tenths of a second to read in which a GPU wakes
LONGEST_TIMER_SECONDS = 1e9


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
    import signal

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    let_signals_in()
    set_up_logging("-v" in sys.argv[1:])
    from turbo_fzn.ranks.serve import serve
    from turbo_fzn.run.choose import own_team

    serve(everybody, own_team)
    return 0


def obey(argv: Sequence[str], started: float, leave: bool) -> int:
    try:
        command = parse_arguments(argv)
        for note in command.notes:
            print(f"fzn-turbo: {note}", file=sys.stderr)
        if command.action:
            let_signals_in()
            return act(command)
        return solve(command.options, started, leave)
    finally:
        sys.stdout.flush()  # what cannot be written shows here, and not when Python ends


def explain(error: BaseException) -> str | None:
    """What to tell the user; None for what is no error."""
    if isinstance(error, InternalError):
        return f"internal error: {error}"
    if isinstance(error, TurboError):
        return str(error)
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    if isinstance(error, MemoryError):
        return "out of memory"
    if isinstance(error, RecursionError):
        return "the model is nested too deeply"
    if isinstance(error, OSError):
        return f"{error.filename or 'input or output'}: {error.strerror or error}"
    return unexpected(error) if isinstance(error, Exception) else None


def unexpected(error: Exception) -> str:
    import logging

    logging.getLogger("turbo_fzn").info("an unexpected error", exc_info=error)
    text = " ".join(str(error).split())
    return f"internal error: {type(error).__name__}: {text} (-v shows where)"


def complain(message: str, argv: Sequence[str], error: BaseException) -> int:
    progress.erase()
    try:
        print(f"fzn-turbo: {message}", file=sys.stderr, flush=True)
        if not getattr(error, "answered", False):
            output.write_line(sys.stdout, output.error_line(argv, isinstance(error, UnsupportedError)))
    except OSError:
        streams.forget_stdout()
    return 1


def process_start() -> float:
    """When this process began, on the clock of time.monotonic; now, where the system does not tell."""
    now = time.monotonic()
    try:
        with open("/proc/self/stat", "rb") as file:
            ticks = int(file.read().rpartition(b")")[2].split()[19])
        with open("/proc/uptime", "rb") as file:
            uptime = float(file.read().split()[0])
        age = uptime - ticks / os.sysconf("SC_CLK_TCK")
        return now - age if 0 <= age < 60 else now
    except (OSError, ValueError, IndexError):
        return now


def solve(options: Options, started: float, leave: bool) -> int:
    end = deadline(options.time_limit, started, STOP_MARGIN_SECONDS)
    interrupt = Stopped(end) if options.dump_tnf is None else Interrupt(end)  # a file needs no reader
    memory.require(memory.LIBRARIES_BYTES)
    try:
        if leave and options.arch == "auto" and not is_launched():
            work_behind()
        catch_signals(interrupt, options)
        let_signals_in()
        set_up_logging(options.verbose)
        if options.arch != "cpu" and not is_launched():  # a rank wakes its share of the GPUs
            wake_gpu(options)
        with without_collector(keep=True):
            prepared = prepare_file(options, interrupt)
        prepared.started = started
        if options.dump_tnf is not None:
            interrupt.settle()
            return dump(prepared, options.dump_tnf)
        return print_answers(prepared, options, interrupt, leave)
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


class Stopped(Interrupt):
    """An interrupt also when nobody reads stdout any more: whoever wanted the answer has left."""

    def __init__(self, deadline: float | None):
        super().__init__(deadline)
        self.stdout = select.poll()
        with contextlib.suppress(OSError, ValueError):  # it may be no file
            self.stdout.register(sys.stdout.fileno(), 0)  # no event but an error or a hang-up

    def __bool__(self) -> bool:
        return super().__bool__() or bool(self.stdout.poll(0))


def catch_signals(interrupt: Interrupt, options: Options) -> None:
    import signal

    def handle(number: int, frame: FrameType | None) -> None:
        if number == signal.SIGALRM and not interrupt:
            set_alarm(interrupt)
        elif interrupt.settled:
            interrupt.request()
        else:
            leave_unknown(options)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM):
        signal.signal(number, handle)
    set_alarm(interrupt)


def set_alarm(interrupt: Interrupt) -> None:
    """For the end of the time, as things stand; the search may begin before, and change it."""
    import signal

    if interrupt.end is not None:
        seconds = interrupt.end - time.monotonic()
        signal.setitimer(signal.ITIMER_REAL, min(max(seconds, 0.001), LONGEST_TIMER_SECONDS))


def let_signals_in() -> None:
    """Those that __main__.py holds back."""
    import signal

    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM})


def leave_unknown(options: Options) -> NoReturn:
    """Ends the process where it stands, in the midst of preparation.

    An exception would be slower by the time to tear everything down, and would have to find its way out of imports
    and callbacks, some of which wrap it or swallow it.
    """
    text = io.StringIO()
    output.style_of(options.file)(text, options).unknown()
    with contextlib.suppress(OSError):
        os.write(sys.stdout.fileno(), text.getvalue().encode())
    leave_process()


def leave_process(code: int = 0) -> NoReturn:
    """Ends the process without tearing anything down, but for the files that it would leave behind."""
    for name in ("turbo_fzn.engine.compiler", "turbo_fzn.progress", "turbo_fzn.ranks.world"):
        abandon = getattr(sys.modules.get(name), "abandon", None)
        if abandon is not None:
            abandon()
    worker.tell_parent(code)
    os._exit(code)


def set_up_logging(verbose: bool) -> None:
    import logging

    logging.basicConfig(stream=sys.stderr, format="fzn-turbo: %(message)s")
    logging.getLogger("turbo_fzn").setLevel(logging.INFO if verbose else logging.WARNING)
    if sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        progress.show(sys.stderr)
        for handler in logging.getLogger().handlers:
            handler.addFilter(lambda record: progress.erase() or True)  # type: ignore[func-returns-value]


def prepare_file(options: Options, interrupt: Interrupt) -> Prepared:
    from turbo_fzn.read.files import suffix_of
    from turbo_fzn.run.prepare import log, prepare, set_precision, settle_root

    if suffix_of(options.file) == ".tnf":
        from turbo_fzn.run.judge import Prepared
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
    from turbo_fzn.errors import UsageError
    from turbo_fzn.tnf.text import write

    try:
        with open(path, "w", encoding="utf-8") as file:
            write(prepared.tnf, file)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error
    return 0


def print_answers(prepared: Prepared, options: Options, interrupt: Interrupt, leave: bool) -> int:
    """`leave` ends the process after the last line: taking a GPU context down in order costs another 0.1 s."""
    from turbo_fzn.report.recorder import recorder
    from turbo_fzn.run.search import Finished, Search

    answers = output.style_of(options.file, prepared.model)(sys.stdout, options, prepared.model)
    search = Search(prepared, options, interrupt)
    try:
        note = recorder(options, search)
        for event in search.events():
            if not isinstance(event, Finished):
                answers.add(event)
                note(event)
                continue
            answers.end(event)
            note(event)
            if leave:
                leave_process()
    except BaseException as error:
        if answers.fail():
            error.answered = True  # type: ignore[attr-defined]
        raise
    finally:
        if not leave:
            search.close()
    return 0


def compile_ahead() -> None:
    """So that the first run, which may have a short time limit, finds its kernels compiled. Says on stderr what takes
    so long. Raises EngineError where the CPU engine cannot be made."""
    from turbo_fzn.engine.ahead import fill_cache

    set_up_logging(verbose=True)
    fill_cache()


def act(command: Command) -> int:
    from pathlib import Path

    folder = Path(command.argument) if command.argument else None
    if command.action == "--install-solver":
        from turbo_fzn.install import install_solver

        print(f"wrote {install_solver(folder)}", flush=True)
        compile_ahead()
    elif command.action == "--uninstall-solver":
        from turbo_fzn.install import uninstall_solver

        removed = uninstall_solver(folder)
        print("\n".join(f"removed {path}" for path in removed) or "nothing to remove")
    elif command.action == "--build-kernels":
        compile_ahead()
    elif command.action == "--doctor":
        from turbo_fzn.doctor import examine

        return examine(lambda line: print(line, flush=True))
    else:
        from turbo_fzn.info import describe

        print("\n".join(describe()))
    return 0
