"""The contexts of the GPUs: one for each, retained on first use and released at exit.

A context holds the kernels loaded into it, and the properties of the device that a launch needs.
"""

from __future__ import annotations

import atexit
import ctypes
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any
from weakref import WeakSet

import numpy as np

from turbo_fzn.base.errors import EngineError
from turbo_fzn.engine.abi.abi import STATE_BYTES, Problem
from turbo_fzn.engine.abi.hybrid_records import Mailboxes
from turbo_fzn.engine.cuda import wake
from turbo_fzn.engine.cuda.devices import driver
from turbo_fzn.engine.library import check_digest
from turbo_fzn.engine.toolchain import compiler
from turbo_fzn.engine.tuning import TUNING

log = logging.getLogger("turbo_fzn")
makers: WeakSet[threading.Thread] = WeakSet()  # the threads that make an engine
_thread = threading.local()  # `context`: the current context of the thread


class Context:
    """The primary context of a GPU, by its number.

    A thread enters it before use, and leaves it before the thread ends: otherwise PyCUDA aborts the process.
    """

    def __init__(self, number: int) -> None:
        start = time.monotonic()
        cuda = driver()
        self.device = cuda.Device(number)
        try:
            self.context = self.device.retain_primary_context()
        except cuda.Error as error:
            raise EngineError(f"the GPU cannot be used: {error}") from error
        self.seconds = max(wake.seconds(), time.monotonic() - start)
        self.kernels: dict[tuple[str, int, bool, tuple[str, ...]], Any] = {}
        self.modules: dict[tuple[str, int, bool, tuple[str, ...]], Any] = {}
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
        """Makes the context current in this thread, unless it is already."""
        if getattr(_thread, "context", None) is not self:
            leave()
            self.context.push()
            _thread.context = self

    def kernel(self, bits: int, shared: bool, *extra: str) -> Any:
        """The compiled kernel for this variant, loaded once."""
        return self._loaded("solve", bits, shared, extra, self._solver, Problem)

    def propagator(self, bits: int, shared: bool, *extra: str) -> Any:
        """The compiled kernel of the hybrid engine for this variant, loaded once."""
        return self._loaded("propagator", bits, shared, extra, self._propagator, Problem, Mailboxes)

    def _solver(self, bits: int, shared: bool, *extra: str) -> Any:
        """The module of the package, if the driver can load it, or else a module that is compiled here."""
        packaged = compiler.packaged_gpu_binary(bits, shared, self.architecture, *extra)
        if packaged is not None:
            try:
                return driver().module_from_buffer(packaged.read_bytes())
            except driver().Error as error:  # for example a driver older than the toolkit
                log.warning("the GPU engine of the package cannot be loaded and is compiled here: %s", error)
        return driver().module_from_buffer(compiler.gpu_binary(bits, shared, self.architecture, *extra).read_bytes())

    def _propagator(self, bits: int, shared: bool, *extra: str) -> Any:
        return driver().module_from_buffer(
            compiler.propagator_binary(bits, shared, self.architecture, *extra).read_bytes()
        )

    def _loaded(
        self,
        name: str,
        bits: int,
        shared: bool,
        extra: tuple[str, ...],
        load: Callable[..., Any],
        *arguments: type[ctypes.Structure],
    ) -> Any:
        key = (name, bits, shared, extra)
        if key not in self.kernels:
            cuda = driver()
            module = load(bits, shared, *extra)
            place, size = module.get_global("abi_digest")
            carried = np.zeros(size, np.uint8)
            cuda.memcpy_dtoh(carried, place)
            check_digest("the GPU engine", carried.tobytes().rstrip(b"\0"), compiler.FLOAT_FLAG in extra)
            function = module.get_function(name)
            function.prepare([f"{ctypes.sizeof(argument)}s" for argument in arguments])
            most = self.shared_per_block - STATE_BYTES
            function.set_attribute(cuda.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, most)
            self.modules[key] = module
            self.kernels[key] = function
        return self.kernels[key]

    def close(self) -> None:
        """Frees the modules, then the context, which would abort the process if it were on PyCUDA's stack at exit.
        Frees neither while another thread is making an engine."""
        leave()
        for maker in (others := [thread for thread in makers if thread is not threading.current_thread()]):
            maker.join(TUNING.driver_patience_seconds)
        if not any(maker.is_alive() for maker in others):
            self.kernels.clear()
            self.modules.clear()
            self.context.detach()


@contextmanager
def making() -> Iterator[None]:
    """A context in which this thread makes an engine for another thread."""
    makers.add(threading.current_thread())
    try:
        yield
    finally:
        leave()


def leave() -> None:
    """Leaves the current context of this thread, if any."""
    here, _thread.context = getattr(_thread, "context", None), None
    if here is not None:
        here.context.pop()


@cache
def _context(number: int) -> Context:
    return Context(number)


def context(number: int = 0) -> Context:
    """The context of this GPU, made current in this thread."""
    here = _context(number)
    here.enter()
    return here
