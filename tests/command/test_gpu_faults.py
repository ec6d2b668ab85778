"""A GPU that is slow to be made ready, fails or hangs costs no answer and no time: `--arch auto` is as without one.

The command runs on the machine of fake_machine.py. By default each case runs once, and what is slow takes for ever, so
that nothing depends on how busy the machine is. TURBO_FZN_FAULTS=100 is the full measurement, 100 runs of each, on a
machine with nothing else to do: what is slow takes 20 s, and an answer may be 0.3 s late.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import statistics
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.command import (
    LEAST_SUM,
    PATIENCE,
    Answer,
    ends_soon,
    finish,
    golomb,
    run,
    start,
    time_limits,
    value,
    write,
)
from support.fake_machine import FAILING, SLOW, build_driver, changes, end_compilers, fill_cache
from turbo_fzn.command.tuning import TUNING

# Few blocks: those of the machine's GPU are threads of the CPU, which has other work.
BLOCKS = ("--blocks", 2)
REPEATS = int(os.environ.get("TURBO_FZN_FAULTS", "0"))
SLOW_SECONDS = 20 if REPEATS else 10**6
LATE_SECONDS = 0.3
LIMIT_MS = 2000
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
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], dict[str, str]]]:
    """A function that gives the environment for a fault, with a cache that holds no GPU kernels."""
    driver = build_driver(tmp_path_factory.mktemp("driver"))

    def with_fault(fault: str) -> dict[str, str]:
        return changes(fault, SLOW_SECONDS, driver, fill_cache(tmp_path_factory.mktemp("machine") / "cache"))

    yield with_fault
    end_compilers(driver)


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


ADVICE = r"(fzn-turbo: the time was over first: .*\n)?"  # at the limit, unless the process is left in the midst of it


@contextmanager
def in_time(after: float = 0.0) -> Iterator[None]:
    """What stands below ends within so many seconds, and a moment."""
    began = time.monotonic()
    with contextlib.nullcontext() if REPEATS else ends_soon(after):
        yield
    assert not REPEATS or time.monotonic() - began < after + LATE_SECONDS


def told(answer: Answer, fault: str, advice: str = "") -> bool:
    """Whether stderr says what has failed, in one line, before the advice; and nothing of what the run never needed."""
    reason = re.escape(TOLD.get(fault, ""))
    expected = f"(fzn-turbo: the GPU engine has failed, the search goes on without it: {reason}\n)?" if reason else ""
    assert re.fullmatch(expected + advice, answer.errors), answer.errors
    return True


@pytest.fixture(scope="module")
def alone(short: Path) -> tuple[float, list[str]]:
    """When the CPU engine alone has the answer, in the median of its runs, and the answer."""
    runs = [solve("--arch", "cpu", short) for _ in range(5 if REPEATS else 1)]
    return statistics.median(claimed for claimed, _, _ in runs), runs[0][2].solutions


@pytest.mark.slow
@EVERY_FAULT
@REPEAT
def test_the_answer_is_there_when_the_cpu_engine_has_it(machine, short, alone, fault, repeat):
    seconds, solutions = alone
    claimed, ended, answer = solve("-s", *BLOCKS, short, **machine(fault))
    print(f"{fault}: claimed {claimed - seconds:+.2f} s, ended {ended - claimed:.3f} s later")
    assert (answer.code, answer.markers, answer.solutions[-1:]) == (0, ["=========="], solutions)
    assert told(answer, fault)
    assert not REPEATS or ended < seconds + LATE_SECONDS


@pytest.mark.slow
def test_a_gpu_that_is_ready_joins_and_a_failure_of_it_is_told(machine, endless):
    """That the faults take place, which the other tests cannot see."""
    for fault in ("none:fail", *TOLD):
        with started("-v", *BLOCKS, endless, **machine(fault)) as process:
            expected = "the search goes on without it: " + TOLD.get(fault, "")
            wait_for(process, "has joined it" if fault == "none:fail" else expected)
            process.send_signal(signal.SIGTERM)
            answer = finish(process)
            assert answer.code == 0, answer.errors[:3000]


def wait_for(process: subprocess.Popen[str], text: str) -> None:
    """Until stderr says that."""
    for line in process.stderr:
        if text in line:
            return
    raise AssertionError(f"never said: {text}")


@pytest.mark.slow
@SOME_FAULTS
@REPEAT
def test_the_time_limit_is_kept_and_the_best_solution_delivered(machine, endless, fault, repeat):
    for limit in [LIMIT_MS] if REPEATS else time_limits():
        environment = machine(fault)
        with in_time(after=limit / 1000):
            answer = run("-s", "-t", limit, *BLOCKS, endless, **environment)
        if answer.solutions:  # else the machine is so busy that the search has hardly begun
            break
    assert (answer.code, answer.markers) == (0, []) and told(answer, fault, ADVICE)
    assert int(answer.statistics["objective"]) == value(answer, "m11")


@pytest.mark.slow
@SOME_FAULTS
@REPEAT
def test_a_signal_ends_it_soon_and_the_best_solution_is_delivered(machine, endless, fault, repeat):
    with started("-s", "-v", *BLOCKS, endless, **machine(fault)) as process:
        wait_for(process, ": solution 1, ")
        time.sleep(0.1 * (repeat % 8))
        with in_time():
            process.send_signal(signal.SIGTERM)
            answer = finish(process)
    assert (answer.code, answer.markers) == (0, [])
    assert int(answer.statistics["objective"]) == value(answer, "m11")


@pytest.mark.parametrize("flags", [[], ["-s"], ["-i"]])
def test_a_gpu_alone_that_fails_loses_no_solution(machine, endless, flags):
    answer = run("--arch", "gpu", *BLOCKS, *flags, endless, **machine("solution:fail"))
    assert (answer.code, answer.markers) == (1, ["=====ERROR====="]) and answer.solutions
    assert answer.errors == "fzn-turbo: the GPU kernel failed: ordered by the test\n"


def test_an_error_does_not_wait_for_the_gpu(machine, tmp_path):
    answer = run(write(tmp_path, "no FlatZinc"), **machine("driver:slow"))
    assert (answer.code, answer.markers) == (1, ["=====ERROR====="]) and answer.errors.startswith("fzn-turbo: ")


def wakes_the_gpu(machine: Callable[[str], dict[str, str]], model: Path, note: Path, *flags: str) -> bool:
    answer = run("-s", *flags, *BLOCKS, model, **machine("context:fail"), FAKE_GPU_NOTE=str(note))
    assert answer.code == 0 and answer.markers[-1] == "=========="
    woken = note.exists()
    note.unlink(missing_ok=True)
    return woken


def test_a_model_that_the_cpu_solves_at_once_does_not_wake_the_gpu(machine, tmp_path):
    """A process that ends while the driver is at work ends late."""
    small, long, note = write(tmp_path, LEAST_SUM), write(tmp_path, golomb(9), "long.fzn"), tmp_path / "called"
    assert wakes_the_gpu(machine, long, note)
    assert not all(wakes_the_gpu(machine, small, note) for _ in range(10))  # on a busy machine some searches are long


def test_a_large_file_wakes_the_gpu_while_it_is_read(machine, tmp_path):
    large, note = write(tmp_path, LEAST_SUM + "% " + "x" * TUNING.long_read_bytes + "\n"), tmp_path / "called"
    assert wakes_the_gpu(machine, large, note)
