"""A thread beside the search that proves bounds of the objective by a relaxation.

It solves the linear program of the root, then adds cuts in rounds while the bound moves, then does branch and bound.
Beside a large tree, and when no bound is left to prove, it looks for solutions near the best solution (sub_mip.py). The
driver of the search passes it the objective of each better solution, and reads the proved bound. Each better solution
narrows the bounds of the columns (reduced-cost fixing), so a later proof is about better solutions only. The published
bound holds for all solutions: it is the lesser of the proved bound and the best objective.
"""

from __future__ import annotations

import atexit
import logging
import threading
import time
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Protocol

import numpy as np

from turbo_fzn.base import floats
from turbo_fzn.base.domains import INFINITY
from turbo_fzn.bounds.lp.relaxation import LinearRows, Relaxation
from turbo_fzn.bounds.prove.reasons import reason_of
from turbo_fzn.bounds.search.listener import NO_SOLUTION, Store
from turbo_fzn.bounds.thread.boxes import Boxes, RealBoxes
from turbo_fzn.bounds.thread.tuning import TUNING
from turbo_fzn.tnf.language import TNF

if TYPE_CHECKING:
    from turbo_fzn.bounds.search.root import Root
    from turbo_fzn.bounds.search.sub_mip import Near
    from turbo_fzn.bounds.search.tree import Tree

log = logging.getLogger("turbo_fzn")


def _nothing() -> None:
    """A callback that does nothing: branch and bound without further cuts."""


class _Divided(Protocol):
    """A branch and bound; `bound` is the least bound of its open nodes, None without open nodes."""

    n_nodes: int
    probing: float  # seconds spent on probes of what to divide

    @property
    def bound(self) -> int | None: ...

    def can_rise(self) -> bool: ...

    def is_full(self) -> bool: ...

    def step(self) -> None: ...


_begun: weakref.WeakSet[Bounder] = weakref.WeakSet()


@atexit.register
def _end_all() -> None:
    """Ends the threads before the interpreter ends, which would unwind a thread in a callback of HiGHS through C++
    code: that aborts the process. The command leaves otherwise (process/leaving.py)."""
    last = time.monotonic() + TUNING.last_seconds
    bounders = [bounder for bounder in _begun if bounder.thread.is_alive()]  # none in a child
    for bounder in bounders:
        bounder.stop()
    for bounder in bounders:
        bounder.thread.join(max(last - time.monotonic(), 0))


