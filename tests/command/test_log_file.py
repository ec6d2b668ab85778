"""`--log-file`: what -v says, with UTC time and level, whatever stderr shows."""

from __future__ import annotations

import re
import subprocess
import time
from datetime import datetime, timedelta, timezone

import pytest

from support.command import COMMAND, LEAST_SUM, THREE_SOLUTIONS, environment, run, write
from support.warm import ask
from turbo_fzn.options.options import EXIT

LINE = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3})Z (INFO|WARNING|ERROR) (.+)")


def entries(path) -> list[tuple[datetime, str, str]]:
    """Time, level and text of each line."""
    found = []
    for line in path.read_text().splitlines():
        match = LINE.fullmatch(line)
        assert match, line
        when = datetime.strptime(match[1], "%Y-%m-%dT%H:%M:%S.%f").replace(tzinfo=timezone.utc)
        found.append((when, match[2], match[3]))
    return found


def test_it_has_the_log_with_utc_times_and_stderr_stays_as_it_is(tmp_path):
    path, began = tmp_path / "log", time.time()
    answer = run("--log-file", path, "--arch", "cpu", write(tmp_path, LEAST_SUM), TZ="Asia/Tokyo")
    assert (answer.code, answer.errors, answer.markers) == (0, "", ["=========="])
    log = entries(path)
    times = [when for when, _, _ in log]
    assert times == sorted(times)
    assert timedelta(0) <= times[0] - datetime.fromtimestamp(int(began), timezone.utc) < timedelta(hours=1)
    assert {level for _, level, _ in log} == {"INFO"}
    texts = [text for _, _, text in log]
    assert str(path) in texts[0] and any(text.startswith("lower: ") for text in texts)
    assert texts[-1] == "end: OPTIMAL_SOLUTION, solutions: 1"


def test_with_verbose_both_have_the_same_lines(tmp_path):
    path = tmp_path / "log"
    answer = run("-v", "--log-file", path, "--arch", "cpu", write(tmp_path, LEAST_SUM))
    shown = [line.removeprefix("fzn-turbo: ") for line in answer.errors.splitlines()]
    assert len(shown) > 5 and shown == [text for _, _, text in entries(path)][1:]


def test_warnings_and_errors_have_their_levels_and_runs_are_appended(tmp_path):
    path = tmp_path / "log"
    odd = write(tmp_path, THREE_SOLUTIONS.replace("solve", "solve :: frobnicate(x)"), "odd.fzn")
    wrong = write(tmp_path, "var 1..3: x;\nconstraint foo(x);\nsolve satisfy;\n", "wrong.fzn")
    assert run("--log-file", path, "-version", "1", odd).code == 0
    assert run("--log-file", path, wrong).code == 1
    told = [(level, text) for _, level, text in entries(path) if level != "INFO"]
    assert [level for level, _ in told] == ["WARNING", "WARNING", "ERROR"]
    assert "frobnicate" in told[1][1] and told[2][1] == f"{wrong}:2:1: unknown predicate `foo`"


def test_runs_of_one_process_have_their_warnings_once_each_in_its_own_file(tmp_path):
    files = [tmp_path / f"log{i}" for i in range(2)]
    flags = ["--json-stream", "--arch", "cpu", "-version", "1", str(write(tmp_path, LEAST_SUM))]
    runs = [["--log-file", str(file), *flags] for file in files]
    code = f"from turbo_fzn.command.cli import main\nfor run in {runs}: main(run)"
    done = subprocess.run([*COMMAND[:1], "-c", code], capture_output=True, text=True, env=environment(), check=True)
    assert done.stdout.count('"warning"') == 2
    assert [[level for _, level, _ in entries(file)].count("WARNING") for file in files] == [1, 1]


def test_a_file_that_cannot_be_written_or_is_the_model_is_an_error(tmp_path):
    model = write(tmp_path, LEAST_SUM)
    answer = ask("--log-file", tmp_path / "none" / "log", model)
    assert (answer.code, answer.markers) == (1, ["=====ERROR====="]) and "No such file" in answer.errors
    answer = ask("--log-file", model, model)
    assert answer.code == 1 and "would be overwritten" in answer.errors and model.read_text() == LEAST_SUM


@pytest.mark.parametrize(
    ("flags", "code"),
    [(["-t", "-1"], 0), (["--memory-limit", "1"], 0), ([], 0), (["--frobnicate"], 1), (["-p", "0"], 1)],
    ids=["time", "memory", "answer", "flag", "value"],
)
def test_the_exit_code_is_as_the_help_says(tmp_path, flags, code):
    assert run(*flags, write(tmp_path, LEAST_SUM)).code == code
    assert EXIT.startswith("0 for every answer") and "; 1 for an error" in EXIT


def test_the_help_tells_the_exit_codes():
    command = [*COMMAND, "--help-all"]
    told = subprocess.run(command, capture_output=True, text=True, env=environment(), check=True).stdout
    assert " ".join(EXIT.split()) in " ".join(told.split())
