"""Many ranks on one tree, in one process (loopback.py): answers, and that nothing that was lost ends in a claim.

With processes and MPI: test_mpi.py.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from types import SimpleNamespace

import numpy as np
import pytest

from support.command import golomb, grid
from support.loopback import Crew
from support.places import CORPUS
from turbo_fzn import solve_text
from turbo_fzn.engine.abi.abi import NO_INCUMBENT
from turbo_fzn.engine.contract import Found
from turbo_fzn.engine.together.member import Dispensable
from turbo_fzn.engine.together.tree import SharedTree
from turbo_fzn.ranks.ranks import News
from turbo_fzn.ranks.wire import Kind

PIGEONS = (
    """\
array [1..7] of var int: p :: output_array([1..7]) = [a,b,c,d,e,f,g];
var 1..6: a;\nvar 1..6: b;\nvar 1..6: c;\nvar 1..6: d;\nvar 1..6: e;\nvar 1..6: f;\nvar 1..6: g;
"""
    + "".join(f"constraint int_ne({x},{y});\n" for i, x in enumerate("abcdefg") for y in "abcdefg"[i + 1 :])
    + "solve satisfy;\n"
)


@pytest.mark.parametrize(("size", "engines", "delay"), [(2, 1, 0), (3, 1, 4), (8, 1, 2), (3, 2, 1)])
@pytest.mark.parametrize("name", ["queens", "steiner_triples", "all_interval", "golomb", "removal", "photo", "pigeons"])
def test_ranks_answer_as_one_engine(name, size, engines, delay):
    text = (CORPUS / f"{name}.fzn").read_text()
    one = solve_text(text, arch="cpu", blocks=1, all_solutions=True, lns="off", relaxation="off")
    crew = Crew(text, size, engines, delay=delay)
    assert crew.run()
    if crew.tnf.sense:
        assert (crew.best is None) == (one.objective is None)
        assert crew.best is None or crew.best == crew.tnf.sense * one.objective
    else:
        told = {found.values.tobytes() for found in crew.found}
        assert len(told) == len(crew.found), "a solution twice"
        assert len(crew.found) >= len(one.solutions)
        assert len(one.solutions) > 0 or not crew.found


@pytest.mark.parametrize("size", [2, 5])
def test_every_solution_is_found_once_and_every_part_searched_once(size):
    crew = Crew(grid(8), size, delay=2)
    assert crew.run()
    assert len(crew.found) == len({found.values.tobytes() for found in crew.found}) == 8 * 7**2
    alone = solve_text(grid(8), all_solutions=True, arch="cpu").statistics["nodes"]
    assert crew.ranks[0].statistics()["nodes"] == alone


def test_work_is_stolen():
    crew = Crew(golomb(8), 4)
    assert crew.run() and crew.best == 34
    assert sum(rank.stealing.received for rank in crew.ranks) > 0
    assert sum(rank.team.statistics()["nodes"] > 0 for rank in crew.ranks) > 1


def enough_turns(crew: Crew) -> bool:
    """So many turns after all that live have nothing left that a census would long have come to its end. One that is
    dead may have something in its queue for ever."""
    living = [rank for number, rank in enumerate(crew.ranks) if number not in crew.dead]
    idle = all(rank.tree.is_exhausted() for rank in living)
    crew.idle_turns = getattr(crew, "idle_turns", 0) + idle
    return crew.idle_turns > 300


@pytest.mark.parametrize("seed", range(4))
def test_subproblems_lost_on_their_way_are_never_claimed_to_be_searched(seed):
    """All messages with work are lost from the third on: their senders have counted them."""
    lost = Counter()

    def loses(kind: Kind, source: int, target: int) -> bool:
        lost[kind] += 1
        return kind == Kind.WORK and lost[kind] > 3

    crew = Crew(PIGEONS, 3, loses=loses, seed=seed)
    claimed = crew.run(enough_turns)
    stolen = sum(rank.stealing.sent - rank.stealing.received for rank in crew.ranks)
    assert claimed == (stolen == 0)


@pytest.mark.parametrize("where", ["queue", "taken", "stolen"])
def test_a_subproblem_that_is_dropped_is_missed(where, monkeypatch, caplog):
    """A fault of ours, not of the network: the books of that rank do not balance."""
    dropped: list[object] = []

    def drop_from_queue(tree: SharedTree) -> None:
        if tree.queue and not dropped and tree.ledger.sent:
            dropped.append(tree.queue.pop())

    whole_collect, whole_accept = SharedTree._collect, SharedTree.accept

    def collect(tree: SharedTree, known: int) -> None:
        whole_collect(tree, known)
        if where in ("queue", "taken"):
            drop_from_queue(tree)

    def accept(tree: SharedTree, paths: Sequence[bytes]) -> None:
        whole_accept(tree, paths)
        if where == "stolen" and paths and not dropped:
            dropped.append(tree.queue.pop())

    monkeypatch.setattr(SharedTree, "_collect", collect)
    monkeypatch.setattr(SharedTree, "accept", accept)
    crew = Crew(golomb(8), 3, engines=2 if where == "queue" else 1)
    claimed = crew.run(enough_turns)
    assert dropped and not claimed
    assert "a part of the search tree was lost: nothing is claimed of it" in caplog.text


@pytest.mark.parametrize("turn", [0, 1, 5, 20])
def test_a_rank_that_dies_before_its_end_takes_the_claim_with_it(turn):
    crew = Crew(PIGEONS, 3, dies=lambda rank, now: rank == 2 and now > turn)
    claimed = crew.run(enough_turns)
    assert claimed == (2 in crew.over) and (turn or not claimed)


def test_a_solution_of_another_rank_is_handed_out_when_rank_0_knows_it():
    """Never earlier, however soon the news of it comes: else rank 0 could claim that nothing is better than what it has
    not. The others take it from the news."""
    crew = Crew(golomb(6), 3)
    adopted: list[tuple[int, int]] = []
    for rank in crew.ranks:
        rank.team.adopt = lambda found, number=rank.wire.rank: adopted.append((number, found.objective))
    solution = Found(17, 0, "tree", np.zeros(crew.tnf.n_vars, np.int64), "cpu")
    other = crew.network.wires[2]
    for target in (0, 1):
        other.send(Kind.NEWS, target, News(2, solution, -NO_INCUMBENT))
    assert crew.ranks[0].poll() == [] and crew.ranks[1].poll() == []
    assert adopted == [(1, 17)]
    other.send(Kind.FOUND, 0, [solution])
    assert [found.objective for found in crew.ranks[0].poll()] == [17]
    assert adopted == [(1, 17), (0, 17)]
    for rank in crew.ranks:
        rank.team.stop()


def test_what_a_rank_has_whose_engines_fail_is_stolen_from_it(caplog):
    crew = Crew(golomb(8), 3)

    def break_down() -> None:
        branch = crew.ranks[1].tree.branches[0]
        if branch.given and isinstance(branch.member, Dispensable) and branch.member.engine is not None:
            branch.member.engine.failures.append(0)  # as where there is no memory for a block
            branch.member.engine.common.stop = 1

    step = crew.step

    def step_and_break() -> bool:
        break_down()
        return step()

    crew.step = step_and_break
    assert crew.run() and crew.best == 34
    assert "rank 1 has no engine any more, the others go on" in caplog.text


@pytest.mark.parametrize(
    ("lacks", "held", "given"),
    [([1], 1, 0), ([1], 2, 1), ([1], 5, 2), ([0], 1, 1), ([0], 5, 3), ([-1, 0], 2, 1), ([0, 3], 1, 0), ([], 1, 1)],
)
def test_the_last_subproblem_stays_where_an_engine_needs_it(lacks, held, given):
    """Two idle ranks would pass it to and fro for ever."""
    tree = SharedTree([])
    tree.branches = [SimpleNamespace(lack=lack) for lack in lacks]  # type: ignore[misc]
    tree.queue = deque(range(held))  # type: ignore[arg-type]
    assert len(tree.spare(9)) == given and len(tree.queue) == held - given and tree.ledger.exported == given
