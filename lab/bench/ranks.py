"""Simulates work stealing and the census with thousands of ranks, by discrete events.

    python -m lab.bench.ranks --ranks 8 64 512 4096

The decisions are made by the code of the ranks itself (ranks/stealing.py, ranks/census.py); the clock, the messages and
the work are simulated. A rank has work, in seconds; its host looks for messages every `--poll` seconds, a message takes
`--latency`. A subproblem that is given away has a random share of the giver's work, most often a small one (the cube of
a uniform number), and at least `--least` seconds, below which it is not worth the message. No rank knows in advance how
much work it has.

For each number of ranks: the share of time that they were idle, up to the end of the work; when nine ranks in ten had
been given something; how long after the end of the work all ranks knew of it; messages a rank sends a second on
average, what rank 0 sends and gets a second, and bytes a rank sends a second.
"""

from __future__ import annotations

import argparse
import heapq
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from turbo_fzn.engine.parcels import Path
from turbo_fzn.ranks.census import Census, Sum
from turbo_fzn.ranks.stealing import Stealing
from turbo_fzn.ranks.wire import Kind, Message, spread

ENVELOPE_BYTES = 64  # of a message, with what MPI adds
STOCK = 8  # subproblems that a rank can give at a time (engine/together/tree.py)


@dataclass
class _Setting:
    """Parameters that are measured elsewhere: in seconds, and bytes of a path."""

    latency: float = 30e-6
    poll: float = 1e-3
    least: float = 2e-3
    path_bytes: int = 400


class _Events:
    """The future events, in the order of time."""

    def __init__(self) -> None:
        self.now = 0.0
        self.queue: list[tuple[float, int, Callable[[], None]]] = []
        self.numbers = count()

    def at(self, time: float, action: Callable[[], None]) -> None:
        heapq.heappush(self.queue, (time, next(self.numbers), action))

    def step(self) -> None:
        self.now, _, action = heapq.heappop(self.queue)
        action()


