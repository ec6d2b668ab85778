"""The GPU engine over PyCUDA.

The whole search is one launch of resident blocks that meet only through atomics, so no grid barrier is needed.
Solutions come out through a ring in mapped host memory; the stop flag, the count of solutions taken and what others
have found go in by asynchronous copies on a second stream, which run beside the kernel (dispatch.py). Both streams are
non-blocking ones, or a copy would wait for the kernel. One context for the process, retained on first use and given
back at exit.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import threading
import time
from dataclasses import replace
from functools import lru_cache
from typing import Any
from weakref import WeakSet

import numpy as np

from turbo_fzn.engine import compiler, wake
from turbo_fzn.engine.abi import METHODS, STATE_BYTES, STATISTICS, Common, Island, Problem, Statistics
from turbo_fzn.engine.contract import Found, Roots, merge_statistics, method_statistics
from turbo_fzn.engine.cpu import check_digest, check_sums, library, profile_flags, prover_of
from turbo_fzn.engine.devices import driver
from turbo_fzn.engine.dispatch import Dispatch
from turbo_fzn.engine.layout import NO_INCUMBENT, Layout, Settings, align16, first_books
from turbo_fzn.engine.ring import Ring
from turbo_fzn.engine.shape import Shape, launch_shape
from turbo_fzn.errors import EngineError
from turbo_fzn.tnf.language import TNF

NON_BLOCKING = 1  # CU_STREAM_NON_BLOCKING
WORKSPACE_SHARE = 0.7  # of the free device memory
PATIENCE_SECONDS = 2.0  # of an orderly exit with makers at work
_makers: WeakSet[threading.Thread] = WeakSet()  # the threads that make an engine


class Context:
    """The primary context of the first GPU.

    A thread that uses it enters it first. One that ends must leave it before: PyCUDA aborts the process otherwise.
    """

    def __init__(self) -> None:
        start = time.monotonic()
        cuda = driver()
        self.device = cuda.Device(0)
        try:
            self.context = self.device.retain_primary_context()
        except cuda.Error as error:
            raise EngineError(f"the GPU cannot be used: {error}") from error
        self.seconds = max(wake.seconds(), time.monotonic() - start)
        self.of_thread = threading.local()
        self.kernels: dict[tuple[int, bool, tuple[str, ...]], Any] = {}
        self.modules: dict[tuple[int, bool, tuple[str, ...]], Any] = {}
        self.architecture = "".join(map(str, self.device.compute_capability()))
        attribute = cuda.device_attribute
        self.sms = self.device.get_attribute(attribute.MULTIPROCESSOR_COUNT)
        self.shared_per_sm = self.device.get_attribute(attribute.MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)
        self.shared_per_block = self.device.get_attribute(attribute.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)
        self.shared_reserved = self.device.get_attribute(attribute.RESERVED_SHARED_MEMORY_PER_BLOCK)
        self.registers_per_sm = self.device.get_attribute(attribute.MAX_REGISTERS_PER_MULTIPROCESSOR)
        self.threads_per_sm = self.device.get_attribute(attribute.MAX_THREADS_PER_MULTIPROCESSOR)
        atexit.register(self.close)

    def enter(self) -> None:
        """Makes the context current in this thread, unless it is."""
        if not getattr(self.of_thread, "entered", False):
            self.context.push()
            self.of_thread.entered = True

    def leave(self) -> None:
        if getattr(self.of_thread, "entered", False):
            self.context.pop()
            self.of_thread.entered = False

    def kernel(self, bits: int, shared: bool, *extra: str) -> Any:
        """The compiled kernel for this variant, loaded once."""
        key = (bits, shared, extra)
        if key not in self.kernels:
            cuda = driver()
            module = cuda.module_from_buffer(compiler.gpu_binary(bits, shared, self.architecture, *extra).read_bytes())
            place, size = module.get_global("abi_digest")
            carried = np.zeros(size, np.uint8)
            cuda.memcpy_dtoh(carried, place)
            check_digest("the GPU engine", carried.tobytes().rstrip(b"\0"), compiler.FLOAT_FLAG in extra)
            function = module.get_function("solve")
            function.prepare([f"{ctypes.sizeof(Problem)}s"])
            self.modules[key] = module
            self.kernels[key] = function
        return self.kernels[key]

    def close(self) -> None:
        """Modules must go before the context; a context left on PyCUDA's stack at exit aborts the process. Where
        another thread is still making an engine, they stay."""
        self.leave()
        for maker in (makers := [thread for thread in _makers if thread is not threading.current_thread()]):
            maker.join(PATIENCE_SECONDS)
        if not any(maker.is_alive() for maker in makers):
            self.kernels.clear()
            self.modules.clear()
            self.context.detach()


@lru_cache(maxsize=1)
def _context() -> Context:
    return Context()


def context() -> Context:
    """The context, current in this thread."""
    here = _context()
    here.enter()
    return here


class GpuEngine:
    """Searches `tnf`, whose root must be at its fixpoint, on the first GPU. See engine.Engine.

    `settings.blocks` 0 means as many as fit. Raises EngineError when there is no GPU or not enough memory on it.
    """

    name = "gpu"

    def __init__(self, tnf: TNF, exports: np.ndarray, settings: Settings):
        self.cuda = driver()
        self.here = here = context()
        self.memory: dict[str, Any] = {}
        try:
            self._prepare(here, tnf, exports, settings)
        except self.cuda.MemoryError as error:
            self.memory.clear()
            raise EngineError(f"not enough memory on the GPU: {error}") from error
        except self.cuda.Error as error:
            raise EngineError(f"the GPU cannot be used: {error}") from error

    def _prepare(self, here: Context, tnf: TNF, exports: np.ndarray, settings: Settings) -> None:
        bits = 32 if tnf.is_narrow() else 64
        extra = (*(compiler.GPU_FLOAT_FLAGS if tnf.floats is not None else ()), *profile_flags(settings))
        registers = {shared: here.kernel(bits, shared, *extra).num_regs for shared in (True, False)}
        layout = Layout(tnf, exports, settings)
        shape = launch_shape(here, layout, registers, settings)
        queue = min(shape.list_entries, settings.queue_capacity or shape.list_entries)
        self.layout = layout = layout.with_settings(replace(settings, blocks=shape.blocks, queue_capacity=queue))
        self.launch = self._fit_memory(layout, shape)
        self.kernel = here.kernel(bits, shape.store_shared, *extra)
        self.kernel.set_attribute(
            self.cuda.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, here.shared_per_block - STATE_BYTES
        )
        self.compute = self.cuda.Stream(NON_BLOCKING)
        self.copies = self.cuda.Stream(NON_BLOCKING)
        self._place(layout)
        self.shape = {
            "blocks": self.launch.blocks,
            "threadsPerBlock": shape.threads,
            "store": "shared" if shape.store_shared else "global",
            "workspaceMebibytes": self.launch.blocks * self.workspace_bytes >> 20,
            "contextTime": here.seconds,
        }
        self.repeats = layout.repeats
        self.raised = layout.root_bound()
        self.best = NO_INCUMBENT  # sense * objective of what was found, or told: Common.best is at most that
        self.running_kernel = False

    def _fit_memory(self, layout: Layout, shape: Shape) -> Shape:
        """Fewer blocks, when the workspaces of all would not fit into the free device memory."""
        store = 0 if shape.store_shared else layout.store_bytes
        self.workspace_bytes = align16(layout.stack_bytes + store)
        free, _ = self.cuda.mem_get_info()
        room = min(int(free * WORKSPACE_SHARE), layout.settings.memory_bytes or free)
        most = room // self.workspace_bytes
        if most < 1:
            raise EngineError(f"not enough memory on the GPU: a block needs {self.workspace_bytes >> 20} MiB")
        return replace(shape, blocks=min(shape.blocks, most))

    def _place(self, layout: Layout) -> None:
        """Allocates and fills device memory, and points the problem to it."""
        cuda, problem = self.cuda, Problem()
        layout.settings = replace(layout.settings, blocks=self.launch.blocks)
        layout.fill(problem, self.workspace_bytes)
        check_sums(layout, problem)
        written = {"weights": layout.weights, "pool_sequences": layout.first_sequences(), "books": first_books()}
        written["units"] = layout.first_units()
        for name, array in {**layout.arrays, **written}.items():
            self.memory[name] = self._upload(np.ascontiguousarray(array))
        zeroed = {
            "islands": (layout.n_islands + 1) * ctypes.sizeof(Island),
            "incumbents": (layout.n_islands + 1) * layout.tnf.n_vars * layout.bits // 8,
            "phases": layout.tnf.n_vars * layout.bits // 8,
            "statistics": self.launch.blocks * ctypes.sizeof(Statistics),
            "pool": layout.pool_slots * layout.pool_slot_bytes,
        }
        for name, size in zeroed.items():
            self.memory[name] = cuda.mem_alloc(max(size, 16))
            cuda.memset_d8(self.memory[name], 0, max(size, 16))
        self.memory["workspace"] = cuda.mem_alloc(self.launch.blocks * self.workspace_bytes)
        self.memory["common"] = self._upload(np.frombuffer(bytes(layout.first_common()), np.uint8))
        for name, allocation in self.memory.items():
            setattr(problem, name, int(allocation))
        size = layout.ring_slots * layout.ring_slot_bytes
        self.ring_memory = cuda.pagelocked_zeros(size, np.uint8, mem_flags=cuda.host_alloc_flags.DEVICEMAP)
        problem.ring = int(self.ring_memory.base.get_device_pointer())
        self.ring = Ring(layout, self.ring_memory, library(layout.bits).memory_fence)
        # Made ahead, as that waits for a running kernel: what is sent, what is read of Common, and statistics.
        self.dispatch = Dispatch(cuda, self.copies, self.memory, layout)
        self.seen = cuda.pagelocked_zeros(ctypes.sizeof(Common), np.uint8)
        self.counters = cuda.pagelocked_zeros((self.launch.blocks, len(STATISTICS)), np.int64)
        self.problem = problem

    def _upload(self, array: np.ndarray) -> Any:
        allocation = self.cuda.mem_alloc(max(array.nbytes, 16))
        if array.nbytes:
            self.cuda.memcpy_htod(allocation, array)
        return allocation

    def start(self, incumbent: Found | None = None) -> None:
        self.here.enter()
        if incumbent is not None and self.layout.is_whole(incumbent):
            self._adopt(incumbent)
            self._note([incumbent])
        arguments = (self.launch.blocks, 1), (self.launch.threads, 1, 1), self.compute, bytes(self.problem)
        try:
            self.cuda.Context.synchronize()
            self.kernel.prepared_async_call(*arguments, shared_size=self.launch.shared_bytes)
        except self.cuda.Error as error:
            raise EngineError(f"the GPU kernel cannot be started: {error}") from error
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
        if self.running_kernel:
            try:
                self.running_kernel = not self.compute.is_done()
            except self.cuda.Error as error:
                self.running_kernel = False
                raise EngineError(f"the GPU kernel failed: {error}") from error
        return self.running_kernel

    def poll(self) -> list[Found]:
        before = self.ring.taken
        found = self._note([Found(*solution, self.name) for solution in self.ring.take()])
        if self.ring.taken != before and self.running_kernel:
            self.dispatch.send_word("consumed", self.ring.taken)
        return found

    def _note(self, solutions: list[Found]) -> list[Found]:
        """The same, of which the best may be."""
        if sense := self.layout.tnf.sense:
            self.best = min([self.best, *(sense * solution.objective for solution in solutions)])
        return solutions

    def stop(self) -> None:
        self.dispatch.send_word("stop", 1)

    def _common(self) -> Common:
        """As it is now, also while the kernel runs."""
        self.cuda.memcpy_dtoh_async(self.seen, self.memory["common"], self.copies)
        self.copies.synchronize()
        return Common.from_buffer_copy(self.seen)

    @property
    def complete(self) -> bool:
        if self.running:
            return False
        return self._common().is_complete

    @property
    def bound(self) -> int:
        return int(self._common().proved)

    @property
    def prover(self) -> str:
        return prover_of(self.name, self._common()) if self.complete else ""

    def adopt(self, found: Found) -> None:
        """Where it has all values, the blocks want better ones from their next node on, and use them from their next
        neighbourhood on."""
        if self.running_kernel and self.layout.is_whole(found):
            self.dispatch.send_solution(self.layout.tnf.sense * found.objective, found.values)
            self._note([found])

    def raise_bound(self, bound: int) -> None:
        self.raised = max(self.raised, bound)
        if self.running_kernel:
            self.dispatch.send_word("host_bound", self.raised)

    def roots(self) -> None:
        """No block learns."""

    def tighten(self, roots: Roots) -> None:
        """Known at the root of each task that begins from now on."""
        if self.running_kernel and self.best <= roots.under:
            self.dispatch.send_roots(roots.sides)

    @property
    def open_work(self) -> int:
        return int(self._common().outstanding)

    def statistics(self) -> dict[str, int]:
        """Sums over the blocks; of those that still run, up to a few nodes ago."""
        self.cuda.memcpy_dtoh_async(self.counters, self.memory["statistics"], self.copies)
        self.copies.synchronize()
        return merge_statistics(self.counters, STATISTICS)

    def methods(self) -> dict[str, float]:
        """After the kernel has ended."""
        books = first_books()
        self.cuda.memcpy_dtoh(books, self.memory["books"])
        return method_statistics(books, METHODS)

    def close(self) -> None:
        """Stops the kernel if it runs, and frees the device memory."""
        if not self.memory:
            return
        self.here.enter()
        if self.running:
            self.stop()
            while self.running:  # a block may be waiting for room in the ring
                self.poll()
                time.sleep(0.001)
        for allocation in self.memory.values():
            with contextlib.suppress(self.cuda.Error):  # after a failed kernel nothing can be freed one by one
                allocation.free()
        self.memory.clear()
        del self.ring, self.ring_memory, self.dispatch, self.counters
        if threading.current_thread() is not threading.main_thread():
            self.here.leave()  # it may end now


def make_elsewhere(tnf: TNF, exports: np.ndarray, settings: Settings) -> GpuEngine:
    """An engine for another thread than this one to start, and to use from then on."""
    _makers.add(threading.current_thread())
    try:
        return GpuEngine(tnf, exports, settings)
    finally:
        if _context.cache_info().currsize:
            _context().leave()
