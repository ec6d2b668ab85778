"""`--memory-limit`: the run ends before the process takes more, with what is known, and claims nothing."""

from __future__ import annotations

import gc
import mmap
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from support.command import (
    COMMAND,
    LEAST_SUM,
    PATIENCE,
    Answer,
    environment,
    golomb,
    large,
    read,
    run,
    value,
    wait_until,
    write,
)
from support.sabotage import sabotage
from turbo_fzn import solve_text
from turbo_fzn.options.options import Options
from turbo_fzn.options.parsing import parse_arguments
from turbo_fzn.process import footprint
from turbo_fzn.run.engines import learners_bytes

MEBIBYTE = 1 << 20
# The second improvement takes so much memory that the limit is passed, and the search would go on.
HUNGRY = """
tell = Search.answer

def answer(self, *others):
    yield from tell(self, *others)
    if self.n_solutions == 2:
        self.eaten = bytearray(b"x") * (400 << 20)

Search.answer = answer
"""

# So does the first step of a proof, which then waits for the stop.
HUNGRY_PROOF = """
import time

def event(self, *others):
    self.eaten = bytearray(b"x") * (400 << 20)
    while not self.interrupt:
        time.sleep(0.01)

Writer.event = event
"""


def said(limit: int) -> str:
    return f"fzn-turbo: the memory limit of {limit} MiB is reached: the run ends with what is known\n"


def run_and_weigh(*arguments: object) -> tuple[Answer, int]:
    """The answer, and the most memory that was resident, in bytes, of the process and no other one."""
    script = (
        "import os, subprocess, sys; p = subprocess.Popen(sys.argv[1:]); _, status, used = os.wait4(p.pid, 0); "
        "print(used.ru_maxrss, file=sys.stderr); sys.exit(os.waitstatus_to_exitcode(status))"
    )
    command = [sys.executable, "-c", script, *COMMAND, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(), timeout=PATIENCE, check=False)
    *lines, most = done.stderr.splitlines(keepends=True)
    return read(done.stdout, "".join(lines), done.returncode), int(most) * 1024


def test_a_model_that_takes_too_much_to_prepare_is_unknown_and_the_limit_is_kept(tmp_path):
    path = write(tmp_path, large(30_000))
    answer, most = run_and_weigh("--arch", "cpu", "-s", "--memory-limit", 72, path)
    assert (answer.code, answer.markers, answer.errors) == (0, ["=====UNKNOWN====="], said(72))
    assert answer.text.endswith("%%%mzn-stat-end\n")
    assert 60 * MEBIBYTE < most < 72 * MEBIBYTE


def test_where_a_child_works_the_limit_is_its_own_and_the_answer_that_of_the_process_in_front(tmp_path):
    """A machine with a GPU has such a child (process/worker.py)."""
    behind = sabotage(tmp_path, "turbo_fzn.command.cli", "work_behind = worker.move_to_child")
    answer = run("--memory-limit", 72, write(tmp_path, large(30_000)), PYTHONPATH=behind)
    assert (answer.code, answer.markers, answer.errors) == (0, ["=====UNKNOWN====="], said(72))


@pytest.mark.parametrize("flags", [[], ["-i", "-s"]], ids=["best", "improving"])
def test_the_best_solution_is_told_without_a_claim(tmp_path, flags):
    hungry = sabotage(tmp_path, "turbo_fzn.run.search", HUNGRY)
    answer = run("--arch", "cpu", "--memory-limit", 300, *flags, write(tmp_path, golomb(12)), PYTHONPATH=hungry)
    assert (answer.code, answer.markers, answer.errors) == (0, [], said(300))
    assert len(answer.solutions) >= (2 if flags else 1)
    assert value(answer, "m11") >= 85, "the optimum"
    if "-s" in flags:
        assert int(answer.statistics["objectiveBound"]) < 85


