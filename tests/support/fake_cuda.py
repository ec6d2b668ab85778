"""A CUDA driver in Python, for the host side of the GPU engine where there is no GPU.

It has the part of PyCUDA's interface that turbo_fzn/engine/cuda/gpu.py and hybrid.py use. Device memory is host memory,
a launch starts a thread a block that runs the CPU engine's `solve_block` on the same Problem, or the hybrid engine's
`serve_block` on the same mailboxes, and faults can be ordered: `fail_at` names a call that raises. Every allocation is
counted, so that a test can see what is given back.

Blocks that only propagate are of the variant that is asked for. Those that search are always the usual ones: of a
variant they show what the host makes of it (variant_engines.py has their kernels).

fake_gpu.py puts it under this process, fake_machine.py under a process that a test starts.
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable, Sequence
from types import ModuleType, SimpleNamespace

import numpy as np

from turbo_fzn.engine import hybrid, variants
from turbo_fzn.engine.abi.agreement import digest
from turbo_fzn.engine.abi.aligned import line_aligned
from turbo_fzn.engine.abi.hybrid_records import Mailboxes
from turbo_fzn.engine.cuda import gpu
from turbo_fzn.engine.library import library
from turbo_fzn.engine.toolchain import compiler
from turbo_fzn.engine.toolchain.compilation import ELF

DEVICE_ATTRIBUTES = SimpleNamespace(
    MULTIPROCESSOR_COUNT=4,
    MAX_SHARED_MEMORY_PER_MULTIPROCESSOR=233472,
    MAX_SHARED_MEMORY_PER_BLOCK_OPTIN=232448,
    RESERVED_SHARED_MEMORY_PER_BLOCK=1024,
    MAX_REGISTERS_PER_MULTIPROCESSOR=65536,
    MAX_THREADS_PER_MULTIPROCESSOR=2048,
)


class Error(Exception):
    """Replaces pycuda.driver.Error."""


class MemoryError(Error):
    pass


class LogicError(Error):
    pass


class Driver:
    """The state of the device. `free_bytes` of memory; `fail_at` maps the name of a call to what it raises.

    A kernel fails with `fail_after_launch` when it has ended, after `seconds_to_failure`, or when it
    `fails_at_a_solution`; one that `hangs` never ends.
    """

    def __init__(self) -> None:
        self.free_bytes = 1 << 32
        self.count = 1
        self.fail_at: dict[str, Error] = {}
        self.held: set[int] = set()
        self.streams: list[Stream] = []
        self.launches: list[tuple[int, int]] = []  # (blocks, threads) each
        self.fail_after_launch: Error | None = None
        self.seconds_to_failure = float("inf")
        self.fails_at_a_solution = False
        self.broken: set[int] = set()  # devices whose kernels fail as soon as they have made some nodes
        self.hangs = False
        self.digest = b""  # that compiled kernels carry; empty: the host's
        self.thread = threading.local()  # the number of the device that is current there

    def meet(self, name: str) -> None:
        if name in self.fail_at:
            raise self.fail_at[name]

    @property
    def current(self) -> int:
        """The device whose context is current in this thread."""
        return self.thread.number

    def must_be_idle(self, name: str) -> None:
        """Asserts that no kernel runs: a real driver would wait for its end in this call."""
        own = [stream for stream in self.streams if stream.device == self.current]
        assert not any(thread.is_alive() for stream in own for thread in stream.threads), f"{name} waits for the kernel"


class Allocation:
    def __init__(self, driver: Driver, size: int):
        driver.meet("mem_alloc")
        driver.must_be_idle("an allocation")
        if size > driver.free_bytes:
            raise MemoryError("cuMemAlloc failed: out of memory")
        self.driver, self.memory, self.device = driver, line_aligned(size), driver.current
        driver.held.add(id(self))

    def __int__(self) -> int:
        return self.memory.ctypes.data

    def free(self) -> None:
        assert self.device == self.driver.current
        self.driver.meet("free")
        self.driver.held.discard(id(self))


class Stream:
    def __init__(self, driver: Driver):
        self.driver, self.threads, self.device = driver, [], driver.current
        driver.streams.append(self)

    def must_be_current(self) -> None:
        """The context of its device must be, in this thread."""
        assert self.device == self.driver.current

    def is_done(self) -> bool:
        self.must_be_current()
        driver = self.driver
        if self.device in driver.broken and self.has_begun():
            self.kill()
            raise Error("an illegal memory access")
        if driver.fail_after_launch is not None and self.must_fail():
            self.kill()
        done = not driver.hangs and not any(thread.is_alive() for thread in self.threads)
        if driver.fail_after_launch is not None and done:
            raise driver.fail_after_launch
        return done

    def launch(self, run_block, arguments: list[ctypes.Structure], blocks: int) -> None:
        """The first argument is the Problem."""
        self.must_be_current()
        self.arguments, self.problem, self.launched = arguments, arguments[0], time.monotonic()
        told = [ctypes.byref(argument) for argument in arguments]
        self.threads = [threading.Thread(target=run_block, args=(*told, index), daemon=True) for index in range(blocks)]
        for thread in self.threads:
            thread.start()

    def must_fail(self) -> bool:
        ring = self.problem.ring  # none where blocks only propagate
        published = ring is not None and ctypes.c_int64.from_address(ring).value == 1
        late = time.monotonic() - self.launched > self.driver.seconds_to_failure
        return late or (published and self.driver.fails_at_a_solution)

    def has_begun(self) -> bool:
        """Whether its blocks have had a subproblem, or have found nothing to do at all."""
        common = gpu.Common.from_address(self.problem.common)
        return common.fetched > 0 or not any(thread.is_alive() for thread in self.threads)

    def kill(self) -> None:
        """Ends the kernel, which must not outlive the memory that it works on."""
        gpu.Common.from_address(self.problem.common).stop = 1
        self.synchronize()

    def synchronize(self) -> None:
        for thread in self.threads:
            thread.join()


MACROS = {macro for variant in variants.VARIANTS for macro in variant.macros}
KERNELS: dict[str, tuple[type[ctypes.Structure], ...]] = {
    "solve": (gpu.Problem,),
    "propagator": (gpu.Problem, Mailboxes),
}


class Function:
    """A kernel of a cubin; here a function of the CPU library, or of the hybrid engine's, for the same stores."""

    num_regs = 64

    def __init__(self, driver: Driver, name: str, bits: int, floats: bool, macros: Sequence[str]):
        kind = compiler.CPU_FLOAT_FLAGS if floats else ()
        self.driver, self.arguments = driver, KERNELS[name]
        if name == "solve":
            self.run_block = library(bits, *kind).solve_block
        else:
            self.run_block = hybrid.searchers(bits, *kind, *macros).serve_block

    def prepare(self, arguments: list[str]) -> None:
        assert arguments == [f"{ctypes.sizeof(argument)}s" for argument in self.arguments]

    def set_attribute(self, attribute: object, value: int) -> None:
        assert value > 0

    def prepared_async_call(self, grid, block, stream, *arguments: bytes, shared_size: int) -> None:
        self.driver.meet("launch")
        self.driver.launches.append((grid[0], block[0]))
        told = [kind.from_buffer_copy(argument) for kind, argument in zip(self.arguments, arguments, strict=True)]
        stream.launch(self.run_block, told, 0 if self.driver.hangs else grid[0])


