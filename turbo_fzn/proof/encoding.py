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

from array import array
from collections.abc import Callable, Iterator
from typing import NamedTuple

from turbo_fzn.base.domains import INFINITY
from turbo_fzn.base.errors import UnsupportedError
from turbo_fzn.proof.lines import Lines
from turbo_fzn.proof.tuning import TUNING
from turbo_fzn.tnf.language import ADD, DIV, ELEMENT, EQ, LEQ, MAX, MIN, MUL, TNF, Op, truncated

TRUE, FALSE = -2, -1  # format: literals that are constants
Assumed = tuple[int, int]  # (side, k)


class Inequality(NamedTuple):
    """Constraint `number` of the file (negative: derived.py has it; 0: it always holds): where all of `conditions` hold
    (pairs (side, k)), and the literals of `chosen`, the sum of coefficient * variable over `terms` is at least `least`.
    """

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


class _Cases(dict[int, tuple[Split, ...]]):
    """The splits of rows by number, made again where they are asked for, so that only a few have to be kept."""

    def __init__(self, make: Callable[[int], tuple[Split, ...]]):
        super().__init__()
        self.make = make

    def __missing__(self, row: int) -> tuple[Split, ...]:
        if len(self) >= TUNING.kept_rows:
            self.clear()
        self[row] = splits = self.make(row)
        return splits


