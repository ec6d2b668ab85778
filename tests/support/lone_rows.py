"""Rows of a TNF by themselves, by the kernels' own code (tests/data/kernels): each to its fixpoint, and what explains
it."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

import numpy as np

from support.builds import build_once
from support.places import DATA
from turbo_fzn.base.resources import kernels_folder
from turbo_fzn.engine.abi.abi import Common, Problem
from turbo_fzn.engine.abi.aligned import align16, make_common
from turbo_fzn.engine.cuda import context
from turbo_fzn.engine.cuda.devices import driver
from turbo_fzn.engine.cuda.gpu import NON_BLOCKING, upload
from turbo_fzn.engine.layout import fused as fused_rows
from turbo_fzn.engine.layout import learners
from turbo_fzn.engine.layout import wide as wide_rows
from turbo_fzn.engine.layout.layout import Layout, Settings
from turbo_fzn.engine.library import point_to
from turbo_fzn.engine.toolchain import compiler
from turbo_fzn.tnf.fuse import Fused
from turbo_fzn.tnf.language import TNF

SOURCES = DATA / "kernels"
BLOCKS = 256  # on a GPU
RECORD_WORDS = 45  # of probe_rows.h


def compile_rows(command: list[str], source: str, target: str, bits: int, floats: bool) -> Path:
    """The compiled file, which all processes of a run of the tests share."""
    flags = [f"-DBOUND_BITS={bits}", f"-I{kernels_folder()}", *compiler.developer_flags()]
    command = [*command, *flags, str(SOURCES / source), "-o"]

    def compile_here(folder: Path) -> None:
        subprocess.run([*command, str(folder / target)], check=True, capture_output=True)

    return build_once("rows", compile_here, command, compiler.source_hash()) / target


@lru_cache(maxsize=3)
def cpu_rows(bits: int, floats: bool = False) -> ctypes.CDLL:
    kind = compiler.CPU_FLOAT_FLAGS if floats else ()
    command = [*compiler.find_cpu_compiler(), *compiler.CPU_FLAGS, "-O1", *kind]  # half of the time of a whole build
    compiled = ctypes.CDLL(str(compile_rows(command, "rows.cpp", f"rows{bits}.so", bits, floats)))
    compiled.propagate_rows.argtypes = [ctypes.c_void_p] * 4
    for call in (compiled.explain_rows, compiled.movers_in_boxes):
        call.argtypes = [*[ctypes.c_void_p] * 3, ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64]
        call.restype = ctypes.c_int64
    compiled.walk_rows.argtypes = [*[ctypes.c_void_p] * 2, ctypes.c_int32, ctypes.c_void_p]
    compiled.walk_rows.restype = ctypes.c_int64
    compiled.learns_with_fused_rows.argtypes = [ctypes.c_void_p, ctypes.c_int32]
    compiled.reduced_costs.argtypes = [
        ctypes.c_void_p, ctypes.c_int32, ctypes.c_int32, ctypes.c_int64, *[ctypes.c_void_p] * 2, ctypes.c_int32
    ]  # fmt: skip
    compiled.reduced_costs.restype = ctypes.c_int64
    compiled.next_set.argtypes = [ctypes.c_void_p, ctypes.c_int32, ctypes.c_int32]
    return compiled


@lru_cache(maxsize=3)
def gpu_rows(bits: int, floats: bool = False):
    architecture = context.context().architecture
    kind = compiler.GPU_FLOAT_FLAGS if floats else ()
    command = [*compiler.find_nvcc(), "-std=c++17", "-O3", *kind, "-cubin", f"-arch=sm_{architecture}"]
    compiled = compile_rows(command, "rows.cu", f"rows{bits}.cubin", bits, floats).read_bytes()
    module = driver().module_from_buffer(compiled)
    function = module.get_function("propagate_rows")
    function.prepare([f"{ctypes.sizeof(Problem)}s", *["8s"] * 3])
    return module, function


def propagate_rows(engine: str, tnf: TNF) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Each row to its fixpoint, in a TNF whose rows share no variable but constants.

    Returns (lower, upper, consistent): int64 [n] twice and bool [m].
    """
    layout = Layout(tnf, np.empty(0, np.int32), Settings(blocks=BLOCKS if engine == "gpu" else 1))
    lower, upper = tnf.lower.astype(layout.bound_type), tnf.upper.astype(layout.bound_type)
    consistent = np.zeros(tnf.n_rows, np.int32)
    run = run_on_gpu if engine == "gpu" else run_on_cpu
    run(layout, lower, upper, consistent)
    return lower.astype(np.int64), upper.astype(np.int64), consistent.astype(bool)


def problem_on_cpu(layout: Layout, common: Common) -> Problem:
    problem = Problem()
    layout.fill(problem, 0)
    point_to(problem, layout.arrays)
    problem.common = ctypes.addressof(common)
    return problem


