"""A team: engines that search one model at the same time and exchange solutions and bounds.

The first member works from the start; the others join when they are ready (maker.py); all are driven alike, whatever
their kind. With `--arch auto` the first is the CPU engine, and the GPU engine joins it. The first searches to its end
independently of the others: the answer comes no later than from the first alone. Several GPUs work from the start, and
share one tree (tree.py).

Members exchange values that only improve, so their time, order and repetition do not matter: the best solution, with
its values, as soon as it is found; and at intervals the proved bound of the objective and the root bounds of all
variables. All proofs stay valid:

* Each member begins at the root. The space is searched when a member has searched all of it. If they share a tree, it
  is searched when the tree is exhausted and all members have published their solutions.
* Optimisation: a solution is sent to the other members, or to a joining member, only in the call of `poll` that returns
  it. So a member's proof that there is no better solution is about a solution that the caller has. (If solutions lack
  some of their values, no solution is sent, and the search drops solutions that are no improvement.)
* A bound of the objective that a member has proved holds for all solutions, so for all members.
* Root bounds may exclude solutions that are no better than the best solution known to the member that proved them. So
  they are passed on only after a solution as good has been returned and sent to all. docs/design/correctness.md has the
  argument.
* Satisfaction: a member finds solutions of others again. If all solutions are wanted, repetitions are dropped, since
  blocks of one engine may repeat each other, too (answers.Distinct).
* A member that fails is left out from then on. Solutions that it had published are returned: the search checks them
  like all others.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from turbo_fzn.base.errors import EngineError
from turbo_fzn.engine.abi.abi import NO_INCUMBENT
from turbo_fzn.engine.contract import MAXIMA, Engine, Found, Inequality, Roots, no_books
from turbo_fzn.engine.together.member import Dispensable, Joining, Member
from turbo_fzn.engine.together.tree import SharedTree
from turbo_fzn.engine.tuning import TUNING

log = logging.getLogger("turbo_fzn")


class Team:
    """Drives `first`, and the engines that `makers` return, which are called in threads. See contract.Engine.

    If `first` is several engines, they share a tree, and all but the last may fail. `sense`: 1 to minimise, -1 to
    maximise, 0 to satisfy.
    """

    repeats = True  # a member may find a solution of another member again

    def __init__(self, first: Engine | Sequence[Engine], makers: Sequence[Callable[[], Engine]], sense: int):
        self.tree: SharedTree | None = None
        if isinstance(first, Sequence):
            self.core: list[Member] = [Dispensable(engine) for engine in first]
            self.tree = SharedTree(self.core)
        else:
            self.core = [Member(first)]
        self.others = [Joining(make) for make in makers]
        self.members = [*self.core, *self.others]
        self.sense = sense
        self.best: Found | None = None
        self.raised = -NO_INCUMBENT  # the best proved bound of the objective
        self.known: Roots | None = None  # the root bounds passed on, for solutions better than the best
        self.has_news = False  # whether `known` has changed since the last call of `roots`
        self.stopped = False
        self.next_exchange = 0.0

    def _at_work(self) -> list[Engine]:
        return [member.engine for member in self.members if member.engine is not None]

    @property
    def name(self) -> str:
        return "+".join(engine.name for engine in self._at_work()) or "team"  # "team": all have failed

    @property
    def shape(self) -> dict[str, Any]:
        """The shape of the members that have joined, or if there are none, of the members that work from the start."""
        shape: dict[str, Any] = {}
        for other in self.others:
            if other.engine is not None:
                shape |= other.engine.shape | {"joinTime": other.joined}
        if shape:
            return shape | {"nodesBy": self._nodes_by()}
        for member in self.core:
            blocks = shape.get("blocks", 0)
            shape |= member.ask(lambda engine: engine.shape, {"blocks": 0})
            shape["blocks"] += blocks
        return shape if self.tree is None else {**shape, "parcels": self.tree.ledger.sent}

    def _nodes_by(self) -> str:
        """The number of nodes of each member, such as "cpu 120, gpu 4500"."""
        at_work = [member for member in self.members if member.engine is not None]
        told = [member.ask(lambda engine: f"{engine.name} {engine.statistics()['nodes']}", "") for member in at_work]
        return ", ".join(filter(None, told))

    def start(self, incumbent: Found | None = None) -> None:
        """Starts the members of the core, and the threads that make the others."""
        self.began = time.monotonic()
        self.best = incumbent
        for member in self.core:
            member.ask(lambda engine: engine.start(incumbent), None)
        for other in self.others:
            other.maker.start()

    @property
    def running(self) -> bool:
        """Whether a member is running, or may still join after the first has given up. Raises EngineError if all have
        failed."""
        running = [member.ask(lambda engine: engine.running, False) for member in self.members]
        if not self._at_work():
            raise EngineError("all of them have failed")
        return any(running) or (self._has_room() and any(other.is_expected for other in self.others))

    def _has_room(self) -> bool:
        """Whether a member may still join."""
        return not (self.stopped or any(member.ask(lambda engine: engine.complete, False) for member in self.core))

    def poll(self) -> list[Found]:
        """The solutions of all members; exchanges solutions, and at intervals bounds, between them."""
        began = time.monotonic()
        exchanges = began >= self.next_exchange and len(self._at_work()) > 1
        if exchanges:
            self._hear_roots()
        before, finder = self.best, None
        arrived: list[Found] = []
        for member in self.members:
            engine, best = member.engine, self.best
            arrived += self._note(member.take())
            finder = finder if self.best is best else engine
            if member is self.core[-1]:
                self._let_join()
        if self.best is not None and self.best is not before:
            self._tell_best(self.best, finder)
        if self.tree is not None and not self.stopped:
            self.tree.exchange(NO_INCUMBENT if self.best is None else self.sense * self.best.objective)
            if any(member.ask(lambda engine: engine.complete, False) for member in self.core):
                self.stop()  # a bound ended the search, or all members
        if exchanges:
            self._tell_bound()
            self._tell_roots()
            spent = time.monotonic() - began
            self.next_exchange = began + max(TUNING.exchange_seconds, spent / TUNING.exchange_share)
        return arrived

    def _note(self, arrived: list[Found]) -> list[Found]:
        """Returns the solutions that have arrived, and records the best of them."""
        for solution in arrived if self.sense else ():
            if self.best is None or self.sense * solution.objective < self.sense * self.best.objective:
                self.best = solution
        return arrived

    def _let_join(self) -> None:
        """Starts the engines that are ready, with the best solution and the bounds known so far."""
        for other in self.others:
            engine = other.maker.engine
            if engine is None or other.joined is not None or not self._has_room():
                continue
            other.joined, other.engine = time.monotonic() - self.began, engine
            other.ask(lambda engine: engine.start(self.best), None)
            if self.raised > -NO_INCUMBENT:
                other.ask(lambda engine: engine.raise_bound(self.raised), None)
            if self.known is not None:
                other.tighten(self.known)
            if other.engine is not None:
                log.info("%.2f s after the start of the search the %s has joined it", other.joined, engine.name.upper())

    def _tell_best(self, best: Found, finder: Engine | None) -> None:
        for member in self.members:
            if member.engine is not finder:
                member.ask(lambda engine: engine.adopt(best), None)

    def _tell_bound(self) -> None:
        if self.sense == 0:
            return
        proved = [member.ask(lambda engine: engine.bound, self.raised) for member in self.members]
        self.raised = max(self.raised, *proved)
        for member, bound in zip(self.members, proved):
            if bound < self.raised:
                member.ask(lambda engine: engine.raise_bound(self.raised), None)

    def _hear_roots(self) -> None:
        """Collects the members' root bounds; called before `poll`, which mostly returns the solution that they
        require."""
        for member in self.members:
            member.roots = member.ask(lambda engine: engine.roots(), None) or member.roots

    def _tell_roots(self) -> None:
        """Passes on the root bounds that exclude only solutions no better than a solution that the caller has."""
        have = NO_INCUMBENT if self.best is None else self.sense * self.best.objective
        for teller in self.members:
            if teller.roots is None or have > teller.roots.under:
                continue
            self.known, teller.roots = teller.roots.joined(self.known), None
            self.has_news = True
            for member in self.members:
                if member is not teller:
                    member.tighten(self.known)

    @property
    def complete(self) -> bool:
        """Whether the whole space was searched; for a shared tree, also that all members have published their
        solutions."""
        if self.tree is not None and any(member.ask(lambda engine: engine.running, False) for member in self.core):
            return False
        return any(member.ask(lambda engine: engine.complete, False) for member in self.members)

    @property
    def bound(self) -> int:
        """The best bound of all members."""
        return max(member.ask(lambda engine: engine.bound, -NO_INCUMBENT) for member in self.members)

    @property
    def prover(self) -> str:
        """The prover that a member names; a member that received the proof from another names none."""
        return next(filter(None, (member.ask(lambda engine: engine.prover, "") for member in self.members)), "")

    @property
    def open_work(self) -> int:
        return sum(member.ask(lambda engine: engine.open_work, 0) for member in self.members)

    def adopt(self, found: Found) -> None:
        self._note([found])
        for member in self.members:
            member.ask(lambda engine: engine.adopt(found), None)

    def suggest(self, values: np.ndarray) -> None:
        for member in self.members:
            member.ask(lambda engine: engine.suggest(values), None)

    def post(self, row: Inequality) -> None:
        for member in self.members:
            member.ask(lambda engine: engine.post(row), None)

    def raise_bound(self, bound: int) -> None:
        self.raised = max(self.raised, bound)
        for member in self.members:
            member.ask(lambda engine: engine.raise_bound(bound), None)

    def roots(self) -> Roots | None:
        """All root bounds passed on so far, or None without new bounds since the last call."""
        news, self.has_news = self.has_news, False
        return self.known if news else None

    def tighten(self, roots: Roots) -> None:
        self.known = roots.joined(self.known)
        for member in self.members:
            member.tighten(self.known)

    def stop(self) -> None:
        self.stopped = True
        for member in self.members:
            member.ask(lambda engine: engine.stop(), None)

    def halt(self) -> None:
        for engine in self._at_work():
            engine.halt()

    def methods(self) -> np.ndarray:
        """The use of the methods by all members together."""
        books = [member.ask(lambda engine: engine.methods(), no_books()) for member in self.members]
        return np.sum(books, axis=0)

    def statistics(self) -> dict[str, int]:
        """The counts of all members together: sums, but maxima for MAXIMA."""
        counted: dict[str, int] = {}
        for member in self.members:
            for name, count in member.ask(lambda engine: engine.statistics(), dict[str, int]()).items():
                before = counted.get(name, 0)
                counted[name] = max(before, count) if name in MAXIMA else before + count
        return counted

    def close(self) -> None:
        """Does not wait for an engine that is still being made."""
        self.stopped = True
        for member in self.members:
            member.close()
