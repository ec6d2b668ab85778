"""Trees of rows are what their definition says, which is written here once more, without haste."""

import random
from itertools import combinations

import pytest

from turbo_fzn.base.errors import UnsupportedError
from turbo_fzn.lower.builder import RowBuilder
from turbo_fzn.lower.trees import KEY_BITS
from turbo_fzn.lower.tuning import TUNING
from turbo_fzn.lower.variables import Infeasible
from turbo_fzn.tnf.language import ADD, MAX, MIN

LARGE = 2**62 - 1
SMALL = [(0, 1), (0, 1), (0, 9), (-5, 5), (3, 3), (0, 0)]
BOUNDS = [*SMALL, (2**61 - 1, LARGE), (-LARGE, 0), (-(2**62), 2**62), (0, 2**62)]


class Plain(RowBuilder):
    """By `row` alone; and after each known pair, all are looked for anew."""

    def pair(self, op: int, leaves: list[int], at_most: int) -> list[int]:
        leaves = sorted(leaves)
        few = len(leaves) == 3
        while TUNING.paired_leaves >= len(leaves) > at_most and (pair := self.first_known(op, leaves)):
            y, z = pair
            leaves.remove(y)
            leaves.remove(z)
            leaves = sorted([*leaves, self.find(self.results[op][(y << KEY_BITS) + z])])
        if few and at_most == 2 and len(leaves) == 3:
            return [self.row(op, leaves[0], leaves[1]), leaves[2]]
        while len(leaves) > at_most:
            pairs = zip(leaves[::2], leaves[1::2])
            leaves = [self.row(op, y, z) for y, z in pairs] + (leaves[-1:] if len(leaves) % 2 else [])
        return leaves

    def first_known(self, op: int, leaves: list[int]) -> tuple[int, int] | None:
        pairs = combinations(leaves, 2)
        return next((pair for pair in pairs if (pair[0] << KEY_BITS) + pair[1] in self.results[op]), None)


def grow(b: RowBuilder, rng: random.Random) -> tuple:
    """Trees over few variables, some of them merged in between."""
    bounds = rng.choice((BOUNDS[:2], BOUNDS[:4], BOUNDS[:6], BOUNDS))
    for _ in range(rng.randint(4, 12)):
        b.variable(*rng.choice(bounds))
    error = ""
    try:
        for _ in range(rng.randint(1, 25)):
            some = rng.sample(range(len(b.parent)), min(len(b.parent), 10))
            leaves = [b.find(v) for v in rng.choices(some, k=rng.choice((1, 2, 3, 3, 4, 5, 6, 8, 9, 11)))]
            op = rng.choice((ADD, ADD, MIN, MAX))
            if rng.random() < 0.2:
                b.merge(*rng.sample(some, 2))
            elif rng.random() < 0.3:
                b.define_tree(rng.choice(some), op, leaves, 0)
            else:
                b.tree(op, leaves, 0)
    except (Infeasible, UnsupportedError) as reason:
        error = repr(reason)
    return error, b.rows, b.lower, b.upper, b.parent, b.results, b.constants


@pytest.mark.parametrize("seed", range(20))
def test_trees_are_what_they_should_be(seed):
    for number in range(200 * seed, 200 * (seed + 1)):
        assert grow(RowBuilder(), random.Random(number)) == grow(Plain(), random.Random(number))


def test_where_results_are_many_known_pairs_are_not_looked_for(monkeypatch):
    """Known sums such as a + d and b + c are then found for neighbours only: the search costs more than it saves."""

    def sums_of(most: int) -> int:
        monkeypatch.setattr(TUNING, "known_results", most)
        b = RowBuilder()
        first, *_, last = leaves = [b.variable(0, 9) for _ in range(4)]
        b.row(ADD, first, last)
        b.tree(ADD, leaves, 0)
        return len(b.results[ADD])

    assert (sums_of(2), sums_of(1)) == (3, 4)
