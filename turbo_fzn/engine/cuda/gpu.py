"""The GPU engine, on one GPU; fleet.py combines several.

The whole search is one launch of resident blocks that synchronise only through atomics, so no grid barrier is needed.
Solutions reach the host through a ring in mapped host memory; the stop flag, the count of solutions taken, and
solutions and bounds of other engines reach the kernel by asynchronous copies on a second stream (dispatch.py). Both
streams are non-blocking, since otherwise a copy would wait for the kernel.
"""

from __future__ import annotations

import contextlib
import ctypes
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from turbo_fzn.base.errors import EngineError
from turbo_fzn.engine import variants
from turbo_fzn.engine.abi.abi import (
    N_DEPTHS,
    NO_INCUMBENT,
    STATISTICS,
    Common,
    DepthCounts,
    Island,
    Problem,
    Statistics,
)
from turbo_fzn.engine.abi.aligned import align16, first_books, first_depths
from turbo_fzn.engine.contract import BOOKED, Found, Inequality, Roots, depth_statistics, merge_statistics
from turbo_fzn.engine.cuda import context as contexts
from turbo_fzn.engine.cuda.context import Context
from turbo_fzn.engine.cuda.devices import driver
from turbo_fzn.engine.cuda.dispatch import Dispatch
from turbo_fzn.engine.cuda.shape import Shape, fusing_pays, launch_shape, may_choose, packing_pays
from turbo_fzn.engine.figures import memory_by_kind, subproblem_counts
from turbo_fzn.engine.layout.layout import Layout, Settings
from turbo_fzn.engine.library import check_sums, library, profile_flags
from turbo_fzn.engine.parcels import Parcels
from turbo_fzn.engine.ring import Ring
from turbo_fzn.engine.root import close_holes
from turbo_fzn.engine.toolchain import compiler
from turbo_fzn.engine.tuning import TUNING
from turbo_fzn.tnf.language import TNF

NON_BLOCKING = 1  # format: CU_STREAM_NON_BLOCKING


def upload(cuda: Any, array: np.ndarray) -> Any:
    """Allocates device memory and copies the array to it. Returns the allocation."""
    allocation = cuda.mem_alloc(max(array.nbytes, 16))
    if array.nbytes:
        cuda.memcpy_htod(allocation, array)
    return allocation


def mapped(cuda: Any, size: int) -> tuple[np.ndarray, int]:
    """Host memory (uint8) that the blocks write to, and its address on the device."""
    memory = cuda.pagelocked_zeros(size, np.uint8, mem_flags=cuda.host_alloc_flags.DEVICEMAP)
    return memory, int(memory.base.get_device_pointer())


@contextlib.contextmanager
def filling(cuda: Any, memory: dict[str, Any]) -> Iterator[None]:
    """A context for allocating and filling memory: raises EngineError where the driver refuses."""
    try:
        yield
    except cuda.MemoryError as error:
        memory.clear()
        raise EngineError(f"not enough memory on the GPU: {error}") from error
    except cuda.Error as error:
        raise EngineError(f"the GPU cannot be used: {error}") from error


def free(cuda: Any, memory: dict[str, Any]) -> None:
    for allocation in memory.values():
        with contextlib.suppress(cuda.Error):  # after a failed kernel nothing can be freed one by one
            allocation.free()
    memory.clear()


def launch(cuda: Any, kernel: Any, shape: Shape, stream: Any, *arguments: bytes) -> None:
    """Starts the kernel. Raises EngineError where that fails."""
    try:
        cuda.Context.synchronize()
        kernel.prepared_async_call(
            (shape.blocks, 1), (shape.threads, 1, 1), stream, *arguments, shared_size=shape.shared_bytes
        )
    except cuda.Error as error:
        raise EngineError(f"the GPU kernel cannot be started: {error}") from error


def has_ended(cuda: Any, stream: Any) -> bool:
    """Whether the kernel in this stream has ended. Raises EngineError where it has failed."""
    try:
        return bool(stream.is_done())
    except cuda.Error as error:
        raise EngineError(f"the GPU kernel failed: {error}") from error


def float_flags(tnf: TNF) -> tuple[str, ...]:
    """The flags of nvcc that the model needs: the flags for real variables, if it has any."""
    return () if tnf.floats is None else compiler.GPU_FLOAT_FLAGS


