"""`cuda.bindings.driver` without a GPU: the functions of the driver as cuda-bindings passes them on, over the device of
fake_cuda.py.

Like the real package it returns a tuple whose first member is the status, tells of a failure by the status alone, and
passes contexts, streams, modules and functions as handles and memory as addresses.
"""

from __future__ import annotations

import ctypes
import enum
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from support.fake_cuda import DEVICE_ATTRIBUTES, Driver, Error, MemoryError, make_module


class CUresult(enum.IntEnum):
    CUDA_SUCCESS = 0
    CUDA_ERROR_OUT_OF_MEMORY = 2
    CUDA_ERROR_NOT_READY = 600
    CUDA_ERROR_LAUNCH_FAILED = 719


COMPUTE_CAPABILITY = {"COMPUTE_CAPABILITY_MAJOR": 9, "COMPUTE_CAPABILITY_MINOR": 0}
MAX_DYNAMIC_SHARED, NUM_REGS, DEVICEMAP = 8, 4, 2


class Calls:
    """The functions. `said` is the words of the last failure."""

    def __init__(self, driver: Driver) -> None:
        self.driver, self.cuda, self.said = driver, make_module(driver), ""
        self.allocations: dict[int, Any] = {}
        self.pinned: dict[int, np.ndarray] = {}

    def cuInit(self, flags: int) -> None:
        self.cuda.init()

    def cuDeviceGet(self, number: int) -> Any:
        return self.cuda.Device(number)

    def cuDeviceGetCount(self) -> int:
        return self.cuda.Device.count()

    def cuDeviceGetName(self, longest: int, device: Any) -> bytes:
        return device.name().encode().ljust(longest, b"\0")

    def cuDeviceTotalMem(self, device: Any) -> int:
        return device.total_memory()

    def cuDeviceGetAttribute(self, attribute: int, device: Any) -> int:
        return attribute

    def cuDevicePrimaryCtxRetain(self, device: Any) -> Any:
        return device.retain_primary_context()

    def cuDevicePrimaryCtxRelease(self, device: Any) -> None: ...

    def cuCtxPushCurrent(self, context: Any) -> None:
        context.push()
        self.driver.thread.context = context

    def cuCtxPopCurrent(self) -> Any:
        self.driver.thread.context.pop()
        return self.driver.thread.context

    def cuCtxSynchronize(self) -> None:
        self.cuda.Context.synchronize()

    def cuStreamCreate(self, flags: int) -> Any:
        assert flags == 1  # CU_STREAM_NON_BLOCKING
        return self.cuda.Stream(flags)

    def cuStreamDestroy(self, stream: Any) -> None: ...

    def cuStreamQuery(self, stream: Any) -> CUresult | None:
        return None if stream.is_done() else CUresult.CUDA_ERROR_NOT_READY

    def cuStreamSynchronize(self, stream: Any) -> None:
        stream.synchronize()

    def cuModuleLoadData(self, image: bytes) -> Any:
        return self.cuda.module_from_buffer(image)

    def cuModuleGetFunction(self, module: Any, name: bytes) -> Any:
        return module.get_function(name.decode())

    def cuModuleGetGlobal(self, module: Any, name: bytes) -> tuple:
        return module.get_global(name.decode())

    def cuFuncGetAttribute(self, attribute: int, function: Any) -> int:
        assert attribute == NUM_REGS
        return function.num_regs

    def cuFuncSetAttribute(self, function: Any, attribute: int, value: int) -> None:
        assert attribute == MAX_DYNAMIC_SHARED
        function.set_attribute(attribute, value)

    def cuLaunchKernel(self, function: Any, *told: Any) -> None:
        *shape, shared, stream, parameters, extra = told
        grid, block = tuple(shape[:3]), tuple(shape[3:])
        assert grid[1:] == (1, 1) and extra == 0
        sizes = [ctypes.sizeof(kind) for kind in function.arguments]
        places = (ctypes.c_void_p * len(sizes)).from_address(parameters)
        arguments = [ctypes.string_at(place, size) for place, size in zip(places, sizes, strict=True)]
        function.prepared_async_call(grid[:2], block, stream, *arguments, shared_size=shared)

    def cuMemAlloc(self, size: int) -> int:
        allocation = self.cuda.mem_alloc(size)
        self.allocations[int(allocation)] = allocation
        return int(allocation)

    def cuMemFree(self, place: int) -> None:
        self.allocations.pop(place).free()

    def cuMemHostAlloc(self, size: int, flags: int) -> int:
        memory = self.cuda.pagelocked_zeros(size, np.uint8)
        memory[:] = 255  # the driver does not clear it
        self.pinned[memory.ctypes.data] = memory
        return memory.ctypes.data

    def cuMemFreeHost(self, place: int) -> None:
        self.pinned.pop(place)

    def cuMemHostGetDevicePointer(self, place: int, flags: int) -> int:
        assert place in self.pinned
        return place

    def cuMemGetInfo(self) -> tuple:
        return self.cuda.mem_get_info()

    def cuMemsetD8(self, target: int, value: int, size: int) -> None:
        self.cuda.memset_d8(target, value, size)

    def cuMemcpyHtoD(self, target: int, source: int, size: int) -> None:
        self.cuda.memcpy_htod(target, bytes_at(source, size))

    def cuMemcpyDtoH(self, target: int, source: int, size: int) -> None:
        self.cuda.memcpy_dtoh(bytes_at(target, size), source)

    def cuMemcpyHtoDAsync(self, target: int, source: int, size: int, stream: Any) -> None:
        self.cuda.memcpy_htod_async(target, bytes_at(source, size), stream)

    def cuMemcpyDtoHAsync(self, target: int, source: int, size: int, stream: Any) -> None:
        self.cuda.memcpy_dtoh_async(bytes_at(target, size), source, stream)

    def cuGetErrorString(self, status: CUresult) -> bytes:
        return self.said.encode()


