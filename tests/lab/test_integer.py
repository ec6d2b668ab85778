"""Models of integer programming: what is proved of one is what trying everything finds."""

from __future__ import annotations

import re
from itertools import permutations, product
from random import Random

from lab.bench import integer
from support.command import PATIENCE
from support.needs import needs_minizinc

CUSTOMERS, VEHICLES = 5, 2


def least_length(text: str) -> int:
    """The least length of all orders of the nodes whose loads fit between depots."""
    size = CUSTOMERS + VEHICLES
    numbers = [int(n) for n in re.findall(r"\d+", text[text.index("[|") : text.index("|]")])]
    distance = [numbers[i * size : (i + 1) * size] for i in range(size)]
    (demands,) = re.findall(r"demand = \[(.*?)\]", text)
    demand = [*map(int, demands.split(",")), *[0] * VEHICLES]
    (capacity,) = map(int, re.findall(r"var 0\.\.(\d+): load", text))

    def fits(order: tuple[int, ...]) -> bool:
        load = 0
        for node in order:
            load = load + demand[node] if node < CUSTOMERS else 0
            if load > capacity:
                return False
        return True

    orders = [(CUSTOMERS, *rest) for rest in permutations([i for i in range(size) if i != CUSTOMERS])]
    return min(sum(distance[i][j] for i, j in zip(x, (*x[1:], x[0]))) for x in orders if fits(x))


@needs_minizinc
def test_the_shortest_routes_are_those_that_trying_all_orders_finds(minizinc, model) -> None:
    text = integer.routes(Random(1), CUSTOMERS, VEHICLES)
    done = minizinc("--arch", "cpu", "-p", 2, "-f", "-s", model(text), timeout=PATIENCE)
    assert "==========" in done.stdout
    found = re.findall(r"objective=(\d+)", done.stdout)
    assert int(found[-1]) == least_length(text)


def test_every_model_is_drawn_from_the_seed() -> None:
    for make in integer.MODELS.values():
        assert make(Random(1)) == make(Random(1)) != make(Random(2))


@needs_minizinc
def test_the_least_sum_of_tables_is_that_which_trying_all_values_finds(minizinc, model) -> None:
    text = integer.tables(Random(1), variables=4, values=4, cycles=1)
    costs = {}
    for i, j, cells in re.findall(r"table\(\[x\[(\d)\], x\[(\d)\], .*?\[\| (.*?) \|\]", text):
        rows = [tuple(map(int, row.split(","))) for row in cells.split("|")]
        costs[int(i) - 1, int(j) - 1] = {(a, b): cost for a, b, cost in rows}
    assert len(costs) == 4
    least = min(sum(cost[x[i], x[j]] for (i, j), cost in costs.items()) for x in product(range(1, 5), repeat=4))
    done = minizinc("--arch", "cpu", "-p", 2, "-f", "-s", model(text), timeout=PATIENCE)
    assert "==========" in done.stdout
    assert int(re.findall(r"objective=(\d+)", done.stdout)[-1]) == least
