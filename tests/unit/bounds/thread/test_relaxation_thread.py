"""The relaxation's thread and the end of the process."""

from __future__ import annotations

import subprocess
import sys

import pytest

from support.command import PATIENCE

# Threads that end some time after the request, as a linear program before its first iteration does. They say so.
LATE = """
import os, threading, time
from turbo_fzn.bounds.thread import relaxation_thread
from turbo_fzn.bounds.thread.tuning import TUNING

class Late(relaxation_thread.Bounder):
    sense = 1

    def __init__(self, rest):
        super().__init__()
        self.rest, self.begun = rest, threading.Event()
        self.start()
        self.begun.wait()

    def work(self):
        self.begun.set()
        while not self.stopped:
            time.sleep(0.01)
        time.sleep(self.rest)
        print("ended", flush=True)
"""
CLOSED = """
for one in late:
    one.stop()
    one.join()
"""
CHILD = """
late = Late(0)
locked = threading.Lock()
locked.acquire()
late.stop = locked.acquire
child = os.fork()
if child:
    del late.stop
    os.waitpid(child, 0)
"""


def output_of(script: str) -> str:
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", script]  # 3.12 warns of forks beside threads
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize("end", ["", CLOSED], ids=["not closed", "closed"])
def test_the_interpreter_waits_at_its_end_for_the_threads(end):
    """One that was in a callback of HiGHS then was unwound through C++, which ended the process by an abort."""
    assert output_of(f"{LATE}late = [Late(2 * TUNING.end_seconds) for _ in range(2)]\n{end}") == "ended\nended\n"


def test_the_interpreter_waits_no_longer_than_it_says():
    assert output_of(f"{LATE}TUNING.last_seconds = 0.1\nlate = Late(1000), Late(1000)\n") == ""


def test_a_child_does_not_wait_for_a_thread_that_it_does_not_have():
    """Nor for a lock that was held when it was forked."""
    assert output_of(LATE + CHILD) == "ended\n"
