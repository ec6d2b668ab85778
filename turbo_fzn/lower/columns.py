"""Lowers many constraints of one shape at once, in columns, with the same result as one at a time.

The constraints of a sequence are its *places*. Each is lowered to a fixed number of *slots*, each with a variable, a
row, or both. Slot s of place i has the provisional number `base + i * width + s`: these ascend in the order in which
single lowering would make the variables, so operands are ordered and expressions are shared in the same way. `commit`
drops unused numbers, and so gives the same variables, rows and numbers.

A step (`rows`, `define`, `negative`) treats the usual case only: unfixed operands, or one constant, and nothing to
fold. A place that needs anything else is *odd*. Nothing is changed before `commit`, and no place depends on a later
place; so the places before the first odd place can be kept, and the odd place is lowered by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import cycle
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from turbo_fzn.base.domains import INFINITY
from turbo_fzn.lower import bulk
from turbo_fzn.lower.builder import LOGICAL, RowBuilder
from turbo_fzn.lower.tuning import TUNING
from turbo_fzn.tnf.language import ADD, COMMUTATIVE, EQ, LEQ, MAX, MIN, MUL

Column = np.ndarray  # int64, an element for each place
Operand = np.ndarray | int
RANGES: dict[int, Callable[..., tuple[Operand, Operand]]] = {
    ADD: lambda ly, uy, lz, uz: (ly + lz, uy + uz),
    MUL: lambda *bounds: multiplied(*bounds),
    MIN: lambda ly, uy, lz, uz: (np.minimum(ly, lz), np.minimum(uy, uz)),
    MAX: lambda ly, uy, lz, uz: (np.maximum(ly, lz), np.maximum(uy, uz)),
    EQ: lambda *_: (0, 1),
    LEQ: lambda *_: (0, 1),
}
NEUTRAL = {ADD: 0, MUL: 1}
NO_ROW = -1  # format: the operator of a slot that is not used


class Request(NamedTuple):
    """A request for y op z: a new variable in the slot, unless one is known."""

    slot: int
    op: int
    y: Operand
    z: Operand


class _Operands(NamedTuple):
    """Both operands of an operator in the order of a key, with their bounds."""

    y: Column
    z: Column
    ly: Column
    uy: Column
    lz: Column
    uz: Column

    def are_finite(self) -> np.ndarray:
        least, most = np.minimum(self.ly, self.lz), np.maximum(self.uy, self.uz)
        return (least > -INFINITY) & (most < INFINITY)

    def overlap(self) -> np.ndarray:
        """Where neither operand is always at least the other (bool)."""
        return (self.ly < self.uz) & (self.lz < self.uy)


class Columns:
    def __init__(self, b: RowBuilder, n: int, width: int):
        self.b, self.n, self.width = b, n, width
        self.base = len(b.parent)
        self.place = np.arange(n)
        self.odd = np.zeros(n, bool)
        self.fresh: list[dict[int, int]] = [{} for _ in b.results]
        self.fresh_negatives: dict[int, int] = {}
        self.shared: list[tuple[Column, np.ndarray]] = []  # (numbers, places) where a place uses another's variable
        # For each slot:
        self.low, self.high = np.zeros((2, n, width), np.int64)
        self.op, self.x, self.y, self.z = np.full((4, n, width), NO_ROW, np.int64)
        self.is_variable = np.zeros((n, width), bool)
        self.is_narrowed = np.zeros((n, width), bool)

    # Numbers and bounds

    def numbers(self, slot: int) -> Column:
        return self.base + self.place * self.width + slot

    def column(self, operand: Operand) -> Column:
        return operand if isinstance(operand, np.ndarray) else np.full(self.n, operand)

    def bounds(self, x: Column) -> tuple[Column, Column]:
        low, high = np.empty((2, self.n), np.int64)
        old = x < self.base
        if old.any():
            low[old], high[old] = gather(self.b.lower, x[old]), gather(self.b.upper, x[old])
        slots = x[~old] - self.base
        low[~old], high[~old] = self.low.reshape(-1)[slots], self.high.reshape(-1)[slots]
        return low, high

    def operands(self, op: int, y: Operand, z: Operand) -> _Operands:
        y, z = self.column(y), self.column(z)
        if op in COMMUTATIVE:
            y, z = np.minimum(y, z), np.maximum(y, z)
        return _Operands(y, z, *self.bounds(y), *self.bounds(z))

    def own(self, x: Column) -> np.ndarray:
        """Where x is a variable that this place has made (bool), which no other place can use yet."""
        slot = x - self.base - self.place * self.width
        inside = (slot >= 0) & (slot < self.width)
        return inside & self.is_variable[self.place, np.where(inside, slot, 0)]

    # Steps

    def require(self, usual: np.ndarray) -> None:
        self.odd |= ~usual

    def rows(self, *requests: Request) -> list[Column]:
        """For each request the variables that equal y op z. The requests must be for different expressions."""
        slots = np.stack([self.numbers(slot) for slot, *_ in requests], axis=1)
        every = [self.operands(op, y, z) for _, op, y, z in requests]
        keys = np.stack([bulk.keys(operands.y, operands.z) for operands in every], axis=1)
        found = self.find([op for _, op, *_ in requests], keys, slots)
        for k, ((slot, op, *_), operands) in enumerate(zip(requests, every)):
            self.require(_is_unfolded(self.b, op, operands) | ((op == MUL) & (found[:, k] < self.base)))
            if op in NEUTRAL:  # y + 0 = y
                found[:, k] = _without_neutral(NEUTRAL[op], operands, found[:, k])
            new = found[:, k] == slots[:, k]
            self.fill(slot, new, op, slots[:, k], operands.y, operands.z)
            low, high = RANGES[op](*operands[2:])
            self.require(np.broadcast_to((np.abs(low) < INFINITY) & (np.abs(high) < INFINITY), self.n))
            self.low[:, slot], self.high[:, slot] = low, high
            self.is_variable[:, slot] = new
        return list(found.T)

    def find(self, ops: Sequence[int], keys: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """The variables under the keys, place by place: known to the builder, made by an earlier place, or new."""
        ways = [(self.b.results[op].get, self.fresh[op].setdefault) for op in ops]
        found = [
            fresh(key, number) if (x := known(key)) is None else x
            for (known, fresh), key, number in zip(cycle(ways), keys.reshape(-1).tolist(), numbers.reshape(-1).tolist())
        ]
        column = np.array(found, np.int64)
        self.note_shared(column, numbers.reshape(-1))
        return column.reshape(numbers.shape)

    def require_representatives(self, x: Column) -> None:
        """Makes places odd where x was merged with another variable, since its number and bounds are out of date."""
        old = x < self.base
        if old.any():
            self.odd[self.place[old]] |= gather(self.b.parent, x[old]) != x[old]

    def require_no_negations(self, x: Column) -> None:
        """Makes places odd where x is a negation, which clauses replace by its operand."""
        negated = self.b.negated
        self.odd |= np.array([v in negated for v in x.tolist()])

    def note_shared(self, found: np.ndarray, numbers: np.ndarray) -> None:
        """Records which variables belong to other places; a place that needs a variable of a later place is odd."""
        others = np.flatnonzero((found >= self.base) & (found != numbers))
        places = (numbers[others] - self.base) // self.width
        self.odd[places[found[others] > numbers[others]]] = True
        self.shared.append((found[others], places))

    def fill(self, slot: int, where: np.ndarray, op: int, x: Operand, y: Column, z: Column) -> None:
        self.op[where, slot] = op
        for column, values in ((self.x, x), (self.y, y), (self.z, z)):
            column[:, slot] = values

    def negative(self, slot: int, x: Column) -> Column:
        """Variables that equal -x, by the rows 0 = x + (-x)."""
        low, high = self.bounds(x)
        self.require((low < high) & (low > -INFINITY) & (high < INFINITY))
        known, fresh, numbers = self.b.negatives.get, self.fresh_negatives.setdefault, self.numbers(slot)
        pairs = zip(x.tolist(), numbers.tolist())
        found = np.array([fresh(v, number) if (w := known(v)) is None else w for v, number in pairs], np.int64)
        self.note_shared(found, numbers)
        new = found == numbers
        self.fill(slot, new, ADD, self.b.false, x, numbers)
        self.fresh[ADD].update(dict.fromkeys(bulk.keys(x, numbers)[new].tolist(), self.b.false))
        self.low[:, slot], self.high[:, slot] = -high, -low
        self.is_variable[:, slot] = new
        return found

    def define(self, slot: int, x: Operand, op: int, y: Operand, z: Operand) -> None:
        """States x = (y op z) for Booleans x that are all unfixed, all true, or all false."""
        operands = self.operands(op, y, z)
        self.require(_is_unfolded(self.b, op, operands))
        if not isinstance(x, int):
            low, high = self.bounds(x)
            self.require((low == 0) & (high == 1) & np.isin(op, (EQ, LEQ)))
        new = self.is_new(slot, x, op, operands)
        if isinstance(x, int):
            self.require(_not_solved(x == self.b.true, op, operands) | ~new)
            new &= ~self.narrow(x == self.b.true, op, operands, new)
        self.fill(slot, new, op, x, operands.y, operands.z)

    def define_less(self, slot: int, x: Column, y: Column) -> None:
        """States x < y, for unfixed variables."""
        for variable in (x, y):
            low, high = self.bounds(variable)
            self.require(low < high)
        self.define(slot, self.b.false, LEQ, y, x)

    def is_new(self, slot: int, x: Operand, op: int, operands: _Operands) -> np.ndarray:
        """Where x = y op z is not stated yet (bool); a place where y op z is known as another variable is odd."""
        known, fresh, numbers = self.b.results[op].get, self.fresh[op].setdefault, self.numbers(slot)
        pairs = zip(bulk.keys(operands.y, operands.z).tolist(), numbers.tolist())
        found = [fresh(key, number) if (v := known(key)) is None else ~v for key, number in pairs]
        column = np.array(found, np.int64)
        new, again = column == numbers, np.zeros(self.n, bool)
        if isinstance(x, int):
            is_statement = (column >= self.base) & (column < numbers) & ((column - self.base) % self.width == slot)
            again = is_statement | (column == ~x)
        self.require(new | again)
        return new

    def narrow(self, truth: bool, op: int, operands: _Operands, new: np.ndarray) -> np.ndarray:
        """Where a comparison with a constant becomes a bound of a variable, not a row (bool); the variable must be the
        place's own."""
        y, z, ly, uy, lz, uz = operands
        done = np.zeros(self.n, bool)
        if op not in (EQ, LEQ):
            return done
        for variable, low, high, constant, is_right in ((y, ly, uy, lz, lz == uz), (z, lz, uz, ly, ly == uy)):
            below, above = _bounds_left(truth, op, variable is y, low, high, constant)
            here = new & is_right & ((below > low) | (above < high))
            self.require(~here | (self.own(variable) & (below <= above)))
            mine = here & ~self.odd
            slot = np.where(mine, variable - self.base - self.place * self.width, 0)[mine]
            self.low[mine, slot], self.high[mine, slot] = below[mine], above[mine]
            self.is_narrowed[mine, slot] = True
            done |= here
        return done

    # The end

    def commit(self) -> int:
        """Adds the variables and rows of the places before the first odd place to the builder. Returns the number of
        places."""
        for numbers, places in self.shared:
            self.odd[places[self.is_narrowed.reshape(-1)[numbers - self.base]]] = True
        n = int(np.argmax(self.odd)) if self.odd.any() else self.n
        if n:
            self.hand_over(n)
        return n

    def hand_over(self, n: int) -> None:
        b, end = self.b, self.base + n * self.width
        made = self.is_variable[:n].reshape(-1)
        final = self.base + np.cumsum(made) - 1
        bulk.variables(b, self.low[:n].reshape(-1)[made].tolist(), self.high[:n].reshape(-1)[made].tolist())

        def renamed(numbers: np.ndarray) -> np.ndarray:
            fresh = numbers >= self.base
            numbers[fresh] = final[numbers[fresh] - self.base]
            return numbers

        has_row = self.op[:n].reshape(-1) != NO_ROW
        block = np.stack([column[:n].reshape(-1)[has_row] for column in (self.op, self.x, self.y, self.z)])
        for column in block[1:]:
            column[:] = renamed(column)
        b.add_rows(block)
        keys = bulk.keys(block[2], block[3])
        for op in np.flatnonzero(np.bincount(block[0])).tolist():
            here = block[0] == op
            b.results[op].update(zip(keys[here].tolist(), block[1][here].tolist()))
        pairs = [(v, w) for v, w in self.fresh_negatives.items() if w < end]
        if pairs:
            positive, negative = (renamed(np.array(side, np.int64)).tolist() for side in zip(*pairs))
            b.negatives.update(zip(positive, negative))


