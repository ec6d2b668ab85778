"""Stealing alone: when a thief asks, and what a victim answers."""

from __future__ import annotations

from collections.abc import Sequence

from support.loopback import Network
from turbo_fzn.ranks.stealing import Stealing
from turbo_fzn.ranks.wire import Kind


class Pile:
    def __init__(self, paths: int):
        self.paths, self.thieves, self.is_starving = [b"x"] * paths, 0, False

    def spare(self, most: int) -> list[bytes]:
        given = self.paths[: min(most, len(self.paths))]
        del self.paths[: len(given)]
        return given

    def accept(self, paths: Sequence[bytes]) -> None:
        self.paths += paths


def test_a_thief_asks_one_at_a_time_and_waits_longer_after_each_refusal():
    network, now = Network(3), [0.0]
    thief = Stealing(network.wires[1], pile := Pile(0), lambda: now[0])
    pile.is_starving = True
    pauses = []
    for _ in range(8):
        began = now[0]
        while network.counts.get(Kind.STEAL, 0) == len(pauses):
            thief.step()
            now[0] += 0.0001
        thief.step()
        assert network.counts[Kind.STEAL] == len(pauses) + 1, "one at a time"
        pauses.append(round(now[0] - began, 3))
        thief.on_work([])
    assert pauses[1:] == sorted(pauses[1:]) and pauses[-1] < 0.02
    thief.on_work([b"x"])
    assert thief.refusals == 0 and pile.paths == [b"x"]


def test_a_victim_that_has_nothing_keeps_the_thief_for_a_moment():
    network, now = Network(2), [0.0]
    victim = Stealing(network.wires[0], pile := Pile(0), lambda: now[0])
    victim.on_steal(1)
    victim.step()
    assert pile.thieves == 1 and not network.counts
    pile.accept([b"x"])
    victim.step()
    (message,) = network.wires[1].receive()
    assert message.payload == [b"x"] and victim.sent == 1 and pile.thieves == 0
    victim.on_steal(1)
    now[0] = 1.0
    victim.step()
    (message,) = network.wires[1].receive()
    assert message.payload == []
