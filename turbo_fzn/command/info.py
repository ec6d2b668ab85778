"""`fzn-turbo --info`: version, engines, GPUs and cache, and the reason why an engine is missing."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable

from turbo_fzn.base import cache
from turbo_fzn.base.errors import EngineError
from turbo_fzn.base.resources import wanted_cache_folder
from turbo_fzn.engine.toolchain import compiler
from turbo_fzn.version import __version__

NO_CACHE = "cannot be used: it must be yours, and writable by you alone"


def describe() -> list[str]:
    """A line each for version, engines, GPUs, and kernel cache."""
    return [
        f"fzn-turbo {__version__}, Python {platform.python_version()} at {sys.executable}",
        "CPU engine: " + _or_reason(_describe_cpu),
        "GPU engine: " + _or_reason(_describe_gpu),
        *_describe_cache(),
    ]


def _describe_cache() -> list[str]:
    """The cache folder and whether it can be read and written, then its contents."""
    folder = cache.find_folder()
    if folder is None:
        return [f"kernel cache: {wanted_cache_folder()}, {NO_CACHE}"]
    compiled = sorted(path.name for path in folder.glob("*") if path.suffix in (".so", ".cubin"))
    closed = "" if cache.writable_folder() else ", and nothing can be added"
    return [f"kernel cache: {folder}, {len(compiled)} compiled{closed}", *(f"  {name}" for name in compiled)]


def _describe_cpu() -> str:
    packaged = compiler.packaged_library(32)
    return f"in the package, {packaged.parent}" if packaged else f"compiled by {' '.join(compiler.find_cpu_compiler())}"


def _describe_gpu() -> str:
    from turbo_fzn.engine.cuda.devices import describe_gpus

    packaged = compiler.packaged_for_gpus()
    source = f"in the package, {packaged}" if packaged else f"compiled by {' '.join(compiler.find_nvcc())}"
    return "; ".join([*describe_gpus(), source])


def _or_reason(text: Callable[[], str]) -> str:
    try:
        return text()
    except EngineError as error:
        return f"missing, {error}"
