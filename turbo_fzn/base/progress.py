"""A line of progress on a terminal, while a large model is read or lowered, kernels are compiled, or the search runs.

    with stage("parse", share): …

draws nothing for two seconds, then a line that is updated repeatedly and erased at the end. `share` returns the share
that is done, from 0 to 1, and is called by another thread: it must be cheap and change nothing. A search has no such
share; `tell` draws its line. Nothing is drawn unless `show` was called, which the command does if stderr is a terminal;
MiniZinc, which reads stderr through a pipe, gets no such lines.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple, TextIO

from turbo_fzn.base.errors import one_line
from turbo_fzn.base.tuning import TUNING
from turbo_fzn.process.leaving import before_leaving

if TYPE_CHECKING:
    import logging

CELLS = 30  # format: characters of the bar
ERASE = "\r\033[K"

Share = Callable[[], float]


class Stage(NamedTuple):
    """A stage under way; `began` is on the clock of time.monotonic."""

    name: str
    share: Share | None
    began: float


class Bar:
    """The line on the terminal, which shows the innermost stage."""

    def __init__(self, stream: TextIO):
        self.stream = stream
        self.stages: list[Stage] = []
        self.drawn = False
        self.lock = threading.Lock()

    def enter(self, stage: Stage) -> None:
        self.stages.append(stage)
        if len(self.stages) == 1:
            threading.Thread(target=self._run, args=(stage,), name="bar", daemon=True).start()

    def leave(self) -> None:
        self.stages.pop()
        self.erase()

    def _run(self, outermost: Stage) -> None:
        while outermost in self.stages:
            time.sleep(TUNING.progress_seconds)
            with contextlib.suppress(IndexError):  # the stage has ended
                stage = self.stages[-1]
                if time.monotonic() - stage.began >= TUNING.progress_patience_seconds:
                    self.draw(line(stage, time.monotonic()))

    def draw(self, text: str) -> None:
        with self.lock, contextlib.suppress(OSError, ValueError):  # the terminal is closed
            self.drawn = True
            self.stream.write(ERASE + text[: width(self.stream)])
            self.stream.flush()

    def erase(self) -> None:
        """Erases the line; to be called before anything else is written to the terminal."""
        with self.lock, contextlib.suppress(OSError, ValueError):
            if self.drawn:
                self.stream.write(ERASE)
                self.stream.flush()
            self.drawn = False


def width(stream: TextIO) -> int:
    """The number of characters that fit a line of the terminal."""
    try:
        return (os.get_terminal_size(stream.fileno()).columns or 80) - 1
    except (OSError, ValueError):
        return 79


def line(stage: Stage, now: float) -> str:
    """The text of the line for a stage at the time `now`."""
    text = f"fzn-turbo: {stage.name}, {now - stage.began:.0f} s"
    if stage.share is not None:
        share = min(max(stage.share(), 0.0), 1.0)
        full = round(share * CELLS)
        text += f" [{'#' * full}{'.' * (CELLS - full)}] {share:.0%}"
    return text


_bar: Bar | None = None


def show(stream: TextIO) -> None:
    """Shows stages on this stream from now on."""
    global _bar
    _bar = Bar(stream)
    before_leaving(abandon)


def is_shown() -> bool:
    """Whether there is a terminal to draw on."""
    return _bar is not None


def tell(text: str) -> None:
    """Draws a line that stays until the next line, or until other output."""
    if _bar is not None:
        _bar.draw(f"fzn-turbo: {text}")


def erase() -> None:
    """Erases the line, if any, until it is drawn again."""
    if _bar is not None:
        _bar.erase()


def make_way(record: logging.LogRecord) -> bool:
    """A filter of log records that erases the line before each record."""
    record.msg, record.args = one_line(record.getMessage()), None
    erase()
    return True


def abandon() -> None:
    """Erases the line for good, in a signal handler, which must not wait for the lock."""
    if _bar is not None and _bar.drawn:
        with contextlib.suppress(OSError, ValueError):
            os.write(_bar.stream.fileno(), ERASE.encode())


@contextlib.contextmanager
def stage(name: str, share: Share | None = None) -> Iterator[None]:
    """A context for a stage, which is shown if this is the main thread; other threads work in the background."""
    bar = _bar
    if bar is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    bar.enter(Stage(name, share, time.monotonic()))
    try:
        yield
    finally:
        bar.leave()
