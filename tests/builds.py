"""What takes long to build is built once a run of the tests: wheels, kernels with special flags, fake drivers.

The workers of pytest-xdist share a folder of the run, which conftest.py names in the environment. Whoever needs a thing
first holds a lock while it is made, and the others wait. A name stands for what is made; where that depends on further
ingredients, a hash of these is part of it.
"""

from __future__ import annotations

import atexit
import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

VARIABLE = "TURBO_FZN_TEST_BUILDS"


def place_of_run(factory: pytest.TempPathFactory) -> Path:
    """A folder that all workers of a run share, and no other run; pytest removes it some runs later."""
    base = factory.getbasetemp()  # of a worker: one of those in the folder of the run
    folder = (base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base) / "builds"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


@cache
def _place_of_process() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="turbo_fzn-builds-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def place() -> Path:
    """The folder of the run; where pytest does not run, one that ends with the process."""
    named = os.environ.get(VARIABLE)
    return Path(named) if named else _place_of_process()


def build_once(name: str, make: Callable[[Path], object], *ingredients: object) -> Path:
    """A folder in which `make` has made something, perhaps for another process. Nobody may change what is in it."""
    if ingredients:
        name += "-" + hashlib.sha256(repr(ingredients).encode()).hexdigest()[:16]
    folder = place() / name
    made = place() / f"{name}.made"
    with open(place() / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            shutil.rmtree(folder, ignore_errors=True)  # what somebody who failed has left
            folder.mkdir()
            make(folder)
            made.touch()
    return folder


def kernel_cache() -> dict[str, str]:
    """The environment of processes that compile kernels as no user does: their cache is the run's, not the user's."""
    return {"TURBO_FZN_CACHE": str(place() / "kernels")}


def quick_compiler(folder: Path) -> Path:
    """A C++ compiler that does not optimise, and notes each of its runs in the file `runs` beside it."""
    path = folder / "quick-c++"
    real = os.environ.get("CXX") or "c++"
    path.write_text(f'#!/bin/sh\necho run >> "{folder}/runs"\nexec {real} "$@" -O0\n')
    path.chmod(0o755)
    return path
