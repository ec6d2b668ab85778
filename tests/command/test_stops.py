"""Time limits and signals through MiniZinc: the best solution is delivered, every time.

MiniZinc 2.6 kills a solver 0.2 s after SIGTERM, so a solver that is late loses its solution. On a machine where other
processes take half of the time, 0.2 s can be too short for any solver: there, and only there, it may try again. Each
case is run TURBO_FZN_STOPS times (default 1): `TURBO_FZN_STOPS=20 pytest -s tests/command/test_stops.py` is the full
measurement.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time

import pytest

from support.command import PATIENCE, ends_soon, slowness, time_limits
from support.needs import needs_minizinc

pytestmark = pytest.mark.slow

REPEATS = int(os.environ.get("TURBO_FZN_STOPS", "1"))
BUSY = 1.5  # times slower than an idle machine
TRIES = 10
# Golomb rulers of 13 marks: improves again and again, and the proof takes hours.
MODEL = """\
array [1..13] of var 0..169: mark;
array [1..78] of var 1..169: distance = [mark[j] - mark[i] | i, j in 1..13 where i < j];
include "alldifferent.mzn";
constraint mark[1] = 0 /\\ forall (i in 1..12) (mark[i] < mark[i + 1]) /\\ alldifferent(distance);
solve :: int_search(mark, input_order, indomain_min) minimize mark[13];
"""
REPEAT = pytest.mark.parametrize("repeat", range(REPEATS))
FLAGS = pytest.mark.parametrize("flags", [[], ["-i"]], ids=["last", "every"])


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("stops") / "golomb.mzn"
    path.write_text(MODEL)
    return path


def delivered(output: str, flags: list[str]) -> bool:
    """Whether there is a whole solution, statistics behind it, and no status that takes it back."""
    marks = re.findall(r"^mark = \[(.*)\];\n", output, re.MULTILINE)
    assert marks, output
    numbers = [int(word) for word in marks[-1].split(",")]
    assert len({b - a for i, a in enumerate(numbers) for b in numbers[i + 1 :]}) == 78
    assert len(marks) == output.count("----------\n")
    assert len(marks) == 1 or "-i" in flags
    assert re.search(rf"^%%%mzn-stat: objective={numbers[-1]}$", output, re.MULTILINE)
    assert "==========" not in output
    return True


@pytest.mark.covers("T1", "F2", "F14")
@needs_minizinc
@FLAGS
@REPEAT
def test_at_the_time_limit_of_minizinc_the_best_solution_is_delivered(minizinc, path, flags, repeat):
    for limit in time_limits():
        with ends_soon(after=limit / 1000):
            run = minizinc("--time-limit", limit, "-s", *flags, path)
        if "%%%mzn-stat: engine=" in run.stdout:  # else the machine is so busy that the search has not begun
            break
    assert delivered(run.stdout, flags), run.stderr
    assert "=====" not in run.stdout and run.returncode == 0


@pytest.mark.covers("T2", "T3", "T4", "F2")
@needs_minizinc
@FLAGS
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
@REPEAT
def test_on_a_signal_to_minizinc_the_best_solution_is_delivered(start_minizinc, path, number, flags, repeat):
    for _ in range(TRIES):
        with start_minizinc("-s", "-v", *flags, path) as process:
            wait_for_search(process)
            time.sleep(0.3 + 0.1 * (repeat % 5))
            with ends_soon():
                process.send_signal(number)
                output, errors = process.communicate(timeout=PATIENCE)
        if "%%%mzn-stat-end" in output or slowness() < BUSY:  # else it was killed
            break
    assert delivered(output, flags), errors


def wait_for_search(process: subprocess.Popen) -> None:
    """Until the solver says (-v) that it has found something."""
    for line in process.stderr:
        if ": solution 1, " in line:
            return
    raise AssertionError("no solution was found")
