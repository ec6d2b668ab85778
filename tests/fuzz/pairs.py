"""Two CPU engines as a team, under real solving: as GPU and CPU are with `--arch auto`, and as several GPUs are."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from unittest.mock import patch

from fuzz.thresholds import with_thresholds
from turbo_fzn.engine.contract import Engine
from turbo_fzn.engine.cpu import CpuEngine
from turbo_fzn.engine.layout.layout import Settings
from turbo_fzn.engine.together.team import Team
from turbo_fzn.ranks.job import Job
from turbo_fzn.run import policy, search
from turbo_fzn.run.engines import cpu_settings, ordered
from turbo_fzn.run.policy import Decision

FORMS = ("shared", "joining")  # they share one tree; the second one joins the first
AT_ONCE = {"engine.gpu_start_seconds": 0.0, "engine.exchange_seconds": 0.0}


@contextlib.contextmanager
def as_team(form: str) -> Iterator[None]:
    """What is solved meanwhile is solved by two engines; by one, where `form` is none of FORMS."""
    if form not in FORMS:
        yield
        return

    def make_engine(job: Job, decision: Decision) -> Engine:
        return make_team(form, job, decision)

    alone = patch.object(policy, "_takes_turns", lambda machine, n_learners: False)  # there are two
    with with_thresholds(AT_ONCE), patch.object(search, "make_engine", make_engine), alone:
        yield


def make_team(form: str, job: Job, decision: Decision) -> Team:
    tnf = ordered(job.tnf, decision)
    first = replace(cpu_settings(decision, job.options), shares=form == "shared")
    second = replace(first, seed=first.seed + 1)

    def make(settings: Settings) -> CpuEngine:
        return CpuEngine(tnf, job.exports, settings)

    if form == "shared":
        return Team([make(first), make(second)], [], tnf.sense)
    return Team(make(first), [lambda: make(second)], tnf.sense)
