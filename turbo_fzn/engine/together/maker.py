"""Making an engine beside a search: in a thread, after a moment, and so that nobody ever waits for it.

To make a GPU ready for a model takes some tenths of a second, or a minute where its kernels must be compiled, and each
step may fail. Many a small model is solved before; then the GPU is never used.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from turbo_fzn.engine.contract import Engine
from turbo_fzn.errors import EngineError, TurboError

log = logging.getLogger("turbo_fzn")

HEAD_START_SECONDS = 0.25  # what is solved by then never wakes the GPU
TURN_SECONDS = 0.0005  # that the thread may keep the interpreter, which whoever prints an answer waits for
_turn = threading.Lock()  # one engine is made at a time, since each takes most of the GPU's memory


class Maker:
    """Makes an engine in a thread, after a moment; one that nobody wants any more it closes, or does not make."""

    def __init__(self, make: Callable[[], Engine]):
        self.engine: Engine | None = None
        self.unwanted = threading.Event()
        self.lock = threading.Lock()  # of these two
        self.thread = threading.Thread(target=self._run, args=(make,), name="make-engine", daemon=True)

    def start(self) -> None:
        try:
            self.thread.start()
        except RuntimeError as error:
            log.info("no GPU engine: %s", error)

    def _run(self, make: Callable[[], Engine]) -> None:
        with _turn:
            engine = None if self.unwanted.wait(HEAD_START_SECONDS) else self._make(make)
            with self.lock:
                if not self.unwanted.is_set():
                    self.engine = engine
                    return
            if engine is not None:
                close(engine)

    def _make(self, make: Callable[[], Engine]) -> Engine | None:
        start = time.monotonic()
        try:
            with _short_turns():
                engine = make()
        except EngineError as error:
            log.info("no GPU engine: %s", error)
        except Exception as error:  # a fault, but none that should cost the user the answer of the others
            log.warning("the GPU engine cannot be made, the search goes on without it: %s", describe(error))
        else:
            log.info("%s engine: %.2f s, beside the search", engine.name, time.monotonic() - start)
            return engine
        return None

    @property
    def expected(self) -> bool:
        """Whether there is an engine, or may still be one."""
        return self.thread.is_alive() or self.engine is not None  # in this order: the thread sets it, and ends

    def abandon(self) -> None:
        """Closes the engine. One that is still being made is closed by the thread, for which nobody waits."""
        with self.lock:
            self.unwanted.set()
        if self.engine is not None:
            close(self.engine)


@contextmanager
def _short_turns() -> Iterator[None]:
    """Threads of Python hand over to each other after TURN_SECONDS: by default it takes 5 ms each time, in which an
    answer would wait for a module to be imported."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(before, TURN_SECONDS))
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def close(engine: Engine) -> None:
    """Also one that has failed, where giving back what it holds may fail as well."""
    try:
        engine.close()
    except Exception as error:
        log.info("the %s engine cannot be closed: %s", engine.name, describe(error))


def describe(error: Exception) -> str:
    """Why something failed, in one line."""
    return str(error) if isinstance(error, TurboError) else " ".join(f"{type(error).__name__}: {error}".split())
