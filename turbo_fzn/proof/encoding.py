"""TNF -> 0-1 inequalities, in the form of OPB files: the model that a proof is about.

Each variable x is its lower bound and a sum of bits. A row is a set of linear inequalities over these, some of which
hold under conditions only. That x >= k is a separate 0-1 variable where a row or the proof needs it, with the two
inequalities that define it by the bits: an order literal. So the encoding has only a few lines for a sum of variables
with a million values (Gocht, McCreesh, Nordström: An auditable constraint programming solver, CP 2022).

A literal is a number: twice that of its 0-1 variable, plus 1 where it is negated; TRUE and FALSE are constants. An
assumption about a TNF variable is, as in kernels/learn, a pair (side, k): side 2x is x itself, side 2x + 1 is -x, and
it is at least k.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from turbo_fzn.base.domains import INFINITY
from turbo_fzn.base.errors import UnsupportedError
from turbo_fzn.proof.tuning import TUNING
from turbo_fzn.tnf.language import ADD, DIV, ELEMENT, EQ, LEQ, MAX, MIN, MUL, TNF, Op, truncated

TRUE, FALSE = -2, -1  # format: literals that are constants
Assumed = tuple[int, int]  # (side, k)


class Inequality(NamedTuple):
    """Constraint `number` of the file: where all of `conditions` hold (pairs (side, k)), and the literals of `chosen`,
    the sum of coefficient * variable over `terms` is at least `least`."""

    number: int
    terms: tuple[tuple[int, int], ...]  # (variable, coefficient)
    least: int
    conditions: tuple[Assumed, ...] = ()
    chosen: tuple[int, ...] = ()


class Alternative(NamedTuple):
    """A case of a row, one of which holds: where `guard` holds (pairs (side, k)), all of these inequalities hold."""

    guard: tuple[Assumed, ...]
    inequalities: tuple[Inequality, ...]
    inner: Split | None = None


class Split(NamedTuple):
    """The cases of a row, and the constraint that one of them holds, or 0 if that is trivial."""

    alternatives: tuple[Alternative, ...]
    closing: int = 0


@dataclass
class Encoding:
    """The constraints, and for each row its splits. `lines`: the constraints as the file of the model has them, for
    which the writer empties it: `count` is their number."""

    tnf: TNF
    names: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    count: int = 0
    bits: dict[int, list[int]] = field(default_factory=dict)  # variable -> its 0-1 variables, lowest first
    orders: dict[tuple[int, int], int] = field(default_factory=dict)  # (variable, offset) -> 0-1 variable
    definitions: dict[int, tuple[int, int]] = field(default_factory=dict)  # 0-1 variable -> constraints: x >= k, x < k
    domains: dict[int, int] = field(default_factory=dict)  # variable -> the constraint of its upper bound
    selectors: dict[int, tuple[str, int]] = field(default_factory=dict)  # 0-1 variable -> (kind, row)
    rows: list[tuple[Split, ...]] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.tnf.floats is not None:
            raise UnsupportedError("no proof: the model has real variables")
        if self.tnf.needs_learners:
            raise UnsupportedError("no proof: a constraint is not stated by rows of three variables")
        self.is_element = (self.tnf.op == ELEMENT).tolist()
        self.lower, self.upper = self.tnf.lower.tolist(), self.tnf.upper.tolist()
        for variable, (low, high) in enumerate(zip(self.lower, self.upper)):
            span = high - low
            width = span.bit_length()
            self.bits[variable] = [self.name(f"x{variable}b{i}") for i in range(width)]
            if span < 2**width - 1:
                flipped = [(1 << i, 2 * bit + 1) for i, bit in enumerate(self.bits[variable])]
                self.domains[variable] = self.add(flipped, 2**width - 1 - span)
        columns = (self.tnf.op.tolist(), self.tnf.x.tolist(), self.tnf.y.tolist(), self.tnf.z.tolist())
        for number, (op, x, y, z) in enumerate(zip(*columns)):
            self.rows.append(tuple(_Rows(self, number, op, x, y, z).splits()))

    def name(self, name: str) -> int:
        self.names.append(name)
        return len(self.names) - 1

    def add(self, terms: list[tuple[int, int]], degree: int) -> int:
        """Adds the constraint `terms >= degree`. Returns its number, from 1 on."""
        self.lines.append(f"{self.spell_terms(terms)}>= {degree} ;\n")
        self.count += 1
        return self.count

    def spell(self, literal: int) -> str:
        return "~" * (literal & 1) + self.names[literal >> 1]

    def spell_terms(self, terms: Iterable[tuple[int, int]]) -> str:
        """The words of a sum of (coefficient, literal), with a space behind it."""
        return "".join([f"{coefficient} {self.spell(literal)} " for coefficient, literal in terms])

    def most(self, variable: int) -> int:
        """The largest number that the variable's bits can represent."""
        return (1 << len(self.bits[variable])) - 1

    # ---- literals

    def at_least(self, variable: int, k: int) -> int:
        """The literal x >= k; a new one is not defined yet."""
        low, high = self.lower[variable], self.upper[variable]
        if k <= low or k > high:
            return TRUE if k <= low else FALSE
        if high - low == 1:
            return 2 * self.bits[variable][0]
        key = variable, k - low
        if key not in self.orders:
            self.orders[key] = self.name(f"x{variable}g{k - low}")
        return 2 * self.orders[key]

    def literal(self, assumed: Assumed) -> int:
        side, k = assumed
        return self.at_least(side >> 1, 1 - k) ^ 1 if side & 1 else self.at_least(side >> 1, k)

    def definition(self, variable: int, offset: int) -> tuple[list, list]:
        """The constraints (terms, degree) that the order literal implies, and that its negation does."""
        g, bits, most = self.orders[variable, offset], self.bits[variable], self.most(variable)
        above = [(1 << i, 2 * bit) for i, bit in enumerate(bits)], offset
        below = [(1 << i, 2 * bit + 1) for i, bit in enumerate(bits)], most - offset + 1
        return [[*above[0], (offset, 2 * g + 1)], above[1]], [[*below[0], (below[1], 2 * g)], below[1]]

    def define(self, assumed: Assumed) -> None:
        """Adds the definition of the literal to the file, unless it is there."""
        variable = assumed[0] >> 1
        literal = self.literal(assumed)
        if literal < 0 or self.upper[variable] - self.lower[variable] == 1 or literal >> 1 in self.definitions:
            return
        k = 1 - assumed[1] if assumed[0] & 1 else assumed[1]
        numbers = [self.add(*constraint) for constraint in self.definition(variable, k - self.lower[variable])]
        self.definitions[literal >> 1] = numbers[0], numbers[1]

    # ---- inequalities

    def require(
        self, terms: dict[int, int], least: int, conditions: tuple[Assumed, ...] = (), chosen: tuple[int, ...] = ()
    ) -> Inequality:
        """Adds a linear inequality over TNF variables that holds under the conditions. A variable that these fix is
        replaced by its value, since a bit in a term and in a condition would be the same literal."""
        known = self.fixed_by(conditions)
        least -= sum(a * known[v] for v, a in terms.items() if v in known)
        terms = {v: a for v, a in terms.items() if v not in known}
        kept = tuple((v, a) for v, a in terms.items() if a and self.lower[v] < self.upper[v])
        degree = least - sum(a * self.lower[v] for v, a in terms.items())
        written = [(a << i, 2 * bit) for v, a in kept for i, bit in enumerate(self.bits[v])]
        for one in conditions:
            self.define(one)
        literals = [*map(self.literal, conditions), *chosen]
        short = degree - sum(a * self.most(v) for v, a in kept if a < 0)  # the bits may exceed the bound
        number = 0
        if FALSE not in literals and short > 0:
            number = self.add([*written, *((short, one ^ 1) for one in literals if one != TRUE)], degree)
        fixed = sum(a * self.lower[v] for v, a in terms.items() if self.lower[v] == self.upper[v])
        return Inequality(number, kept, least - fixed, conditions, chosen)

    def fixed_by(self, conditions: tuple[Assumed, ...]) -> dict[int, int]:
        """The variables that the conditions fix, with their values."""
        low: dict[int, int] = {}
        high: dict[int, int] = {}
        for side, k in conditions:
            low[side >> 1] = max(low.get(side >> 1, self.lower[side >> 1]), -INFINITY if side & 1 else k)
            high[side >> 1] = min(high.get(side >> 1, self.upper[side >> 1]), -k if side & 1 else INFINITY)
        return {v: k for v, k in low.items() if k == high[v]}

    def select(self, kind: str, row: int) -> int:
        """A new 0-1 variable that distinguishes cases of the row."""
        number = self.name(f"{kind}{row}")
        self.selectors[number] = kind, row
        return number

    # ---- values

    def assignment(self, values: list[int]) -> Iterator[int]:
        """The true literals of a solution (a value for each TNF variable)."""
        for variable, bits in self.bits.items():
            offset = values[variable] - self.lower[variable]
            for i, bit in enumerate(bits):
                yield 2 * bit + 1 - (offset >> i & 1)
        for (variable, offset), g in self.orders.items():
            if g in self.definitions:
                yield 2 * g + (values[variable] - self.lower[variable] < offset)
        x, y, z = self.tnf.x, self.tnf.y, self.tnf.z
        for number, (kind, row) in self.selectors.items():
            left, right = values[y[row]], values[z[row]]
            holds = {"lt": left < right, "gt": left > right, "is": values[x[row]] == left}[kind]
            yield 2 * number + 1 - holds

    @property
    def optimises(self) -> bool:
        """Whether solutions differ in the objective."""
        objective = self.tnf.objective
        return self.tnf.sense != 0 and self.lower[objective] < self.upper[objective]

    def objective(self) -> list[tuple[int, int]]:
        """The terms of the minimised sum: sense * (objective - its lower bound)."""
        if not self.optimises:
            return []
        return [(self.tnf.sense << i, 2 * bit) for i, bit in enumerate(self.bits[self.tnf.objective])]


