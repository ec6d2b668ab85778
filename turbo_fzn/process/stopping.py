"""Stop requests to the command, and the end of its process after one.

A signal or the time limit makes a request to the `Interrupt` of the run, in a signal handler. The handler makes the
engine and the relaxation leave the processors at once. The search then has `last_call_seconds` to check and print the
solutions that have arrived. If it takes longer, the handler runs again (the last call), prints the best solution that
was checked, and ends the process. While the model is being prepared no answer can be lost, and the process leaves at
the first request.

Two actions must not be interrupted by this, so they are done `whole`: printing a solution, and printing the end of the
answer. A last call during such an action takes effect after it. A reader of stdout that does not read delays the
process no longer than streams.py allows.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import NoReturn, Protocol

from turbo_fzn.process import streams, worker
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.process.leaving import leave_process
from turbo_fzn.process.tuning import TUNING

LONGEST_TIMER_SECONDS = 1e9  # format: setitimer refuses much longer times


class Stopped(Interrupt):
    """An interrupt that is also true when stdout has been closed by its reader: the answer is not wanted any more."""

    def __init__(self, deadline: float | None):
        super().__init__(deadline)
        self.stdout = select.poll()
        with contextlib.suppress(OSError, ValueError):  # stdout may not be a file
            self.stdout.register(sys.stdout.fileno(), 0)  # only errors and hang-ups

    def __bool__(self) -> bool:
        return super().__bool__() or bool(self.stdout.poll(0))


class _Answering(Protocol):
    """The answer so far, for the last call."""

    def has_solution(self) -> bool:
        """Whether a solution is checked."""
        ...

    def tell(self) -> None:
        """Prints the end of the answer so far. Called by a signal handler, between any two steps."""
        ...


class LastCall:
    """Ends the process with the answer so far, once the search has had its time; `answering` is None before the search
    begins."""

    def __init__(self) -> None:
        self.answering: _Answering | None = None
        self.asked: float | None = None  # the time of the stop request, on the clock of time.monotonic
        self.worked = 0.0  # processor seconds of the main thread until then
        self.is_whole = False  # whether the main thread must not be interrupted
        self.is_due = False
        self.is_told = False  # whether the end of the answer is printed

    def ask(self) -> None:
        self.asked, self.worked = time.monotonic(), time.thread_time()
        signal.setitimer(signal.ITIMER_REAL, TUNING.last_call_seconds)

    def come(self) -> None:
        """The last call: leaves the process, unless the main thread must finish an action first."""
        if self.is_told or self.answering is None:
            return
        if self.is_whole:
            self.is_due = True
        elif not self.answering.has_solution() and self._may_find_one():
            signal.setitimer(signal.ITIMER_REAL, TUNING.again_seconds)
        else:
            self._leave(self.answering)

    def _may_find_one(self) -> bool:
        assert self.asked is not None, "a stop was asked for"
        worked, waited = time.thread_time() - self.worked, time.monotonic() - self.asked
        return worked < TUNING.first_solution_seconds and waited < TUNING.first_solution_wait_seconds

    def _leave(self, answering: _Answering) -> NoReturn:
        self.is_told = True
        try:
            answering.tell()
        finally:
            leave_process()

    @contextlib.contextmanager
    def whole(self) -> Iterator[None]:
        """A context in which no last call ends the process; a last call that was due ends it afterwards, unless the
        context has set `is_told`."""
        self.is_whole = True
        try:
            yield
        finally:
            self.is_whole = False
        if self.is_due and not self.is_told and self.answering is not None:
            self._leave(self.answering)


def catch_signals(interrupt: Interrupt, unknown: Callable[[], str], last_call: LastCall | None) -> None:
    """Installs the signal handlers. `unknown` returns the answer to print if the process leaves before the search;
    `last_call` is None where the process must not be ended."""

    def handle(number: int, frame: FrameType | None) -> None:
        is_alarm = number == signal.SIGALRM
        if is_alarm and not interrupt:
            _set_alarm(interrupt)
        elif not interrupt.settled:
            _leave_unknown(unknown)
        elif last_call is None:
            interrupt.request()
        elif last_call.asked is None:
            stop(interrupt, last_call)
        elif is_alarm:
            last_call.come()
        elif time.monotonic() - last_call.asked > TUNING.firm_seconds:
            leave_process()

    for number in (*worker.HANDED_ON, signal.SIGALRM):
        if signal.getsignal(number) != signal.SIG_IGN or number != signal.SIGHUP:  # nohup ignores SIGHUP
            signal.signal(number, handle)
    _set_alarm(interrupt)


def stop(interrupt: Interrupt, last_call: LastCall) -> None:
    """In a signal handler: makes engine and relaxation leave the processors and the interpreter to the main thread."""
    sys.setswitchinterval(TUNING.turn_seconds)
    interrupt.request()
    last_call.ask()
    streams.hurry()


def _set_alarm(interrupt: Interrupt) -> None:
    """Sets the timer to the current end of the time, which changes when the search begins."""
    if interrupt.end is not None:
        seconds = interrupt.end - time.monotonic()
        signal.setitimer(signal.ITIMER_REAL, min(max(seconds, 0.001), LONGEST_TIMER_SECONDS))


def ignore_signals() -> None:
    """Ignores the signals of a stop, in a process that another one stops."""
    for number in worker.HANDED_ON:
        signal.signal(number, signal.SIG_IGN)


def let_signals_in() -> None:
    """Unblocks the signals that __main__.py has blocked."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, worker.HANDED_ON)


def _leave_unknown(unknown: Callable[[], str]) -> NoReturn:
    """Ends the process at once, during preparation.

    An exception would be slower, since all resources are freed on its way, and imports and callbacks might wrap or
    swallow it.
    """
    text = unknown()
    with contextlib.suppress(OSError):
        os.write(sys.stdout.fileno(), text.encode())
    leave_process()
