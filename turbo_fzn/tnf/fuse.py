"""Linear rows: sums of any length that learners run whole, made from trees of ternary rows.

The ternary form gives each partial sum of a long sum a variable. Nobody asked for these links: one row defines a link
and one other row uses it. A learner pays for them twice. A change of one term climbs through the tree link by link, and
explanations name links where they could name the terms. So trees of ADD and of MUL by a constant, and the comparison on
top of one, become one linear row

    low <= sum of coefficient * variable <= high        (RANGE)
    truth <-> sum of coefficient * variable <= high     (AT_MOST)
    truth <-> sum of coefficient * variable = high      (EQUAL)

and the links leave the learner's store. A solution gives them back: run in `order`, the rows that are left out say what
each link is.

A link may have bounds that its definition does not give, and a row that has lost its link cannot keep them. So both of
a link's bounds must follow from what stays. `_justified` finds these by a least fixpoint from the variables that stay:
nothing is its own reason. A link that has no such reason stays a variable. The link on top of a sum may be one that no
other row uses; its bounds are those of the linear row.

Everything here is done by columns, for a model may have a hundred thousand such rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from turbo_fzn.domains import INFINITY
from turbo_fzn.tnf.language import TNF, Op

MOST_COEFFICIENT = 2**31 - 1
MOST_SUM = 2**60  # of the magnitudes of all terms: sums are reckoned in 64 bits
NOBODY = -1


class LinearKind(IntEnum):
    """What a linear row says of its sum; the module's docstring has the three forms."""

    RANGE = 0
    AT_MOST = 1
    EQUAL = 2


@dataclass(frozen=True)
class Linears:
    """Linear rows of a TNF with n variables and m rows, and what they stand for.

    Of each linear row its `kind` (int32), `low` and `high` (int64, ±INFINITY where there is none), the `truth`
    variable (int32, or -1), and its terms, from `starts` on (int32 [k + 1]): `variables` and `coefficients` (int32).
    `absorbed` (bool [m]) are the rows that linear rows replace, `links` (bool [n]) the variables that left with them;
    `order` (int32) are the absorbed rows that define these, operands first.
    """

    kind: np.ndarray
    low: np.ndarray
    high: np.ndarray
    truth: np.ndarray
    starts: np.ndarray
    variables: np.ndarray
    coefficients: np.ndarray
    absorbed: np.ndarray
    links: np.ndarray
    order: np.ndarray

    @property
    def n_rows(self) -> int:
        return len(self.kind)


def fuse(tnf: TNF, kept: np.ndarray) -> Linears:
    """The linear rows of a TNF at its root fixpoint. Variables that are `kept` (bool [n]) stay, others may be links."""
    rows = _LinearRows(tnf)
    links = _links(rows, kept)
    links.keep(_justified(rows, links))
    trees = _Trees(rows, links)
    return trees.linears()


class _LinearRows:
    """What linear rows can be made of: x = first * y + second * z, or a comparison of y with z.

    `usable` (bool [m]): ADD, MUL by a constant, LEQ, EQ. Slot 0 is x, slot 1 y, slot 2 z. `factors` (int64 [m, 3]) are
    the coefficients of the slots in the equation 0 = factors * slots, or of the difference that is compared; of a MUL,
    the constant's slot has none.
    """

    def __init__(self, tnf: TNF):
        self.tnf = tnf
        self.fixed = tnf.lower == tnf.upper
        self.slots = np.stack((tnf.x, tnf.y, np.where(tnf.op == Op.ELEMENT, tnf.y, tnf.z)), axis=1)
        self.defines = tnf.op == Op.ADD
        self.compares = (tnf.op == Op.LEQ) | (tnf.op == Op.EQ)
        self.factors = np.zeros((tnf.n_rows, 3), np.int64)
        self.factors[self.defines] = (-1, 1, 1)
        self.factors[self.compares] = (0, 1, -1)
        self._add_products()
        self.usable = self.defines | self.compares
        self.usable &= (tnf.x != tnf.y) & (tnf.x != tnf.z)

    def _add_products(self) -> None:
        tnf = self.tnf
        for operand, constant, place in ((tnf.y, tnf.z, 1), (tnf.z, tnf.y, 2)):
            candidates = np.flatnonzero(tnf.op == Op.MUL)
            rows = candidates[self.fixed[constant[candidates]] & ~self.fixed[operand[candidates]]]
            value = tnf.lower[constant[rows]]
            rows = rows[(value != 0) & (np.abs(value) <= MOST_COEFFICIENT)]
            self.factors[rows, 0] = -1
            self.factors[rows, place] = tnf.lower[constant[rows]]
            self.defines[rows] = True


