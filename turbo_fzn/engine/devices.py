"""The driver, through PyCUDA, and which GPUs there are. The only file that works with PyCUDA."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from turbo_fzn.errors import EngineError


@lru_cache(maxsize=1)
def driver() -> Any:
    """pycuda.driver, initialised. Raises EngineError when there is no PyCUDA, driver or GPU."""
    try:
        import pycuda.driver as cuda
    except ImportError as error:
        raise EngineError(f"PyCUDA cannot be imported ({error}): pip install 'turbo_fzn[gpu]'") from error
    try:
        cuda.init()
        count = cuda.Device.count()
    except cuda.Error as error:
        raise EngineError(f"no usable NVIDIA driver: {error}") from error
    if count == 0:
        raise EngineError("no NVIDIA GPU found")
    return cuda


def architectures() -> list[str]:
    """Compute capabilities of the GPUs of this machine, as in "90", each once."""
    cuda = driver()
    found = {"".join(map(str, cuda.Device(i).compute_capability())) for i in range(cuda.Device.count())}
    return sorted(found)


def describe_gpus() -> list[str]:
    cuda = driver()
    lines = []
    for i in range(cuda.Device.count()):
        device = cuda.Device(i)
        major, minor = device.compute_capability()
        lines.append(f"{device.name()}, compute capability {major}.{minor}, {device.total_memory() >> 20} MiB")
    return lines
