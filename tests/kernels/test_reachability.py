"""Learners with wide rows of reachable nodes: random small models have the optimum that enumeration finds.

Two truths may be one variable, so that a row has it twice, as it has each edge without a direction in both of its uses.
"""

from __future__ import annotations

from itertools import product
from random import Random
from typing import NamedTuple

from support.checked_learners import find_optima
from support.global_meanings import GLOBAL_MEANINGS

MODELS = 40
NAMES = ("turbo_connected", "turbo_reachable", "turbo_dreachable", "turbo_tree", "turbo_dtree")


class Cheapest(NamedTuple):
    """Nodes and edges that are in at the least cost: edges (tail, head) over the nodes 1..n, the truth of each node and
    edge by its number, a price for each truth, and the root; some truths must be true."""

    predicate: str
    n: int
    ends: list[tuple[int, int]]
    truths: list[int]
    prices: list[int]
    root: int
    needed: list[int]

    @property
    def parts(self) -> tuple[list[str], list[str]]:
        names = [f"b{k}" for k in self.truths]
        return names[: self.n], names[self.n :]

    @property
    def text(self) -> str:
        count, (nodes, edges) = len(self.prices), self.parts
        tails, heads = ([pair[end] for pair in self.ends] for end in (0, 1))
        lines = [f"var bool: b{k} :: output_var;" for k in range(count)]
        lines += ["var -99..99: cost :: output_var;"] + [f"constraint bool_eq(b{k}, true);" for k in self.needed]
        root = "" if self.predicate == "turbo_connected" else f"{self.root}, "
        sizes = f"{self.n}, {len(edges)}, " if root else ""
        lines += [f"constraint {self.predicate}({sizes}{tails}, {heads}, {root}{listed(nodes)}, 1, {listed(edges)});"]
        truths = [f"b{k}" for k in range(count)]
        lines += [f"var 0..1: i{k};\nconstraint bool2int(b{k}, i{k});" for k in range(count)]
        amounts = listed([name.replace("b", "i") for name in truths] + ["cost"])
        lines += [f"constraint int_lin_eq({[*self.prices, -1]}, {amounts}, 0);", "solve minimize cost;"]
        declared = sorted(lines, key=lambda line: not line.startswith("var"))
        return "\n".join(declared)

    def least(self) -> int | None:
        tails, heads = ([pair[end] for pair in self.ends] for end in (0, 1))
        costs = []
        for values in product((0, 1), repeat=len(self.prices)):
            all_in = [values[k] for k in self.truths]
            ns, es = all_in[: self.n], all_in[self.n :]
            sizes = [self.n, len(es)] if self.predicate != "turbo_connected" else []
            root = [self.root] if sizes else []
            holds = GLOBAL_MEANINGS[self.predicate](*sizes, tails, heads, *root, ns, 1, es)
            if holds and all(values[k] for k in self.needed):
                costs.append(sum(price * value for price, value in zip(self.prices, values)))
        return min(costs, default=None)


def listed(names: list[str]) -> str:
    return f"[{', '.join(names)}]"


def draw(random: Random) -> Cheapest:
    n, m = random.randint(2, 4), random.randint(2, 6)
    ends = [(random.randint(1, n), random.randint(1, n)) for _ in range(m)]
    count = n + m - random.choice((0, 0, 1, 2))
    truths = [*range(count), *(random.randrange(count) for _ in range(n + m - count))]
    prices = [random.randint(-2, 7) for _ in range(count)]
    needed = random.sample(range(n), random.randint(0, 2))
    return Cheapest(random.choice(NAMES), n, ends, truths, prices, random.randint(1, n), needed)


def test_the_cheapest_nodes_and_edges_are_those_of_enumeration(maybe_checked):
    assert find_optima(draw(Random(f"reachable/{number}")) for number in range(MODELS)) > 0
