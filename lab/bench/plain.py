"""MiniZinc models without a search annotation, as a newcomer writes them: what a default search is measured on.

    python -m lab.bench.plain FOLDER --seeds 2
    for f in FOLDER/*.mzn; do minizinc -c --solver turbo --fzn ${f%.mzn}.fzn $f; done

Each model has its data in it, drawn from the seed, and an optimum or a proof that a good search finds in seconds. The
resource-constrained project has the shape of the instances of PSPLIB (Kolisch and Sprecher, EJOR 1996): a network of
precedences in layers, four resources of which each task takes some.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random


def array(values: list[int]) -> str:
    return f"[{', '.join(map(str, values))}]"


def matrix(rows: list[list[int]]) -> str:
    return f"[| {' | '.join(', '.join(map(str, row)) for row in rows)} |]"


def project(random: Random, tasks: int = 60, resources: int = 4) -> str:
    """Least makespan under precedences and resources."""
    durations = [random.randint(1, 10) for _ in range(tasks)]
    needs = [[random.choice((0, 0, random.randint(1, 10))) for _ in range(tasks)] for _ in range(resources)]
    capacities = [max(max(row), round(sum(map(int.__mul__, row, durations)) / sum(durations) * 5)) for row in needs]
    before = [[i, j] for j in range(4, tasks) for i in random.sample(range(max(0, j - 12), j), random.randint(1, 3))]
    return f"""include "cumulative.mzn";
array [1..{tasks}] of int: duration = {array(durations)};
array [1..{resources}, 1..{tasks}] of int: need = {matrix(needs)};
array [1..{resources}] of int: capacity = {array(capacities)};
array [1..{len(before)}, 1..2] of int: before = {matrix([[i + 1, j + 1] for i, j in before])};
array [1..{tasks}] of var 0..{sum(durations)}: start;
var 0..{sum(durations)}: makespan;
constraint forall (p in 1..{len(before)}) (start[before[p, 1]] + duration[before[p, 1]] <= start[before[p, 2]]);
constraint forall (r in 1..{resources}) (cumulative(start, duration, row(need, r), capacity[r]));
constraint forall (t in 1..{tasks}) (start[t] + duration[t] <= makespan);
solve minimize makespan;
"""


def knapsack(random: Random, items: int = 25) -> str:
    """Bounded: up to five of each."""
    weights = [random.randint(20, 100) for _ in range(items)]
    values = [weight + random.randint(-10, 15) for weight in weights]
    return f"""array [1..{items}] of int: weight = {array(weights)};
array [1..{items}] of int: value = {array(values)};
array [1..{items}] of var 0..5: taken;
constraint sum (i in 1..{items}) (weight[i] * taken[i]) <= {sum(weights) * 2};
solve maximize sum (i in 1..{items}) (value[i] * taken[i]);
"""


def job_shop(random: Random, jobs: int = 7, machines: int = 6) -> str:
    """Least makespan."""
    durations = [[random.randint(1, 20) for _ in range(machines)] for _ in range(jobs)]
    orders = [random.sample(range(1, machines + 1), machines) for _ in range(jobs)]
    horizon = sum(map(sum, durations))
    return f"""array [1..{jobs}, 1..{machines}] of int: duration = {matrix(durations)};
array [1..{jobs}, 1..{machines}] of int: machine = {matrix(orders)};
array [1..{jobs}, 1..{machines}] of var 0..{horizon}: start;
var 0..{horizon}: end;
constraint forall (j in 1..{jobs}, k in 1..{machines - 1}) (start[j, k] + duration[j, k] <= start[j, k + 1]);
constraint forall (j in 1..{jobs}) (start[j, {machines}] + duration[j, {machines}] <= end);
constraint forall (i, j in 1..{jobs}, k, l in 1..{machines} where i < j /\\ machine[i, k] = machine[j, l]) (
  start[i, k] + duration[i, k] <= start[j, l] \\/ start[j, l] + duration[j, l] <= start[i, k]);
