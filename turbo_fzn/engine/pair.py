"""The CPU engine at once, and beside it the GPU engine as soon as it is ready: `--arch auto` on a machine with a GPU.

To make a GPU ready for a model takes some tenths of a second, or a minute where its kernels must be compiled, and each
step may fail. So the GPU engine is made in a thread, and the CPU engine, which is ready at once, goes on to its end
whatever becomes of the other: the answer comes no later than from the CPU alone. Many a small model is solved before
the GPU is ready; then the GPU is never used, and nobody waits for it.

Nothing gets lost on the way, and no claim is made that is not true:

* Each of the two begins at the root. The space was searched when one of them has searched all of it.
* Optimisation: the best solution that was handed out bounds the second search from its first node. So the claim of the
  second, that there is nothing better, is about a solution that the caller has. (Where solutions are handed out without
  all their values, the second begins without one, and the search drops what is no improvement.)
  What the second finds is told to the first, which can use it at any time.
* Satisfaction: the second finds again what the first has found. Whoever wants all solutions drops repetitions anyhow,
  since blocks may repeat each other (answers.Distinct).
* A second that fails is left out from then on, with the bound that it has proved. The solutions that it had published
  are handed out: the search checks them like all others.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from turbo_fzn.engine.contract import MAXIMA, Engine, Found
from turbo_fzn.engine.layout import NO_INCUMBENT
from turbo_fzn.errors import EngineError, TurboError

log = logging.getLogger("turbo_fzn")
T = TypeVar("T")

HEAD_START_SECONDS = 0.15  # what is solved by then never wakes the GPU
_turn = threading.Lock()  # one engine is made at a time, since each takes most of the GPU's memory


class Maker:
    """Makes an engine in a thread, after a moment; one that nobody wants any more it closes itself, or never makes."""

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
            engine = make()
        except EngineError as error:
            log.info("no GPU engine: %s", error)
        except Exception as error:  # a fault, but none that should cost the user the answer of the first
            log.warning("the GPU engine cannot be made, the CPU engine goes on: %s", describe(error))
        else:
            log.info("%s engine: %.2f s, beside the search", engine.name, time.monotonic() - start)
            return engine
        return None

    def at_work(self) -> bool:
        return self.thread.is_alive()

    def abandon(self) -> None:
        """Closes the engine. One that is still being made is closed by the thread, for which nobody waits."""
        with self.lock:
            self.unwanted.set()
        if self.engine is not None:
            close(self.engine)


def close(engine: Engine) -> None:
    """Also one that has failed, where giving back what it holds may fail as well."""
    try:
        engine.close()
    except Exception as error:
        log.info("the %s engine cannot be closed: %s", engine.name, describe(error))


def describe(error: Exception) -> str:
    """Why something failed, in one line."""
    return str(error) if isinstance(error, TurboError) else " ".join(f"{type(error).__name__}: {error}".split())


class Pair:
    """Drives `first`, and beside it what `make_second`, which is called in a thread, returns. See engine.Engine.

    `sense` is that of the objective: 1 to minimise, -1 to maximise, 0 to satisfy.
    """

    def __init__(self, first: Engine, make_second: Callable[[], Engine], sense: int):
        self.first = first
        self.second: Engine | None = None  # while it is at work
        self.maker = Maker(make_second)
        self.joined: float | None = None  # after how many seconds of search
        self.left: list[Found] = []  # by a second that has failed
        self.sense = sense
        self.best: Found | None = None
        self.raised = -NO_INCUMBENT  # what the caller has proved of the objective
        self.stopped = False

    @property
    def name(self) -> str:
        return self.first.name if self.second is None else f"{self.first.name}+{self.second.name}"

    @property
    def shape(self) -> dict[str, Any]:
        return self.first.shape if self.second is None else {**self.second.shape, "joinTime": self.joined}

    @property
    def repeats(self) -> bool:
        """The second finds again what the first has found."""
        return True

    def start(self, incumbent: Found | None = None) -> None:
        self.began = time.monotonic()
        self.best = incumbent
        self.first.start(incumbent)
        self.maker.start()

    @property
    def running(self) -> bool:
        """Also while the first has given up before the second is ready."""
        second_runs = self._ask_second(lambda second: second.running, False)
        if self.first.running or second_runs:
            return True
        expected = self.maker.at_work() or self.maker.engine is not None  # in this order: the thread sets it, and ends
        return expected and self.joined is None and not (self.stopped or self.first.complete)

    def poll(self) -> list[Found]:
        found = self.first.poll()
        for solution in found:
            self._note(solution)
        if self.maker.engine is not None and self.joined is None and not (self.stopped or self.first.complete):
            self._let_join(self.maker.engine)
        others = self._ask_second(lambda second: second.poll(), list[Found]())
        left, self.left = self.left, []
        for solution in [*others, *left]:
            if self._note(solution):
                self.first.adopt(solution)
        return [*found, *others, *left]

    def _note(self, solution: Found) -> bool:
        """Whether it is the best so far."""
        better = self.best is None or self.sense * solution.objective < self.sense * self.best.objective
        if self.sense and better:
            self.best = solution
        return self.sense != 0 and better

    def _let_join(self, second: Engine) -> None:
        self.joined = time.monotonic() - self.began
        self.second = second
        self._ask_second(lambda second: second.start(self.best), None)
        if self.raised > -NO_INCUMBENT:
            self._ask_second(lambda second: second.raise_bound(self.raised), None)
        if self.second is not None:
            log.info("%.2f s after the start of the search the %s has joined it", self.joined, second.name.upper())

    def _ask_second(self, ask: Callable[[Engine], T], otherwise: T) -> T:
        """What the second answers; `otherwise` when there is none, or when it fails, which is its end."""
        second = self.second
        if second is None:
            return otherwise
        try:
            return ask(second)
        except Exception as error:
            self.second = None
            with contextlib.suppress(Exception):
                self.left = second.poll()
            log.warning("the GPU engine has failed, the CPU engine goes on: %s", describe(error))
            return otherwise

    @property
    def complete(self) -> bool:
        return self.first.complete or self._ask_second(lambda second: second.complete, False)

    @property
    def bound(self) -> int:
        """What either has proved holds for all solutions."""
        return max(self.first.bound, self._ask_second(lambda second: second.bound, self.first.bound))

    @property
    def open_work(self) -> int:
        return self.first.open_work + self._ask_second(lambda second: second.open_work, 0)

    def adopt(self, found: Found) -> None:
        self._note(found)
        self.first.adopt(found)
        self._ask_second(lambda second: second.adopt(found), None)

    def raise_bound(self, bound: int) -> None:
        self.raised = max(self.raised, bound)
        self.first.raise_bound(bound)
        self._ask_second(lambda second: second.raise_bound(bound), None)

    def methods(self) -> dict[str, float]:
        """Of the engine that has joined, or else of the first."""
        return self._ask_second(lambda second: second.methods(), {}) or self.first.methods()

    def stop(self) -> None:
        self.stopped = True
        self.first.stop()
        self._ask_second(lambda second: second.stop(), None)

    def statistics(self) -> dict[str, int]:
        """Of both engines, as of the blocks of one."""
        counted = self.first.statistics()
        for name, count in self._ask_second(lambda second: second.statistics(), dict[str, int]()).items():
            counted[name] = max(counted[name], count) if name in MAXIMA else counted[name] + count
        return counted

    def close(self) -> None:
        """Does not wait for a second engine that is still being made."""
        self.stopped = True
        self.first.close()
        self.maker.abandon()
