"""What has been found is delivered, whatever happens before or behind it: errors, early stops, a limit spent early."""

from __future__ import annotations

import re
import signal
import subprocess
import time

import pytest

from support.command import (
    COMMAND,
    GREATEST_SUM,
    LEAST_SUM,
    PATIENCE,
    THREE_SOLUTIONS,
    Answer,
    ends_soon,
    environment,
    golomb,
    read,
    run,
    time_limits,
    value,
    write,
)
from support.needs import needs_minizinc
from support.sabotage import sabotage
from turbo_fzn import solve_text
from turbo_fzn.base.errors import EngineError
from turbo_fzn.run.judge import Judge

# ---- an error behind solutions

# Of the solutions that arrive two are good; behind them something breaks.
BREAK_AT_THE_THIRD = """
from turbo_fzn.base.errors import EngineError
good, count = Judge.check, 0

def check(self, arrived):
    global count
    for found in good(self, arrived):
        count += 1
        if count == 3:
            raise {error}
        yield found

Judge.check = check
"""
ERRORS = {
    "EngineError('the kernel failed')": "the kernel failed",
    "InternalError('a solution failed its check')": "internal error: a solution failed its check",
    "MemoryError()": "out of memory",
    "ZeroDivisionError('by zero')": "internal error: ZeroDivisionError: by zero (-v shows where)",
}
CLIMB = GREATEST_SUM.replace("indomain_max", "indomain_min")  # improves many times
STEPS = ["-r", "1", "--arch", "cpu"]  # each improvement by itself, in the same order in each run


@pytest.mark.covers("F2", "O11")
@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize(
    "flags",
    [
        pytest.param([], id="last"),
        pytest.param(["-i"], id="every", marks=pytest.mark.slow),
        pytest.param(["-s"], id="statistics", marks=pytest.mark.slow),
    ],
)
def test_the_best_solution_is_printed_before_the_error_that_follows_it(tmp_path, error, flags):
    path = write(tmp_path, CLIMB)
    spoilt = sabotage(tmp_path, "turbo_fzn.run.judge", BREAK_AT_THE_THIRD.format(error=error))
    every = run(*STEPS, "-i", path).solutions
    answer = run(*STEPS, *flags, path, PYTHONPATH=spoilt)
    assert len(every) > 2, "there is a third solution"
    assert answer.solutions == (every[:2] if flags == ["-i"] else every[1:2])
    assert (answer.code, answer.markers) == (1, ["=====ERROR====="])
    assert answer.errors == f"fzn-turbo: {ERRORS[error]}\n"


@pytest.mark.parametrize("error", [EngineError("the kernel failed"), MemoryError(), KeyboardInterrupt()], ids=repr)
@pytest.mark.parametrize("intermediate", [True, False])
def test_a_caller_of_the_package_finds_the_solutions_with_the_error(monkeypatch, error, intermediate):
    check = Judge.check

    def check_two(judge, arrived):
        for found in check(judge, arrived):
            if len(passed) == 2:
                raise error
            passed.append(found)
            yield found

    passed: list[object] = []
    monkeypatch.setattr(Judge, "check", check_two)
    with pytest.raises(type(error)) as raised:
        solve_text(CLIMB, arch="cpu", threads=1, seed=1, intermediate=intermediate)
    result = raised.value.result
    found = result.status, len(result.solutions), result.objective
    assert found == ("SATISFIED", 2 if intermediate else 1, passed[-1].objective)


@pytest.mark.covers("O11")
@needs_minizinc
def test_minizinc_shows_the_solution_and_the_error(minizinc, model, tmp_path):
    path = model("var 1..10: x; var 1..10: y; constraint x + y < 12 /\\ x != y;\n"
                 "solve :: int_search([x, y], input_order, indomain_min) maximize x + y;")  # fmt: skip
    spoilt = sabotage(tmp_path, "turbo_fzn.run.judge", BREAK_AT_THE_THIRD.format(error="MemoryError()"))
    done = minizinc(*STEPS, path, PYTHONPATH=spoilt)
    assert re.match(r"x = \d+;\ny = \d+;\n-{10}\n", done.stdout) and "=====ERROR=====" in done.stdout
    assert "out of memory" in done.stderr and done.returncode != 0