class Bounder(ABC):
    """A thread that proves bounds with at most `share` of a processor's time."""

    sense: int

    def __init__(self, share: float = 1):
        self.share = share
        self.bound = -NO_SOLUTION  # sense * objective of any solution is at least this
        self.best = NO_SOLUTION  # sense * objective of the best solution known
        self.telling = threading.Lock()
        self.stopped = False
        self.n_nodes = self.n_cuts = 0
        self.n_rays = self.n_refused = 0  # rays of infeasible programs; rays that are no exact proof
        self.fault: Exception | None = None
        self.thread = threading.Thread(target=self._begin, name="relaxation", daemon=True)

    def start(self) -> None:
        """Starts the thread; further calls do nothing."""
        if self.thread.ident is not None:
            return
        _begun.add(self)
        try:
            self.thread.start()
        except RuntimeError as error:
            log.info("no bounds from relaxations: %s", error)

    def tell(self, best: int) -> None:
        """Takes sense * objective of a solution, from this thread or from the driver of the search."""
        with self.telling:
            self.best = min(self.best, best)

    def stop(self) -> None:
        """Asks the thread to end; may be called in a signal handler. The thread checks the request between its steps, a
        linear program at each iteration, an integer program now and then; an exception raised in the thread would end
        the process inside HiGHS's callback."""
        self.stopped = True

    def join(self) -> None:
        """Waits at most `end_seconds`: a linear program does not check the request before its first iteration."""
        if self.thread.ident is not None:  # else the search has failed before the start
            self.thread.join(TUNING.end_seconds)

    def _begin(self) -> None:
        begin = time.monotonic() + TUNING.head_start_seconds
        while not self.stopped and time.monotonic() < begin:  # no lock: a signal handler may call `stop`
            time.sleep(TUNING.look_seconds)
        if not self.stopped:
            self.run(stays=True)

    def now(self) -> float:
        """Seconds since a fixed moment."""
        return time.monotonic()

    def work_time(self) -> float:
        """Seconds of processor time that the thread has used."""
        return time.thread_time()

    def account(self, seconds: float) -> None:
        """Takes an estimate of the work done, in seconds. Ignored here, where clocks measure it; turns.py uses it."""
        return

    @abstractmethod
    def work(self) -> None:
        """Proves bounds until none is left to prove or the thread is asked to end."""

    def stay(self) -> None:
        """Works beside the search when no bound is left to prove; does nothing here."""
        return

    def run(self, *, stays: bool = False) -> None:
        """The body of the thread. A fault ends the thread only; the search goes on without its bounds. `stays`: until
        the search ends."""
        try:
            self.began, self.worked = self.now(), self.work_time()
            self.work()
            if stays:
                self.stay()
        except ImportError as error:
            log.info("no bounds from relaxations: %s", error)
        except Exception as error:  # the search can give its answer without the relaxation
            self.fault = error
            log.warning("the relaxation ends, the search goes on: %s: %s", type(error).__name__, error)

    def divide(self, tree: _Divided, at_length: Callable[[], None] = _nothing) -> None:
        """Runs the steps of a branch and bound until it is done, full or hopeless. `at_length` is called once, after
        the first `small_tree` nodes or `small_tree_seconds`."""
        self.first, self.divided = self.bound, self.work_time()
        while not self.is_done() and tree.can_rise() and not tree.is_full() and not self.is_hopeless(tree.probing):
            if tree.n_nodes >= TUNING.small_tree or self.work_time() - self.divided > TUNING.small_tree_seconds:
                before = self.work_time()
                at_length()
                at_length = _nothing
                self.look_aside()
                self.divided += self.work_time() - before  # this time was not spent on nodes
            tree.step()
            self.rest()
            self.n_nodes = tree.n_nodes
            self.publish(NO_SOLUTION if tree.bound is None else tree.bound)

    def look_aside(self) -> None:
        """Works beside a tree that is not small; does nothing here."""
        return

    def rest(self) -> None:
        """Sleeps until the thread has used no more than its share of the time."""
        while not self.stopped and self.work_time() - self.worked > self.share * (self.now() - self.began):
            time.sleep(TUNING.rest_seconds)

    def is_hopeless(self, probing: float) -> bool:
        """Whether the bound rises so slowly that the processor is of more use to the search. Seconds of probes do not
        count, up to a limit: most are spent at the first nodes, for the benefit of the later nodes."""
        seconds = self.work_time() - self.divided - min(probing, TUNING.free_probing_seconds)
        return seconds > TUNING.tree_seconds and self.rises_slowly()

    def rises_slowly(self) -> bool:
        """Whether the bound of branch and bound is not expected to reach the best solution."""
        return self.best < NO_SOLUTION and self.best - self.bound > TUNING.hope * (self.bound - self.first)

    def publish(self, bound: int) -> None:
        """Takes a bound of sense * objective that holds for all solutions better than the best known."""
        self.bound = max(self.bound, min(bound, self.best))

    def is_done(self) -> bool:
        return self.stopped or self.bound >= self.best

    def meaning(self, bound: int) -> float:
        """The objective, in the model's units, whose sense * objective is `bound`."""
        return self.sense * bound

    def count_ray(self, is_proof: bool) -> None:
        self.n_rays += 1
        self.n_refused += not is_proof

    def say(self, what: str) -> None:
        seconds = self.now() - self.began
        counts = self.n_cuts, self.n_nodes
        log.info("%s: %.2f s, bound %s, %d cuts, %d nodes", what, seconds, self.meaning(self.bound), *counts)


