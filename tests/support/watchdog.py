"""Tells of a test that takes a minute where it and its processes stand; it ends nothing.

pytest itself writes the stacks of its own threads (`faulthandler_timeout` in setup.cfg). This adds all processes that
descend from it: what each is and waits for, and the stacks of those that are Python's (stacks/sitecustomize.py).
"""

from __future__ import annotations

import contextlib
import os
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.places import DATA

SECONDS = float(os.environ.get("TURBO_FZN_TELL_AFTER", "60"))
STACKS = DATA / "stacks"
WRITING_SECONDS = 0.5

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
    for process in filter(writes_stacks, processes):
        with contextlib.suppress(OSError):
            os.kill(process, signal.SIGUSR2)
    time.sleep(WRITING_SECONDS)
    for path in sorted(Path(os.environ["TURBO_FZN_STACKS"]).iterdir()):
        if text := path.read_text(errors="replace"):
            lines.append(f"process {path.name}, and those that are its copies:\n{text}")
            path.write_text("")
    os.write(_terminal, ("\n" + "\n".join(lines) + "\n").encode())


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


def writes_stacks(process: int) -> bool:
    """Whether it catches SIGUSR2, which would end any other process."""
    with contextlib.suppress(OSError, StopIteration):
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
        caught = next(line for line in lines if line.startswith("SigCgt:"))
        return bool(int(caught.split()[1], 16) >> (signal.SIGUSR2 - 1) & 1)
    return False