def test_a_proof_that_would_pass_the_limit_is_not_written(tmp_path):
    hungry = sabotage(tmp_path, "turbo_fzn.proof.writer", HUNGRY_PROOF)
    flags = ("--arch", "cpu", "--memory-limit", 300, "--proof", tmp_path / "a.pbp")
    answer = run(*flags, write(tmp_path, golomb(6)), PYTHONPATH=hungry)
    assert (answer.code, answer.markers, value(answer, "m5")) == (0, ["=========="], 17)
    told = "fzn-turbo: --proof: no proof is written: the run has been stopped before that\n"
    assert answer.errors == said(300) + told
    assert not list(tmp_path.glob("a.*"))


def test_a_limit_that_is_not_reached_changes_nothing(tmp_path):
    answer = run("--arch", "cpu", "--memory-limit", 100_000, write(tmp_path, LEAST_SUM))
    assert (answer.code, answer.markers, answer.errors) == (0, ["=========="], "")
    assert value(answer, "z") == 7


def test_from_python_it_is_a_limit_too():
    assert solve_text(LEAST_SUM, arch="cpu", memory_limit=1).status in ("UNKNOWN", "OPTIMAL_SOLUTION")
    result = solve_text(golomb(12), arch="cpu", memory_limit=1)
    assert result.status in ("UNKNOWN", "SATISFIED")
    assert solve_text(LEAST_SUM, arch="cpu", memory_limit=100_000).status == "OPTIMAL_SOLUTION"


def test_learners_get_a_quarter_unless_their_memory_is_named():
    def bytes_of(*flags: str) -> int | None:
        return learners_bytes(parse_arguments([*flags, "model.fzn"]).options)

    assert bytes_of() is None
    assert bytes_of("--memory-limit", "400") == 100 * MEBIBYTE
    assert bytes_of("--memory-limit", "400", "--memory", "7") == 7 * MEBIBYTE
    assert Options(memory_limit=3).memory_bytes() == 3 * MEBIBYTE


# ---- what is counted


def test_what_is_touched_is_counted_and_what_is_only_reserved_is_not():
    gc.collect()
    before = footprint.resident_bytes()
    with mmap.mmap(-1, 4096 * MEBIBYTE, flags=mmap.MAP_PRIVATE) as reserved:
        assert footprint.resident_bytes() < before + 32 * MEBIBYTE
        reserved[: 64 * MEBIBYTE] = bytes(64 * MEBIBYTE)
        assert footprint.resident_bytes() >= before + 48 * MEBIBYTE  # something else may have been given back


@contextmanager
def grandchild(size: int) -> Iterator[int]:
    """A process with so much memory that a child has started; its number."""
    code = f"import os, sys; kept = bytearray(b'x') * {size}; print(os.getpid(), flush=True); sys.stdin.read()"
    shell = ["sh", "-c", 'echo $$; "$@"; exit', "sh", sys.executable, "-c", code]
    with subprocess.Popen(shell, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        child.stdout.readline()
        yield int(child.stdout.readline())
        child.stdin.close()


def test_helpers_count_once_there_may_be_some(monkeypatch):
    monkeypatch.setattr(footprint, "_has_helpers", False)
    before = footprint.resident_bytes()
    with grandchild(200 * MEBIBYTE) as number:
        assert footprint.resident_bytes() < before + 100 * MEBIBYTE
        footprint.expect_helpers()
        assert footprint.resident_bytes() >= before + 200 * MEBIBYTE
        assert number in footprint._descendants(os.getpid())


IN_FRONT = """
from turbo_fzn.process import footprint, worker
kept = bytearray(b"x") * (100 << 20)
print(footprint.resident_bytes(), flush=True)
worker.move_to_child()
print(footprint.resident_bytes(), flush=True)
"""


def test_the_process_in_front_of_a_child_that_works_counts():
    done = subprocess.run([sys.executable, "-c", IN_FRONT], capture_output=True, text=True, timeout=PATIENCE)
    alone, behind = map(int, done.stdout.split())
    assert done.returncode == 0 and alone < 150 * MEBIBYTE and behind >= 200 * MEBIBYTE


def test_the_watch_calls_once_and_ends_with_what_it_watches():
    calls: list[int] = []
    with footprint.watched(1, lambda: calls.append(1)):
        wait_until(lambda: calls)
    assert calls == [1]
    with footprint.watched(2**62, lambda: calls.append(2)), footprint.watched(None, lambda: calls.append(3)):
        pass
    assert calls == [1]
