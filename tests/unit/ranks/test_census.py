"""The census alone, on ranks that pass tokens to each other: it ends when nothing is left, and never earlier."""

from __future__ import annotations

import random

import pytest

from support.loopback import Network
from turbo_fzn.ranks.census import Census, Sum
from turbo_fzn.ranks.wire import Kind


class Token:
    """A rank that has some tokens, each of which it keeps for a while, then splits, drops, or passes on at random."""

    def __init__(self, network: Network, rank: int):
        self.wire, self.random = network.wires[rank], random.Random(rank + 1000 * network.size)
        self.tokens, self.sent, self.received, self.whole = int(rank == 0), 0, 0, True
        self.now = 0.0
        self.census = Census(self.wire, self.count, lambda: self.now)

    def count(self) -> Sum:
        return Sum(self.tokens == 0, self.sent, self.received, self.whole)

    def step(self) -> None:
        self.now += 0.001
        for message in self.wire.receive():
            if message.kind == Kind.WORK:
                self.tokens, self.received = self.tokens + 1, self.received + 1
            elif message.kind == Kind.COUNT:
                self.census.on_count()
            else:
                self.census.on_sum(message.payload)
        if self.tokens and self.random.random() < 0.3:
            draw = self.random.random()
            self.tokens += 1 if draw < 0.1 else -1
            if draw > 0.25 and self.wire.size > 1:
                self.sent += 1
                target = self.random.randrange(self.wire.size - 1)
                self.wire.send(Kind.WORK, target + (target >= self.wire.rank))
        self.census.step()


@pytest.mark.parametrize("size", [1, 2, 3, 7, 16])
@pytest.mark.parametrize("seed", range(8))
def test_the_census_ends_when_nothing_is_left_and_never_earlier(size, seed):
    network = Network(size, delay=4 * seed, seed=seed)
    ranks = [Token(network, rank) for rank in range(size)]
    for _ in range(20_000):
        for rank in random.Random(seed).sample(ranks, size):
            rank.step()
            if ranks[0].census.outcome is not None:
                under_way = sum(kind == Kind.WORK for queue in network.queues.values() for _, kind, _ in queue)
                assert under_way == 0 and not any(rank.tokens for rank in ranks)
                assert ranks[0].census.outcome is True
                return
    pytest.fail("the census does not come to its end")


def test_what_one_rank_has_lost_is_known_at_the_end():
    network = Network(5)
    ranks = [Token(network, rank) for rank in range(5)]
    ranks[3].whole = False
    while ranks[0].census.outcome is None:
        for rank in ranks:
            rank.step()
    assert ranks[0].census.outcome is False
