"""MiniZinc models that each have one structure, as a newcomer writes them: what lowering has to recognise.

    python -m lab.bench.structured FOLDER --seeds 2

Each has its data in it, drawn from the seed. `python -m lab.bench.kinds` solves them, beside some of plain.py and
integer.py, and compares with what was found before.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from itertools import product
from random import Random

from lab.bench.plain import array, matrix, write_models


def database(random: Random, products: int = 1500, places: int = 8) -> str:
    """The best products of a data base: a table with a key, whose other columns follow from it."""
    rows = [[k, random.randint(5, 90), random.randint(1, 200), random.randint(1, 12)] for k in range(1, products + 1)]
    return f"""include "globals.mzn";
array [1..{products}, 1..4] of int: product = {matrix(rows)};
array [1..{places}] of var 1..{products}: item;
array [1..{places}] of var 0..100: weight;
array [1..{places}] of var 0..200: value;
array [1..{places}] of var 1..12: maker;
constraint forall (p in 1..{places}) (table([item[p], weight[p], value[p], maker[p]], product));
constraint all_different(item);
constraint forall (m in 1..12) (count(maker, m) <= 2);
constraint sum(weight) <= {18 * places};
solve maximize sum(value);
"""


def prices(random: Random, sellers: int = 40, goods: int = 40, orders: int = 10) -> str:
    """Least cost of orders, with a price for all pairs of seller and good: a full grid, written as a table."""
    rows = [[s, random.randint(10, 99), g] for s in range(1, sellers + 1) for g in range(1, goods + 1)]
    return f"""include "globals.mzn";
