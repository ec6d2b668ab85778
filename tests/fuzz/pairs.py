"""Two CPU engines as a team, under real solving: as GPU and CPU are with `--arch auto`, and as several GPUs are."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from unittest.mock import patch

import numpy as np

from fuzz.thresholds import with_thresholds
from turbo_fzn.engine.contract import Engine
from turbo_fzn.engine.cpu import CpuEngine
from turbo_fzn.engine.layout import Settings
from turbo_fzn.engine.team import Team
from turbo_fzn.options import Options
from turbo_fzn.run import engines, search
from turbo_fzn.run.engines import by_failures, cpu_settings, plan
from turbo_fzn.run.prepared import Prepared

FORMS = ("shared", "joining")  # they share one tree; the second one joins the first
AT_ONCE = {"engine.maker.HEAD_START_SECONDS": 0.0, "engine.team.EXCHANGE_SECONDS": 0.0}


@contextlib.contextmanager
def as_team(form: str) -> Iterator[None]:
    """What is solved meanwhile is solved by two engines; by one, where `form` is none of FORMS."""
    if form not in FORMS:
        yield
        return

    def choose(prepared: Prepared, options: Options, exports: np.ndarray, wanted: int = 1) -> Engine:
        return make_team(form, prepared, options, exports, wanted)

    alone = patch.object(engines, "is_lone_learner", lambda tnf, options: False)  # there are two
    with with_thresholds(AT_ONCE), patch.object(search, "choose_engine", choose), alone:
        yield


def make_team(form: str, prepared: Prepared, options: Options, exports: np.ndarray, wanted: int) -> Team:
    chosen = plan(prepared.tnf, options, wanted)
    tnf = by_failures(prepared.tnf) if chosen.by_failures else prepared.tnf
    first = replace(cpu_settings(tnf, chosen, options), shares=form == "shared")
    second = replace(first, seed=first.seed + 1)

    def make(settings: Settings) -> CpuEngine:
        return CpuEngine(tnf, exports, settings)

    if form == "shared":
        return Team([make(first), make(second)], [], tnf.sense)
    return Team(make(first), [lambda: make(second)], tnf.sense)
