"""The messages of MPI as a rank sees them, job by job."""

from __future__ import annotations

from types import SimpleNamespace

from turbo_fzn.ranks.wire import Kind
from turbo_fzn.ranks.world import World


class Mail:
    """The part of MPI that World uses, for a single rank: the messages that it gets (source, kind, epoch)."""

    ANY_SOURCE = ANY_TAG = COMM_TYPE_SHARED = rank = 0
    size = 3

    def __init__(self):
        self.COMM_WORLD = self
        self.waiting: list[tuple[int, Kind, int]] = []

    def Split_type(self, kind):
        return self

    def Status(self):
        return SimpleNamespace()

    def improbe(self, source, tag, status):
        if not self.waiting:
            return None
        who, kind, epoch = self.waiting.pop(0)
        status.Get_source, status.Get_tag = lambda: who, lambda: int(kind)
        return SimpleNamespace(recv=lambda status: (epoch, f"{kind.name} of {epoch}"))


def test_messages_of_a_later_job_wait_until_this_rank_has_come_to_it():
    """One that ends the first job late must not lose what others ask it in the second: no count would end."""
    world = World(mail := Mail())
    world.epoch = 1
    mail.waiting = [(1, Kind.STEAL, 2), (2, Kind.NEWS, 1), (1, Kind.STEAL, 3), (0, Kind.COUNT, 2)]
    assert [message.payload for message in world.receive()] == ["NEWS of 1"]
    assert world.receive() == []
    world.epoch, mail.waiting = 2, [(2, Kind.FINAL, 1), (1, Kind.ALIVE, 2)]
    assert [message.payload for message in world.receive()] == ["STEAL of 2", "COUNT of 2", "ALIVE of 2"]
    world.epoch = 3
    assert [(message.kind, message.source) for message in world.receive()] == [(Kind.STEAL, 1)]
