"""The relaxation's thread and the end of the process."""

from __future__ import annotations

import subprocess
import sys

import pytest

from support.command import PATIENCE

# A thread that ends some time after the request, as a linear program before its first iteration does. It says so.
LATE = """
import threading, time
from turbo_fzn.bounds.beside import END_SECONDS, Bounder

class Late(Bounder):
    sense = 1
    begun = threading.Event()

    def work(self):
        self.begun.set()
        while not self.stopped:
            time.sleep(0.01)
        time.sleep(2 * END_SECONDS)
        print("ended", flush=True)

late = Late()
late.start()
late.begun.wait()
"""


@pytest.mark.parametrize("end", ["", "late.stop()\nlate.join()\n"], ids=["not closed", "closed"])
def test_the_interpreter_waits_at_its_end_for_the_thread(end):
    """A thread that was in a callback of HiGHS then was unwound through C++, which ended the process by an abort."""
    done = subprocess.run(
        [sys.executable, "-c", LATE + end], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    assert done.stdout == "ended\n" and done.stderr == ""
