"""One search tree that several engines share: who has nothing left gets a part of what another one has.

No engine begins with anything. What the host has is in its `hand`, at first the root, and goes to those whose blocks
wait. The hand is kept from being empty: before an engine runs dry, those that have most to do are asked for a few of
their shallowest open alternatives (parcels.py), which are the largest parts that they have. So an engine that runs dry
finds its next work in the hand, and does not wait for another one to answer.

The tree is exhausted when the hand is empty, and every engine is dry: none has anything left, and nothing is on its way
from it. Work comes to an engine by this hand alone, so what was found dry stays so, and they may be asked one after the
other. Only then they are released, and say of themselves that they are complete. Where a part was lost, they are
stopped instead, and do not. An engine that fails loses no part: what it was given since it was last dry is dealt anew.
(That may be searched twice, which costs time, and whoever wants all solutions drops repetitions anyhow.)

Books are kept of what has come into the hand and gone out of it (Ledger). Where they do not balance, something was lost
that the rule above cannot see, and there is no claim either.

Other ranks may share the tree (turbo_fzn/ranks). Then it is for them all to say when it is exhausted.
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

log = logging.getLogger("turbo_fzn")
T = TypeVar("T")

BLOCKS_A_RESERVE = 32  # for so many blocks a subproblem is to lie ready; half of what they see to themselves
STOCK = 8  # subproblems in the hand for each engine
MEAL = 32  # for one that is hungry
RICHER = 2  # so many times less a share of an engine's blocks must wait, or it is not asked for the sake of another
IDLE = Load(0, 0, 0)


class Branch:
    """The part of the tree that an engine of the team has."""

    def __init__(self, member: Member):
        self.member = member
        self.given: list[Path] = []  # since it was last dry
        self.gave_up = False  # a part of what it had by then
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
        """How many subproblems it could do with; fewer than 1: none."""
        return min(-(-self.blocks // BLOCKS_A_RESERVE) - self.load.ready, self.load.room) if self.is_at_work else 0

    @property
    def need(self) -> float:
        """The share of its blocks that wait."""
        return max(-self.load.ready, 0) / max(self.blocks, 1)

    def look(self, known: int) -> None:
        """`known` is as in Tree.exchange. What the engine was given is its own as long as a better solution is on its
        way from it, for which it may have left out a part: if it fails now, the solution is lost."""
        self.load = self.ask(Parcels.load, IDLE)
        if self.load.open == 0 and self.given and self.is_dry() and self.ask(Parcels.best, -NO_INCUMBENT) >= known:
            self.gave_up |= self.ask(Parcels.gave_up, True)
            self.given.clear()

    def is_dry(self) -> bool:
        """Whether the engine has nothing left: one that has failed has what it was given."""
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
    """Subproblems that have come into a hand, and that have left it."""

    begun: int = 0  # the root
    sent: int = 0  # by engines
    recovered: int = 0  # of engines that have failed
    imported: int = 0  # from other ranks
    brought: int = 0  # to engines
    exported: int = 0  # to other ranks

    def balances(self, held: int) -> bool:
        return self.begun + self.sent + self.recovered + self.imported == self.brought + self.exported + held


class Tree:
    """Shared by the engines of `members`, which are asked and told by `exchange`, again and again.

    Where it is shared with other ranks (`abroad`), one of them begins with the root, and all are told to `settle`."""

    def __init__(self, members: Sequence[Member]):
        self.branches = [Branch(member) for member in members]
        self.hand: deque[Path] = deque([ROOT])
        self.ledger = Ledger(begun=1)
        self.settled = False
        self.abroad = False
        self.thieves = 0  # other ranks that wait for something

    def go_abroad(self, has_root: bool) -> None:
        """Other ranks share it, of which one has the root. Before the search."""
        self.abroad = True
        if not has_root:
            self.hand.clear()
            self.ledger.begun = 0

    def exchange(self, known: int) -> None:
        """`known`: sense * objective of the best solution that has arrived, or was told."""
        if self.settled:
            return
        self._collect(known)
        hungry = sorted((branch for branch in self.branches if branch.lack > 0), key=lambda branch: -branch.need)
        self._deal(hungry)
        self._order(hungry)
        if not self.abroad and self.is_exhausted():
            self.settle(whole=self.is_balanced)

    def _collect(self, known: int) -> None:
        """What engines have sent, and what those had that have failed."""
        for branch in self.branches:
            sent = branch.ask(Parcels.take, list[Path]())
            self.ledger.sent += len(sent)
            self.hand += sent
            branch.look(known)
            if not branch.is_at_work:
                self.ledger.recovered += len(branch.given)
                self.hand += branch.given
                branch.given, branch.load = [], IDLE

    def _deal(self, hungry: list[Branch]) -> None:
        """To each that is hungry about the same number of subproblems, from the hand."""
        for place, branch in enumerate(hungry):
            share = -(-len(self.hand) // (len(hungry) - place))
            if count := min(share, branch.lack, MEAL):
                branch.give([self.hand.popleft() for _ in range(count)])
                self.ledger.brought += count

    def _order(self, hungry: list[Branch]) -> None:
        """Fills the hand again, from the engine that has most to do; for others than itself it is asked only where
        their blocks wait more than its own."""
        fed = [branch for branch in self.branches if branch.load.open]
        richest = min(fed, key=lambda branch: (branch.need, -branch.load.ready), default=None)
        poorest = 1.0 if self.thieves else hungry[0].need if hungry else 0.0
        others = len(self.branches) - 1 + self.abroad
        wanted = STOCK * others + MEAL * (len(hungry) + self.thieves) - len(self.hand)
        for branch in self.branches:
            is_asked = branch is richest and RICHER * branch.need <= poorest
            count = max(wanted, 0) if is_asked else 0
            branch.ask(lambda parcels, count=count: parcels.want(count), None)  # type: ignore[misc]

    def is_exhausted(self) -> bool:
        """Whether there is nothing left in the hand nor in any engine."""
        if self.hand or any(branch.load.open for branch in self.branches):
            return False
        return all(branch.has_nothing for branch in self.branches)

    @property
    def is_balanced(self) -> bool:
        return self.ledger.balances(len(self.hand))

    @property
    def is_starving(self) -> bool:
        """Whether nobody here has anything for those that are hungry."""
        working = [branch for branch in self.branches if branch.is_at_work and branch.blocks]
        return not self.settled and not self.hand and bool(working) and all(branch.lack > 0 for branch in working)

    def spare(self, most: int) -> list[Path]:
        """Subproblems for another rank: half of what the hand has."""
        count = min(most, -(-len(self.hand) // 2))
        self.ledger.exported += count
        return [self.hand.popleft() for _ in range(count)]

    def accept(self, paths: Sequence[Path]) -> None:
        """From another rank."""
        self.ledger.imported += len(paths)
        self.hand += paths

    @property
    def gave_up(self) -> bool:
        """Whether a part of it was left out here."""
        return any(branch.has_given_up for branch in self.branches)

    def settle(self, whole: bool) -> None:
        """The end of it. `whole`: no part was lost on the way; but an engine may have given up one."""
        self.settled = True
        if not whole:
            log.warning("a part of the search tree was lost: nothing is claimed of it")
        whole = whole and not self.gave_up
        for branch in self.branches:
            if whole:
                branch.ask(Parcels.release, None)
            else:
                branch.member.ask(lambda engine: engine.stop(), None)
