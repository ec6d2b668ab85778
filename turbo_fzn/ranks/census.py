"""When is nothing left anywhere? Mattern's four counters (Algorithms for distributed termination detection, 1987).

Every rank counts the subproblems that it has sent to others and received from them. (Solutions need no count: they come
to rank 0 before the report of their rank, which it waits for.) Rank 0 has all ranks counted, and counted again; the
questions go down a binomial tree of the ranks, the sums come up. The search is over when in both counts every rank was
passive (has nothing in its hand, and all its engines are dry), and as much was received by the first count as was sent
by the second.

Why that is enough: counters only grow. Let R1 be what the first count has summed up as received, and t the moment when
it ended; S2 what the second, begun after t, has summed up as sent. R1 <= R(t) <= S(t) <= S2, so where R1 = S2 all four
are the same: at t nothing was under way. And no rank has received anything between its first count and t, so each is
as passive at t as it was then. What is passive and hears of nothing stays so.

Safra's token would do with one count, but goes round a ring: with 4096 ranks a round is 4096 messages one after the
other; a count is 24 deep. It needs no colours either: what overtakes a count is seen by the sums.

A part that was given up, or books of a rank that do not balance, travel with the sums: then there is no claim. A rank
that has died never answers, so the count never ends, and there is none either.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from turbo_fzn.ranks.wire import Kind, Wire, children, parent, spread

FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.0005, 0.02  # between two counts


class Sum(NamedTuple):
    """Of some ranks: whether all are passive, how much they have sent and received, and whether nothing was lost."""

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
    """One rank's part; `count` is asked what this rank is to say. Rank 0 learns in `outcome` whether the tree was
    searched as a whole, when it was searched at all."""

    def __init__(self, wire: Wire, count: Callable[[], Sum], clock: Callable[[], float]):
        self.wire, self.count, self.clock = wire, count, clock
        self.below = len(children(wire.rank, wire.size))
        self.sum: Sum | None = None  # of the count that is under way
        self.missing = 0
        self.before: Sum | None = None  # the last count that is over
        self.next_count, self.pause = 0.0, FIRST_PAUSE_SECONDS
        self.outcome: bool | None = None

    def step(self) -> None:
        """Of rank 0: begins a count when there may be nothing left."""
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
        self.pause = FIRST_PAUSE_SECONDS if total.passive else min(2 * self.pause, LONGEST_PAUSE_SECONDS)
        self.next_count = self.clock() + self.pause