solve minimize end;
"""


def bins(random: Random, items: int = 18, capacity: int = 100) -> str:
    """Fewest bins."""
    sizes = sorted((random.randint(15, 60) for _ in range(items)), reverse=True)
    most = items // 2 + 2
    return f"""include "bin_packing_load.mzn";
array [1..{items}] of int: size = {array(sizes)};
array [1..{items}] of var 1..{most}: bin;
array [1..{most}] of var 0..{capacity}: load;
var 1..{most}: used;
constraint bin_packing_load(load, bin, size);
constraint forall (i in 1..{items}) (bin[i] <= used);
solve minimize used;
"""


def assignment(random: Random, jobs: int = 20, agents: int = 5) -> str:
    """Generalised assignment: least cost, agents have a capacity."""
    costs = [[random.randint(10, 50) for _ in range(jobs)] for _ in range(agents)]
    loads = [[random.randint(5, 25) for _ in range(jobs)] for _ in range(agents)]
    capacity = [round(0.8 * sum(row) / agents) for row in loads]
    return f"""array [1..{agents}, 1..{jobs}] of int: cost = {matrix(costs)};
array [1..{agents}, 1..{jobs}] of int: load = {matrix(loads)};
array [1..{agents}] of int: capacity = {array(capacity)};
array [1..{jobs}] of var 1..{agents}: agent;
constraint forall (a in 1..{agents}) (sum (j in 1..{jobs}) (load[a, j] * bool2int(agent[j] = a)) <= capacity[a]);
solve minimize sum (j in 1..{jobs}) (cost[agent[j], j]);
"""


def tour(random: Random, cities: int = 13) -> str:
    """The shortest tour of points in a square."""
    points = [(random.randint(0, 100), random.randint(0, 100)) for _ in range(cities)]
    distances = [[round(((a - c) ** 2 + (b - d) ** 2) ** 0.5) for c, d in points] for a, b in points]
    return f"""include "circuit.mzn";
array [1..{cities}, 1..{cities}] of int: distance = {matrix(distances)};
array [1..{cities}] of var 1..{cities}: next;
constraint circuit(next);
solve minimize sum (i in 1..{cities}) (distance[i, next[i]]);
"""


def layout(random: Random, places: int = 9) -> str:
    """Quadratic assignment: flows times distances."""
    flows = [
        [random.choice((0, 0, random.randint(1, 9))) if j > i else 0 for j in range(places)] for i in range(places)
    ]
    distances = [[abs(i - j) + abs(i % 3 - j % 3) for j in range(places)] for i in range(places)]
    return f"""include "all_different.mzn";
array [1..{places}, 1..{places}] of int: flow = {matrix(flows)};
array [1..{places}, 1..{places}] of int: distance = {matrix(distances)};
array [1..{places}] of var 1..{places}: place;
constraint all_different(place);
solve minimize sum (i, j in 1..{places} where i < j) (flow[i, j] * distance[place[i], place[j]]);
"""


def cover(random: Random, elements: int = 60, sets: int = 45) -> str:
    """Set covering of least cost."""
    costs = [random.randint(1, 20) for _ in range(sets)]
    holds = [sorted(random.sample(range(1, sets + 1), 4)) for _ in range(elements)]
    lines = "\n".join("constraint " + " \\/ ".join(f"chosen[{s}]" for s in row) + ";" for row in holds)
    return f"""array [1..{sets}] of int: cost = {array(costs)};
array [1..{sets}] of var bool: chosen;
{lines}
solve minimize sum (s in 1..{sets}) (cost[s] * bool2int(chosen[s]));
"""


def colours(random: Random, nodes: int = 50) -> str:
    """Fewest colours of a graph."""
    edges = [[i, j] for j in range(1, nodes + 1) for i in range(1, j) if random.random() < 0.25]
    return f"""array [1..{len(edges)}, 1..2] of int: edge = {matrix(edges)};
