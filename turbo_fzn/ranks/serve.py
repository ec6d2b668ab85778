"""The loop of ranks other than 0: receive a prepared model, search it with rank 0, wait for the next model."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from turbo_fzn.base.errors import TurboError
from turbo_fzn.engine.together.team import Team
from turbo_fzn.ranks.job import Job
from turbo_fzn.ranks.ranks import Ranks
from turbo_fzn.ranks.tuning import TUNING
from turbo_fzn.ranks.world import World

log = logging.getLogger("turbo_fzn")


def serve(world: World, make_team: Callable[[Job], Team]) -> None:
    """Works on the jobs of rank 0 until there are no more."""
    while (job := world.next_job()) is not None:
        _help_with(job, world, make_team)


def _help_with(job: Job, world: World, make_team: Callable[[Job], Team]) -> None:
    try:
        team = make_team(job)
    except TurboError as error:
        log.info("rank %d has no engine: %s", world.rank, error)
        team = Team([], [], job.tnf.sense)  # reports to rank 0 that it has no engine
    ranks = Ranks(team, world)
    ranks.start()
    drive(ranks)
    team.close()


def drive(ranks: Ranks) -> None:
    """Searches until rank 0 ends the search or the tree is exhausted, and the engines have ended; then reports the end,
    after the last solution."""
    while True:
        ended = not ranks.here  # before the poll, so that no solution is missed
        ranks.poll()
        if ended and (ranks.is_over or ranks.whole is not None):
            ranks.report()
            return
        if ranks.clock() - ranks.heard[0] > TUNING.master_silence_seconds:
            log.warning("rank %d hears nothing of rank 0 and leaves", ranks.wire.rank)
            raise SystemExit(1)
        time.sleep(TUNING.poll_seconds)