array [1..{len(rows)}, 1..3] of int: price = {matrix(rows)};
array [1..{orders}] of var 1..{sellers}: seller;
array [1..{orders}] of var 1..{goods}: good;
array [1..{orders}] of var 0..99: cost;
constraint forall (o in 1..{orders}) (table([seller[o], cost[o], good[o]], price));
constraint all_different(seller);
constraint all_different(good);
constraint sum(good) >= {orders * goods // 2};
solve minimize sum(cost);
"""


def league(random: Random, teams: int = 9) -> str:
    """Rounds of teams: all different in rows and columns, after an automaton that leaves out one of the values."""
    bonus = [[random.randint(0, 9) for _ in range(teams + 1)] for _ in range(teams * teams)]
    high = range(teams // 2 + 3, teams + 2)
    away = teams // 2  # a value that nobody has
    steps = [
        [0 if v == away or (v in high and state) else 2 if v in high else 1 for v in range(1, teams + 2)]
        for state in range(2)
    ]
    return f"""include "globals.mzn";
array [1..{teams * teams}, 1..{teams + 1}] of int: bonus = {matrix(bonus)};
array [1..2, 1..{teams + 1}] of int: step = {matrix(steps)};
array [1..{teams}, 1..{teams}] of var 1..{teams + 1}: x;
constraint forall (t in 1..{teams}) (all_different(row(x, t)) /\\ all_different(col(x, t)));
constraint forall (t in 1..{teams}) (regular(row(x, t), 2, {teams + 1}, step, 1, 1..2));
solve maximize sum (i, j in 1..{teams}) (bonus[(i - 1) * {teams} + j, x[i, j]]);
"""


def branches(random: Random, jobs: int = 14, days: int = 20) -> str:
    """Costs without declared bounds, each by a chain of cases."""
    limits = [sorted(random.sample(range(2, days), 3)) for _ in range(jobs)]
    costs = [[random.randint(1, 60) for _ in range(4)] for _ in range(jobs)]
    return f"""array [1..{jobs}, 1..3] of int: limit = {matrix(limits)};
array [1..{jobs}, 1..4] of int: price = {matrix(costs)};
array [1..{jobs}] of var 1..{days}: day;
array [1..{jobs}] of var int: cost;
constraint forall (j in 1..{jobs}) (cost[j] =
  if day[j] <= limit[j, 1] then price[j, 1] elseif day[j] <= limit[j, 2] then price[j, 2]
  elseif day[j] <= limit[j, 3] then price[j, 3] else price[j, 4] endif);
constraint forall (j in 1..{jobs - 2}) (day[j] + 2 <= day[j + 2] \\/ day[j + 2] + 3 <= day[j]);
constraint forall (d in 1..{days}) (sum (j in 1..{jobs}) (bool2int(day[j] = d)) <= 2);
solve minimize sum(cost);
"""


def connected(random: Random, side: int = 6) -> str:
    """Cells of a grid that are connected, each but the root by one of its neighbours: a clause for each cell."""
    cells = side * side
    gains = [random.randint(-9, 9) for _ in range(cells)]
    return f"""int: n = {side};
array [1..n * n] of int: gain = {array(gains)};
array [1..n * n] of var bool: taken;
array [1..n * n] of var 1..n * n: parent;
array [1..n * n] of var 0..n * n: depth;
constraint taken[1] /\\ parent[1] = 1 /\\ depth[1] = 0;
constraint forall (i, j in 1..n where i + j > 2) (let {{int: c = (i - 1) * n + j}} in
  exists ([parent[c] = (a - 1) * n + b | a, b in 1..n where abs(a - i) + abs(b - j) = 1])
  /\\ (taken[c] -> taken[parent[c]] /\\ depth[c] = depth[parent[c]] + 1));
solve maximize sum (c in 1..n * n) (gain[c] * bool2int(taken[c]));
"""


def windows(random: Random, places: int = 14) -> str:
    """The earliest end of a tour with time windows: arrivals by the predecessor of each place."""
    points = [(random.randint(0, 50), random.randint(0, 50)) for _ in range(places)]
    distances = [[round(((a - c) ** 2 + (b - d) ** 2) ** 0.5) for c, d in points] for a, b in points]
    order = random.sample(range(1, places), places - 1)
    time, opens, closes = 0, [0] * places, [2000] * places
    for before, here in zip([0, *order], order):
        time += distances[before][here]
        opens[here], closes[here] = max(0, time - random.randint(5, 60)), time + random.randint(5, 60)
    return f"""include "globals.mzn";
array [1..{places}, 1..{places}] of int: distance = {matrix(distances)};
array [1..{places}] of int: opens = {array(opens)};
array [1..{places}] of int: closes = {array(closes)};
array [1..{places}] of var 1..{places}: previous;
array [1..{places}] of var 0..2000: arrival;
constraint circuit(previous);
constraint arrival[1] = 0;
constraint forall (p in 2..{places}) (
  arrival[p] >= opens[p] /\\ arrival[p] <= closes[p]
  /\\ arrival[p] >= arrival[previous[p]] + distance[previous[p], p]);
solve minimize max (p in 2..{places}) (arrival[p] + distance[p, 1]);
"""


def cumulatives(random: Random, tasks: int = 40, crews: int = 16) -> str:
    """Least makespan of tasks that each need several of many crews: a cumulative for each."""
    durations = [random.randint(2, 12) for _ in range(tasks)]
    needs = [[random.choice((0, 0, 0, random.randint(1, 4))) for _ in range(tasks)] for _ in range(crews)]
    before = [[random.randint(max(1, t - 8), t - 1), t] for t in range(3, tasks + 1)]
    return f"""include "globals.mzn";
array [1..{tasks}] of int: duration = {array(durations)};
array [1..{crews}, 1..{tasks}] of int: need = {matrix(needs)};
array [1..{len(before)}, 1..2] of int: before = {matrix(before)};
array [1..{tasks}] of var 0..{sum(durations)}: start;
var 0..{sum(durations)}: makespan;
constraint forall (p in 1..{len(before)}) (start[before[p, 1]] + duration[before[p, 1]] <= start[before[p, 2]]);
constraint forall (c in 1..{crews}) (cumulative(start, duration, row(need, c), 5));
constraint forall (t in 1..{tasks}) (start[t] + duration[t] <= makespan);
solve minimize makespan;
"""


def alternatives(random: Random, jobs: int = 6, steps: int = 4, machines: int = 4) -> str:
    """Flexible job shop: each step on one of two machines, as optional intervals."""
    n = jobs * steps
    choice = [random.sample(range(1, machines + 1), 2) for _ in range(n)]
    lengths = [[random.randint(2, 15) for _ in range(2)] for _ in range(n)]
    most = sum(map(max, lengths))
    return f"""include "globals.mzn";
array [1..{n}, 1..2] of int: machine = {matrix(choice)};
array [1..{n}, 1..2] of int: duration = {matrix(lengths)};
array [1..{n}, 1..2] of var opt 0..{most}: start;
array [1..{n}] of var 0..{most}: begin;
array [1..{n}] of var 1..2: way;
var 0..{most}: makespan;
constraint forall (i in 1..{n}, w in 1..2) ((occurs(start[i, w]) <-> way[i] = w)
  /\\ (way[i] = w -> deopt(start[i, w]) = begin[i]));
constraint forall (j in 0..{jobs - 1}, k in 1..{steps - 1}) (let {{int: i = j * {steps} + k}} in
  begin[i] + duration[i, way[i]] <= begin[i + 1]);
constraint forall (i in 1..{n}) (begin[i] + duration[i, way[i]] <= makespan);
constraint forall (m in 1..{machines}) (disjunctive(
  [start[i, w] | i in 1..{n}, w in 1..2 where machine[i, w] = m],
  [duration[i, w] | i in 1..{n}, w in 1..2 where machine[i, w] = m]));
solve minimize makespan;
"""


def nurses(random: Random, people: int = 12, days: int = 14) -> str:
    """Shifts by a pattern for each person and numbers for each day, with wishes."""
    wishes = [[random.randint(0, 9) for _ in range(3)] for _ in range(people * days)]
    return f"""include "globals.mzn";
array [1..{people * days}, 1..3] of int: dislike = {matrix(wishes)};
array [1..{people}, 1..{days}] of var 1..3: shift;
array [1..6, 1..3] of int: step = [| 2, 4, 1 | 3, 4, 1 | 6, 4, 1 | 0, 5, 1 | 0, 0, 1 | 0, 0, 1 |];
constraint forall (p in 1..{people}) (regular(row(shift, p), 6, 3, step, 1, 1..6));
constraint forall (d in 1..{days}) (global_cardinality_low_up(col(shift, d), [1, 2], [4, 2], [6, 4]));
constraint forall (p in 1..{people}) (count(row(shift, p), 3) >= 3);
solve minimize sum (p in 1..{people}, d in 1..{days}) (dislike[(p - 1) * {days} + d, shift[p, d]]);
"""


def incompatible(random: Random, items: int = 90, groups: int = 12) -> str:
    """The most valuable items of limited weight, of which many pairs exclude each other."""
    group = [random.randint(1, groups) for _ in range(items)]
    apart = [[i + 1, j + 1] for i in range(items) for j in range(i + 1, items)
             if group[i] == group[j] or random.random() < 0.04]  # fmt: skip
    return f"""array [1..{len(apart)}, 1..2] of int: apart = {matrix(apart)};
array [1..{items}] of int: value = {array([random.randint(10, 99) for _ in range(items)])};
array [1..{items}] of int: weight = {array([random.randint(5, 40) for _ in range(items)])};
array [1..{items}] of var bool: taken;
constraint forall (k in 1..{len(apart)}) (not taken[apart[k, 1]] \\/ not taken[apart[k, 2]]);
constraint sum (i in 1..{items}) (weight[i] * bool2int(taken[i])) <= {20 * groups // 2};
solve maximize sum (i in 1..{items}) (value[i] * bool2int(taken[i]));
"""


def cost_tables(random: Random, variables: int = 14, tables: int = 30) -> str:
    """Least sum of costs that tables give to triples of variables."""
    lines = []
    for number in range(tables):
        scope = random.sample(range(1, variables + 1), 3)
        rows = [[*values, random.randint(0, 9)] for values in product(range(4), repeat=3)]
        members = ", ".join(f"x[{v}]" for v in scope)
        lines.append(f"constraint table([{members}, cost[{number + 1}]], {matrix(rows)});")
    constraints = "\n".join(lines)
    return f"""include "globals.mzn";
array [1..{variables}] of var 0..3: x;
array [1..{tables}] of var 0..9: cost;
{constraints}
solve minimize sum(cost);
"""


def turned(cells: Sequence[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """The ways in which a piece of cells (row, column) can lie, each at the upper left corner."""
    ways = set()
    for flip in (1, -1):
        for turns in range(4):
            way = [(row, flip * column) for row, column in cells]
            for _ in range(turns):
                way = [(column, -row) for row, column in way]
            top, left = min(row for row, _ in way), min(column for _, column in way)
            ways.add(tuple(sorted((row - top, column - left) for row, column in way)))
    return [list(way) for way in sorted(ways)]


def pieces_of(random: Random, kinds: int, size: int) -> list[list[tuple[int, int]]]:
    """Random connected pieces of `size` cells."""
    pieces = []
    for _ in range(kinds):
        cells = [(0, 0)]
        while len(cells) < size:
            row, column = random.choice(cells)
            down, right = random.choice(((0, 1), (1, 0), (0, -1), (-1, 0)))
            cells += [] if (row + down, column + right) in cells else [(row + down, column + right)]
        pieces.append(cells)
    return pieces


def packing(random: Random, height: int = 7, width: int = 8, size: int = 6, kinds: int = 3, wanted: int = 8) -> str:
    """So many of each piece on a board, each place of a piece a 0-1 variable, each cell taken at most once."""
    covers: dict[tuple[int, int], list[str]] = {}
    rows, n = [], 0
    counts = [wanted // kinds + (kind < wanted % kinds) for kind in range(kinds)]
    for piece, count in zip(pieces_of(random, kinds, size), counts):
        first = n + 1
        for way, top, left in product(turned(piece), range(height), range(width)):
            cells = [(top + row, left + column) for row, column in way]
            if max(row for row, _ in cells) < height and max(column for _, column in cells) < width:
                n += 1
                for cell in cells:
                    covers.setdefault(cell, []).append(f"x[{n}]")
        rows.append(f"constraint sum (i in {first}..{n}) (x[i]) = {count};")
    rows += [f"constraint {' + '.join(places)} <= 1;" for places in covers.values()]
    return "\n".join([f"array [1..{n}] of var 0..1: x;", *rows, "solve satisfy;", ""])


def langford(random: Random, numbers: int = 10) -> str:
    """Pairs of each number d, d places between them, fill a line: an exact cover, of which parity says that there is
    none for ten numbers. The order of the variables is random."""
    pairs = [(d, place) for d in range(1, numbers + 1) for place in range(2 * numbers - d - 1)]
    random.shuffle(pairs)
    wants = [{i for i, (d, _) in enumerate(pairs, 1) if d == number} for number in range(1, numbers + 1)]
    wants += [{i for i, (d, at) in enumerate(pairs, 1) if place in (at, at + d + 1)} for place in range(2 * numbers)]
    rows = [f"constraint {' + '.join(f'x[{i}]' for i in sorted(want))} = 1;" for want in wants]
    return "\n".join([f"array [1..{len(pairs)}] of var 0..1: x;", *rows, "solve satisfy;", ""])


MODELS: dict[str, Callable[[Random], str]] = {
    make.__name__: make
    for make in (
        database,
        prices,
        league,
        branches,
        connected,
        windows,
        cumulatives,
        alternatives,
        nurses,
        incompatible,
        cost_tables,
        packing,
        langford,
    )
}


def main() -> int:
    return write_models(MODELS, "python -m lab.bench.structured", __doc__)


if __name__ == "__main__":
    sys.exit(main())
