"""The driver through cuda-bindings, NVIDIA's own package, for machines without PyCUDA: it is a wheel that needs neither
a toolkit nor a compiler.

It offers the part of PyCUDA's interface that the engines use, under PyCUDA's names, so that the same code works with
both. Unused features of PyCUDA are left out: contexts are entered explicitly (context.py), and modules live until their
context is released.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
from cuda.bindings import driver as api

LONGEST_NAME = 256  # format: of a device, in bytes


class Error(Exception):
    """The driver has refused a call, or it reports that a kernel has failed."""


class MemoryError(Error):
    """There is not enough memory on the device."""


def call(function: Callable[..., tuple], *arguments: object) -> Any:
    """Calls a function of the driver. Returns its results beside the status: None, one result, or a tuple. Raises
    Error."""
    try:
        status, *results = function(*arguments)
    except RuntimeError as error:  # as cuda-bindings raises without a driver, or for a call that the driver lacks
        raise Error(str(error)) from error
    require(status, function.__name__)
    return results[0] if len(results) == 1 else tuple(results)


def require(status: Any, name: str) -> None:
    """Raises Error if the call of this name has failed."""
    if status != api.CUresult.CUDA_SUCCESS:
        kind = MemoryError if status == api.CUresult.CUDA_ERROR_OUT_OF_MEMORY else Error
        raise kind(f"{name} failed: {in_words(status)}")


def in_words(status: Any) -> str:
    """The driver's text for a status, or its number if it has no text."""
    told, words = api.cuGetErrorString(status)
    return words.decode() if told == api.CUresult.CUDA_SUCCESS and words else f"error {int(status)}"


def init() -> None:
    call(api.cuInit, 0)


class _Named:
    """The members of an enumeration of cuda-bindings by their names in PyCUDA, which lack the prefix."""

    def __init__(self, kind: Any, prefix: str) -> None:
        self.kind, self.prefix = kind, prefix

    def __getattr__(self, name: str) -> Any:
        return getattr(self.kind, self.prefix + name)


device_attribute = _Named(api.CUdevice_attribute, "CU_DEVICE_ATTRIBUTE_")
function_attribute = _Named(api.CUfunction_attribute, "CU_FUNC_ATTRIBUTE_")
host_alloc_flags = SimpleNamespace(DEVICEMAP=api.CU_MEMHOSTALLOC_DEVICEMAP)


class Device:
    """A GPU, by its number."""

    def __init__(self, number: int) -> None:
        self.handle = call(api.cuDeviceGet, number)

    @staticmethod
    def count() -> int:
        return int(call(api.cuDeviceGetCount))

    def name(self) -> str:
        return str(call(api.cuDeviceGetName, LONGEST_NAME, self.handle).partition(b"\0")[0].decode())

    def compute_capability(self) -> tuple[int, int]:
        attribute = device_attribute
        major = self.get_attribute(attribute.COMPUTE_CAPABILITY_MAJOR)
        return major, self.get_attribute(attribute.COMPUTE_CAPABILITY_MINOR)

    def total_memory(self) -> int:
        """The total memory of the device, in bytes."""
        return int(call(api.cuDeviceTotalMem, self.handle))

    def get_attribute(self, attribute: Any) -> int:
        return int(call(api.cuDeviceGetAttribute, attribute, self.handle))

    def retain_primary_context(self) -> Context:
        return Context(self.handle)


class Context:
    """The primary context of a device, retained until `detach`."""

    def __init__(self, device: Any) -> None:
        self.device = device
        self.handle = call(api.cuDevicePrimaryCtxRetain, device)

    def push(self) -> None:
        call(api.cuCtxPushCurrent, self.handle)

    def pop(self) -> None:
        call(api.cuCtxPopCurrent)

    def detach(self) -> None:
        call(api.cuDevicePrimaryCtxRelease, self.device)

    @staticmethod
    def synchronize() -> None:
        """Waits for all work of the current context."""
        call(api.cuCtxSynchronize)


class Stream:
    """A stream of the current context, by the flags of cuStreamCreate."""

    def __init__(self, flags: int) -> None:
        self.handle = call(api.cuStreamCreate, flags)

    def is_done(self) -> bool:
        """Whether all its work has ended. Raises Error where a kernel has failed."""
        (status,) = api.cuStreamQuery(self.handle)
        if status == api.CUresult.CUDA_ERROR_NOT_READY:
            return False
        require(status, "cuStreamQuery")
        return True

    def synchronize(self) -> None:
        call(api.cuStreamSynchronize, self.handle)

    def __del__(self) -> None:
        _give_back(api.cuStreamDestroy, getattr(self, "handle", None))


