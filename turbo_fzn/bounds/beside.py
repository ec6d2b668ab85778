"""The relaxation at work, in a thread beside the search: what it proves of the objective, while it proves it.

First the linear program of the root, then cuts in rounds while its bound moves, then branch and bound. Whoever drives
the search tells the objective of each better solution, and asks for the bound. Bounds of columns are narrowed by each
better solution (reduced-cost fixing), so what is proved from then on is about solutions that are better; of all
solutions it is the lesser of the two that holds, and that is what is told.
"""

from __future__ import annotations

import logging
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

import numpy as np

from turbo_fzn import floats
from turbo_fzn.bounds.listener import NO_SOLUTION, Store
from turbo_fzn.bounds.relaxation import Relaxation
from turbo_fzn.domains import INFINITY
from turbo_fzn.tnf.language import TNF

if TYPE_CHECKING:
    from turbo_fzn.bounds.root import Root

log = logging.getLogger("turbo_fzn")

HEAD_START_SECONDS = 0.05  # what is solved by then waits for no linear program, nor for its library to be imported
LOOK_SECONDS = 0.002  # between two looks whether it is over meanwhile: who ends the search waits for as long
END_SECONDS = 0.2
PATIENCE_SECONDS = 4.0  # of the thread, in branch and bound, at least
REST_SECONDS = 0.05
SUGGESTION_SECONDS = 0.1
HOPE = 20  # times as far as the bound has risen so far is as far as it is hoped to rise


class Boxes(Protocol):
    """What a relaxation does not say is left to propagation."""

    def attach(self, relaxation: Relaxation) -> None: ...

    def narrow(self, lower: np.ndarray, upper: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray] | None:
        """The bounds (int64 [columns]) that solutions in the box with sense * objective <= most have, and their truths;
        None where there are none but those that were found just now."""
        ...

    def take_best(self) -> int | None:
        """sense * objective of the best solution found since the last call."""
        ...

    def suggest(self, values: np.ndarray) -> None:
        """A point (float [columns]) that the relaxation would like."""
        ...


class RealBoxes(Protocol):
    """The same for boxes of all variables of a TNF."""

    def attach(self) -> None: ...

    def narrow(self, lower: np.ndarray, upper: np.ndarray, most: int) -> Store | None: ...

    def offer(self, lower: np.ndarray, upper: np.ndarray, point: np.ndarray, most: int) -> int | None:
        """sense * objective of the solution that is near the point, if one is."""
        ...


class _Divided(Protocol):
    """A branch and bound; `bound` is what is left to prove, None where nothing is."""

    n_nodes: int

    @property
    def bound(self) -> int | None: ...

    def can_rise(self) -> bool: ...

    def is_full(self) -> bool: ...

    def step(self) -> None: ...


class Bounder(ABC):
    """A thread that divides boxes with at most this share of the time, or as much as a processor has."""

    sense: int

    def __init__(self, share: float = 1):
        self.share = share
        self.bound = -NO_SOLUTION  # sense * objective of any solution is at least this
        self.best = NO_SOLUTION  # sense * objective of the best solution known
        self.telling = threading.Lock()
        self.stopped = False
        self.n_nodes = self.n_cuts = 0
        self.fault: Exception | None = None
        self.thread = threading.Thread(target=self._begin, name="relaxation", daemon=True)

    def start(self) -> None:
        """Once, however often it is called."""
        if self.thread.ident is not None:
            return
        try:
            self.thread.start()
        except RuntimeError as error:
            log.info("no bounds from relaxations: %s", error)

    def tell(self, best: int) -> None:
        """sense * objective of a solution; by this thread, or by whoever drives the search."""
        with self.telling:
            self.best = min(self.best, best)

    def stop(self) -> None:
        """Also in a signal handler. The thread looks up between its steps, and a linear program at its next iteration;
        an exception thrown into the thread would end the process where HiGHS has called back."""
        self.stopped = True

    def join(self) -> None:
        """Waits a moment: a linear program looks up between its iterations, but not before the first."""
        if self.thread.ident is not None:  # else the search has failed before
            self.thread.join(END_SECONDS)

    def _begin(self) -> None:
        begin = time.monotonic() + HEAD_START_SECONDS
        while not self.stopped and time.monotonic() < begin:  # no lock: a signal handler may say stop
            time.sleep(LOOK_SECONDS)
        if not self.stopped:
            self.run()

    def now(self) -> float:
        """Seconds, from some moment on."""
        return time.monotonic()

    def work_time(self) -> float:
        """Seconds of work of the thread."""
        return time.thread_time()

    def account(self, seconds: float) -> None:
        """So much was done, counted and not measured. Where clocks tell, nobody wants to know; see turns.py."""
        return

    @abstractmethod
    def work(self) -> None:
        """Bounds, until there are no more or none is wanted."""

    def run(self) -> None:
        """What the thread does, to its end."""
        try:
            self.began, self.worked = self.now(), self.work_time()
            self.work()
        except ImportError as error:
            log.info("no bounds from relaxations: %s", error)
        except Exception as error:  # a fault, but none that should cost the user the answer of the search
            self.fault = error
            log.warning("the relaxation ends, the search goes on: %s: %s", type(error).__name__, error)

    def divide(self, tree: _Divided) -> None:
        """Steps of a branch and bound, until it is done or not worth it."""
        self.first, self.divided = self.bound, self.work_time()
        while not self.is_done() and tree.can_rise() and not tree.is_full() and not self.is_hopeless():
            tree.step()
            self.rest()
            self.n_nodes = tree.n_nodes
            self.publish(NO_SOLUTION if tree.bound is None else tree.bound)

    def rest(self) -> None:
        """Leaves the processor to the search for as long as the share asks for."""
        while not self.stopped and self.work_time() - self.worked > self.share * (self.now() - self.began):
            time.sleep(REST_SECONDS)

    def is_hopeless(self) -> bool:
        """Whether dividing would take many times as long as it has taken: a thread is worth more to the search then."""
        risen, missing = self.bound - self.first, self.best - self.bound
        seconds = self.work_time() - self.divided
        return seconds > PATIENCE_SECONDS and self.best < NO_SOLUTION and missing > HOPE * risen

    def publish(self, bound: int) -> None:
        """Solutions that are better than the best known have at least this."""
        self.bound = max(self.bound, min(bound, self.best))

    def is_done(self) -> bool:
        return self.stopped or self.bound >= self.best

    def meaning(self, bound: int) -> float:
        """The objective of this sense * objective."""
        return self.sense * bound

    def say(self, what: str) -> None:
        seconds = self.now() - self.began
        counts = self.n_cuts, self.n_nodes
        log.info("%s: %.2f s, bound %s, %d cuts, %d nodes", what, seconds, self.meaning(self.bound), *counts)


