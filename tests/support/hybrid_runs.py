"""Engines of the hybrid kind for tests, and the fixture `hybrid_device`: what their blocks run on.

By default the blocks are threads, which poll the same mailboxes by the kernels' own text (fake_cuda.py, `serve_block`
of kernels/hybrid.cpp); with a GPU (`-m gpu`) they are the GPU's.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from support import fake_cuda
from support.engines import drain, make_engine
from support.fake_gpu import lent_gpu
from turbo_fzn.engine import hybrid
from turbo_fzn.engine.contract import Found
from turbo_fzn.engine.layout.layout import Settings
from turbo_fzn.engine.library import library
from turbo_fzn.engine.toolchain import compiler
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.run.prepare import prepare

ENDLESS = "\n".join(f"var 0..1000000: x{i} :: output_var;" for i in range(12)) + "\nsolve satisfy;\n"


@pytest.fixture(scope="module", params=["loopback", pytest.param("gpu", marks=pytest.mark.gpu)])
def hybrid_device(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[fake_cuda.Driver | None]:
    """The device that the blocks run on; the driver in Python where it is not a GPU."""
    if request.param == "gpu":
        yield None
        return
    for bits, kind in ((32, ()), (64, ()), (64, compiler.CPU_FLOAT_FLAGS)):
        library(bits, *kind)  # before the cache is another one
        hybrid.searchers(bits, *kind)
    with pytest.MonkeyPatch.context() as patch, lent_gpu(patch, tmp_path_factory.mktemp("hybrid") / "cache") as driver:
        yield driver


def open_engine(text: str, simplify: bool = True, **changes: object) -> hybrid.HybridEngine:
    prepared = prepare(parse_text(text), Options(simplify=simplify), Interrupt())
    return make_engine("hybrid", prepared, Settings(**changes))


def drain_and_close(engine: hybrid.HybridEngine, incumbent: Found | None = None) -> list[Found]:
    with closing(engine):
        engine.start(incumbent)
        return drain(engine)
