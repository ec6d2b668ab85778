"""Installs the solver in MiniZinc: writes and removes `turbo.msc`, its solver configuration.

MiniZinc looks for configurations in `~/.minizinc/solvers` and in the folders of MZN_SOLVER_PATH, but not in a virtual
environment, so that one command has to put it there (`fzn-turbo --install-solver`). Its name must have at least six
characters: MiniZinc 2.6.4 ignores shorter names. options/configuration.py has its content.

A second configuration, `turbo-json.msc`, defines the solver `turbo-json`, which gets its models as FlatZinc-JSON. It
needs a field of MiniZinc 2.8, of which an older MiniZinc would warn at each run, so it is written only for a newer one.

A third, `turbo-mpi.msc`, defines the solver `turbo-mpi`, which starts several ranks; it is written if mpi4py is
installed. The command that starts them is read from `TURBO_FZN_MPIEXEC` at each run, since it names the hosts.

If the package is used without being installed (from a source tree), there is no `fzn-turbo` script; then a launcher of
three lines is written beside the configuration.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import sysconfig
import tempfile
from importlib.util import find_spec
from pathlib import Path

from turbo_fzn.base.errors import UsageError
from turbo_fzn.base.resources import PACKAGE
from turbo_fzn.options.configuration import (
    CONFIGURATION,
    SOLVER_ID,
    configuration,
    json_configuration,
    mpi_configuration,
)

LAUNCHER = "turbo-launcher.sh"
SCRIPT = "fzn-turbo"
JSON_CONFIGURATION = "turbo-json.msc"
JSON_SINCE = (2, 8)  # format: a version
MPI_CONFIGURATION = "turbo-mpi.msc"
MPI_LAUNCHER = "turbo-mpi-launcher.sh"
FILES = (CONFIGURATION, JSON_CONFIGURATION, LAUNCHER, MPI_CONFIGURATION, MPI_LAUNCHER)  # that may be written


def install_solver(folder: Path | None = None) -> Path:
    """Writes the configurations to the folder (default: the user's), made if missing. Returns the path of the first."""
    folder = _solvers_folder(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        executable = console_script() or _write_launcher(folder)
        path = folder / CONFIGURATION
        _write(path, _json_text(configuration(executable)), 0o644)
        if minizinc_version() >= JSON_SINCE:
            _write(folder / JSON_CONFIGURATION, _json_text(json_configuration(executable)), 0o644)
        if has_mpi():
            launcher = _write_mpi_launcher(folder, executable)
            _write(folder / MPI_CONFIGURATION, _json_text(mpi_configuration(launcher)), 0o644)
    except OSError as error:
        raise UsageError(f"cannot install the solver in {folder}: {error.strerror or error}") from error
    return path


def uninstall_solver(folder: Path | None = None) -> list[Path]:
    """Removes the files that `install_solver` wrote to the folder. Returns the removed files."""
    folder = _solvers_folder(folder)
    removed = []
    for name in FILES:
        try:
            (folder / name).unlink()
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            raise UsageError(f"cannot remove {folder / name}: {error.strerror or error}") from error
        removed.append(folder / name)
    return removed


def has_mpi() -> bool:
    return find_spec("mpi4py") is not None


def minizinc_version() -> tuple[int, ...]:
    """The version of the `minizinc` on the PATH; (0,) without it."""
    try:
        said = subprocess.run(["minizinc", "--version"], capture_output=True, text=True, timeout=20, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return (0,)
    found = re.search(r"version (\d+)\.(\d+)\.(\d+)", said)
    return tuple(map(int, found.groups())) if found else (0,)


def known_to_minizinc() -> Path | None:
    """The path of the solver's configuration that MiniZinc finds, or would find if it were not broken; else None."""
    try:
        said = subprocess.run(["minizinc", "--solvers-json"], capture_output=True, timeout=20, check=True).stdout
        solvers = json.loads(said.decode(errors="surrogateescape"))
    except (OSError, subprocess.SubprocessError, ValueError):
        solvers = []
    for solver in solvers:
        file = solver.get("extraInfo", {}).get("configFile")
        if solver.get("id") == SOLVER_ID and file:
            return Path(file)
    path = _solvers_folder(None) / CONFIGURATION
    return path if path.is_file() else None


def is_installed() -> bool:
    """Whether `install_solver` has written its configuration to a folder that MiniZinc searches."""
    named = [folder for folder in os.environ.get("MZN_SOLVER_PATH", "").split(os.pathsep) if folder]
    return any((folder / CONFIGURATION).is_file() for folder in [_solvers_folder(None), *map(Path, named)])


def outdated_fields(path: Path) -> list[str]:
    """The fields of a configuration that differ from what this installation would write. Any executable that can be run
    is accepted: an installation may have several."""
    try:
        found = json.loads(path.read_text(encoding="utf-8", errors="surrogateescape"))
        executable = Path(found["executable"])
        wanted = configuration(executable)
        fields = [name for name in {**wanted, **found} if found.get(name) != wanted.get(name)]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return ["content"]
    return fields if os.access(executable, os.X_OK) else [*fields, "executable"]


def _solvers_folder(folder: Path | None) -> Path:
    return Path(os.path.abspath(folder)) if folder else Path.home() / ".minizinc" / "solvers"


def console_script() -> Path | None:
    """The installed `fzn-turbo`: the running script, or else the script of this Python.

    Symbolic links are kept: a virtual environment's Python is a link, and its scripts stand beside the link.
    """
    folders = [Path(sys.executable).parent, Path(sysconfig.get_path("scripts"))]
    user_scripts = sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user"))
    candidates = [Path(sys.argv[0]), *(parent / SCRIPT for parent in [*folders, Path(user_scripts)])]
    for candidate in candidates:
        if candidate.name == SCRIPT and candidate.is_file():
            return Path(os.path.abspath(candidate))
    return None


def _write_launcher(folder: Path) -> Path:
    path = folder / LAUNCHER
    python_path = shlex.quote(str(PACKAGE.parent))
    command = f'{shlex.quote(sys.executable)} -m turbo_fzn "$@"'
    _write(path, f"#!/bin/sh\nexport PYTHONPATH={python_path}${{PYTHONPATH:+:$PYTHONPATH}}\nexec {command}\n", 0o755)
    return path


def _write_mpi_launcher(folder: Path, executable: Path) -> Path:
    """Writes the launcher that starts the ranks: by the command in TURBO_FZN_MPIEXEC, else by the mpiexec of this
    Python's environment, else by that of the system."""
    path = folder / MPI_LAUNCHER
    beside = Path(sys.executable).parent / "mpiexec"
    usual = shlex.quote(str(beside)) if beside.is_file() else "mpiexec"
    command = f'exec ${{TURBO_FZN_MPIEXEC:-{usual}}} {shlex.quote(str(executable))} "$@"'
    _write(path, f"#!/bin/sh\n{command}\n", 0o755)
    return path


def _json_text(fields: dict[str, object]) -> str:
    """The fields as JSON, without escapes for characters outside of ASCII, which MiniZinc 2.6.4 does not decode."""
    return json.dumps(fields, indent=2, ensure_ascii=False) + "\n"


def _write(path: Path, text: str, mode: int) -> None:
    """Writes the whole file or nothing. Paths in the text keep their bytes, even if they are not UTF-8."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
