"""A machine with a GPU that is slow or fails, for processes that the tests start.

The process finds a driver (libcuda.so.1), an nvcc and a PyCUDA in the folder fake_machine/, which do what fake_cuda.py
says. What is ordered to go wrong is told by the environment, FAKE_GPU=STAGE:KIND.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from pathlib import Path

from support.places import DATA, ROOT, TESTS
from turbo_fzn import cache
from turbo_fzn.engine.toolchain import compiler
from turbo_fzn.read.grammar import terminals

FOLDER = DATA / "fake_machine"
# Where a GPU engine that is made, or at work, can be slow or fail, in the order of time.
SLOW = ("driver:slow", "import:slow", "context:slow", "compile:slow", "mem_alloc:slow", "exit:slow")
FAILING = ("driver:fail", "import:fail", "context:fail", "compile:fail", "launch:fail", "run:fail", "run:hang")


def build_driver(folder: Path) -> Path:
    """A folder with libcuda.so.1, to be named by LD_LIBRARY_PATH."""
    compiled = ["-shared", "-fPIC", "-o", str(folder / "libcuda.so.1"), str(FOLDER / "libcuda.c"), "-lpthread"]
    subprocess.run([*compiler.find_cpu_compiler(), "-x", "c", *compiled], check=True)
    return folder


def end_compilers(driver: Path) -> None:
    """Kills the compilers of a driver: slow ones outlive the run that has started them."""
    pids = driver / "compilers"
    for pid in pids.read_text().split() if pids.exists() else ():
        with contextlib.suppress(ProcessLookupError):
            os.killpg(os.getpgid(int(pid)), signal.SIGKILL)


def fill_cache(folder: Path) -> Path:
    """A cache with all that a run on a CPU needs, and nothing of a GPU."""
    terminals()
    libraries = [compiler.cpu_library(bits) for bits in (32, 64)]
    folder.mkdir(mode=0o700)
    for path in [*libraries, *cache.find_folder().glob("flatzinc-*")]:
        shutil.copy2(path, folder)
    return folder


def changes(fault: str, seconds: int, driver: Path, cache_folder: Path) -> dict[str, str]:
    """The environment of a process on this machine; what is slow takes so many seconds."""
    path = [str(FOLDER), str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])]
    preload = {"LD_PRELOAD": str(driver / "libcuda.so.1")} if fault.startswith("exit:") else {}
    return {
        **preload,
        "FAKE_GPU": fault,
        "FAKE_GPU_SECONDS": str(seconds),
        "FAKE_GPU_PIDS": str(driver / "compilers"),
        "LD_LIBRARY_PATH": str(driver),
        "NVCC": str(FOLDER / "nvcc"),
        "TURBO_FZN_CACHE": str(cache_folder),
        "PYTHONPATH": os.pathsep.join([str(ROOT), *path]),
    }
