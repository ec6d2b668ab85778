"""Ranks in one process: messages through queues, in the order of each pair, delivered when the test wants."""

from __future__ import annotations

import pickle
import random
from collections import deque

from turbo_fzn.ranks.wire import Kind, Message


class Network:
    """The wires of `size` ranks. A message arrives after a random number of looks, at most `delay`, and never before one
    that the same rank has sent before. What is pickled is what travels. `loses` is asked of each whether it is lost."""

    def __init__(self, size: int, delay: int = 0, seed: int = 0, loses=lambda kind, source, target: False):
        self.size, self.delay, self.loses = size, delay, loses
        self.random = random.Random(seed)
        self.queues: dict[tuple[int, int], deque[list]] = {}
        self.counts: dict[Kind, int] = {}
        self.bytes = 0
        self.wires = [Loopback(self, rank) for rank in range(size)]


class Loopback:
    def __init__(self, network: Network, rank: int):
        self.network, self.rank = network, rank

    @property
    def size(self) -> int:
        return self.network.size

    def send(self, kind: Kind, target: int, payload: object = None) -> None:
        network = self.network
        assert target != self.rank and 0 <= target < network.size
        data = pickle.dumps(payload)
        network.counts[kind] = network.counts.get(kind, 0) + 1
        network.bytes += len(data)
        if not network.loses(kind, self.rank, target):
            queue = network.queues.setdefault((self.rank, target), deque())
            queue.append([network.random.randint(0, network.delay), kind, data])

    def receive(self) -> list[Message]:
        arrived = []
        for source in range(self.size):
            queue = self.network.queues.get((source, self.rank), ())
            while queue:
                if queue[0][0] > 0:
                    queue[0][0] -= 1
                    break
                _, kind, data = queue.popleft()
                arrived.append(Message(kind, source, pickle.loads(data)))
        return arrived