class GpuEngine:
    """Searches `tnf`, whose root must be at its fixpoint, on one GPU. See contract.Engine.

    `settings.blocks` 0 means as many as fit. Raises EngineError when there is no GPU or not enough memory on it.
    """

    def __init__(self, tnf: TNF, exports: np.ndarray, settings: Settings):
        self.cuda = driver()
        self.name = "gpu" if settings.device is None else f"gpu{settings.device}"
        self.here = here = contexts.context(settings.device or 0)
        self.memory: dict[str, Any] = {}
        with filling(self.cuda, self.memory):
            self._prepare(here, tnf, exports, settings)

    def _prepare(self, here: Context, tnf: TNF, exports: np.ndarray, settings: Settings) -> None:
        layout, shape, extra = self._choose_rows(here, tnf, exports, settings)
        close_holes(layout)
        bits = layout.bits
        queue = min(shape.list_entries, settings.queue_capacity or shape.list_entries)
        self.layout = layout = layout.with_settings(replace(settings, blocks=shape.blocks, queue_capacity=queue))
        self.launch = self._fit_memory(layout, shape)
        self.kernel = here.kernel(bits, shape.store_shared, *extra, *[variants.ROWS_SHARED] * shape.model_shared)
        self.compute = self.cuda.Stream(NON_BLOCKING)
        self.copies = self.cuda.Stream(NON_BLOCKING)
        started = time.monotonic()
        self._place(layout)
        self.shape = {
            "blocks": self.launch.blocks,
            "threadsPerBlock": shape.threads,
            "store": "shared" if shape.store_shared else "global",
            "model": "shared" if shape.model_shared else "global",
            "workspaceMebibytes": self.launch.blocks * self.workspace_bytes >> 20,
            "contextTime": here.seconds,
            "transferTime": time.monotonic() - started,
            **memory_by_kind(layout, bool(settings.retires)),
        }
        self.repeats = layout.repeats
        self.raised = layout.root_bound()
        self.best = NO_INCUMBENT  # sense * objective of the best solution found or adopted; Common.best is at most this
        self.running_kernel = False

    def _choose_rows(
        self, here: Context, tnf: TNF, exports: np.ndarray, settings: Settings
    ) -> tuple[Layout, Shape, tuple[str, ...]]:
        """The layout, the shape of a launch, and the macros of its kernel: with sums as a whole, and with packed
        truths, if the settings demand it, or if far more blocks fit the GPU then. Otherwise long rows cost more than
        the saved rounds, and packed truths more than others."""
        macros = (*float_flags(tnf), *profile_flags(settings), *settings.macros)
        layout = Layout(tnf, exports, replace(settings, fused=bool(settings.fused)))
        registers = {shared: here.kernel(layout.bits, shared, *macros).num_regs for shared in (True, False)}
        shape = launch_shape(here, layout, registers, settings)
        if not may_choose(settings):
            return layout, shape, macros
        chosen = settings
        if settings.fused is None and layout.tnf.arranged is not None:
            smaller = Layout(tnf, exports, replace(settings, fused=True))
            of_smaller = launch_shape(here, smaller, registers, settings)
            if fusing_pays(of_smaller, shape, here.sms):
                layout, shape, macros = smaller, of_smaller, (*macros, variants.SUMS)
        if settings.packed is None and layout.can_pack:
            chosen = settings if shape.store_shared else replace(settings, store="global")
            of_packed = launch_shape(here, layout, registers, chosen, layout.packed_store_bytes)
            if packing_pays(of_packed, shape, layout):
                layout, macros = Layout(tnf, exports, replace(layout.settings, packed=True)), (*macros, variants.TRUTHS)
        registers[shape.store_shared] = here.kernel(layout.bits, shape.store_shared, *macros).num_regs
        return layout, launch_shape(here, layout, registers, chosen), macros

    def _fit_memory(self, layout: Layout, shape: Shape) -> Shape:
        """The shape, with fewer blocks if the workspaces of all would not fit into the free device memory."""
        store = 0 if shape.store_shared else layout.store_bytes
        self.workspace_bytes = align16(layout.stack_bytes + store)
        free, _ = self.cuda.mem_get_info()
        room = min(int(free * TUNING.workspace_share), layout.settings.memory_bytes or free)
        most = room // self.workspace_bytes
        if most < 1:
            raise EngineError(f"not enough memory on the GPU: a block needs {self.workspace_bytes >> 20} MiB")
        return replace(shape, blocks=min(shape.blocks, most))

    def _place(self, layout: Layout) -> None:
        """Allocates and fills device memory, and sets the pointers of the problem."""
        cuda, problem = self.cuda, Problem()
        layout.settings = replace(layout.settings, blocks=self.launch.blocks)
        layout.fill(problem, self.workspace_bytes)
        check_sums(layout, problem)
        written = {"weights": layout.weights, "pool_sequences": layout.first_sequences(), "books": first_books()}
        written["units"] = layout.first_units()
        for name, array in {**layout.arrays, **written}.items():
            self.memory[name] = upload(cuda, np.ascontiguousarray(array))
        zeroed = {
            "islands": (layout.n_islands + 1) * ctypes.sizeof(Island),
            "incumbents": (layout.n_islands + 1) * layout.tnf.n_vars * layout.bits // 8,
            "phases": layout.tnf.n_vars * layout.bits // 8,
            "statistics": self.launch.blocks * ctypes.sizeof(Statistics),
            "depths": N_DEPTHS * ctypes.sizeof(DepthCounts),
            "pool": layout.pool_slots * layout.pool_slot_bytes,
            "inbox": layout.parcels * layout.parcel_bytes,
        }
        for name, size in zeroed.items():
            self.memory[name] = cuda.mem_alloc(max(size, 16))
            cuda.memset_d8(self.memory[name], 0, max(size, 16))
        self.memory["workspace"] = cuda.mem_alloc(self.launch.blocks * self.workspace_bytes)
        self.memory["common"] = upload(cuda, np.frombuffer(bytes(layout.first_common()), np.uint8))
        for name, allocation in self.memory.items():
            setattr(problem, name, int(allocation))
        fence = library(layout.bits).memory_fence
        self.ring_memory, problem.ring = mapped(cuda, layout.ring_slots * layout.ring_slot_bytes)
        self.ring = Ring(layout, self.ring_memory, fence)
        # Allocated now, since an allocation waits for a running kernel: for messages, copies of Common, and statistics.
        self.dispatch = Dispatch(self.here, self.copies, self.memory, layout)
        self.outbox, problem.outbox = mapped(cuda, max(layout.parcels * layout.parcel_bytes, 16))
        self.parcels = Parcels(layout, self.outbox, _DeviceMemory(self), fence)
        self.seen = cuda.pagelocked_zeros(ctypes.sizeof(Common), np.uint8)
        self.counters = cuda.pagelocked_zeros((self.launch.blocks, len(STATISTICS)), np.int64)
        self.depths = cuda.pagelocked_zeros(first_depths().shape, np.int64)
        self.problem = problem

    def start(self, incumbent: Found | None = None) -> None:
        """Launches the kernel. Raises EngineError if that fails."""
        self.here.enter()
        if incumbent is not None and self.layout.is_whole(incumbent):
            self._adopt(incumbent)
            self._note([incumbent])
        launch(self.cuda, self.kernel, self.launch, self.compute, bytes(self.problem))
        self.running_kernel = True
        if self.raised > self.layout.root_bound():
            self.raise_bound(self.raised)

    def _adopt(self, incumbent: Found | None) -> None:
        common = np.frombuffer(bytes(self.layout.first_common(incumbent)), np.uint8)
        self.cuda.memcpy_htod(self.memory["common"], common)
        for name, array in zip(("islands", "incumbents"), self.layout.first_islands(incumbent)):
            self.cuda.memcpy_htod(self.memory[name], array)

    @property
    def running(self) -> bool:
        """Whether the kernel is running. Raises EngineError if it has failed."""
        if self.running_kernel:
            self.here.enter()
            self.running_kernel = False  # a kernel that has failed is not running
            self.running_kernel = not has_ended(self.cuda, self.compute)
        return self.running_kernel

    def poll(self) -> list[Found]:
        """The solutions that have arrived; sends the kernel the number taken, so that it can reuse their slots."""
        before = self.ring.taken
        found = self._note([Found(*solution, self.name) for solution in self.ring.take()])
        if self.ring.taken != before and self.running_kernel:
            self.dispatch.send_word("consumed", self.ring.taken)
        return found

    def _note(self, solutions: list[Found]) -> list[Found]:
        """Returns the solutions, and records the best objective."""
        if sense := self.layout.tnf.sense:
            self.best = min([self.best, *(sense * solution.objective for solution in solutions)])
        return solutions

    def stop(self) -> None:
        self.dispatch.send_word("stop", 1)

    def halt(self) -> None:
        """Does nothing: no block takes a processor, and a call of the driver may be under way."""

    def common(self) -> Common:
        """A current copy of Common, also while the kernel is running."""
        self.here.enter()
        self.cuda.memcpy_dtoh_async(self.seen, self.memory["common"], self.copies)
        self.copies.synchronize()
        return Common.from_buffer_copy(self.seen)

    @property
    def complete(self) -> bool:
        if self.running:
            return False
        return self.common().is_complete

    @property
    def bound(self) -> int:
        return int(self.common().proved)

    @property
    def prover(self) -> str:
        return self.common().prover(self.name) if self.complete else ""

    def adopt(self, found: Found) -> None:
        """Takes a solution with all values: blocks search only better solutions from their next node on, and use its
        values from their next neighbourhood on."""
        if self.running_kernel and self.layout.is_whole(found):
            self.dispatch.send_solution(self.layout.tnf.sense * found.objective, found.values)
            self._note([found])

    def suggest(self, values: np.ndarray) -> None:
        """Ignores the values, which only learners use."""

    def post(self, row: Inequality) -> None:
        """Ignores the row, which only learners propagate."""

    def raise_bound(self, bound: int) -> None:
        self.raised = max(self.raised, bound)
        if self.running_kernel:
            self.dispatch.send_word("host_bound", self.raised)

    def roots(self) -> None:
        """None, since only learners prove root bounds."""

    def tighten(self, roots: Roots) -> None:
        """Takes root bounds, which apply to each task that begins from now on."""
        if self.running_kernel and self.best <= roots.under:
            self.dispatch.send_roots(roots.sides)

    @property
    def open_work(self) -> int:
        return int(self.common().outstanding)

    def statistics(self) -> dict[str, int]:
        """The counts of all blocks together; counts of running blocks may lack the last few nodes."""
        self.here.enter()
        self.cuda.memcpy_dtoh_async(self.counters, self.memory["statistics"], self.copies)
        if self.layout.settings.profile:
            self.cuda.memcpy_dtoh_async(self.depths, self.memory["depths"], self.copies)
        self.copies.synchronize()
        counted = merge_statistics(self.counters, STATISTICS) | subproblem_counts(self.layout, self.common())
        return counted | (depth_statistics(self.depths) if self.layout.settings.profile else {})

    def methods(self) -> np.ndarray:
        """Tries, ns and improving solutions of each method (int64 [methods, BOOKED]); zero while it runs."""
        self.here.enter()
        books = first_books()
        self.cuda.memcpy_dtoh(books, self.memory["books"])
        return books[:, :BOOKED]

    def close(self) -> None:
        """Stops the kernel if it is running, and frees the memory and the streams while the context is current: PyCUDA
        warns of memory that it frees later, in a thread with another context, and cuda-bindings cannot free it."""
        if not self.memory:
            return
        self.here.enter()
        if self.running:
            self.stop()
            while self.running:  # a block may be waiting for room in the ring
                self.poll()
                time.sleep(0.001)
        free(self.cuda, self.memory)
        del self.ring, self.ring_memory, self.outbox, self.parcels, self.dispatch, self.counters, self.depths, self.seen
        del self.compute, self.copies
        if threading.current_thread() is not threading.main_thread():
            contexts.leave()  # the thread may end now


class _DeviceMemory:
    """Access to the memory of an engine on a GPU, for its parcels (parcels._Reach)."""

    def __init__(self, engine: GpuEngine):
        self.common, self.dispatch = engine.common, engine.dispatch

    def send_word(self, name: str, value: int) -> None:
        self.dispatch.send_word(name, value)

    def put_parcel(self, place: int, parcel: np.ndarray) -> None:
        self.dispatch.put_parcel(place, parcel)


def make_elsewhere(tnf: TNF, exports: np.ndarray, settings: Settings) -> GpuEngine:
    """Makes an engine for another thread, which will start and use it."""
    with contexts.making():
        return GpuEngine(tnf, exports, settings)
