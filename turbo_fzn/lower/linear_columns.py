"""int_lin_le in columns: many sums whose coefficients have the same signs, as in groups of XCSP3.

The rows are those of linear.py, `le`: products in the order of the terms, the tree of the positive terms, the tree of
the negative terms, and their comparison. A place is odd where `le` would make other rows: for terms to be joined or
left out, negations, clauses, and sums in which trees.py would look for known pairs and may find some.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from typing import Any, NamedTuple

import numpy as np

from turbo_fzn.lower.columns import Column, Columns, Request
from turbo_fzn.lower.trees import BOUNDED
from turbo_fzn.tnf.language import ADD, LEQ, MUL

NO_CONSTANT, RIGHT, LEFT, STRICT = range(4)  # the treatment of k in P <= N + k; STRICT is P < N


class Shape(NamedTuple):
    positive: tuple[bool, ...]  # for each coefficient
    constant: int


def shape_of(arguments: Sequence[Any]) -> Shape | None:
    """The shape of a sum, or None if it is lowered by itself."""
    if list(map(type, arguments)) != [list, list, int]:
        return None
    coefficients, variables, k = arguments
    usual = set(map(type, coefficients)) == {int} and 0 not in coefficients and abs(k) < BOUNDED
    if not usual or len(coefficients) != len(variables) or len(variables) < 2:
        return None
    positive = tuple([c > 0 for c in coefficients])
    k = k // gcd(*coefficients) if True in positive and False in positive else 0
    return Shape(positive, STRICT if k == -1 else LEFT if k < 0 else RIGHT if k > 0 else NO_CONSTANT)


def given(arguments: Sequence[Any]) -> list[Any]:
    """The absolute coefficients, the variables, and the absolute constant."""
    coefficients, variables, k = arguments
    divisor = gcd(*coefficients)
    sizes = [abs(c) // divisor for c in coefficients]
    k //= divisor
    return [*sizes, *variables, k if min(coefficients) > 0 else -k if max(coefficients) < 0 else abs(k)]


class Sum:
    """The steps for one shape. Slots: the products, the rows of the trees, the sum with k, the relation."""

    def __init__(self, shape: Shape):
        self.constant, self.n = shape.constant, len(shape.positive)
        self.positive = [i for i in range(self.n) if shape.positive[i]]
        self.negative = [i for i in range(self.n) if not shape.positive[i]]
        self.kinds = "I" * (2 * self.n + 1)
        self.width = 2 * self.n + 1

    def run(self, c: Columns, operands: Sequence[Column]) -> None:
        sizes, x, k = operands[: self.n], operands[self.n : -1], operands[-1]
        self.check(c, sizes, x, k)
        order = [*self.positive, *self.negative]
        products = c.rows(*[Request(slot, MUL, x[i], sizes[i]) for slot, i in enumerate(order)])
        n_positive = len(self.positive)
        left = tree(c, products[:n_positive], self.n)
        right = tree(c, products[n_positive:], self.n + max(n_positive - 1, 0))
        self.compare(c, left, right, k)

    def compare(self, c: Columns, left: Column | None, right: Column | None, k: Column) -> None:
        last, true, false = self.width - 1, c.b.true, c.b.false
        if left is None or right is None:
            c.define(last, true, LEQ, k if left is None else left, k if right is None else right)
        elif self.constant == STRICT:
            c.define(last, false, LEQ, right, left)
        else:
            if self.constant == LEFT:
                (left,) = c.rows(Request(last - 1, ADD, left, k))
            elif self.constant == RIGHT:
                (right,) = c.rows(Request(last - 1, ADD, right, k))
            c.define(last, true, LEQ, left, right)

    def check(self, c: Columns, sizes: Sequence[Column], x: Sequence[Column], k: Column) -> None:
        """Makes places odd where `normalise` would change the sum or it is a clause."""
        are_boolean = np.ones(c.n, bool)
        for variable in x:
            low, high = c.bounds(variable)
            c.require_representatives(variable)
            c.require(low < high)
            are_boolean &= (low == 0) & (high == 1)
            if c.b.negated:
                c.require_no_negations(variable)
        numbers = np.sort(np.stack(x), axis=0)
        c.require((numbers[1:] != numbers[:-1]).all(axis=0))
        if are_boolean.any():
            values = np.stack([c.bounds(size)[0] for size in sizes])
            largest = values[self.positive].sum(axis=0)
            most = c.bounds(k)[0] * (1 if self.negative == [] or self.constant == RIGHT else -1)
            c.require(~(are_boolean & (largest - values.min(axis=0) <= most) & (most < largest)))


def tree(c: Columns, leaves: Sequence[Column], slot: int) -> Column | None:
    """The sum of the leaves, in slots from `slot` on; see Trees.tree."""
    if not leaves:
        return None
    rest, n = list(np.sort(np.stack(leaves), axis=0)), len(leaves)
    if n > 2:
        c.require(np.full(c.n, not c.b.looks_for_pairs(ADD, n, 1)))
    while len(rest) > 1:
        made = c.rows(*[Request(slot + i, ADD, y, z) for i, (y, z) in enumerate(zip(rest[::2], rest[1::2]))])
        slot += len(made)
        rest = made + rest[2 * len(made) :]
    if n == 2:
        c.require_representatives(rest[0])
    return rest[0]
