"""Learners with wide rows of circuit and subcircuit: random small models have the optimum that enumeration finds.

Constraints beside the tour say that two of its edges are both on it or both not, so that a row has one truth twice.
"""

from __future__ import annotations

from itertools import product
from random import Random
from typing import NamedTuple

from support.checked_learners import find_optima
from support.global_meanings import is_circuit, is_subcircuit

MODELS = 25
MEANINGS = {"turbo_circuit": is_circuit, "turbo_subcircuit": is_subcircuit}


class Tour(NamedTuple):
    """A cheapest tour: the values that each node's successor may have, pairs of edges (from, to) with one truth, and a
    price for each node and value."""

    predicate: str
    values: list[list[int]]
    twins: list[tuple[tuple[int, int], tuple[int, int]]]
    prices: list[list[int]]

    @property
    def text(self) -> str:
        n = len(self.values)
        lines = [f"var {set_text(some)}: x{i} :: output_var;" for i, some in enumerate(self.values, 1)]
        lines += [f"var 0..9: c{i};" for i in range(1, n + 1)] + [f"var 0..{9 * n}: cost :: output_var;"]
        lines += [f"var bool: b{k};" for k in range(len(self.twins))]
        lines += [f"constraint int_eq_reif(x{i}, {j}, b{k});" for k, twins in enumerate(self.twins) for i, j in twins]
        names = ", ".join(f"x{i}" for i in range(1, n + 1))
        lines += [f"constraint {self.predicate}([{names}], 1);"]
        lines += [f"constraint array_int_element(x{i}, {prices}, c{i});" for i, prices in enumerate(self.prices, 1)]
        costs = ", ".join(f"c{i}" for i in range(1, n + 1))
        lines += [f"constraint int_lin_eq({[1] * n + [-1]}, [{costs}, cost], 0);", "solve minimize cost;"]
        return "\n".join(lines)

    def least(self) -> int | None:
        costs = [
            sum(prices[j - 1] for prices, j in zip(self.prices, x))
            for x in product(*self.values)
            if MEANINGS[self.predicate](x) and all((x[i - 1] == j) == (x[k - 1] == m) for (i, j), (k, m) in self.twins)
        ]
        return min(costs, default=None)


def set_text(values: list[int]) -> str:
    return "{" + ", ".join(map(str, values)) + "}"


def draw(random: Random) -> Tour:
    n = random.randint(3, 5)
    values = [sorted(random.sample(range(1, n + 1), random.randint(2, n))) for _ in range(n)]
    edges = [(i, j) for i, some in enumerate(values, 1) for j in some]
    twins = [tuple(random.sample(edges, 2)) for _ in range(random.randint(0, 2))]
    prices = [[random.randint(0, 9) for _ in range(n)] for _ in values]
    return Tour(random.choice(list(MEANINGS)), values, twins, prices)


def test_a_cheapest_tour_is_as_cheap_as_enumeration_says(maybe_checked):
    assert find_optima(draw(Random(f"tour/{number}")) for number in range(MODELS)) > 0