class _SimulatedRank:
    """A rank with its host: wire, store and clock of the code that is tried."""

    def __init__(self, rank: int, cluster: _Cluster):
        self.rank, self.cluster, self.size = rank, cluster, cluster.size
        self.random = random.Random(f"{cluster.seed}/{rank}")
        self.phase = self.random.random() * cluster.setting.poll
        self.work, self.since = 0.0, 0.0  # what was left at that time
        self.began, self.ended = -1.0, 0.0  # when it was first given something; when it had nothing left, last
        self.messages, self.bytes = 0, 0
        self.inbox: list[Message] = []
        self.thieves = 0
        self.due = float("inf")  # the next look
        self.knows = False
        self.stealing = Stealing(self, self, lambda: cluster.events.now)
        self.census = Census(self, self._count, lambda: cluster.events.now)

    def _count(self) -> Sum:
        return Sum(self.left() <= 0, self.stealing.sent, self.stealing.received, True)

    # ---- the wire

    def send(self, kind: Kind, target: int, payload: Any = None) -> None:
        self.messages += 1
        paths = len(payload) if kind == Kind.WORK else 0
        self.bytes += ENVELOPE_BYTES + paths * self.cluster.setting.path_bytes
        events, other = self.cluster.events, self.cluster.ranks[target]
        arrives = events.now + self.cluster.setting.latency
        events.at(arrives, lambda: other.arrive(Message(kind, self.rank, payload)))

    def receive(self) -> list[Message]:
        arrived, self.inbox = self.inbox, []
        return arrived

    # ---- the store

    def left(self) -> float:
        """The work that is left now, in seconds."""
        now = self.cluster.events.now
        if 0 < self.work <= now - self.since:
            self.ended = self.since + self.work
        self.work, self.since = max(self.work - (now - self.since), 0.0), now
        return self.work

    @property
    def is_starving(self) -> bool:
        return self.left() <= 0 and not self.knows

    def spare(self, most: int) -> list[Path]:
        """Sizes stand for paths."""
        sizes: list[Any] = []
        for _ in range(min(most, STOCK // 2)):
            size = self.left() * self.random.random() ** 3
            if size >= self.cluster.setting.least:
                self.work -= size
                sizes.append(size)
        return sizes

    def accept(self, paths: Sequence[Any]) -> None:
        if paths and self.began < 0:
            self.began = self.cluster.events.now
        self.left()
        self.work += sum(paths)

    # ---- time

    def arrive(self, message: Message) -> None:
        self.inbox.append(message)
        self.look_soon()

    def look_soon(self, after: float = 0.0) -> None:
        """At the next of the host's looks, which are a period apart, or at the first one after a while."""
        period, now = self.cluster.setting.poll, self.cluster.events.now + after
        due = now + (self.phase - now) % period
        if due < self.due - period / 2:
            self.due = due
            self.cluster.events.at(due, self.look)

    def look(self) -> None:
        if self.cluster.events.now < self.due:
            return
        self.due = float("inf")
        for message in self.receive():
            self.answer(message)
        if not self.knows:
            self.stealing.step()
            self.census.step()
            if self.census.outcome is not None:
                self.learn()
        self._look_again()

    def _look_again(self) -> None:
        waits = bool(self.stealing.waiting) or self.rank == 0
        if self.knows:
            return
        if self.left() > 0:
            self.look_soon(self.cluster.setting.poll if waits else max(self.work, self.cluster.setting.poll))
        elif waits or not self.stealing.asked:
            self.look_soon(self.cluster.setting.poll)

    def answer(self, message: Message) -> None:
        if message.kind == Kind.STEAL:
            self.stealing.on_steal(message.source)
        elif message.kind == Kind.WORK:
            self.stealing.on_work(message.payload)
        elif message.kind == Kind.COUNT:
            self.census.on_count()
        elif message.kind == Kind.SUM:
            self.census.on_sum(message.payload)
        else:
            self.learn()

    def learn(self) -> None:
        """That all is over; those below hear of it."""
        if not self.knows:
            self.knows = True
            self.cluster.uninformed -= 1
            spread(self, Kind.SETTLE, None)


class _Cluster:
    """`size` ranks, and so many seconds of work for each, all of it with rank 0 at first."""

    def __init__(self, size: int, seconds: float, setting: _Setting, seed: int = 0):
        self.size, self.setting, self.seed = size, setting, seed
        self.events = _Events()
        self.ranks: list[_SimulatedRank] = []
        self.ranks += [_SimulatedRank(rank, self) for rank in range(size)]
        self.uninformed = size
        self.total = size * seconds
        self.ranks[0].accept([self.total])
        for rank in self.ranks:
            rank.look_soon()

    def run(self) -> str:
        """The line of the table."""
        while self.uninformed:
            self.events.step()
        return self.told(max(rank.ended for rank in self.ranks))

    def told(self, end: float) -> str:
        """The line of results, given the time when the work ended."""
        idle = 1 - self.total / (self.size * end)
        given = sorted(rank.began if rank.began >= 0 else end for rank in self.ranks)
        messages = sum(rank.messages for rank in self.ranks) / self.size / end
        sent = sum(rank.bytes for rank in self.ranks) / self.size / end
        spread_at = given[(9 * self.size - 1) // 10]
        known = self.events.now - end
        first = self.ranks[0].messages / end
        return (
            f"{self.size:7}{end:9.2f}{100 * idle:8.2f} %{1000 * spread_at:11.1f}{1000 * known:10.1f}"
            f"{messages:13.1f}{first:13.1f}{sent / 1000:11.2f}"
        )


HEADER = (
    f"{'ranks':>7}{'end/s':>9}{'idle':>10}{'spread/ms':>11}{'known/ms':>10}"
    f"{'messages/s':>13}{'of rank 0':>13}{'kB/s':>11}"
)


def main() -> int:
    told = (__doc__ or "").splitlines()[0]
    parser = argparse.ArgumentParser(prog="python -m lab.bench.ranks", description=told)
    parser.add_argument("--ranks", type=int, nargs="+", default=[8, 64, 512, 4096])
    parser.add_argument("--seconds", type=float, default=10.0, help="of work for each rank")
    parser.add_argument("--latency", type=float, default=_Setting.latency, help="of a message, in seconds")
    parser.add_argument("--poll", type=float, default=_Setting.poll, help="between two looks of a host, in seconds")
    parser.add_argument("--least", type=float, default=_Setting.least, help="work that is worth its way, in seconds")
    parser.add_argument("--path-bytes", type=int, default=_Setting.path_bytes)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    setting = _Setting(arguments.latency, arguments.poll, arguments.least, arguments.path_bytes)
    print(HEADER, flush=True)
    for size in arguments.ranks:
        print(_Cluster(size, arguments.seconds, setting, arguments.seed).run(), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
