"""Random calls of the global constraints, as part of a random model (generate.py).

Random arguments hardly ever satisfy a global constraint. So most calls begin with values that do, and each value
becomes a variable that the witness gives it, one that is made for it, or a constant. In other calls the variables come
first, and what is said of them (a count, a load, a row of a table) is made to fit. Some arguments are drawn without
regard to either.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

from fuzz.drawer import Drawer
from fuzz.graph_calls import connected, rooted
from fuzz.scope import a_bool, an_int, value_in
from turbo_fzn.base.domains import IntSet

LARGEST = 2**63 - 1  # that FlatZinc can have here

# ---- values that differ, and graphs


def distinct(d: Drawer) -> list[int]:
    n, least = d.size(), d.near()
    return d.random.sample(range(least - n, least + n + d.random.randint(0, 2) + 1), n)


def different_except(d: Drawer) -> list:
    values = distinct(d)
    free = d.some_set(values)
    twice = [d.random.choice(list(free)) for _ in range(d.random.randint(0, 2) if free else 0)]
    return [d.hold_all([*values, *twice]), free]


def first_near(d: Drawer, n: int) -> int:
    """A first index such that the indices of n elements are close to the witness's values."""
    return d.near(1) - d.random.randint(0, n)


def inverse(d: Drawer) -> list:
    n = d.size()
    order = d.random.sample(range(n), n)
    first_f, first_g = first_near(d, n), first_near(d, n)
    f = [first_g + place for place in order]
    g = [first_f + order.index(place) for place in range(n)]
    return [d.hold_all(f), first_f, d.hold_all(g[: n - (d.random.random() < 0.1)]), first_g]


def tour(d: Drawer, through: Callable[[int], int]) -> list:
    """Successors along a tour through some of the nodes; the others follow themselves."""
    n = d.size()
    first = first_near(d, n)
    on = d.random.sample(range(n), through(n))
    follower = dict(zip(on, [*on[1:], *on[:1]]))
    return [d.hold_all([first + follower.get(node, node) for node in range(n)]), first]


def paired(d: Drawer) -> list:
    """Successors that come in pairs."""
    n = d.size()
    first, order = first_near(d, n), d.random.sample(range(n), n)
    partner = {node: node for node in order}
    for i, j in zip(order[::2], order[1::2]):
        if d.random.random() < 0.8:
            partner[i], partner[j] = j, i
    return [d.hold_all([first + partner[node] for node in range(n)]), first]


# ---- tables, automata and diagrams


def table(d: Drawer, x: list, cell: Callable[[int], Any]) -> list:
    """Rows near the witness's values, which are mostly one of them."""
    values = d.values(x)
    rows = [[cell(value) for value in values] for _ in range(d.size())]
    if d.random.random() < 0.8:
        rows.insert(d.random.randint(0, len(rows)), [type(cell(0))(value) for value in values])
    return [x, len(rows), [number for row in rows for number in row]]


def word(d: Drawer) -> tuple[list, IntSet]:
    """Letters of an alphabet, and perhaps something else among them."""
    n, least = d.size(), d.near()
    alphabet = IntSet.interval(least, least + d.random.choice((-1, 0, 1, 1, 2, 2, 3)))
    letters = list(alphabet) or [least]
    return d.hold_all(d.random.choices(letters, k=n)), alphabet


def automaton(d: Drawer, priced: bool) -> list:
    x, alphabet = word(d)
    n_states = d.random.choice((0, 1, 2, 2, 3, 3, 4))
    transitions = [d.random.choice((0, *(2 * [*range(1, n_states + 1)]))) for _ in range(n_states * alphabet.size)]
    first = d.random.randint(1, max(n_states, 1)) if d.random.random() < 0.9 else d.random.randint(-1, n_states + 1)
    cells, end = walk(d.values(x), alphabet, transitions, first)
    final = IntSet.of_values([*d.random.choices(range(n_states + 2), k=d.random.randint(0, 3)), end])
    call: list = [x, n_states, alphabet, transitions, first, final if d.random.random() < 0.8 else IntSet(())]
    if priced:
        costs = [d.random.randint(-2, 5) for _ in transitions]
        call += [costs, d.hold(sum(costs[cell] for cell in cells) + d.slack())]
    return call


