"""What a stop does not wait for: a check that takes long, an engine, a relaxation, a reader who does not read."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import termios
import threading
import time
from array import array

import pytest

from support import command
from support.command import (
    GREATEST_SUM,
    LEAST_SUM,
    PATIENCE,
    SEPARATOR,
    THREE_SOLUTIONS,
    finish,
    golomb,
    grid,
    run,
    time_limits,
    wait_until,
    write,
)
from support.sabotage import sabotage
from support.scripted import Scripted
from turbo_fzn.bounds.search.listener import NO_SOLUTION
from turbo_fzn.bounds.thread.relaxation_thread import Bounder
from turbo_fzn.options.options import Options
from turbo_fzn.process import streams
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.process.tuning import TUNING
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.run import search
from turbo_fzn.run.prepare import prepare

CLIMB = GREATEST_SUM.replace("indomain_max", "indomain_min")  # improves many times
STEPS = ["-r", "1", "--arch", "cpu", "-s", "-v"]  # each improvement by itself, in the same order in each run
PAGE = 4096  # bytes: a pipe is full when each of its pages has some
MUCH = 3800  # bytes of a page behind which there is another: a write that does not fit begins a new one
UNKNOWN = ["=====UNKNOWN====="]

# The check of one solution comes to no end.
ENDLESS = """
import sys
good, count = Judge.check, 0

def check(self, arrived):
    global count
    for found in good(self, arrived):
        count += 1
        while count == {number}:
            if sys.stderr:
                sys.stderr.write("fzn-turbo: it begins\\n")
                sys.stderr = None
        yield found

