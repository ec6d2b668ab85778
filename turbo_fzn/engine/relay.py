"""An engine that begins on the CPU and goes on on the GPU: what `--arch auto` is on a machine with a GPU.

To make a GPU ready for a model takes some tenths of a second, or a minute where its kernels must be compiled. The
CPU engine is ready at once, and many a small model is solved before the GPU is: then the GPU is never used. If it is
not solved by then, the CPU engine is stopped, and the GPU begins anew at the root. Nothing gets lost on the way, and
no claim is made that is not true:

* The space was searched when one of the two has searched all of it. What the first has done of it is not counted on.
* Optimisation: the best solution that was handed out bounds the second search from its first node. So the claim of the
  second, that there is nothing better, is about a solution that the caller has. (Where solutions are handed out without
  all their values, the second begins without one, and the session drops what is no improvement.)
* Satisfaction: the second finds again what the first has found. Whoever wants all solutions drops repetitions anyhow,
  since blocks may repeat each other (answers.Distinct).
* When there is no second after all, the first goes on to the end.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Any

from turbo_fzn.engine.contract import MAXIMA, Engine, Found
from turbo_fzn.errors import EngineError

log = logging.getLogger("turbo_fzn")


class Relay:
    """Drives `first` until `make_second`, which is called in a thread, has returned another one. See engine.Engine.

    `sense` is that of the objective: 1 to minimise, -1 to maximise, 0 to satisfy. Without a second, if it cannot be
    made, the first goes on.
    """

    def __init__(self, first: Engine, make_second: Callable[[], Engine], sense: int):
        self.first = self.engine = first
        self.second: Engine | None = None
        self.sense = sense
        self.best: Found | None = None
        self.stopped = False
        self.shape: dict[str, Any] = first.shape
        self.maker = threading.Thread(target=self._make, args=(make_second,), name="make-engine", daemon=True)

    def _make(self, make_second: Callable[[], Engine]) -> None:
        start = time.monotonic()
        try:
            second = make_second()
            log.info("%s engine: %.2f s, beside the search", second.name, time.monotonic() - start)
            self.second = second
        except EngineError as error:
            log.info("no GPU engine: %s", error)
        except Exception as error:  # a fault, but none that should cost the user the answer of the first
            log.warning("the GPU engine cannot be made, the CPU engine goes on: %s: %s", type(error).__name__, error)

    @property
    def name(self) -> str:
        return self.engine.name

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
        if self.engine.running:
            return True
        expected = self.maker.is_alive() or self.second is not None  # in this order: it is set before the thread ends
        return self.engine is self.first and expected and not (self.stopped or self.first.complete)

    def poll(self) -> list[Found]:
        found = self._collect()
        if self.second is not None and self.engine is self.first and not self.stopped:
            if self.first.running:
                self.first.stop()
            else:
                found += self._collect()  # what came between the last look and the end
                if not self.first.complete:
                    self._hand_over(self.second)
        return found

    def _collect(self) -> list[Found]:
        found = self.engine.poll()
        for solution in found if self.sense else ():
            if self.best is None or self.sense * solution.objective < self.sense * self.best.objective:
                self.best = solution
        return found

    def _hand_over(self, second: Engine) -> None:
        seconds = time.monotonic() - self.began
        log.info("hand-over: %.2f s after the start of the search, the %s goes on", seconds, second.name.upper())
        self.engine = second
        self.shape = {**self.shape, **second.shape, "handoverTime": seconds}
        second.start(self.best)

    @property
    def complete(self) -> bool:
        return self.engine.complete

    @property
    def bound(self) -> int:
        """What either has proved holds for all solutions."""
        return max(self.first.bound, self.engine.bound)

    @property
    def open_work(self) -> int:
        return self.engine.open_work

    def methods(self) -> dict[str, float]:
        """Of the engine that was at work last."""
        return self.engine.methods()

    def stop(self) -> None:
        self.stopped = True
        self.engine.stop()

    def statistics(self) -> dict[str, int]:
        """Of both engines, as of the blocks of one."""
        counted = self.first.statistics()
        if self.engine is not self.first:
            for name, count in self.engine.statistics().items():
                counted[name] = max(counted[name], count) if name in MAXIMA else counted[name] + count
        return counted

    def close(self) -> None:
        """Waits until the second engine is made, if that is under way: what it holds is to be given back."""
        self.stopped = True
        self.first.close()
        if self.maker.ident is not None:
            self.maker.join()
        if self.second is not None:
            self.second.close()
