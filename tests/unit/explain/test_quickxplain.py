"""QuickXplain on sets of numbers, with a judge that knows which sets are refuted, and one that fails to prove some."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest

from turbo_fzn.explain.quickxplain import Members, minimal


class Conflicts:
    """A set is refuted where it has one of these parts; of `unproved` ones nobody can prove it."""

    def __init__(self, random: Random, n: int, share_unproved: float):
        self.parts = [frozenset(random.sample(range(n), random.randint(1, n))) for _ in range(random.randint(1, 4))]
        self.random, self.share = random, share_unproved
        self.proved = {frozenset(range(n))}
        self.failed: list[Members] = []
        self.n_tests = 0

    def are_refuted(self, members: Members) -> bool:
        return any(part <= members for part in self.parts)

    def __call__(self, members: Members) -> bool:
        self.n_tests += 1
        proved = self.are_refuted(members) and self.random.random() >= self.share
        if proved:
            self.proved.add(members)
        else:
            self.failed.append(members)
        return proved


@pytest.mark.parametrize("seed", range(100))
def test_the_result_is_minimal_and_the_failed_tests_say_so(seed):
    random = Random(seed)
    n = random.randint(1, 12)
    conflicts = Conflicts(random, n, 0)
    found = minimal(range(n), conflicts)
    assert conflicts.are_refuted(found)
    for member in found:
        assert not conflicts.are_refuted(found - {member})
        assert any(found - {member} <= failed for failed in conflicts.failed)


@pytest.mark.parametrize("seed", range(100))
def test_the_result_is_a_set_that_was_proved_to_be_refuted_also_where_some_proofs_fail(seed):
    random = Random(seed)
    n = random.randint(1, 12)
    conflicts = Conflicts(random, n, 0.5)
    assert minimal(range(n), conflicts) in conflicts.proved


def test_what_is_refuted_without_any_member_needs_none():
    assert minimal(range(5), lambda members: True) == frozenset()


def test_few_of_many_are_found_with_few_tests():
    for pair in combinations((0, 1, 300, 511), 2):
        conflicts = Conflicts(Random(0), 512, 0)
        conflicts.parts = [frozenset(pair)]
        assert minimal(range(512), conflicts) == frozenset(pair)
        assert conflicts.n_tests <= 2 * 2 * 9 + 2 * 2
