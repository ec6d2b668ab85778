"""`fzn-turbo --doctor`: finds what is missing or broken on this machine, with the one command that repairs it.

Each part of an installation has a function here that checks it and returns a finding. A part is tried if possible: the
engines solve a small model, the driver initialises its GPU, MiniZinc passes a model to the solver. A machine without an
NVIDIA driver does not need the other parts for a GPU.

The exit code is for scripts. It is 1 if the CPU engine does not solve models, or if a part is wrong that was asked for:
by an environment variable, by `--arch gpu`, or by another installed part (`asked_for`). So a GPU that is not set up, or
a missing MiniZinc, is no failure.

Nothing heavy is imported before the packages have been checked, so that a missing package is a finding, too.
`__main__.py` refuses an outdated Python before it reads any other file.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from turbo_fzn.base import cache
from turbo_fzn.base.errors import TurboError
from turbo_fzn.base.resources import pip, wanted_cache_folder
from turbo_fzn.command import install
from turbo_fzn.command.tuning import TUNING
from turbo_fzn.engine.cuda import wake
from turbo_fzn.engine.toolchain import ahead, compiler
from turbo_fzn.options.options import NEED_GPU
from turbo_fzn.version import __version__

OK, WRONG, ABSENT = "ok", "wrong", "absent"
NEEDED, HELPFUL = ("numpy", "lark"), ("highspy",)  # packages; install_requires of setup.cfg
OLDEST_TOOLKIT = (12, 8)  # format: a version
OLDEST_MINIZINC = (2, 6, 4)  # format: a version
SMALL_MODEL = "var 2..3: x :: output_var;\nconstraint int_ne(x,2);\nsolve satisfy;\n"
SMALL_MINIZINC = "var 2..3: x;\nconstraint x != 2;\nsolve satisfy;\n"
# The package managers and their packages, by the command that identifies the system; the first is the default.
PACKAGERS = {
    "g++": {"apt-get": "apt-get install g++", "dnf": "dnf install gcc-c++", "pacman": "pacman -S gcc"},
    "minizinc": {"apt-get": "apt-get install minizinc", "snap": "snap install minizinc --classic"},
    "nvidia-driver": {"ubuntu-drivers": "ubuntu-drivers install", "apt-get": "apt-get install nvidia-driver"},
}
START_WITH_GPUS = ("docker run --gpus all IMAGE", "the container was started without its GPUs")
TOOLKIT_SOURCE = "from NVIDIA's repository, https://developer.nvidia.com/cuda-downloads"


GPU_PARTS = ("NVIDIA driver", "PyCUDA", "CUDA toolkit", "GPU engine")
MINIZINC_PARTS = ("MiniZinc", "MiniZinc's solver")
NAMED_BY = {"CXX": "C++ compiler", "NVCC": "CUDA toolkit", "TURBO_FZN_CACHE": "cache"}  # variable -> part


class Finding(NamedTuple):
    """The finding for a part: OK, WRONG, or ABSENT if it is not needed; for a wrong part, the command that repairs it,
    and a remark on that command."""

    part: str
    state: str
    said: str
    mend: str = ""
    remark: str = ""


def examine(write: Callable[[str], object] = print, arch: str = "auto", fixes: bool = False) -> int:
    """Writes each finding at once. `arch` is --arch, which may ask for the GPU; `fixes`: a stale configuration of the
    solver is written anew. Returns the exit code: 0 if the CPU
    engine solves models and no part that was asked for is wrong."""
    asked, found = asked_for(arch), []
    for finding in findings(arch in NEED_GPU, fixes):
        found.append(finding)
        write(f"{finding.state:<7}{finding.part}: {finding.said}")
        if finding.mend:
            write(f"       mend it: {finding.mend}" + (f"   ({finding.remark})" if finding.remark else ""))
    write(summary(found, asked))
    solves = any(finding.part == "CPU engine" and finding.state == OK for finding in found)
    return 0 if solves and not {finding.part for finding in found if finding.state == WRONG} & asked else 1


def summary(found: list[Finding], asked: set[str]) -> str:
    """The last line: the number of wrong parts, and the wrong parts that were asked for."""
    wrong = [finding.part for finding in found if finding.state == WRONG]
    if not wrong:
        return "nothing is wrong"
    wanted = ", ".join(part for part in wrong if part in asked)
    number = f"{len(wrong)} of {len(found)} parts {'is' if len(wrong) == 1 else 'are'} wrong"
    return f"{number}, asked for: {wanted}" if wanted else f"{number}, none that was asked for"


def asked_for(arch: str) -> set[str]:
    """The parts that are asked for: those that every run needs, those that an environment variable names, the GPU's if
    --arch needs one or PyCUDA is installed (cuda-bindings may be another program's), MiniZinc's if the solver was
    installed for it."""
    asked = {"packages", "CPU engine"} | {part for name, part in NAMED_BY.items() if os.environ.get(name)}
    if arch in NEED_GPU or not missing(("pycuda",)):
        asked.update(GPU_PARTS)
    if install.is_installed():
        asked.update(MINIZINC_PARTS)
    return asked


def findings(wants_gpu: bool = False, fixes: bool = False) -> Iterator[Finding]:
    """The findings for all parts, beginning with the most basic. An engine is tried if all its parts are there."""
    yield Finding("Python", OK, f"{platform.python_version()} at {sys.executable}, fzn-turbo {__version__}")
    yield packages()
    if missing(NEEDED):
        return  # findings for other parts would be misleading
    yield kernel_cache()
    tools = cpp_compiler()
    yield tools
    if tools.state == OK:
        yield tried("cpu")
    yield from gpu_parts(tools.state == OK, wants_gpu)
    yield from minizinc_parts(fixes)


def packages() -> Finding:
    absent = missing(NEEDED + HELPFUL)
    if absent:
        return Finding("packages", WRONG, f"{', '.join(absent)} cannot be found", pip("install", *absent))
    return Finding("packages", OK, ", ".join(NEEDED + HELPFUL))


def missing(names: tuple[str, ...]) -> list[str]:
    """The packages among these that cannot be found. A package comes before what it contains."""
    absent: list[str] = []
    for name in names:
        parent = name.rpartition(".")[0]
        if parent in absent or importlib.util.find_spec(name) is None:
            absent.append(name)
    return absent


def kernel_cache() -> Finding:
    folder = wanted_cache_folder()
    if cache.find_folder() is None:
        said = f"{folder} cannot be used, so nothing is kept that was compiled: it must be yours, and no one else's"
        return Finding("cache", WRONG, said, *mend_cache(folder))
    if cache.writable_folder() is None:
        return read_only_cache(folder)
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(1 << 20))
    except OSError as error:
        return Finding("cache", WRONG, f"{folder}: {error.strerror}", "export TURBO_FZN_CACHE=/var/tmp/turbo_fzn")
    return Finding("cache", OK, str(folder))


def read_only_cache(folder: Path) -> Finding:
    """The finding for a cache folder that is not writable, which is enough if the CPU engine is compiled."""
    try:
        lacking = [bits for bits, kind in ahead.CPU_ENGINES if not compiler.is_ready(bits, *kind)]
    except TurboError:  # no compiler, which is a finding of its own
        lacking = []
    if not lacking:
        return Finding("cache", OK, f"{folder}, to which nothing can be added; the CPU engine needs nothing")
    said = f"{folder} cannot be written, and lacks the CPU engine: it is compiled for each run"
    return Finding("cache", WRONG, said, *mend_cache(folder))


def mend_cache(folder: Path) -> tuple[str, str]:
    if folder.is_dir() and folder.stat().st_uid == os.geteuid():
        return f"chmod u+rwx,go-w {shlex.quote(str(folder))}", ""
    if os.environ.get("TURBO_FZN_CACHE"):
        return "unset TURBO_FZN_CACHE", "or let it name a folder of your own"
    return 'export TURBO_FZN_CACHE="$HOME/.turbo_fzn"', "in the file that your shell reads first"


def cpp_compiler() -> Finding:
    packaged = compiler.packaged_library(32)
    if packaged:
        return Finding("C++ compiler", OK, f"not needed, the engine is in the package ({packaged.parent})")
    try:
        return Finding("C++ compiler", OK, shlex.join(compiler.find_cpu_compiler()))
    except compiler.NoCompiler as error:
        return Finding("C++ compiler", WRONG, str(error), system_install("g++"))
    except TurboError as error:
        return Finding("C++ compiler", WRONG, str(error), "unset CXX", "or let it name a C++ compiler")


def tried(arch: str) -> Finding:
    """The finding for an engine, which solves a small model."""
    from turbo_fzn.interface.api import solve_text

    part, start = f"{arch.upper()} engine", time.monotonic()
    try:
        solutions = solve_text(SMALL_MODEL, arch=arch).solutions
    except (TurboError, OSError) as error:
        return Finding(part, WRONG, " ".join(str(error).split())[:300], command("--build-kernels"), "shows all of it")
    if [dict(solution) for solution in solutions] != [{"x": 3}]:
        return Finding(part, WRONG, f"answers {solutions} to a model whose answer is x = 3", command("--build-kernels"))
    return Finding(part, OK, f"solved a model in {time.monotonic() - start:.1f} s")


def gpu_parts(compiled: bool, wanted: bool = False) -> Iterator[Finding]:
    """The findings for driver, PyCUDA and toolkit, then for the engine. `compiled`: there is a C++ compiler, or no need
    of one. An absent driver is wrong if the GPU is `wanted`."""
    absence = wake.absence()
    if absence is not None and wanted:
        yield Finding("NVIDIA driver", WRONG, absence, *mend_absence())
        return
    if absence is not None:
        yield Finding("NVIDIA driver", ABSENT, f"the CPU engine is used ({absence})")
        return
    parts = [driver(), pycuda(), toolkit()]
    yield from parts
    if compiled and all(finding.state == OK for finding in parts):
        yield tried("gpu")


def driver() -> Finding:
    """The finding for the driver, which initialises its first GPU."""
    waking = wake.begin()
    if waking.thread is not None:
        waking.thread.join(TUNING.doctor_seconds)
        if waking.thread.is_alive():
            return Finding("NVIDIA driver", WRONG, f"no answer within {TUNING.doctor_seconds:.0f} s", sudo("reboot"))
    if waking.failure is None:
        return Finding("NVIDIA driver", OK, f"woke the first GPU in {waking.seconds:.1f} s")
    said = waking.failure + (", which is: no device" if waking.failure.endswith(" 100") else "")
    return Finding("NVIDIA driver", WRONG, said, *mend_driver())


def mend_absence() -> tuple[str, str]:
    """(command, remark) that repair a missing driver."""
    if Path("/.dockerenv").exists():
        return START_WITH_GPUS
    return system_install("nvidia-driver"), "where there is an NVIDIA GPU; then reboot"


def mend_driver() -> tuple[str, str]:
    if "CUDA_VISIBLE_DEVICES" in os.environ:
        return "unset CUDA_VISIBLE_DEVICES", "it names the devices that may be used"
    if Path("/.dockerenv").exists():
        return START_WITH_GPUS
    return sudo("modprobe nvidia"), "loads the kernel's module; after an update of the driver: reboot"


def pycuda() -> Finding:
    """The finding for PyCUDA, or for cuda-bindings in its place, as devices.driver chooses."""
    found = None
    if not missing(("pycuda",)):
        found = imported("pycuda.driver", pip("install", "--force-reinstall", "--no-cache-dir", "pycuda"))
    if (found is None or found.state == WRONG) and not missing(("cuda", "cuda.bindings")):
        other = imported("cuda.bindings.driver", pip("install", "--force-reinstall", "cuda-bindings"))
        found = other if found is None or other.state == OK else found
    said = "neither it nor cuda-bindings is installed; the GPU engine needs one of them"
    mend = pip("install", "cuda-bindings>=12.8")
    return found or Finding("PyCUDA", WRONG, said, mend, "a wheel, without a compiler")


def imported(name: str, mend: str) -> Finding:
    """The finding for the package through which the driver is called, by the name of its module."""
    said = "cuda-bindings instead, " if name.startswith("cuda.") else ""
    try:
        importlib.import_module(name)
    except Exception as error:  # its libraries may raise anything
        return Finding("PyCUDA", WRONG, f"{said}cannot be imported ({error})", mend, "for the driver that is here")
    package = sys.modules[name.rpartition(".")[0]]
    return Finding("PyCUDA", OK, f"{said}in {os.path.dirname(package.__file__ or '')}")


def toolkit() -> Finding:
    """The finding for nvcc and its version."""
    if packaged := compiler.packaged_for_gpus():
        return Finding("CUDA toolkit", OK, f"not needed, the GPU engine is in the package ({packaged})")
    try:
        words = compiler.find_nvcc()
    except compiler.NoCompiler as error:
        return Finding("CUDA toolkit", WRONG, str(error), sudo("apt-get install cuda-toolkit"), TOOLKIT_SOURCE)
    except TurboError as error:
        return Finding("CUDA toolkit", WRONG, str(error), "unset NVCC", "or let it name an nvcc")
    found = re.search(r"release (\d+)\.(\d+)", output_of([*words, "--version"]))
    if found is None:
        said = f"{shlex.join(words)} does not tell its release"
    elif tuple(map(int, found.groups())) >= OLDEST_TOOLKIT:
        return Finding("CUDA toolkit", OK, f"{shlex.join(words)}, {found[0]}")
    else:
        said = f"{shlex.join(words)} is of {found[0]}, and {'.'.join(map(str, OLDEST_TOOLKIT))} or later is needed"
    return Finding("CUDA toolkit", WRONG, said, sudo("apt-get install cuda-toolkit"), TOOLKIT_SOURCE)


def minizinc_parts(fixes: bool = False) -> Iterator[Finding]:
    """The findings for MiniZinc, and for the solver's configuration."""
    version = install.minizinc_version()
    text = ".".join(map(str, version))
    if version == (0,):
        said = "cannot be run; only FlatZinc can be solved"
        yield Finding("MiniZinc", WRONG, said, system_install("minizinc"), "or from https://www.minizinc.org")
    elif version < OLDEST_MINIZINC:
        said = f"{text}, and {'.'.join(map(str, OLDEST_MINIZINC))} or later is needed"
        yield Finding("MiniZinc", WRONG, said, system_install("minizinc"), "or from https://www.minizinc.org")
    else:
        yield Finding("MiniZinc", OK, f"{text} at {shutil.which('minizinc')}")
        yield known_solver(fixes)


def known_solver(fixes: bool = False) -> Finding:
    """The finding for the configuration that MiniZinc finds: whether this installation would write it, and whether it
    works. With `fixes`, a stale one is written anew before."""
    part, path = "MiniZinc's solver", install.known_to_minizinc()
    if path is None:
        return Finding(part, WRONG, "MiniZinc does not know turbo", command("--install-solver"))
    if fixes and install.outdated_fields(path):
        install.install_solver(path.parent)
    answer = output_of(["minizinc", "--solver", str(path), "-"], SMALL_MINIZINC)
    refusal = "" if "x = 3;" in answer else f"a model is answered with {' '.join(answer.split())[:300] or 'nothing'}"
    stale = install.outdated_fields(path)
    if stale:
        usual = path.parent == Path.home() / ".minizinc" / "solvers"
        mend = command("--install-solver", *([] if usual else [str(path.parent)]))
        said = f"{path} is stale: it has another {', another '.join(stale)}{'; ' if refusal else ''}{refusal}"
        return Finding(part, WRONG, said, mend, "or fzn-turbo --doctor --fix")
    if refusal:
        mend = f"echo {shlex.quote(' '.join(SMALL_MINIZINC.split()))} | minizinc --solver {shlex.quote(str(path))} -"
        return Finding(part, WRONG, f"{path}: {refusal}", mend, "shows all of it; written anew, the file is the same")
    return Finding(part, OK, f"solved a model as {path} says")


def output_of(words: list[str], text: str = "") -> str:
    """The output of a command, on stdout and stderr, with `text` as its input; the error if it cannot be run."""
    try:
        done = subprocess.run(words, input=text, capture_output=True, text=True, timeout=TUNING.doctor_seconds)
    except (OSError, subprocess.SubprocessError) as error:
        return str(error)
    return done.stdout + done.stderr


def system_install(name: str) -> str:
    """The command of this system that installs the part."""
    commands = PACKAGERS[name]
    return sudo(next((text for tool, text in commands.items() if shutil.which(tool)), commands["apt-get"]))


def sudo(text: str) -> str:
    """The command as root, for this user: by su, which asks for the password of root, where there is no sudo."""
    if os.geteuid() == 0:
        return text
    return f"sudo {text}" if shutil.which("sudo") else f"su -c {shlex.quote(text)}"


def command(*words: str) -> str:
    """A command line of this installation's fzn-turbo."""
    script = install.console_script()
    return shlex.join([str(script)] if script else [sys.executable, "-m", "turbo_fzn"]) + " " + shlex.join(words)
