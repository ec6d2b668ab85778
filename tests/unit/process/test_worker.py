"""With a GPU the command works in a child, which must not show: not in what signals do, nor in how it ends."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.command import LEAST_SUM, PATIENCE, finish, golomb, run, start, write
from support.fake_machine import build_driver, changes, end_compilers, fill_cache


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """One with a GPU that stays asleep for ever."""
    driver = build_driver(tmp_path_factory.mktemp("driver"))
    yield changes("driver:slow", 10**6, driver, fill_cache(tmp_path_factory.mktemp("machine") / "cache"))
    end_compilers(driver)


@pytest.fixture
def at_work(machine, tmp_path) -> Iterator[subprocess.Popen[str]]:
    """A process that has found a solution, and goes on."""
    with start("-v", write(tmp_path, golomb(12)), **machine) as process:
        assert any(": solution 1, " in line for line in process.stderr)
        yield process
        process.kill()


def child_of(process: subprocess.Popen[str]) -> int:
    (child,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return int(child)


def is_alive(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def comes_true(condition: Callable[[], bool]) -> bool:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return False


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_is_obeyed(at_work, number):
    at_work.send_signal(number)
    answer = finish(at_work)
    assert (answer.code, answer.markers) == (0, []) and answer.solutions


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_so_is_one_to_both_as_a_terminal_sends_it(at_work, number):
    os.kill(child_of(at_work), number)
    with contextlib.suppress(ProcessLookupError):
        at_work.send_signal(number)
    answer = finish(at_work)
    assert (answer.code, answer.markers) == (0, []) and answer.solutions


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGUSR1])
def test_the_child_ends_with_the_process(at_work, number):
    child = child_of(at_work)
    at_work.send_signal(number)
    assert at_work.wait(PATIENCE) == -number
    assert comes_true(lambda: not is_alive(child))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_the_process_ends_like_the_child(at_work, number):
    os.kill(child_of(at_work), number)
    assert at_work.wait(PATIENCE) == -number


def test_a_child_that_is_stopped_and_goes_on_has_not_ended(at_work):
    child = child_of(at_work)
    os.kill(child, signal.SIGSTOP)
    assert comes_true(lambda: "T" in Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0])
    os.kill(child, signal.SIGCONT)
    os.kill(child, signal.SIGTERM)
    assert finish(at_work).code == 0


def test_the_exit_code_is_the_childs(machine, tmp_path):
    assert run(write(tmp_path, LEAST_SUM), **machine).code == 0
    assert run(write(tmp_path, "no FlatZinc"), **machine).code == 1
    assert run(tmp_path / "missing.fzn", **machine).code == 1


def test_without_a_gpu_there_is_no_child(tmp_path):
    with start("-v", "--arch", "cpu", write(tmp_path, golomb(12))) as process:
        assert any(": solution 1, " in line for line in process.stderr)
        assert not Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        process.kill()


BESIDE_A_DRIVER = """
import ctypes, os, sys, threading
from turbo_fzn.process import worker

worker.move_to_child()
ctypes.CDLL(None).prctl(worker.PR_SET_PDEATHSIG, 0)  # what is behind the last word is done, though the parent has ended
system = ctypes.PyDLL(None)  # like PyCUDA, which does not let go of Python's lock while the driver works
system.prctl(worker.PR_SET_PDEATHSIG, 0)  # it is to live until it has told the test
calls = []

def make_ready():
    while True:
        calls.append(system.usleep(2000))

threading.Thread(target=make_ready, daemon=True).start()
while not calls:
    os.sched_yield()
print("the answer", flush=True)
sys.setswitchinterval(10)  # nobody is interrupted before
before = len(calls)
worker.tell_parent(7)
waited = len(calls) - before
sys.setswitchinterval(0.005)
with open(sys.argv[1], "w") as file:
    file.write(str(waited))
os._exit(0)
"""


def test_the_last_word_to_the_parent_waits_for_no_driver(tmp_path):
    """It took eight calls of the driver, a tenth of a second, where each step let go of Python's lock."""
    waited = tmp_path / "waited"
    command = [sys.executable, "-c", BESIDE_A_DRIVER, str(waited)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert (run.stdout, run.stderr, run.returncode) == ("the answer\n", "", 7)
    assert comes_true(lambda: waited.exists() and waited.read_text() != "")
    assert int(waited.read_text()) == 0


THAT_STAYS = """
import ctypes, os, sys
from turbo_fzn.process import streams, worker

streams.keep_libraries_out()
worker.move_to_child()
ctypes.CDLL(None).prctl(worker.PR_SET_PDEATHSIG, 0)  # as if the system were still at work taking it down
print("the answer", flush=True)
worker.tell_parent(7)
open(sys.argv[1]).read(1)  # until the test has seen the end of the streams
"""


def test_who_reads_to_the_end_does_not_wait_for_the_child(tmp_path):
    """It did as long as the child had a file of its own for stdout, which was still open."""
    latch = tmp_path / "latch"
    os.mkfifo(latch)
    command = [sys.executable, "-c", THAT_STAYS, str(latch)]
    opened = os.open(latch, os.O_RDWR)  # so that nobody waits for the other in opening it
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        try:
            assert process.wait(PATIENCE) == 7
            os.set_blocking(process.stdout.fileno(), False)
            told = [os.read(process.stdout.fileno(), 100) for _ in range(2)]
        finally:
            os.write(opened, b"x")  # ends the child, which is alive until then
    os.close(opened)
    assert told == [b"the answer\n", b""]
