"""Ranks in one process: messages through queues, in the order of each pair, delivered when the test wants."""

from __future__ import annotations

import contextlib
import pickle
import random
import time
from collections import deque
from collections.abc import Iterator

import numpy as np

from support.command import wait_until
from turbo_fzn.engine.contract import Found
from turbo_fzn.engine.cpu import CpuEngine
from turbo_fzn.engine.layout.layout import Settings
from turbo_fzn.engine.together.team import Team
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.ranks import world
from turbo_fzn.ranks.job import Job
from turbo_fzn.ranks.ranks import Ranks
from turbo_fzn.ranks.wire import Kind, Message
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.run.engines import team_of
from turbo_fzn.run.prepare import prepare


class Network:
    """The wires of `size` ranks. A message arrives after a random number of looks, at most `delay`, and never before
    one that the same rank has sent before; What is pickled is what travels. `loses` says of each whether it is lost."""

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


class Crew:
    """The ranks of a search of one model, each a team of CPU engines, driven in turns as their processes drive them.

    `dies` is asked before each turn of a rank whether it has died: then it does nothing any more."""

    def __init__(self, text: str, size: int, engines: int = 1, dies=lambda rank, turn: False, **network):
        tnf = prepare(parse_text(text), Options(arch="cpu"), Interrupt()).tnf
        self.tnf, self.dies = tnf, dies
        exports = np.arange(tnf.n_vars, dtype=np.int32)
        self.network = Network(size, **network)
        self.ranks = [
            Ranks(Team([self.make(exports, rank, place) for place in range(engines)], [], tnf.sense), wire)
            for rank, wire in enumerate(self.network.wires)
        ]
        self.found: list[Found] = []
        self.over: set[int] = set()
        self.dead: set[int] = set()
        self.turn = 0

    def make(self, exports: np.ndarray, rank: int, place: int) -> CpuEngine:
        return CpuEngine(self.tnf, exports, Settings(shares=True, seed=rank + 100 * place))

    def start(self) -> None:
        for rank in self.ranks:
            rank.start()

    def step(self) -> bool:
        """A turn of every rank; whether rank 0 has come to its end."""
        self.turn += 1
        first = self.ranks[0]
        ended = not first.running
        self.found += first.poll()
        for number, rank in enumerate(self.ranks[1:], 1):
            if self.dies(number, self.turn):
                self.dead.add(number)
            if number in self.over | self.dead:
                continue
            if has_turn(rank):
                self.over.add(number)
        time.sleep(0.0005)
        return ended

    def run(self, enough=lambda crew: False) -> bool:
        """Until the end, or until there is enough; whether rank 0 claims that all was searched."""
        self.start()
        try:
            wait_until(lambda: self.step() or enough(self))
            return self.ranks[0].complete
        finally:
            for rank in self.ranks:
                rank.team.close()

    @property
    def best(self) -> int | None:
        return min((self.tnf.sense * found.objective for found in self.found), default=None)


class Stand:
    """The world (world.World) of a rank that is not a process."""

    def __init__(self, wire: Loopback):
        self.wire, self.rank, self.size, self.place, self.neighbours = wire, wire.rank, wire.size, 0, 1


class InProcess(Stand):
    """The world of rank 0, where the others are no processes: they have a turn whenever rank 0 looks for messages."""

    def __init__(self, size: int, **network):
        self.network = Network(size, **network)
        super().__init__(self.network.wires[0])
        self.others: dict[int, Ranks] = {}
        self.ended: list[Ranks] = []

    def publish(self, job: Job) -> None:
        self.end()
        self.network.queues.clear()
        for wire in self.network.wires[1:]:
            world._world = Stand(wire)  # type: ignore[assignment]
            rank = self.others[wire.rank] = Ranks(team_of(pickle.loads(pickle.dumps(job))), wire)
            rank.start()
        world._world = self  # type: ignore[assignment]

    def send(self, kind: Kind, target: int, payload: object = None) -> None:
        self.wire.send(kind, target, payload)

    def receive(self) -> list[Message]:
        for number, rank in list(self.others.items()):
            if has_turn(rank):
                self.ended.append(self.others.pop(number))
        return self.wire.receive()

    def end(self) -> None:
        for rank in [*self.others.values(), *self.ended]:
            rank.team.close()
        self.others, self.ended = {}, []


def has_turn(rank: Ranks) -> bool:
    """One step of serve.drive's loop. Returns whether the rank has come to its end."""
    came_to_end = not rank.here
    rank.poll()
    over = came_to_end and (rank.is_over or rank.whole is not None)
    if over:
        rank.report()
    return over


@contextlib.contextmanager
def in_process(size: int, **network) -> Iterator[None]:
    """A context in which models are solved by this number of ranks; by this process alone, where it is 1."""
    if size == 1:
        yield
        return
    world._world = everybody = InProcess(size, **network)  # type: ignore[assignment]
    try:
        yield
    finally:
        world._world = None
        everybody.end()