def bytes_at(place: int, size: int) -> np.ndarray:
    return np.frombuffer((ctypes.c_char * size).from_address(place), np.uint8) if size else np.zeros(0, np.uint8)


def as_told(calls: Calls, name: str) -> Callable[..., tuple]:
    """The function of this name with a status in front of its results, in the place of exceptions."""
    method = getattr(calls, name)

    def function(*arguments: Any) -> tuple:
        try:
            result = method(*arguments)
        except Error as error:
            calls.said = str(error)
            memory = isinstance(error, MemoryError)
            return (CUresult.CUDA_ERROR_OUT_OF_MEMORY if memory else CUresult.CUDA_ERROR_LAUNCH_FAILED,)
        if isinstance(result, CUresult):
            return (result,)
        results = () if result is None else result if isinstance(result, tuple) else (result,)
        return CUresult.CUDA_SUCCESS, *results

    function.__name__ = name
    return function


def make_bindings(driver: Driver) -> ModuleType:
    """A module that plays `cuda.bindings.driver`."""
    calls, module = Calls(driver), ModuleType("cuda.bindings.driver")
    attributes = {**vars(DEVICE_ATTRIBUTES), **COMPUTE_CAPABILITY}
    vars(module).update(
        CUresult=CUresult,
        CUdevice_attribute=prefixed("CU_DEVICE_ATTRIBUTE_", attributes),
        CUfunction_attribute=prefixed(
            "CU_FUNC_ATTRIBUTE_", {"NUM_REGS": NUM_REGS, "MAX_DYNAMIC_SHARED_SIZE_BYTES": MAX_DYNAMIC_SHARED}
        ),
        CU_MEMHOSTALLOC_DEVICEMAP=DEVICEMAP,
        **{name: as_told(calls, name) for name in vars(Calls) if name.startswith("cu")},
    )
    return module


def prefixed(prefix: str, members: dict[str, int]) -> SimpleNamespace:
    return SimpleNamespace(**{prefix + name: value for name, value in members.items()})
