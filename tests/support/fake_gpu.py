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

from support.fake_cuda import Driver, make_module
from support.places import DATA
from turbo_fzn.engine.cuda import context, devices
from turbo_fzn.engine.library import library
from turbo_fzn.engine.toolchain import compiler
from turbo_fzn.read.grammar import terminals

NVCC = DATA / "fake_machine" / "nvcc"


@pytest.fixture
def fake_gpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Driver]:
    """The driver of this machine."""
    with lent_gpu(monkeypatch, tmp_path / "cache") as driver:
        yield driver


@contextmanager
def lent_gpu(monkeypatch: pytest.MonkeyPatch, cache: Path) -> Iterator[Driver]:
    """A context with a fake GPU whose kernels are cached in this folder."""
    for bits in (32, 64):
        library(bits)  # before the cache is another one
    terminals()
    monkeypatch.setenv("TURBO_FZN_CACHE", str(cache))
    driver = Driver()
    module = make_module(driver)
    package = ModuleType("pycuda")
    package.driver = module  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pycuda", package)
    monkeypatch.setitem(sys.modules, "pycuda.driver", module)
    monkeypatch.setenv("NVCC", str(NVCC))
    forget()
    yield driver
    forget()


def forget() -> None:
    """Makes the modules forget the facts about the machine that they keep."""
    context.leave()
    for function in (devices.driver, context._context, compiler.find_nvcc):
        function.cache_clear()
