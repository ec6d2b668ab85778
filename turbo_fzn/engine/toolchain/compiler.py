"""The compiled kernels: the CPU engine by a C++ compiler, the GPU engine by nvcc.

A wheel contains the CPU engine, for any machine of its platform; its name is a hash of all kernel sources and the
flags, so it is not used with edited kernels. With another compiler ($CXX) or further flags the engine is compiled here.
A wheel that was made for it (`make wheel`) has the GPU engine in the same way, for every GPU from OLDEST_PACKAGED on.

All other kernels are compiled when they are needed, and kept in one cache, under a hash of the sources, the flags and
the compiler's identity (compilation.py). For a fast first answer, the CPU engine is compiled twice, first with little
optimisation. The cache is `TURBO_FZN_CACHE`, else the user's cache folder. It is read even if it cannot be written;
then, or when it is full, missing kernels are compiled into a temporary folder for this run only, with a warning.
"""

from __future__ import annotations

import hashlib
import logging
import os
import time
from functools import lru_cache
from pathlib import Path

from turbo_fzn.base import cache
from turbo_fzn.base.cache import NoRoom
from turbo_fzn.base.errors import EngineError
from turbo_fzn.base.progress import stage
from turbo_fzn.base.resources import PACKAGE, kernels_folder, wanted_cache_folder
from turbo_fzn.process.leaving import before_leaving

log = logging.getLogger("turbo_fzn")

CPU_FLAGS = ["-std=c++17", "-O3", "-shared", "-fPIC", "-Wall", "-Wextra", "-Wno-unused-function"]
QUICK_FLAGS = ["-Og"]
GPU_FLAGS = ["-std=c++17", "-O3", "-Xptxas", "-v"]
SOLVE, PROPAGATE = "solve.cu", "propagate.cu"  # the sources of the GPU engine, and of the hybrid engine's blocks
PACKAGED = "compiled"  # the folder of a wheel that has the engines
OLDEST_PACKAGED = 80  # format: the oldest architecture of which a wheel has the GPU engine
PROFILE_FLAG = "-DPROFILE"
TRACE_FLAG = "-DTRACE"
PROOF_FLAG = "-DPROOF"
KINDS: tuple[tuple[str, ...], ...] = ((), (PROFILE_FLAG,), (TRACE_FLAG,))
# For models with real variables. A product and a sum must not become one operation (kernels/floats/exact.h).
FLOAT_FLAG = "-DFLOATS"
CPU_FLOAT_FLAGS = (FLOAT_FLAG, "-ffp-contract=off")
GPU_FLOAT_FLAGS = (FLOAT_FLAG, "-fmad=false", "-DMAX_THREADS=256")
CpuBuild = tuple[int, tuple[str, ...]]  # the width in bits, and further flags
MOST_NEEDED: tuple[CpuBuild, ...] = ((32, ()),)  # by models of integers, whose bounds are mostly small
CPU_VARIANTS: tuple[CpuBuild, ...] = tuple((bits, kind) for bits in (32, 64) for kind in KINDS)
CPU_VARIANTS += tuple((64, (*CPU_FLOAT_FLAGS, *kind)) for kind in KINDS)


class NoCompiler(EngineError):
    """There is no compiler: no compiler was named, and no usual compiler was found."""


_full: set[Path] = set()  # cache folders that were found full in this process


def _lasting_folder() -> Path | None:
    """The cache folder, where it can be written and has not been found full."""
    folder = cache.writable_folder()
    return None if folder in _full else folder


@lru_cache(maxsize=1)
def _temporary_folder() -> Path:
    import atexit
    import shutil
    import tempfile

    try:
        folder = tempfile.mkdtemp(prefix="turbo_fzn-")
    except OSError as error:
        raise NoRoom("a temporary folder", error.strerror or str(error)) from error
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    before_leaving(_abandon)
    return Path(folder)


