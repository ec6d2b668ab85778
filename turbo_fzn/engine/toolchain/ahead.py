"""Compiles kernels ahead of time: into the cache, into a wheel, and, as a check, for every GPU.

`python -m turbo_fzn.engine.toolchain.ahead` is the check: every variant for every architecture, with warnings as
errors. It needs nvcc, but no GPU. `fzn-turbo --build-kernels` fills the cache.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from turbo_fzn.base.errors import EngineError
from turbo_fzn.base.resources import kernels_folder
from turbo_fzn.engine import variants
from turbo_fzn.engine.toolchain import compilation, compiler

# Machine code for an architecture runs on later ones of the same major version, such as 86 and 89. A wheel also has PTX
# of the oldest architecture, which the driver compiles for all other newer architectures.
GPU_ARCHITECTURES = (str(compiler.OLDEST_PACKAGED), "90", "100", "120")
SOURCES = {variants.GPU: compiler.SOLVE, variants.HYBRID: compiler.PROPAGATE}  # the source of each GPU engine's kernels
COMPARED_ON = "90"  # the architecture on which variants are compared
# The builds that a run without special options may need: (bits, flags).
CPU_ENGINES: tuple[tuple[int, tuple[str, ...]], ...] = ((32, ()), (64, ()), (64, compiler.CPU_FLOAT_FLAGS))
GPU_VARIANTS: tuple[tuple[int, bool, tuple[str, ...]], ...] = tuple(
    (bits, shared, ()) for bits in (32, 64) for shared in (True, False)
)
GPU_VARIANTS += tuple((64, shared, compiler.GPU_FLOAT_FLAGS) for shared in (True, False))
GPU_VARIANTS += tuple((bits, True, (variants.SUMS,)) for bits in (32, 64))
GPU_VARIANTS += tuple((32, shared, (variants.TRUTHS,)) for shared in (True, False))
GPU_VARIANTS += ((32, True, (variants.SUMS, variants.TRUTHS)),)


# The kernel of most models, and the registers a thread with which 21 blocks of a warp fit an SM; with 112, which a
# useless call once cost, 18 do.
MOST_USED = compiler.SOLVE, COMPARED_ON, GPU_VARIANTS[0]
MOST_REGISTERS = 96  # formula: registers of an SM for each lane of these blocks


def _check_gpu_kernels() -> int:
    """Compiles every variant for every architecture, on all cores, and prints registers and spills. Returns the number
    of faulty variants."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return sum(pool.map(lambda build: _is_faulty(*build), checked()))


def _is_faulty(source: str, architecture: str, variant: tuple[int, bool, tuple[str, ...]]) -> bool:
    """Whether the compiler gives a warning for this variant of the source, spills registers, or, for the most used
    variant, needs too many."""
    bits, shared, kind = variant
    flags = ["-Werror", "all-warnings", "-cubin", f"-arch=sm_{architecture}"]
    with tempfile.TemporaryDirectory() as folder:
        target = ["-o", f"{folder}/checked.cubin", str(kernels_folder() / source)]
        said = compilation.run_compiler([*compiler.gpu_command(bits, shared, kind), *flags, *target], folder)
    registers = re.findall(r"Used (\d+) registers", said)
    spills = re.findall(r"(\d+) bytes spill stores, (\d+) bytes spill loads", said)
    faulty = "warning" in said.lower() or any(pair != ("0", "0") for pair in spills) or not spills
    faulty |= (source, architecture, variant) == MOST_USED and max(map(int, registers)) > MOST_REGISTERS
    more = ", real variables" if kind == compiler.GPU_FLOAT_FLAGS else "".join(f" {flag}" for flag in kind)
    name = f"{source} sm_{architecture} {bits}-bit {'shared' if shared else 'global'} store{more}"
    figures = f"{max(map(int, registers))} registers, spills {spills}"
    print(f"{name}: {figures}{' FAULT' if faulty else ''}", flush=True)
    return faulty


def checked() -> Iterator[tuple[str, str, tuple[int, bool, tuple[str, ...]]]]:
    """(source, architecture, variant) for every source in every build for every architecture; for the variants of
    variants.py, one width and one architecture only."""
    for source, architecture, variant in itertools.product(SOURCES.values(), GPU_ARCHITECTURES, GPU_VARIANTS):
        if source == compiler.SOLVE or not {variants.SUMS, variants.TRUTHS} & {*variant[2]}:  # hybrid blocks have none
            yield source, architecture, variant
    for engine, source in SOURCES.items():
        changed = [one for one in variants.VARIANTS if engine in one.engines and engine not in one.usual]
        for names in [(one.name, *one.needs[:1]) for one in changed]:
            builds = variants.chosen(",".join(names), engine).gpu_builds(engine)
            yield from ((source, COMPARED_ON, (32, True, macros)) for macros in builds if macros)


def fill_package(
    folder: Path, report: Callable[[str], object] = print, kinds: Iterable[compiler.CpuBuild] = compiler.CPU_VARIANTS
) -> None:
    """Compiles these CPU engines into a folder of the package being built (setup.py), on all cores, and reports
    progress. Raises EngineError."""
    command = compiler.find_cpu_compiler()
    builds = {
        compiler.packaged_name(bits, *kind): (_in_words(bits, kind), [*command, *compiler.cpu_flags(bits, *kind)])
        for bits, kind in kinds
    }
    _compile_all("the CPU engine", "solve.cpp", builds, folder, report)


