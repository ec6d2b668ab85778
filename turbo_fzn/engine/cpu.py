"""The CPU engine: the kernels compiled by the host's C++ compiler, one OS thread a block."""

from __future__ import annotations

import ctypes
import logging
import threading
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from turbo_fzn import memory
from turbo_fzn.engine import compiler
from turbo_fzn.engine.abi import LEARN_STATISTICS, METHODS, STATISTICS, Common, Problem, Units
from turbo_fzn.engine.agreement import digest
from turbo_fzn.engine.aligned import first_books, first_depths, line_aligned, make_common
from turbo_fzn.engine.contract import NO_WISH, Found, Roots, depth_statistics, merge_statistics, method_statistics
from turbo_fzn.engine.figures import memory_by_kind, subproblem_counts
from turbo_fzn.engine.layout import Layout, Settings
from turbo_fzn.engine.parcels import Parcels
from turbo_fzn.engine.ring import Ring
from turbo_fzn.engine.trace_records import Trace, TraceRecord
from turbo_fzn.errors import EngineError, InternalError
from turbo_fzn.tnf.language import TNF

log = logging.getLogger("turbo_fzn")

NO_MEMORY, OVERFLOW = -2, -3  # of propagate_root
TRACE_CAPACITY = 2**14  # records
TRACE_RECORD = np.dtype(TraceRecord)


def load(bits: int, *extra: str) -> ctypes.CDLL:
    """The engine of the package, or else one that is compiled here. Raises EngineError without a compiler."""
    packaged = compiler.packaged_library(bits, *extra)
    if packaged is not None:
        try:
            return ctypes.CDLL(str(packaged))
        except OSError as error:  # it may be for a newer system than this
            log.info("the engine of the package cannot be loaded: %s", error)
    path = compiler.soonest_cpu_library(bits, *extra)
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        memory.require(memory.STACK_BYTES)
        raise EngineError(f"cannot load the CPU engine (remove {path}, and it is made again): {error}") from error


@lru_cache(maxsize=4)
def library(bits: int, *extra: str) -> ctypes.CDLL:
    """The engine for stores of `bits` bits, ready to be called."""
    loaded = load(bits, *extra)
    floats = compiler.FLOAT_FLAG in extra
    check_digest(loaded._name, ctypes.c_char_p.in_dll(loaded, "abi_digest").value or b"", floats)
    loaded.solve_block.argtypes = [ctypes.c_void_p, ctypes.c_int32]
    loaded.propagate_root.argtypes = [ctypes.c_void_p] * 3
    loaded.adopt_solution.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64]
    loaded.read_units.argtypes = loaded.write_units.argtypes = [ctypes.c_void_p] * 2
    loaded.read_units.restype = ctypes.c_int64
    return loaded


def check_digest(compiled: str, carried: bytes, floats: bool = False) -> None:
    """Raises InternalError where kernels were compiled for structs that are not those of this host."""
    own = digest(floats)
    if carried.decode() != own:
        raise InternalError(f"host and kernels differ: {compiled} is for {carried.decode()}, the host for {own}")


def check_sums(layout: Layout, problem: Problem) -> None:
    """Raises InternalError where the kernels reckon with other sizes of a block's memory than the layout does."""
    sums = (ctypes.c_int64 * 3)()
    library(layout.bits, *float_flags(layout.tnf)).block_bytes(ctypes.byref(problem), sums)
    if list(sums) != [layout.plain_store_bytes, layout.list_bytes, layout.stack_bytes]:
        raise InternalError(f"host and kernels differ about the memory of a block: {list(sums)}")


def float_flags(tnf: TNF) -> tuple[str, ...]:
    """Those of the engine for this model, by the kinds of its variables."""
    return () if tnf.floats is None else compiler.CPU_FLOAT_FLAGS


def profile_flags(settings: Settings) -> list[str]:
    return [compiler.PROFILE_FLAG] if settings.profile else []


def trace_flags(settings: Settings) -> list[str]:
    return [compiler.TRACE_FLAG] if settings.trace else []


def point_to(problem: Problem, arrays: dict[str, np.ndarray]) -> None:
    for name, array in arrays.items():
        setattr(problem, name, array.ctypes.data)


def flags(tnf: TNF, settings: Settings) -> tuple[str, ...]:
    return *float_flags(tnf), *profile_flags(settings), *trace_flags(settings), *settings.macros


class Stop:
    """A stop flag that root propagation watches, for another thread or a signal handler to set."""

    def __init__(self) -> None:
        self.common = make_common()

    def set(self) -> None:
        self.common.stop = 1


def propagate(tnf: TNF, stop: Stop | None = None) -> tuple[np.ndarray, np.ndarray] | None:
    """The root fixpoint of all rows: (lower, upper), int64 [n]; None when the model is infeasible.

    A stop leaves the bounds where they are, which loses no solution; a bound beyond what 64 bits hold raises
    EngineError.
    """
    return Propagator(tnf, stop)(tnf.lower, tnf.upper)


