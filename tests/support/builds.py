"""What takes long to build is built once a run of the tests: wheels, kernels with special flags, quick compilations.

The processes of a run share a folder, which its first process makes and names in the environment: the workers of
pytest-xdist, and what the tests start. Whoever needs a thing first holds a lock while it is made, and the others wait.
A name stands for what is made; where that depends on further ingredients, a hash of these is part of it.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

VARIABLE = "TURBO_FZN_TEST_BUILDS"
LITTLE = "-O1"  # of special kernels; `make test` has the usual ones compiled so, too


def open_place() -> Callable[[], None]:
    """Makes the folder of the run, unless a process above has. Returns what ends it."""
    if VARIABLE in os.environ:
        return lambda: None
    folder = os.environ[VARIABLE] = tempfile.mkdtemp(prefix="turbo_fzn-builds-")

    def close() -> None:
        del os.environ[VARIABLE]
        shutil.rmtree(folder, ignore_errors=True)

    return close


def place() -> Path:
    return Path(os.environ[VARIABLE])


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


def little_optimised(*flags: str) -> dict[str, str]:
    """The environment of engines with special flags: to optimise fully takes the compiler three times as long."""
    return {"TURBO_FZN_KERNEL_FLAGS": " ".join([LITTLE, *flags])}


def kernel_cache() -> dict[str, str]:
    """The environment of processes that compile kernels as no user does: their cache is the run's, not the user's."""
    return {"TURBO_FZN_CACHE": str(place() / "kernels")}


# Copies what was compiled before with the same words. A copy is renamed, for whoever makes it may be killed.
QUICK = """#!/bin/sh
{first}
for word; do
  [ "$last" = -o ] && target=$word
  last=$word
done
[ -n "$target" ] || exec {real} "$@"
kept="{store}/$(echo "$@" | sed "s|$target||" | cksum | tr " " -)"
if [ ! -e "$kept" ]; then
  {real} "$@" -O0 || exit
  cp "$target" "$kept.$$" && mv "$kept.$$" "$kept"
else
  cp "$kept" "$target"
fi
"""


# A run with flags of its own compiles one engine, and none beside it that is sooner there.
ONE_ENGINE = ("TURBO_FZN_KERNEL_FLAGS", "-O0")


def quick_compiler(folder: Path, first: str = 'echo run >> "{folder}/runs"') -> Path:
    """A C++ compiler that does not optimise, and compiles once a run what it is given. `first`: the shell's words for
    what its process does first; by default it notes each of its runs in a file."""
    path = folder / "quick-c++"
    store = place() / "quick"
    store.mkdir(exist_ok=True)
    real = os.environ.get("CXX") or "c++"
    path.write_text(QUICK.format(first=first.format(folder=folder), real=real, store=store))
    path.chmod(0o755)
    return path