def fill_package_for_gpus(folder: Path, report: Callable[[str], object] = print) -> None:
    """Compiles every GPU engine into the folder, for GPU_ARCHITECTURES and all that are newer than the oldest. Raises
    EngineError, also where there is no nvcc."""
    codes = [f"-gencode=arch=compute_{one},code=sm_{one}" for one in GPU_ARCHITECTURES]
    oldest = f"compute_{compiler.OLDEST_PACKAGED}"
    flags = [*codes, f"-gencode=arch={oldest},code={oldest}", "-fatbin", "-Xfatbin=-compress-all"]
    builds = {
        compiler.packaged_gpu_name(bits, shared, *kind): (
            _in_words(bits, ["in shared memory" if shared else "in global memory", *kind]),
            [*compiler.gpu_command(bits, shared, kind), *flags],
        )
        for bits, shared, kind in GPU_VARIANTS
    }
    _compile_all("the GPU engine", compiler.SOLVE, builds, folder, report)


def _in_words(bits: int, kind: Iterable[str]) -> str:
    return " ".join([f"{bits} bits", *kind])


def _compile_all(
    what: str, source: str, builds: Mapping[str, tuple[str, list[str]]], folder: Path, report: Callable[[str], object]
) -> None:
    """Compiles the source into files of these names, each with its description and command."""
    folder.mkdir(parents=True, exist_ok=True)

    def compile_one(name: str, description: str, command: list[str]) -> str:
        start = time.monotonic()
        with tempfile.TemporaryDirectory() as scratch:
            words = [*command, "-o", str(folder / name), str(kernels_folder() / source)]
            compilation.run_compiler(words, scratch)
        return f"{description}, {time.monotonic() - start:.0f} s"

    cores = os.cpu_count() or 1
    several = f"{len(builds)} libraries, {cores} at a time, minutes"
    report(f"compiling {what}: {'about a minute' if len(builds) == 1 else several}")
    with ThreadPoolExecutor(cores) as pool:
        waiting = [pool.submit(compile_one, name, *build) for name, build in builds.items()]
        try:
            for number, done in enumerate(as_completed(waiting), 1):
                report(f"compiled {number} of {len(waiting)}: {done.result()}")
        finally:
            pool.shutdown(cancel_futures=True)  # after a failure the others are not begun


def begin_cache(report: Callable[[str], object] = print) -> None:
    """Compiles the CPU engine that most models need, unless the package has it, and reports where it is. At first it is
    compiled with little optimisation, and optimised in the background (compiler.soonest_cpu_library). Raises
    EngineError."""
    for bits, kind in compiler.MOST_NEEDED:
        path = compiler.packaged_library(bits, *kind) or compiler.soonest_cpu_library(bits, *kind)
        report(f"CPU engine, {bits}-bit: {path}")
    report("other engines are compiled when they are first needed, or all at once by: fzn-turbo --build-kernels")


def fill_cache(architectures: Callable[[], list[str]], report: Callable[[str], object] = print) -> None:
    """Compiles the CPU engine, unless the package has it, and the GPU engine for the GPUs of this machine, and reports
    progress. `architectures` returns the architectures of these GPUs, and raises EngineError without a GPU."""
    for bits, kind in CPU_ENGINES:
        path = compiler.packaged_library(bits, *kind) or compiler.cpu_library(bits, *kind)
        report(f"CPU engine, {bits}-bit{', real variables' if kind else ''}: {path}")
    try:
        if compiler.packaged_for_gpus() is None:
            compiler.find_nvcc()
        found = architectures()
    except EngineError as error:
        report(f"GPU engine: not built, {error}")
        return
    for architecture in found:
        for bits, shared, kind in GPU_VARIANTS:
            packaged = compiler.packaged_gpu_binary(bits, shared, architecture, *kind)
            path = packaged or compiler.gpu_binary(bits, shared, architecture, *kind)
            report(f"GPU engine, {bits}-bit: {path}")


def fill_cache_with(kinds: Iterable[tuple[str, ...]], architectures: Iterable[str]) -> None:
    """Compiles the GPU engine with each of these sets of flags, for integers, on all cores. Failures are ignored: a run
    that needs the kernel will report them."""
    widths = [(bits, shared) for bits in (32, 64) for shared in (True, False)]
    builds = list(itertools.product(architectures, dict.fromkeys(kinds), widths))

    def compile_one(build: tuple[str, tuple[str, ...], tuple[int, bool]]) -> None:
        architecture, kind, (bits, shared) = build
        with contextlib.suppress(EngineError):
            compiler.gpu_binary(bits, shared, architecture, *kind)

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        list(pool.map(compile_one, builds))


def main() -> int:
    what = "Compile all variants of the GPU engine; fail on a warning or a spill."
    argparse.ArgumentParser(prog="python -m turbo_fzn.engine.toolchain.ahead", description=what).parse_args()
    try:
        return 1 if _check_gpu_kernels() else 0
    except EngineError as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
