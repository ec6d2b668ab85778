"""A test that hangs is told after a while, with the stacks of its threads and of the processes that it has started."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support import watchdog
from support.command import PATIENCE
from support.places import TESTS

HANGS = """
import subprocess, sys, threading

CHILD = '''
import sys, time
def wait_in_the_child():
    print("ready", flush=True)
    sys.stdin.read()
wait_in_the_child()
'''

def test_that_hangs():
    with subprocess.Popen([sys.executable, "-c", CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        child.stdout.readline()
        other = threading.Thread(target=wait_in_a_thread)
        other.start()
        other.join()
        child.stdin.close()

def wait_in_a_thread():
    threading.Event().wait(4)
"""


RUNS = """
import subprocess, sys

def test_that_ends_what_runs():
    subprocess.run([sys.executable, "-c", "while True: pass"], timeout=4, check=False)
"""


BECOMES_ANOTHER = """
import os, signal
signal.signal(signal.SIGUSR2, lambda *_: None)
print("ready", flush=True)
os.read(0, len("now\\n"))
os.execvp("cat", ["cat"])
"""


def watched(folder: Path, tests: str, seconds: int) -> subprocess.CompletedProcess[str]:
    """These tests, told of after so long."""
    (folder / "test_told.py").write_text(tests)
    environment = {**os.environ, "PYTHONPATH": str(TESTS), "TURBO_FZN_TELL_AFTER": str(seconds)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "support.watchdog", "-p", "no:xdist", "test_told.py"]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=PATIENCE)


@pytest.mark.slow
def test_a_test_that_hangs_is_told_with_the_stacks_of_all_threads_and_processes(tmp_path):
    done = watched(tmp_path, HANGS, 2)
    assert done.returncode == 0, done.stdout
    assert "in wait_in_a_thread" in done.stderr, "of a thread"
    assert "test_told.py::test_that_hangs has run for 2 s, with 1 processes" in done.stderr
    assert re.search(r"^  \d+ S .*python.* -c ", done.stderr, re.MULTILINE)
    assert "in wait_in_the_child" in done.stderr


@pytest.mark.slow  # for it runs
def test_a_process_that_runs_is_told_without_its_stack(tmp_path):
    """Whose frames move: to write them could end it."""
    done = watched(tmp_path, RUNS, 1)
    assert "TimeoutExpired" in done.stdout
    assert re.search(r"^  \d+ R .*python.* -c while True", done.stderr, re.MULTILINE)
    assert "and those that are its copies" not in done.stderr


def test_a_process_that_has_become_another_program_is_not_ended(monkeypatch):
    """The copy of a Python process that calls a compiler is such a process."""
    command = [sys.executable, "-c", BECOMES_ANOTHER]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as child:

        def become(_: float) -> None:
            child.stdin.write("now\nI am cat\n")
            assert child.stdout.readline() == "I am cat\n"

        assert child.stdout.readline() == "ready\n" and watchdog.writes_stacks(child.pid)
        monkeypatch.setattr(watchdog.time, "sleep", become)
        monkeypatch.setattr(watchdog, "ticks", lambda _: ("0", "0"))
        watchdog.ask_for_stacks([child.pid])
        child.stdin.close()
        assert child.wait() == 0


def test_a_process_that_catches_the_signal_for_its_own_end_is_not_asked():
    command = [sys.executable, "-I", "-S", "-c", BECOMES_ANOTHER]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline() == "ready\n" and not watchdog.writes_stacks(child.pid)
        child.stdin.close()
