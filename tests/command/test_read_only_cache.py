"""A cache that was filled and then made read-only, as in an image or on a cluster: what it holds is used, and what it
lacks is told to be compiled in vain."""

from __future__ import annotations

import ctypes
import os
import subprocess
from pathlib import Path

import pytest

from support.command import COMMAND, LEAST_SUM, PATIENCE, Answer, environment, read, value, write
from support.fake_machine import fill_cache
from turbo_fzn.base import cache
from turbo_fzn.engine.toolchain import compiler

DROP_FROM_BOUNDING_SET, MAY_IGNORE_MODES = 24, 1  # of prctl(2) and capabilities(7)


def let_modes_bind() -> None:
    """Also a process of root."""
    if os.geteuid() == 0:
        ctypes.CDLL(None).prctl(DROP_FROM_BOUNDING_SET, MAY_IGNORE_MODES, 0, 0, 0)


def run(*arguments: object, **changes: str) -> Answer:
    done = subprocess.run(
        [*COMMAND, *map(str, arguments)],
        capture_output=True, text=True, env=environment(**changes), timeout=PATIENCE, preexec_fn=let_modes_bind,
    )  # fmt: skip
    return Answer([], [], {}, done.stdout, done.stderr, done.returncode)


def solve(*arguments: object, **changes: str) -> Answer:
    return read(*run("--arch", "cpu", *arguments, **changes)[3:])


@pytest.fixture
def folder(tmp_path):
    """One that nobody may write to any more, nor to what is in it."""
    folder = fill_cache(tmp_path / "cache")
    for path in folder.iterdir():
        path.chmod(0o400)
    folder.chmod(0o500)
    yield folder
    folder.chmod(0o700)


def test_a_complete_cache_is_used_although_nothing_can_be_written_to_it(tmp_path, folder):
    (tmp_path / "temporary").mkdir()
    changes = {"TURBO_FZN_CACHE": str(folder), "TMPDIR": str(tmp_path / "temporary")}
    answer = solve("-v", write(tmp_path, LEAST_SUM), **changes)
    assert (answer.code, value(answer, "z")) == (0, 7)
    assert "compile" not in answer.errors and "cache" not in answer.errors
    assert list((tmp_path / "temporary").iterdir()) == []


@pytest.mark.slow
def test_what_a_read_only_cache_lacks_is_told_to_be_compiled_for_one_run(tmp_path, folder):
    quick = tmp_path / "quick-c++"
    quick.write_text('#!/bin/sh\nexec c++ "$@" -O0\n')
    quick.chmod(0o755)
    held = sorted(folder.iterdir())
    answer = solve(write(tmp_path, LEAST_SUM), TURBO_FZN_CACHE=str(folder), CXX=str(quick))
    assert (answer.code, value(answer, "z")) == (0, 7)
    told = f"the cache folder {folder} cannot be written: what is compiled now is lost when this run ends"
    assert answer.errors == f"fzn-turbo: {told}\n"
    assert sorted(folder.iterdir()) == held


def test_info_and_doctor_tell_what_a_read_only_cache_holds(folder):
    held = len(list(folder.glob("*.so")))
    told = run("--info", TURBO_FZN_CACHE=str(folder)).text
    assert f"cache: {folder}, {held} compiled, and nothing can be added\n" in told
    said = run("--doctor", TURBO_FZN_CACHE=str(folder)).text
    assert f"wrong  cache: {folder} cannot be written, and lacks the CPU engine" in said, "that of real variables"
    assert f"chmod u+rwx,go-w {folder}" in said


def test_the_doctor_has_nothing_against_a_read_only_cache_that_is_complete(folder, monkeypatch):
    from turbo_fzn.command import doctor

    monkeypatch.setenv("TURBO_FZN_CACHE", str(folder))
    monkeypatch.setattr(cache, "writable_folder", lambda: None)
    monkeypatch.setattr(doctor.ahead, "CPU_ENGINES", ((32, ()), (64, ())))
    assert doctor.kernel_cache().state == doctor.OK


def test_of_a_read_only_cache_the_engine_that_compiled_soon_serves_where_there_is_no_other(tmp_path, monkeypatch):
    monkeypatch.setenv("TURBO_FZN_CACHE", str(tmp_path / "cache"))
    for name in ("CXX", "TURBO_FZN_KERNEL_FLAGS"):
        monkeypatch.delenv(name, raising=False)
    hasty = [*compiler._cpu_command(32, ()), *compiler.QUICK_FLAGS]
    path = cache.find_folder() / compiler._name("cpu32", ".so", hasty)
    path.write_bytes(b"compiled")
    cache.seal(path)
    monkeypatch.setattr(cache, "writable_folder", lambda: None)
    assert compiler.soonest_cpu_library(32) == path


def test_a_folder_that_can_only_be_read_is_none_to_write_to(tmp_path):
    folder = Path(tmp_path / "cache")
    folder.mkdir(mode=0o500)
    code = "from turbo_fzn.base import cache; print(cache.find_folder(), cache.writable_folder())"
    done = subprocess.run(
        [COMMAND[0], "-c", code], preexec_fn=let_modes_bind, capture_output=True, text=True, check=True,
        env=environment(TURBO_FZN_CACHE=str(folder)),
    )  # fmt: skip
    assert done.stdout == f"{folder} None\n"
