"""Two processes on a machine with a GPU: the parent, which the user waits for, and its child, which works.

A process that has initialised a GPU takes 0.05 to 0.2 s to end after its last line: the driver cleans up, and no way of
leaving is faster. That is longer than many models take to solve. So the work is done in a child. The parent passes on
the signals that it gets, and ends with the child's exit code as soon as the child has sent it, while the system still
ends the child. The child closes the streams before, so that a reader of them does not wait either.

Neither outlives the other: the child is killed when its parent is, and the parent ends in the same way when the child
is killed. The CPU time of the child is not counted for the parent (`time`, rusage), since it does not wait for the
child.

Imports nothing heavy.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from typing import NoReturn

HANDED_ON = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
PR_SET_PDEATHSIG = 1  # format: see prctl(2)

_report: int | None = None  # the pipe to the parent, in a child


def move_to_child() -> None:
    """Starts the child and returns in it; the parent never returns. Without a child, returns in this process.

    To be called with no other thread, empty buffers of the streams, and the signals of HANDED_ON blocked.
    """
    import ctypes

    global _report
    parent = os.getpid()
    reader, writer = os.pipe()
    held_back = signal.pthread_sigmask(signal.SIG_BLOCK, {*HANDED_ON, signal.SIGCHLD})
    try:
        child = os.fork()
    except OSError:
        os.close(reader)
        os.close(writer)
        signal.pthread_sigmask(signal.SIG_SETMASK, held_back)
        return
    if child:
        os.close(writer)
        _stand_before(child, reader)
    os.close(reader)
    _report = writer
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # the parent was killed before the child asked to be killed with it
        os._exit(1)
    signal.pthread_sigmask(signal.SIG_SETMASK, held_back)


def in_front() -> list[int]:
    """The parent process that the user waits for, or None."""
    return [] if _report is None else [os.getppid()]


def _stand_before(child: int, reader: int) -> NoReturn:
    """Waits until the child has sent its exit code or has ended, passes on signals during this time, and ends as the
    child does."""
    os.set_blocking(reader, False)
    while True:
        number = signal.sigwait({*HANDED_ON, signal.SIGCHLD})
        if number != signal.SIGCHLD:
            os.kill(child, number)
            continue
        with contextlib.suppress(BlockingIOError):  # it was only stopped; or its own children hold the pipe
            if code := os.read(reader, 1):
                os._exit(code[0])
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            _end_like(os.waitstatus_to_exitcode(status))


def _end_like(code: int) -> NoReturn:
    """Ends the process with this exit code, or, if it is negative, by this signal."""
    if code < 0 and -code != signal.SIGKILL:
        signal.signal(-code, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {-code})
    if code < 0:
        os.kill(os.getpid(), -code)
    os._exit(code & 255)


def tell_parent(code: int) -> None:
    """Sends the exit code to the parent, which may then end; does nothing without a parent that waits.

    Uses system functions that keep Python's lock. Those of `os` release it each time, and would get it back only when
    the thread that initialises a GPU is between two calls of the driver: that took a tenth of a second.
    """
    if _report is None:
        return
    import ctypes

    system = ctypes.PyDLL(None)
    nowhere = system.open(os.devnull.encode(), os.O_RDWR)
    for stream in (0, 1, 2, sys.stdout.fileno()):  # in the command sys.stdout has its own file (streams.py)
        system.dup2(nowhere, stream)
    system.write(_report, bytes([code]), 1)
    system.kill(os.getppid(), signal.SIGCHLD.value)
