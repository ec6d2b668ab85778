"""The hybrid engine: search on threads of the CPU, propagation in the blocks of a GPU (kernels/hybrid/mailbox.h).

It is the CPU engine, but its threads run no rows: each has a block of one persistent kernel, which computes each
fixpoint. Stores are on the GPU, with a copy in each thread; messages go through mapped memory of the host. It has only
the tree search: no neighbourhoods, no learners. It exists for comparison, since C++ Turbo's first persistent kernel was
used in this way, and it counts the time of its round trips.

A stop is two words of the host's memory, one for the threads and one for the blocks. A thread that reads the stop
leaves without the answer that it waits for; a block leaves when it next reads the word. So the kernel ends in every
state of the threads. If the kernel fails, the host detects this when it checks whether the kernel is running, and stops
the threads, which would wait for ever.
"""

from __future__ import annotations

import contextlib
import ctypes
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from turbo_fzn.base.errors import EngineError
from turbo_fzn.engine import variants
from turbo_fzn.engine.abi.abi import Common, Problem
from turbo_fzn.engine.abi.aligned import align16
from turbo_fzn.engine.abi.hybrid_records import ROUND_TRIPS, Mailboxes
from turbo_fzn.engine.contract import Found, merge_statistics
from turbo_fzn.engine.cpu import CpuEngine
from turbo_fzn.engine.cuda import context as contexts
from turbo_fzn.engine.cuda import gpu
from turbo_fzn.engine.cuda.devices import driver
from turbo_fzn.engine.cuda.shape import Shape, launch_shape
from turbo_fzn.engine.figures import memory_by_kind
from turbo_fzn.engine.layout.layout import Layout, Settings
from turbo_fzn.engine.library import check_digest, float_flags, library, profile_flags
from turbo_fzn.engine.toolchain import compiler
from turbo_fzn.engine.tuning import TUNING
from turbo_fzn.tnf.language import TNF


@lru_cache(maxsize=4)
def searchers(bits: int, *extra: str) -> ctypes.CDLL:
    """The library of the searching threads, and in tests of blocks that run as threads (kernels/hybrid.cpp)."""
    return prepared(ctypes.CDLL(str(compiler.hybrid_library(bits, *extra))), extra)


def prepared(loaded: ctypes.CDLL, extra: Sequence[str]) -> ctypes.CDLL:
    """Checks a loaded library and declares its functions' arguments. Returns it."""
    floats = compiler.FLOAT_FLAG in extra
    check_digest(loaded._name, ctypes.c_char_p.in_dll(loaded, "abi_digest").value or b"", floats)
    loaded.drive_block.argtypes = [*[ctypes.c_void_p] * 3, ctypes.c_int32]
    loaded.serve_block.argtypes = [*[ctypes.c_void_p] * 2, ctypes.c_int32]
    loaded.bytes_of_mailbox.argtypes, loaded.bytes_of_mailbox.restype = [ctypes.c_int32], ctypes.c_int64
    return loaded


