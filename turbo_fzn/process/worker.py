"""The process that the user waits for, and behind it the one that works, on a machine with a GPU.

A process that has woken the GPU takes 0.05 to 0.2 s to end after its last line, in the system's hands: the driver
clears up, and no way of leaving is quicker. That is longer than many a model takes to solve. So the work is done in a
child. The process that was called hands on the signals that it gets, and ends with the child's exit code as soon as
that is told, while the system still takes the child down. The child lets go of the streams before, so that who reads
them to their end does not wait either.

Neither outlives the other: the child is killed when its parent is, and the parent ends as the child has, where that is
killed. What is lost is the account of the CPU time (`time`, rusage), since nobody waits for the child any more.

Imports nothing heavy.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from typing import NoReturn

HANDED_ON = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
PR_SET_PDEATHSIG = 1  # see prctl(2)

_report: int | None = None  # the pipe to the parent, in a child


def move_to_child() -> None:
    """Returns in the child; the parent never returns. Where there can be no child, this process does the work.

    To be called with no thread at work, nothing in the buffers of the streams, and HANDED_ON held back.
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
    if os.getppid() != parent:  # which was killed before that
        os._exit(1)
    signal.pthread_sigmask(signal.SIG_SETMASK, held_back)


def _stand_before(child: int, reader: int) -> NoReturn:
    """Until the child has told its exit code, or has ended without."""
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
    """With this exit code; or by this signal, where it is negative."""
    if code < 0 and -code != signal.SIGKILL:
        signal.signal(-code, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {-code})
    if code < 0:
        os.kill(os.getpid(), -code)
    os._exit(code & 255)


def tell_parent(code: int) -> None:
    """That the work is done, all is printed, and the parent may end. Nothing where this process has none that waits.

    By functions of the system's that keep Python's lock. Those of `os` let go of it each time, and would get it back
    only when the thread that makes a GPU ready is between two calls of the driver: that took a tenth of a second.
    """
    if _report is None:
        return
    import ctypes

    system = ctypes.PyDLL(None)
    nowhere = system.open(os.devnull.encode(), os.O_RDWR)
    for stream in (0, 1, 2, sys.stdout.fileno()):  # the last is one of its own in the command (streams.py)
        system.dup2(nowhere, stream)
    system.write(_report, bytes([code]), 1)
    system.kill(os.getppid(), signal.SIGCHLD.value)
