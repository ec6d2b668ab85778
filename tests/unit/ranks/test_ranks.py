"""Many ranks on one tree, in one process (loopback.py): answers, and that nothing that was lost ends in a claim.

With processes and MPI: test_mpi.py.
"""

from __future__ import annotations

import random
from collections import Counter, deque
from collections.abc import Sequence
from types import SimpleNamespace

import numpy as np
import pytest

from support.command import golomb, grid
from support.loopback import Crew, Network
from support.places import CORPUS
from turbo_fzn import solve_text
from turbo_fzn.engine.abi.abi import NO_INCUMBENT
from turbo_fzn.engine.contract import Found
from turbo_fzn.engine.together.member import Dispensable
from turbo_fzn.engine.together.tree import Tree
from turbo_fzn.ranks.census import Census, Sum
from turbo_fzn.ranks.ranks import News
from turbo_fzn.ranks.stealing import Stealing
from turbo_fzn.ranks.wire import Kind, children, parent

PIGEONS = (
    """\
array [1..7] of var int: p :: output_array([1..7]) = [a,b,c,d,e,f,g];
var 1..6: a;\nvar 1..6: b;\nvar 1..6: c;\nvar 1..6: d;\nvar 1..6: e;\nvar 1..6: f;\nvar 1..6: g;
"""
    + "".join(f"constraint int_ne({x},{y});\n" for i, x in enumerate("abcdefg") for y in "abcdefg"[i + 1 :])
    + "solve satisfy;\n"
)


@pytest.mark.parametrize("size", [1, 2, 3, 8, 13, 64])
def test_news_reaches_every_rank_once_and_soon(size):
    for origin in range(size):
        reached, wave, steps = Counter([origin]), [origin], 0
        while wave:
            wave = [target for rank in wave for target in children(rank, size, origin)]
            reached.update(wave)
            steps += bool(wave)
        assert reached == Counter(range(size)) and steps <= size.bit_length()
    assert all(rank in children(parent(rank), size) for rank in range(1, size))


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

    def drop_from_queue(tree: Tree) -> None:
        if tree.queue and not dropped and tree.ledger.sent:
            dropped.append(tree.queue.pop())

    whole_collect, whole_accept = Tree._collect, Tree.accept

    def collect(tree: Tree, known: int) -> None:
        whole_collect(tree, known)
        if where in ("queue", "taken"):
            drop_from_queue(tree)

    def accept(tree: Tree, paths: Sequence[bytes]) -> None:
        whole_accept(tree, paths)
        if where == "stolen" and paths and not dropped:
            dropped.append(tree.queue.pop())

    monkeypatch.setattr(Tree, "_collect", collect)
    monkeypatch.setattr(Tree, "accept", accept)
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


# ---- the census alone, on ranks that pass tokens to each other


class Token:
    """A rank that has some tokens, each of which it keeps for a while, then splits, drops, or passes on at random."""

    def __init__(self, network: Network, rank: int):
        self.wire, self.random = network.wires[rank], random.Random(rank + 1000 * network.size)
        self.tokens, self.sent, self.received, self.whole = int(rank == 0), 0, 0, True
        self.now = 0.0
        self.census = Census(self.wire, self.count, lambda: self.now)

    def count(self) -> Sum:
        return Sum(self.tokens == 0, self.sent, self.received, self.whole)

    def step(self) -> None:
        self.now += 0.001
        for message in self.wire.receive():
            if message.kind == Kind.WORK:
                self.tokens, self.received = self.tokens + 1, self.received + 1
            elif message.kind == Kind.COUNT:
                self.census.on_count()
            else:
                self.census.on_sum(message.payload)
        if self.tokens and self.random.random() < 0.3:
            draw = self.random.random()
            self.tokens += 1 if draw < 0.1 else -1
            if draw > 0.25 and self.wire.size > 1:
                self.sent += 1
                target = self.random.randrange(self.wire.size - 1)
                self.wire.send(Kind.WORK, target + (target >= self.wire.rank))
        self.census.step()


@pytest.mark.parametrize("size", [1, 2, 3, 7, 16])
@pytest.mark.parametrize("seed", range(8))
def test_the_census_ends_when_nothing_is_left_and_never_earlier(size, seed):
    network = Network(size, delay=4 * seed, seed=seed)
    ranks = [Token(network, rank) for rank in range(size)]
    for _ in range(20_000):
        for rank in random.Random(seed).sample(ranks, size):
            rank.step()
            if ranks[0].census.outcome is not None:
                under_way = sum(kind == Kind.WORK for queue in network.queues.values() for _, kind, _ in queue)
                assert under_way == 0 and not any(rank.tokens for rank in ranks)
                assert ranks[0].census.outcome is True
                return
    pytest.fail("the census does not come to its end")


def test_what_one_rank_has_lost_is_known_at_the_end():
    network = Network(5)
    ranks = [Token(network, rank) for rank in range(5)]
    ranks[3].whole = False
    while ranks[0].census.outcome is None:
        for rank in ranks:
            rank.step()
    assert ranks[0].census.outcome is False


# ---- stealing alone


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


@pytest.mark.parametrize(
    ("lacks", "held", "given"),
    [([1], 1, 0), ([1], 2, 1), ([1], 5, 2), ([0], 1, 1), ([0], 5, 3), ([-1, 0], 2, 1), ([0, 3], 1, 0), ([], 1, 1)],
)
def test_the_last_subproblem_stays_where_an_engine_needs_it(lacks, held, given):
    """Two idle ranks would pass it to and fro for ever."""
    tree = Tree([])
    tree.branches = [SimpleNamespace(lack=lack) for lack in lacks]  # type: ignore[misc]
    tree.queue = deque(range(held))  # type: ignore[arg-type]
    assert len(tree.spare(9)) == given and len(tree.queue) == held - given and tree.ledger.exported == given