class _Propagators:
    """The blocks on a GPU, and the memory that they share with the threads: `boxes`, at the threads' address.

    Raises EngineError without a GPU, or if the GPU cannot hold that many blocks at once."""

    def __init__(self, layout: Layout, device: int):
        self.cuda = driver()
        self.here = contexts.context(device)
        self.memory: dict[str, Any] = {}
        with gpu.filling(self.cuda, self.memory):
            self._prepare(layout)

    def _prepare(self, layout: Layout) -> None:
        settings = layout.settings
        extra = (*gpu.float_flags(layout.tnf), *settings.macros)
        kernels = {shared: self.here.propagator(layout.bits, shared, *extra) for shared in (True, False)}
        registers = {shared: kernel.num_regs for shared, kernel in kernels.items()}
        self.launch = shape = self._shape(layout, registers)
        rows = (variants.ROWS_SHARED,) * shape.model_shared
        self.kernel = self.here.propagator(layout.bits, shape.store_shared, *extra, *rows)
        self.stream = self.cuda.Stream(gpu.NON_BLOCKING)
        queue = min(shape.list_entries, settings.queue_capacity or shape.list_entries)
        self._place(layout.with_settings(replace(settings, queue_capacity=queue)))
        self.running = False

    def _shape(self, layout: Layout, registers: dict[bool, int]) -> Shape:
        """The launch shape: all blocks must be on the GPU at once, since each must answer its thread. Raises
        EngineError if the GPU holds fewer."""
        settings = layout.settings
        usual = launch_shape(self.here, layout, registers, replace(settings, blocks=0))
        wanted = replace(settings, blocks=0, threads=settings.threads or max(usual.threads, TUNING.hybrid_threads))
        shape = launch_shape(self.here, layout, registers, wanted)
        if shape.blocks < settings.blocks:
            raise EngineError(f"the GPU holds {shape.blocks} blocks at once: with --arch hybrid, give -p at most that")
        return replace(shape, blocks=settings.blocks)

    def _place(self, layout: Layout) -> None:
        """Allocates and fills memory, and sets the pointers of the blocks' problem and the mailboxes."""
        problem = Problem()
        layout.fill(problem, 0)
        problem.trail_capacity, problem.level_capacity, problem.path_capacity = max(layout.tnf.n_vars, 1), 0, 0
        sums = (ctypes.c_int64 * 3)()
        library(layout.bits, *float_flags(layout.tnf)).block_bytes(ctypes.byref(problem), sums)
        store, _, stacks = sums
        problem.workspace_bytes = align16(stacks + (0 if self.launch.store_shared else store))
        for name, array in layout.arrays.items():
            self.memory[name] = gpu.upload(self.cuda, np.ascontiguousarray(array))
        self.memory["workspace"] = self.cuda.mem_alloc(max(self.launch.blocks * problem.workspace_bytes, 16))
        for name, allocation in self.memory.items():
            setattr(problem, name, int(allocation))
        self.told, problem.common = gpu.mapped(self.cuda, ctypes.sizeof(Common))
        entries = min(layout.settings.mailbox_entries or TUNING.mailbox_entries, max(layout.tnf.n_vars, 1))
        size = searchers(layout.bits, *float_flags(layout.tnf)).bytes_of_mailbox(entries)
        self.mail, there = gpu.mapped(self.cuda, self.launch.blocks * size)
        self.boxes = Mailboxes(self.mail.ctypes.data, size, entries)
        self.arguments = bytes(problem), bytes(Mailboxes(there, size, entries))

    def start(self) -> None:
        self.here.enter()
        gpu.launch(self.cuda, self.kernel, self.launch, self.stream, *self.arguments)
        self.running = True

    def look(self) -> None:
        """Updates `running`. Raises EngineError where the kernel has failed."""
        if not self.running:
            return
        self.here.enter()
        self.running = False  # a kernel that has failed is not running
        self.running = not gpu.has_ended(self.cuda, self.stream)

    def stop(self) -> None:
        Common.from_buffer(self.told.data).stop = 1

    def close(self) -> None:
        """Waits for the kernel and frees its memory; no thread may send a message any more."""
        self.here.enter()
        with contextlib.suppress(EngineError):
            while self.running:
                self.look()
                time.sleep(0.0001)
        gpu.free(self.cuda, self.memory)
        del self.told, self.mail, self.stream
        if threading.current_thread() is not threading.main_thread():
            contexts.leave()  # the thread may end now


class HybridEngine(CpuEngine):
    """Searches `tnf`, whose root must be at its fixpoint, by `settings.blocks` threads. See engine.Engine."""

    name = "hybrid"

    def __init__(self, tnf: TNF, exports: np.ndarray, settings: Settings):
        super().__init__(tnf, exports, replace(settings, macros=()))  # the host's library is never a variant
        self.device: _Propagators | None = _Propagators(self.layout.with_settings(settings), settings.device or 0)
        extra = (*float_flags(tnf), *profile_flags(settings), *settings.macros)
        self.searchers = searchers(self.layout.bits, *extra)
        self.round_trips = np.zeros((settings.blocks, len(ROUND_TRIPS)), np.int64)
        self.shape = {
            "blocks": settings.blocks,
            "threadsPerBlock": self.device.launch.threads,
            "store": "shared" if self.device.launch.store_shared else "global",
            "model": "shared" if self.device.launch.model_shared else "global",
            "contextTime": self.device.here.seconds,
            **memory_by_kind(self.layout, retires=False),
        }

    def _run(self, index: int) -> None:
        assert self.device is not None
        counts, problem = self.round_trips.ctypes.data, ctypes.byref(self.problem)
        if self.searchers.drive_block(problem, ctypes.byref(self.device.boxes), counts, index) != 0:
            self.failures.append(index)
            self.stop()

    def start(self, incumbent: Found | None = None) -> None:
        assert self.device is not None
        self.device.start()
        super().start(incumbent)

    @property
    def running(self) -> bool:
        """Whether a thread is alive. Stops the threads and raises EngineError if the kernel has failed."""
        if self.device is not None and any(thread.is_alive() for thread in self.threads):
            try:
                self.device.look()
            except EngineError:
                self.stop()
                raise
        return super().running

    def stop(self) -> None:
        super().stop()
        if self.device is not None:
            self.device.stop()

    def statistics(self) -> dict[str, int]:
        return super().statistics() | merge_statistics(self.round_trips, ROUND_TRIPS)

    def close(self) -> None:
        """Stops the threads, then the kernel, and frees the memory."""
        if self.device is None:
            return
        self.stop()
        super().close()
        device, self.device = self.device, None
        device.close()


def make(tnf: TNF, exports: np.ndarray, settings: Settings) -> HybridEngine:
    """Makes an engine that another thread will start, as gpu.make_elsewhere."""
    with contexts.making():
        return HybridEngine(tnf, exports, settings)
