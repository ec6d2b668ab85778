"""Standard streams: that stdout carries answers alone, in UTF-8, and streams that are missing or that nobody reads."""

from __future__ import annotations

import io
import os
import sys


def open_missing() -> None:
    """A stream that was closed before the process began is None in Python. Nobody reads it, so of stdout the reader
    has left: a search that prints without end must end."""
    if sys.stdout is None:
        sys.stdout = open(pipe_without_reader(), "w")
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")


def pipe_without_reader() -> int:
    reader, writer = os.pipe()
    os.close(reader)
    lowest = os.dup(writer)  # the number that the closed stream had, so that no other file gets it
    os.close(writer)
    return lowest


def keep_libraries_out() -> None:
    """Of stdout, which carries answers alone. A library may write there by itself, below Python (HiGHS 1.16 greets):
    that goes nowhere from now on, and `sys.stdout` has a file of its own."""
    shared = sys.stdout.fileno()
    sys.stdout = open(os.dup(shared), "w", encoding="utf-8", errors="surrogateescape")
    discard(shared)


def complain_in_utf8() -> None:
    """Lets stderr be UTF-8, as stdout is: what MiniZinc and the competitions read, whatever PYTHONIOENCODING says."""
    if isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr.reconfigure(encoding="utf-8", errors="backslashreplace")


def forget_stdout() -> None:
    """What is still to be written goes nowhere: the reader has left, or the disk is full."""
    discard(sys.stdout.fileno())


def discard(number: int) -> None:
    """What is written to this file descriptor from now on."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)
