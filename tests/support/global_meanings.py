"""What the global constraints of MiniZinc mean, in plain Python; used by global_cases.py and by the oracle.

Written from MiniZinc's documentation, not from any decomposition. Arrays are sequences, indices begin at 1 unless
`first` says otherwise. `GLOBAL_MEANINGS` is the table of the predicates that the solver takes, with the arguments that
these have: matrices row by row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterator, Sequence
from itertools import pairwise


def different(values: Sequence[int]) -> bool:
    return len(set(values)) == len(values)


def usage(s: Sequence[int], d: Sequence[int], r: Sequence[int], t: int) -> int:
    return sum(use for start, length, use in zip(s, d, r) if start <= t < start + length)


def fits(s: Sequence[int], d: Sequence[int], r: Sequence[int], b: int) -> bool:
    """Not even between two starts is more used, where a task that gave something has ended."""
    times = [*s, *(start + length for start, length in zip(s, d))]
    return not s or (b >= 0 and all(usage(s, d, r, t) <= b for t in times))


def apart(s: Sequence[int], d: Sequence[int], strict: bool) -> bool:
    """No two tasks overlap; `strict`: one without length does not lie within another either."""
    tasks = [(a, a + n) for a, n in zip(s, d) if strict or n > 0]
    return all(p[1] <= q[0] or q[1] <= p[0] for i, p in enumerate(tasks) for q in tasks[:i])


def beside(x: Sequence[int], y: Sequence[int], dx: Sequence[int], dy: Sequence[int], strict: bool = True) -> bool:
    return are_beside([x, y], [dx, dy], strict)


def are_beside(positions: Sequence[Sequence[int]], sizes: Sequence[Sequence[int]], strict: bool) -> bool:
    """Whether no two boxes overlap, in any number of dimensions, each with the positions and sizes of all boxes."""
    boxes = list(zip(zip(*positions), zip(*sizes)))
    return not any(
        all(p < q + e and q < p + d for p, d, q, e in zip(at, size, place, extent))
        for i, (at, size) in enumerate(boxes)
        for place, extent in boxes[:i]
        if strict or 0 not in (*size, *extent)
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
    return not x or (cycles is not None and len(cycles) == 1 and len(x) > 1)


def is_subcircuit(x: Sequence[int], first: int = 1) -> bool:
    cycles = tours(x, first)
    return cycles is not None and sum(len(cycle) > 1 for cycle in cycles) <= 1


def joins(
    ns: Sequence[int], es: Sequence[int], ends: Sequence[tuple[int, int]], root: int | None, directed: bool
) -> bool:
    """Whether nodes 1..n that are in are joined to the root, or to one of them, by the closure of the edges that are
    in, which have no ends elsewhere."""
    inside = [i for i, is_in in enumerate(ns, 1) if is_in]
    edges = {ends[k] for k, is_in in enumerate(es) if is_in}
    if not inside or not {i for pair in edges for i in pair} <= set(inside) or root not in (None, *inside):
        return False
    closure = edges | {(i, i) for i in inside} | (set() if directed else {(j, i) for i, j in edges})
    for k in inside:
        closure |= {(i, j) for i in inside for j in inside if {(i, k), (k, j)} <= closure}
    return all((inside[0] if root is None else root, j) in closure for j in inside)


def joins_rooted(directed: bool, is_tree: bool) -> Callable[..., bool]:
    def holds(n, m, tails, heads, root, ns, first, es) -> bool:
        ends = [(i - first + 1, j - first + 1) for i, j in zip(tails, heads)]
        fits = not is_tree or len([1 for edge in es if edge]) + 1 == len([1 for node in ns if node])
        return fits and joins(ns, es, ends, root - first + 1, directed)

    return holds


def joins_any(tails, heads, ns, first, es) -> bool:
    return joins(ns, es, [(i - first + 1, j - first + 1) for i, j in zip(tails, heads)], None, False)


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


# The predicates of share/minizinc/turbo


def are_boxes_beside(k: int, positions: Sequence[int], sizes: Sequence[int], strict: bool) -> bool:
    """The places of a box in its k dimensions stand next to each other."""
    return are_beside([positions[i::k] for i in range(k)], [sizes[i::k] for i in range(k)], strict)


def are_tasks_apart(s: Sequence[int], d: Sequence[int], strict: bool) -> bool:
    return all(length >= 0 for length in d) and apart(s, d, strict)


def is_listed(x: Sequence[int], n_rows: int, cells: Sequence[int]) -> bool:
    return any(tuple(cells[row * len(x) : (row + 1) * len(x)]) == tuple(x) for row in range(n_rows))


def read(
    x: Sequence[int], n: int, letters: Sequence[int], d: Sequence[int], first: int, final: Container[int]
) -> list[int] | None:
    """The cells of the transitions d that the word x uses; None if it is not accepted."""
    state, cells = first, []
    for letter in x:
        if letter not in letters or state not in range(1, n + 1):
            return None
        cells.append((state - 1) * len(letters) + letters.index(letter))
        state = d[cells[-1]]
    return cells if state in range(1, n + 1) and state in final else None


def accepted(x: Sequence[int], n: int, letters: Container[int], d: Sequence[int], first: int, final: Container) -> bool:
    return read(x, n, list(letters), d, first, final) is not None


def accepted_at(
    x: Sequence[int],
    n: int,
    letters: Container[int],
    d: Sequence[int],
    first: int,
    final: Container[int],
    costs: Sequence[int],
    total: int,
) -> bool:
    cells = read(x, n, list(letters), d, first, final)
    return cells is not None and total == sum(costs[cell] for cell in cells)


def path_costs(x: Sequence[int], level: Sequence[int], edges: Sequence[tuple], node: int, depth: int) -> Iterator[int]:
    """The cost of each path from the node to node 0 that reads x from `depth` on."""
    if depth == len(x):
        yield from [0] * (node == 0)
    elif node and level[node - 1] == depth + 1:
        for source, label, cost, target in edges:
            if source == node and x[depth] in label:
                yield from (cost + rest for rest in path_costs(x, level, edges, target, depth + 1))


def is_path(
    x: Sequence[int],
    n: int,
    level: Sequence[int],
    n_edges: int,
    source: Sequence[int],
    label: Sequence[Container[int]],
    target: Sequence[int],
) -> bool:
    edges = list(zip(source, label, [0] * n_edges, target))
    return any(True for _ in path_costs(x, level, edges, 1, 0))


def is_path_at(
    x: Sequence[int],
    n: int,
    level: Sequence[int],
    n_edges: int,
    source: Sequence[int],
    label: Sequence[Container[int]],
    cost: Sequence[int],
    target: Sequence[int],
    total: int,
) -> bool:
    return total in path_costs(x, level, list(zip(source, label, cost, target)), 1, 0)


def bin_loads(bins: Sequence[int], weights: Sequence[int], first: int, n_bins: int) -> list[int] | None:
    """The load of each bin; None if something is in no bin."""
    places = range(first, first + n_bins)
    return [loads(bins, weights)[place] for place in places] if set(bins) <= set(places) else None


def slides(low: int, high: int, length: int, x: Sequence[int]) -> bool:
    windows = [x[start : start + length] for start in range(len(x) - length + 1)]
    return all(low <= sum(window) <= high for window in windows)


GLOBAL_MEANINGS: dict[str, Callable[..., bool]] = {
    "turbo_all_different": different,
    "turbo_all_different_except": lambda x, s: different([v for v in x if v not in s]),
    "turbo_inverse": lambda f, first_f, g, first_g: is_inverse(f, g, first_f, first_g),
    "turbo_symmetric_all_different": lambda x, first: is_inverse(x, x, first, first),
    "turbo_circuit": is_circuit,
    "turbo_subcircuit": is_subcircuit,
    "turbo_connected": joins_any,
    "turbo_reachable": joins_rooted(directed=False, is_tree=False),
    "turbo_dreachable": joins_rooted(directed=True, is_tree=False),
    "turbo_tree": joins_rooted(directed=False, is_tree=True),
    "turbo_dtree": joins_rooted(directed=True, is_tree=True),
    "turbo_table_int": is_listed,
    "turbo_table_bool": is_listed,
    "turbo_regular": accepted,
    "turbo_cost_regular": accepted_at,
    "turbo_mdd": is_path,
    "turbo_cost_mdd": is_path_at,
    "turbo_cumulative": fits,
    "turbo_disjunctive": lambda s, d: are_tasks_apart(s, d, strict=False),
    "turbo_disjunctive_strict": lambda s, d: are_tasks_apart(s, d, strict=True),
    "turbo_diffn": beside,
    "turbo_diffn_nonstrict": lambda x, y, dx, dy: beside(x, y, dx, dy, strict=False),
    "turbo_diffn_k": lambda k, x, d: are_boxes_beside(k, x, d, strict=True),
    "turbo_diffn_nonstrict_k": lambda k, x, d: are_boxes_beside(k, x, d, strict=False),
    **{f"turbo_lex_less_{kind}": lambda x, y: tuple(x) < tuple(y) for kind in ("int", "bool")},
    **{f"turbo_lex_lesseq_{kind}": lambda x, y: tuple(x) <= tuple(y) for kind in ("int", "bool")},
    "turbo_value_precede": precedes,
    "turbo_value_precede_chain": chained,
    "turbo_seq_precede_chain": steps,
    "turbo_sort": lambda x, y: sorted(x) == list(y),
    "turbo_arg_sort": lambda x, first, p: sorted_places(x, first) == list(p),
    "turbo_count_eq": lambda x, y, c: c == x.count(y),
    "turbo_count_neq": lambda x, y, c: c != x.count(y),
    "turbo_count_lt": lambda x, y, c: c < x.count(y),
    "turbo_count_leq": lambda x, y, c: c <= x.count(y),
    "turbo_count_gt": lambda x, y, c: c > x.count(y),
    "turbo_count_geq": lambda x, y, c: c >= x.count(y),
    "turbo_among": lambda n, x, values: n == sum(v in values for v in x),
    "turbo_nvalue": lambda n, x: n == len(set(x)),
    "turbo_global_cardinality": counts_are,
    "turbo_global_cardinality_closed": lambda x, cover, counts: counts_are(x, cover, counts, closed=True),
    "turbo_global_cardinality_low_up": counts_within,
    "turbo_global_cardinality_low_up_closed": lambda *arguments: counts_within(*arguments, closed=True),
    "turbo_bin_packing": lambda c, bins, w: all(load <= c for load in loads(bins, w).values()),
    "turbo_bin_packing_capa": lambda c, first, bins, w: (
        (found := bin_loads(bins, w, first, len(c))) is not None and all(a <= b for a, b in zip(found, c))
    ),
    "turbo_bin_packing_load": lambda load, first, bins, w: bin_loads(bins, w, first, len(load)) == list(load),
    "turbo_sliding_sum": slides,
    **{f"turbo_member_{kind}": lambda x, y: y in x for kind in ("int", "bool")},
    "turbo_all_equal": lambda x: len(set(x)) < 2,
    **{f"turbo_increasing_{kind}": lambda x: list(x) == sorted(x) for kind in ("int", "bool")},
    "turbo_strictly_increasing_int": lambda x: all(y < z for y, z in pairwise(x)),
}
