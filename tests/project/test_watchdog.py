"""A test that hangs is told after a while, with the stacks of its threads and of the processes that it has started."""

from __future__ import annotations

import os
import re
import subprocess
import sys

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


def test_a_test_that_hangs_is_told_with_the_stacks_of_all_threads_and_processes(tmp_path):
    (tmp_path / "test_hangs.py").write_text(HANGS)
    environment = {**os.environ, "PYTHONPATH": str(TESTS), "TURBO_FZN_TELL_AFTER": "2"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "support.watchdog", "-p", "no:xdist"]
    command += ["-o", "faulthandler_timeout=1"]
    done = subprocess.run(
        [*command, "test_hangs.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stdout
    assert "in wait_in_a_thread" in done.stderr, "of a thread"
    assert "test_hangs.py::test_that_hangs has run for 2 s, with 1 processes" in done.stderr
    assert re.search(r"^  \d+ S .*python.* -c ", done.stderr, re.MULTILINE)
    assert "in wait_in_the_child" in done.stderr