class Beside(Bounder):
    """`make` gives the relaxation, or None where there is none to speak of; `boxes` narrows boxes of it by propagation.
    Both are called in the thread."""

    def __init__(self, make: Callable[[], Relaxation | None], boxes: Boxes, share: float = 1):
        super().__init__(share)
        self.make, self.boxes = make, boxes
        self.suggested = -np.inf  # when

    def work(self) -> None:
        relaxation = self.make()
        if relaxation is None or self.stopped:
            return
        from turbo_fzn.bounds.root import Root

        self.sense = relaxation.sense
        self.boxes.attach(relaxation)
        root = Root(relaxation, self)
        root.settle()
        self.say("relaxation")
        root.cut()
        self.n_cuts = root.n_cuts
        self.say("relaxation with cuts")
        if not self.is_done():
            self.search(root)
        self.say("relaxation ends")

    def search(self, root: Root) -> None:
        from turbo_fzn.bounds.tree import Node, Tree

        tree = Tree(root.relaxation, root.program, root.certifier, self)
        tree.lower, tree.upper = root.lower, root.upper
        tree.push(Node(root.bound, (), None))
        self.divide(tree)

    def narrow(self, lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """The bounds of better solutions in a box; None where there are none. What is found on the way is told."""
        narrower = self.boxes.narrow(lower, upper, min(self.best - 1, INFINITY))
        found = self.boxes.take_best()
        if found is not None:
            self.tell(found)
        return narrower

    def suggest(self, values: np.ndarray) -> None:
        """The point (float [n]) of a linear program: the search may try it, now and then."""
        now = self.now()
        if now - self.suggested > SUGGESTION_SECONDS:
            self.suggested = now
            self.boxes.suggest(values)

    def offer(self, relaxation: Relaxation, values: np.ndarray) -> None:
        """An integral point (float [n]) of the relaxation: it may be a solution."""
        if float(np.abs(values).max()) < INFINITY:
            point = np.rint(values).astype(np.int64)
            if np.all((relaxation.lower <= point) & (point <= relaxation.upper)):
                self.narrow(point, point)


class RealBeside(Bounder):
    """The same for a TNF with real variables: branch and bound over its boxes (spatial.py). All bounds and objectives
    are as in its store; `tell` wants the least sense * objective that is of no use any more."""

    def __init__(self, tnf: TNF, boxes: RealBoxes, share: float = 1):
        super().__init__(share)
        self.tnf, self.boxes, self.sense = tnf, boxes, tnf.sense

    def work(self) -> None:
        from turbo_fzn.bounds.spatial import Tree

        self.boxes.attach()
        tree = Tree(self.tnf, self)
        self.divide(tree)
        self.say("relaxation ends")

    def narrow(self, lower: np.ndarray, upper: np.ndarray) -> Store | None:
        return self.boxes.narrow(lower, upper, self.most())

    def offer(self, lower: np.ndarray, upper: np.ndarray, point: np.ndarray) -> None:
        value = self.boxes.offer(lower, upper, point, self.most())
        if value is not None:
            self.tell(self.tnf.sense * self.tnf.better_than(self.tnf.sense * value) + 1)

    def meaning(self, bound: int) -> float:
        code = int(np.clip(self.sense * bound, -INFINITY, INFINITY))
        return floats.number(code) if self.tnf.has_real_objective else self.sense * bound

    def most(self) -> int:
        return min(self.best - 1, INFINITY)
