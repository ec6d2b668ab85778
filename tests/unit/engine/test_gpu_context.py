"""The CUDA context between threads, with a driver that keeps the rules of PyCUDA but has no GPU.

PyCUDA keeps a stack of contexts for each thread. Whoever uses the GPU must have the context on its stack, and a thread
that ends with one on its stack aborts the process. test_gpu_joins.py runs the whole on a GPU.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from support.command import PATIENCE
from turbo_fzn.base.errors import EngineError
from turbo_fzn.engine.cuda import context, gpu
from turbo_fzn.engine.layout.layout import Settings
from turbo_fzn.engine.tuning import TUNING
from turbo_fzn.lower.rewrite import lower
from turbo_fzn.read.flatzinc import parse_text


class FakeContext:
    """A primary context; `depth` is how often it is on the stack of the calling thread."""

    def __init__(self) -> None:
        self.stacks = threading.local()
        self.detached = False

    @property
    def depth(self) -> int:
        return getattr(self.stacks, "depth", 0)

    def push(self) -> None:
        self.stacks.depth = self.depth + 1

    def pop(self) -> None:
        assert self.depth > 0
        self.stacks.depth -= 1

    def detach(self) -> None:
        assert self.depth == 0
        self.detached = True


@pytest.fixture
def primary(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeContext]:
    """The context that the driver gives out."""
    context.leave()
    primary = FakeContext()
    device = SimpleNamespace(
        retain_primary_context=lambda: primary,
        compute_capability=lambda: (9, 0),
        get_attribute=lambda attribute: 1,
    )

    class Attributes:
        def __getattr__(self, name: str) -> str:
            return name

    driver = SimpleNamespace(Device=lambda number: device, Error=RuntimeError, device_attribute=Attributes())
    monkeypatch.setattr(context, "driver", lambda: driver)
    monkeypatch.setattr(context.atexit, "register", lambda function: None)
    context._context.cache_clear()
    yield primary
    context.leave()
    context._context.cache_clear()


def in_another_thread(work: Any) -> Any:
    outcome: list[Any] = []
    thread = threading.Thread(target=lambda: outcome.append(work()))
    thread.start()
    thread.join()
    (result,) = outcome
    return result


def test_a_thread_has_the_context_once_however_often_it_asks(primary):
    here = context.context()
    assert context.context() is here and primary.depth == 1
    here.enter()
    assert primary.depth == 1
    here.close()
    assert primary.depth == 0 and primary.detached


def test_every_thread_enters_by_itself(primary):
    here = context.context()
    assert in_another_thread(lambda: (context.context(), primary.depth)) == (here, 1)
    assert primary.depth == 1


def test_a_thread_that_makes_an_engine_for_another_leaves_no_context_behind(primary, monkeypatch):
    monkeypatch.setattr(gpu, "GpuEngine", lambda *arguments: (context.context(), primary.depth))
    engine, depth = in_another_thread(lambda: (gpu.make_elsewhere(None, np.arange(1), Settings()), primary.depth))
    assert engine[1] == 1 and depth == 0
    engine[0].enter()
    assert primary.depth == 1


def test_also_when_the_engine_cannot_be_made(primary, monkeypatch):
    def fail(*arguments: object) -> None:
        context.context()
        raise EngineError("not enough memory on the GPU")

    monkeypatch.setattr(gpu, "GpuEngine", fail)

    def make() -> int:
        with pytest.raises(EngineError):
            gpu.make_elsewhere(None, np.arange(1), Settings())
        return primary.depth

    assert in_another_thread(make) == 0


def test_an_orderly_exit_leaves_the_context_to_a_thread_that_still_makes_an_engine(primary, monkeypatch):
    """Its driver may be at work; PyCUDA would take the context away below it."""
    going, end = threading.Event(), threading.Event()

    def make(*arguments: object) -> None:
        context.context()
        going.set()
        assert end.wait(PATIENCE)

    monkeypatch.setattr(gpu, "GpuEngine", make)
    monkeypatch.setattr(TUNING, "driver_patience_seconds", 0.01)
    maker = threading.Thread(target=gpu.make_elsewhere, args=(None, np.arange(1), Settings()))
    maker.start()
    assert going.wait(PATIENCE)
    here = context.context()
    here.close()
    assert primary.depth == 0 and not primary.detached
    end.set()
    maker.join()
    here.close()
    assert primary.detached


def test_an_engine_that_is_closed_by_another_thread_leaves_it_no_context(fake_gpu):
    tnf = lower(parse_text("var 1..3: x :: output_var;\nsolve satisfy;\n")).tnf
    engine = gpu.make_elsewhere(tnf, np.arange(tnf.n_vars, dtype=np.int32), Settings(blocks=2))

    def close() -> bool:
        engine.close()
        return getattr(context._thread, "context", None) is not None

    assert not in_another_thread(close)
    assert fake_gpu.held == set()
