"""What ranks other than 0 do: they get prepared models, search them with rank 0, and wait for the next."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from turbo_fzn.engine.together.team import Team
from turbo_fzn.errors import TurboError
from turbo_fzn.ranks.job import Job
from turbo_fzn.ranks.ranks import Ranks
from turbo_fzn.ranks.world import World

log = logging.getLogger("turbo_fzn")

POLL_SECONDS = 0.001
SILENCE_SECONDS = 60.0  # of rank 0, which is then thought dead


def serve(world: World, make_team: Callable[[Job], Team]) -> None:
    """Until rank 0 says that nothing more will come."""
    while (job := world.next_job()) is not None:
        _help_with(job, world, make_team)


def _help_with(job: Job, world: World, make_team: Callable[[Job], Team]) -> None:
    try:
        team = make_team(job)
    except TurboError as error:
        log.info("rank %d has no engine: %s", world.rank, error)
        team = Team([], [], job.tnf.sense)  # which says so to rank 0
    ranks = Ranks(team, world)
    ranks.start()
    drive(ranks)
    team.close()


def drive(ranks: Ranks) -> None:
    """Until rank 0 has made an end, or the tree has come to one, and the engines to theirs: that is reported, behind
    the last solution."""
    while True:
        ended = not ranks.here  # before the poll, so that no solution is missed
        ranks.poll()
        if ended and (ranks.is_over or ranks.whole is not None):
            ranks.report()
            return
        if ranks.clock() - ranks.heard[0] > SILENCE_SECONDS:
            log.warning("rank %d hears nothing of rank 0 and leaves", ranks.wire.rank)
            raise SystemExit(1)
        time.sleep(POLL_SECONDS)