# ---- threads


@pytest.mark.parametrize("threads", [2, pytest.param(600, marks=pytest.mark.slow)])
def test_threads_that_the_system_does_not_give_are_an_error_that_says_so(tmp_path, threads):
    """The stack of each thread takes 8 MiB of the 3 GB that the process may map."""
    limits = "ulimit -s 8192; ulimit -v 3000000;"
    limit = 9000 if threads == 2 else round(1000 * PATIENCE)  # on a busy machine 300 threads are long in starting
    model = write(tmp_path, golomb(7 if threads == 2 else 12))  # the second is not solved before all are there
    done = in_shell(limits, "--arch", "cpu", "-p", threads, "-t", limit, model)
    if threads == 2:
        assert done.code == 0 and "cannot" not in done.errors
    else:
        assert (done.code, done.text) == (1, "=====ERROR=====\n")
        assert re.fullmatch(r"fzn-turbo: cannot run 600 threads: .*\n", done.errors), done.errors


# What a process does at its limit of threads.
NO_THREAD = """
import threading

def refuse(thread):
    raise RuntimeError("can't start new thread")

threading.Thread.start = refuse
"""


def test_not_even_one_thread_is_an_error_that_says_so_too(tmp_path):
    spoilt = sabotage(tmp_path, "turbo_fzn.run.prepare", NO_THREAD)
    answer = run(write(tmp_path, LEAST_SUM), PYTHONPATH=spoilt)
    assert (answer.code, answer.text) == (1, "=====ERROR=====\n")
    assert answer.errors == "fzn-turbo: cannot run a thread: can't start new thread\n"


def in_shell(first: str, *arguments: object) -> Answer:
    """Runs the command behind others of the shell."""
    command = ["sh", "-c", f'{first} exec "$@"', "sh", *COMMAND, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(), timeout=PATIENCE)
    return read(done.stdout, done.stderr, done.returncode)


# ---- what a library prints

# Below Python, as HiGHS 1.16 greets whoever makes a solver.
GREETING = """
import ctypes, os
libc = ctypes.CDLL(None)
libc.puts(b"Good day.")
libc.fflush(None)
os.write(1, b"Good day.\\n")
"""


@pytest.mark.parametrize("module", ["numpy", "turbo_fzn.engine.cpu"])
def test_what_a_library_prints_is_not_among_the_answers(tmp_path, module):
    talkative = sabotage(tmp_path, module, GREETING)
    answer = run("-s", "--arch", "cpu", write(tmp_path, golomb(8)), PYTHONPATH=talkative)
    assert (answer.code, answer.errors, answer.markers) == (0, "", ["=========="])
    assert value(answer, "m7") == 34 and "day" not in answer.text


# ---- stops that come early

MODULES = (
    "turbo_fzn.base.collector",
    "turbo_fzn.options.options",
    "turbo_fzn.run.answer.output",
    "turbo_fzn.options.parsing",
)


@pytest.mark.covers("T3", "T4", "T5")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=["INT", "TERM", "HUP"])
@pytest.mark.parametrize("module", MODULES)
def test_a_stop_at_the_very_beginning_is_an_answer_too(tmp_path, module, number):
    """While the first modules are imported, before the command line is read."""
    early = sabotage(tmp_path, module, f"import os; os.kill(os.getpid(), {int(number)})")
    answer = run("-s", write(tmp_path, golomb(12)), PYTHONPATH=early)
    assert (answer.code, answer.errors) == (0, "")
    assert answer.markers == ["=====UNKNOWN====="] and answer.text.endswith("%%%mzn-stat-end\n")


