"""Makes an engine beside a search: in a thread, after a delay; the search never waits for it.

To prepare a GPU for a model takes some tenths of a second, or a minute if its kernels must be compiled, and each step
may fail. Many small models are solved sooner; then the GPU is not used.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from turbo_fzn.base.errors import EngineError, TurboError
from turbo_fzn.engine.contract import Engine
from turbo_fzn.engine.tuning import TUNING

log = logging.getLogger("turbo_fzn")

_turn = threading.Lock()  # one engine is made at a time, since each takes most of the GPU's memory


class Maker:
    """Makes an engine in a thread, after a delay. After `abandon` it does not begin, or closes the engine."""

    def __init__(self, make: Callable[[], Engine]):
        self.engine: Engine | None = None
        self.unwanted = threading.Event()
        self.lock = threading.Lock()  # guards `engine` and `unwanted`
        self.thread = threading.Thread(target=self._run, args=(make,), name="make-engine", daemon=True)

    def start(self) -> None:
        try:
            self.thread.start()
        except RuntimeError as error:
            log.info("no GPU engine: %s", error)

    def _run(self, make: Callable[[], Engine]) -> None:
        with _turn:
            engine = None if self.unwanted.wait(TUNING.gpu_start_seconds) else self._make(make)
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
        except Exception as error:  # the other engines can still give the answer
            log.warning("the GPU engine cannot be made, the search goes on without it: %s", describe(error))
        else:
            log.info("%s engine: %.2f s, beside the search", engine.name, time.monotonic() - start)
            return engine
        return None

    @property
    def expected(self) -> bool:
        """Whether the engine exists or may still be made."""
        return self.thread.is_alive() or self.engine is not None  # in this order: the thread sets it, and ends

    def abandon(self) -> None:
        """Closes the engine, without waiting: an engine that is still being made is closed by the thread."""
        with self.lock:
            self.unwanted.set()
        if self.engine is not None:
            close(self.engine)


@contextmanager
def _short_turns() -> Iterator[None]:
    """Makes Python switch threads after `maker_turn_seconds`; with the default of 5 ms, answers would wait for imports
    of modules."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(before, TUNING.maker_turn_seconds))
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def close(engine: Engine) -> None:
    """Closes an engine, even if it has failed; only logs an error in closing it."""
    try:
        engine.close()
    except Exception as error:
        log.info("the %s engine cannot be closed: %s", engine.name, describe(error))


def describe(error: Exception) -> str:
    """An error as one line of text."""
    return str(error) if isinstance(error, TurboError) else " ".join(f"{type(error).__name__}: {error}".split())
