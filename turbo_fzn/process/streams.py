"""Standard streams: that stdout carries answers alone, in UTF-8; those that are missing, that nobody reads any more, or
whose reader has stopped reading."""

from __future__ import annotations

import io
import os
import select
import stat
import sys
import time

READER_SECONDS = 1.0  # that a reader who takes nothing is waited for, once the process is to end
AT_ONCE = 4096  # bytes that a pipe takes whole where it takes any (PIPE_BUF of Linux)


def open_missing() -> None:
    """A stream that was closed before the process began is None in Python. Nobody reads it, so of stdout the reader
    has left: a search that prints without end must end."""
    if sys.stdout is None:
        sys.stdout = open(_pipe_without_reader(), "w")
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")


def _pipe_without_reader() -> int:
    reader, writer = os.pipe()
    os.close(reader)
    lowest = os.dup(writer)  # the number that the closed stream had, so that no other file gets it
    os.close(writer)
    return lowest


def keep_libraries_out() -> None:
    """Of stdout, which carries answers alone. A library may write there by itself, below Python (HiGHS 1.16 greets):
    that goes nowhere from now on, and `sys.stdout` has a file of its own."""
    shared = sys.stdout.fileno()
    sys.stdout = Outlet(os.dup(shared), "utf-8", "surrogateescape")
    discard(shared)


def complain_in_utf8() -> None:
    """Lets stderr be UTF-8, as stdout is: what MiniZinc and the competitions read, whatever PYTHONIOENCODING says."""
    if isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr.reconfigure(encoding="utf-8", errors="backslashreplace")


class Outlet(io.TextIOBase):
    """A stream to a file descriptor that waits for its reader, but once `hurry` was called only as long as bytes are
    taken: who reads nothing for READER_SECONDS gets no more, and the rest counts as what a reader left who has gone.

    It never blocks within the system, so a signal handler always comes to run; and what it has written it knows at any
    time."""

    def __init__(self, number: int, encoding: str, errors: str | None):
        self.number, self._encoding, self._errors = number, encoding, errors or "strict"
        self.pending = bytearray()
        self.moved = 0.0  # when the reader has last taken something, or the end was asked for
        self.in_hurry = False
        self.room = select.poll()
        self.room.register(number, select.POLLOUT)
        self.at_once = 2**30 if stat.S_ISREG(os.fstat(number).st_mode) else AT_ONCE

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._encoding

    @property
    def errors(self) -> str:  # type: ignore[override]
        return self._errors

    def fileno(self) -> int:
        return self.number

    def isatty(self) -> bool:
        return os.isatty(self.number)

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.pending += text.encode(self._encoding, self._errors)
        return len(text)

    def flush(self) -> None:
        """Raises OSError where the rest cannot be written, of which nothing is kept."""
        try:
            while self.pending:
                self._wait()
                written = os.write(self.number, self.pending[: self.at_once])
                del self.pending[:written]
                self.moved = time.monotonic()
        except OSError:
            self.pending.clear()
            raise

    def _wait(self) -> None:
        while not self.room.poll(1000 * READER_SECONDS / 10):
            if self.in_hurry and time.monotonic() - self.moved > READER_SECONDS:
                raise BrokenPipeError("nobody reads stdout")

    def hurry(self) -> None:
        self.in_hurry, self.moved = True, time.monotonic()


def hurry() -> None:
    """The process is to end: stdout waits no longer for a reader who does not read."""
    if isinstance(sys.stdout, Outlet):
        sys.stdout.hurry()


def forget_stdout() -> None:
    """What is still to be written goes nowhere: the reader has left, or the disk is full."""
    discard(sys.stdout.fileno())


def discard(number: int) -> None:
    """What is written to this file descriptor from now on."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)
