"""Tells of a test that takes a minute where it and its processes stand; it ends nothing.

It writes the stacks of pytest's own threads, which it reads holding the interpreter's lock, and of all processes that
descend from pytest what each is and waits for, and the stacks of those that are Python's (stacks/sitecustomize.py) and
stand still. Nobody holds the lock of another process: frames that move while they are written can end it with a
segmentation fault, so that the watchdog would fail the test. For the same reason setup.cfg has no faulthandler_timeout.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.places import DATA

SECONDS = float(os.environ.get("TURBO_FZN_TELL_AFTER", "60"))
STACKS = DATA / "stacks"
WRITING_SECONDS = 0.5
STILL_SECONDS = 0.5  # without a tick of a processor

_terminal = 2  # the stderr that pytest does not catch


def pytest_configure(config: pytest.Config) -> None:
    global _terminal
    _terminal = os.dup(2)
    folder = tempfile.TemporaryDirectory(prefix="turbo-fzn-stacks-")
    config.add_cleanup(folder.cleanup)
    os.environ["TURBO_FZN_STACKS"] = folder.name
    os.environ["PYTHONPATH"] = os.pathsep.join([str(STACKS), *filter(None, [os.environ.get("PYTHONPATH")])])


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    timer = threading.Timer(SECONDS, tell, (item.nodeid,))
    timer.daemon = True
    timer.start()
    yield
    timer.cancel()


def tell(test: str) -> None:
    """Writes to the terminal where all processes of this test stand."""
    processes = list(descendants(os.getpid()))
    lines = [f"{test} has run for {SECONDS:.0f} s, with {len(processes)} processes:"]
    lines += map(describe, processes)
    lines += own_stacks()
    ask_for_stacks(processes)
    time.sleep(WRITING_SECONDS)
    for path in sorted(Path(os.environ["TURBO_FZN_STACKS"]).iterdir()):
        if text := path.read_text(errors="replace"):
            lines.append(f"process {path.name}, and those that are its copies:\n{text}")
            path.write_text("")
    os.write(_terminal, ("\n" + "\n".join(lines) + "\n").encode())


def ask_for_stacks(processes: list[int]) -> None:
    """Sends SIGUSR2 to those that stand still and still catch it: a copy of a Python process may have become a compiler
    meanwhile, which the signal would end."""
    before = {process: ticks(process) for process in filter(writes_stacks, processes)}
    time.sleep(STILL_SECONDS)
    for process, then in before.items():
        if then is not None and ticks(process) == then and writes_stacks(process):
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGUSR2)


def own_stacks() -> Iterator[str]:
    """The stacks of pytest's threads except this one."""
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    for thread, frame in sys._current_frames().items():
        if thread != threading.get_ident():
            yield f"thread {names.get(thread, thread)}:\n{''.join(traceback.format_stack(frame))}"


def descendants(process: int) -> Iterator[int]:
    with contextlib.suppress(OSError):
        for thread in Path(f"/proc/{process}/task").iterdir():
            for child in map(int, (thread / "children").read_text().split()):
                yield child
                yield from descendants(child)


def describe(process: int) -> str:
    """Its number, state, what it waits for in the system, and its command."""
    folder = Path(f"/proc/{process}")
    try:
        state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
        waits = (folder / "wchan").read_text()
        command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return f"  {process} has ended"
    return f"  {process} {state} {waits} {command[:300]}"


def ticks(process: int) -> tuple[str, ...] | None:
    """The processor's time that a sleeping process has used; None if it is running or has ended."""
    with contextlib.suppress(OSError):
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return tuple(fields[11:13]) if fields[0] == "S" else None
    return None


def writes_stacks(process: int) -> bool:
    """Whether it has a file for its stacks, which a program that it becomes has not, and catches SIGUSR2: others, as
    clang++, catch that to end."""
    with contextlib.suppress(OSError, StopIteration):
        files = [os.readlink(path) for path in Path(f"/proc/{process}/fd").iterdir()]
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
        caught = next(line for line in lines if line.startswith("SigCgt:"))
        has_file = any(os.path.dirname(file) == os.environ["TURBO_FZN_STACKS"] for file in files)
        return has_file and bool(int(caught.split()[1], 16) >> (signal.SIGUSR2 - 1) & 1)
    return False
