"""One search tree that several engines share by work sharing through the host.

Engines begin without work. The host has a `queue` of subproblems, at first the root alone, and gives them to engines
whose blocks wait. It refills the queue: it asks the engine with the most work for a few of its shallowest open
alternatives (parcels.py), which are its largest subproblems. So an engine without work gets a subproblem from the queue
at once, and does not wait for another engine.

The tree is exhausted when the queue is empty and every engine is dry: it has no subproblem left, and none is on its way
from it. Engines get work from this queue only, so a dry engine stays dry, and they may be checked one after the other.
Only then they are released, and become complete. If a part of the tree was lost, they are stopped instead, and stay
incomplete. If an engine fails, the subproblems that it got since it was last dry go back to the queue. (Parts of them
may be searched twice, which costs time; repeated solutions are dropped where all are wanted.)

A ledger counts the subproblems that enter and leave the queue. If it does not balance, a subproblem was lost in a way
that the rule above cannot detect, and the engines are stopped too.

Other ranks may share the tree (turbo_fzn/ranks). Then all of them decide together when it is exhausted.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar, cast

from turbo_fzn.engine.abi.abi import NO_INCUMBENT
from turbo_fzn.engine.contract import Engine
from turbo_fzn.engine.parcels import ROOT, Load, Parcels, Path, Sharer
from turbo_fzn.engine.together.member import Member
from turbo_fzn.engine.tuning import TUNING

log = logging.getLogger("turbo_fzn")
T = TypeVar("T")

IDLE = Load(0, 0, 0)


class Branch:
    """An engine of the team, with its part of the tree."""

    def __init__(self, member: Member):
        self.member = member
        self.given: list[Path] = []  # subproblems given since it was last dry
        self.gave_up = False  # whether it had left a part unsearched by then
        self.load = IDLE
        self.blocks = self.ask(lambda parcels: parcels.blocks, 0)

    def ask(self, ask: Callable[[Parcels], T], otherwise: T) -> T:
        def of_engine(engine: Engine) -> T:
            return ask(cast(Sharer, engine).parcels)

        return self.member.ask(of_engine, otherwise)

    @property
    def is_at_work(self) -> bool:
        return self.member.engine is not None

    @property
    def lack(self) -> int:
        """The number of subproblems that it needs; 0 or less if it needs none."""
        return (
            min(-(-self.blocks // TUNING.blocks_per_reserve) - self.load.ready, self.load.room)
            if self.is_at_work
            else 0
        )

    @property
    def need(self) -> float:
        """The share of its blocks that wait."""
        return max(-self.load.ready, 0) / max(self.blocks, 1)

    def look(self, known: int) -> None:
        """Updates the load, and forgets `given` once the engine is dry, but not while a solution better than `known`
        (see SharedTree.exchange) is on its way: the engine may have pruned parts by this solution, which is lost if the
        engine fails now."""
        self.load = self.ask(Parcels.load, IDLE)
        if self.load.open == 0 and self.given and self.is_dry() and self.ask(Parcels.best, -NO_INCUMBENT) >= known:
            self.gave_up |= self.ask(Parcels.gave_up, True)
            self.given.clear()

    def is_dry(self) -> bool:
        """Whether the engine has no subproblem left; False for a failed engine, whose work must be redone."""
        return self.ask(Parcels.is_dry, False)

    @property
    def has_nothing(self) -> bool:
        return self.is_dry() if self.is_at_work else not self.given

    @property
    def has_given_up(self) -> bool:
        return self.gave_up or (self.is_at_work and self.ask(Parcels.gave_up, True))

    def give(self, paths: Sequence[Path]) -> None:
        self.given += [] if ROOT in self.given else paths
        self.load = self.load._replace(room=self.load.room - len(paths), ready=self.load.ready + len(paths))
        self.ask(lambda parcels: parcels.bring(paths), None)


@dataclass
class Ledger:
    """The numbers of subproblems that have entered a queue (the first four fields) and left it."""

    begun: int = 0  # the root
    sent: int = 0  # by engines
    recovered: int = 0  # from engines that have failed
    imported: int = 0  # from other ranks
    brought: int = 0  # to engines
    exported: int = 0  # to other ranks

    def balances(self, held: int) -> bool:
        return self.begun + self.sent + self.recovered + self.imported == self.brought + self.exported + held


class SharedTree:
    """The tree shared by the engines of `members`; `exchange`, called repeatedly, moves work between them.

    If it is shared with other ranks (`abroad`), one rank begins with the root, and `settle` is called on all."""

    def __init__(self, members: Sequence[Member]):
        self.branches = [Branch(member) for member in members]
        self.queue: deque[Path] = deque([ROOT])
        self.ledger = Ledger(begun=1)
        self.settled = False
        self.abroad = False
        self.thieves = 0  # other ranks that wait for work

    def go_abroad(self, has_root: bool) -> None:
        """Shares the tree with other ranks, one of which has the root. Call it before the search."""
        self.abroad = True
        if not has_root:
            self.queue.clear()
            self.ledger.begun = 0

    def exchange(self, known: int) -> None:
        """Collects and gives out work, and settles an exhausted tree. `known` is sense * objective of the best solution
        that the team has."""
        if self.settled:
            return
        self._collect(known)
        needy = sorted((branch for branch in self.branches if branch.lack > 0), key=lambda branch: -branch.need)
        self._deal(needy)
        self._order(needy)
        if not self.abroad and self.is_exhausted():
            self.settle(whole=self.is_balanced)

    def _collect(self, known: int) -> None:
        """Puts into the queue the subproblems that engines have sent, and the subproblems of failed engines."""
        for branch in self.branches:
            sent = branch.ask(Parcels.take, list[Path]())
            self.ledger.sent += len(sent)
            self.queue += sent
            branch.look(known)
            if not branch.is_at_work:
                self.ledger.recovered += len(branch.given)
                self.queue += branch.given
                branch.given, branch.load = [], IDLE

    def _deal(self, needy: list[Branch]) -> None:
        """Sends each engine that needs work about the same number of subproblems from the queue."""
        for place, branch in enumerate(needy):
            share = -(-len(self.queue) // (len(needy) - place))
            if count := min(share, branch.lack, TUNING.portion):
                branch.give([self.queue.popleft() for _ in range(count)])
                self.ledger.brought += count

    def _order(self, needy: list[Branch]) -> None:
        """Asks the engine with the most work to refill the queue, but only where the blocks of others wait much more
        than its own; takes back earlier requests to the others."""
        fed = [branch for branch in self.branches if branch.load.open]
        richest = min(fed, key=lambda branch: (branch.need, -branch.load.ready), default=None)
        poorest = 1.0 if self.thieves else needy[0].need if needy else 0.0
        others = len(self.branches) - 1 + self.abroad
        wanted = TUNING.stock * others + TUNING.portion * (len(needy) + self.thieves) - len(self.queue)
        for branch in self.branches:
            is_asked = branch is richest and TUNING.richer * branch.need <= poorest
            count = max(wanted, 0) if is_asked else 0
            branch.ask(lambda parcels, count=count: parcels.want(count), None)  # type: ignore[misc]

    def is_exhausted(self) -> bool:
        """Whether no subproblem is left in the queue nor in any engine."""
        if self.queue or any(branch.load.open for branch in self.branches):
            return False
        return all(branch.has_nothing for branch in self.branches)

    @property
    def is_balanced(self) -> bool:
        return self.ledger.balances(len(self.queue))

    @property
    def is_starving(self) -> bool:
        """Whether the queue is empty and all engines need work."""
        working = [branch for branch in self.branches if branch.is_at_work and branch.blocks]
        return not self.settled and not self.queue and bool(working) and all(branch.lack > 0 for branch in working)

    def spare(self, most: int) -> list[Path]:
        """Takes subproblems for another rank from the queue: half of them, but at most `most`. Where an engine here
        needs work, too, the last subproblem stays: otherwise two idle ranks could pass it to and fro for ever."""
        is_needed = any(branch.lack > 0 for branch in self.branches)
        count = min(most, (len(self.queue) + (not is_needed)) // 2)
        self.ledger.exported += count
        return [self.queue.popleft() for _ in range(count)]

    def accept(self, paths: Sequence[Path]) -> None:
        """Puts subproblems of another rank into the queue."""
        self.ledger.imported += len(paths)
        self.queue += paths

    @property
    def gave_up(self) -> bool:
        """Whether an engine has left a part of the tree unsearched."""
        return any(branch.has_given_up for branch in self.branches)

    def settle(self, whole: bool) -> None:
        """Ends the search of the exhausted tree. `whole` is whether no subproblem was lost between engines; then they
        are released, unless one has left a part unsearched, else stopped."""
        self.settled = True
        if not whole:
            log.warning("a part of the search tree was lost: nothing is claimed of it")
        whole = whole and not self.gave_up
        for branch in self.branches:
            if whole:
                branch.ask(Parcels.release, None)
            else:
                branch.member.ask(lambda engine: engine.stop(), None)
