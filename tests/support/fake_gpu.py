"""The fixture `fake_gpu`: this process has the GPU of fake_cuda.py, and an nvcc that writes what it was asked for.

`lent_gpu` gives it for as long as a test module likes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import pytest

from support.fake_bindings import make_bindings
from support.fake_cuda import Driver, make_module
from support.places import DATA
from turbo_fzn.engine import cuda
from turbo_fzn.engine.cuda import context, devices
from turbo_fzn.engine.library import library
from turbo_fzn.engine.toolchain import compiler

NVCC = DATA / "fake_machine" / "nvcc"


@pytest.fixture
def fake_gpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Driver]:
    """The driver of this machine."""
    with lent_gpu(monkeypatch, tmp_path / "cache") as driver:
        yield driver


@contextmanager
def lent_gpu(monkeypatch: pytest.MonkeyPatch, cache: Path, through: str = "pycuda") -> Iterator[Driver]:
    """A context with a fake GPU whose kernels are cached in this folder; the driver is called through PyCUDA or through
    "cuda-bindings", and the other package is not there."""
    for bits in (32, 64):
        library(bits)  # before the cache is another one
    monkeypatch.setenv("TURBO_FZN_CACHE", str(cache))
    driver = Driver()
    if through == "pycuda":
        modules = {"pycuda.driver": make_module(driver), "cuda.bindings.driver": None}
    else:
        modules = {"pycuda": None, "cuda.bindings.driver": make_bindings(driver)}
    for name, module in modules.items():
        install(monkeypatch, name, module)
    monkeypatch.setenv("NVCC", str(NVCC))
    forget()
    yield driver
    forget()


def install(monkeypatch: pytest.MonkeyPatch, name: str, module: ModuleType | None) -> None:
    """Lets `import` find this module, with the packages that it is in; None: it finds none of this name."""
    monkeypatch.setitem(sys.modules, name, module)
    while module is not None and "." in name:
        name, _, last = name.rpartition(".")
        package = ModuleType(name)
        setattr(package, last, module)
        monkeypatch.setitem(sys.modules, name, package)
        module = package


def forget() -> None:
    """Makes the modules forget the facts about the machine that they keep, bindings.py with its cuda-bindings."""
    context.leave()
    if sys.modules.pop(context.__package__ + ".bindings", None) is not None:
        del cuda.bindings
    for function in (devices.driver, context._context, compiler.find_nvcc):
        function.cache_clear()
