"""Ranks that differ, that fail, that are late: nothing is lost, nothing false is claimed, and there is an end.

In one process (loopback.py), as in test_ranks.py.
"""

from __future__ import annotations

import time

import numpy as np
import pytest

from support.command import golomb, wait_until
from support.engines import OpenEngine, labelled
from support.loopback import Crew
from turbo_fzn.base.errors import EngineError
from turbo_fzn.engine.abi.abi import NO_INCUMBENT
from turbo_fzn.engine.cpu import CpuEngine
from turbo_fzn.engine.layout.layout import Layout, Settings
from turbo_fzn.engine.parcels import ROOT, Parcels
from turbo_fzn.engine.together.member import Dispensable
from turbo_fzn.engine.together.team import Team
from turbo_fzn.engine.together.tree import Branch
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.ranks.ranks import Ranks
from turbo_fzn.ranks.tuning import TUNING
from turbo_fzn.ranks.wire import Kind
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.run.prepare import prepare

HALF_OF_14 = labelled(  # 3432 solutions
    {f"x{i}": "0..1" for i in range(14)},
    f"constraint int_lin_eq({[1] * 14},[{','.join(f'x{i}' for i in range(14))}],7);\n",
)


class Uneven(Crew):
    """Rank 1 has no room for paths of more than three decisions."""

    def make(self, exports: np.ndarray, rank: int, place: int) -> CpuEngine:
        return CpuEngine(self.tnf, exports, Settings(shares=True, pool_path=3 if rank == 1 else None))


def test_nothing_is_cut_off_a_subproblem_that_an_engine_has_no_room_for():
    crew = Uneven(HALF_OF_14, 2)
    assert crew.run() and len({found.values.tobytes() for found in crew.found}) == 3432


@pytest.mark.parametrize("domain", ["0..1", "0..1000000000000"])
def test_engines_that_share_a_tree_have_room_for_the_same_paths(domain):
    """Else a GPU with thousands of blocks had less room for each."""
    text = "".join(f"var {domain}: x{i};\n" for i in range(1500)) + "solve satisfy;\n"
    tnf = prepare(parse_text(text), Options(arch="cpu", simplify=False), Interrupt()).tnf
    layouts = [Layout(tnf, np.empty(0, np.int32), Settings(blocks=blocks, shares=True)) for blocks in (1, 300, 20_000)]
    assert len({layout.parcel_path for layout in layouts}) == 1
    assert all(layout.parcel_path <= layout.pool_path for layout in layouts)


NO_END = labelled(  # for the tree: behind 40 variables that are free, five pigeons for four holes
    {f"f{i}": "0..1" for i in range(40)} | {f"p{i}": "1..4" for i in range(5)},
    "".join(f"constraint int_ne(p{i},p{j});\n" for j in range(5) for i in range(j)),
)


class WithLearner(Crew):
    """Rank 1 has a block that learns."""

    def make(self, exports: np.ndarray, rank: int, place: int) -> CpuEngine:
        roles = ("soloist",) if rank == 1 else ()
        return CpuEngine(self.tnf, exports, Settings(blocks=2, roles=roles, shares=True, learn_bytes=2**24))


class Cramped(Crew):
    """A crew in which the engine that has the root must leave out parts of it, and cannot give any away."""

    def make(self, exports: np.ndarray, rank: int, place: int) -> CpuEngine:
        return CpuEngine(self.tnf, exports, Settings(shares=True, level_capacity=1, pool_path=0))


@pytest.mark.parametrize(("size", "engines"), [(1, 2), (2, 1), (3, 2)])
def test_what_one_engine_has_left_out_no_other_claims(size, engines):
    """Engines that had nothing to search have left out nothing."""
    crew = Cramped(HALF_OF_14, size, engines)
    assert not crew.run() and len(crew.found) < 3432


def test_a_team_claims_neither_what_is_in_its_queue_nor_what_was_left_out():
    tnf = prepare(parse_text(HALF_OF_14), Options(arch="cpu"), Interrupt()).tnf
    exports = np.arange(tnf.n_vars, dtype=np.int32)
    cramped = Settings(shares=True, level_capacity=1, pool_path=0)
    team = Team([CpuEngine(tnf, exports, cramped) for _ in range(2)], [], tnf.sense)
    assert team.tree is not None and not team.tree.is_exhausted(), "the root is in the queue"
    team.start()
    wait_until(lambda: not team.running or team.poll() is None)
    assert team.tree.settled and not team.complete
    team.close()


