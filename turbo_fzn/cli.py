"""The command `fzn-turbo`: argv in, MiniZinc's text protocol out, an exit code.

Nothing else knows sys, signals or the process's age. On SIGINT, SIGTERM or the time limit the search is asked to stop,
the best solution is printed, and the exit code is 0. An error is one line on stderr, `=====ERROR=====` on stdout and
exit code 1. Heavy modules are imported only when a model is to be solved.
"""

from __future__ import annotations

import os
import sys
import time
from types import FrameType
from typing import TYPE_CHECKING, Sequence

from turbo_fzn.errors import TurboError
from turbo_fzn.options import Command, Options, parse_arguments

if TYPE_CHECKING:
    from turbo_fzn.session import Interrupt, Prepared

STOP_MARGIN_SECONDS = 0.1  # how long before the time limit to stop, so that the last solution is out in time


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command; returns the exit code."""
    started = process_start()
    try:
        command = parse_arguments(sys.argv[1:] if argv is None else argv)
        if command.action:
            return act(command)
        return solve(command.options, started)
    except BrokenPipeError:  # the reader has left
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except TurboError as error:
        return complain(str(error))
    except MemoryError:
        return complain("out of memory")
    except RecursionError:
        return complain("the model is nested too deeply")


def complain(message: str) -> int:
    print(f"fzn-turbo: {message}", file=sys.stderr)
    print("=====ERROR=====", flush=True)
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


def solve(options: Options, started: float) -> int:
    import signal

    from turbo_fzn.session import Interrupt, Interrupted

    set_up_logging(options.verbose)
    limit = options.time_limit
    interrupt = Interrupt(started + max(limit / 1000 - STOP_MARGIN_SECONDS, 0) if limit else None)
    preparing = [True]

    def handle(number: int, frame: FrameType | None) -> None:
        interrupt.request()
        if preparing[0]:
            raise Interrupted

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM):
        signal.signal(number, handle)
    if interrupt.deadline is not None:
        signal.setitimer(signal.ITIMER_REAL, max(interrupt.deadline - time.monotonic(), 0.001))
    try:
        prepared = prepare_file(options, interrupt)
        preparing[0] = False
    except Interrupted:
        preparing[0] = False
        return report_unknown(options)
    if options.dump_tnf is not None:
        return dump(prepared, options.dump_tnf)
    return print_answers(prepared, options, interrupt)


def set_up_logging(verbose: bool) -> None:
    import logging

    logging.basicConfig(stream=sys.stderr, format="fzn-turbo: %(message)s")
    logging.getLogger("turbo_fzn").setLevel(logging.INFO if verbose else logging.WARNING)


def prepare_file(options: Options, interrupt: Interrupt) -> Prepared:
    from turbo_fzn import session

    if options.file.endswith(".tnf"):
        from turbo_fzn.tnf_text import read

        return session.settle_root(session.Prepared(read(options.file)), interrupt)
    from turbo_fzn.parse import parse_file

    start = time.monotonic()
    model = parse_file(options.file)
    seconds = time.monotonic() - start
    prepared = session.prepare(model, options, interrupt)
    prepared.times["parseTime"] = seconds
    return prepared


def dump(prepared: Prepared, path: str) -> int:
    from turbo_fzn.errors import UsageError
    from turbo_fzn.tnf_text import write

    try:
        with open(path, "w", encoding="utf-8") as file:
            write(prepared.tnf, file)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error
    return 0


def print_answers(prepared: Prepared, options: Options, interrupt: Interrupt) -> int:
    from contextlib import closing

    from turbo_fzn import output
    from turbo_fzn.session import Finished, search

    with closing(search(prepared, options, interrupt)) as events:
        for event in events:
            if isinstance(event, Finished):
                status = status_line(prepared, options, event)
                if status:
                    output.write_line(sys.stdout, status)
                if options.statistics:
                    output.write_statistics(sys.stdout, event.statistics)
            else:
                output.write_solution(sys.stdout, event.outputs)
    return 0


def status_line(prepared: Prepared, options: Options, finished: object) -> str:
    """The last line of the answer. One solution that was asked for alone is no claim about the rest."""
    from turbo_fzn import output

    if finished.n_solutions == 0:
        return output.UNSATISFIABLE if finished.complete else output.UNKNOWN
    return output.COMPLETE if finished.complete else ""


def report_unknown(options: Options) -> int:
    from turbo_fzn import output

    output.write_line(sys.stdout, output.UNKNOWN)
    if options.statistics:
        output.write_statistics(sys.stdout, {"nodes": 0, "failures": 0})
    return 0


def act(command: Command) -> int:
    from pathlib import Path

    folder = Path(command.argument) if command.argument else None
    if command.action == "--install-solver":
        from turbo_fzn.install import install_solver

        print(f"wrote {install_solver(folder)}")
    elif command.action == "--uninstall-solver":
        from turbo_fzn.install import uninstall_solver

        removed = uninstall_solver(folder)
        print("\n".join(f"removed {path}" for path in removed) or "nothing to remove")
    elif command.action == "--build-kernels":
        from turbo_fzn.build import fill_cache

        fill_cache()
    else:
        from turbo_fzn.info import describe

        print("\n".join(describe()))
    return 0