def make_device(driver: Driver):
    class Device:
        def __init__(self, index: int):
            assert 0 <= index < driver.count
            self.index = index

        @staticmethod
        def count() -> int:
            return driver.count

        def name(self) -> str:
            return "Fake GPU"

        def compute_capability(self) -> tuple[int, int]:
            return 9, 0

        def total_memory(self) -> int:
            return driver.free_bytes

        def get_attribute(self, attribute: int) -> int:
            return attribute

        def retain_primary_context(self):
            driver.meet("context")
            driver.meet(f"context {self.index}")

            def push(number: int = self.index) -> None:
                assert getattr(driver.thread, "number", None) is None
                driver.thread.number = number

            def pop() -> None:
                assert driver.current == self.index
                driver.thread.number = None

            return SimpleNamespace(push=push, pop=pop, detach=lambda: None)

    return Device


def pagelocked_zeros(shape, kind, mem_flags: int = 0) -> np.ndarray:
    """Host memory that the device sees too, at its own address; it begins a page, here a cache line."""
    base = line_aligned(int(np.prod(shape)) * np.dtype(kind).itemsize).view(kind).reshape(shape)

    class Pagelocked(np.ndarray):
        @property
        def base(self):
            return SimpleNamespace(get_device_pointer=lambda: self.ctypes.data)

    return base.view(Pagelocked)