class Beside(Bounder):
    """The thread for the linear relaxation of integers.

    `make` returns the relaxation, or None where there is none; `boxes` narrows boxes of its columns by propagation.
    Both are called in the thread."""

    def __init__(self, make: Callable[[], Relaxation | None], boxes: Boxes, share: float = 1):
        super().__init__(share)
        self.make, self.boxes = make, boxes
        self.suggested = self.reasoned = -np.inf  # times of the last suggestion and reason, in seconds
        self.n_found = 0  # solutions by propagation in boxes
        self.near: Near | None = None

    def work(self) -> None:
        """Makes the relaxation, solves and cuts its root, then runs branch and bound."""
        relaxation = self.make()
        if relaxation is None or self.stopped:
            return
        from turbo_fzn.bounds.search.root import Root

        self.sense = relaxation.sense
        self.boxes.attach(relaxation)
        root = Root(relaxation, self)
        root.settle()
        self.say("relaxation")
        root.cut()
        self.n_cuts = root.n_cuts
        self.say("relaxation with cuts")
        root.give_reasons()
        self.near = self.programs_near(root)
        if not self.is_done():
            self.search(root)
        self.say("relaxation ends")

    def programs_near(self, root: Root) -> Near | None:
        """Programs near solutions; None unless the relaxation has all of its time, since a program takes seconds."""
        from turbo_fzn.bounds.search.sub_mip import Near

        near = Near(root, self)
        return near if self.share == 1 and near.is_worth_it() else None

    def search(self, root: Root) -> None:
        """Runs branch and bound from the root."""
        from turbo_fzn.bounds.search.tree import Node, Tree

        tree = Tree(root.relaxation, root.program, root.certifier, self)
        tree.lower, tree.upper = root.lower, root.upper
        tree.push(Node(root.bound, (), None))
        self.divide(tree, partial(self.cut_deeper, root, tree))
        self.n_cuts = root.n_cuts + tree.n_cuts

    def look_aside(self) -> None:
        if self.near is not None and self.near.is_due() and (self.boxes.has_point() or self.rises_slowly()):
            self.near.look_again()

    def stay(self) -> None:
        """Looks for solutions near the best solution until the search ends."""
        while self.near is not None and not self.is_done():
            if self.near.is_due():
                self.near.look_again()
            self.rest()
            time.sleep(TUNING.rest_seconds)

    def take_point(self) -> Store | None:
        return self.boxes.take_point()

    def cut_deeper(self, root: Root, tree: Tree) -> None:
        """Adds cuts that take too long at the root, since the tree has become large."""
        assert tree.bound is not None  # else `can_rise` would be false
        root.cut_deeper(tree.certifier.rows, tree.bound)
        tree.certifier, tree.lower, tree.upper = root.certifier, root.lower, root.upper

    def narrow(self, lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """The bounds of better solutions in a box, None where it has none. Records a solution found on the way."""
        narrower = self.boxes.narrow(lower, upper, min(self.best - 1, INFINITY))
        found = self.boxes.take_best()
        if found is not None:
            self.n_found += 1
            self.tell(found)
        return narrower

    def suggest(self, values: np.ndarray) -> None:
        """Passes a linear program's point (float [n]) to the search, at most once in `suggestion_seconds`."""
        now = self.now()
        if now - self.suggested > TUNING.suggestion_seconds:
            self.suggested = now
            self.boxes.suggest(values)

    def wants_reason(self) -> bool:
        return self.now() - self.reasoned > TUNING.reason_seconds

    def reason(
        self, multipliers: np.ndarray, rows: LinearRows, lower: np.ndarray, upper: np.ndarray, name: str = ""
    ) -> None:
        """Passes the sum of rows to learners."""
        self.reasoned = self.now()
        reason = reason_of(multipliers, rows, lower, upper, self.boxes.learners)
        if reason is not None:
            self.boxes.post(reason, self.best, name)

    def offer(self, relaxation: Relaxation, values: np.ndarray) -> None:
        """Propagates an integral point (float [n]) of the relaxation, which may be a solution."""
        if float(np.abs(values).max()) < INFINITY:
            point = np.rint(values).astype(np.int64)
            if np.all((relaxation.lower <= point) & (point <= relaxation.upper)):
                self.narrow(point, point)


class RealBeside(Bounder):
    """The thread for a TNF with real variables: branch and bound over its boxes (spatial.py).

    Bounds and objectives are values of its store. `tell` takes the least sense * objective that is no improvement."""

    def __init__(self, tnf: TNF, boxes: RealBoxes, share: float = 1):
        super().__init__(share)
        self.tnf, self.boxes, self.sense = tnf, boxes, tnf.sense

    def work(self) -> None:
        """Runs branch and bound over boxes of all variables."""
        from turbo_fzn.bounds.search.spatial import SpatialTree

        self.boxes.attach()
        tree = SpatialTree(self.tnf, self)
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
