"""All ranks together as one engine: each rank has a team of engines, and all share the tree, solutions and bounds.

Rank 0 drives it for the search, which checks and prints; the other ranks drive their teams in serve.py. Each solution
goes to rank 0. The best solution so far, and bounds of the objective, go to all ranks: directly from the rank that has
found them, by a tree of messages, so that no rank is a bottleneck. Subproblems move between ranks (stealing.py), and
the census detects when none is left (census.py).

Proofs are those of a team (team.py), given by rank 0:

* Rank 0 adopts a solution of another rank in the call of `poll` that returns it, never earlier. So its own engines
  prove nothing about a solution that the caller does not have.
* The tree was searched as a whole when the census has found so, and every rank has reported its end: the report follows
  its last solution, and messages of a rank arrive in order. A rank that dies never reports.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from turbo_fzn.base.errors import EngineError
from turbo_fzn.engine.abi.abi import NO_INCUMBENT
from turbo_fzn.engine.contract import MAXIMA, Found, Inequality, Roots
from turbo_fzn.engine.together.team import Team
from turbo_fzn.engine.together.tree import SharedTree
from turbo_fzn.ranks.census import Census, Sum
from turbo_fzn.ranks.stealing import Stealing
from turbo_fzn.ranks.tuning import TUNING
from turbo_fzn.ranks.wire import Kind, Message, Wire, spread

log = logging.getLogger("turbo_fzn")


class News(NamedTuple):
    """A solution, or a bound of sense * objective, that the rank `origin` has found."""

    origin: int
    found: Found | None
    bound: int


class Ranks:
    """This rank's part of the engine, with a `team` that shares its tree. See contract.Engine."""

    repeats = True

    def __init__(self, team: Team, wire: Wire, clock: Callable[[], float] = time.monotonic):
        assert team.tree is not None
        self.team, self.wire, self.clock = team, wire, clock
        self.tree: SharedTree = team.tree
        self.tree.go_abroad(has_root=wire.rank == 0)
        self.sense = team.sense
        self.stealing = Stealing(wire, self.tree, clock)
        self.census = Census(wire, self._count, clock)
        self.best = NO_INCUMBENT  # sense * objective of the best solution sent to all
        self.told = -NO_INCUMBENT  # the best bound sent to all
        self.failed = False  # whether all engines of this rank have failed
        self.is_over = False  # whether rank 0 has ended the search
        self.proved = False  # without an objective: whether a rank has searched the whole space by itself
        self.whole: bool | None = None  # once the tree is exhausted: whether all of it was searched
        self.counted: dict[int, dict[str, int]] = {}  # the last statistics of the other ranks
        self.final: set[int] = set()  # the ranks that have reported their end
        self.lost: set[int] = set()  # the ranks that have no engine any more
        self.heard: dict[int, float] = {}
        self.missing: set[int] = set()
        self.next_sign = self.next_news = 0.0
        self.answers: dict[Kind, Callable[[Message], None]] = {
            Kind.STEAL: lambda message: self.stealing.on_steal(message.source),
            Kind.WORK: lambda message: self.stealing.on_work(message.payload),
            Kind.FOUND: lambda message: self.arrived.extend(message.payload),
            Kind.NEWS: self._on_news,
            Kind.COUNT: lambda message: self.census.on_count(),
            Kind.SUM: lambda message: self.census.on_sum(message.payload),
            Kind.SETTLE: lambda message: self._settle(message.payload),
            Kind.PROVED: self._on_proved,
            Kind.STOP: lambda message: self._end(),
            Kind.ALIVE: lambda message: self.counted.update({message.source: message.payload}),
            Kind.FINAL: self._on_final,
            Kind.LOST: self._on_lost,
        }
        self.arrived: list[Found] = []

    def _count(self) -> Sum:
        passive = self.tree.is_exhausted()
        return Sum(passive, self.stealing.sent, self.stealing.received, self.tree.is_balanced and not self.tree.gave_up)

    # ---- the engine

    @property
    def name(self) -> str:
        return f"{self.team.name} x {self.wire.size}"

    @property
    def shape(self) -> dict[str, Any]:
        return {**self.team.shape, "ranks": self.wire.size, "stolen": self.stealing.received}

    def start(self, incumbent: Found | None = None) -> None:
        self.heard = {rank: self.clock() for rank in range(self.wire.size) if rank != self.wire.rank}
        self.team.start(incumbent)

    @property
    def here(self) -> bool:
        """Whether engines of this rank are at work."""
        try:
            return not self.failed and self.team.running
        except EngineError as error:
            self.failed = True
            if self.wire.size == 1:
                raise
            if self.wire.rank:
                self.wire.send(Kind.LOST, 0, str(error))
            log.warning("rank %d has no engine any more, the others go on: %s", self.wire.rank, error)
            return False

    @property
    def running(self) -> bool:
        """Whether the search goes on; on rank 0, also while another rank has not reported its end. If no rank has an
        engine any more, all are stopped, and EngineError is raised once all have sent their solutions."""
        if self.here:
            return True
        if self.failed and self.whole is None and len(self.lost | self.missing) == self.wire.size - 1:
            self.stop()
            if self.lost <= self.final:
                raise EngineError("no rank has an engine any more")
        return len(self.final) < self.wire.size - 1

    @property
    def complete(self) -> bool:
        """Whether the whole space was searched; without a result of the census, by one rank or by a bound."""
        if self.whole is None:
            return self.proved or self._team_is_complete
        return self.whole and not self.running

    @property
    def _team_is_complete(self) -> bool:
        return not self.failed and self.team.complete

    def poll(self) -> list[Found]:
        """The solutions that have arrived; on rank 0 the solutions of all ranks, on other ranks an empty list: they are
        sent to rank 0."""
        self._note_failure()
        proves = self._proves()  # before the poll, so that no solution is missed
        own = self.team.poll()
        if self.wire.rank:
            if own:
                self.wire.send(Kind.FOUND, 0, own)
        else:
            self.arrived += own
        if proves:
            self.proved = True
            self.wire.send(Kind.PROVED, 0)
        self._tell_best(own)
        for message in self.wire.receive():
            self.heard[message.source] = self.clock()
            self.answers[message.kind](message)
        if not self.is_over:
            self._step()
        arrived, self.arrived = self.arrived, []
        self._adopt(arrived)
        return arrived

    def _proves(self) -> bool:
        """On other ranks than 0: whether the engines of this rank have searched the whole space, in a model without an
        objective. With an objective this is sent as a bound, since the solution may still be on its way to rank 0."""
        if self.wire.rank == 0 or self.sense or self.proved or self.whole is not None:
            return False
        return self._team_is_complete

    def _note_failure(self) -> None:
        """Reports once, if all engines of this rank have failed."""
        if not self.failed:
            _ = self.here

    def _step(self) -> None:
        self.stealing.step()
        self.census.step()
        if self.census.outcome is not None and self.whole is None:
            self._settle(self.census.outcome)
        self._tell_bound()
        self._give_sign()

    def _adopt(self, arrived: list[Found]) -> None:
        """On rank 0: passes the best of the solutions that `poll` returns to its own team."""
        for found in arrived if self.sense and not self.wire.rank else ():
            if self.team.best is None or self.sense * found.objective < self.sense * self.team.best.objective:
                self.team.adopt(found)

    def _tell_best(self, own: list[Found]) -> None:
        """Sends the best solution found here to all ranks, if it is better than the last solution sent."""
        if not self.sense or not own:
            return
        best = min(own, key=lambda found: self.sense * found.objective)
        if self.sense * best.objective < self.best:
            self.best = self.sense * best.objective
            spread(self.wire, Kind.NEWS, News(self.wire.rank, best, self.told), self.wire.rank)

    def _tell_bound(self) -> None:
        now = self.clock()
        if not self.sense or self.failed or now < self.next_news:
            return
        self.next_news = now + TUNING.news_seconds
        bound = self.team.bound
        if bound > self.told:
            self.told = bound
            spread(self.wire, Kind.NEWS, News(self.wire.rank, None, bound), self.wire.rank)

    def _on_news(self, message: Message) -> None:
        news: News = message.payload
        self.heard[news.origin] = self.clock()  # news of rank 0 reaches most ranks through others
        spread(self.wire, Kind.NEWS, news, news.origin)
        if news.bound > self.told:
            self.told = news.bound
            self.team.raise_bound(news.bound)
        if news.found is None or self.sense * news.found.objective >= self.best:
            return
        self.best = self.sense * news.found.objective
        if self.wire.rank:  # rank 0 gets the solution itself, by FOUND
            self.team.adopt(news.found)

    def _settle(self, whole: bool) -> None:
        self.whole = whole
        spread(self.wire, Kind.SETTLE, whole)
        self.tree.settle(whole)

    # ---- the end

    def stop(self) -> None:
        """Ends the search on all ranks; called on rank 0."""
        if not self.is_over:
            self._end()

    def halt(self) -> None:
        """Does nothing, since all ranks end together: a rank whose blocks have left would count as passive."""

    def _end(self) -> None:
        self.is_over = True
        spread(self.wire, Kind.STOP, None)
        self.team.stop()

    def report(self) -> None:
        """On other ranks than 0: reports the end to rank 0, after the engines have ended and all their solutions were
        sent."""
        self.wire.send(Kind.FINAL, 0, self.team.statistics())

    def _on_final(self, message: Message) -> None:
        self.final.add(message.source)
        self.counted[message.source] = message.payload

    def _on_proved(self, message: Message) -> None:
        self.proved = True

    def _on_lost(self, message: Message) -> None:
        self.lost.add(message.source)
        log.warning("rank %d has no engine any more, the others go on: %s", message.source, message.payload)

    def _give_sign(self) -> None:
        """Sends statistics to rank 0 as a heartbeat; on rank 0, logs the ranks that have been silent for long."""
        now = self.clock()
        if now < self.next_sign:
            return
        self.next_sign = now + TUNING.alive_seconds
        if self.wire.rank:
            self.wire.send(Kind.ALIVE, 0, self.team.statistics())
            return
        spread(self.wire, Kind.NEWS, News(0, None, self.told))
        silent = {rank for rank, heard in self.heard.items() if now - heard > TUNING.silence_seconds} - self.final
        for rank in sorted(silent - self.missing):
            log.warning("nothing is heard of rank %d: the search goes on, but cannot be complete without it", rank)
        self.missing |= silent

    # ---- delegated to the team

    @property
    def bound(self) -> int:
        return self.told if self.failed else max(self.told, self.team.bound)

    @property
    def prover(self) -> str:
        return self.team.prover

    @property
    def open_work(self) -> int:
        return self.team.open_work + len(self.tree.queue)

    def adopt(self, found: Found) -> None:
        self.team.adopt(found)
        self._tell_best([found])

    def suggest(self, values: np.ndarray) -> None:
        self.team.suggest(values)

    def post(self, row: Inequality) -> None:
        self.team.post(row)

    def raise_bound(self, bound: int) -> None:
        self.team.raise_bound(bound)

    def roots(self) -> Roots | None:
        return self.team.roots()

    def tighten(self, roots: Roots) -> None:
        self.team.tighten(roots)

    def methods(self) -> np.ndarray:
        return self.team.methods()

    def statistics(self) -> dict[str, int]:
        """The counts of all ranks together, as last reported: sums, but maxima for MAXIMA."""
        counted = self.team.statistics()
        for others in self.counted.values():
            for name, count in others.items():
                before = counted.get(name, 0)
                counted[name] = max(before, count) if name in MAXIMA else before + count
        return counted

    def close(self) -> None:
        self.stop()
        self.team.close()