def memory_functions(driver: Driver) -> dict[str, Callable]:
    """What allocates, fills and copies. What has no stream waits for the kernels."""

    def copy(target: int, source: int, size: int, stream: Stream | None = None) -> None:
        driver.meet("copy")
        if stream is not None:
            stream.must_be_current()
        ctypes.memmove(int(target), int(source), size)

    def copy_at_once(target: int, source: int, size: int) -> None:
        driver.must_be_idle("a copy without a stream")
        copy(target, source, size)

    def host_memory(*arguments, **options) -> np.ndarray:
        driver.must_be_idle("an allocation of host memory")
        return pagelocked_zeros(*arguments, **options)

    return {
        "mem_get_info": lambda: (driver.free_bytes, driver.free_bytes),
        "mem_alloc": lambda size: Allocation(driver, int(size)),
        "memset_d8": lambda target, value, size: ctypes.memset(int(target), value, size),
        "memcpy_htod": lambda target, array: copy_at_once(target, array.ctypes.data, array.nbytes),
        "memcpy_htod_async": lambda target, array, stream: copy(target, array.ctypes.data, array.nbytes, stream),
        "memcpy_dtoh": lambda array, source: copy_at_once(array.ctypes.data, source, array.nbytes),
        "memcpy_dtoh_async": lambda array, source, stream: copy(array.ctypes.data, source, array.nbytes, stream),
        "pagelocked_zeros": host_memory,
    }


def load_module(driver: Driver, data: bytes) -> SimpleNamespace:
    """A cubin, which is what the fake nvcc wrote down of its flags."""
    driver.meet("module")
    if not data.startswith(ELF):
        raise Error("device kernel image is invalid")
    flags = data.decode("latin-1").split()
    bits = int(next(flag for flag in flags if flag.startswith("-DBOUND_BITS=")).partition("=")[2])
    floats = compiler.FLOAT_FLAG in flags
    macros = [flag for flag in flags if flag in MACROS]
    names = {"abi_digest": np.frombuffer(driver.digest or digest(floats).encode() + b"\0", np.uint8).copy()}

    def get_global(name: str) -> tuple[int, int]:
        return names[name].ctypes.data, len(names[name])

    def get_function(name: str) -> Function:
        return Function(driver, name, bits, floats, macros)

    return SimpleNamespace(get_function=get_function, get_global=get_global)


def make_module(driver: Driver) -> ModuleType:
    """A module that plays `pycuda.driver`."""
    module = ModuleType("pycuda.driver")
    vars(module).update(
        Error=Error,
        MemoryError=MemoryError,
        LogicError=LogicError,
        init=lambda: driver.meet("init"),
        Device=make_device(driver),
        device_attribute=DEVICE_ATTRIBUTES,
        function_attribute=SimpleNamespace(MAX_DYNAMIC_SHARED_SIZE_BYTES=8),
        host_alloc_flags=SimpleNamespace(DEVICEMAP=2),
        Context=SimpleNamespace(synchronize=lambda: driver.meet("synchronize")),
        Stream=lambda flags: Stream(driver),
        module_from_buffer=lambda data: load_module(driver, data),
        **memory_functions(driver),
    )
    return module
