"""The meaning of the global constraints, in plain Python: the rows of relations.py whose names begin with `turbo_`.

Written from MiniZinc's documentation, not from any lowering. Matrices are given row by row; an argument `first` is the
index of an array's first element. A matrix of constants is a NumPy array of one dimension, int64; other arrays are
lists.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations, pairwise

import numpy as np

from turbo_fzn.base.domains import IntSet

Values = Sequence[int]


def is_member(x: int, values: IntSet) -> bool:
    """x in values, by binary search over the ranges."""
    position = bisect_right(values.ranges, x, key=lambda pair: pair[0])
    return position > 0 and x <= values.ranges[position - 1][1]


def all_different(x: Values) -> bool:
    return len(set(x)) == len(x)


def is_inverse(f: Values, first_f: int, g: Values, first_g: int) -> bool:
    return all(first_g <= j < first_g + len(g) and g[j - first_g] == i for i, j in enumerate(f, first_f)) and all(
        first_f <= i < first_f + len(f) and f[i - first_f] == j for j, i in enumerate(g, first_g)
    )


# Graphs


def _tour_lengths(x: Values, first: int) -> list[int] | None:
    """The lengths of the cycles of the successors x; None if x is not a permutation."""
    if sorted(x) != list(range(first, first + len(x))):
        return None
    left, lengths = set(range(len(x))), []
    while left:
        node, length = left.pop(), 1
        while (node := x[node] - first) in left:
            left.remove(node)
            length += 1
        lengths.append(length)
    return lengths


def is_circuit(x: Values, first: int) -> bool:
    return not x or (_tour_lengths(x, first) == [len(x)] and len(x) > 1)


def is_subcircuit(x: Values, first: int) -> bool:
    lengths = _tour_lengths(x, first)
    return lengths is not None and sum(length > 1 for length in lengths) <= 1


def reaches(tails: Values, heads: Values, start: int, ns: Values, first: int, es: Values, directed: bool) -> bool:
    """Whether the start is in, ends of edges that are in are in, and from it, over these edges, all nodes that are in
    are reached."""
    inside = {i for i, is_in in enumerate(ns, first) if is_in}
    edges = [(i, j) for i, j, is_in in zip(tails, heads, es) if is_in]
    if start not in inside or not all(i in inside and j in inside for i, j in edges):
        return False
    behind: dict[int, set[int]] = {}
    for i, j in edges if directed else [*edges, *((j, i) for i, j in edges)]:
        behind.setdefault(i, set()).add(j)
    seen, left = {start}, [start]
    while left:
        more = behind.get(left.pop(), set()) - seen
        seen |= more
        left += more
    return seen == inside


def _is_connected(tails: Values, heads: Values, ns: Values, first: int, es: Values) -> bool:
    return 1 in ns and reaches(tails, heads, first + ns.index(1), ns, first, es, directed=False)


def _is_rooted(directed: bool, is_tree: bool) -> Callable[..., bool]:
    def holds(n: int, m: int, tails: Values, heads: Values, root: int, ns: Values, first: int, es: Values) -> bool:
        return reaches(tails, heads, root, ns, first, es, directed) and (not is_tree or sum(es) == sum(ns) - 1)

    return holds


# Tables and automata


def is_row(x: Values, n_rows: int, cells: np.ndarray) -> bool:
    """Whether x is a row of cells; compares column by column, since few rows are left after the first columns."""
    if not x:
        return n_rows > 0
    if not all(-(2**63) <= v < 2**63 for v in x):
        return False
    width = len(x)
    left = width * np.flatnonzero(cells[::width] == x[0])  # where each row begins
    for column in range(1, width):
        left = left[cells[left + column] == x[column]]
    return len(left) > 0


def path(x: Values, n_states: int, letters: IntSet, d: np.ndarray, state: int) -> tuple[list[int], int]:
    """The cells of d that a word uses, and the state after it, 0 if it leaves the automaton."""
    cells: list[int] = []
    for letter in x:
        if not is_member(letter, letters) or not 1 <= state <= n_states:
            return cells, 0
        cells.append((state - 1) * letters.size + letter - letters.lower)
        state = int(d[cells[-1]])
    return cells, state


def accepts(x: Values, n_states: int, letters: IntSet, d: np.ndarray, first: int, final: IntSet) -> bool:
    _, state = path(x, n_states, letters, d, first)
    return 1 <= state <= n_states and is_member(state, final)


def _accepts_at_cost(
    x: Values,
    n_states: int,
    letters: IntSet,
    d: np.ndarray,
    first: int,
    final: IntSet,
    costs: np.ndarray,
    total: int,
) -> bool:
    cells, state = path(x, n_states, letters, d, first)
    return 1 <= state <= n_states and is_member(state, final) and sum(int(costs[cell]) for cell in cells) == total


def _is_path(
    x: Values, n: int, level: Values, n_edges: int, source: Values, label: list[IntSet], target: Values
) -> bool:
    return _is_path_at_cost(x, n, level, n_edges, source, label, [0] * n_edges, target, 0)


def _is_path_at_cost(
    x: Values,
    n: int,
    level: Values,
    n_edges: int,
    source: Values,
    label: list[IntSet],
    cost: Values,
    target: Values,
    total: int,
) -> bool:
    """Whether the edges whose labels x reads lead from node 1 to node 0, and their costs sum up to `total`."""
    ways: set[tuple[int, int]] = {(1, 0)}
    for place, value in enumerate(x, 1):
        ways = {
            (target[e], spent + int(cost[e]))
            for node, spent in ways
            for e in range(n_edges)
            if source[e] == node and level[node - 1] == place and is_member(value, label[e])
        }
    return (0, total) in ways


# Time and space


def fits(s: Values, d: Values, r: Values, capacity: int) -> bool:
    """Whether the use never exceeds the capacity; it changes only where a task starts or ends."""
    tasks = [(start, start + length, use) for start, length, use in zip(s, d, r)]
    most = [sum(use for low, high, use in tasks if low <= time < high) for task in tasks for time in task[:2]]
    return not s or (capacity >= 0 and max(most) <= capacity)


def are_apart(sides: Sequence[tuple[Values, Values]], strict: bool) -> bool:
    """Whether no two boxes overlap; with `strict`, a box of size 0 may not lie within another either."""
    n = len(sides[0][0]) if sides else 0
    boxes = [[(p[i], p[i] + d[i]) for p, d in sides] for i in range(n) if strict or all(d[i] != 0 for _, d in sides)]
    return all(any(p[1] <= q[0] or q[1] <= p[0] for p, q in zip(*pair)) for pair in combinations(boxes, 2))


def _slices(k: int, positions: Values, sizes: Values) -> list[tuple[Values, Values]]:
    return [(positions[i::k], sizes[i::k]) for i in range(k)]


# Orders


def precedes(s: int, t: int, x: Values) -> bool:
    return t not in x or s in x[: list(x).index(t)]


def _grows_by_steps(x: Values) -> bool:
    greatest = 0
    for value in x:
        if value > greatest + 1:
            return False
        greatest = max(greatest, value)
    return True


def _is_sorted_by(x: Values, first: int, p: Values) -> bool:
    return list(p) == [first + i for i in sorted(range(len(x)), key=lambda i: x[i])]


# Counting


def takes(x: Values, cover: Values, low: Values, high: Values, closed: bool) -> bool:
    found = Counter(x)
    within = all(least <= found[value] <= most for value, least, most in zip(cover, low, high))
    return within and (not closed or set(x) <= set(cover))


def loads(bins: Values, weights: Values) -> Counter[int]:
    total: Counter[int] = Counter()
    for place, weight in zip(bins, weights):
        total[place] += weight
    return total


def _fit_into(loaded: Counter[int], first: int, capacities: Values, exactly: bool) -> bool:
    if any(not first <= place < first + len(capacities) for place in loaded):
        return False
    pairs = [(loaded[place], capacity) for place, capacity in enumerate(capacities, first)]
    return all(load == capacity if exactly else load <= capacity for load, capacity in pairs)


def slide(low: int, high: int, length: int, x: Values) -> bool:
    return all(low <= sum(x[i : i + length]) <= high for i in range(len(x) - length + 1))


TABLES = ("turbo_table_int", "turbo_table_bool")
MEANINGS: dict[str, Callable[..., bool]] = {
    "turbo_all_different": all_different,
    "turbo_all_different_except": lambda x, s: all_different([v for v in x if not is_member(v, s)]),
    "turbo_inverse": is_inverse,
    "turbo_symmetric_all_different": lambda x, first: is_inverse(x, first, x, first),
    "turbo_circuit": is_circuit,
    "turbo_subcircuit": is_subcircuit,
    "turbo_connected": _is_connected,
    "turbo_reachable": _is_rooted(directed=False, is_tree=False),
    "turbo_dreachable": _is_rooted(directed=True, is_tree=False),
    "turbo_tree": _is_rooted(directed=False, is_tree=True),
    "turbo_dtree": _is_rooted(directed=True, is_tree=True),
    **dict.fromkeys(TABLES, is_row),
    "turbo_regular": accepts,
    "turbo_cost_regular": _accepts_at_cost,
    "turbo_mdd": _is_path,
    "turbo_cost_mdd": _is_path_at_cost,
    "turbo_cumulative": fits,
    "turbo_disjunctive": lambda s, d: min(d, default=0) >= 0 and are_apart([(s, d)], False),
    "turbo_disjunctive_strict": lambda s, d: min(d, default=0) >= 0 and are_apart([(s, d)], True),
    "turbo_diffn": lambda x, y, dx, dy: are_apart([(x, dx), (y, dy)], True),
    "turbo_diffn_nonstrict": lambda x, y, dx, dy: are_apart([(x, dx), (y, dy)], False),
    "turbo_diffn_k": lambda k, x, d: are_apart(_slices(k, x, d), True),
    "turbo_diffn_nonstrict_k": lambda k, x, d: are_apart(_slices(k, x, d), False),
    "turbo_lex_less_int": lambda x, y: x < y,
    "turbo_lex_less_bool": lambda x, y: x < y,
    "turbo_lex_lesseq_int": lambda x, y: x <= y,
    "turbo_lex_lesseq_bool": lambda x, y: x <= y,
    "turbo_value_precede": precedes,
    "turbo_value_precede_chain": lambda values, x: all(precedes(s, t, x) for s, t in pairwise(values)),
    "turbo_seq_precede_chain": _grows_by_steps,
    "turbo_sort": lambda x, y: sorted(x) == y,
    "turbo_arg_sort": _is_sorted_by,
    "turbo_count_eq": lambda x, y, c: c == x.count(y),
    "turbo_count_neq": lambda x, y, c: c != x.count(y),
    "turbo_count_lt": lambda x, y, c: c < x.count(y),
    "turbo_count_leq": lambda x, y, c: c <= x.count(y),
    "turbo_count_gt": lambda x, y, c: c > x.count(y),
    "turbo_count_geq": lambda x, y, c: c >= x.count(y),
    "turbo_among": lambda n, x, values: n == sum(is_member(v, values) for v in x),
    "turbo_nvalue": lambda n, x: n == len(set(x)),
    "turbo_global_cardinality": lambda x, cover, counts: takes(x, cover, counts, counts, False),
    "turbo_global_cardinality_closed": lambda x, cover, counts: takes(x, cover, counts, counts, True),
    "turbo_global_cardinality_low_up": lambda x, cover, low, high: takes(x, cover, low, high, False),
    "turbo_global_cardinality_low_up_closed": lambda x, cover, low, high: takes(x, cover, low, high, True),
    "turbo_bin_packing": lambda c, bins, w: all(load <= c for load in loads(bins, w).values()),
    "turbo_bin_packing_capa": lambda c, first, bins, w: _fit_into(loads(bins, w), first, c, False),
    "turbo_bin_packing_load": lambda c, first, bins, w: _fit_into(loads(bins, w), first, c, True),
    "turbo_sliding_sum": slide,
    "turbo_member_int": lambda x, y: y in x,
    "turbo_member_bool": lambda x, y: y in x,
    "turbo_all_equal": lambda x: len(set(x)) <= 1,
    "turbo_increasing_int": lambda x: all(y <= z for y, z in pairwise(x)),
    "turbo_increasing_bool": lambda x: all(y <= z for y, z in pairwise(x)),
    "turbo_strictly_increasing_int": lambda x: all(y < z for y, z in pairwise(x)),
}