@pytest.mark.parametrize(("word", "value"), [("fetched", 2), ("outstanding", 1), ("sent", 1)])
def test_an_engine_that_has_something_under_way_is_not_dry(word, value):
    engine = OpenEngine(HALF_OF_14, shares=True)
    assert engine.parcels.is_dry()
    setattr(engine.common, word, value)
    assert not engine.parcels.is_dry()


def test_what_an_engine_was_given_is_forgotten_when_its_best_solution_has_arrived():
    """Before that it may have left out a part for a solution that a failure would take with it."""
    engine = OpenEngine(golomb(9), shares=True)
    branch = Branch(Dispensable(engine))
    branch.give([ROOT])
    engine.common.fetched, engine.common.best = 2, 50
    for known, given in ((NO_INCUMBENT, [ROOT]), (51, [ROOT]), (50, [])):
        branch.look(known)
        assert branch.given == given
    engine.close()


def test_what_an_engine_was_given_that_fails_while_it_is_asked_is_not_forgotten(monkeypatch):
    engine = OpenEngine(golomb(9), shares=True)
    branch = Branch(Dispensable(engine))
    branch.give([ROOT])
    engine.common.fetched = 2
    monkeypatch.setattr(Parcels, "best", lambda parcels: 1 // 0)
    branch.look(NO_INCUMBENT)
    assert branch.given == [ROOT] and not branch.is_at_work and not branch.gave_up
    engine.close()


@pytest.mark.parametrize("percent", [0, 50, 75, 100])
@pytest.mark.parametrize(("blocks", "learners"), [(1, 0), (2, 1), (3, 1), (4, 2), (5, 0), (6, 3), (6, 5)])
def test_it_is_known_how_many_blocks_take_part_in_the_tree(blocks, learners, percent):
    """A rank that knows of none steals nothing for those that wait."""
    settings = {"roles": ("soloist",) * learners, "lns_percent": percent, "learn_bytes": 2**24}
    engine = OpenEngine(golomb(13), blocks=blocks, shares=True, **settings)
    engine.start()
    expected = engine.layout.tree_blocks
    wait_until(lambda: engine.common.pool_head >= expected)
    time.sleep(0.05)
    assert engine.common.pool_head == expected
    engine.close()


def test_what_the_learner_of_another_rank_proves_without_an_objective_is_the_end():
    crew = WithLearner(NO_END, 3, delay=2)
    assert crew.run(lambda crew: crew.ranks[0].complete) and not crew.found


def test_every_rank_hears_that_rank_0_is_alive():
    """Also one that rank 0 sends nothing to: its sign of life goes down the tree of ranks. Here nobody steals."""
    crew, now = Crew(golomb(9), 8, loses=lambda kind, source, target: kind == Kind.STEAL), [0.0]
    for rank in crew.ranks:
        rank.clock = lambda: now[0]
    crew.start()
    for _ in range(3 * int(TUNING.master_silence_seconds)):
        now[0] += 1.0
        for rank in crew.ranks:
            rank.poll()
    assert all(now[0] - rank.heard[0] < TUNING.master_silence_seconds / 2 for rank in crew.ranks[1:])
    for rank in crew.ranks:
        rank.team.close()


def break_down(rank: Ranks) -> None:
    """Makes an engine fail as if there were no memory for a block."""
    member = rank.tree.branches[0].member
    if isinstance(member, Dispensable) and isinstance(member.engine, CpuEngine):
        member.engine.failures.append(0)
        member.engine.common.stop = 1


@pytest.mark.parametrize("size", [2, 4])
def test_when_no_rank_has_an_engine_any_more_there_is_an_error(size):
    """Behind the solutions that were found before."""
    crew = Crew(golomb(13), size, delay=3)
    crew.start()
    wait_until(lambda: crew.step() or crew.found)
    for rank in crew.ranks:
        break_down(rank)
    with pytest.raises(EngineError, match="no rank has an engine any more"):
        wait_until(crew.step)
    assert crew.over == set(range(1, size)) and not crew.ranks[0].complete
    for rank in crew.ranks:
        rank.team.close()