def run_on_cpu(layout: Layout, *results: np.ndarray) -> None:
    common = make_common()
    problem = problem_on_cpu(layout, common)
    places = [array.ctypes.data for array in results]
    rows = cpu_rows(layout.bits, layout.tnf.floats is not None)
    assert rows.propagate_rows(ctypes.byref(problem), *places) == 0


def explain_rows(tnf: TNF, lower: np.ndarray, upper: np.ndarray, fused: Fused | None = None) -> np.ndarray:
    """What each row of a TNF, each fused row and each wide one says of the box lower..upper inside the model's, and
    why; no two of them share a variable. The bounds are int64 [n], or [b, n] for a learner that runs the rows in b
    boxes and is asked in the last one. Records (int64 [k, 45]) as probe_rows.h has them."""
    n_rows = tnf.n_rows + (fused.linears.n_rows if fused else 0) + len(tnf.wides)
    records = np.zeros((200 * n_rows, RECORD_WORDS), np.int64)
    written = ask_learner("explain_rows", tnf, lower, upper, records, fused)
    assert 0 <= written < len(records)
    return records[:written]


def count_movers(tnf: TNF, lower: np.ndarray, upper: np.ndarray) -> list[int]:
    """How many tasks of the one cumulative row may have to move in each of the boxes (int64 [b, n] each)."""
    counts = np.zeros(len(lower), np.int64)
    assert ask_learner("movers_in_boxes", tnf, lower, upper, counts) == 0
    return counts.tolist()


def walk_rows(tnf: TNF, steps: np.ndarray) -> list[tuple[bool, np.ndarray]]:
    """What a learner of the rows, which may share variables, comes to by each of the steps: (a level to return to, a
    side, a threshold to suppose unless that is decided); the first one is the root. Whether it is consistent there, and
    the bounds (int64 [n, 2]). A conflict at level 0 is the last one."""
    words = np.full((len(steps), 1 + 2 * tnf.n_vars), -1, np.int64)
    with learner_of(tnf) as (layout, problem):
        rows = cpu_rows(layout.bits)
        assert rows.walk_rows(ctypes.byref(problem), steps.ctypes.data, len(steps), words.ctypes.data) == 0
    return [(line[0] == 0, line[1:].reshape(-1, 2) * (1, -1)) for line in words if line[0] >= 0]


def ask_learner(
    name: str, tnf: TNF, lower: np.ndarray, upper: np.ndarray, answer: np.ndarray, fused: Fused | None = None
) -> int:
    """The function of rows.cpp, which writes `answer`, and what it returns."""
    with learner_of(tnf, fused) as (layout, problem):
        box = [np.ascontiguousarray(bounds, layout.bound_type) for bounds in (lower, upper)]
        n_boxes, *ends = box[0].size // tnf.n_vars, *(bounds.ctypes.data for bounds in box)
        call = getattr(cpu_rows(layout.bits), name)
        return int(call(ctypes.byref(problem), *ends, n_boxes, answer.ctypes.data, len(answer)))


@contextmanager
def learner_of(tnf: TNF, fused: Fused | None = None) -> Iterator[tuple[Layout, Problem]]:
    """The problem of a learner, whose arrays are there meanwhile."""
    layout = Layout(tnf, np.empty(0, np.int32), Settings(roles=("finder",)))
    common = make_common()
    problem = problem_on_cpu(layout, common)
    watches = learners.watches(layout.tnf)
    point_to(problem, watches)
    decided = learners.records(1, 1, (), ()), learners.decision_sets(tnf)
    problem.learners, problem.decision_sets = (array.ctypes.data for array in decided)
    if fused:
        arrays = fused_rows.pack(fused, tnf.n_vars)
        point_to(problem, arrays)
        fused_rows.count(problem, arrays)
    wides = wide_rows.pack(tnf.wides, tnf.n_vars)
    point_to(problem, wides)
    wide_rows.count(problem, wides)
    yield layout, problem


def run_on_gpu(layout: Layout, *results: np.ndarray) -> None:
    cuda, problem = driver(), Problem()
    _, function = gpu_rows(layout.bits, layout.tnf.floats is not None)
    layout.fill(problem, align16(layout.store_bytes + layout.list_bytes))
    held = {name: upload(cuda, np.ascontiguousarray(array)) for name, array in layout.arrays.items() if array.nbytes}
    held["common"] = upload(cuda, np.frombuffer(bytes(layout.first_common()), np.uint8))
    held["workspace"] = cuda.mem_alloc(BLOCKS * problem.workspace_bytes)
    cuda.memset_d8(held["workspace"], 0, BLOCKS * problem.workspace_bytes)
    for name, allocation in held.items():
        setattr(problem, name, int(allocation))
    places = [upload(cuda, array) for array in results]
    arguments = bytes(problem), *(int(place).to_bytes(8, "little") for place in places)
    cuda.Context.synchronize()
    function.prepared_async_call((BLOCKS, 1), (32, 1, 1), cuda.Stream(NON_BLOCKING), *arguments, shared_size=0)
    cuda.Context.synchronize()
    for array, place in zip(results, places):
        cuda.memcpy_dtoh(array, place)
