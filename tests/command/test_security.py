"""What a model says goes nowhere but into the solver; what the installer writes goes where it is told."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.command import LEAST_SUM, PATIENCE, run, value, write
from turbo_fzn import solve_text
from turbo_fzn.base.errors import EngineError, ModelError
from turbo_fzn.base.resources import PACKAGE
from turbo_fzn.command import install
from turbo_fzn.engine.toolchain import compilation
from turbo_fzn.engine.toolchain import compiler as compiling
from turbo_fzn.options import configuration
from turbo_fzn.read.flatzinc import parse_text

EVIL_NAMES = ['x"; import os', "$(touch owned)", "`touch owned`", "-o/tmp/owned", "x\n#include <stdlib.h>"]


@pytest.fixture
def commands(tmp_path, monkeypatch) -> list[list[str]]:
    """Every command line that is started, in the order of their starts."""
    started: list[list[str]] = []
    real = subprocess.Popen.__init__

    def note(self, command, *arguments, **options):
        assert isinstance(command, list) and not options.get("shell"), "no shell"
        started.append(command)
        return real(self, command, *arguments, **options)

    monkeypatch.setattr(subprocess.Popen, "__init__", note)
    return started


def test_the_compilers_command_line_is_the_same_for_every_model(tmp_path, commands, monkeypatch):
    """What is compiled is the kernels' files, with flags of ours: nothing of the model is in it, nor is there a
    shell."""
    compiler = tmp_path / "stop"
    compiler.write_text("#!/bin/sh\nexit 1\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("CXX", str(compiler))
    monkeypatch.setenv("TURBO_FZN_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("TURBO_FZN_KERNEL_FLAGS", raising=False)
    compiling.find_cpu_compiler.cache_clear()
    try:
        for bits in (32, 64):
            with pytest.raises(EngineError):
                compiling.cpu_library(bits)
    finally:
        compiling.find_cpu_compiler.cache_clear()
    sources = str(compiling.kernels_folder() / "solve.cpp")
    assert [command[5:] for command in commands] == [
        [sources, str(compiler), *compiling.CPU_FLAGS, f"-DBOUND_BITS={bits}"] for bits in (32, 64)
    ]
    for command in commands:
        assert command[:4] == [sys.executable, "-c", compilation.PROGRAM, str(PACKAGE.parent)]
        assert re.fullmatch(rf"{tmp_path}/cache/cpu\d\d-\w+\.so", command[4])


def test_solving_starts_no_process_once_the_kernels_are_there(commands):
    solve_text(LEAST_SUM, arch="cpu")
    del commands[:]
    result = solve_text(LEAST_SUM.replace("x", "touch_owned"), arch="cpu", check=True)
    assert result.objective == 7 and commands == []


@pytest.mark.parametrize("name", EVIL_NAMES)
def test_an_identifier_is_of_letters_digits_and_underscores(name):
    with pytest.raises(ModelError):
        parse_text(f"var 1..2: {name} :: output_var;\nsolve satisfy;\n")


def test_a_string_in_an_annotation_is_never_looked_into(tmp_path):
    text = LEAST_SUM.replace("solve", 'constraint int_le(x,y) :: mzn_path("$(touch owned);`touch owned`");\nsolve')
    answer = run(write(tmp_path, text))
    assert value(answer, "z") == 7
    assert not list(Path().glob("owned")) and not (tmp_path / "owned").exists()


@pytest.mark.parametrize("file", ["$(touch owned).fzn", "; touch owned; .fzn", "-x.fzn", "a b'\"c.fzn"])
def test_the_name_of_a_file_is_only_opened(tmp_path, file):
    path = write(tmp_path, LEAST_SUM, file)
    assert value(run(path), "z") == 7
    assert sorted(entry.name for entry in tmp_path.iterdir()) == [file]


def test_nothing_is_evaluated_that_was_read():
    """No eval, exec, shell or pickle in the package; Lark's tables are unpickled by Lark, when cache.py allows it."""
    forbidden = re.compile(r"\b(eval|exec|compile)\(|shell\s*=\s*True|os\.system|os\.popen|import pickle|marshal")
    found = [
        f"{path.name}: {line.strip()}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for line in path.read_text().splitlines()
        if forbidden.search(line.replace("re.compile(", "").replace("_compile(", "").replace(".compile(", ""))
    ]
    assert found == []


# ---- the installer


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_installer_writes_only_where_it_is_told(tmp_path, monkeypatch):
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    for folder in (home, elsewhere):
        folder.mkdir()
        (folder / "mine.txt").write_text("mine")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(elsewhere)
    before = snapshot(tmp_path)
    told = tmp_path / "told"
    install.install_solver(told)
    new = snapshot(tmp_path).keys() - before.keys()
    assert {Path(path).parent for path in new} == {told}
    assert {Path(path).name for path in new} <= set(install.FILES) - {install.JSON_CONFIGURATION}
    assert {path: data for path, data in snapshot(tmp_path).items() if path in before} == before
    install.uninstall_solver(told)
    assert snapshot(tmp_path) == before


def test_the_installer_does_not_write_through_a_link(tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("mine")
    folder = tmp_path / "solvers"
    folder.mkdir()
    for name in (configuration.CONFIGURATION, install.LAUNCHER):
        (folder / name).symlink_to(victim)
    install.install_solver(folder)
    assert victim.read_text() == "mine"
    assert not (folder / configuration.CONFIGURATION).is_symlink()


def test_the_launcher_quotes_what_it_names(tmp_path, monkeypatch):
    monkeypatch.setattr(install, "console_script", lambda: None)
    monkeypatch.setattr(install, "PACKAGE", tmp_path / "a'b $(touch owned)" / "turbo_fzn")
    install.install_solver(tmp_path / "solvers")
    launcher = tmp_path / "solvers" / install.LAUNCHER
    command = [str(launcher), "--version"]
    subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=PATIENCE, env=dict(os.environ))
    assert not (tmp_path / "owned").exists()