class _Links:
    """Variables that may leave: of each the row that defines it, and the row and slot that use it (int32 [n], NOBODY
    where it is none, or where no row uses the top of a sum)."""

    def __init__(self, n_vars: int):
        self.definition = np.full(n_vars, NOBODY, np.int64)
        self.user = np.full(n_vars, NOBODY, np.int64)
        self.slot = np.zeros(n_vars, np.int64)

    @property
    def mask(self) -> np.ndarray:
        return self.definition != NOBODY

    @property
    def inner(self) -> np.ndarray:
        """Those that a row uses."""
        return self.mask & (self.user != NOBODY)

    def keep(self, mask: np.ndarray) -> None:
        """No others are links."""
        self.definition[~mask] = self.user[~mask] = NOBODY


def _links(rows: _LinearRows, kept: np.ndarray) -> _Links:
    """The variables that one row defines and at most one other row uses, in a linear row's sense."""
    tnf = rows.tnf
    links = _Links(tnf.n_vars)
    every = rows.slots if tnf.n_rows else np.empty((0, 3), np.int32)
    named = np.ones(every.shape, bool)
    named[tnf.op == Op.ELEMENT, 2] = False  # an offset, no variable
    count = np.bincount(every[named], minlength=tnf.n_vars)
    defining = np.flatnonzero(rows.defines & rows.usable)[::-1]
    links.definition[tnf.x[defining]] = defining  # of several the first
    good = (links.definition != NOBODY) & ~kept & ~rows.fixed & (count <= 2)
    if tnf.floats is not None:
        good &= ~tnf.floats.mask
    row, slot = np.nonzero(named & good[every] & (links.definition[every] != np.arange(tnf.n_rows)[:, None]))
    variable = every[row, slot]
    links.user[variable], links.slot[variable] = row, slot
    linear_use = rows.usable[row] & (rows.factors[row, slot] != 0)
    good[variable[~linear_use]] = False
    good &= (count == 1) | (links.user != NOBODY)  # named twice in the row that defines it
    links.keep(good)
    return links


def _justified(rows: _LinearRows, links: _Links) -> np.ndarray:
    """The links whose bounds follow from those of the variables that stay (bool [n])."""
    tnf = rows.tnf
    known = np.zeros((tnf.n_vars, 2), bool)  # the lower bound, the upper bound
    known[~links.inner] = True
    open_links = np.flatnonzero(links.inner)
    while len(open_links):
        before = known[open_links].sum()
        for row, slot in (
            (links.definition[open_links], np.zeros(len(open_links), np.int64)),
            (links.user[open_links], links.slot[open_links]),
        ):
            known[open_links] |= _implied(rows, row, slot, known)
        if known[open_links].sum() == before:
            break
        open_links = open_links[~known[open_links].all(axis=1)]
    return links.mask & known.all(axis=1)