def _abandon() -> None:
    """Ends compilations for a process that is about to end, also in a signal handler; compilations into the cache go
    on."""
    import shutil

    from turbo_fzn.engine.toolchain import compilation

    compilation.abandon()
    if _temporary_folder.cache_info().currsize:
        shutil.rmtree(_temporary_folder(), ignore_errors=True)


@lru_cache(maxsize=1)
def source_hash() -> str:
    """A digest of every kernel source and its name."""
    digest = hashlib.sha256()
    top = str(kernels_folder())
    paths = [os.path.join(folder, name) for folder, _, names in os.walk(top) for name in names]
    for path in sorted(paths):  # as strings: every run does this, and pathlib takes half as long again
        if path.endswith((".h", ".cu", ".cpp")):
            with open(path, "rb") as file:
                digest.update(path[len(top) :].encode() + b"\0" + file.read() + b"\0")
    return digest.hexdigest()


@lru_cache(maxsize=4)
def find_cpu_compiler() -> list[str]:
    """The command of the host's C++ compiler: $CXX, else c++, g++ or clang++. Raises NoCompiler without a compiler,
    EngineError if there is no command of the name in $CXX."""
    found = _find("CXX", "c++", "g++", "clang++")
    if found is None:
        raise NoCompiler("no C++ compiler found for the CPU engine: install one (Debian, Ubuntu: apt-get install g++)")
    return found


@lru_cache(maxsize=4)
def find_nvcc() -> list[str]:
    """The command of nvcc: $NVCC, else from the PATH or /usr/local/cuda. Raises EngineError if there is none."""
    found = _find("NVCC", "nvcc", "/usr/local/cuda/bin/nvcc")
    if found is None:
        raise NoCompiler("no nvcc found for the GPU engine: install the CUDA toolkit, 12.8 or later")
    return found


def _find(variable: str, *usual: str) -> list[str] | None:
    """The command in the environment variable, a path with blanks or words such as `ccache g++`; if it is not set, the
    first of the usual commands that exists."""
    named = os.environ.get(variable, "")
    words = [named] if _which(named) else named.split()
    if words and _which(words[0]) is None:
        raise EngineError(f"no compiler {words[0]}, which {variable} names")
    return words or next(([name] for name in usual if _which(name)), None)


def _which(word: str) -> str | None:
    """The path of a command, or None; shutil.which without the packers that shutil imports."""
    search = os.environ.get("PATH", os.defpath)
    folders = [""] if os.path.dirname(word) else search.split(os.pathsep) if search else []
    paths = (os.path.join(folder, word) for folder in folders)
    return next((path for path in paths if os.access(path, os.X_OK) and not os.path.isdir(path)), None)


def developer_flags() -> list[str]:
    """Further flags for both compilers, from TURBO_FZN_KERNEL_FLAGS, such as -DCHECK_FIXPOINT."""
    return os.environ.get("TURBO_FZN_KERNEL_FLAGS", "").split()


def _developer_nvcc_flags() -> list[str]:
    """Further flags for nvcc alone, from TURBO_FZN_NVCC_FLAGS, such as -lineinfo."""
    return os.environ.get("TURBO_FZN_NVCC_FLAGS", "").split()


def _identity(word: str) -> str:
    """The identity of a compiler, without starting it: its path, size and time of change; for a flag, the flag."""
    path = _which(word)
    if path is None:
        return word
    path = os.path.realpath(path)
    status = os.stat(path)
    return f"{path}:{status.st_size}:{status.st_mtime_ns}"


compile_seconds: list[float] = []  # by compilation that this process waited for; empty if all came from the cache


def _name(stem: str, suffix: str, command: list[str]) -> str:
    """The name of the file that `command` (compiler and flags) makes."""
    key = hashlib.sha256("\0".join([source_hash(), *map(_identity, command)]).encode()).hexdigest()
    return f"{stem}-{key[:24]}{suffix}"


def _kept(name: str) -> Path | None:
    """The path of a valid file of this name in the cache, or None."""
    folder = cache.find_folder()
    return folder / name if folder is not None and cache.read(folder / name) is not None else None