Judge.check = check
"""


@contextlib.contextmanager
def start(*arguments: object, **changes: str):
    """A process that does not outlive the test."""
    with command.start(*arguments, **changes) as process:
        try:
            yield process
        finally:
            process.kill()


def stop_in_check(folder, number: int, *flags: object):
    """The answer of a process that is told to stop while it checks this solution."""
    spoilt = sabotage(folder, "turbo_fzn.run.judge", ENDLESS.format(number=number))
    with start(*STEPS, *flags, write(folder, CLIMB), PYTHONPATH=spoilt) as process:
        assert any("it begins" in line for line in process.stderr)
        process.send_signal(signal.SIGTERM)
        return finish(process)


@pytest.mark.covers("T2", "F2")
@pytest.mark.parametrize("flags", [[], ["-i"]], ids=["last", "every"])
def test_a_stop_in_a_check_that_takes_long_delivers_the_best_solution_before_it(tmp_path, flags):
    every = run(*STEPS, "-i", write(tmp_path, CLIMB)).solutions
    answer = stop_in_check(tmp_path, 3, *flags)
    assert (answer.code, answer.markers) == (0, [])
    assert answer.solutions == (every[:2] if flags else every[1:2])
    assert f"z = {answer.statistics['objective']};" in answer.solutions[-1]
    assert answer.statistics["solutions"] == "2" and answer.text.endswith("%%%mzn-stat-end\n")


@pytest.mark.covers("T2", "T5")
def test_where_the_first_check_takes_long_nothing_unchecked_is_printed(tmp_path):
    answer = stop_in_check(tmp_path, 1)
    assert (answer.code, answer.markers, answer.solutions) == (0, UNKNOWN, [])


@pytest.mark.slow
@pytest.mark.covers("T1", "F2")
def test_nor_does_a_time_limit_wait_for_a_check(tmp_path):
    spoilt = sabotage(tmp_path, "turbo_fzn.run.judge", ENDLESS.format(number=3))
    answer = run(*STEPS, "-t", 3000, write(tmp_path, CLIMB), PYTHONPATH=spoilt)
    assert (answer.code, answer.markers) == (0, []) or answer.markers == UNKNOWN  # on a busy machine
    assert len(answer.solutions) <= 1


def prepared_search(text: str) -> tuple[search.Search, Interrupt]:
    options, interrupt = Options(arch="cpu", relaxation="off"), Interrupt()
    return search.Search(prepare(parse_text(text), options, interrupt), options, interrupt), interrupt


def test_a_request_stops_the_engine_itself_and_not_the_next_look_at_it():
    begun, interrupt = prepared_search(LEAST_SUM)
    begun.engine = Scripted()
    interrupt.request()
    assert begun.engine.asked == ["halt"]


def test_while_nothing_is_found_the_check_is_made_ready(monkeypatch):
    """The first one of a large model took longer than a stop may."""
    begun, _ = prepared_search(LEAST_SUM)
    engine, polls = Scripted(), iter(range(2000))  # two seconds at least

    def poll() -> list:
        if "tables" in vars(begun.judge.checker) or next(polls, None) is None:
            engine.finish(complete=True)
        return []

    engine.poll, engine.repeats, engine.statistics, engine.open_work = poll, False, dict, 1
    monkeypatch.setattr(search, "make_engine", lambda *ignored: engine)
    list(begun.events())
    tables = vars(begun.judge.checker)["tables"]
    assert all("columns" in vars(group) for group in tables.groups.values() if group.column_relation)


class Slow(Bounder):
    """The first who reads `best` is overtaken by another, if that can be."""

    sense = 1
    value, reading, overtaken = NO_SOLUTION, threading.Event(), threading.Event()

    @property
    def best(self) -> int:
        value = self.value
        if not self.reading.is_set() and threading.current_thread().name == "slow":
            self.reading.set()
            self.overtaken.wait(0.2)
        return value

    @best.setter
    def best(self, value: int) -> None:
        self.value = value

    def work(self) -> None:
        pass


def test_of_two_who_tell_solutions_at_once_the_better_one_counts():
    """A worse one in its place made the relaxation prove a bound that is none."""
    bounder = Slow()
    slow = threading.Thread(target=bounder.tell, args=(5,), name="slow")
    slow.start()
    assert bounder.reading.wait(PATIENCE)
    bounder.tell(3)
    bounder.overtaken.set()
    slow.join()
    assert bounder.best == 3


# ---- readers


def fill(stream) -> None:
    """Until what the process has written fills the pipe to its reader, and it waits.

    A pipe has 16 pages, or one or two where its user has many pipes (pipe(7), pipe-user-pages-soft).
    """
    waiting = array("i", [0])
    pages = fcntl.fcntl(stream, fcntl.F_GETPIPE_SZ) // PAGE

    def is_full() -> bool:
        fcntl.ioctl(stream, termios.FIONREAD, waiting)
        return waiting[0] > MUCH * (pages - 1)

    wait_until(is_full)


def is_cut_behind_a_solution_or_in_it(text: str) -> bool:
    *whole, rest = text.split(f"{SEPARATOR}\n")
    return bool(whole) and all(len(one.splitlines()) == 3 for one in whole) and rest.count("\n") < 4


@pytest.mark.slow
def test_at_the_time_limit_a_reader_who_does_not_read_is_waited_for_no_longer(tmp_path):
    path = write(tmp_path, grid(300))
    for limit in time_limits():
        with start("-a", "-t", limit, "--arch", "cpu", path) as process:
            assert process.wait(PATIENCE) == 0
            text = process.stdout.read()
        if text not in ("", "=====UNKNOWN=====\n"):  # else the machine is so busy that the search has not begun
            break
    assert is_cut_behind_a_solution_or_in_it(text)


@pytest.mark.parametrize("again", [False, True], ids=["once", "twice"])
def test_a_signal_ends_a_process_whose_reader_does_not_read(tmp_path, again):
    with start("-a", "--arch", "cpu", write(tmp_path, grid(300))) as process:
        fill(process.stdout)
        process.send_signal(signal.SIGTERM)
        if again:
            time.sleep(0.1)
            process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
        assert is_cut_behind_a_solution_or_in_it(process.stdout.read())


def test_a_log_that_nobody_reads_holds_no_process_either(tmp_path):
    with start("-a", "-v", "--arch", "cpu", write(tmp_path, grid(300))) as process:
        reader = threading.Thread(target=process.stdout.read)
        reader.start()
        fill(process.stderr)
        process.send_signal(signal.SIGTERM)
        if not has_ended(process, TUNING.firm_seconds + 1):
            process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
        reader.join()


def has_ended(process, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < end:
        time.sleep(0.01)
    return process.poll() is not None


def long_solutions() -> str:
    """Each takes more than a pipe holds."""
    names = [f"x{i}" for i in range(22000)]
    lines = [f"var 0..1: {name};" for name in names]
    lines += [f"array [1..22000] of var int: x :: output_array([1..22000]) = [{','.join(names)}];"]
    return "\n".join([*lines, "solve satisfy;\n"])


@pytest.mark.covers("T4")
def test_a_solution_that_is_being_printed_when_a_stop_comes_is_printed_to_its_end(tmp_path):
    with start("-a", "-s", "--arch", "cpu", write(tmp_path, long_solutions())) as process:
        first = process.stdout.read(1000)
        fill(process.stdout)
        process.send_signal(signal.SIGTERM)
        time.sleep(0.4)  # behind the last call, and before the reader counts for gone
        answer = finish(process, first)
    assert answer.code == 0 and answer.solutions and answer.text.endswith("%%%mzn-stat-end\n")


@pytest.fixture
def pipe():
    """(reader, Outlet) of a pipe."""
    reader, writer = os.pipe()
    yield reader, streams.Outlet(writer, "utf-8", None)
    os.close(reader)
    os.close(writer)


def test_a_slow_reader_gets_all_also_in_a_hurry(pipe):
    reader, outlet = pipe
    got = bytearray()

    def take() -> None:
        while len(got) < 200_000:
            time.sleep(0.001)
            got.extend(os.read(reader, 1000))

    thread = threading.Thread(target=take)
    thread.start()
    outlet.hurry()
    outlet.write("x" * 200_000)
    outlet.flush()
    thread.join()
    assert got == b"x" * 200_000


def test_who_takes_nothing_has_left(pipe, monkeypatch):
    monkeypatch.setattr(TUNING, "reader_seconds", 0.05)
    _, outlet = pipe
    outlet.write("x" * 200_000)
    outlet.hurry()
    with pytest.raises(BrokenPipeError):
        outlet.flush()
    outlet.flush()  # nothing is kept


# ---- signals and limits of all kinds


@contextlib.contextmanager
def ignored(number: int):
    before = signal.signal(number, signal.SIG_IGN)
    yield
    signal.signal(number, before)


def test_a_signal_that_nohup_ignores_stays_ignored(tmp_path):
    with ignored(signal.SIGHUP), start("-v", "--arch", "cpu", write(tmp_path, golomb(12))) as process:
        assert any(": solution 1, " in line for line in process.stderr)
        process.send_signal(signal.SIGHUP)
        assert not has_ended(process, 1)
        process.send_signal(signal.SIGTERM)
        assert finish(process).solutions


@pytest.mark.covers("T7")
@pytest.mark.parametrize("limit", [-1, -457])
def test_a_time_limit_that_is_spent_before_the_start_is_unknown_and_no_error(tmp_path, limit):
    answer = run("-s", "-t", limit, write(tmp_path, THREE_SOLUTIONS))
    assert (answer.code, answer.errors, answer.markers, answer.solutions) == (0, "", UNKNOWN, [])


def test_of_mpi_without_a_launcher_nothing_stays_behind(tmp_path):
    folder = tmp_path / "temporary"
    folder.mkdir()
    environment = {"OMPI_COMM_WORLD_SIZE": "2", "TMPDIR": str(folder)}
    answer = run("--arch", "cpu", write(tmp_path, THREE_SOLUTIONS), **environment)
    assert len(answer.solutions) == 1 and list(folder.iterdir()) == []
