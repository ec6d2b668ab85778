"""The driver, through PyCUDA or else cuda-bindings; the GPUs that exist, and the GPUs that --gpus names. Other modules
get the driver from here."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from turbo_fzn.base.errors import EngineError, UsageError
from turbo_fzn.base.resources import pip

WANTED = re.compile(r"all|[1-9]\d*|\d+,(\d+(,\d+)*,?)?")  # --gpus: all, a count, or numbers


@lru_cache(maxsize=1)
def driver() -> Any:
    """The module of the driver, initialised: pycuda.driver, or bindings.py, which has the same names. Raises
    EngineError without either package, a driver or a GPU."""
    cuda = _importable()
    try:
        cuda.init()
        count = cuda.Device.count()
    except cuda.Error as error:
        raise EngineError(f"no usable NVIDIA driver: {error}") from error
    if count == 0:
        raise EngineError("no NVIDIA GPU found")
    return cuda


def _importable() -> Any:
    """pycuda.driver, or bindings.py where PyCUDA cannot be imported. Raises EngineError if neither can be imported."""
    try:
        import pycuda.driver as cuda
    except Exception as error:  # its libraries may raise anything
        try:
            from turbo_fzn.engine.cuda import bindings
        except Exception as other:
            advice = pip("install", "cuda-bindings>=12.8")
            said = f"PyCUDA cannot be imported ({error}), nor can cuda-bindings ({other}): {advice}"
            raise EngineError(said) from error
        return bindings
    return cuda


def check_form(wanted: str) -> None:
    """Raises UsageError for a value of --gpus that is valid on no machine."""
    if not WANTED.fullmatch(wanted):
        raise UsageError(f"--gpus: expected all, a number from 1 on, or a list as in 0,2, found {wanted[:40]!r}")


def chosen(wanted: str, count: int) -> list[int]:
    """The numbers of the GPUs that --gpus names, among `count`. Raises UsageError for a GPU that does not exist."""
    check_form(wanted)
    if wanted == "all":
        return list(range(count))
    numbers = [int(word) for word in wanted.split(",") if word] if "," in wanted else list(range(int(wanted)))
    if missing := [number for number in numbers if number >= count]:
        raise UsageError(f"--gpus {wanted}: there is no GPU {missing[0]}, the last one is {count - 1}")
    return sorted(set(numbers))


def architectures() -> list[str]:
    """The distinct compute capabilities of the GPUs of this machine, such as "90"."""
    cuda = driver()
    found = {"".join(map(str, cuda.Device(i).compute_capability())) for i in range(cuda.Device.count())}
    return sorted(found)


def describe_gpus() -> list[str]:
    """A line for each GPU of this machine. Raises EngineError without a driver or GPU."""
    cuda = driver()
    lines = []
    for i in range(cuda.Device.count()):
        device = cuda.Device(i)
        major, minor = device.compute_capability()
        lines.append(f"{device.name()}, compute capability {major}.{minor}, {device.total_memory() >> 20} MiB")
    return lines
