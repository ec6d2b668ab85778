"""Linear rows against enumeration: they say what the rows that they replace say, and give the links back.

The rows of a random TNF are trees of sums, multiples and comparisons, with root bounds that are now and then tighter
than what the rows give. What is compared is plain Python over all assignments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from operator import mul
from random import Random

import numpy as np
import pytest

from turbo_fzn.domains import INFINITY
from turbo_fzn.engine.cpu import propagate
from turbo_fzn.tnf.fuse import LinearKind, Linears, fuse
from turbo_fzn.tnf.language import ADD, EQ, LEQ, MAX, MUL, TNF

MODELS = 400


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
        """Of what the row gives, now and then a part."""
        if self.random.random() < 0.3:
            low = min(low + self.random.randint(0, 2), high)
        if self.random.random() < 0.3:
            high = max(high - self.random.randint(0, 2), low)
        return self.variable(low, high)

    def tnf(self) -> TNF:
        columns = np.array(self.rows, np.int32).reshape(-1, 4).T
        tables = np.empty(0, np.int64)
        return TNF(*columns, np.array(self.lower, np.int64), np.array(self.upper, np.int64), tables)


def draw(random: Random) -> tuple[TNF, np.ndarray]:
    """A TNF at its root fixpoint, and the variables that are to stay."""
    draft = Draft(random)
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
    tnf = draft.tnf()
    root = propagate(tnf)
    tnf.infeasible = root is None
    if root is not None:
        tnf.lower, tnf.upper = root
    return tnf, np.array([random.random() < 0.1 for _ in range(tnf.n_vars)])


def holds(op: int, x: int, y: int, z: int) -> bool:
    results = {ADD: y + z, MUL: y * z, MAX: max(y, z), EQ: int(y == z), LEQ: int(y <= z)}
    return x == results[op]


Rule = tuple[tuple[int, ...], Callable[..., bool]]  # places of variables, and what must hold of their values


def assignments(tnf: TNF, places: list[int], rules: list[Rule]) -> Iterator[dict[int, int]]:
    """All values of the variables at the places that keep the rules; each is asked as soon as its last value is there."""
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
    low, high, kind = int(linears.low[i]), int(linears.high[i]), linears.kind[i]

    def is_satisfied(*values: int) -> bool:
        total = sum(map(mul, coefficients, values))
        if kind == LinearKind.RANGE:
            return low <= total <= high
        return values[-1] == int(total <= high if kind == LinearKind.AT_MOST else total == high)

    truth = () if kind == LinearKind.RANGE else (int(linears.truth[i]),)
    return (*linears.variables[span].tolist(), *truth), is_satisfied


def solutions(tnf: TNF) -> set[tuple[int, ...]]:
    every = list(range(tnf.n_vars))
    return {tuple(values[v] for v in every) for values in assignments(tnf, every, rules_of_rows(tnf, range(tnf.n_rows)))}


def solutions_of(tnf: TNF, linears: Linears) -> set[tuple[int, ...]]:
    """Of the linear rows and of the rows that are left, with the links by the rows that define them."""
    rules = [rule_of_linear(linears, i) for i in range(linears.n_rows)]
    rules += rules_of_rows(tnf, np.flatnonzero(~linears.absorbed).tolist())
    found = set()
    for values in assignments(tnf, np.flatnonzero(~linears.links).tolist(), rules):
        for r in linears.order.tolist():
            y, z = values[int(tnf.y[r])], values[int(tnf.z[r])]
            values[int(tnf.x[r])] = y + z if tnf.op[r] == ADD else y * z
        found.add(tuple(values[v] for v in range(tnf.n_vars)))
    return found


@pytest.fixture(scope="module")
def drawn() -> list[tuple[TNF, np.ndarray, Linears]]:
    pairs = [draw(Random(f"fuse/{number}")) for number in range(MODELS)]
    return [(tnf, kept, fuse(tnf, kept)) for tnf, kept in pairs if not tnf.infeasible]


def test_linear_rows_and_links_have_the_solutions_of_the_rows_that_they_replace(drawn):
    for tnf, _, linears in drawn:
        assert solutions_of(tnf, linears) == solutions(tnf)


def test_what_is_drawn_has_everything(drawn):
    kinds = [int(kind) for _, _, linears in drawn for kind in linears.kind]
    assert set(kinds) == set(map(int, LinearKind)) and min(map(kinds.count, LinearKind)) > 10
    assert any(np.any(linears.low == -INFINITY) for *_, linears in drawn)
    assert any(np.any(linears.high == INFINITY) for *_, linears in drawn)
    assert sum(linears.links.any() for *_, linears in drawn) > len(drawn) / 3


def test_what_is_kept_stays_a_variable(drawn):
    for _, kept, linears in drawn:
        assert not np.any(linears.links & kept)


def test_every_link_is_defined_by_one_row_of_the_order(drawn):
    for tnf, _, linears in drawn:
        assert sorted(tnf.x[linears.order]) == np.flatnonzero(linears.links).tolist()
        assert linears.absorbed[linears.order].all()


def two_bounds_that_lean_on_each_other() -> TNF:
    """10 = y + z, where y <= 4 and so z >= 6, and neither follows from anything else."""
    draft = Draft(Random(0))
    a, b, c, d = (draft.variable(0, 5) for _ in range(4))
    y, z = draft.variable(0, 4), draft.variable(6, 10)
    draft.row(ADD, y, a, b)
    draft.row(ADD, z, c, d)
    draft.row(ADD, draft.variable(10, 10), y, z)
    return draft.tnf()


def test_bounds_that_only_lean_on_each_other_are_not_lost():
    tnf = two_bounds_that_lean_on_each_other()
    linears = fuse(tnf, np.zeros(tnf.n_vars, bool))
    assert solutions_of(tnf, linears) == solutions(tnf) != set()
    assert not linears.links.any()


def test_a_sum_beyond_64_bits_stays_a_tree():
    draft = Draft(Random(0))
    a, b, c = (draft.variable(0, 2**58) for _ in range(3))
    total = draft.variable(0, 2**60)
    link = draft.variable(0, 2**59)
    draft.row(ADD, link, a, b)
    draft.row(ADD, total, link, c)
    kept = np.zeros(5, bool)
    kept[total] = True
    assert fuse(draft.tnf(), kept).n_rows == 0
    small = draft.tnf()
    small.lower, small.upper = small.lower // 4, small.upper // 4
    assert fuse(small, kept).n_rows == 1
