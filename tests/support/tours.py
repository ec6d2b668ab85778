"""Tours with time windows: FlatZinc of several forms, and what enumeration says of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from random import Random
from typing import NamedTuple

HORIZON = 2000


class Data(NamedTuple):
    """The way from each place to each other, and the window of each; the tour begins at place 0 at the time 0."""

    ways: list[list[int]]
    opens: list[int]
    closes: list[int]


class Form(NamedTuple):
    """How a model states it: by predecessors or successors, a time of service, an equation and a maximum for waiting,
    and what it minimises: `end`, `travel`, or nothing."""

    backward: bool
    service: int = 0
    waits: bool = False
    wanted: str = "end"


FORMS = [
    Form(backward, service, waits, wanted)
    for backward in (True, False)
    for service in (0, 3)
    for waits in ((True, False) if backward and not service else (False,))
    for wanted in ("end", "travel", "")
]


def drawn(random: Random, n: int, width: int, service: int = 0) -> Data:
    """Windows of at most twice the width about the times of a random tour."""
    points = [(random.randint(0, 50), random.randint(0, 50)) for _ in range(n)]
    ways = [[abs(a - c) + abs(b - d) for c, d in points] for a, b in points]
    order, time, opens, closes = random.sample(range(1, n), n - 1), 0, [0] * n, [HORIZON] * n
    for before, here in zip([0, *order], order):
        time += ways[before][here] + service
        opens[here], closes[here] = max(0, time - random.randint(1, width)), time + random.randint(1, width)
    return Data(ways, opens, closes)


def write(data: Data, form: Form) -> str:
    """The model as FlatZinc."""
    n, lines = len(data.ways), []
    for p in range(n):
        low, high = (0, 0) if form.backward and p == 0 else (data.opens[p], data.closes[p])
        lines.append(f"var 1..{n}: x{p} :: output_var; var {low}..{high}: t{p} :: output_var;")
        lines.append(f"var 0..{HORIZON}: r{p}; var 0..{HORIZON}: d{p}; var 0..{HORIZON}: own{p};")
    lines.append(f"var 0..{HORIZON}: end; var 0..{n * HORIZON}: travel;")
    lines.append(f"constraint turbo_circuit([{join('x', n)}],1);")
    for p in range(n):
        ways = [data.ways[k][p] if form.backward else data.ways[p][k] for k in range(n)]
        lines.append(f"constraint array_int_element(x{p},[{','.join(map(str, ways))}],d{p});")
        lines += step(data, form, p)
    lines.append(f"constraint int_lin_eq([{'1,' * n}-1],[{join('d', n)},travel],0);")
    goal = f"minimize {form.wanted}" if form.wanted else "satisfy"
    return "\n".join([*lines, f"solve {goal};", ""])


def join(letter: str, n: int) -> str:
    return ",".join(f"{letter}{p}" for p in range(n))


def step(data: Data, form: Form, p: int) -> Iterator[str]:
    """The constraints by which the time grows from or to a place."""
    if p == 0 and form.backward:
        for q in range(1, len(data.ways)):
            yield f"constraint int_lin_le([1,-1],[t{q},end],{-data.ways[q][0]});"
        return
    yield f"constraint array_var_int_element(x{p},[{join('t', len(data.ways))}],r{p});"
    own = f"own{p}" if form.service or form.waits or p == 0 else f"t{p}"
    sides = [f"r{p}", own] if form.backward else [own, f"r{p}"]
    name = "int_lin_eq" if form.waits else "int_lin_le"
    yield f"constraint {name}([1,1,-1],[{sides[0]},d{p},{sides[1]}],0);"
    if p == 0:
        yield "constraint int_eq(own0,0); constraint int_eq(end,t0);"
    elif form.waits:
        yield f"constraint int_max({own},{data.opens[p]},t{p});"
    elif form.service:
        first, last = (f"t{p}", own) if form.backward else (own, f"t{p}")
        yield f"constraint int_lin_eq([1,-1],[{first},{last}],{form.service});"


def times_of(data: Data, form: Form, order: list[int]) -> list[int] | None:
    """The earliest time at each place of an order that begins with 0, and at the end; None where a window is missed."""
    times = [0]
    for here, there in zip(order, [*order[1:], 0]):
        serves = form.service if (there if form.backward else here) else 0
        times.append(max(times[-1] + data.ways[here][there] + serves, data.opens[there]))
        if times[-1] > data.closes[there]:
            return None
    return times


def optimum(data: Data, form: Form) -> int | None:
    """The least objective of all tours (0 where nothing is wanted), or None where there is none."""
    values = []
    for order in permutations(range(1, len(data.ways))):
        tour = [0, *order]
        times = times_of(data, form, tour)
        if times is not None:
            travel = sum(data.ways[a][b] for a, b in zip(tour, [*order, 0]))
            values.append(times[-1] if form.wanted == "end" else travel if form.wanted else 0)
    return min(values, default=None)
