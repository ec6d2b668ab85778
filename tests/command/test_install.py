"""The solver configuration: what is written, where, and that MiniZinc and a shell can use what it names."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from support.command import PATIENCE
from support.mpi import LAUNCHER, SETTINGS, needs_mpi
from support.needs import needs_minizinc
from turbo_fzn.base.errors import UsageError
from turbo_fzn.command import install
from turbo_fzn.options import configuration
from turbo_fzn.version import __version__

# The fields that MiniZinc 2.6.4 knows; any other makes it refuse the file.
KNOWN_FIELDS = set(
    """id name version executable mznlib mznlibVersion description contact website tags stdFlags extraFlags
    requiredFlags supportsMzn supportsFzn supportsNL needsSolns2Out needsMznExecutable needsStdlibDir needsPathsFile
    isGUIApplication""".split()
)
FLAG_TYPE = re.compile(r"int(:-?\d+:-?\d+)?|float(:[-\d.]+:[-\d.]+)?|bool(:[^:]*:[^:]*)?|string|opt(:[^:]+)+")


def read(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.covers("C1", "C10", "C11")
def test_configuration_holds_only_fields_that_minizinc_2_6_4_knows(tmp_path):
    fields = read(install.install_solver(tmp_path))
    assert set(fields) <= KNOWN_FIELDS
    assert fields["id"] == "org.turbo.turbo"
    assert fields["version"] == __version__
    assert fields["needsSolns2Out"] is True


@pytest.mark.covers("C4")
def test_configuration_names_an_absolute_library_that_exists(tmp_path):
    library = Path(read(install.install_solver(tmp_path))["mznlib"])
    assert library.is_absolute()
    assert (library / "redefinitions.mzn").is_file()


@pytest.mark.covers("C8")
def test_extra_flags_are_four_strings_each_of_a_type_that_minizinc_knows(tmp_path):
    """MiniZinc takes two to four, but 2.6.4 refuses the file where the numbers differ."""
    flags = read(install.install_solver(tmp_path))["extraFlags"]
    assert flags
    for flag, text, kind, default in flags:
        assert flag.startswith("-") and text
        assert FLAG_TYPE.fullmatch(kind), kind
        assert isinstance(default, str)


def test_std_flags_and_extra_flags_do_not_overlap(tmp_path):
    fields = read(install.install_solver(tmp_path))
    assert not set(fields["stdFlags"]) & {flag[0] for flag in fields["extraFlags"]}


@pytest.mark.covers("C3")
def test_the_executable_runs_from_any_folder(tmp_path):
    executable = read(install.install_solver(tmp_path / "solvers"))["executable"]
    assert Path(executable).is_absolute()
    run = subprocess.run([executable, "--version"], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE)
    assert run.returncode == 0, run.stderr
    assert __version__ in run.stdout


def test_without_an_installed_script_a_launcher_is_written_that_runs_from_any_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(install, "console_script", lambda: None)
    executable = Path(read(install.install_solver(tmp_path / "with blank"))["executable"])
    assert executable == tmp_path / "with blank" / install.LAUNCHER
    run = subprocess.run([executable, "--version"], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE)
    assert run.returncode == 0, run.stderr
    assert __version__ in run.stdout


def test_paths_beyond_ascii_stand_in_the_file_as_they_are(tmp_path, monkeypatch):
    """MiniZinc 2.6.4 does not decode JSON's escapes. A name that is no UTF-8 keeps its bytes."""
    monkeypatch.setattr(install, "console_script", lambda: None)
    monkeypatch.setattr(install, "minizinc_version", lambda: install.JSON_SINCE)
    for name in (b"\xc3\xbc \xe2\x88\x80", b"\xfc"):
        folder = tmp_path / os.fsdecode(name)
        install.install_solver(folder)
        for file in (configuration.CONFIGURATION, install.JSON_CONFIGURATION):
            assert os.fsencode(folder / install.LAUNCHER) in (folder / file).read_bytes()


@pytest.mark.covers("C3")
@needs_minizinc
def test_minizinc_runs_a_solver_whose_path_is_beyond_ascii(tmp_path, monkeypatch, minizinc, model):
    monkeypatch.setattr(install, "console_script", lambda: None)
    path = install.install_solver(tmp_path / "ü ∀")
    done = minizinc("--solver", path, model("solve satisfy;"), MZN_SOLVER_PATH="")
    assert (done.stdout, done.stderr) == ("----------\n", "")


def test_the_script_of_a_virtual_environment_is_found_beside_its_python(tmp_path, monkeypatch):
    (tmp_path / "python").symlink_to(sys.executable)
    (tmp_path / "fzn-turbo").touch()
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setattr(sys, "argv", ["/elsewhere/turbo_fzn/__main__.py"])
    assert install.console_script() == tmp_path / "fzn-turbo"


def test_the_script_that_is_running_comes_before_others(tmp_path, monkeypatch):
    (tmp_path / "fzn-turbo").touch()
    monkeypatch.setattr(sys, "argv", [str(tmp_path / "fzn-turbo")])
    assert install.console_script() == tmp_path / "fzn-turbo"


