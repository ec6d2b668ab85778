"""The row builder: collects TNF variables and rows in plain Python lists.

A constraint is lowered by calls of two methods: `row(op, y, z)` returns a variable that equals `y op z`, and
`define(x, op, y, z)` states `x = y op z` for an existing variable x. Many calls make no row: a constant result is
folded, an equal expression is shared (hash-consing, as in compilers: the key is op, y and z, with the operands of
commutative operators ordered), `1 = (y = z)` merges two variables, and `1 = (y <= c)` narrows a domain. So the lowering
of constraints needs no special case for constants: `sum <= 7` is `define(true, LEQ, sum, seven)`.

Merged variables form classes (variables.py); `finish` renames everything to representatives.

`share=False` turns folding and sharing off: each call makes a row. The answers must be the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from turbo_fzn.base.domains import INFINITY, IntSet
from turbo_fzn.base.errors import InternalError, UnsupportedError
from turbo_fzn.lower import intervals
from turbo_fzn.lower.blocks import compact, count_rows
from turbo_fzn.lower.inner import Mark, WideRows, inner_variables
from turbo_fzn.lower.trees import KEY_BITS, Trees
from turbo_fzn.lower.tuning import TUNING
from turbo_fzn.lower.variables import Infeasible
from turbo_fzn.tnf.language import ADD, COMMUTATIVE, DIV, ELEMENT, EQ, LEQ, MAX, MIN, MOD, MUL, TNF, FloatOp, Floats, Op
from turbo_fzn.tnf.wide import named_by, renumbered

LOGICAL = frozenset((MIN, MAX, EQ, LEQ))
TRUTH = (0, 1)  # format: the bounds of a truth value
N_OPERATORS = 1 + max(max(Op), max(FloatOp))


class RowBuilder(Trees):
    def __init__(self, share: bool = True, alone: bool = False):
        super().__init__()
        self.share = share
        self.rows: list[tuple[int, int, int, int]] = []  # (op, x, y, z)
        self.settled: list[np.ndarray] = []  # earlier rows as columns, int64 [4, k]
        self.blocks: list[np.ndarray] = []  # later rows, in the same form: see bulk.py
        self.tables: list[int] = []
        self.results = [{} for _ in range(N_OPERATORS)]
        self.negated: dict[int, int] = {}  # x -> y for the rows x = (y = 0) with a Boolean y
        self.opposite: dict[int, int] = {}  # as `negated`, and y -> x
        self.negatives: dict[int, int] = {}  # x -> -x
        self.multiples: dict[int, tuple[int, int]] = {}  # x -> (y, c) for the rows x = y * c with a Boolean y
        self.domains: dict[int, IntSet] = {}  # the domain of a variable with holes, as it was declared
        self.index_of: dict[int, int] = {}  # a variable with holes -> the index of its value
        self.offsets: dict[tuple[int, ...], int] = {}  # a table -> where it begins in `tables`
        self.plans: dict[tuple, Any] = {}  # the plans of tables (globals/table_plan.py)
        self.wides = WideRows(wanted=share, may_stand_alone=alone)
        self.rows_of_tables = 0  # rows of truth values, as globals/table.py estimates
        self.false = self.constant(0)
        self.true = self.constant(1)

    # Rows

    def row(self, op: int, y: int, z: int) -> int:
        """A variable that equals y op z."""
        if z < y and op in COMMUTATIVE:
            y, z = z, y
        if self.share:
            results, key = self.results[op], (y << KEY_BITS) + z
            known = results.get(key)
            if known is not None:
                return known
            span = self.unfolded(op, y, z)
            if span is not None:
                x = results[key] = self.variable(*span)
                self.rows.append((op, x, y, z))
                return x
            known = self.fold(op, y, z)
            if known is not None:
                results[key] = known
                return known
        span = self.range_of(op, y, z)
        if intervals.is_beyond(span):
            raise UnsupportedError(intervals.BEYOND)
        x = self.variable(*span)
        self.emit(x, op, y, z)
        return x

    def define(self, x: int, op: int, y: int, z: int) -> None:
        """States x = y op z."""
        if z < y and op in COMMUTATIVE:
            y, z = z, y
        span = None
        if self.share:
            known = self.results[op].get((y << KEY_BITS) + z)
            if known is None:
                span = self.unfolded(op, y, z)
                known = self.fold(op, y, z) if span is None else None
                if known is not None:
                    self.results[op][(y << KEY_BITS) + z] = known
            if known is not None:
                return self.merge(x, known)
            if self.lower[x] == self.upper[x] and self.solve(self.lower[x], op, y, z):
                return None
            if op == EQ or op == LEQ:  # `fold` would have found its value
                span = TRUTH
        if span != TRUTH or not self.is_boolean(x):
            self.restrict(x, *(span or self.range_of(op, y, z)))
        self.emit(x, op, y, z)
        return None

    def unfolded(self, op: int, y: int, z: int) -> intervals.Interval | None:
        """The bounds of y op z if a quick test shows that `fold` finds nothing, as for most rows; else None."""
        lower, upper = self.lower, self.upper
        ly, uy, lz, uz = lower[y], upper[y], lower[z], upper[z]
        if y == z or ly == uy or lz == uz:
            return None
        if op >= MIN and op in LOGICAL and ly < uz and lz < uy:
            return TRUTH if op >= EQ else intervals.RESULT[op](ly, uy, lz, uz)
        span = intervals.add(ly, uy, lz, uz) if op == ADD else None
        return None if span is None or intervals.is_beyond(span) else span

    def known(self, op: int, y: int, z: int) -> int | None:
        """The variable that is known to equal y op z, or None; commutative operands must be ordered."""
        return self.results[op].get((y << KEY_BITS) + z)

    def emit(self, x: int, op: int, y: int, z: int) -> None:
        self.rows.append((op, x, y, z))
        self.results[op][(y << KEY_BITS) + z] = x
        if op == EQ or op == MUL:
            self.note_product_or_negation(x, op, y, z)

    def note_product_or_negation(self, x: int, op: int, y: int, z: int) -> None:
        """Records that x is a multiple or a negation of a Boolean, if the row x = y op z makes it so, for later
        rows."""
        y, z = (z, y) if self.lower[y] == self.upper[y] else (y, z)
        if self.lower[z] == self.upper[z] and self.is_boolean(y):
            if op == MUL:
                self.multiples[x] = y, self.lower[z]
            elif self.lower[z] == 0:
                self.negated[x] = self.opposite[x] = y
                self.opposite[y] = x

    def range_of(self, op: int, y: int, z: int) -> tuple[int, int]:
        if op == MUL and y == z:
            return intervals.square(self.lower[y], self.upper[y])
        return intervals.RESULT[op](self.lower[y], self.upper[y], self.lower[z], self.upper[z])

    def fold(self, op: int, y: int, z: int) -> int | None:
        """A variable that equals y op z without a new row, or None."""
        ly, uy, lz, uz = self.lower[y], self.upper[y], self.lower[z], self.upper[z]
        if ly == uy or lz == uz or op >= MIN:
            low, high = self.range_of(op, y, z) if lz > 0 or op not in (DIV, MOD) else (0, 1)
            if low == high and abs(low) < INFINITY:
                return self.constant(low)
        if op == ADD:
            return self.fold_add(y, z)
        if op == MUL:
            return self.fold_multiply(y, z)
        if op == EQ or op == LEQ:
            return self.fold_comparison(op, y, z)
        if op == MIN or op == MAX:
            return self.fold_extreme(op, y, z)
        return y if op == DIV and lz == uz == 1 else None

    def fold_add(self, y: int, z: int) -> int | None:
        """Folds y + 0 to y, and y + y to 2y, which has tighter bounds."""
        if y == z:
            return self.row(MUL, y, self.constant(2))
        if self.lower[y] == self.upper[y] == 0:
            return z
        return y if self.lower[z] == self.upper[z] == 0 else None

    def fold_multiply(self, y: int, z: int) -> int | None:
        """Folds 1 * z to z, and a product of Booleans to their minimum."""
        if self.lower[y] == self.upper[y] == 1:
            return z
        if self.lower[z] == self.upper[z] == 1:
            return y
        return self.row(MIN, y, z) if self.is_boolean(y) and self.is_boolean(z) else None

    def fold_extreme(self, op: int, y: int, z: int) -> int | None:
        """Folds a minimum or maximum to the operand that it always equals."""
        ly, uy, lz, uz = self.lower[y], self.upper[y], self.lower[z], self.upper[z]
        if y == z or (uy <= lz if op == MIN else ly >= uz):
            return y
        return z if (uz <= ly if op == MIN else lz >= uy) else None

    def fold_comparison(self, op: int, y: int, z: int) -> int | None:
        """Folds `b = 1`, `1 <= b` and double negations to b; writes `y <= c` at a bound c of y as `y = c`."""
        if y == z:
            return self.true
        ly, uy, lz, uz = self.lower[y], self.upper[y], self.lower[z], self.upper[z]
        if op == LEQ:
            if lz == uz == ly or ly == uy == uz:
                return self.row(EQ, y, z)
            return None
        if ly == uy:  # from here on a constant operand is z
            y, z, ly, uy, lz, uz = z, y, lz, uz, ly, uy
        if lz != uz:
            return None
        if ly >= 0 and uy <= 1:
            return y if lz == 1 else self.opposite.get(y)
        if y in self.multiples and self.multiples[y][1] != 0:
            base, factor = self.multiples[y]
            return self.row(EQ, base, self.constant(lz // factor)) if lz in (0, factor) else self.false
        return self.false if y in self.domains and lz not in self.domains[y] else None

    def solve(self, x: int, op: int, y: int, z: int) -> bool:
        """States `x = y op z` for a constant x by domains and classes alone. Returns whether that was possible."""
        solve = SOLVED.get(op)
        return solve is not None and solve(self, x, y, z)

    def solve_at_most(self, x: int, y: int, z: int) -> bool:
        ly, uy, lz, uz = self.lower[y], self.upper[y], self.lower[z], self.upper[z]
        if not 0 <= x <= 1 or (ly != uy and lz != uz):
            return False
        if x == 1:
            self.restrict(y, -INFINITY, uz)
            self.restrict(z, ly, INFINITY)
        else:
            self.restrict(y, lz + 1, INFINITY)
            self.restrict(z, -INFINITY, uy - 1)
        return True

    def solve_equal(self, x: int, y: int, z: int) -> bool:
        if x == 1:
            self.merge(y, z)
            return True
        if x == 0 and self.lower[z] == self.upper[z]:
            return self.exclude(y, self.lower[z])
        return x == 0 and self.lower[y] == self.upper[y] and self.exclude(z, self.lower[y])

    def solve_sum(self, x: int, y: int, z: int) -> bool:
        if self.lower[y] == self.upper[y]:
            self.merge(z, self.constant(x - self.lower[y]))
        elif self.lower[z] == self.upper[z]:
            self.merge(y, self.constant(x - self.lower[z]))
        else:
            return False
        return True

    def solve_minimum(self, x: int, y: int, z: int) -> bool:
        return x == self.upper[y] == self.upper[z] and self.fix_both(x, y, z)

    def solve_maximum(self, x: int, y: int, z: int) -> bool:
        return x == self.lower[y] == self.lower[z] and self.fix_both(x, y, z)

    def fix_both(self, value: int, y: int, z: int) -> bool:
        self.merge(y, self.constant(value))
        self.merge(z, self.constant(value))
        return True

    def exclude(self, variable: int, value: int) -> bool:
        """Removes a value from a domain if it is one of its bounds. Returns whether it is."""
        if value == self.lower[variable]:
            self.restrict(variable, value + 1, INFINITY)
        elif value == self.upper[variable]:
            self.restrict(variable, -INFINITY, value - 1)
        else:
            return False
        return True

    def mark(self) -> Mark:
        """The numbers of variables and rows made so far."""
        return Mark(len(self.parent), len(self.rows) + count_rows(self.settled), count_rows(self.blocks))

    # Compound expressions

    def negation(self, boolean: int) -> int:
        return self.row(EQ, boolean, self.false)

    def define_not(self, x: int, op: int, y: int, z: int) -> None:
        """States x = not (y op z), for a comparison."""
        if self.share and (self.value(x) is not None or x in self.opposite):
            self.define(self.negation(x), op, y, z)
        else:
            self.define(x, EQ, self.row(op, y, z), self.false)

    def negative(self, x: int) -> int:
        """A variable that equals -x, by the row 0 = x + (-x)."""
        if self.lower[x] == self.upper[x]:
            return self.constant(-self.lower[x])
        if x not in self.negatives:
            self.negatives[x] = self.variable(-self.upper[x], -self.lower[x])
            self.emit(self.false, ADD, x, self.negatives[x])
        return self.negatives[x]

    def truth_of_interval(self, x: int, low: int, high: int) -> int:
        """The truth of low <= x <= high."""
        if low == high:
            return self.row(EQ, x, self.constant(low))
        parts = [self.row(LEQ, self.constant(low), x)] if low > self.lower[x] else []
        parts += [self.row(LEQ, x, self.constant(high))] if high < self.upper[x] else []
        return self.tree(MIN, parts, 1)

    # Tables

    def table(self, values: Sequence[int]) -> int:
        """The place in `tables` where these values begin. Raises UnsupportedError for a value beyond ±2**62."""
        key = tuple(values)
        if key not in self.offsets:
            if not -INFINITY < min(key, default=0) <= max(key, default=0) < INFINITY:
                raise UnsupportedError("a table with an integer beyond ±2**62")
            self.offsets[key] = len(self.tables)
            self.tables.extend(key)
        return self.offsets[key]

    def define_element(self, x: int, y: int, values: Sequence[int], first: int) -> None:
        """States x = values[y - first], and that y is an index of the values."""
        self.restrict(y, first, first + len(values) - 1)
        y = self.find(y)
        low, high = self.lower[y], self.upper[y]
        reached = values[low - first : high - first + 1]
        self.restrict(x, min(reached), max(reached))
        if self.share and low == high:
            return
        offset = self.table(values) - first
        known = self.known(ELEMENT, y, offset)
        if self.share and known is not None:
            self.merge(x, known)
        elif not self.share or min(reached) < max(reached):
            self.emit(x, ELEMENT, y, offset)

    def define_membership(self, x: int, values: IntSet) -> None:
        """States that x is in a set: by bounds, then by a table of the values, or two rows for each gap."""
        if not values:
            raise Infeasible
        self.restrict(x, values.lower, values.upper)
        if not values.has_holes:
            return
        x = self.find(x)
        self.domains[x] = values & self.domains.get(x, values)
        if is_table(values):
            index = self.index_of[x] = self.variable(0, values.size - 1)
            self.define_element(x, index, list(values), 0)
            return
        for (_, below), (above, _) in zip(values.ranges, values.ranges[1:]):  # x <= below iff x < above
            self.define(self.row(LEQ, x, self.constant(below)), LEQ, x, self.constant(above - 1))

    # The end

    def add_rows(self, block: np.ndarray) -> None:
        """Appends rows given as columns."""
        self.settle()
        self.settled.append(compact(block))

    def settle(self) -> None:
        """Turns the rows into columns, which take a fifth of the memory."""
        if self.rows:
            flat = np.fromiter(chain.from_iterable(self.rows), np.int64, 4 * len(self.rows))
            self.settled.append(compact(flat.reshape(-1, 4).T))
            self.rows.clear()

    def finish(self, kept: Sequence[int], infeasible: bool = False) -> tuple[TNF, np.ndarray]:
        """The TNF of the rows, and its variable for each of the builder's variables (-1 if it occurs nowhere and is not
        kept)."""
        representative = np.array(self.parent, dtype=np.int64)
        while np.any(representative != representative[representative]):
            representative = representative[representative]
        n_single, (op, x, y, z) = self.mark().rows, self.all_rows()
        lower, upper = np.array(self.lower, dtype=np.int64), np.array(self.upper, dtype=np.int64)
        inner = inner_variables(self.wides.spans, (op, x, y, z), n_single, representative, (lower, upper))
        ternary = op != ELEMENT
        used = np.zeros(len(representative), dtype=bool)
        for column in (x, y, z[ternary], np.array(kept, dtype=np.int64), named_by(self.wides.rows)):
            used[representative[column]] = True
        number = np.where(used, np.cumsum(used) - 1, -1)[representative]
        z[ternary] = number[z[ternary]]
        if z.size and max(abs(int(z.min())), abs(int(z.max()))) >= 2**31:
            raise InternalError("the offset of a table does not fit into a row")
        op, x, y, z = (column.astype(np.int32) for column in (op, number[x], number[y], z))
        tables = np.array(self.tables, dtype=np.int64)
        tnf = TNF(op, x, y, z, lower[used], upper[used], tables, infeasible=infeasible)
        tnf.wides, tnf.inner = renumbered(self.wides.rows, number), inner[used]
        if self.reals:
            tnf.floats = Floats(np.isin(np.arange(tnf.n_vars), number[sorted(self.reals)]))
        return tnf, number

    def all_rows(self) -> list[np.ndarray]:
        """The columns of all rows. Clears the builder's tables of known results, since large models need the memory."""
        for known in self.results:
            known.clear()
        self.settle()
        blocks = self.settled + self.blocks
        self.settled, self.blocks = [], []
        return [np.concatenate([np.zeros(0, np.int32), *(block[k] for block in blocks)]) for k in range(4)]


# For each operator, the method that states `x = y op z` for a constant x.
SOLVED = {
    LEQ: RowBuilder.solve_at_most,
    EQ: RowBuilder.solve_equal,
    ADD: RowBuilder.solve_sum,
    MIN: RowBuilder.solve_minimum,
    MAX: RowBuilder.solve_maximum,
}


def is_table(values: IntSet) -> bool:
    """Whether a domain has holes and becomes a table of its values."""
    return values.has_holes and values.size <= max(TUNING.domain_values, 8 * len(values.ranges))
