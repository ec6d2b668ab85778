"""What the global constraints of MiniZinc mean, in plain Python; used by global_cases.py.

Written from MiniZinc's documentation, not from any decomposition. Arrays are lists, indices begin at 1 unless `first`
says otherwise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise


def different(values: Sequence[int]) -> bool:
    return len(set(values)) == len(values)


def usage(s: Sequence[int], d: Sequence[int], r: Sequence[int], t: int) -> int:
    return sum(use for start, length, use in zip(s, d, r) if start <= t < start + length)


def fits(s: Sequence[int], d: Sequence[int], r: Sequence[int], b: int) -> bool:
    return b >= 0 and all(usage(s, d, r, t) <= b for t in range(-20, 40))


def apart(s: Sequence[int], d: Sequence[int], strict: bool) -> bool:
    """No two tasks overlap; `strict`: one without length does not lie within another either."""
    tasks = [(a, a + n) for a, n in zip(s, d) if strict or n > 0]
    return all(p[1] <= q[0] or q[1] <= p[0] for i, p in enumerate(tasks) for q in tasks[:i])


def beside(x: Sequence[int], y: Sequence[int], dx: Sequence[int], dy: Sequence[int], strict: bool = True) -> bool:
    boxes = [box for box in zip(x, y, dx, dy) if strict or (box[2] > 0 and box[3] > 0)]
    return all(
        p[0] + p[2] <= q[0] or q[0] + q[2] <= p[0] or p[1] + p[3] <= q[1] or q[1] + q[3] <= p[1]
        for i, p in enumerate(boxes)
        for q in boxes[:i]
    )


def tours(x: Sequence[int], first: int = 1) -> list[set[int]] | None:
    """The cycles of the successors x; None if these are no permutation."""
    nodes = range(first, first + len(x))
    if sorted(x) != list(nodes):
        return None
    cycles, left = [], set(nodes)
    while left:
        cycle, node = set(), min(left)
        while node not in cycle:
            cycle.add(node)
            node = x[node - first]
        cycles.append(cycle)
        left -= cycle
    return cycles


def is_circuit(x: Sequence[int], first: int = 1) -> bool:
    cycles = tours(x, first)
    return cycles is not None and len(cycles) == 1 and len(x) > 1


def is_subcircuit(x: Sequence[int], first: int = 1) -> bool:
    cycles = tours(x, first)
    return cycles is not None and sum(len(cycle) > 1 for cycle in cycles) <= 1


def is_inverse(f: Sequence[int], g: Sequence[int], first_f: int = 1, first_g: int = 1) -> bool:
    forth = dict(enumerate(f, first_f))
    back = dict(enumerate(g, first_g))
    return set(forth.items()) == {(i, j) for j, i in back.items()}


def accepts(word: Sequence[int], d: Sequence[Sequence[int]], final: set[int], first: int = 1) -> bool:
    state = 1
    for letter in word:
        if not first <= letter < first + len(d[0]):
            return False
        state = d[state - 1][letter - first]
        if state == 0:
            return False
    return state in final


def cost_of(word: Sequence[int], d: Sequence[Sequence[int]], c: Sequence[Sequence[int]]) -> int:
    state, total = 1, 0
    for letter in word:
        total += c[state - 1][letter - 1]
        state = d[state - 1][letter - 1]
    return total


def counts_are(x: Sequence[int], cover: Sequence[int], counts: Sequence[int], closed: bool = False) -> bool:
    found = Counter(x)
    return all(found[v] == n for v, n in zip(cover, counts)) and (not closed or set(x) <= set(cover))


def counts_within(
    x: Sequence[int], cover: Sequence[int], low: Sequence[int], high: Sequence[int], closed: bool = False
) -> bool:
    found = Counter(x)
    within = all(a <= found[v] <= b for v, a, b in zip(cover, low, high))
    return within and (not closed or set(x) <= set(cover))


def precedes(s: int, t: int, x: Sequence[int]) -> bool:
    return t not in x or s in x[: list(x).index(t)]


def chained(values: Sequence[int], x: Sequence[int]) -> bool:
    return all(precedes(s, t, x) for s, t in pairwise(values))


def steps(x: Sequence[int]) -> bool:
    return all(value <= max([0, *x[:i]]) + 1 for i, value in enumerate(x))


def loads(bins: Sequence[int], weights: Sequence[int]) -> Counter:
    total: Counter = Counter()
    for place, weight in zip(bins, weights):
        total[place] += weight
    return total


def sorted_places(x: Sequence[int], first: int = 1) -> list[int]:
    return [first + i for i in sorted(range(len(x)), key=lambda i: x[i])]


def transposed_is_sorted(rows: Sequence[Sequence[int]], strict: bool = False) -> bool:
    return all(a < b if strict else a <= b for a, b in pairwise(map(tuple, rows)))


def two_by_three(x: Sequence[int]) -> tuple[list, list]:
    """Rows and columns of six values."""
    rows = [list(x[:3]), list(x[3:])]
    return rows, [list(column) for column in zip(*rows)]