def gather(values: list[int], places: Column) -> np.ndarray:
    if len(places) >= TUNING.ranged_places:
        first, end = int(places.min()), int(places.max()) + 1
        if end - first <= len(places):  # many constraints on few variables
            return np.array(values[first:end], np.int64)[places - first]
    return np.array(itemgetter(*places.tolist())(values), np.int64)


def _is_unfolded(b: RowBuilder, op: int, operands: _Operands) -> np.ndarray:
    """Where y op z needs a row (see RowBuilder.fold): both operands are unfixed, or one is a constant between the
    bounds of the other."""
    y, z, ly, uy, lz, uz = operands
    known_y, known_z = ly == uy, lz == uz
    usual = (y != z) & ~(known_y & known_z) & operands.are_finite()
    if op == ADD:
        return usual  # `rows` treats the neutral elements 0 and 1
    if op == MUL:
        is_small = (np.minimum(ly, lz) > -TUNING.small_factor) & (np.maximum(uy, uz) < TUNING.small_factor)
        is_truth = np.where(known_y, (lz >= 0) & (uz <= 1), (ly >= 0) & (uy <= 1))  # see RowBuilder.multiples
        factor = np.where(known_y, ly, lz)
        return usual & (known_y | known_z) & is_small & ((factor == 1) | (factor > 1) & ~is_truth)
    if op in (MIN, MAX):
        return usual & ~known_y & ~known_z & operands.overlap()
    usual &= (ly <= uz) & (lz < uy) & (~(known_y | known_z) | (ly < uz)) if op == LEQ else (ly <= uz) & (lz <= uy)
    if op == EQ:
        pairs = ((known_y, z, lz, uz), (known_z, y, ly, uy))
        for constant, other, low, high in pairs:
            usual &= ~constant | ~((low >= 0) & (high <= 1))
            special = [v in b.multiples or v in b.domains for v in other[constant].tolist()]
            usual[constant] &= ~np.array(special, bool)
    return usual


