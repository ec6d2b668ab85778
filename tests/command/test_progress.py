"""The bar on the terminal: drawn only for what takes long, erased in the end, and never without a terminal."""

from __future__ import annotations

import contextlib
import io
import itertools
import logging
import os
import pty
import re
import select
import signal
import subprocess
import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest

from lab.bench.front import growing_model
from support.command import COMMAND, PATIENCE, THREE_SOLUTIONS, environment, finish, golomb, run, start, write
from turbo_fzn.base import progress
from turbo_fzn.base.progress import ERASE, Stage, line
from turbo_fzn.base.tuning import TUNING
from turbo_fzn.engine.contract import Found
from turbo_fzn.lower.rewrite import Rewriter, lower
from turbo_fzn.read.flatzinc import FlatZincReader, parse_text
from turbo_fzn.run.answer import live


class Terminal(io.StringIO):
    """Lets a test wait until something was drawn; `writes` is what was written, piece by piece."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[str] = []
        self.written = threading.Event()

    def write(self, text: str) -> int:
        self.writes.append(text)
        return super().write(text)

    def flush(self) -> None:
        self.written.set()


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    """A terminal on which stages are shown at once."""
    stream = Terminal()
    monkeypatch.setattr(TUNING, "progress_patience_seconds", 0.0)
    monkeypatch.setattr(progress, "_bar", progress.Bar(stream))
    yield stream
    for thread in threading.enumerate():
        if thread.name == "bar":
            thread.join(PATIENCE)


def test_a_phase_is_drawn_with_its_share_and_erased(terminal):
    with progress.stage("lower", lambda: 0.5):
        assert terminal.written.wait(PATIENCE)
    drawn = terminal.getvalue().removeprefix(ERASE)
    assert re.match(r"fzn-turbo: lower, \d+ s \[###############...............\] 50%", drawn)
    assert terminal.getvalue().endswith(ERASE)


def test_of_stages_within_stages_the_innermost_is_drawn(terminal):
    with progress.stage("simplify"), progress.stage("compile cpu32"):
        assert terminal.written.wait(PATIENCE)
    assert "compile cpu32" in terminal.getvalue() and "simplify" not in terminal.getvalue()


def test_a_phase_of_another_thread_is_not_drawn(terminal):
    def work() -> None:
        with progress.stage("compile gpu32s"):
            time.sleep(3 * TUNING.progress_seconds)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert terminal.getvalue() == ""


def test_a_short_phase_is_not_drawn(terminal, monkeypatch):
    monkeypatch.setattr(TUNING, "progress_patience_seconds", PATIENCE)
    with progress.stage("parse"):
        time.sleep(3 * TUNING.progress_seconds)
    assert terminal.getvalue() == ""


def test_what_is_told_takes_the_bar_away_first(terminal):
    with progress.stage("parse"):
        assert terminal.written.wait(PATIENCE)
        assert ERASE not in terminal.writes
        progress.erase()
        assert ERASE in terminal.writes  # it may have been drawn again since


@pytest.mark.parametrize(("share", "shown"), [(-1.0, "] 0%"), (0.333, "] 33%"), (2.0, "] 100%")])
def test_a_share_is_from_0_to_1(share, shown):
    assert line(Stage("parse", lambda: share, 0.0), 61.4).endswith(shown)
    assert line(Stage("root", None, 0.0), 61.4) == "fzn-turbo: root, 61 s"


def test_the_shares_of_reading_and_lowering_rise_to_the_end(monkeypatch):
    text = growing_model(4000)
    reader = FlatZincReader(text, "")
    shares = [reader.share()]
    reader.read()
    shares.append(reader.share())
    assert shares[0] == 0 and 0.9 < shares[1] <= 1
    seen: list[float] = []
    bind = Rewriter.bind

    def look(self, constraint):
        seen.append(self.progress())
        return bind(self, constraint)

    monkeypatch.setattr(Rewriter, "bind", look)
    lower(parse_text(text))
    assert seen == sorted(seen) and 0.5 < seen[0] < 0.51 and 0.99 < seen[-1] <= 1  # no more than a block is taken early


# ---- the search


class Clock:
    """Stands for the module time."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


class Searching:
    """Stands for an engine that runs: a thousand nodes a second."""

    bound, open_work = -98, 12

    def __init__(self, clock: Clock):
        self.clock = clock

    def statistics(self) -> dict[str, int]:
        return {"nodes": round((self.clock.now - 100) * 1000)}


def lines_of(
    seconds: float, sense: int, monkeypatch: pytest.MonkeyPatch, told: list[str], verbose: bool = False
) -> list[str]:
    """What is told of a search that is looked at every tenth of a second, and finds something after 2.95 s."""
    clock = Clock()
    monkeypatch.setattr(live, "time", clock)
    monkeypatch.setattr(progress, "_bar", object())
    monkeypatch.setattr(progress, "tell", told.append)
    search = live.Live(clock.now, sense, verbose=verbose)
    for step in range(round(seconds * 10)):
        clock.now = 100 + step / 10
        if step == 30:
            search.note(Found(80, 3, "window", np.empty(0)))
        search.look(Searching(clock), n_solutions=int(step >= 30))
    return told


