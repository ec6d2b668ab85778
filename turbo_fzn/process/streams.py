"""Standard streams: stdout carries answers only, in UTF-8; streams may be missing, closed by their reader, or not
read."""

from __future__ import annotations

import io
import os
import select
import stat
import sys
import time

from turbo_fzn.process.tuning import TUNING

AT_ONCE = 4096  # format: bytes that a pipe takes in one piece (PIPE_BUF of Linux)


def open_missing() -> None:
    """Opens the streams that were closed before the process began, which are None in Python. A missing stdout becomes a
    pipe without a reader, so that a search which prints without end is stopped."""
    if sys.stdout is None:
        sys.stdout = open(_pipe_without_reader(), "w")
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")


def _pipe_without_reader() -> int:
    reader, writer = os.pipe()
    os.close(reader)
    lowest = os.dup(writer)  # takes the number of the closed stream, so that no other file gets it
    os.close(writer)
    return lowest


def keep_libraries_out() -> None:
    """Discards output of libraries to stdout below Python (HiGHS 1.16 prints a greeting), since stdout carries answers
    only; `sys.stdout` gets its own file descriptor."""
    shared = sys.stdout.fileno()
    sys.stdout = Outlet(os.dup(shared), "utf-8", "surrogateescape")
    discard(shared)


def complain_in_utf8() -> None:
    """Sets the encoding of stderr to UTF-8, whatever PYTHONIOENCODING is: MiniZinc and the competitions read UTF-8."""
    if isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr.reconfigure(encoding="utf-8", errors="backslashreplace")


class Outlet(io.TextIOBase):
    """A stream to a file descriptor that waits for its reader; after `hurry`, only while the reader takes bytes: if it
    reads nothing for `reader_seconds`, the rest is dropped, as for a reader that has closed the stream.

    It never blocks within the system, so signal handlers can always run; and its count of written bytes is always
    exact."""

    def __init__(self, number: int, encoding: str, errors: str | None):
        self.number, self._encoding, self._errors = number, encoding, errors or "strict"
        self.pending = bytearray()
        self.moved = 0.0  # the time when the reader last took bytes, or when `hurry` was called
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
        """Writes the buffer. Raises OSError where the rest cannot be written, and drops it."""
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
        while not self.room.poll(1000 * TUNING.reader_seconds / 10):
            if self.in_hurry and time.monotonic() - self.moved > TUNING.reader_seconds:
                raise BrokenPipeError("nobody reads stdout")

    def hurry(self) -> None:
        self.in_hurry, self.moved = True, time.monotonic()


def hurry() -> None:
    """Makes stdout stop waiting for a reader that does not read, since the process must end."""
    if isinstance(sys.stdout, Outlet):
        sys.stdout.hurry()


def forget_stdout() -> None:
    """Discards all further output to stdout: its reader has closed it, or the disk is full."""
    discard(sys.stdout.fileno())


def discard(number: int) -> None:
    """Discards all further output to this file descriptor."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)