# No alarm comes, but another signal as soon as the answer is written.
LATE_SIGNAL = """
import os, signal
from turbo_fzn.process import stopping
stopping._set_alarm = lambda interrupt: None
write_soon = write
signals = [signal.SIGTERM]

def write(*others):
    write_soon(*others)
    while signals:
        os.kill(os.getpid(), signals.pop())
"""


@pytest.mark.covers("T5", "T7", "O10")
def test_a_signal_behind_the_answer_of_a_spent_limit_gives_no_other_one(tmp_path):
    late = sabotage(tmp_path, "turbo_fzn.run.answer.output", LATE_SIGNAL)
    assert run("-t", -1, write(tmp_path, golomb(12)), PYTHONPATH=late).text == "=====UNKNOWN=====\n"


def test_an_action_is_interrupted_too(tmp_path):
    early = sabotage(tmp_path, "turbo_fzn.options.parsing", "import os, signal; os.kill(os.getpid(), signal.SIGINT)")
    answer = run("--info", PYTHONPATH=early)
    assert (answer.code, answer.text, answer.errors) == (1, "=====ERROR=====\n", "fzn-turbo: interrupted\n")


# ---- a time limit that passes before the search begins

# The engine is made when the limit has just passed.
LATE = """
import time
run_soon = Search.run_once

def run_once(self, *others):
    time.sleep(max(self.prepared.started + self.options.time_limit / 1000 - time.monotonic(), 0))
    return run_soon(self, *others)

Search.run_once = run_once
"""


@pytest.mark.covers("T7")
@pytest.mark.parametrize("text", [THREE_SOLUTIONS, LEAST_SUM], ids=["satisfy", "minimize"])
def test_a_small_model_is_answered_though_its_time_is_spent_before_the_search(tmp_path, text):
    late = sabotage(tmp_path, "turbo_fzn.run.search", LATE)
    path = write(tmp_path, text)
    for limit in time_limits():  # on a busy machine another 0.2 s may not be enough
        began = time.monotonic()
        answer = run("-t", limit, "--arch", "cpu", path, PYTHONPATH=late)
        assert time.monotonic() - began > limit / 1000 - 0.1
        if answer.solutions:
            break
    assert (answer.code, answer.errors, answer.markers) == (0, "", [] if text == THREE_SOLUTIONS else ["=========="])
    assert len(answer.solutions) == 1


@pytest.mark.covers("T7")
def test_what_one_dive_finds_in_a_large_space_is_delivered_and_the_dive_ends(tmp_path):
    late = sabotage(tmp_path, "turbo_fzn.run.search", LATE)
    path = write(tmp_path, golomb(11))
    for limit in time_limits():
        with ends_soon(after=limit / 1000):  # its proof takes minutes
            answer = run("-s", "-t", limit, "--arch", "cpu", path, PYTHONPATH=late)
        if answer.solutions:
            break
    assert answer.code == 0 and answer.markers == []
    assert int(answer.statistics["objective"]) == value(answer, "m10")


@pytest.mark.covers("T5", "T7")
def test_a_preparation_that_goes_on_and_on_ends_as_unknown_soon_behind_its_limit(tmp_path):
    endless = sabotage(tmp_path, "turbo_fzn.run.prepare", f"import time; time.sleep({PATIENCE})")
    with ends_soon(after=0.3):
        answer = run("-t", 300, "-s", write(tmp_path, THREE_SOLUTIONS), PYTHONPATH=endless)
    assert (answer.code, answer.markers, answer.solutions) == (0, ["=====UNKNOWN====="], [])


@pytest.mark.covers("F13")
def test_a_time_limit_of_zero_is_none_for_a_caller_of_the_package_too(tmp_path):
    assert solve_text(LEAST_SUM, time_limit=0, arch="cpu").status == "OPTIMAL_SOLUTION"
    assert run("-t", 0, write(tmp_path, LEAST_SUM)).markers == ["=========="]