def _cached(stem: str, suffix: str, command: list[str], source: str) -> Path:
    """The compiled file for `command` (compiler and flags); compiles `source` if the file does not exist yet."""
    name = _name(stem, suffix, command)
    kept, folder = _kept(name), _lasting_folder()
    if kept is not None:
        return kept
    if folder is None:
        return _obtain_for_this_run(name, command, source)
    try:
        return _obtain(folder / name, command, source, lasting=True)
    except NoRoom as full:
        _full.add(folder)
        return _obtain_elsewhere(full, name, command, source)


def _obtain_for_this_run(name: str, command: list[str], source: str) -> Path:
    folder = _temporary_folder()
    if cache.read(folder / name) is not None:
        return folder / name
    if not _full:  # otherwise the user has been warned before
        cache.warn_of(wanted_cache_folder(), "cannot be written: what is compiled now is lost when this run ends")
    return _obtain(folder / name, command, source, lasting=False)


def _obtain_elsewhere(full: NoRoom, name: str, command: list[str], source: str) -> Path:
    """The compiled file in the temporary folder; logs `full`, the reason why it is not in the cache."""
    try:
        path = _obtain(_temporary_folder() / name, command, source, lasting=False)
    except NoRoom as error:
        raise EngineError(f"{full}; nor to {error.place}") from error
    log.warning("%s; a temporary folder serves for this run", full)
    return path


def _obtain(target: Path, command: list[str], source: str, lasting: bool) -> Path:
    from turbo_fzn.engine.toolchain import compilation  # only here: most runs find all that they need

    before_leaving(_abandon)
    start, name = time.monotonic(), compilation.short_name(target)
    with stage(f"compile {name}"):
        compilation.obtain(target, kernels_folder() / source, command, lasting)
    compile_seconds.append(time.monotonic() - start)
    log.info("compile: %.2f s, %s, %.1f MB", compile_seconds[-1], name, target.stat().st_size / 1e6)
    return target


def cpu_flags(bits: int, *extra: str) -> list[str]:
    """The flags of a CPU engine for stores of `bits` bits."""
    return [*CPU_FLAGS, f"-DBOUND_BITS={bits}", *extra]


def packaged_name(bits: int, *extra: str) -> str:
    """The name of a CPU engine in the folder `compiled` of a wheel."""
    key = hashlib.sha256("\0".join([source_hash(), *cpu_flags(bits, *extra)]).encode()).hexdigest()
    return f"cpu{bits}-{key[:24]}.so"


def packaged_library(bits: int, *extra: str) -> Path | None:
    """The CPU engine of the package; None if it was not built for these kernels and flags, or if the user has set a
    compiler or flags."""
    if os.environ.get("CXX") or developer_flags():
        return None
    path = PACKAGE / PACKAGED / packaged_name(bits, *extra)
    return path if path.is_file() else None


def _gpu_flags(bits: int, shared: bool, extra: tuple[str, ...]) -> list[str]:
    return [*GPU_FLAGS, f"-DBOUND_BITS={bits}", f"-DSTORE_SHARED={int(shared)}", *extra]


def packaged_gpu_name(bits: int, shared: bool, *extra: str) -> str:
    """The name of a GPU engine for several architectures in the folder `compiled` of a wheel."""
    key = hashlib.sha256("\0".join([source_hash(), *_gpu_flags(bits, shared, extra)]).encode()).hexdigest()
    return f"gpu{bits}{'s' if shared else 'g'}-{key[:24]}.fatbin"


def packaged_gpu_binary(bits: int, shared: bool, architecture: str, *extra: str) -> Path | None:
    """The GPU engine of the package; None if it was not built for these kernels, flags and architecture, or if the user
    has set a compiler or flags."""
    if os.environ.get("NVCC") or developer_flags() or _developer_nvcc_flags() or int(architecture) < OLDEST_PACKAGED:
        return None
    path = PACKAGE / PACKAGED / packaged_gpu_name(bits, shared, *extra)
    return path if path.is_file() else None


