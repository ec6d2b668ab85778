"""Termination detection by Mattern's four counters (Algorithms for distributed termination detection, 1987).

Every rank counts the subproblems that it has sent to others and received from them. (Solutions need no count: they come
to rank 0 before the final report of their rank, for which it waits.) Rank 0 collects the counts of all ranks twice;
requests go down a binomial tree of the ranks, sums come up. The search is over when in both counts every rank was
passive (its queue is empty, and all its engines are dry), and the subproblems received by the first count are as many
as those sent by the second.

Proof: counters only grow. Let R1 be the number received by the first count, t the time when it ended, and S2 the number
sent by the second count, which began after t. Then R1 <= R(t) <= S(t) <= S2, so if R1 = S2 all four are equal: at t no
subproblem was under way. And no rank has received one between its first count and t, so each was passive at t too. A
passive rank that receives nothing stays passive.

Safra's token needs one count only, but goes round a ring: with 4096 ranks a round is 4096 messages one after the other;
a count is 24 messages deep. It needs no colours either: the sums detect messages that overtake a count.

The sums also report that a rank left a part unsearched, or that its ledger does not balance: then there is no proof. A
rank that has died never answers, so the count never ends, and there is no proof either.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from turbo_fzn.ranks.tuning import TUNING
from turbo_fzn.ranks.wire import Kind, Wire, children, parent, spread


class Sum(NamedTuple):
    """The counts of some ranks together: whether all are passive, how many subproblems they have sent and received, and
    whether none was lost."""

    passive: bool
    sent: int
    received: int
    whole: bool

    def plus(self, other: Sum) -> Sum:
        return Sum(
            self.passive and other.passive,
            self.sent + other.sent,
            self.received + other.received,
            self.whole and other.whole,
        )


class Census:
    """One rank's part of the census; `count` returns this rank's counts. On rank 0 `outcome` is set when the tree is
    exhausted: whether it was searched as a whole."""

    def __init__(self, wire: Wire, count: Callable[[], Sum], clock: Callable[[], float]):
        self.wire, self.count, self.clock = wire, count, clock
        self.below = len(children(wire.rank, wire.size))
        self.sum: Sum | None = None  # the sums of the current count
        self.missing = 0
        self.before: Sum | None = None  # the sums of the last finished count
        self.next_count, self.pause = 0.0, TUNING.first_pause_seconds
        self.outcome: bool | None = None

    def step(self) -> None:
        """On rank 0: begins a count if this rank is passive."""
        if self.wire.rank == 0 and self.sum is None and self.outcome is None and self.clock() >= self.next_count:
            own = self.count()
            if own.passive:
                self._begin(own)
            else:
                self.before = None

    def on_count(self) -> None:
        self._begin(self.count())

    def _begin(self, own: Sum) -> None:
        self.sum, self.missing = own, self.below
        spread(self.wire, Kind.COUNT, None)
        self._end_when_all()

    def on_sum(self, part: Sum) -> None:
        assert self.sum is not None
        self.sum, self.missing = self.sum.plus(part), self.missing - 1
        self._end_when_all()

    def _end_when_all(self) -> None:
        if self.missing or self.sum is None:
            return
        total, self.sum = self.sum, None
        if self.wire.rank:
            self.wire.send(Kind.SUM, parent(self.wire.rank), total)
        else:
            self._judge(total)

    def _judge(self, total: Sum) -> None:
        before, self.before = self.before, total
        if before is not None and before.passive and total.passive and before.received == total.sent:
            self.outcome = before.whole and total.whole
            return
        self.pause = TUNING.first_pause_seconds if total.passive else min(2 * self.pause, TUNING.census_pause_seconds)
        self.next_count = self.clock() + self.pause
