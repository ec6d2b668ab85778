"""Linear rows for learners: sums of many terms, made from trees of ternary rows.

The ternary form gives each partial sum of a long sum a variable, a link. In a learner the change of one term passes
through the tree link by link, and each step costs an entry of the trail and a reason to be explained. So trees of ADD
and of MUL by a constant, and the comparison on top of a tree, become linear rows

    low <= sum of coefficient * variable <= high        (RANGE)
    truth <-> sum of coefficient * variable <= high     (AT_MOST)
    truth <-> sum of coefficient * variable = high      (EQUAL)

of a limited number of terms: a link with `joint_terms` or more terms below it stays a variable, a joint, and so does a
link of at most `joint_values` values. Without joints some proofs need ten times the conflicts: partial sums, especially
counts of a few truths, are useful in learned clauses (docs/design/learning.md).

A link may have bounds that its definition does not imply; they would be lost with the link. So both bounds of a link
must follow from the variables that stay. `_justified` finds such links by a least fixpoint from these variables, so
that no bound justifies itself; other links stay variables. The link on top of a sum may be unused by other rows; its
bounds become the bounds of the linear row.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np

from turbo_fzn.base.domains import INFINITY
from turbo_fzn.tnf.language import TNF, Op
from turbo_fzn.tnf.links import NOBODY, Links, Rows, Trees, defining_order
from turbo_fzn.tnf.tuning import TUNING


class LinearKind(IntEnum):
    """The three forms of a linear row that the module's docstring defines, and CLAUSE, the RANGE of at least one
    of some literals, which arrange.py makes for the search of a tree."""

    RANGE = 0
    AT_MOST = 1
    EQUAL = 2
    CLAUSE = 3


@dataclass(frozen=True, eq=False, repr=False)
class Linears:
    """k linear rows of a TNF with n variables and m rows, and the rows that they replace.

    Each linear row has a `kind` (int32), `low` and `high` (int64, ±INFINITY without a limit), and a `truth` variable
    (int32, -1 without a truth). Row i has the terms starts[i] … starts[i + 1] (int32 [k + 1]) of `variables` and
    `coefficients` (int32), and replaces the tree below the row roots[i] (int32). `absorbed` (bool [m]) are the replaced
    rows, `links` (bool [n]) the variables that leave with them; `order` (int32) are the absorbed rows that define
    these, operands first.
    """

    kind: np.ndarray
    low: np.ndarray
    high: np.ndarray
    truth: np.ndarray
    starts: np.ndarray
    variables: np.ndarray
    coefficients: np.ndarray
    roots: np.ndarray
    absorbed: np.ndarray
    links: np.ndarray
    order: np.ndarray

    @property
    def n_rows(self) -> int:
        return len(self.kind)

    def terms(self, row: int) -> list[tuple[int, int]]:
        """The terms of a row: pairs (variable, coefficient)."""
        place = slice(self.starts[row], self.starts[row + 1])
        return list(zip(self.variables[place].tolist(), self.coefficients[place].tolist()))

    @property
    def sizes(self) -> np.ndarray:
        """The number of terms of each row."""
        return np.diff(self.starts)


def linear_rows(tnf: TNF, kept: np.ndarray, most_terms: int | None = None) -> Linears:
    """The linear rows of a TNF at its root fixpoint. Variables that are `kept` (bool [n]) stay, others may be links.
    Joints are the joints for learners, or with `most_terms` the links with so many terms or more below them."""
    rows = _LinearRows(tnf)
    links = Links(rows, kept)
    # First, since `_justified` takes as many rounds as the depth of the links.
    limits = (TUNING.joint_terms, TUNING.joint_values) if most_terms is None else (most_terms, -1)
    links.keep(~_joints(rows, links, *limits))
    links.keep(_justified(rows, links))
    return _Sums(rows, links).linears()


def with_sums(linears: Linears, sums: list[list[tuple[int, int]]]) -> Linears:
    """The linear rows, and behind them rows without a root: each sum, pairs (variable, coefficient), is at least 0."""
    n = len(sums)
    if not n:
        return linears
    terms = np.array([pair for one in sums for pair in one], np.int32).reshape(-1, 2)
    starts = linears.starts[-1] + np.cumsum([len(one) for one in sums])
    ends = (("low", 0), ("high", INFINITY), ("kind", LinearKind.RANGE), ("truth", NOBODY), ("roots", NOBODY))
    more = {name: np.full(n, value, getattr(linears, name).dtype) for name, value in ends}
    more |= {"starts": starts.astype(np.int32), "variables": terms[:, 0], "coefficients": terms[:, 1]}
    return replace(linears, **{name: np.concatenate((getattr(linears, name), column)) for name, column in more.items()})


class _LinearRows(Rows):
    """The rows ADD, MUL by a constant, LEQ and EQ as 0 = factors * slots, or as a difference compared with 0.

    `factors` is int64 [m, 3]; the constant of a MUL and the truth of a comparison have the factor 0."""

    def __init__(self, tnf: TNF):
        self.compares = (tnf.op == Op.LEQ) | (tnf.op == Op.EQ)
        self.factors = np.zeros((tnf.n_rows, 3), np.int64)
        self.factors[tnf.op == Op.ADD] = (-1, 1, 1)
        self.factors[self.compares] = (0, 1, -1)
        self._add_products(tnf)
        super().__init__(tnf, self.factors[:, 0] != 0, self.factors != 0)

    def _add_products(self, tnf: TNF) -> None:
        products, fixed = np.flatnonzero(tnf.op == Op.MUL), tnf.lower == tnf.upper
        for operand, constant, place in ((tnf.y, tnf.z, 1), (tnf.z, tnf.y, 2)):
            rows = products[fixed[constant[products]] & ~fixed[operand[products]]]
            value = tnf.lower[constant[rows]]
            good = (value != 0) & (np.abs(value) <= TUNING.largest_coefficient)
            self.factors[rows[good], 0] = -1
            self.factors[rows[good], place] = value[good]


def _joints(rows: _LinearRows, links: Links, most_terms: int, widest: int) -> np.ndarray:
    """The links that must stay (bool [n]): links with `most_terms` or more terms below them, and links whose largest
    value is at most `widest` above the least."""
    trees = Trees(rows, links, rows.factors)
    terms = ((rows.factors != 0) & ~links.mask[rows.slots]).sum(axis=1)  # below each row, from the levels done so far
    narrow = rows.tnf.upper - rows.tnf.lower <= widest
    joints = np.zeros(rows.tnf.n_vars, bool)
    inner = np.flatnonzero(links.inner)
    depth = trees.depth[links.definition[inner]]
    order = np.argsort(-depth, kind="stable")
    for level in np.split(inner[order], np.flatnonzero(np.diff(depth[order])) + 1):
        many = narrow[level] | (terms[links.definition[level]] >= most_terms)
        joints[level[many]] = True
        np.add.at(terms, links.user[level], np.where(many, 1, terms[links.definition[level]]))
    return joints


def _justified(rows: _LinearRows, links: Links) -> np.ndarray:
    """The links whose bounds follow from the bounds of the variables that stay (bool [n])."""
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
    """Whether each row implies the root bounds of the variable in its slot (bool [k, 2]) from known bounds."""
    tnf, count = rows.tnf, np.arange(len(row))
    variables, factors = rows.slots[row], rows.factors[row].copy()
    own = factors[count, slot]
    factors[count, slot] = 0
    ends = np.stack((tnf.lower[variables], tnf.upper[variables]), axis=2)
    exact = (np.abs(factors) * np.abs(ends.astype(np.float64)).max(axis=2)).max(axis=1) < TUNING.largest_sum / 4
    ends[~exact] = 0
    # own * v = -rest
    least, least_known = _end_of_sum(-factors, ends, known[variables], 0)
    most, most_known = _end_of_sum(-factors, ends, known[variables], 1)
    truth, equal, compares = tnf.x[row], tnf.op[row] == Op.EQ, rows.compares[row]
    holds, fails = compares & (tnf.lower[truth] == 1), compares & (tnf.upper[truth] == 0) & ~equal
    # y - z <= 0 does not bound own * v from below, y - z >= 1 not from above
    least_known &= exact & (~compares | (holds & equal) | fails)
    most_known &= exact & (~compares | holds)
    least = least + fails
    below = np.where(own > 0, -(-least // own), -(-most // own))  # the lower bound of v, rounded up
    above = np.where(own > 0, most // own, least // own)
    variable = variables[count, slot]
    below_known, above_known = np.where(own > 0, (least_known, most_known), (most_known, least_known))
    return np.stack(
        (below_known & (below >= tnf.lower[variable]), above_known & (above <= tnf.upper[variable])), axis=1
    )


def _end_of_sum(factors: np.ndarray, ends: np.ndarray, known: np.ndarray, end: int) -> tuple[np.ndarray, np.ndarray]:
    """The lower (0) or upper (1) end of each sum of factors * variables (int64 [k]), and whether all bounds in it are
    known (bool [k]). `ends` and `known` are [k, terms, 2]."""
    place = np.where(factors > 0, end, 1 - end)[:, :, None]
    values = factors * np.take_along_axis(ends, place, axis=2)[:, :, 0]
    are_known = (factors == 0) | np.take_along_axis(known, place, axis=2)[:, :, 0]
    return values.sum(axis=1), are_known.all(axis=1)


class _Sums:
    """The trees of linear rows."""

    def __init__(self, rows: _LinearRows, links: Links):
        self.rows, self.links = rows, links
        self.trees = Trees(rows, links, rows.factors)

    def linears(self) -> Linears:
        """The linear rows of all trees of two or more rows whose sums fit 64 bits."""
        tnf, trees = self.rows.tnf, self.trees
        roots = trees.roots()
        tree, variables, coefficients = self._terms(trees.numbers(roots))
        constant, tree, variables, coefficients, good = _combine(tnf, len(roots), tree, variables, coefficients)
        names_truth = self.rows.compares[roots[tree]] & (variables == tnf.x[roots[tree]])
        good[tree[names_truth]] = False
        renumbered = np.cumsum(good) - 1
        order = np.lexsort((variables, np.abs(coefficients), tree))  # small factors first: propagators/linear.h
        tree, variables, coefficients = tree[order], variables[order], coefficients[order]
        stay = good[tree]
        starts = np.concatenate(([0], np.cumsum(np.bincount(renumbered[tree[stay]], minlength=int(good.sum())))))
        kind, low, high, truth = self._heads(roots[good], constant[good])
        absorbed = trees.numbers(roots[good]) != NOBODY
        links = self.links.mask.copy()
        links[links] = absorbed[self.links.definition[links]]
        return Linears(
            kind, low, high, truth, starts.astype(np.int32), variables[stay].astype(np.int32),
            coefficients[stay].astype(np.int32), roots[good].astype(np.int32), absorbed, links,
            defining_order(self.links, trees, links),
        )  # fmt: skip

    def _terms(self, number: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(tree, variable, coefficient float64) for each slot of a joined row that holds no link."""
        rows = self.rows
        joined = np.flatnonzero(number != NOBODY)
        row, slot = np.nonzero((rows.factors[joined] != 0) & ~self.links.mask[rows.slots[joined]])
        at = joined[row]
        return number[at], rows.slots[at, slot], self.trees.weight[at] * rows.factors[at, slot]

    def _heads(self, roots: np.ndarray, constant: np.ndarray) -> tuple[np.ndarray, ...]:
        """(kind, low, high, truth) of the linear row of each tree, after `constant` is moved to the sides."""
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