def packaged_for_gpus() -> Path | None:
    """The folder of the package that has the GPU engine, if there is one."""
    packaged = packaged_gpu_binary(32, True, str(OLDEST_PACKAGED))
    return packaged.parent if packaged else None


def cpu_library(bits: int, *extra: str) -> Path:
    """The CPU engine, compiled here; `extra`: flags of CPU_VARIANTS or of tests."""
    return _cached(f"cpu{bits}", ".so", _cpu_command(bits, extra), "solve.cpp")


def hybrid_library(bits: int, *extra: str) -> Path:
    """The library of the hybrid engine's threads, compiled here."""
    return _cached(f"hybrid{bits}", ".so", _cpu_command(bits, extra), "hybrid.cpp")


def soonest_cpu_library(bits: int, *extra: str) -> Path:
    """The CPU engine for a run that waits for it. If it is not compiled yet, the run gets an engine that compiles in a
    third of the time and is a quarter slower; the optimised engine is compiled in the background for later runs."""
    stem, command = f"cpu{bits}", _cpu_command(bits, extra)
    hasty, folder = [*command, *QUICK_FLAGS], _lasting_folder()
    as_told = set(extra) - set(CPU_FLOAT_FLAGS) or developer_flags()
    is_there = _kept(_name(stem, ".so", command)) is not None
    if as_told or is_there or (folder is None and _kept(_name(stem, ".so", hasty)) is None):
        return cpu_library(bits, *extra)
    try:
        quick = _cached(stem, ".so", hasty, "solve.cpp")
    except EngineError:
        if not os.environ.get("CXX"):
            raise
        return cpu_library(bits, *extra)  # a compiler of the user's own may lack these flags
    if folder is not None:
        _begin_beside(folder / _name(stem, ".so", command), command)
    return quick


def _begin_beside(right: Path, command: list[str]) -> None:
    from turbo_fzn.engine.toolchain import compilation

    try:
        compilation.begin(right, kernels_folder() / "solve.cpp", command, compilation.BESIDE)
    except EngineError as error:
        log.info("for later runs nothing is compiled: %s", error)


def is_ready(bits: int, *extra: str) -> bool:
    """Whether this CPU engine has been compiled, by the package or into the cache. Raises EngineError as
    find_cpu_compiler does."""
    if packaged_library(bits, *extra) is not None:
        return True
    return _kept(_name(f"cpu{bits}", ".so", _cpu_command(bits, extra))) is not None


def _cpu_command(bits: int, extra: tuple[str, ...]) -> list[str]:
    return [*find_cpu_compiler(), *cpu_flags(bits, *extra), *developer_flags()]


def gpu_command(bits: int, shared: bool, extra: tuple[str, ...]) -> list[str]:
    return [*find_nvcc(), *_gpu_flags(bits, shared, extra), *developer_flags(), *_developer_nvcc_flags()]


def gpu_binary(bits: int, shared: bool, architecture: str, *extra: str) -> Path:
    """The GPU engine for one architecture ("90" for sm_90) as a cubin."""
    return _cubin("gpu", SOLVE, bits, shared, architecture, extra)


def propagator_binary(bits: int, shared: bool, architecture: str, *extra: str) -> Path:
    """The hybrid engine's kernel for one architecture ("90" for sm_90) as a cubin."""
    return _cubin("propagate", PROPAGATE, bits, shared, architecture, extra)


def _cubin(stem: str, source: str, bits: int, shared: bool, architecture: str, extra: tuple[str, ...]) -> Path:
    target = ["-cubin", f"-gencode=arch=compute_{architecture},code=sm_{architecture}"]
    command = [*gpu_command(bits, shared, extra), *target]
    return _cached(f"{stem}{bits}{'s' if shared else 'g'}-sm{architecture}", ".cubin", command, source)
