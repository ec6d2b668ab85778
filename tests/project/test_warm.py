"""The command that is forked off a process with its modules answers as the one that is started."""

from __future__ import annotations

import re
import time

import pytest

from support import warm
from support.command import GREATEST_SUM, NO_SOLUTION_BY_SEARCH, THREE_SOLUTIONS, run, write
from support.places import CORPUS
from support.processor_time import processor_seconds
from support.warm import ask

QUESTIONS = {
    "all solutions": (["-a"], THREE_SOLUTIONS),
    "an optimum": (["-s", "-p", 2], GREATEST_SUM),
    "no solution": (["--no-simplify"], NO_SOLUTION_BY_SEARCH),
    "what is done": (["-v", "-r", 1], GREATEST_SUM),
    "a wrong flag": (["--colour"], GREATEST_SUM),
    "a wrong text": ([], "var 1..3: x;\nsolve"),
}


def without_figures(text: str) -> str:
    return re.sub(r"\d+(\.\d+)?(e-?\d+)?", "N", text)


@pytest.mark.parametrize("name", QUESTIONS)
def test_it_prints_what_the_command_prints_and_ends_alike(tmp_path, name):
    flags, text = QUESTIONS[name]
    path = write(tmp_path, text)
    forked, started = ask(*flags, path), run(*flags, path)
    assert forked.solutions == started.solutions or name == "all solutions"
    assert sorted(forked.solutions) == sorted(started.solutions)
    assert (forked.markers, forked.code) == (started.markers, started.code)
    assert forked.statistics.keys() == started.statistics.keys()
    assert without_figures(forked.errors) == without_figures(started.errors)
    if not started.solutions:
        assert without_figures(forked.text) == without_figures(started.text)


def test_folder_and_environment_are_those_of_the_moment(tmp_path, monkeypatch):
    write(tmp_path, THREE_SOLUTIONS, "here.fzn")
    assert ask("here.fzn").code == 1
    monkeypatch.chdir(tmp_path)
    assert ask("here.fzn").solutions
    monkeypatch.setenv("TURBO_FZN_KERNEL_FLAGS", "-DNOTHING")
    monkeypatch.setenv("CXX", "/no/such/compiler")
    answer = ask("--arch", "cpu", "here.fzn")
    assert answer.code == 1 and "/no/such/compiler" in answer.errors


def test_what_does_not_end_is_killed_and_the_next_question_is_answered(tmp_path):
    path = write(
        tmp_path,
        "var 0..4000000000000000000: x;\nvar 0..4000000000000000000: y;\nvar 0..4000000000000000000: z;\n"
        "constraint int_max(x,y,z);\nconstraint int_lt(x,z);\nconstraint int_lt(y,z);\nsolve satisfy;\n",
    )
    assert ask(path, timeout=1).code == -9
    assert ask("--arch", "cpu", CORPUS / "queens.fzn").code == 0


def test_what_it_takes_of_processors_is_counted():
    before, began = processor_seconds(), time.process_time()
    ask("--arch", "cpu", CORPUS / "queens.fzn")
    assert processor_seconds() - before > time.process_time() - began
    assert warm.processor_seconds() > 0