def at_least(variable: int, k: int) -> Assumed:
    return 2 * variable, k


def at_most(variable: int, k: int) -> Assumed:
    return 2 * variable + 1, -k


def equals(variable: int, k: int) -> tuple[Assumed, Assumed]:
    return at_least(variable, k), at_most(variable, k)


class _Rows:
    """The inequalities of a row x = y op z."""

    def __init__(self, encoding: Encoding, number: int, op: int, x: int, y: int, z: int):
        self.encoding, self.number, self.op, self.x, self.y, self.z = encoding, number, op, x, y, z
        self.operands = (y,) if op == ELEMENT else (y, z)

    def splits(self) -> list[Split]:
        kinds = {ADD: self.sum, LEQ: self.comparison, EQ: self.equality, MIN: self.extreme, MAX: self.extreme}
        return kinds[self.op]() if self.op in kinds else self.cases()

    def require(
        self, terms: list[tuple[int, int]], least: int, *conditions: Assumed, chosen: tuple[int, ...] = ()
    ) -> Inequality:
        """An inequality; a variable may occur twice among the terms."""
        sums: dict[int, int] = {}
        for variable, coefficient in terms:
            sums[variable] = sums.get(variable, 0) + coefficient
        return self.encoding.require(sums, least, conditions, chosen)

    def equal(self, terms: list[tuple[int, int]], value: int, *conditions: Assumed) -> tuple[Inequality, Inequality]:
        """Two inequalities: the sum of the terms is the value."""
        opposite = [(variable, -coefficient) for variable, coefficient in terms]
        return self.require(terms, value, *conditions), self.require(opposite, -value, *conditions)

    def is_truth(self, variable: int) -> bool:
        return self.encoding.lower[variable] >= 0 and self.encoding.upper[variable] <= 1

    def sum(self) -> list[Split]:
        return [Split((Alternative((), self.equal([(self.x, 1), (self.y, -1), (self.z, -1)], 0)),))]

    def comparison(self) -> list[Split]:
        holds, fails = at_least(self.x, 1), at_most(self.x, 0)
        below = self.require([(self.z, 1), (self.y, -1)], 0, holds)
        above = self.require([(self.y, 1), (self.z, -1)], 1, fails)
        return [Split((Alternative((holds,), (below,)), Alternative((fails,), (above,))))]

    def equality(self) -> list[Split]:
        holds, fails = at_least(self.x, 1), at_most(self.x, 0)
        same = Alternative((holds,), self.equal([(self.y, 1), (self.z, -1)], 0, holds))
        if self.is_truth(self.y) and self.is_truth(self.z) and self.y != self.z:
            one = self.require([(self.y, 1), (self.z, 1)], 1, fails)
            other = self.require([(self.y, -1), (self.z, -1)], -1, fails)
            return [Split((same, Alternative((fails,), (one, other))))]
        less, more = (self.encoding.select(kind, self.number) for kind in ("lt", "gt"))
        below = self.require([(self.z, 1), (self.y, -1)], 1, chosen=(2 * less,))
        above = self.require([(self.y, 1), (self.z, -1)], 1, chosen=(2 * more,))
        truth = self.encoding.literal(holds)
        closing = 0
        if truth != TRUE:
            written = [truth, 2 * less, 2 * more]
            closing = self.encoding.add([(1, literal) for literal in written if literal != FALSE], 1)
        return [Split((same, Alternative((fails,), (below,)), Alternative((fails,), (above,))), closing)]

    def extreme(self) -> list[Split]:
        sign = 1 if self.op == MIN else -1
        x, y, z = self.x, self.y, self.z
        bounds = [self.require([(one, sign), (x, -sign)], 0) for one in (y, z)]
        if self.is_truth(y) and self.is_truth(z) and self.is_truth(x):
            bounds.append(self.require([(x, sign), (y, -sign), (z, -sign)], min(-sign, 0)))
            return [Split((Alternative((), tuple(bounds)),))]
        choice = self.encoding.select("is", self.number)
        first = self.require([(x, sign), (y, -sign)], 0, chosen=(2 * choice,))
        second = self.require([(x, sign), (z, -sign)], 0, chosen=(2 * choice + 1,))
        chosen = Split((Alternative((), (first,)), Alternative((), (second,))))
        return [Split((Alternative((), tuple(bounds)),)), chosen]

    # ---- rows with a case for each value of an operand

    def cases(self) -> list[Split]:
        """The row by the values of its smaller operand; of its quotient, if that has fewer."""
        if self.op == MUL and self.y != self.z:
            chosen = min(self.operands, key=self.size)
            return self.split(chosen, self.product)
        if self.op == DIV and self.is_fixed(self.z) and self.size(self.x) <= self.size(self.y):
            return self.split(self.x, self.dividend)
        if self.op == ELEMENT or self.y == self.z or self.is_fixed(self.z):
            return self.split(self.y, self.value)
        if self.size(self.y) * self.size(self.z) > TUNING.cases:
            self.refuse()
        return self.split(self.z, self.inner)

    def size(self, variable: int) -> int:
        return self.encoding.upper[variable] - self.encoding.lower[variable] + 1

    def is_fixed(self, variable: int) -> bool:
        return self.size(variable) == 1

    def refuse(self) -> None:
        name = Op(self.op).name.lower()
        raise UnsupportedError(f"no proof: an operand of a row {name} has more than {TUNING.cases} values")

    def split(self, variable: int, make: Callable[[int, int], Alternative]) -> list[Split]:
        if self.size(variable) > TUNING.cases:
            self.refuse()
        values = range(self.encoding.lower[variable], self.encoding.upper[variable] + 1)
        return [Split(tuple(make(variable, value) for value in values))]

    def product(self, variable: int, value: int) -> Alternative:
        other = self.z if variable == self.y else self.y
        guard = equals(variable, value)
        return Alternative(guard, self.equal([(self.x, 1), (other, -value)], 0, *guard))

    def dividend(self, variable: int, value: int) -> Alternative:
        """x = y div z for this value of x, with a fixed divisor."""
        guard, divisor = equals(variable, value), self.encoding.lower[self.z]
        if divisor == 0:
            return Alternative(guard, (self.require([], 1, *guard),))
        quotient, size = (value if divisor > 0 else -value), abs(divisor)
        low = quotient * size if quotient > 0 else quotient * size - size + 1
        high = quotient * size if quotient < 0 else quotient * size + size - 1
        bounds = self.require([(self.y, 1)], low, *guard), self.require([(self.y, -1)], -high, *guard)
        return Alternative(guard, bounds)

    def value(self, variable: int, value: int, *further: Assumed) -> Alternative:
        """The value of x for a value of y, and of z if it is known."""
        guard = (*equals(variable, value), *further)
        result = self.result(value, further[0][1] if further else None)
        if result is None:
            return Alternative(equals(variable, value), (self.require([], 1, *guard),))
        return Alternative(equals(variable, value), self.equal([(self.x, 1)], result, *guard))

    def inner(self, variable: int, value: int) -> Alternative:
        """The row for one value of z, by the values of y."""
        guard = equals(variable, value)
        values = range(self.encoding.lower[self.y], self.encoding.upper[self.y] + 1)
        return Alternative(guard, (), Split(tuple(self.value(self.y, one, *guard) for one in values)))

    def result(self, y: int, z: int | None) -> int | None:
        """y op z, or None if it is undefined."""
        if self.op == ELEMENT:
            return int(self.encoding.tnf.tables[self.z + y])
        z = y if self.y == self.z else self.encoding.lower[self.z] if z is None else z
        if self.op == MUL:
            return y * z
        if z == 0:
            return None
        quotient = truncated(y, z)
        return quotient if self.op == DIV else y - z * quotient
