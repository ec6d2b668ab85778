"""TNF -> smaller TNF with the same solutions, to a fixpoint.

Lowering simplifies single constraints as it reads them; here whole columns of the complete model are rewritten:

* root propagation (by an engine, as a callback) narrows the bounds; all variables with one value become one constant;
* a row whose result is a constant, or one of its operands, is an alias: its variables are merged, and it is removed;
* rows get a normal form (`y * z` of Booleans is their minimum, `y <= c` at a bound of y is `y = c`, a clause with a
  negation is an implication), so that equivalent rows become equal;
* rows with equal (op, y, z) share their result;
* a definition whose result occurs nowhere else is removed, if it has a value for all values of its operands;
* at the fixpoint, spans.py derives bounds from tasks that exclude each other in pairs, and the rules are applied again;
* then probing (as a callback, run/presolve.py) finds more bounds and aliases, and the rules are applied again.

A row is removed only if *every* assignment within the bounds satisfies it, or if its result is free. The Reconstruction
keeps the removed definitions, and computes the value of every original variable from a solution of the small model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from turbo_fzn.base.domains import INFINITY
from turbo_fzn.tnf import columns
from turbo_fzn.tnf.arrays import distinct
from turbo_fzn.tnf.columns import Rows
from turbo_fzn.tnf.language import ADD, DIV, ELEMENT, EQ, LEQ, MAX, MIN, MUL, TNF, Floats
from turbo_fzn.tnf.reconstruction import Reconstruction, of_itself
from turbo_fzn.tnf.spans import stretch
from turbo_fzn.tnf.tuning import TUNING
from turbo_fzn.tnf.wide import all_of_class

Propagate = Callable[[TNF], "tuple[np.ndarray, np.ndarray] | None"]
Probe = Callable[[], "Probed | None"]
Observer = Callable[[str, int, int], None]  # called with (pass, variables, rows) after each pass


class _Contradiction(Exception):
    """A domain is empty."""


class Probed(NamedTuple):
    """Facts about all solutions: bounds (int64 [n] each), and pairs of truths that are equal (int64 [k, 2])."""

    lower: np.ndarray
    upper: np.ndarray
    equal: np.ndarray


@dataclass(eq=False, repr=False)
class Simplified:
    """The smaller model, and the reconstruction of the original values."""

    tnf: TNF
    reconstruction: Reconstruction


def simplify(
    tnf: TNF, propagate: Propagate, observer: Observer | None = None, probe: Probe | None = None
) -> Simplified:
    """The smaller model; `propagate` returns (lower, upper) at the root fixpoint, or None on failure. `probe` finds
    tighter ones than those that `propagate` has returned last, and pairs of equal truths, or None on failure."""
    simplifier = _Simplifier(tnf, observer)
    try:
        if tnf.infeasible:
            raise _Contradiction
        simplifier.run(propagate, probe)
    except _Contradiction:
        return Simplified(replace(tnf, infeasible=True), of_itself(tnf))
    return simplifier.finish()


class _Simplifier:
    """The model between passes. Variables keep their numbers until `finish`; three constants are added after them."""

    def __init__(self, tnf: TNF, observer: Observer | None = None):
        self.original = tnf
        self.observer = observer
        constants = np.arange(3)
        self.zero, self.one, self.two = tnf.n_vars + constants
        self.lower = np.concatenate((tnf.lower, constants)).astype(np.int64)
        self.upper = np.concatenate((tnf.upper, constants)).astype(np.int64)
        self.representative = np.arange(len(self.lower))
        self.rows = Rows(*(column.astype(np.int64) for column in (tnf.op, tnf.x, tnf.y, tnf.z)))
        self.tables = tnf.tables
        self.removed: list[Rows] = []
        self.mentioned = distinct(tnf.named())

    def run(self, propagate: Propagate, probe: Probe | None) -> None:
        self.reach_fixpoint(propagate)
        variables, low = stretch(self.rows, self.lower, self.upper)
        self.merged = False
        self.restrict(variables, low, self.upper[variables])
        if self.merged:
            self.reach_fixpoint(propagate)
        if probe is not None and self.take(probe()):
            self.reach_fixpoint(propagate)

    def take(self, found: Probed | None) -> bool:
        """Takes over what probing has found. Returns whether the rules are worth being applied again."""
        if found is None:
            raise _Contradiction
        lower, upper = found.lower, found.upper
        inner = self.inner()  # what only some constraints name stays apart from all else
        equal = found.equal[inner[found.equal[:, 0]] == inner[found.equal[:, 1]]]
        equal = equal[self.used()[self.representative[equal]].all(axis=1)]  # a removed definition sets its own variable
        n_new = np.count_nonzero((lower == upper) & (self.lower < self.upper)) + len(equal)
        self.restrict(np.arange(len(lower)), lower, upper)
        self.merge(equal[:, 0], equal[:, 1])
        return bool(n_new * TUNING.probing_gain > len(lower))

    def reach_fixpoint(self, propagate: Propagate) -> None:
        while True:
            bounds = propagate(self.current())
            if bounds is None:
                raise _Contradiction
            self.lower, self.upper = (bound.astype(np.int64) for bound in bounds)
            self.merged = False
            while self.reduce():
                pass
            if not self.merged:
                return

    def current(self) -> TNF:
        """The current rows and bounds as a TNF without objective, search and output."""
        rows = self.rows
        op, x, y, z = (column.astype(np.int32) for column in (rows.op, rows.x, rows.y, rows.z))
        tnf = TNF(op, x, y, z, self.lower.copy(), self.upper.copy(), self.tables)
        tnf.floats = self.floats_among(np.ones(len(self.lower), dtype=bool))
        return tnf

    def reduce(self) -> bool:
        """Applies every rule once. Returns whether a rule has changed the model."""
        before = len(self.rows.op)
        rewritten = self.fold()
        self.report("fold")
        self.share_equal_rows()
        self.report("share")
        self.remove_dead_rows()
        self.report("dead code")
        return rewritten or len(self.rows.op) < before

    def report(self, name: str) -> None:
        """Passes to the observer the number of variables (in rows, search or output) and of rows."""
        if self.observer is not None:
            self.observer(name, int(np.count_nonzero(self.used())), len(self.rows.op))

    def used(self) -> np.ndarray:
        """Whether each variable is a representative that occurs in a row, the search or the output (bool)."""
        rows, representative = self.rows, self.representative
        used = np.zeros(len(self.lower), dtype=bool)
        for variables in (rows.x, rows.y, rows.z[rows.op != ELEMENT], self.mentioned):
            used[representative[variables]] = True
        return used

    # Variables

    def merge(self, first: np.ndarray, second: np.ndarray) -> None:
        """Merges the classes of first[i] and second[i] for all i; the least number of a class represents it."""
        representative = self.representative
        first, second = representative[first], representative[second]
        while np.any(first != second):
            self.merged = True
            np.minimum.at(representative, np.maximum(first, second), np.minimum(first, second))
            self.flatten()
            first, second = self.representative[first], self.representative[second]
            representative = self.representative
        self.update_bounds()

    def flatten(self) -> None:
        while np.any(self.representative != self.representative[self.representative]):
            self.representative = self.representative[self.representative]

    def update_bounds(self) -> None:
        """Gives each class the intersection of its members' bounds."""
        members = np.flatnonzero(self.representative != np.arange(len(self.lower)))
        np.maximum.at(self.lower, self.representative[members], self.lower[members])
        np.minimum.at(self.upper, self.representative[members], self.upper[members])
        self.lower, self.upper = self.lower[self.representative], self.upper[self.representative]
        if np.any(self.lower > self.upper):
            raise _Contradiction

    def restrict(self, variables: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
        variables = self.representative[variables]
        if np.any(self.lower[variables] < low) or np.any(self.upper[variables] > high):
            self.merged = True
        np.maximum.at(self.lower, variables, low)
        np.minimum.at(self.upper, variables, high)
        if np.any(self.lower > self.upper):
            raise _Contradiction

    def rename(self) -> None:
        """Merges the variables with equal constants, and replaces variables of rows by their representatives."""
        fixed = np.flatnonzero(self.lower == self.upper)
        _, first, inverse = np.unique(self.lower[fixed], return_index=True, return_inverse=True)
        self.representative[fixed] = fixed[first][inverse.reshape(-1)]
        self.flatten()
        rows = self.rows
        z = np.where(rows.op == ELEMENT, rows.z, self.representative[np.where(rows.op == ELEMENT, 0, rows.z)])
        x, y = self.representative[rows.x], self.representative[rows.y]
        swap = (y > z) & columns.IS_COMMUTATIVE[rows.op]
        self.rows = Rows(rows.op, x, np.where(swap, z, y), np.where(swap, y, z))

    def floats_among(self, kept: np.ndarray) -> Floats | None:
        """The real variables among the variables that are `kept` (bool): a class with a real variable is real."""
        floats = self.original.floats
        if floats is None:
            return None
        mask = np.zeros(len(self.lower), dtype=bool)
        mask[self.representative[: len(floats.mask)][floats.mask]] = True
        return replace(floats, mask=mask[kept])

    def inner(self) -> np.ndarray:
        """The representatives (bool) of variables that only constraints with wide rows name."""
        known = self.original.inner
        return all_of_class(np.zeros(0, bool) if known is None else known, self.representative)

    # Rules

    def fold(self) -> bool:
        """Removes the rows whose result is a constant or an operand, and normalises the others. Returns whether it has
        changed a row."""
        self.rename()
        rows = self.rows
        view = columns.View(rows, self.lower, self.upper, self.tables)
        low, high = view.result()
        constant = (low == high) & view.is_total()
        self.restrict(rows.x[constant], low[constant], high[constant])
        to_y, to_z = self.aliases(view)
        to_y &= ~constant
        to_z &= ~(constant | to_y)
        same_y, same_z = view.is_sum_with_itself()
        same_y &= ~(constant | to_y | to_z)
        same_z &= ~(constant | to_y | to_z | same_y)
        equal = (rows.op == EQ) & (view.lx == 1) & ~(constant | to_y | to_z)
        double = self.double_negations(view) & ~(constant | to_y | to_z | equal)
        gone = constant | to_y | to_z | same_y | same_z | equal | double
        first = np.concatenate(
            (rows.x[to_y], rows.x[to_z], rows.y[equal], rows.x[double], rows.z[same_y], rows.y[same_z])
        )
        zeros = np.full(np.count_nonzero(same_y | same_z), self.zero)
        base = self.negated[self.negated[rows.x[double]]]
        self.merge(first, np.concatenate((rows.y[to_y], rows.z[to_z], rows.z[equal], base, zeros)))
        changed = self.normalise(view, ~gone)
        self.rows = self.rows.select(~gone)
        return changed or bool(np.any(gone))

    def aliases(self, view: columns.View) -> tuple[np.ndarray, np.ndarray]:
        """The rows equivalent to x = y, and those equivalent to x = z."""
        op, y, z = view.rows.op, view.rows.y, view.rows.z
        ly, uy, lz, uz = view.ly, view.uy, view.lz, view.uz
        to_y = ((op == ADD) & (lz == 0) & (uz == 0)) | ((op == MUL) & (lz == 1) & (uz == 1))
        to_y |= (op == DIV) & (lz == 1) & (uz == 1)
        to_y |= ((op == MIN) & ((y == z) | (uy <= lz))) | ((op == MAX) & ((y == z) | (ly >= uz)))
        to_y |= (op == EQ) & (lz == 1) & (uz == 1) & (ly >= 0) & (uy <= 1)
        to_z = ((op == ADD) & (ly == 0) & (uy == 0)) | ((op == MUL) & (ly == 1) & (uy == 1))
        to_z |= ((op == MIN) & (uz <= ly)) | ((op == MAX) & (lz >= uy))
        to_z |= ((op == EQ) | (op == LEQ)) & (ly == 1) & (uy == 1) & (lz >= 0) & (uz <= 1)
        return to_y, to_z

    def double_negations(self, view: columns.View) -> np.ndarray:
        """Sets `negated` (x -> y for the rows x = not y, else -1). Returns the rows (bool) that negate a negation which
        is no such row."""
        rows = view.rows
        negation, operand = view.negations()
        self.negated = np.full(len(self.lower), -1)
        definition = np.full(len(self.lower), -1)
        numbers = np.flatnonzero(negation)
        self.negated[rows.x[numbers]] = operand[numbers]
        definition[rows.x[numbers]] = numbers
        candidate = np.zeros(len(rows.op), dtype=bool)
        # Only the row recorded for its x, so that `negated` is from this row.
        own = numbers[definition[rows.x[numbers]] == numbers]
        candidate[own] = self.negated[operand[own]] >= 0
        stays = ~candidate[np.where(candidate, definition[np.where(candidate, operand, 0)], 0)]
        return candidate & stays

    def normalise(self, view: columns.View, alive: np.ndarray) -> bool:
        """Rewrites rows into their normal form. Returns whether something changed."""
        before = self.rows
        op, x, y, z = (column.copy() for column in (before.op, before.x, before.y, before.z))
        boolean_y, boolean_z = (view.ly >= 0) & (view.uy <= 1), (view.lz >= 0) & (view.uz <= 1)
        op[alive & (op == MUL) & boolean_y & boolean_z & (y != z)] = MIN
        doubled = alive & (op == ADD) & (y == z)
        op[doubled], z[doubled] = MUL, self.two
        at_bound = (view.lz == view.uz) & (view.lz == view.ly) | (view.ly == view.uy) & (view.ly == view.uz)
        op[alive & (op == LEQ) & at_bound] = EQ
        self.rewrite_literals(view, alive & boolean_y & boolean_z, op, x, y, z)
        self.rows = Rows(op, x, y, z)
        return any(np.any(new != old) for new, old in zip((op, x, y, z), (before.op, before.x, before.y, before.z)))

    def rewrite_literals(
        self, view: columns.View, rows: np.ndarray, op: np.ndarray, x: np.ndarray, y: np.ndarray, z: np.ndarray
    ) -> None:
        """Replaces negations in clauses of two literals: "not a or b" is a <= b, and so on. Changes columns in place.

        A clause is [signs of y and z, as literals]: MAX = 1 has both positive, LEQ = 1 has y negative, MIN = 0 both
        negative. Each literal that is a negation is replaced by its operand, and the sign changes. An inner variable of
        some constraints is not put into rows of others.
        """
        true, false = (view.lx == 1), (view.ux == 0)
        clause = rows & ((((op == MAX) | (op == LEQ)) & true) | ((op == MIN) & false))
        positive_y, positive_z = op == MAX, op != MIN
        inner = self.inner()
        negated_y, negated_z = (
            clause
            & (self.negated[np.where(clause, side, 0)] >= 0)
            & (self.negated[self.negated[np.where(clause, side, 0)]] < 0)
            & ~inner[self.negated[np.where(clause, side, 0)]]
            for side in (y, z)
        )
        y[negated_y], z[negated_z] = self.negated[y[negated_y]], self.negated[z[negated_z]]
        positive_y, positive_z = positive_y ^ negated_y, positive_z ^ negated_z
        swap = clause & positive_y & ~positive_z
        y[swap], z[swap] = z[swap], y[swap]
        changed = clause & (negated_y | negated_z)
        n_positive = positive_y.astype(int) + positive_z
        for count, new in ((0, MIN), (1, LEQ), (2, MAX)):
            here = changed & (n_positive == count)
            op[here] = new
            x[here] = self.zero if new == MIN else self.one

    def share_equal_rows(self) -> None:
        """Merges the results of rows with equal (op, y, z), and keeps one row of each group."""
        self.rename()
        rows = self.rows
        order = np.lexsort((rows.x, rows.z, rows.y, rows.op))
        op, x, y, z = (column[order] for column in (rows.op, rows.x, rows.y, rows.z))
        repeated = np.zeros(len(op), dtype=bool)
        repeated[1:] = (op[1:] == op[:-1]) & (y[1:] == y[:-1]) & (z[1:] == z[:-1])
        if not np.any(repeated):
            return
        first = np.maximum.accumulate(np.where(repeated, 0, np.arange(len(op))))
        keep = np.ones(len(op), dtype=bool)
        keep[order[repeated]] = False
        self.merge(x[repeated], x[first[repeated]])
        self.rows = rows.select(keep)
        self.rename()

    def remove_dead_rows(self) -> None:
        """Removes definitions whose result occurs nowhere else, to a fixpoint."""
        mentioned = np.zeros(len(self.lower), dtype=bool)
        mentioned[self.representative[self.mentioned]] = True
        while True:
            rows = self.rows
            dead, definitions = columns.dead_rows(rows, self.lower, self.upper, self.tables, mentioned)
            if not np.any(dead):
                return
            self.removed.append(definitions)
            self.rows = rows.select(~dead)

    # The end

    def finish(self) -> Simplified:
        self.rename()
        tnf, rows, representative = self.original, self.rows, self.representative
        ternary = rows.op != ELEMENT
        used = self.used()
        number = np.where(used, np.cumsum(used) - 1, -1)
        tables, offsets = columns.compact_tables(rows, self.lower, self.upper, self.tables)
        z = np.where(ternary, number[np.where(ternary, rows.z, 0)], offsets)
        op, x, y, z = (column.astype(np.int32) for column in (rows.op, number[rows.x], number[rows.y], z))
        names = tnf.names_by(number[representative])
        small = TNF(op, x, y, z, self.lower[used], self.upper[used], tables, sense=tnf.sense, **names)
        small.floats, small.restarts = self.floats_among(used), tnf.restarts
        small.inner = None if tnf.inner is None else self.inner()[used]
        position = np.where(representative == np.arange(len(number)), number, -1)
        return Simplified(
            small,
            Reconstruction(tnf.n_vars, representative, position, self.any_value(), self.removed, self.tables),
        )

    def any_value(self) -> np.ndarray:
        """A value within the bounds of each variable."""
        finite_upper = np.where(self.upper < INFINITY, self.upper, 0)
        return np.where(self.lower > -INFINITY, self.lower, np.minimum(finite_upper, self.upper))
