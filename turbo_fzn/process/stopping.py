"""How the command is told to stop, and how its process ends then.

A signal or the time limit is a request to the `Interrupt` of the run, made by a signal handler. The handler has the
engine and the relaxation leave the processors at once. The search then has LAST_CALL_SECONDS to check what has arrived
and to hand it out. What takes longer is given up: the handler comes again, prints the best solution that was checked,
and the process leaves from there. While the model is prepared there is no answer that could be lost, and the process
leaves at the first request.

Two things must not be cut by that, so they are done `whole`: a solution that is being printed, and the end of the
answer. A last call that comes meanwhile is obeyed behind them. Who does not read stdout keeps the process no longer
than streams.py says.
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

LAST_CALL_SECONDS = 0.15  # less than the 0.2 s that MiniZinc leaves between SIGTERM and SIGKILL
FIRST_SOLUTION_SECONDS = 0.12, 1.0  # of processor and of wall time, where not one is checked yet
AGAIN_SECONDS = 0.02
FIRM_SECONDS = 1.0  # a signal so long after the first one does not wait for anything
LONGEST_TIMER_SECONDS = 1e9
TURN_SECONDS = 0.0005  # that other threads may keep the interpreter, once a stop was asked for


class Stopped(Interrupt):
    """An interrupt also when nobody reads stdout any more: whoever wanted the answer has left."""

    def __init__(self, deadline: float | None):
        super().__init__(deadline)
        self.stdout = select.poll()
        with contextlib.suppress(OSError, ValueError):  # it may be no file
            self.stdout.register(sys.stdout.fileno(), 0)  # no event but an error or a hang-up

    def __bool__(self) -> bool:
        return super().__bool__() or bool(self.stdout.poll(0))


class _Answering(Protocol):
    """What there is to be told at the last call."""

    def has_solution(self) -> bool:
        """Whether one is checked."""
        ...

    def tell(self) -> None:
        """Prints the end of the answer as things stand. Called by a signal handler, between any two steps."""
        ...


class LastCall:
    """Ends the process with what is known, once the search has had its time; `answering` is None before it begins."""

    def __init__(self) -> None:
        self.answering: _Answering | None = None
        self.asked: float | None = None  # when the stop was asked for, on the clock of time.monotonic
        self.worked = 0.0  # processor seconds of the main thread until then
        self.is_whole = False  # what the main thread does must be done to its end
        self.is_due = False
        self.is_told = False  # the end of the answer is printed

    def ask(self) -> None:
        self.asked, self.worked = time.monotonic(), time.thread_time()
        signal.setitimer(signal.ITIMER_REAL, LAST_CALL_SECONDS)

    def come(self) -> None:
        """The time is over: leaves the process, unless something is to be done first."""
        if self.is_told or self.answering is None:
            return
        if self.is_whole:
            self.is_due = True
        elif not self.answering.has_solution() and self._may_find_one():
            signal.setitimer(signal.ITIMER_REAL, AGAIN_SECONDS)
        else:
            self._leave(self.answering)

    def _may_find_one(self) -> bool:
        assert self.asked is not None, "a stop was asked for"
        processor, wall = FIRST_SOLUTION_SECONDS
        return time.thread_time() - self.worked < processor and time.monotonic() - self.asked < wall

    def _leave(self, answering: _Answering) -> NoReturn:
        self.is_told = True
        try:
            answering.tell()
        finally:
            leave_process()

    @contextlib.contextmanager
    def whole(self) -> Iterator[None]:
        """No last call comes between what is done here. `is_told` may be set in it."""
        self.is_whole = True
        try:
            yield
        finally:
            self.is_whole = False
        if self.is_due and not self.is_told and self.answering is not None:
            self._leave(self.answering)


def catch_signals(interrupt: Interrupt, unknown: Callable[[], str], last_call: LastCall | None) -> None:
    """`unknown`: what stdout is told where the process leaves before there is an answer; `last_call` is None where the
    process is not ours to end."""

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
        elif time.monotonic() - last_call.asked > FIRM_SECONDS:
            leave_process()

    for number in (*worker.HANDED_ON, signal.SIGALRM):
        if signal.getsignal(number) != signal.SIG_IGN or number != signal.SIGHUP:  # which nohup ignores
            signal.signal(number, handle)
    _set_alarm(interrupt)


def stop(interrupt: Interrupt, last_call: LastCall) -> None:
    """In a signal handler: all that is at work leaves the processors and the interpreter to the main thread."""
    sys.setswitchinterval(TURN_SECONDS)
    interrupt.request()
    last_call.ask()
    streams.hurry()


def _set_alarm(interrupt: Interrupt) -> None:
    """For the end of the time, as things stand; the search may begin before, and change it."""
    if interrupt.end is not None:
        seconds = interrupt.end - time.monotonic()
        signal.setitimer(signal.ITIMER_REAL, min(max(seconds, 0.001), LONGEST_TIMER_SECONDS))


def ignore_signals() -> None:
    """Those of a stop, which somebody else obeys."""
    for number in worker.HANDED_ON:
        signal.signal(number, signal.SIG_IGN)


def let_signals_in() -> None:
    """Those that __main__.py holds back."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, worker.HANDED_ON)


def _leave_unknown(unknown: Callable[[], str]) -> NoReturn:
    """Ends the process where it stands, in the midst of preparation.

    An exception would be slower by the time to tear everything down, and would have to find its way out of imports
    and callbacks, some of which wrap it or swallow it.
    """
    text = unknown()
    with contextlib.suppress(OSError):
        os.write(sys.stdout.fileno(), text.encode())
    leave_process()
