"""Calls into the kernels that a signal or a time limit stops: they run in a thread, so that a signal handler of the
main thread can run at any time.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

from turbo_fzn.base import memory
from turbo_fzn.base.errors import EngineError
from turbo_fzn.base.tuning import TUNING as BASE
from turbo_fzn.engine import root
from turbo_fzn.engine.library import float_flags, library
from turbo_fzn.process.interrupt import Interrupt, Interrupted
from turbo_fzn.tnf.language import TNF

T = TypeVar("T")


def call_kernels(tnf: TNF, interrupt: Interrupt, work: Callable[[root.Stop], T], seconds: float = float("inf")) -> T:
    """The result of `work` on a TNF, a call with a stop that is set when interrupted, or after so many seconds. Raises
    Interrupted."""
    library(32 if tnf.is_narrow() else 64, *float_flags(tnf))  # compiled in this thread, where a stop reports it
    stop = root.Stop()
    result = in_thread(lambda: work(stop), interrupt, stop.set, seconds)
    if interrupt:
        raise Interrupted
    return result


def in_thread(
    work: Callable[[], T], interrupt: Interrupt, stop: Callable[[], None], seconds: float = float("inf")
) -> T:
    """Runs `work` in a thread and calls `stop` when interrupted, or after so many seconds. Returns the result of
    `work`, or raises its exception."""
    outcome: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(work())
        except BaseException as error:
            errors.append(error)

    end = time.monotonic() + seconds
    thread = threading.Thread(target=run, daemon=True)
    try:
        thread.start()
    except RuntimeError as error:
        memory.require(BASE.stack_bytes)
        raise EngineError(f"cannot run a thread: {error}") from error
    try:
        while thread.is_alive() and not interrupt and time.monotonic() < end:
            thread.join(0.02)
    finally:
        if thread.is_alive():
            stop()
    thread.join()
    if errors:
        raise errors[0]
    return outcome[0]
