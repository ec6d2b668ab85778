"""What `make` and `pip install .` do before there is anything to run: what they install, and what they say."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.command import PATIENCE
from support.places import ROOT
from turbo_fzn.engine.toolchain import ahead, compilation, compiler

EXTRAS = {
    "demo": {"."},
    "install": {"."},
    "docs": {".", ".[docs]"},
    "test": {".", ".[test]"},
    "fuzz": {".", ".[test]"},
    "check": {".", ".[test,check]"},
}


@pytest.mark.parametrize("goal", EXTRAS)
def test_make_installs_what_the_goal_needs_and_no_more(tmp_path, goal):
    if shutil.which("make") is None:
        pytest.skip("make is not installed (apt-get install make)")
    command = ["make", "--dry-run", "--always-make", goal, f"VENV={tmp_path / 'venv'}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=PATIENCE)
    installed = [line.split()[-1].strip("'") for line in done.stdout.splitlines() if "pip install" in line]
    assert set(installed) == EXTRAS[goal] and len(installed) == len(EXTRAS[goal])


def test_make_says_what_it_does_before_a_silent_half_minute(tmp_path):
    if shutil.which("make") is None:
        pytest.skip("make is not installed (apt-get install make)")
    venv = tmp_path / "venv"
    command = ["make", "--dry-run", "--always-make", "test", f"VENV={venv}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=PATIENCE)
    lines = [line for line in done.stdout.splitlines() if line.startswith("echo ") or "pip install" in line]
    assert ["pip install" in line for line in lines] == [False, True, False, True]
    assert all(str(venv) in line for line in lines)


@pytest.fixture
def fake_compiler(tmp_path) -> Path:
    """Makes an empty file at once."""
    path = tmp_path / "fake-c++"
    path.write_text('#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done\n: > "$2"\n')
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("every", ["", "1"], ids=["the one that most models need", "all of them"])
def test_pip_says_on_the_terminal_what_is_compiled(tmp_path, fake_compiler, every):
    """Which it does not show of its own; where there is no terminal it is among what `pip -v` shows."""
    copy = tmp_path / "source"
    for name in ("turbo_fzn", "kernels", "share"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("setup.py", "setup.cfg", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    wheel = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", tmp_path / "out", copy]
    on_a_terminal = "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)"
    done = subprocess.run(
        [sys.executable, "-c", on_a_terminal, *map(str, wheel)],
        env={**os.environ, "CXX": str(fake_compiler), "TURBO_FZN_ALL_ENGINES": every},
        stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    lines = [line.strip() for line in done.stdout.splitlines()]
    number = len(compiler.CPU_VARIANTS) if every else 1
    first = f"{number} libraries, {os.cpu_count()} at a time, minutes" if every else "about a minute"
    said = [line for line in lines if line.startswith("turbo_fzn: compil")]
    assert said[0] == f"turbo_fzn: compiling the CPU engine: {first}"
    compiled = re.findall(r"turbo_fzn: compiled (\d+) of (\d+): (?:32|64) bits", done.stdout)
    assert compiled == [(str(i), str(number)) for i in range(1, number + 1)]


# Waits until as many of its kind have begun as there are cores, and fails where they never do.
TOGETHER = """#!/bin/sh
: > "{folder}/$$.begun"
for i in $(seq 600); do [ $(ls "{folder}" | grep -c begun) -ge 3 ] && exit 0; sleep 0.1; done
exit 1
"""


def test_a_wheel_for_gpus_has_code_for_each_and_for_those_to_come(tmp_path, monkeypatch):
    commands: list[list[str]] = []
    monkeypatch.setattr(compilation, "run_compiler", lambda command, folder: commands.append(command))
    monkeypatch.setattr(compiler, "find_nvcc", lambda: ["nvcc"])
    ahead.fill_package_for_gpus(tmp_path, lambda text: None)
    wanted = {f"-gencode=arch=compute_{one},code=sm_{one}" for one in ("80", "90", "100", "120")}
    wanted.add("-gencode=arch=compute_80,code=compute_80")
    assert len(commands) == len(ahead.GPU_VARIANTS)
    assert all({word for word in command if word.startswith("-gencode")} == wanted for command in commands)


def test_a_wheel_is_compiled_on_all_cores(tmp_path, monkeypatch):
    (tmp_path / "c++").write_text(TOGETHER.format(folder=tmp_path))
    (tmp_path / "c++").chmod(0o755)
    monkeypatch.setattr(compiler, "find_cpu_compiler", lambda: [str(tmp_path / "c++")])
    monkeypatch.setattr(ahead.os, "cpu_count", lambda: 3)
    said: list[str] = []
    ahead.fill_package(tmp_path / "compiled", said.append)
    assert len(said) == 1 + len(compiler.CPU_VARIANTS)
