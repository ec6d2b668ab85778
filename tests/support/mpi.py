"""Runs the command in several ranks, as `mpiexec` starts them, on however few processors there are."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest

from support.command import COMMAND, PATIENCE, Answer, environment, finish

BESIDE = Path(sys.executable).parent / "mpiexec"
LAUNCHER = str(BESIDE) if BESIDE.exists() else shutil.which("mpiexec")
# Open MPI's: as many ranks as wanted, bound to nothing, also as root, as containers are.
SETTINGS = {
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "PRTE_MCA_hwloc_default_binding_policy": "none",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
}
needs_mpi = pytest.mark.skipif(
    find_spec("mpi4py") is None or LAUNCHER is None, reason="mpi4py or mpiexec is missing (pip install '.[mpi]')"
)


def start(ranks: int, *arguments: object, command: Sequence[str] = COMMAND, **changes: str) -> subprocess.Popen[str]:
    """In a session of its own, so that all of it can be counted and ended."""
    assert LAUNCHER is not None
    whole = [LAUNCHER, "-n", str(ranks), *command, *map(str, arguments)]
    return subprocess.Popen(
        whole,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(**SETTINGS, **changes),
        start_new_session=True,
    )


def run(ranks: int, *arguments: object, timeout: float = PATIENCE, **changes: str) -> Answer:
    with start(ranks, *arguments, **changes) as process:
        return finish(process, timeout=timeout)


def ranks_of(launcher: int) -> list[int]:
    """The processes that a launcher has started, by their rank."""
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal() or parent_of(entry) != launcher:
            continue
        words = dict(word.partition("=")[::2] for word in read(entry / "environ").split("\0"))
        if "OMPI_COMM_WORLD_RANK" in words:
            found[int(words["OMPI_COMM_WORLD_RANK"])] = int(entry.name)
    return [found[rank] for rank in sorted(found)]


def parent_of(entry: Path) -> int:
    fields = read(entry / "stat").rpartition(")")[2].split()
    return int(fields[1]) if fields else 0


def read(path: Path) -> str:
    """Empty where the process has just ended."""
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def is_alive(process: int) -> bool:
    fields = read(Path(f"/proc/{process}/stat")).rpartition(")")[2].split()
    return bool(fields) and fields[0] != "Z" and os.path.exists(f"/proc/{process}")