array [1..{nodes}] of var 1..12: colour;
var 1..12: used;
constraint forall (e in 1..{len(edges)}) (colour[edge[e, 1]] != colour[edge[e, 2]]);
constraint forall (n in 1..{nodes}) (colour[n] <= used);
solve minimize used;
"""


def latin(random: Random, side: int = 20, filled: float = 0.42) -> str:
    """Completes a Latin square, most of which is left open at random."""
    row, column, value = (random.sample(range(side), side) for _ in range(3))
    square = [[value[(row[i] + column[j]) % side] + 1 for j in range(side)] for i in range(side)]
    given = [[i + 1, j + 1, square[i][j]] for i in range(side) for j in range(side) if random.random() < filled]
    return f"""include "all_different.mzn";
array [1..{side}, 1..{side}] of var 1..{side}: cell;
array [1..{len(given)}, 1..3] of int: given = {matrix(given)};
constraint forall (g in 1..{len(given)}) (cell[given[g, 1], given[g, 2]] = given[g, 3]);
constraint forall (i in 1..{side}) (all_different(row(cell, i)) /\\ all_different(col(cell, i)));
solve satisfy;
"""


def clauses(random: Random, variables: int = 120) -> str:
    """Random clauses of three literals, at the ratio where half of such formulas have a solution."""
    lines = []
    for _ in range(round(variables * 4.26)):
        literals = [f"{random.choice(('', 'not '))}b[{v}]" for v in random.sample(range(1, variables + 1), 3)]
        lines.append("constraint " + " \\/ ".join(literals) + ";")
    return "\n".join([f"array [1..{variables}] of var bool: b;", *lines, "solve satisfy;\n"])


def split(random: Random, constraints: int = 3, variables: int = 18) -> str:
    """Market split (Cornuejols and Dawande, IPCO 1998): sums that must be met exactly; mostly impossible."""
    rows = [[random.randint(0, 99) for _ in range(variables)] for _ in range(constraints)]
    lines = [f"constraint sum (i in 1..{variables}) ({array(row)}[i] * x[i]) = {sum(row) // 2};" for row in rows]
    return "\n".join([f"array [1..{variables}] of var 0..1: x;", *lines, "solve satisfy;\n"])


def timetable(random: Random, lessons: int = 60, slots: int = 14, rooms: int = 6) -> str:
    """Lessons of classes and teachers into slots and rooms."""
    who = [[random.randint(1, 8), random.randint(1, 10)] for _ in range(lessons)]
    closed = [
        [lesson, slot] for lesson in range(1, lessons + 1) for slot in range(1, slots + 1) if random.random() < 0.3
    ]
    return f"""include "all_different.mzn";
array [1..{lessons}, 1..2] of int: who = {matrix(who)};
array [1..{len(closed)}, 1..2] of int: closed = {matrix(closed)};
array [1..{lessons}] of var 1..{slots}: slot;
array [1..{lessons}] of var 1..{rooms}: room;
constraint forall (c in 1..{len(closed)}) (slot[closed[c, 1]] != closed[c, 2]);
constraint forall (i, j in 1..{lessons} where i < j) (
  if who[i, 1] = who[j, 1] \\/ who[i, 2] = who[j, 2] then slot[i] != slot[j]
  else slot[i] != slot[j] \\/ room[i] != room[j] endif);
solve satisfy;
"""


MODELS: dict[str, Callable[[Random], str]] = {
    make.__name__: make
    for make in (
        project,
        knapsack,
        job_shop,
        bins,
        assignment,
        tour,
        layout,
        cover,
        colours,
        latin,
        clauses,
        split,
        timetable,
    )
}


def write_models(models: Mapping[str, Callable[[Random], str]], program: str, description: str) -> int:
    """The command of a module with models: writes so many of each kind."""
    parser = argparse.ArgumentParser(prog=program, description=description.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where to write the models")
    parser.add_argument("--seeds", type=int, default=1, help="how many of each kind")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for name, make in models.items():
        for seed in range(1, arguments.seeds + 1):
            (arguments.folder / f"{name}_{seed}.mzn").write_text(make(Random(seed)))
    return 0


def main() -> int:
    return write_models(MODELS, "python -m lab.bench.plain", __doc__)


if __name__ == "__main__":
    sys.exit(main())