def multiplied(ly: Column, uy: Column, lz: Column, uz: Column) -> tuple[Column, Column]:
    corners = np.stack((ly * lz, ly * uz, uy * lz, uy * uz))
    return corners.min(axis=0), corners.max(axis=0)


def _without_neutral(neutral: int, operands: _Operands, found: Column) -> Column:
    """The other operand where an operand is neutral, else `found`."""
    y, z, ly, uy, lz, uz = operands
    return np.where((ly == neutral) & (uy == neutral), z, np.where((lz == neutral) & (uz == neutral), y, found))


def _not_solved(truth: bool, op: int, operands: _Operands) -> np.ndarray:
    """Where `truth = y op z` needs a row, or is a bound of a variable; see RowBuilder.solve."""
    if op in (MIN, MAX):
        bounds = (operands.uy, operands.uz) if op == MIN else (operands.ly, operands.lz)
        return ~((bounds[0] == truth) & (bounds[1] == truth))
    return np.full(len(operands.y), op in LOGICAL and not (op == EQ and truth))


def _bounds_left(truth: bool, op: int, is_left: bool, low: Column, high: Column, constant: Column) -> Sequence[Column]:
    """The bounds of a variable for which its comparison with a constant on the other side is `truth`, where that can be
    expressed by bounds."""
    if op == EQ:  # y != z: `_not_solved` excludes y = z
        return np.where(constant == low, low + 1, low), np.where(constant == high, high - 1, high)
    if is_left == truth:
        return low, np.minimum(high, constant if truth else constant - 1)
    return np.maximum(low, constant if truth else constant + 1), high
