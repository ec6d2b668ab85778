"""The truth values of "x = v" as columns, and the rows that tie them to x.

The model contains some of these columns: `int_eq_reif(x, 3, b)` makes b the truth of x = 3, `int_ne_reif` its negation.
Where a constraint needs all of a variable's values (element, an array's index), the missing columns are created. A
variable all of whose values have a column is tied by two equations,

    sum over v of [x = v] = 1        sum over v of v [x = v] = x,

which are the strongest rows over a single variable. Otherwise two inequalities bound x by the columns that exist
(`tie_some`).

A variable that a linear equation makes the image of another (an index that is a variable plus an offset) shares the
truths of that variable: separate ones would be tied by the two sums alone.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

from turbo_fzn.base.domains import INFINITY, IntSet
from turbo_fzn.bounds.lp.relaxation import FALSE, TRUE, Affine, RelaxationBuilder
from turbo_fzn.bounds.rows.tuning import TUNING


class Encoding:
    """The truths of the integer columns of `builder`; `domain(column)` is the set of values of a column."""

    def __init__(self, builder: RelaxationBuilder, domain: Callable[[int], IntSet]):
        self.builder = builder
        self.domain = domain
        self.literals: dict[int, dict[int, Affine]] = {}
        self.values: dict[int, list[int]] = {}  # the values of columns whose values all have truths
        self.images: dict[int, Affine] = {}  # a column as an affine function of another

    def source(self, x: Affine) -> Affine:
        """An affine term equal to x over a column that is not an image. Shortens the chains of images on the way."""
        chain = []
        column = x.column
        while column in self.images:
            chain.append(column)
            column = self.images[column].column
        image = Affine(column, 1, 0)
        for behind in reversed(chain):
            _, coefficient, constant = self.images[behind]
            image = Affine(column, coefficient * image.coefficient, coefficient * image.constant + constant)
            self.images[behind] = image
        return Affine(column, x.coefficient * image.coefficient, x.coefficient * image.constant + x.constant)

    def relate(self, a: int, x: Affine, b: int, y: Affine, k: int) -> None:
        """Makes x or y in a x + b y = k the image of the other, unless that needs a division. The variable with fewer
        values keeps its truths: the other's domain lacks holes, or has no bounds where the TNF has eliminated it."""
        (column, f, p), (other, g, q) = self.source(x), self.source(y)
        f, g, k = a * f, b * g, k - a * p - b * q
        if column == other or column < 0 or other < 0 or f == 0 or g == 0:
            return
        is_smaller = self.domain(column).size < self.domain(other).size
        if abs(f) == 1 and not (abs(g) == 1 and is_smaller):  # f column + g other = k
            self.images[column] = Affine(other, -f * g, f * k)
        elif abs(g) == 1:
            self.images[other] = Affine(column, -g * f, g * k)

    def is_boolean(self, column: int) -> bool:
        return self.builder.lower[column] >= 0 and self.builder.upper[column] <= 1

    def known(self, x: Affine, value: int) -> Affine | None:
        """The truth of x = value, None where it would need a new column."""
        column, coefficient, constant = self.source(x)
        if column < 0:
            return TRUE if constant == value else FALSE
        value, rest = divmod(value - constant, coefficient)
        if rest or value not in self.domain(column):
            return FALSE
        if self.is_boolean(column):
            return Affine(column, 1, 0) if value else Affine(column, -1, 1)
        return self.literals.get(column, {}).get(value)

    def named(self, x: Affine) -> dict[int, Affine]:
        """The existing truths of x = v, by v."""
        column, coefficient, constant = self.source(x)
        return {coefficient * value + constant: truth for value, truth in self.literals.get(column, {}).items()}

    def has_all(self, x: Affine) -> bool:
        """Whether all values of x have truths."""
        return self.source(x).column in self.values

    def name(self, x: Affine, value: int, literal: Affine) -> None:
        """Records that the model makes `literal` the truth of x = value."""
        known = self.known(x, value)
        if known is not None:
            self.builder.add([(1, known), (-1, literal)], 0, 0)
        else:
            column, coefficient, constant = self.source(x)
            self.literals.setdefault(column, {})[(value - constant) // coefficient] = literal

    def equals(self, x: Affine, value: int) -> Affine:
        """The truth of x = value, created where it is missing."""
        known = self.known(x, value)
        if known is not None:
            return known
        column, coefficient, constant = self.source(x)
        value = (value - constant) // coefficient
        literal = self.literals.setdefault(column, {})[value] = self.builder.truth(column, value)
        return literal

    def all_values(self, x: Affine) -> dict[int, Affine] | None:
        """The truth of x = v for each value v of its domain; None where there are too many values."""
        column, coefficient, constant = self.source(x)
        if column < 0:
            return {constant: TRUE}
        if column not in self.values:
            values = list(islice(self.domain(column), TUNING.encoded_values + 1)) if self.is_finite(column) else []
            if not 0 < len(values) <= TUNING.encoded_values:
                return None
            self.values[column] = values
            self.tie_all(column)
        own = Affine(column, 1, 0)
        return {coefficient * value + constant: self.equals(own, value) for value in self.values[column]}

    def is_finite(self, column: int) -> bool:
        return self.builder.lower[column] > -INFINITY and self.builder.upper[column] < INFINITY

    def tie_all(self, column: int) -> None:
        """Adds the two equations of a column whose values all have truths, unless it is Boolean."""
        if self.is_boolean(column):
            return
        own = Affine(column, 1, 0)
        literals = [(value, self.equals(own, value)) for value in self.values[column]]
        self.builder.add([(1, literal) for _, literal in literals], 1, 1)
        self.builder.add([*literals, (-1, own)], 0, 0)

    def finish(self) -> None:
        """Ties the variables that have truths for some of their values."""
        for column, literals in list(self.literals.items()):
            if column in self.values:
                continue
            size = self.domain(column).size
            if (
                size <= TUNING.values_per_literal * len(literals)
                and size <= TUNING.encoded_values
                and self.is_finite(column)
            ):
                self.all_values(Affine(column, 1, 0))
            else:
                self.tie_some(column, literals)

    def tie_some(self, column: int, literals: dict[int, Affine]) -> None:
        """Adds the rows: at most one truth holds; x >= lower + sum (v - lower) [x = v], and the row for the upper
        bound."""
        own = Affine(column, 1, 0)
        low, high = self.builder.lower[column], self.builder.upper[column]
        self.builder.add([(1, literal) for literal in literals.values()], high=1)
        if low > -INFINITY:
            self.builder.add([(1, own), *((low - value, literal) for value, literal in literals.items())], low=low)
        if high < INFINITY:
            self.builder.add([(1, own), *((high - value, literal) for value, literal in literals.items())], high=high)