class Module:
    """A loaded cubin, fatbin or PTX."""

    def __init__(self, handle: Any) -> None:
        self.handle = handle

    def get_function(self, name: str) -> Function:
        return Function(call(api.cuModuleGetFunction, self.handle, name.encode()))

    def get_global(self, name: str) -> tuple[int, int]:
        """(address, bytes) of a variable of the module."""
        place, size = call(api.cuModuleGetGlobal, self.handle, name.encode())
        return int(place), int(size)


class Function:
    """A kernel whose arguments are structures, passed as bytes."""

    def __init__(self, handle: Any) -> None:
        self.handle = handle

    @property
    def num_regs(self) -> int:
        """Registers a thread."""
        return int(call(api.cuFuncGetAttribute, function_attribute.NUM_REGS, self.handle))

    def prepare(self, formats: list[str]) -> None:
        """Does nothing: bytes contain their length."""

    def set_attribute(self, attribute: Any, value: int) -> None:
        call(api.cuFuncSetAttribute, self.handle, attribute, value)

    def prepared_async_call(
        self, grid: tuple[int, int], block: tuple[int, int, int], stream: Stream, *arguments: bytes, shared_size: int
    ) -> None:
        """Starts the kernel in the stream, with so many bytes of dynamic shared memory. The driver copies the arguments
        before it returns."""
        copies = [ctypes.create_string_buffer(argument, len(argument)) for argument in arguments]
        places = (ctypes.c_void_p * len(copies))(*map(ctypes.addressof, copies))
        shape = (*grid, 1, *block, shared_size)
        call(api.cuLaunchKernel, self.handle, *shape, stream.handle, ctypes.addressof(places), 0)


def module_from_buffer(data: bytes) -> Module:
    return Module(call(api.cuModuleLoadData, data))


class Allocation:
    """Device memory; int() is its address."""

    def __init__(self, size: int) -> None:
        self.place = int(call(api.cuMemAlloc, size))

    def __int__(self) -> int:
        return self.place

    def free(self) -> None:
        place, self.place = self.place, 0
        if place:
            call(api.cuMemFree, place)

    def __del__(self) -> None:
        _give_back(api.cuMemFree, getattr(self, "place", 0))


class Pinned:
    """Page-locked host memory, zeroed, which an array of NumPy stands on (its `base`)."""

    def __init__(self, shape: tuple[int, ...], kind: np.dtype, flags: int) -> None:
        size = max(math.prod(shape) * kind.itemsize, 1)
        self.place = int(call(api.cuMemHostAlloc, size, flags))
        ctypes.memset(self.place, 0, size)
        self.__array_interface__ = {"shape": shape, "typestr": kind.str, "data": (self.place, False), "version": 3}

    def get_device_pointer(self) -> int:
        """The address of the same memory on the device, where `flags` map it."""
        return int(call(api.cuMemHostGetDevicePointer, self.place, 0))

    def __del__(self) -> None:
        _give_back(api.cuMemFreeHost, getattr(self, "place", 0))


def _give_back(function: Callable[..., tuple], thing: Any) -> None:
    """Frees a resource that is not used any more. Failures are ignored: where the context is gone, so is the
    resource."""
    if thing:
        with contextlib.suppress(Exception):
            function(thing)


def pagelocked_zeros(shape: int | tuple[int, ...], kind: Any, mem_flags: int = 0) -> np.ndarray:
    """Page-locked host memory of this shape and dtype."""
    whole = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
    return np.asarray(Pinned(tuple(map(int, whole)), np.dtype(kind), mem_flags))


def mem_alloc(size: int) -> Allocation:
    return Allocation(int(size))


def mem_get_info() -> tuple[int, int]:
    """(free, total) device memory, in bytes."""
    free, total = call(api.cuMemGetInfo)
    return int(free), int(total)


def memset_d8(target: Any, value: int, size: int) -> None:
    call(api.cuMemsetD8, int(target), value, size)


def memcpy_htod(target: Any, array: np.ndarray) -> None:
    call(api.cuMemcpyHtoD, int(target), _place(array), array.nbytes)


def memcpy_dtoh(array: np.ndarray, source: Any) -> None:
    call(api.cuMemcpyDtoH, _place(array), int(source), array.nbytes)


def memcpy_htod_async(target: Any, array: np.ndarray, stream: Stream) -> None:
    call(api.cuMemcpyHtoDAsync, int(target), _place(array), array.nbytes, stream.handle)


def memcpy_dtoh_async(array: np.ndarray, source: Any, stream: Stream) -> None:
    call(api.cuMemcpyDtoHAsync, _place(array), int(source), array.nbytes, stream.handle)


def _place(array: np.ndarray) -> int:
    """The address of an array, which must not have gaps."""
    assert array.flags.c_contiguous
    return array.ctypes.data