class Propagator:
    """The rows of a TNF, for one box of bounds after the other: each is propagated to its fixpoint, as by `propagate`.

    A box lies within the bounds of the TNF (int64 [n] each)."""

    def __init__(self, tnf: TNF, stop: Stop | None = None):
        self.layout = layout = Layout(tnf, np.empty(0, np.int32), Settings())
        self.library = library(layout.bits, *float_flags(tnf))
        self.common = (stop or Stop()).common
        self.problem = problem = Problem()
        layout.fill(problem, 0)
        point_to(problem, layout.arrays)
        problem.common = ctypes.addressof(self.common)

    def __call__(self, lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        lower, upper = lower.astype(self.layout.bound_type), upper.astype(self.layout.bound_type)
        outcome = self.library.propagate_root(ctypes.byref(self.problem), lower.ctypes.data, upper.ctypes.data)
        if outcome == NO_MEMORY:
            raise EngineError("not enough memory for the store")
        if outcome == OVERFLOW:
            raise EngineError("a bound of the model does not fit into 64 bits")
        return None if outcome == 0 else (lower.astype(np.int64), upper.astype(np.int64))


def prover_of(engine: str, common: Common) -> str:
    """Of an engine that is complete. Where the host has told it the proof, the prover is another one: empty."""
    if common.is_exhausted:
        return f"{engine} tree"
    return f"{engine} {METHODS[common.proved_by]}" if common.bound >= common.best else ""


class Tracer:
    """The host's end of the records of kernels/search/trace.h; one at a time in a process."""

    def __init__(self, layout: Layout, compiled: ctypes.CDLL):
        self.compiled = compiled
        self.records = np.zeros(TRACE_CAPACITY, TRACE_RECORD)
        self.branches = np.zeros((layout.level_capacity, 2), np.int32)
        self.shared = Trace(self.records.ctypes.data, self.branches.ctypes.data, TRACE_CAPACITY, tree=-1)
        compiled.set_trace.argtypes = [ctypes.c_void_p]
        compiled.set_trace(ctypes.addressof(self.shared))

    def take(self, most: int) -> np.ndarray:
        written = self.shared.written
        self.compiled.memory_fence()
        count = min(written - self.shared.taken, most)
        places = (self.shared.taken + np.arange(count)) % TRACE_CAPACITY
        taken = self.records[places]
        self.compiled.memory_fence()
        self.shared.taken += count
        return taken

    def close(self) -> None:
        self.compiled.set_trace(None)


class OwnMemory:
    """How parcels reach an engine in this process (parcels.Reach)."""

    def __init__(self, common: Common, inbox: np.ndarray, fence: Callable[[], None]):
        self.shared, self.inbox, self.fence = common, inbox, fence

    def common(self) -> Common:
        self.fence()
        return self.shared

    def send_word(self, name: str, value: int) -> None:
        self.fence()
        setattr(self.shared, name, value)

    def put_parcel(self, place: int, parcel: np.ndarray) -> None:
        self.inbox[place : place + len(parcel)] = parcel


class CpuEngine:
    """`settings.blocks` threads search `tnf`, whose root must be at its fixpoint. See engine.Engine."""

    name = "cpu"

    def __init__(self, tnf: TNF, exports: np.ndarray, settings: Settings):
        self.layout = layout = Layout(tnf, exports, settings)
        self.library = library(layout.bits, *flags(tnf, settings))
        self.common = layout.first_common()
        self.blocks_statistics = np.zeros((settings.blocks, len(STATISTICS)), np.int64)
        self.learn_statistics = np.zeros((settings.blocks, len(LEARN_STATISTICS)), np.int64)
        self.books = first_books()
        self.memory = self._first_memory(layout)
        self.problem = Problem()
        layout.fill(self.problem, layout.stack_bytes)
        check_sums(layout, self.problem)
        point_to(self.problem, {**layout.arrays, **self.memory})
        self.problem.common = ctypes.addressof(self.common)
        self.units_read = 0  # version
        self.ring = Ring(layout, self.memory["ring"], self.library.memory_fence)
        reach = OwnMemory(self.common, self.memory["inbox"], self.library.memory_fence)
        self.parcels = Parcels(layout, self.memory["outbox"], reach, self.library.memory_fence)
        self.shape = {"blocks": settings.blocks, **memory_by_kind(layout, settings.retires is not False)}
        self.repeats = layout.repeats
        self.tracer = Tracer(layout, self.library) if settings.trace else None
        self.failures: list[int] = []
        self.threads = [
            threading.Thread(target=self._run, args=(index,), name=f"block-{index}", daemon=True)
            for index in range(settings.blocks)
        ]

    def _first_memory(self, layout: Layout) -> dict[str, np.ndarray]:
        """What the blocks write to, by its name in Problem."""
        islands, incumbents = layout.first_islands()
        memory = {
            "weights": layout.weights,
            "islands": islands,
            "incumbents": incumbents,
            "phases": np.zeros(layout.tnf.n_vars, layout.bound_type),
            "wishes": np.zeros(layout.tnf.n_vars, layout.bound_type),
            "units": layout.first_units(),
            "books": self.books,
            "statistics": self.blocks_statistics,
            "learn_statistics": self.learn_statistics,
            "depths": first_depths(),
            "roles": layout.roles(),
            "decides": layout.decides(),
            "decision_sets": layout.decision_sets() if layout.settings.roles else np.zeros(1, np.uint8),
            "pool_sequences": layout.first_sequences(),
            "pool": np.zeros(layout.pool_slots * layout.pool_slot_bytes, np.uint8),
            "ring": np.zeros(layout.ring_slots * layout.ring_slot_bytes, np.uint8),
            "workspace": np.zeros(layout.settings.blocks * layout.stack_bytes, np.uint8),
            "outbox": line_aligned(layout.parcels * layout.parcel_bytes),
            "inbox": line_aligned(layout.parcels * layout.parcel_bytes),
        }
        if (exchange := layout.first_exchange()) is not None:
            memory["exchange"] = exchange
        return memory

    def _run(self, index: int) -> None:
        if self.library.solve_block(ctypes.byref(self.problem), index) != 0:
            self.failures.append(index)
            self.common.stop = 1

    def start(self, incumbent: Found | None = None) -> None:
        if self.layout.is_whole(incumbent):
            self.common.best = self.layout.first_common(incumbent).best
            self.memory["islands"][:], self.memory["incumbents"][:] = self.layout.first_islands(incumbent)
        try:
            for thread in self.threads:
                thread.start()
        except RuntimeError as error:
            why = error if memory.has_room(memory.STACK_BYTES) else "out of memory"
            raise EngineError(f"cannot run {len(self.threads)} threads: {why}") from error

    @property
    def running(self) -> bool:
        if any(thread.is_alive() for thread in self.threads):
            return True
        if self.failures:
            raise EngineError("not enough memory for the store of a block")
        return False

    @property
    def complete(self) -> bool:
        return not self.running and self.common.is_complete

    def poll(self) -> list[Found]:
        found = [Found(*solution, self.name) for solution in self.ring.take()]
        self.common.consumed = self.ring.taken
        return found

    @property
    def bound(self) -> int:
        return int(self.common.proved)

    @property
    def prover(self) -> str:
        return prover_of(self.name, self.common) if self.complete else ""

    def adopt(self, found: Found) -> None:
        if self.layout.is_whole(found):
            values = np.ascontiguousarray(found.values, self.layout.bound_type)
            value = self.layout.tnf.sense * found.objective
            self.library.adopt_solution(ctypes.byref(self.problem), values.ctypes.data, value)

    def suggest(self, values: np.ndarray) -> None:
        """Learners try them first in some of their runs. A mixture of two suggestions is one, too."""
        self.memory["wishes"][:] = np.where(values == NO_WISH, np.iinfo(self.layout.bound_type).min, values)
        self.common.wished = 1

    def raise_bound(self, bound: int) -> None:
        self.common.host_bound = max(self.common.host_bound, bound)

    def end_turn_at(self, work: int) -> None:
        """A learner that is alone waits after so much work in all (kernels/learn/turns.h); 0: no more."""
        self.common.turn_end = work

    @property
    def turn_over(self) -> int:
        """The end of the turn after which it waits; 0 while it does not. What it has found is in the ring."""
        over = self.common.turn_over
        self.library.memory_fence()
        return int(over) if over == self.common.turn_end else 0

    def roots(self) -> Roots | None:
        version = Units.from_buffer(self.memory["units"].data).version
        if version == self.units_read:
            return None
        self.units_read = version
        words = np.empty(2 * self.layout.tnf.n_vars, self.layout.bound_type)
        under = self.library.read_units(ctypes.byref(self.problem), words.ctypes.data)
        return Roots(words.astype(np.int64), under)

    def tighten(self, roots: Roots) -> None:
        if self.common.best <= roots.under:
            words = roots.sides.astype(self.layout.bound_type)
            self.library.write_units(ctypes.byref(self.problem), words.ctypes.data)

    @property
    def open_work(self) -> int:
        return int(self.common.outstanding)

    def stop(self) -> None:
        self.common.stop = 1

    def halt(self) -> None:
        self.stop()

    def trace(self, most: int) -> np.ndarray:
        """The next records of the search tree (TRACE_RECORD, at most `most`); only with the setting `trace`."""
        assert self.tracer is not None
        return self.tracer.take(most)

    def statistics(self) -> dict[str, int]:
        """Sums over the blocks; of those that still run, up to a few nodes ago."""
        counted = merge_statistics(self.blocks_statistics, STATISTICS) | subproblem_counts(self.layout, self.common)
        counted |= depth_statistics(self.memory["depths"]) if self.layout.settings.profile else {}
        return counted | merge_statistics(self.learn_statistics, LEARN_STATISTICS)

    def methods(self) -> dict[str, float]:
        return method_statistics(self.books, METHODS)

    def close(self) -> None:
        self.stop()
        while running := [
            thread for thread in self.threads if thread.is_alive()
        ]:  # not those that could not be started
            self.poll()  # a block may be waiting for room in the ring
            for thread in running:
                thread.join(0.001)
        if self.tracer is not None:
            self.tracer.close()
