"""Without memory there is one line on stderr, one status line, and exit code 1, whatever it is that has no room."""

from __future__ import annotations

import gzip
import subprocess
import sys

import pytest

from support import command
from turbo_fzn.base import memory
from turbo_fzn.base.errors import EngineError
from turbo_fzn.base.tuning import TUNING
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.run import interruptible

GOLOMB = command.CORPUS / "golomb.fzn"


def run_within(megabytes: int, *arguments: object) -> subprocess.CompletedProcess[str]:
    """The command with so much address space."""
    shell = ["sh", "-c", f'ulimit -v {megabytes * 1000}; exec "$@"', "sh", sys.executable, "-m", "turbo_fzn"]
    return subprocess.run(
        [*shell, *map(str, arguments)], capture_output=True, text=True, env=command.environment(),
        timeout=command.PATIENCE, check=False,
    )  # fmt: skip


def is_told(run: subprocess.CompletedProcess[str], status: str) -> bool:
    return (run.returncode, run.stdout, run.stderr) == (1, status, "fzn-turbo: out of memory\n")


def least_megabytes() -> int:
    """With which Python starts, and reads its own files."""
    for megabytes in range(12, 100, 4):
        line = ["sh", "-c", f"ulimit -v {megabytes * 1000}; exec {sys.executable} -c 'import argparse, threading'"]
        if subprocess.run(line, capture_output=True, env=command.environment(), check=False).returncode == 0:
            return megabytes
    raise AssertionError("Python needs no such amount")


@pytest.mark.parametrize("share", [0.1, 0.4, 0.7, 0.9])
def test_too_little_memory_for_the_libraries_is_one_line(share):
    """NumPy gave advice, and OpenBLAS ended the process without a status line."""
    least = least_megabytes() + 4
    room = TUNING.libraries_bytes // 10**6
    run = run_within(int(least + share * room), "--arch", "cpu", GOLOMB)
    assert is_told(run, "=====ERROR=====\n")


def test_too_little_memory_for_a_model_is_one_line(tmp_path):
    path = tmp_path / "model.fzn.gz"
    path.write_bytes(gzip.compress(b" " * 5 * 10**7, 1))
    assert is_told(run_within(160, "--arch", "cpu", path), "=====ERROR=====\n")


def without_room(*_: object) -> None:
    raise RuntimeError("can't start new thread")


@pytest.mark.parametrize(("stack", "error"), [(TUNING.stack_bytes, EngineError), (2**60, MemoryError)])
def test_a_thread_without_room_for_its_stack_is_missing_memory(monkeypatch, stack, error):
    """Where there is room, too many threads are what is wrong."""
    monkeypatch.setattr(interruptible.threading.Thread, "start", without_room)
    monkeypatch.setattr(TUNING, "stack_bytes", stack)
    with pytest.raises(error):
        interruptible.in_thread(lambda: 1, Interrupt(), lambda: None)


def test_room_is_asked_for_and_given_back():
    for _ in range(3):
        memory.require(2**30)
    memory.require(0)
    for size in (2**60, 2**70):
        with pytest.raises(MemoryError):
            memory.require(size)