def _combine(
    tnf: TNF, n_trees: int, tree: np.ndarray, variables: np.ndarray, coefficients: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(constant int64 [n_trees], tree, variables, coefficients, good bool [n_trees]): the terms with equal variables of
    a tree added up, and fixed variables moved to the constant. A tree is good if its sum fits 64 bits, each coefficient
    fits 32, and it has terms."""
    good = np.ones(n_trees, bool)
    good[tree[~(np.abs(coefficients) <= TUNING.largest_coefficient)]] = False
    order = np.lexsort((variables, tree))
    tree, variables, coefficients = tree[order], variables[order], coefficients[order]
    first = np.ones(len(tree), bool)
    first[1:] = (tree[1:] != tree[:-1]) | (variables[1:] != variables[:-1])
    starts = np.flatnonzero(first)
    coefficients = np.add.reduceat(coefficients, starts) if len(starts) else coefficients
    tree, variables = tree[starts], variables[starts]
    largest = np.maximum(np.abs(tnf.lower[variables]), np.abs(tnf.upper[variables])).astype(np.float64)
    magnitude = np.bincount(tree, weights=np.abs(coefficients) * largest, minlength=n_trees)
    good &= magnitude < TUNING.largest_sum
    good[tree[np.abs(coefficients) > TUNING.largest_coefficient]] = False
    exact = np.where(good[tree], coefficients, 0).astype(np.int64)
    fixed = tnf.lower[variables] == tnf.upper[variables]
    constant = np.zeros(n_trees, np.int64)
    np.add.at(constant, tree[fixed], exact[fixed] * np.where(good[tree], tnf.lower[variables], 0)[fixed])
    stay = ~fixed & (exact != 0)
    good &= np.bincount(tree[stay], minlength=n_trees) > 0  # otherwise the row has no variable to tighten
    return constant, tree[stay], variables[stay], exact[stay], good
