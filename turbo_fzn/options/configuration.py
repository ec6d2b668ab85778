"""The solver configuration that MiniZinc reads: the name of the solver, the place of its library, its flags.

All paths in it are absolute: they work from any folder and without activating the environment. It has only fields that
every MiniZinc since 2.6.4 supports, since an unknown field makes MiniZinc refuse the whole file.
"""

from __future__ import annotations

from pathlib import Path

from turbo_fzn.base.resources import share_folder
from turbo_fzn.options import options
from turbo_fzn.version import __version__

SOLVER_ID = "org.turbo.turbo"
CONFIGURATION = "turbo.msc"
STD_FLAGS = ["-a", "-n", "-i", "-a-o", "-n-o", "-f", "-p", "-r", "-s", "-t", "-v", "--cp-profiler"]


def configuration(executable: Path) -> dict[str, object]:
    """The solver configuration as MiniZinc reads it."""
    return {
        "id": SOLVER_ID,
        "name": "Turbo",
        "version": __version__,
        "description": "Constraint solver for GPUs and CPUs",
        "executable": str(executable),
        "mznlib": str(share_folder() / "minizinc" / "turbo"),
        "tags": ["cp", "int", "float"],
        "stdFlags": STD_FLAGS,
        "extraFlags": options.minizinc_extra_flags(),
        "needsSolns2Out": True,
    }


def json_configuration(executable: Path) -> dict[str, object]:
    """The configuration of the solver that gets FlatZinc-JSON."""
    return {
        **configuration(executable),
        "id": f"{SOLVER_ID}-json",
        "name": "Turbo (FlatZinc-JSON)",
        "inputType": "JSON",
    }


def mpi_configuration(launcher: Path) -> dict[str, object]:
    """The configuration of the solver that starts several ranks."""
    return {**configuration(launcher), "id": f"{SOLVER_ID}-mpi", "name": "Turbo (MPI)"}
