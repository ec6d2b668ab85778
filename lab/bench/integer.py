"""MiniZinc models of integer programming, as a newcomer writes them: what a relaxation has to close.

    python -m lab.bench.integer FOLDER --seeds 2
    for f in FOLDER/*.mzn; do minizinc -c --solver turbo --fzn ${f%.mzn}.fzn $f; done

Each has its data in it, drawn from the seed. A search by constraints alone finds good solutions of these soon, and does
not prove them: the proof hangs on a bound of a sum.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from random import Random

from lab.bench.plain import array, assignment, layout, matrix, write_models


def routes(random: Random, customers: int = 13, vehicles: int = 4) -> str:
    """Capacitated vehicle routing: one circuit through a copy of the depot for each vehicle, and loads along it."""
    points = [(random.randint(0, 100), random.randint(0, 100)) for _ in range(customers)] + [(50, 50)] * vehicles
    distances = [[round(((a - c) ** 2 + (b - d) ** 2) ** 0.5) for c, d in points] for a, b in points]
    demands = [random.randint(5, 20) for _ in range(customers)]
    capacity = -(-sum(demands) * 11 // (10 * vehicles))
    nodes = customers + vehicles
    return f"""include "circuit.mzn";
array [1..{nodes}, 1..{nodes}] of int: distance = {matrix(distances)};
array [1..{customers}] of int: demand = {array(demands)};
array [1..{nodes}] of var 1..{nodes}: next;
array [1..{nodes}] of var 0..{capacity}: load;
constraint circuit(next);
constraint forall (v in {customers + 1}..{nodes}) (load[v] = 0);
constraint forall (c in 1..{customers}) (load[c] >= demand[c]);
constraint forall (i in 1..{nodes}, c in 1..{customers} where i != c) (
  next[i] = c -> load[c] = load[i] + demand[c]);
solve minimize sum (i in 1..{nodes}) (distance[i, next[i]]);
"""


def lots(random: Random, items: int = 5, periods: int = 20) -> str:
    """Discrete lot sizing: one unit a period of what the machine is set up for; stock and changeovers cost."""
    due = [[0] * periods for _ in range(items)]
    for period in sorted(random.sample(range(2, periods), round(periods * 0.8))):
        due[random.randrange(items)][period] = 1
    for item in range(items):
        due[item][periods - 1] |= not any(due[item])
    changes = [[0 if i == j else random.randint(10, 40) for j in range(items)] for i in range(items)]
    stock = [random.randint(2, 8) for _ in range(items)]
    return f"""array [1..{items}, 1..{periods}] of int: due = {matrix(due)};
array [1..{items}, 1..{items}] of int: change = {matrix(changes)};
array [1..{items}] of int: keeping = {array(stock)};
array [1..{periods}] of var 1..{items}: setup;
array [1..{periods}] of var bool: works;
array [1..{items}, 0..{periods}] of var 0..{periods}: stock;
constraint forall (i in 1..{items}) (stock[i, 0] = 0);
constraint forall (i in 1..{items}, t in 1..{periods}) (
  stock[i, t] = stock[i, t - 1] + bool2int(works[t] /\\ setup[t] = i) - due[i, t]);
solve minimize sum (t in 2..{periods}) (change[setup[t - 1], setup[t]])
  + sum (i in 1..{items}, t in 1..{periods}) (keeping[i] * stock[i, t]);
"""


def intervals(random: Random, jobs: int = 60, machines: int = 4) -> str:
    """The most valuable jobs of fixed times that machines can do, each one at a time."""
    begins = [random.randint(0, 100) for _ in range(jobs)]
    lengths = [random.randint(5, 25) for _ in range(jobs)]
    values = [length + random.randint(0, 30) for length in lengths]
    return f"""array [1..{jobs}] of int: begin = {array(begins)};
array [1..{jobs}] of int: length = {array(lengths)};
array [1..{jobs}] of int: value = {array(values)};
array [1..{jobs}] of var 0..{machines}: machine;
constraint forall (i, j in 1..{jobs}
  where i < j /\\ begin[i] < begin[j] + length[j] /\\ begin[j] < begin[i] + length[i]) (
  machine[i] = 0 \\/ machine[j] = 0 \\/ machine[i] != machine[j]);
solve maximize sum (i in 1..{jobs}) (value[i] * bool2int(machine[i] > 0));
"""


def shifts(random: Random, candidates: int = 1500, periods: int = 2000) -> str:
    """The most valuable shifts for one person: of those that overlap, at most one."""
    begins = sorted(random.randint(0, periods) for _ in range(candidates))
    lengths = [random.randint(4, 40) for _ in range(candidates)]
    values = [length + random.randint(0, 20) for length in lengths]
    return f"""array [1..{candidates}] of int: begin = {array(begins)};
array [1..{candidates}] of int: length = {array(lengths)};
array [1..{candidates}] of int: value = {array(values)};
array [1..{candidates}] of var bool: taken;
constraint forall (i, j in 1..{candidates} where i < j /\\ begin[j] < begin[i] + length[i]) (
  not taken[i] \\/ not taken[j]);
solve maximize sum (i in 1..{candidates}) (value[i] * bool2int(taken[i]));
"""


def tables(random: Random, variables: int = 9, values: int = 48, cycles: int = 3) -> str:
    """A weighted constraint network: pairs of variables have a cost, which a table says for each pair of values. The
    pairs are those of a tree, and so many more."""
    pairs = [(random.randrange(j), j) for j in range(1, variables)]
    others = [(i, j) for j in range(variables) for i in range(j) if (i, j) not in pairs]
    pairs += random.sample(others, cycles)
    constraints = []
    for number, (i, j) in enumerate(pairs, 1):
        rows = [[a, b, random.randint(0, 999)] for a in range(1, values + 1) for b in range(1, values + 1)]
        constraints.append(f"constraint table([x[{i + 1}], x[{j + 1}], cost[{number}]], {matrix(rows)});\n")
    return f"""include "table.mzn";
array [1..{variables}] of var 1..{values}: x;
array [1..{len(pairs)}] of var 0..999: cost;
{"".join(constraints)}solve minimize sum (cost);
"""


MODELS: dict[str, Callable[[Random], str]] = {
    "routes": routes,
    "assignment30": partial(assignment, jobs=30),
    "lots": lots,
    "layout": layout,
    "intervals": intervals,
    "shifts": shifts,
    "tables": tables,
}


def main() -> int:
    return write_models(MODELS, "python -m lab.bench.integer", __doc__)


if __name__ == "__main__":
    sys.exit(main())
