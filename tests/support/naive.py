"""A naive reference for TNF models: bounds propagation and enumeration, for clarity only.

Kept for good beside the fast engines, so that they have something plain to be compared with (llm.c's habit: a CPU
twin that nobody optimises). One function per operator takes three intervals and returns three, each included in the
one given; bounds are Python integers or plus/minus `math.inf`, so nothing can wrap around. `propagate` runs all rows to
their common fixpoint, `solutions` enumerates depth first and checks every complete assignment against every row by
`apply_operator`, so that a weak rule here costs time but never a wrong answer.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from math import inf, isqrt

import numpy as np

from support.operators import apply_operator
from turbo_fzn.base.domains import INFINITY
from turbo_fzn.tnf.language import TNF, Op

Interval = tuple[float, float]  # integers, or plus/minus infinity
Store = list[Interval]


class Failure(Exception):
    """No value is left for some variable."""


def meet(first: Interval, second: Interval) -> Interval:
    low, high = max(first[0], second[0]), min(first[1], second[1])
    if low > high:
        raise Failure
    return low, high


def product(a: float, b: float) -> float:
    return 0 if a == 0 or b == 0 else a * b


def is_fixed(interval: Interval) -> bool:
    return interval[0] == interval[1]


def nonzero_parts(interval: Interval) -> list[Interval]:
    """The negative and the positive part."""
    parts = [(interval[0], min(interval[1], -1)), (max(interval[0], 1), interval[1])]
    return [part for part in parts if part[0] <= part[1]]


def propagate_add(x: Interval, y: Interval, z: Interval) -> tuple[Interval, Interval, Interval]:
    """x = y + z."""
    x = meet(x, (y[0] + z[0], y[1] + z[1]))
    y = meet(y, (x[0] - z[1], x[1] - z[0]))
    z = meet(z, (x[0] - y[1], x[1] - y[0]))
    return x, y, z


def divide_exactly(x: Interval, z: Interval) -> Interval:
    """The hull of {y : y * c = a for some a in x and c in z}, or (-inf, inf) where nothing is known."""
    if x[0] <= 0 <= x[1] and z[0] <= 0 <= z[1]:
        return -inf, inf
    quotients: list[Interval] = []
    for part in nonzero_parts(z):
        if inf in (*x, *part) or -inf in (*x, *part):
            return -inf, inf
        pairs = [(int(a), int(c)) for a in x for c in part]
        quotients.append((min(-(-a // c) for a, c in pairs), max(a // c for a, c in pairs)))
    if not quotients:
        raise Failure
    return min(low for low, _ in quotients), max(high for _, high in quotients)


def propagate_mul(x: Interval, y: Interval, z: Interval) -> tuple[Interval, Interval, Interval]:
    """x = y * z."""
    corners = [product(a, b) for a in y for b in z]
    x = meet(x, (min(corners), max(corners)))
    y = meet(y, divide_exactly(x, z))
    z = meet(z, divide_exactly(x, y))
    return x, y, z


def propagate_square(x: Interval, y: Interval) -> tuple[Interval, Interval]:
    """x = y * y."""
    smallest = 0 if y[0] <= 0 <= y[1] else min(abs(y[0]), abs(y[1]))
    x = meet(x, (smallest * smallest, max(product(y[0], y[0]), product(y[1], y[1]))))
    if x[1] != inf:
        root = isqrt(int(x[1]))
        y = meet(y, (-root, root))
    return x, y


def propagate_div(x: Interval, y: Interval, z: Interval) -> tuple[Interval, Interval, Interval]:
    """x = y div z: |x| <= |y|, and |y| < (|x| + 1) * |z|; the sign of x is that of y * z."""
    z = meet(z, (z[0] + (z[0] == 0), z[1] - (z[1] == 0)))
    largest = max(abs(y[0]), abs(y[1]))
    low = 0 if (y[0] >= 0 and z[0] > 0) or (y[1] <= 0 and z[1] < 0) else -largest
    high = 0 if (y[0] >= 0 and z[1] < 0) or (y[1] <= 0 and z[0] > 0) else largest
    x = meet(x, (low, high))
    reach = product(max(abs(x[0]), abs(x[1])) + 1, max(abs(z[0]), abs(z[1]))) - 1
    y = meet(y, (-reach, reach))
    return x, y, z


def propagate_mod(x: Interval, y: Interval, z: Interval) -> tuple[Interval, Interval, Interval]:
    """x = y mod z: |x| < |z|, |x| <= |y|, and x has the sign of y."""
    z = meet(z, (z[0] + (z[0] == 0), z[1] - (z[1] == 0)))
    most = max(abs(z[0]), abs(z[1])) - 1
    x = meet(x, (0 if y[0] >= 0 else max(y[0], -most), 0 if y[1] <= 0 else min(y[1], most)))
    if x[0] > 0:
        y = meet(y, (x[0], inf))
    if x[1] < 0:
        y = meet(y, (-inf, x[1]))
    return x, y, z


def propagate_min(x: Interval, y: Interval, z: Interval) -> tuple[Interval, Interval, Interval]:
    """x = min(y, z)."""
    x = meet(x, (min(y[0], z[0]), min(y[1], z[1])))
    y, z = meet(y, (x[0], inf)), meet(z, (x[0], inf))
    if z[0] > x[1]:
        y = meet(y, x)
    if y[0] > x[1]:
        z = meet(z, x)
    return x, y, z


def propagate_max(x: Interval, y: Interval, z: Interval) -> tuple[Interval, Interval, Interval]:
    """x = max(y, z)."""
    x = meet(x, (max(y[0], z[0]), max(y[1], z[1])))
    y, z = meet(y, (-inf, x[1])), meet(z, (-inf, x[1]))
    if z[1] < x[0]:
        y = meet(y, x)
    if y[1] < x[0]:
        z = meet(z, x)
    return x, y, z


def without(interval: Interval, value: float) -> Interval:
    """`interval` less `value` where it is a bound."""
    return meet(interval, (interval[0] + (interval[0] == value), interval[1] - (interval[1] == value)))


def propagate_eq(x: Interval, y: Interval, z: Interval) -> tuple[Interval, Interval, Interval]:
    """x = (y = z)."""
    if y[1] < z[0] or z[1] < y[0]:
        x = meet(x, (0, 0))
    elif is_fixed(y) and is_fixed(z):
        x = meet(x, (1, 1))
    if x == (1, 1):
        y = z = meet(y, z)
    elif x == (0, 0):
        if is_fixed(z):
            y = without(y, z[0])
        if is_fixed(y):
            z = without(z, y[0])
    return x, y, z


def propagate_leq(x: Interval, y: Interval, z: Interval) -> tuple[Interval, Interval, Interval]:
    """x = (y <= z)."""
    if y[1] <= z[0]:
        x = meet(x, (1, 1))
    elif y[0] > z[1]:
        x = meet(x, (0, 0))
    if x == (1, 1):
        y, z = meet(y, (-inf, z[1])), meet(z, (y[0], inf))
    elif x == (0, 0):
        y, z = meet(y, (z[0] + 1, inf)), meet(z, (-inf, y[1] - 1))
    return x, y, z


def propagate_element(x: Interval, y: Interval, values: np.ndarray, offset: int) -> tuple[Interval, Interval]:
    """x = values[offset + y]."""
    supports = [i for i in range(int(y[0]), int(y[1]) + 1) if x[0] <= values[offset + i] <= x[1]]
    if not supports:
        raise Failure
    reached = [int(values[offset + i]) for i in supports]
    return (min(reached), max(reached)), (supports[0], supports[-1])


TERNARY = {
    Op.ADD: propagate_add,
    Op.MUL: propagate_mul,
    Op.DIV: propagate_div,
    Op.MOD: propagate_mod,
    Op.MIN: propagate_min,
    Op.MAX: propagate_max,
    Op.EQ: propagate_eq,
    Op.LEQ: propagate_leq,
}


def run_row(tnf: TNF, row: int, store: Store) -> list[int]:
    """Tighten the store by one row; return the variables whose bounds moved."""
    op, x, y, z = int(tnf.op[row]), int(tnf.x[row]), int(tnf.y[row]), int(tnf.z[row])
    if op == Op.ELEMENT:
        new = list(zip((x, y), propagate_element(store[x], store[y], tnf.tables, z)))
    elif op == Op.MUL and y == z:
        new = list(zip((x, y), propagate_square(store[x], store[y])))
    else:
        new = list(zip((x, y, z), TERNARY[Op(op)](store[x], store[y], store[z])))
        if is_fixed(store[y]) and is_fixed(store[z]):
            value = apply_operator(op, int(store[y][0]), int(store[z][0]))
            if value is None:
                raise Failure
            new.append((x, (value, value)))
    moved = []
    for variable, interval in new:  # the same variable may stand in two places of a row
        interval = meet(store[variable], interval)
        if interval != store[variable]:
            store[variable] = interval
            moved.append(variable)
    return moved


def watchers(tnf: TNF) -> list[set[int]]:
    """For each variable the rows that mention it."""
    result: list[set[int]] = [set() for _ in range(tnf.n_vars)]
    for row in range(tnf.n_rows):
        for variable in (tnf.x[row], tnf.y[row], *([] if tnf.op[row] == Op.ELEMENT else [tnf.z[row]])):
            result[variable].add(row)
    return result


def run_to_fixpoint(tnf: TNF, store: Store, watching: list[set[int]], queue: deque[int]) -> None:
    """Run the queued rows, and every row woken by them, until nothing moves. Raises Failure."""
    queued = set(queue)
    while queue:
        row = queue.popleft()
        queued.discard(row)
        for variable in run_row(tnf, row, store):
            for woken in watching[variable] - queued:
                queue.append(woken)
                queued.add(woken)


def root_store(tnf: TNF) -> Store:
    return [
        (-inf if low <= -INFINITY else low, inf if high >= INFINITY else high)
        for low, high in zip(tnf.lower.tolist(), tnf.upper.tolist())
    ]


def propagate(tnf: TNF) -> tuple[np.ndarray, np.ndarray] | None:
    """The bounds at the root fixpoint, or None when a domain becomes empty."""
    store = root_store(tnf)
    try:
        for interval in store:
            meet(interval, interval)
        run_to_fixpoint(tnf, store, watchers(tnf), deque(range(tnf.n_rows)))
    except Failure:
        return None
    lower = [max(-INFINITY, low) if low != -inf else -INFINITY for low, _ in store]
    upper = [min(INFINITY, high) if high != inf else INFINITY for _, high in store]
    return np.array(lower, np.int64), np.array(upper, np.int64)


def holds(tnf: TNF, values: list[int]) -> bool:
    """Whether a complete assignment satisfies every row."""
    for op, x, y, z in zip(tnf.op.tolist(), tnf.x.tolist(), tnf.y.tolist(), tnf.z.tolist()):
        is_element = op == Op.ELEMENT
        result = int(tnf.tables[z + values[y]]) if is_element else apply_operator(op, values[y], values[z])
        if result != values[x]:
            return False
    return True


def solutions(tnf: TNF) -> Iterator[tuple[int, ...]]:
    """All complete assignments that satisfy the model, each once. Every variable that search meets must be bounded."""
    if tnf.infeasible or any(low > high for low, high in root_store(tnf)):
        return
    watching = watchers(tnf)
    open_nodes = [(root_store(tnf), deque(range(tnf.n_rows)))]
    while open_nodes:
        store, queue = open_nodes.pop()
        try:
            run_to_fixpoint(tnf, store, watching, queue)
        except Failure:
            continue
        unfixed = [v for v, interval in enumerate(store) if not is_fixed(interval)]
        if not unfixed:
            values = [int(low) for low, _ in store]
            if holds(tnf, values):
                yield tuple(values)
            continue
        branch = min(unfixed, key=lambda v: store[v][1] - store[v][0])
        low, high = store[branch]
        if low == -inf or high == inf:
            raise ValueError(f"variable {branch} is unbounded: it cannot be enumerated")
        middle = (low + high) // 2
        for part in ((middle + 1, high), (low, middle)):
            child = list(store)
            child[branch] = part
            open_nodes.append((child, deque(watching[branch])))