def _implied(rows: _LinearRows, row: np.ndarray, slot: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Whether the row gives the root bounds of the variable in the slot (bool [k, 2]), from bounds that are known."""
    tnf, count = rows.tnf, np.arange(len(row))
    variables, factors = rows.slots[row], rows.factors[row].copy()
    own = factors[count, slot]
    factors[count, slot] = 0
    ends = np.stack((tnf.lower[variables], tnf.upper[variables]), axis=2)
    exact = (np.abs(factors) * np.abs(ends.astype(np.float64)).max(axis=2)).max(axis=1) < MOST_SUM / 4
    ends[~exact] = 0
    # own * v = -rest
    least, least_known = _end_of_sum(-factors, ends, known[variables], 0)
    most, most_known = _end_of_sum(-factors, ends, known[variables], 1)
    truth, equal, compares = tnf.x[row], tnf.op[row] == Op.EQ, rows.compares[row]
    holds, fails = compares & (tnf.lower[truth] == 1), compares & (tnf.upper[truth] == 0) & ~equal
    # y - z <= 0 says nothing of the lower end of own * v, y - z >= 1 nothing of the upper one
    least_known &= exact & (~compares | (holds & equal) | fails)
    most_known &= exact & (~compares | holds)
    least = least + fails
    below = np.where(own > 0, -(-least // own), -(-most // own))  # rounded up, of what bounds v from below
    above = np.where(own > 0, most // own, least // own)
    variable = variables[count, slot]
    below_known, above_known = np.where(own > 0, (least_known, most_known), (most_known, least_known))
    return np.stack(
        (below_known & (below >= tnf.lower[variable]), above_known & (above <= tnf.upper[variable])), axis=1
    )


def _end_of_sum(
    factors: np.ndarray, ends: np.ndarray, known: np.ndarray, end: int
) -> tuple[np.ndarray, np.ndarray]:
    """The lower (0) or upper (1) end of each sum of factors * variables (int64 [k]), and whether the bounds that it is
    made of are known. `ends` and `known` are [k, terms, 2]."""
    place = np.where(factors > 0, end, 1 - end)[:, :, None]
    values = factors * np.take_along_axis(ends, place, axis=2)[:, :, 0]
    are_known = (factors == 0) | np.take_along_axis(known, place, axis=2)[:, :, 0]
    return values.sum(axis=1), are_known.all(axis=1)


class _Trees:
    """Rows joined by links. Of each row the root of its tree, how far that is, and the weight of the row's value in
    the root's equation."""

    def __init__(self, rows: _LinearRows, links: _Links):
        self.rows, self.links = rows, links
        tnf = rows.tnf
        self.parent = np.arange(tnf.n_rows)
        self.weight = np.ones(tnf.n_rows)  # float64, so that what is too large is seen
        self.depth = np.zeros(tnf.n_rows, np.int64)
        inner = np.flatnonzero(links.inner)
        row, user = links.definition[inner], links.user[inner]
        self.parent[row], self.depth[row] = user, 1
        self.weight[row] = rows.factors[user, links.slot[inner]]
        self._find_roots()

    def _find_roots(self) -> None:
        """By pointer jumping. Rows that go round in a circle find no root, and join nothing."""
        for _ in range(self.rows.tnf.n_rows.bit_length() + 1):
            with np.errstate(over="ignore", invalid="ignore"):
                self.weight = self.weight * self.weight[self.parent]
            self.depth = self.depth + self.depth[self.parent]
            self.parent = self.parent[self.parent]
        self.root = np.where(self.depth[self.parent] == 0, self.parent, NOBODY)

    def linears(self) -> Linears:
        """Of each tree of two rows and more whose sums can be reckoned."""
        tnf = self.rows.tnf
        size = np.bincount(self.root[self.root != NOBODY], minlength=tnf.n_rows)
        roots = np.flatnonzero((size >= 2) & self.rows.usable)
        place = np.full(tnf.n_rows + 1, NOBODY)  # of a root among these; NOBODY's own is the last
        place[roots] = np.arange(len(roots))
        tree, variables, coefficients = self._terms(place)
        constant, tree, variables, coefficients, good = _combine(tnf, len(roots), tree, variables, coefficients)
        names_truth = self.rows.compares[roots[tree]] & (variables == tnf.x[roots[tree]])
        good[tree[names_truth]] = False
        renumbered = np.cumsum(good) - 1
        order = np.lexsort((variables, np.abs(coefficients), tree))  # small ones first: kernels/learn/linear.h
        tree, variables, coefficients = tree[order], variables[order], coefficients[order]
        stay = good[tree]
        starts = np.concatenate(([0], np.cumsum(np.bincount(renumbered[tree[stay]], minlength=int(good.sum())))))
        kind, low, high, truth = self._heads(roots[good], constant[good])
        absorbed = (self.root != NOBODY) & np.isin(self.root, roots[good])
        links = self.links.mask.copy()
        links[links] = absorbed[self.links.definition[links]]
        return Linears(
            kind, low, high, truth, starts.astype(np.int32), variables[stay].astype(np.int32),
            coefficients[stay].astype(np.int32), absorbed, links, self._order(links),
        )  # fmt: skip

    def _terms(self, place: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of the slots that no link fills: the tree (a place), the variable and its coefficient (float64)."""
        rows, links = self.rows, self.links
        joined = np.flatnonzero(place[self.root] != NOBODY)
        slots = rows.slots[joined]
        row, slot = np.nonzero((rows.factors[joined] != 0) & ~links.mask[slots])
        at = joined[row]
        coefficients = self.weight[at] * rows.factors[at, slot]
        return place[self.root[at]], slots[row, slot], coefficients

    def _heads(self, roots: np.ndarray, constant: np.ndarray) -> tuple[np.ndarray, ...]:
        """Kind, low, high and truth of the linear row of each tree, whose terms lack the constant."""
        tnf, x = self.rows.tnf, self.rows.tnf.x[roots]
        kind = np.full(len(roots), LinearKind.RANGE, np.int32)
        low, high = -constant, -constant
        top = self.links.mask[x] & (self.links.definition[x] == roots)  # 0 = sum - x, and x has bounds
        low, high = np.where(top, tnf.lower[x] + low, low), np.where(top, tnf.upper[x] + high, high)
        leq, equal = tnf.op[roots] == Op.LEQ, tnf.op[roots] == Op.EQ
        holds, fails = tnf.lower[x] == 1, tnf.upper[x] == 0
        low[leq & holds] = -INFINITY
        low[leq & fails], high[leq & fails] = 1 - constant[leq & fails], INFINITY
        kind[leq & ~holds & ~fails] = LinearKind.AT_MOST
        kind[equal & ~holds] = LinearKind.EQUAL
        truth = np.where(kind == LinearKind.RANGE, NOBODY, x)
        return kind, low, high, truth.astype(np.int32)

    def _order(self, links: np.ndarray) -> np.ndarray:
        """The rows that define the links, operands before what they define."""
        definitions = self.links.definition[links]
        return definitions[np.argsort(-self.depth[definitions], kind="stable")].astype(np.int32)


def _combine(
    tnf: TNF, n_trees: int, tree: np.ndarray, variables: np.ndarray, coefficients: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(constant int64 [n_trees], tree, variables, coefficients, good bool [n_trees]): each variable once in a tree, and
    constants apart. A tree is good if 64 bits hold its sum and 32 bits each coefficient, and if it has terms."""
    good = np.ones(n_trees, bool)
    good[tree[~(np.abs(coefficients) <= MOST_COEFFICIENT)]] = False
    order = np.lexsort((variables, tree))
    tree, variables, coefficients = tree[order], variables[order], coefficients[order]
    first = np.ones(len(tree), bool)
    first[1:] = (tree[1:] != tree[:-1]) | (variables[1:] != variables[:-1])
    starts = np.flatnonzero(first)
    coefficients = np.add.reduceat(coefficients, starts) if len(starts) else coefficients
    tree, variables = tree[starts], variables[starts]
    largest = np.maximum(np.abs(tnf.lower[variables]), np.abs(tnf.upper[variables])).astype(np.float64)
    magnitude = np.bincount(tree, weights=np.abs(coefficients) * largest, minlength=n_trees)
    good &= magnitude < MOST_SUM
    good[tree[np.abs(coefficients) > MOST_COEFFICIENT]] = False
    exact = np.where(good[tree], coefficients, 0).astype(np.int64)
    fixed = tnf.lower[variables] == tnf.upper[variables]
    constant = np.zeros(n_trees, np.int64)
    np.add.at(constant, tree[fixed], exact[fixed] * np.where(good[tree], tnf.lower[variables], 0)[fixed])
    stay = ~fixed & (exact != 0)
    good &= np.bincount(tree[stay], minlength=n_trees) > 0  # else there is nothing that a row could tighten
    return constant, tree[stay], variables[stay], exact[stay], good
