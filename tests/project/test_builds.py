"""What takes long to build is built once, also for processes that want it at the same time (builds.py)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from support import builds
from support.places import TESTS

BUILD = """
import os, sys, time
from support.builds import build_once
def make(folder):
    time.sleep(0.1)
    (folder / str(os.getpid())).touch()
print(*os.listdir(build_once("thing", make)))
"""


@pytest.fixture
def place(monkeypatch, tmp_path) -> Path:
    monkeypatch.setenv(builds.VARIABLE, str(tmp_path))
    return tmp_path


def test_processes_that_want_the_same_build_it_once(place):
    command = [sys.executable, "-c", BUILD]
    processes = [subprocess.Popen(command, cwd=TESTS, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    said = {process.communicate()[0] for process in processes}
    assert len(said) == 1 and len(said.pop().split()) == 1


def test_of_other_ingredients_another_is_built(place):
    made: list[Path] = []
    folders = [builds.build_once("thing", made.append, *some) for some in ((1, "a"), (1, "b"), (1, "a"), ())]
    assert folders[0] == folders[2] and len(set(folders)) == 3
    assert made == [folders[0], folders[1], folders[3]]


def test_what_could_not_be_built_is_begun_anew(place):
    def fail(folder: Path) -> None:
        (folder / "half").touch()
        raise RuntimeError

    with pytest.raises(RuntimeError):
        builds.build_once("thing", fail)
    folder = builds.build_once("thing", lambda folder: (folder / "whole").touch())
    assert [path.name for path in folder.iterdir()] == ["whole"]