def walk(letters: Sequence[int], alphabet: IntSet, transitions: list[int], state: int) -> tuple[list[int], int]:
    """The transitions that a word uses, as far as it is read, and the state behind them."""
    cells: list[int] = []
    for letter in letters:
        cell = (state - 1) * alphabet.size + list(alphabet).index(letter) if letter in alphabet else -1
        if not 0 <= cell < len(transitions):
            break
        cells.append(cell)
        state = transitions[cell]
    return cells, state


def diagram(d: Drawer, priced: bool) -> list:
    """Layers of one node or two; the labels of the edges that leave one have no value in common."""
    x, alphabet = word(d)
    widths = [1, *(d.random.randint(1, 2) for _ in x[1:])]
    level = [depth for depth, width in enumerate(widths, 1) for _ in range(width)]
    edges: list[tuple[int, IntSet, int, int]] = []
    for node, depth in enumerate(level, 1):
        targets = [other for other, below in enumerate(level, 1) if below == depth + 1] or [0]
        values = d.random.sample(list(alphabet), alphabet.size if d.random.random() < 0.7 else alphabet.size // 2)
        cuts = sorted(d.random.randint(0, len(values)) for _ in range(d.random.randint(0, 2)))
        for low, high in zip([0, *cuts], [*cuts, len(values)]):
            label = IntSet.of_values(values[low:high])
            edges.append((node, label, d.random.randint(-2, 5), d.random.choice(targets)))
    d.random.shuffle(edges)
    source, label, cost, target = ([edge[place] for edge in edges] for place in range(4))
    call: list = [x, len(level), level, len(edges), source, label]
    if not priced:
        return [*call, target]
    node, total = 1, 0
    for value in d.values(x):
        edge = next((edge for edge in edges if edge[0] == node and value in edge[1]), (0, None, 0, 0))
        node, total = edge[3], total + edge[2]
    return [*call, cost, target, d.hold(total + d.slack())]


# ---- time and space


def cumulative(d: Drawer) -> list:
    n = d.size()
    starts = d.ints(n) if d.random.random() < 0.4 else d.hold_all([d.near() for _ in range(n)])
    lengths, uses = [d.amount() for _ in range(n)], [d.use() for _ in range(n)]
    tasks = list(zip(d.values(starts), d.values(lengths), d.values(uses)))
    times = [time for s, length, _ in tasks for time in (s, s + length)]
    most = max((sum(r for s, length, r in tasks if s <= t < s + length) for t in times), default=0)
    return [starts, lengths, uses, d.hold(most + d.slack())]


def in_a_row(d: Drawer, lengths: list) -> list:
    """Starts such that nothing overlaps, in any order."""
    order = d.random.sample(range(len(lengths)), len(lengths))
    gaps = [d.values(lengths)[place] + d.random.choice((0, 0, 1)) for place in order]
    starts = accumulate(gaps[:-1], initial=d.near(4))
    return d.hold_all([start for _, start in sorted(zip(order, starts))])


def tasks(d: Drawer) -> list:
    lengths = [d.amount() if d.random.random() < 0.9 else an_int(d.scope) for _ in range(d.size())]
    return [in_a_row(d, lengths), lengths]


def boxes(d: Drawer, n: int, k: int) -> list[tuple[list, list]]:
    """The positions and sizes in each of k dimensions; in one of them the boxes mostly stand in a row."""
    sides = []
    for dimension in range(k):
        sizes = [d.amount() for _ in range(n)]
        sides.append((d.ints(n) if dimension or d.random.random() < 0.4 else in_a_row(d, sizes), sizes))
    d.random.shuffle(sides)
    return sides


def diffn(d: Drawer) -> list:
    (x, dx), (y, dy) = boxes(d, d.size(), 2)
    return [x, y, dx, dy]


def diffn_k(d: Drawer) -> list:
    n, k = d.size(), d.random.choice((1, 2, 2, 3, 0))
    sides = boxes(d, n, k)
    return [k, *([side[place][box] for box in range(n) for side in sides] for place in (0, 1))]


# ---- orders


def lex(d: Drawer, draw: Callable[[int], list], hold: Callable[[list[int]], list]) -> list:
    x = draw(d.size())
    values = d.values(x)[: d.random.choice((len(x), len(x), len(x), d.size()))]
    if values and d.random.random() < 0.6:
        values[d.random.randrange(len(values))] += 1
    y = hold(values)
    return [x, y] if d.random.random() < 0.8 else [x, draw(d.size())]


def precedence(d: Drawer) -> list:
    x = d.ints(d.size())
    values = [*d.values(x), d.near(), d.near()]
    return [d.random.choice(values), d.random.choice(values), x]


def precedence_chain(d: Drawer) -> list:
    x = d.ints(d.size())
    return [list(dict.fromkeys(d.values(x))) if d.random.random() < 0.3 else d.around(d.values(x)), x]


def numbered(d: Drawer) -> list:
    """Values that grow by steps of 1."""
    greatest, values = 0, []
    for _ in range(d.size()):
        values.append(d.random.randint(min(greatest, 0) - (d.random.random() < 0.2), greatest + 1))
        greatest = max(greatest, values[-1])
    return [d.hold_all(values)]


def sort(d: Drawer) -> list:
    x = d.ints(d.size())
    return [x, d.hold_all(sorted(d.values(x)))]


def arg_sort(d: Drawer) -> list:
    x = d.ints(d.size())
    first, values = first_near(d, len(x)), d.values(x)
    return [x, first, d.hold_all([first + place for place in sorted(range(len(x)), key=values.__getitem__)])]


def member(d: Drawer) -> list:
    x = d.ints(d.size(1))
    return [x, d.hold(d.random.choice(d.values(x)))]


# ---- counting


def count(d: Drawer, offsets: Sequence[int]) -> list:
    """How often something occurs, and a number that stands in the relation to it."""
    x = d.ints(d.size())
    y = d.hold(d.random.choice([*d.values(x), d.near()]))
    return [x, y, d.hold(d.values(x).count(value_in(d.scope, y)) + d.random.choice(offsets))]


def among(d: Drawer) -> list:
    x = d.ints(d.size())
    values = d.some_set(d.values(x))
    return [d.hold(sum(value in values for value in d.values(x)) + d.slack()), x, values]


def nvalue(d: Drawer) -> list:
    x = d.ints(d.size())
    return [d.hold(len(set(d.values(x))) + d.slack()), x]


def cardinality(d: Drawer, closed: bool) -> tuple[list, list[int], list[int]]:
    """Variables, a cover, and how often each of the cover occurs."""
    x = d.ints(d.size())
    found = Counter(d.values(x))
    cover = d.around(list(found))
    if closed and d.random.random() < 0.8:
        cover = list(dict.fromkeys([*cover, *found]))
    if cover and d.random.random() < 0.05:
        cover.append(cover[0])
    return x, cover, [found[value] for value in cover]


def counts(d: Drawer, closed: bool) -> list:
    x, cover, found = cardinality(d, closed)
    return [x, cover, d.hold_all(found)]


def limits(d: Drawer, closed: bool) -> list:
    x, cover, found = cardinality(d, closed)
    low = [number - d.random.randint(0, 2) for number in found]
    return [x, cover, low, [number + max(d.slack(), 0) for number in found]]


def bins(d: Drawer, n_bins: int, first: int) -> tuple[list, list[int], list[int]]:
    """Where things are, what they weigh, and the load of each bin."""
    n = d.size()
    x = d.hold_all([first + d.random.randrange(n_bins) for _ in range(n)] if n_bins else [d.near() for _ in range(n)])
    weights, loads = d.weights(n), [0] * n_bins
    for place, weight in zip(d.values(x), weights):
        if 0 <= place - first < n_bins:
            loads[place - first] += weight
    return x, weights, loads


def bin_packing(d: Drawer) -> list:
    x, weights = d.ints(d.size()), d.weights(9)
    loads: Counter[int] = Counter()
    for place, weight in zip(d.values(x), weights):
        loads[place] += weight
    return [max(loads.values(), default=0) + d.slack(), x, weights[: len(x)]]


def bin_capacities(d: Drawer) -> list:
    n_bins = d.random.randint(0, 3)
    first = first_near(d, n_bins)
    x, weights, loads = bins(d, n_bins, first)
    return [[load + d.slack() for load in loads], first, x, weights]


def bin_loads(d: Drawer) -> list:
    n_bins = d.random.randint(0, 3)
    first = first_near(d, n_bins)
    x, weights, loads = bins(d, n_bins, first)
    return [d.hold_all(loads), first, x, weights]


def sliding_sum(d: Drawer) -> list:
    x = d.ints(d.size())
    length = d.random.randint(d.random.random() > 0.1, len(x) + 1)
    sums = [sum(d.values(x)[start : start + length]) for start in range(len(x) - length + 1)] or [d.near()]
    ends = min(sums) - d.slack(), max(sums) + d.slack()
    return [*(max(-LARGEST, min(end, LARGEST)) for end in ends), length, x]


Calls = dict[str, Callable[[Drawer], list]]


def calls_of_structures() -> Calls:
    """How to draw the arguments of those that speak of permutations, words, time, space and order."""
    return {
        "all_different": lambda d: [d.hold_all(distinct(d))],
        "all_different_except": different_except,
        "inverse": inverse,
        "symmetric_all_different": paired,
        "circuit": lambda d: tour(d, lambda n: n),
        "subcircuit": lambda d: tour(d, lambda n: d.random.randint(0, n)),
        "connected": connected,
        "reachable": lambda d: rooted(d, directed=False, is_tree=False),
        "dreachable": lambda d: rooted(d, directed=True, is_tree=False),
        "tree": lambda d: rooted(d, directed=False, is_tree=True),
        "dtree": lambda d: rooted(d, directed=True, is_tree=True),
        "table_int": lambda d: table(d, d.ints(d.size()), lambda v: v + d.random.choice((0, 0, 1, -1, 2))),
        "table_bool": lambda d: table(d, d.bools(d.size()), lambda v: d.random.random() < 0.5),
        "regular": lambda d: automaton(d, priced=False),
        "cost_regular": lambda d: automaton(d, priced=True),
        "mdd": lambda d: diagram(d, priced=False),
        "cost_mdd": lambda d: diagram(d, priced=True),
        "cumulative": cumulative,
        **dict.fromkeys(("disjunctive", "disjunctive_strict"), tasks),
        **dict.fromkeys(("diffn", "diffn_nonstrict"), diffn),
        **dict.fromkeys(("diffn_k", "diffn_nonstrict_k"), diffn_k),
        **dict.fromkeys(("lex_less_int", "lex_lesseq_int"), lambda d: lex(d, d.ints, d.hold_all)),
        **dict.fromkeys(("lex_less_bool", "lex_lesseq_bool"), lambda d: lex(d, d.bools, lambda v: d.bools(len(v)))),
        "value_precede": precedence,
        "value_precede_chain": precedence_chain,
        "seq_precede_chain": numbered,
        "sort": sort,
        "arg_sort": arg_sort,
        "all_equal": lambda d: [d.hold_all([d.near()] * d.size())],
        "increasing_int": lambda d: [d.hold_all(sorted(d.near() for _ in range(d.size())))],
        "increasing_bool": lambda d: [d.bools(d.size())],
        "strictly_increasing_int": lambda d: [d.hold_all(sorted(distinct(d)))],
    }


def calls_of_counts() -> Calls:
    by_relation = {"eq": (0, 0, 1), "neq": (-1, 1, 0), "lt": (-1, -2), "leq": (0, -1), "gt": (1, 2), "geq": (0, 1)}
    flags = {"": False, "_closed": True}
    return {
        **{f"count_{name}": lambda d, by=by: count(d, by) for name, by in by_relation.items()},
        "among": among,
        "nvalue": nvalue,
        **{f"global_cardinality{name}": lambda d, flag=flag: counts(d, flag) for name, flag in flags.items()},
        **{f"global_cardinality_low_up{name}": lambda d, flag=flag: limits(d, flag) for name, flag in flags.items()},
        "bin_packing": bin_packing,
        "bin_packing_capa": bin_capacities,
        "bin_packing_load": bin_loads,
        "sliding_sum": sliding_sum,
        "member_int": member,
        "member_bool": lambda d: [d.bools(d.size()), a_bool(d.scope)],
    }


CALLS = {f"turbo_{name}": draw for name, draw in (calls_of_structures() | calls_of_counts()).items()}
