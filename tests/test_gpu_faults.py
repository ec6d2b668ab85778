"""A GPU that is slow to be made ready, fails or hangs costs no answer and no time: `--arch auto` is as without one.

The command runs on the machine of fake_machine.py. Each case runs TURBO_FZN_FAULTS times. By default it runs once, and
may be late by what a busy machine needs, which is measured before; TURBO_FZN_FAULTS=100 is the full measurement, on a
machine with nothing else to do: then 0.3 s is the limit.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from command import PATIENCE, Answer, finish, golomb, run, start, time_limits, value, write
from fake_machine import FAILING, SLOW, SLOW_SECONDS, build_driver, changes, fill_cache

# Few blocks: those of the machine's GPU are threads of the CPU, which has other work.
BLOCKS = ("--blocks", 2)
REPEATS = int(os.environ.get("TURBO_FZN_FAULTS", "0"))
LATE_SECONDS = 0.3
LIMIT_MS = 2000  # in the full measurement
EVERY_FAULT = pytest.mark.parametrize("fault", [*SLOW, *FAILING])
# Where the search itself is stopped, one fault of a kind will do; in the full measurement all.
SOME_FAULTS = pytest.mark.parametrize(
    "fault", [*SLOW, *FAILING] if REPEATS else ["import:slow", "compile:slow", "launch:fail", "run:fail", "run:hang"]
)
REPEAT = pytest.mark.parametrize("repeat", range(max(REPEATS, 1)))
TOLD = {  # on stderr, of a GPU that was at work or about to be
    "launch:fail": "the GPU kernel cannot be started: ordered by the test",
    "run:fail": "the GPU kernel failed: ordered by the test",
}


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., dict[str, str]]:
    """A function that gives the environment for a fault, with a cache that holds no GPU kernels."""
    driver = build_driver(tmp_path_factory.mktemp("driver"))

    def with_fault(fault: str, seconds: float = SLOW_SECONDS) -> dict[str, str]:
        return changes(fault, driver, fill_cache(tmp_path_factory.mktemp("machine") / "cache"), seconds)

    return with_fault


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that the CPU engine solves in half a second, so that a GPU that is ready soon joins it."""
    return write(tmp_path_factory.mktemp("short"), golomb(8))


@pytest.fixture(scope="module")
def endless(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("endless"), golomb(12))


@contextmanager
def started(*arguments: object, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """A process of the command, which is killed where it does not end."""
    with start(*arguments, **environment) as process:
        killer = threading.Timer(PATIENCE, process.kill)
        killer.start()
        try:
            yield process
        finally:
            killer.cancel()


def solve(*arguments: object, **environment: str) -> tuple[float, float, Answer]:
    """After how many seconds the optimum was claimed, and the process had ended; and the answer."""
    began = time.monotonic()
    with started(*arguments, **environment) as process:
        lines: list[str] = []
        for line in process.stdout:
            lines.append(line)
            if line == "==========\n":
                break
        claimed = time.monotonic() - began
        answer = finish(process, "".join(lines))
    return claimed, time.monotonic() - began, answer


def tolerance(alone: float) -> float:
    """How much later than the CPU engine alone, which took so many seconds, an answer may be."""
    return LATE_SECONDS if REPEATS else 2 + 4 * alone


def told(answer: Answer, fault: str) -> bool:
    """Whether stderr says what has failed, in one line; and nothing of what the run never needed."""
    reason = re.escape(TOLD.get(fault, ""))
    expected = f"(fzn-turbo: the GPU engine has failed, the CPU engine goes on: {reason}\n)?" if reason else ""
    assert re.fullmatch(expected, answer.errors), answer.errors
    return True


@EVERY_FAULT
@REPEAT
def test_the_answer_is_there_when_the_cpu_engine_has_it(machine, short, fault, repeat):
    alone, _, expected = solve("--arch", "cpu", short)
    slow = SLOW_SECONDS if REPEATS else SLOW_SECONDS * max(alone, 1)
    claimed, ended, answer = solve("-s", *BLOCKS, short, **machine(fault, slow))
    print(f"{fault}: claimed {claimed - alone:+.2f} s, ended {ended - claimed:.3f} s later")
    assert (answer.code, answer.markers, answer.solutions[-1:]) == (0, ["=========="], expected.solutions)
    assert told(answer, fault)
    assert claimed < alone + tolerance(alone) and ended < alone + tolerance(alone)


def test_a_gpu_that_is_ready_joins_and_a_failure_of_it_is_told(machine, endless):
    """That the faults take place, which the other tests cannot see."""
    for fault in ("none:fail", *TOLD):
        with started("-v", *BLOCKS, endless, **machine(fault)) as process:
            wait_for(process, "has joined it" if fault == "none:fail" else "the CPU engine goes on: " + TOLD[fault])
            process.send_signal(signal.SIGTERM)
            assert finish(process).code == 0


def wait_for(process: subprocess.Popen[str], text: str) -> None:
    """Until stderr says that."""
    for line in process.stderr:
        if text in line:
            return
    raise AssertionError(f"never said: {text}")


@SOME_FAULTS
@REPEAT
def test_the_time_limit_is_kept_and_the_best_solution_delivered(machine, endless, fault, repeat):
    for limit in [LIMIT_MS] if REPEATS else time_limits():
        began = time.monotonic()
        answer = run("-s", "-t", limit, *BLOCKS, endless, **machine(fault))
        seconds = time.monotonic() - began
        print(f"{fault}: ended {seconds - limit / 1000:+.2f} s from the limit")
        if answer.solutions:  # else the machine is so busy that the search has hardly begun
            break
    assert (answer.code, answer.markers) == (0, []) and told(answer, fault)
    assert int(answer.statistics["objective"]) == value(answer, "m11")
    assert seconds < limit / 1000 + tolerance(2)


@SOME_FAULTS
@REPEAT
def test_a_signal_ends_it_soon_and_the_best_solution_is_delivered(machine, endless, fault, repeat):
    with started("-s", "-v", *BLOCKS, endless, **machine(fault)) as process:
        wait_for(process, ": solution 1, ")
        time.sleep(0.1 * (repeat % 8))
        sent = time.monotonic()
        process.send_signal(signal.SIGTERM)
        answer = finish(process)
    seconds = time.monotonic() - sent
    print(f"{fault}: ended {seconds:.3f} s after the signal")
    assert (answer.code, answer.markers) == (0, [])
    assert int(answer.statistics["objective"]) == value(answer, "m11")
    assert seconds < tolerance(1)


@pytest.mark.parametrize("flags", [[], ["-s"], ["-i"]])
def test_a_gpu_alone_that_fails_loses_no_solution(machine, endless, flags):
    answer = run("--arch", "gpu", *BLOCKS, *flags, endless, **machine("solution:fail"))
    assert (answer.code, answer.markers) == (1, ["=====ERROR====="]) and answer.solutions
    assert answer.errors == "fzn-turbo: the GPU kernel failed: ordered by the test\n"


def test_an_error_does_not_wait_for_the_gpu(machine, tmp_path):
    began = time.monotonic()
    answer = run(write(tmp_path, "no FlatZinc"), **machine("driver:slow"))
    assert (answer.code, answer.markers) == (1, ["=====ERROR====="]) and answer.errors.startswith("fzn-turbo: ")
    assert time.monotonic() - began < SLOW_SECONDS
