"""Random models in ternary normal form whose rows are trees of sums and of truths, which learners fuse.

Each has a point that satisfies most rows, so that many models have solutions. The links of sums have more values than
those that stay variables (tnf/tuning.py, joint_values).
"""

from __future__ import annotations

from random import Random

import numpy as np

from support.drafts import RESULT, Draft
from turbo_fzn.engine import root
from turbo_fzn.tnf.language import ADD, EQ, LEQ, MAX, MIN, MUL, TNF

FACTORS = (-12, -7, -5, 5, 7, 9, 20)


class _Trees(Draft):
    """A draft with the value of each variable at the point."""

    def __init__(self, random: Random):
        super().__init__(random)
        self.point: list[int] = []
        self.plain = [self.drawn(low, low + random.choice((1, 2, 3, 6))) for low in random.choices((-2, 0, 1), k=3)]
        self.truths = [self.drawn(0, 1) for _ in range(random.randint(4, 8))]

    def drawn(self, low: int, high: int) -> int:
        self.point.append(self.random.randint(low, high))
        return self.variable(low, high)

    def constant(self, value: int) -> int:
        self.point.append(value)
        return self.variable(value, value)

    def defined(self, op: int, low: int, high: int, y: int, z: int) -> int:
        self.point.append(RESULT[op](self.point[y], self.point[z]))
        return self.row(op, self.variable(low, high), y, z)

    def joined(self, op: int, pool: list[int]) -> int:
        """The top of a tree of these operands."""
        while len(pool) > 1:
            self.random.shuffle(pool)
            y, z = pool.pop(), pool.pop()
            ends = [RESULT[op](bounds[y], bounds[z]) for bounds in (self.lower, self.upper)]
            pool.append(self.defined(op, *ends, y, z))
        return pool[0]

    def sum(self) -> None:
        random, pool = self.random, []
        for v in random.choices([*self.plain, *self.truths], k=random.randint(3, 7)):
            factor = random.choice((1, *FACTORS))
            ends = sorted((self.lower[v] * factor, self.upper[v] * factor))
            pool.append(v if factor == 1 else self.defined(MUL, *ends, v, self.constant(factor)))
        top = self.joined(ADD, pool)
        if random.random() < 0.4:
            self.lower[top] = max(self.lower[top], self.point[top] - random.choice((0, 3, 9, 999)))
            self.upper[top] = min(self.upper[top], self.point[top] + random.choice((0, 3, 9, 999)))
            return
        other = random.choice((*self.plain, *[self.constant(self.point[top] + random.choice((-3, 0, 0, 3)))] * 3))
        op, pair = random.choice((LEQ, LEQ, EQ)), random.sample((top, other), 2)
        self.row(op, self.head(op, *pair), *pair)

    def clause(self) -> None:
        op = self.random.choice((MIN, MAX))
        *operands, last = self.random.choices(self.truths, k=self.random.randint(3, 5))
        top = self.joined(op, operands)
        self.row(op, self.head(op, top, last), top, last)

    def head(self, op: int, y: int, z: int) -> int:
        """The variable of a row's truth: a known one, or one that may be wrong, or a new one."""
        random, value = self.random, RESULT[op](self.point[y], self.point[z])
        kind = random.random()
        if kind < 0.5:
            return self.constant(value)
        if kind < 0.8:
            return random.choice(self.truths)
        self.point.append(value)
        self.truths.append(self.variable(0, 1))
        return self.truths[-1]


def random_trees(random: Random) -> TNF | None:
    """A small model of trees at its root fixpoint; None where that fails."""
    trees = _Trees(random)
    for _ in range(random.choice((3, 6, 9, 12))):
        (trees.sum if random.random() < 0.65 else trees.clause)()
    sense, named = random.choice((-1, 0, 1, 1)), [*trees.plain, *trees.truths]
    objective = trees.joined(ADD, random.sample(named, len(named))) if random.random() < 0.7 else random.choice(named)
    tnf = trees.tnf()
    tnf.sense, tnf.objective = sense, objective if sense else -1
    tnf.tables = np.zeros(1, np.int64)
    bounds = root.propagate(tnf)
    if bounds is None:
        return None
    tnf.lower, tnf.upper = bounds
    return tnf
