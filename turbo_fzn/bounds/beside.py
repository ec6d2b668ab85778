"""The relaxation at work, in a thread beside the search: what it proves of the objective, while it proves it.

First the linear program of the root, then cuts in rounds while its bound moves, then branch and bound. Whoever drives the
search tells the objective of each better solution, and asks for the bound. Bounds of columns are narrowed by each better
solution (reduced-cost fixing), so what is proved from then on is about solutions that are better; of all solutions it is
the lesser of the two that holds, and that is what is told.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from turbo_fzn.bounds.relaxation import Relaxation
from turbo_fzn.domains import INFINITY

if TYPE_CHECKING:
    from turbo_fzn.bounds.root import Root

log = logging.getLogger("turbo_fzn")

Complete = Callable[[Relaxation, np.ndarray], "int | None"]  # sense * objective of the solution of a point, or None

NO_SOLUTION = 2**63 - 1  # a bound that nothing is above
PATIENCE_SECONDS = 10.0  # and half of the time so far: after so long without a better bound the thread ends


class Beside:
    """`make` gives the relaxation, or None where there is none to speak of; `complete` tries to make a solution of an
    integral point of it. Both are called in the thread."""

    def __init__(self, make: Callable[[], Relaxation | None], complete: Complete):
        self.make, self.complete = make, complete
        self.bound = -NO_SOLUTION  # sense * objective of any solution is at least this
        self.best = NO_SOLUTION  # sense * objective of the best solution known
        self.stopped = False
        self.spent = 0.0  # seconds, on points
        self.n_nodes = self.n_cuts = 0
        self.fault: Exception | None = None
        self.thread = threading.Thread(target=self.run, name="relaxation", daemon=True)

    def start(self) -> None:
        self.thread.start()

    def tell(self, best: int) -> None:
        """sense * objective of a solution."""
        self.best = min(self.best, best)

    def stop(self) -> None:
        self.stopped = True

    def join(self) -> None:
        self.thread.join()

    def run(self) -> None:
        """What the thread does, to its end."""
        try:
            relaxation = self.make()
            if relaxation is not None and not self.stopped:
                self._work(relaxation)
        except ImportError as error:
            log.info("no bounds from relaxations: %s", error)
        except Exception as error:  # a fault, but none that should cost the user the answer of the search
            self.fault = error
            log.warning("the relaxation ends, the search goes on: %s: %s", type(error).__name__, error)

    def _work(self, relaxation: Relaxation) -> None:
        from turbo_fzn.bounds.root import Root

        self.began, self.sense = time.monotonic(), relaxation.sense
        root = Root(relaxation, self)
        root.settle()
        self.say("relaxation")
        root.cut()
        self.say("relaxation with cuts")
        if not self.is_done():
            self.search(root)
        self.say("relaxation ends")

    def search(self, root: Root) -> None:
        from turbo_fzn.bounds.tree import Node, Tree

        tree = Tree(root.relaxation, root.program, root.certifier, self)
        tree.lower, tree.upper = root.lower, root.upper
        tree.push(Node(root.bound, (), None))
        moved, bound = time.monotonic(), self.bound
        while not self.is_done() and tree.can_rise() and not tree.is_full():
            tree.step()
            self.n_nodes = tree.n_nodes
            self.publish(NO_SOLUTION if tree.bound is None else tree.bound)
            now = time.monotonic()
            if self.bound > bound:
                moved, bound = now, self.bound
            elif now - moved > PATIENCE_SECONDS + (now - self.began) / 2:
                return

    def offer(self, relaxation: Relaxation, values: np.ndarray) -> None:
        """An integral point (float [n]) of the relaxation: it may be a solution."""
        if float(np.abs(values).max()) >= INFINITY:
            return
        point = np.rint(values).astype(np.int64)
        if relaxation.sense * int(point[relaxation.objective]) < self.best and self.spent < self.allowance():
            began = time.monotonic()
            objective = self.complete(relaxation, point)
            self.spent += time.monotonic() - began
            if objective is not None:
                self.tell(objective)

    def allowance(self) -> float:
        """Seconds that points may have been tried for by now."""
        return 0.2 + (time.monotonic() - self.began) / 5

    def publish(self, bound: int) -> None:
        """Solutions that are better than the best known have at least this."""
        self.bound = max(self.bound, min(bound, self.best))

    def is_done(self) -> bool:
        return self.stopped or self.bound >= self.best

    def say(self, what: str) -> None:
        seconds = time.monotonic() - self.began
        counts = self.n_cuts, self.n_nodes
        log.info("%s: %.2f s, bound %d, %d cuts, %d nodes", what, seconds, self.sense * self.bound, *counts)
