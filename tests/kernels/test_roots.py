"""Root bounds that pass from one engine to another: no optimum is lost, and no claim is more than true.

What a learner knows at its end, or on its way, is told to an engine of each kind that has the incumbent, before it
starts; what both know together is compared with enumeration.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as draw

from support.command import wait_until
from support.engines import OpenEngine, drain
from support.oracle import all_solutions, optimum
from support.random_models import models
from turbo_fzn.engine.abi.abi import LEARNERS, METHODS, NO_INCUMBENT
from turbo_fzn.engine.contract import Found, Roots
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.run.prepare import prepare

RESTARTS = frozenset(("weighted", "annotated", "probe"))
ALL = frozenset(METHODS)
KINDS = {
    "tree": {"blocks": 1},
    "restarts": {"blocks": 2, "lns_percent": 100, "methods": RESTARTS},
    "neighbourhoods": {"blocks": 4, "lns_percent": 75, "methods": ALL},
    "prover": {"blocks": 1, "roles": ("prover",), "learn_bytes": 2**22},
    "follower": {"blocks": 2, "roles": ("follower",), "learn_bytes": 2**22},
}


def value_of(engine: OpenEngine, found: list[Found]) -> int:
    sense = engine.layout.tnf.sense
    return min([NO_INCUMBENT, *(sense * one.objective for one in found)]) if sense else NO_INCUMBENT


def is_done(engine: OpenEngine, found: list[Found]) -> bool:
    """To satisfy, a learner leaves when it has found a solution."""
    return engine.complete or (engine.layout.tnf.sense == 0 and bool(found))


def take_until(engine: OpenEngine, have: list[Found], under: int) -> None:
    """A solution as good as that is there, or on its way."""
    wait_until(lambda: have.extend(engine.poll()) or value_of(engine, have) <= under)


def snapshots(text: str, role: str) -> list[tuple[list[Found], Roots]]:
    """The root bounds of a learner from time to time, with the solutions that must be known by then: it is held
    whenever it has found one, since the one before is not taken yet."""
    if prepare(parse_text(text), Options(), Interrupt()).tnf.infeasible:
        return []
    learner = OpenEngine(text, blocks=1, roles=(role,), learn_bytes=2**22, ring_slots=1)
    learner.start()
    have: list[Found] = []
    every: list[tuple[list[Found], Roots]] = []
    running = True
    while running:
        wait_until(lambda: learner.common.ring_head >= learner.ring.taken + 2 or not learner.running)
        running, roots = learner.running, learner.roots()
        have += learner.poll()
        if roots is not None:
            take_until(learner, have, roots.under)
            every.append((list(have), roots))
    assert is_done(learner, have) and learner.roots() is None, "nothing new"
    learner.close()
    return every


def told(engine: OpenEngine, have: list[Found], roots: Roots) -> list[Found]:
    """The solutions that the engine finds from there on, to its end."""
    sense = engine.layout.tnf.sense
    engine.start(min(have, key=lambda found: sense * found.objective) if have and sense else None)
    engine.tighten(roots)
    found = drain(engine)
    assert is_done(engine, found)
    return found


def judge(text: str, engine: OpenEngine, have: list[Found], found: list[Found], best: int | None) -> None:
    sense = engine.layout.tnf.sense
    every = [one.objective for one in [*have, *found]]
    assert all(sense * one.objective < value_of(engine, have) for one in found if sense), text
    if sense:
        assert (min(every) if sense > 0 else max(every)) == best if every else best is None, text
        assert best is None or engine.bound <= sense * best, text
    else:
        assert bool(every) == (best is not None), text


@pytest.mark.parametrize("kind", KINDS)
@given(model=models(["minimize", "maximize", "satisfy"]), role=draw.sampled_from(LEARNERS), place=draw.integers(0, 9))
def test_root_bounds_of_a_learner_cost_another_engine_no_answer(kind, model, role, place):
    if every := snapshots(model.text, role):
        have, roots = every[min(place, len(every) - 1)]
        engine = OpenEngine(model.text, **KINDS[kind])
        solutions = all_solutions(model)
        best = optimum(model, solutions) if engine.layout.tnf.sense else (0 if solutions else None)
        judge(model.text, engine, have, told(engine, have, roots), best)
        engine.close()