def test_no_script_is_found_where_there_is_none(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setattr(sys, "argv", ["fzn-turbo"])
    monkeypatch.setattr(sysconfig, "get_path", lambda *scheme: str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert install.console_script() is None


@pytest.mark.covers("C15")
def test_a_second_configuration_asks_for_json_where_minizinc_knows_that(tmp_path, monkeypatch):
    for version, expected in (((2, 6, 4), False), ((0,), False), ((2, 8, 0), True), ((2, 10, 0), True)):
        folder = tmp_path / str(version)
        monkeypatch.setattr(install, "minizinc_version", lambda version=version: version)
        first = read(install.install_solver(folder))
        assert (folder / install.JSON_CONFIGURATION).is_file() == expected
        if expected:
            second = read(folder / install.JSON_CONFIGURATION)
            assert second.pop("inputType") == "JSON"
            assert second | {"id": first["id"], "name": first["name"]} == first
            assert second["id"] != first["id"]
        removed = install.uninstall_solver(folder)
        assert (folder / install.JSON_CONFIGURATION in removed) == expected
        assert list(folder.iterdir()) == []


def test_a_third_configuration_starts_ranks_where_mpi4py_is(tmp_path, monkeypatch):
    for present in (True, False):
        folder = tmp_path / f"ü {present}"
        monkeypatch.setattr(install, "has_mpi", lambda present=present: present)
        first = read(install.install_solver(folder))
        assert (folder / install.MPI_CONFIGURATION).is_file() == (folder / install.MPI_LAUNCHER).is_file() == present
        if present:
            third = read(folder / install.MPI_CONFIGURATION)
            assert third["executable"] == str(folder / install.MPI_LAUNCHER) and third["id"] != first["id"]
            own = {name: first[name] for name in ("id", "name", "executable")}
            assert third | own == first
        assert (folder / install.MPI_LAUNCHER in install.uninstall_solver(folder)) == present
        assert list(folder.iterdir()) == []


def test_the_command_that_starts_ranks_is_asked_of_the_environment(tmp_path, monkeypatch):
    monkeypatch.setattr(install, "has_mpi", lambda: True)
    install.install_solver(tmp_path)
    command = [str(tmp_path / install.MPI_LAUNCHER), "-a", "two words"]
    environment = {**os.environ, "TURBO_FZN_MPIEXEC": "echo -n 4 --host a,b"}
    said = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    assert said.startswith("4 --host a,b ") and said.endswith(" -a two words")


@needs_minizinc
@needs_mpi
def test_minizinc_starts_ranks(tmp_path, monkeypatch, minizinc, model):
    install.install_solver(tmp_path)
    launcher = f"{LAUNCHER} -n 3"
    text = 'include "alldifferent.mzn"; array[1..5] of var 1..5: x; constraint alldifferent(x); solve satisfy;'
    flags = ("--solver", "turbo-mpi", "-a", "-s", "--arch", "cpu")
    done = minizinc(*flags, model(text), MZN_SOLVER_PATH=str(tmp_path), TURBO_FZN_MPIEXEC=launcher, **SETTINGS)
    assert done.stdout.count("----------") == 120 and "==========" in done.stdout and "ranks=3" in done.stdout


def test_the_version_of_minizinc_is_asked_of_it(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert install.minizinc_version() == (0,)
    (tmp_path / "minizinc").write_text("#!/bin/sh\necho 'MiniZinc to FlatZinc converter, version 2.9.7, build 1'\n")
    (tmp_path / "minizinc").chmod(0o755)
    assert install.minizinc_version() == (2, 9, 7)


def test_the_users_folder_is_the_default_and_is_made(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    path = install.install_solver()
    assert path == tmp_path / ".minizinc" / "solvers" / "turbo.msc"
    assert install.uninstall_solver()[0] == path


def test_installing_again_replaces_the_file_and_leaves_nothing_else(tmp_path):
    path = install.install_solver(tmp_path)
    first = path.read_text()
    path.write_text("old")
    install.install_solver(tmp_path)
    assert path.read_text() == first
    assert {item.name for item in tmp_path.iterdir()} <= {
        configuration.CONFIGURATION,
        install.JSON_CONFIGURATION,
        install.LAUNCHER,
        install.MPI_CONFIGURATION,
        install.MPI_LAUNCHER,
    }


def test_a_relative_folder_becomes_absolute(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert install.install_solver(Path("here")) == tmp_path / "here" / "turbo.msc"


def test_uninstalling_removes_what_was_installed_and_nothing_else(tmp_path, monkeypatch):
    monkeypatch.setattr(install, "console_script", lambda: None)
    monkeypatch.setattr(install, "has_mpi", lambda: False)
    install.install_solver(tmp_path)
    (tmp_path / "other.msc").touch()
    assert install.uninstall_solver(tmp_path) == [tmp_path / configuration.CONFIGURATION, tmp_path / install.LAUNCHER]
    assert [item.name for item in tmp_path.iterdir()] == ["other.msc"]
    assert install.uninstall_solver(tmp_path) == []


def test_uninstalling_from_a_folder_that_is_not_there_removes_nothing(tmp_path):
    assert install.uninstall_solver(tmp_path / "missing") == []


def test_a_folder_that_cannot_be_made_is_told_in_one_line(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="cannot install the solver in .*file/solvers: Not a directory"):
        install.install_solver(tmp_path / "file" / "solvers")


def test_a_failed_write_leaves_the_old_file_and_no_temporary(tmp_path, monkeypatch):
    install.install_solver(tmp_path)
    before = sorted((item.name, item.read_bytes()) for item in tmp_path.iterdir())

    def fail(*paths):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(install.os, "replace", fail)
    with pytest.raises(UsageError, match="Permission denied"):
        install.install_solver(tmp_path)
    assert sorted((item.name, item.read_bytes()) for item in tmp_path.iterdir()) == before
