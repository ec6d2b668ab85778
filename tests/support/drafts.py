"""Random TNFs with trees of sums, comparisons and truth values, and their solutions by plain enumeration.

Root bounds are now and then tighter than what the rows give.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from operator import mul
from random import Random

import numpy as np

from turbo_fzn.engine.root import propagate
from turbo_fzn.tnf.language import ADD, EQ, LEQ, MAX, MIN, MUL, TNF
from turbo_fzn.tnf.linear_rows import LinearKind, Linears


class Draft:
    """A TNF that grows."""

    def __init__(self, random: Random):
        self.random = random
        self.lower: list[int] = []
        self.upper: list[int] = []
        self.rows: list[tuple[int, int, int, int]] = []

    def variable(self, low: int, high: int) -> int:
        self.lower.append(low)
        self.upper.append(high)
        return len(self.lower) - 1

    def row(self, op: int, x: int, y: int, z: int) -> int:
        self.rows.append((op, x, y, z))
        return x

    def add(self, y: int, z: int) -> int:
        low, high = self.lower[y] + self.lower[z], self.upper[y] + self.upper[z]
        return self.row(ADD, self.result(low, high), y, z)

    def times(self, y: int, factor: int) -> int:
        ends = sorted((self.lower[y] * factor, self.upper[y] * factor))
        constant = self.variable(factor, factor)
        pair = (y, constant) if self.random.random() < 0.5 else (constant, y)
        return self.row(MUL, self.result(*ends), *pair)

    def result(self, low: int, high: int) -> int:
        """A new variable for the row's result, which sometimes allows only a part of its interval."""
        if self.random.random() < 0.3:
            low = min(low + self.random.randint(0, 2), high)
        if self.random.random() < 0.3:
            high = max(high - self.random.randint(0, 2), low)
        return self.variable(low, high)

    def tnf(self) -> TNF:
        columns = np.array(self.rows, np.int32).reshape(-1, 4).T
        tables = np.empty(0, np.int64)
        return TNF(*columns, np.array(self.lower, np.int64), np.array(self.upper, np.int64), tables)


def draw_sums(draft: Draft) -> None:
    """Trees of sums, multiples and comparisons, and now and then something else."""
    random = draft.random
    terms = [draft.variable(low, low + random.randint(0, 2)) for low in random.choices((-1, 0, 0, 1), k=4)]
    pool = [draft.times(y, random.choice((-3, -2, -1, 2, 3))) if random.random() < 0.4 else y for y in terms]
    while len(pool) > 1 and len(draft.lower) < 13:
        random.shuffle(pool)
        y, z = pool.pop(), pool.pop()
        if random.random() < 0.7:
            pool.append(draft.add(y, z))
        elif random.random() < 0.5:
            draft.row(random.choice((EQ, LEQ)), draft.variable(*random.choice(((0, 1), (0, 0), (1, 1)))), y, z)
        else:
            draft.row(ADD, y, z, random.choice(terms))
        if not pool or random.random() < 0.2:
            pool.append(random.choice(terms))
    if random.random() < 0.3:
        draft.row(MAX, draft.variable(-9, 9), random.choice(pool), random.choice(terms))
    draft.row(random.choice((LEQ, EQ)), draft.variable(0, 1), pool[0], random.choice((draft.variable(2, 2), terms[0])))


def draw_truths(draft: Draft) -> None:
    """Trees of minima and maxima of truth values, some of which are known."""
    random = draft.random
    leaves = [draft.variable(0, 1) for _ in range(random.randint(3, 5))]
    pool = [*leaves, *random.choices(leaves, k=2)]
    while len(pool) > 1 and len(draft.lower) < 13:
        op = random.choice((MIN, MAX)) if random.random() < 0.3 else MAX if draft.lower[0] == 0 else MIN
        if random.random() < 0.6:
            random.shuffle(pool)
        known = random.random()
        x = draft.variable(int(known < 0.05), int(known < 0.9))
        draft.row(op, x, pool.pop(), pool.pop())
        if random.random() < 0.85:
            pool.append(x)


def draw(random: Random) -> tuple[TNF, np.ndarray]:
    """A TNF at its root fixpoint, and the variables that are to stay."""
    draft = Draft(random)
    (draw_sums if random.random() < 0.6 else draw_truths)(draft)
    tnf = draft.tnf()
    root = propagate(tnf)
    tnf.infeasible = root is None
    if root is not None:
        tnf.lower, tnf.upper = root
    return tnf, np.array([random.random() < 0.1 for _ in range(tnf.n_vars)])


RESULT: dict[int, Callable[[int, int], int]] = {
    ADD: lambda y, z: y + z,
    MUL: lambda y, z: y * z,
    MIN: min,
    MAX: max,
    EQ: lambda y, z: int(y == z),
    LEQ: lambda y, z: int(y <= z),
}


def holds(op: int, x: int, y: int, z: int) -> bool:
    return x == RESULT[op](y, z)


Rule = tuple[tuple[int, ...], Callable[..., bool]]  # places of variables, and what must hold of their values


def assignments(tnf: TNF, places: list[int], rules: list[Rule]) -> Iterator[dict[int, int]]:
    """All values of the variables at the places that keep the rules. A rule is asked when its last value is there."""
    asked: dict[int, list[Rule]] = {place: [] for place in places}
    for rule in rules:
        asked[max(rule[0], key=places.index)].append(rule)

    def search(values: dict[int, int]) -> Iterator[dict[int, int]]:
        if len(values) == len(places):
            yield dict(values)
            return
        place = places[len(values)]
        for value in range(int(tnf.lower[place]), int(tnf.upper[place]) + 1):
            values[place] = value
            if all(test(*(values[v] for v in named)) for named, test in asked[place]):
                yield from search(values)
        del values[place]

    return search({})


def rules_of_rows(tnf: TNF, rows: Iterable[int]) -> list[Rule]:
    columns = [column.tolist() for column in (tnf.op, tnf.x, tnf.y, tnf.z)]
    picked = [[column[row] for column in columns] for row in rows]
    return [((x, y, z), partial(holds, op)) for op, x, y, z in picked]


def rule_of_linear(linears: Linears, i: int) -> Rule:
    span = slice(linears.starts[i], linears.starts[i + 1])
    coefficients = linears.coefficients[span].tolist()
    low, high = int(linears.low[i]), int(linears.high[i])
    kind, truth = linears.kind[i], int(linears.truth[i])

    def is_satisfied(*values: int) -> bool:
        total = sum(map(mul, coefficients, values))
        if truth < 0:
            return low <= total <= high
        return values[-1] == int(total <= high if kind == LinearKind.AT_MOST else total == high)

    return (*linears.variables[span].tolist(), *(() if truth < 0 else (truth,))), is_satisfied


def solutions(tnf: TNF) -> set[tuple[int, ...]]:
    every = list(range(tnf.n_vars))
    found = assignments(tnf, every, rules_of_rows(tnf, range(tnf.n_rows)))
    return {tuple(values[v] for v in every) for values in found}
