"""A linear program says nothing, also the first one of a process, where HiGHS likes to tell its version."""

from __future__ import annotations

import subprocess
import sys

from support.command import PATIENCE, environment

FIRST = "from turbo_fzn.bounds.lp.highs import _quiet_solver, _Meter; _quiet_solver(_Meter(lambda: False, None))"


def test_the_first_solver_of_a_process_prints_nothing():
    words = [sys.executable, "-c", FIRST]
    done = subprocess.run(words, capture_output=True, text=True, env=environment(), timeout=PATIENCE)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
