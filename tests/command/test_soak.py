"""A short run of the soak test; the long ones are `make soak`."""

from __future__ import annotations

import subprocess
import sys

import pytest

from support.command import PATIENCE, time_limits
from support.places import TESTS

SOAK = TESTS / "tools" / "soak.py"


@pytest.mark.slow
def test_solutions_stream_and_memory_does_not_grow(engine):
    for limit in time_limits(searching=4):
        command = [sys.executable, str(SOAK), "--seconds", str(2 * limit / 1000), "--arch", engine, "--threads", "2"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
        if "too little time" not in done.stdout and "GROWS" not in done.stdout:  # a slow start looks like growth
            break
    assert done.returncode == 0 and done.stdout.count(", good") == 2, done.stdout + done.stderr