def test_a_search_tells_its_state_once_a_second(monkeypatch):
    told = lines_of(5.0, -1, monkeypatch, [])
    assert told == [
        "2 s: 1k nodes/s, no solution, bound 98, 12 open",
        "3 s: 1k nodes/s, objective 80, bound 98, gap 18.4 %, 12 open, last by window in block 3 at 3.0 s",
        "4 s: 1k nodes/s, objective 80, bound 98, gap 18.4 %, 12 open, last by window in block 3 at 3.0 s",
    ]


def test_a_search_without_objective_counts_its_solutions(monkeypatch):
    last = lines_of(3.5, 0, monkeypatch, [])[-1]
    assert last == "3 s: 1k nodes/s, 1 solution, 12 open, last by window in block 3 at 3.0 s"


def test_a_log_is_told_ever_more_rarely(monkeypatch, caplog):
    with caplog.at_level(logging.INFO, logger="turbo_fzn"):
        assert lines_of(100.0, -1, monkeypatch, [], verbose=True) == []
    seconds = [int(record.message.split(" s:")[0]) for record in caplog.records]
    assert seconds[:3] == [2, 3, 4] and all(1 <= b - a <= 6 for a, b in itertools.pairwise(seconds))
    assert seconds[-1] - seconds[-2] >= 4 and len(seconds) < 60


def test_a_terminal_shows_what_goes_into_a_file_alone(monkeypatch, caplog):
    with caplog.at_level(logging.INFO, logger="turbo_fzn"):
        told = lines_of(5.0, -1, monkeypatch, [])
    assert told == [record.message for record in caplog.records] and len(told) == 3


LINE = r"fzn-turbo: \d+ s: [1-9][\d.]*[kM]? nodes/s, objective \d+, bound \d+, gap [\d.]+ %, \d+ open"


def read_until(pattern: str, descriptor: int) -> str:
    """What arrives, up to the pattern."""
    text, deadline = "", time.monotonic() + PATIENCE
    awaited = select.poll()  # select.select takes no descriptor beyond 1,023
    awaited.register(descriptor)
    while not re.search(pattern, text):
        assert time.monotonic() < deadline, text
        if awaited.poll(1000):
            text += os.read(descriptor, 4096).decode()
    return text


def test_a_terminal_sees_how_the_search_goes_and_is_clean_in_the_end(tmp_path):
    path = write(tmp_path, golomb(12))
    ours, theirs = pty.openpty()
    try:
        command = [*COMMAND, "--arch", "cpu", str(path)]
        with subprocess.Popen(command, stderr=theirs, stdout=theirs, env=environment(TERM="xterm")) as process:
            text = read_until(LINE, ours)
            process.send_signal(signal.SIGINT)
            text += read_until("----------", ours)
    finally:
        os.close(ours)
        os.close(theirs)
    assert re.search(re.escape(ERASE) + LINE, text)
    assert text.rindex(ERASE) < text.index("m0 = 0;") and text.count("nodes/s") == text.count(f"{ERASE}fzn-turbo: ")


@pytest.mark.slow
@pytest.mark.covers("F12")
def test_a_pipe_sees_how_the_search_goes_with_v_alone(tmp_path):
    path = write(tmp_path, golomb(12))
    assert "nodes/s" not in run("--arch", "cpu", "-t", 4000, path).errors
    with start("--arch", "cpu", "-v", path) as process:
        read_until(LINE, process.stderr.fileno())
        process.send_signal(signal.SIGINT)
        answer = finish(process)
    assert len(answer.solutions) == 1 and "nodes/s" not in answer.text


def test_a_terminal_sees_no_bar_of_a_small_model_and_a_pipe_sees_nothing(tmp_path):
    path = write(tmp_path, THREE_SOLUTIONS)
    assert run("--arch", "cpu", path).errors == ""
    while drawn := seen_on_a_terminal("--arch", "cpu", str(path)):
        seconds = [int(number) for number in re.findall(r", (\d+) s", drawn)]
        assert seconds and min(seconds) >= TUNING.progress_patience_seconds, drawn  # so slow a machine is told to wait


def seen_on_a_terminal(*arguments: str) -> str:
    ours, theirs = pty.openpty()
    try:
        command = [*COMMAND, *arguments]
        subprocess.run(command, stderr=theirs, stdout=subprocess.DEVNULL, env=environment(TERM="xterm"), check=True)
        os.set_blocking(ours, False)
        with contextlib.suppress(BlockingIOError):
            return os.read(ours, 10_000).decode()
        return ""
    finally:
        os.close(ours)
        os.close(theirs)
