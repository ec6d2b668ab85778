"""Loads the kernels compiled for the host, and checks that they agree with this version of the package.

The GPU engine uses their fence and their sizes too.
"""

from __future__ import annotations

import ctypes
import logging
from functools import lru_cache

import numpy as np

from turbo_fzn.base import memory
from turbo_fzn.base.errors import EngineError, InternalError
from turbo_fzn.base.tuning import TUNING as BASE
from turbo_fzn.engine.abi.abi import Problem
from turbo_fzn.engine.abi.agreement import digest
from turbo_fzn.engine.layout.layout import Layout, Settings
from turbo_fzn.engine.toolchain import compiler
from turbo_fzn.tnf.language import TNF

log = logging.getLogger("turbo_fzn")


def load(bits: int, *extra: str) -> ctypes.CDLL:
    """Loads the library of the package, or else a library that is compiled here. Raises EngineError without a
    compiler."""
    packaged = compiler.packaged_library(bits, *extra)
    if packaged is not None:
        try:
            return ctypes.CDLL(str(packaged))
        except OSError as error:  # it may need a newer system than this
            log.info("the engine of the package cannot be loaded: %s", error)
    path = compiler.soonest_cpu_library(bits, *extra)
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        memory.require(BASE.stack_bytes)
        raise EngineError(f"cannot load the CPU engine (remove {path}, and it is made again): {error}") from error


@lru_cache(maxsize=4)
def library(bits: int, *extra: str) -> ctypes.CDLL:
    """The library for stores of `bits` bits, ready to be called."""
    loaded = load(bits, *extra)
    floats = compiler.FLOAT_FLAG in extra
    check_digest(loaded._name, ctypes.c_char_p.in_dll(loaded, "abi_digest").value or b"", floats)
    loaded.solve_block.argtypes = [ctypes.c_void_p, ctypes.c_int32]
    loaded.propagate_root.argtypes = [ctypes.c_void_p] * 3
    loaded.probe_root.argtypes = [ctypes.c_void_p] * 4
    loaded.connect_literals.argtypes = [ctypes.c_int32, ctypes.c_int64, *[ctypes.c_void_p] * 2]
    loaded.adopt_solution.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64]
    loaded.read_units.argtypes = loaded.write_units.argtypes = [ctypes.c_void_p] * 2
    loaded.read_units.restype = ctypes.c_int64
    loaded.post_row.argtypes = [ctypes.c_void_p, ctypes.c_int32, ctypes.c_int64, ctypes.c_void_p, ctypes.c_int32]
    return loaded


def check_digest(compiled: str, carried: bytes, floats: bool = False) -> None:
    """Raises InternalError if the kernels were compiled for other structs than abi.py defines."""
    own = digest(floats)
    if carried.decode() != own:
        raise InternalError(f"host and kernels differ: {compiled} is for {carried.decode()}, the host for {own}")


def check_sums(layout: Layout, problem: Problem) -> None:
    """Raises InternalError where the kernels compute other sizes of a block's memory than the layout does."""
    sums = (ctypes.c_int64 * 3)()
    library(layout.bits, *float_flags(layout.tnf)).block_bytes(ctypes.byref(problem), sums)
    if list(sums) != [layout.plain_store_bytes, layout.list_bytes, layout.stack_bytes]:
        raise InternalError(f"host and kernels differ about the memory of a block: {list(sums)}")


def float_flags(tnf: TNF) -> tuple[str, ...]:
    """The compiler flags that the model needs: the flags for real variables, if it has any."""
    return () if tnf.floats is None else compiler.CPU_FLOAT_FLAGS


def profile_flags(settings: Settings) -> list[str]:
    return [compiler.PROFILE_FLAG] if settings.profile else []


def _trace_flags(settings: Settings) -> list[str]:
    return [compiler.TRACE_FLAG] if settings.trace else []


def _proof_flags(settings: Settings) -> list[str]:
    return [compiler.PROOF_FLAG] if settings.proof else []


def point_to(problem: Problem, arrays: dict[str, np.ndarray]) -> None:
    for name, array in arrays.items():
        setattr(problem, name, array.ctypes.data)


def flags(tnf: TNF, settings: Settings) -> tuple[str, ...]:
    builds = *profile_flags(settings), *_trace_flags(settings), *_proof_flags(settings)
    return *float_flags(tnf), *builds, *settings.macros