class Encoding(Lines):
    """The constraints, whose lines go to their file, and for each row its splits."""

    def __init__(self, tnf: TNF):
        if tnf.floats is not None:
            raise UnsupportedError("no proof: the model has real variables")
        if tnf.needs_learners:
            raise UnsupportedError("no proof: a constraint is not stated by rows of three variables")
        self.tnf = tnf
        self.orders: dict[tuple[int, int], int] = {}  # (variable, offset) -> 0-1 variable
        self.definitions: dict[int, tuple[int, int]] = {}  # 0-1 variable -> constraints: x >= k, x < k
        self.domains: dict[int, int] = {}  # variable -> the constraint of its upper bound
        self.selectors: dict[tuple[str, int], int] = {}  # (kind, row) -> 0-1 variable
        self.renumbered: dict[int, int] = {}  # constraints of the file that a proof has under another number
        self.lower, self.upper = tnf.lower.tolist(), tnf.upper.tolist()
        self.first = [k for low, high in zip(self.lower, self.upper) for k in (low, -high)]  # the bound of each side
        super().__init__([(high - low).bit_length() for low, high in zip(self.lower, self.upper)])
        self.rows = _Cases(self._cases_again)
        self.row_starts = array("q")  # the number of constraints before each row
        self._write()

    def _write(self) -> None:
        for variable, bits in enumerate(self.bits):
            span, most = self.upper[variable] - self.lower[variable], (1 << len(bits)) - 1
            if span < most:
                self.domains[variable] = self.state(f"{self.sum_of(variable, 1, '~')}>= {most - span}")
        tnf = self.tnf
        for number, (op, x, y, z) in enumerate(zip(tnf.op.tolist(), tnf.x.tolist(), tnf.y.tolist(), tnf.z.tolist())):
            self.row_starts.append(self.count)
            _Rows(self, number, op, x, y, z).splits()
        self.flush()

    def _cases_again(self, row: int) -> tuple[Split, ...]:
        """The splits of a row, whose constraints and 0-1 variables the file has."""
        if not 0 <= row < len(self.row_starts):
            raise IndexError(f"there is no row {row}")
        tnf, kept = self.tnf, self.count
        self.count, self.is_again = self.row_starts[row], True
        try:
            numbers = (int(column[row]) for column in (tnf.op, tnf.x, tnf.y, tnf.z))
            return tuple(_Rows(self, row, *numbers).splits())
        finally:
            self.count, self.is_again = kept, False

    def renumber(self, numbers: dict[int, int]) -> None:
        """Takes the numbers under which a proof has constraints that it has deleted and derived anew, instead of those
        before."""
        if numbers == self.renumbered:
            return
        first = {now: number for number, now in self.renumbered.items()}
        of_file = {variable: first.get(number, number) for variable, number in self.domains.items()}
        self.renumbered = numbers
        self.domains = {variable: numbers.get(number, number) for variable, number in of_file.items()}
        self.rows.clear()

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

    def definition(self, variable: int, offset: int) -> tuple[str, str]:
        """The constraints that the order literal implies, and that its negation does."""
        name, rest = self.name_of(self.orders[variable, offset]), self.most(variable) - offset + 1
        above = f"{self.sum_of(variable, 1)}{offset} ~{name} >= {offset}"
        return above, f"{self.sum_of(variable, 1, '~')}{rest} {name} >= {rest}"

    def define(self, assumed: Assumed) -> None:
        """Adds the definition of the literal to the file, unless it is there."""
        variable = assumed[0] >> 1
        literal = self.literal(assumed)
        if literal < 0 or self.upper[variable] - self.lower[variable] == 1:
            return
        known = self.definitions.get(literal >> 1)
        if known is None:
            k = 1 - assumed[1] if assumed[0] & 1 else assumed[1]
            above, below = self.definition(variable, k - self.lower[variable])
            self.definitions[literal >> 1] = self.state(above), self.state(below)
        elif known[0] == self.count + 1:  # this row has defined it, and is made again
            self.count += len(known)

    # ---- inequalities

    def require(
        self, terms: dict[int, int], least: int, conditions: tuple[Assumed, ...] = (), chosen: tuple[int, ...] = ()
    ) -> Inequality:
        """Adds a linear inequality over TNF variables that holds under the conditions. A variable that these fix is
        replaced by its value, since a bit in a term and in a condition would be the same literal."""
        known = self.fixed_by(conditions) if conditions else {}
        kept, degree, least_sum, fixed = [], least, 0, 0
        for v, a in terms.items():
            low = self.lower[v]
            if v in known:
                least -= a * known[v]
                degree -= a * known[v]
                continue
            degree -= a * low
            if low == self.upper[v]:
                fixed += a * low
            elif a:
                kept.append((v, a))
                least_sum += min(a, 0) * self.most(v)  # the bits may exceed the bound
        for one in conditions:
            self.define(one)
        literals = [*map(self.literal, conditions), *chosen]
        short, number = degree - least_sum, 0
        if FALSE not in literals and short > 0:
            number = self.state("" if self.is_again else self._words(kept, short, literals, degree))
            number = self.renumbered.get(number, number)
        return Inequality(number, tuple(kept), least - fixed, conditions, chosen)

    def _words(self, kept: list[tuple[int, int]], short: int, literals: list[int], degree: int) -> str:
        """The words of an inequality: its terms, and how much of it each literal that is false makes up for."""
        words = [self.sum_of(variable, factor) for variable, factor in kept]
        words += [f"{short} {self.spell(one ^ 1)} " for one in literals if one != TRUE]
        return f"{''.join(words)}>= {degree}"

    def fixed_by(self, conditions: tuple[Assumed, ...]) -> dict[int, int]:
        """The variables that the conditions fix, with their values."""
        low: dict[int, int] = {}
        high: dict[int, int] = {}
        for side, k in conditions:
            low[side >> 1] = max(low.get(side >> 1, self.lower[side >> 1]), -INFINITY if side & 1 else k)
            high[side >> 1] = min(high.get(side >> 1, self.upper[side >> 1]), -k if side & 1 else INFINITY)
        return {v: k for v, k in low.items() if k == high[v]}

    def select(self, kind: str, row: int) -> int:
        """The 0-1 variable that distinguishes cases of the row."""
        if (kind, row) not in self.selectors:
            self.selectors[kind, row] = self.name(f"{kind}{row}")
        return self.selectors[kind, row]

    # ---- values

    def assignment(self, values: list[int]) -> Iterator[str]:
        """The true literals of a solution (a value for each TNF variable)."""
        for variable, bits in enumerate(self.bits):
            offset = values[variable] - self.lower[variable]
            for i in range(len(bits)):
                yield f"x{variable}b{i}" if offset >> i & 1 else f"~x{variable}b{i}"
        for (variable, offset), g in self.orders.items():
            if g in self.definitions:
                yield self.spell(2 * g + (values[variable] - self.lower[variable] < offset))
        x, y, z = self.tnf.x, self.tnf.y, self.tnf.z
        for (kind, row), number in self.selectors.items():
            left, right = values[y[row]], values[z[row]]
            holds = {"lt": left < right, "gt": left > right, "is": values[x[row]] == left}[kind]
            yield self.spell(2 * number + 1 - holds)

    @property
    def optimises(self) -> bool:
        """Whether solutions differ in the objective."""
        objective = self.tnf.objective
        return self.tnf.sense != 0 and self.lower[objective] < self.upper[objective]

    def objective(self) -> str:
        """The words of the minimised sum, sense * (objective - its lower bound), with a space behind it; empty if it is
        constant."""
        return self.sum_of(self.tnf.objective, self.tnf.sense) if self.optimises else ""


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
            terms = self.encoding.spell_terms((1, literal) for literal in written if literal != FALSE)
            closing = self.encoding.state(f"{terms}>= 1")
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
