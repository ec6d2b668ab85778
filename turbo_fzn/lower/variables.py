"""The variables of a TNF under construction: their bounds, constants, and classes of equal variables.

Merged variables form classes (union-find). Arguments may be other members of a class than its representative: their
bounds may be out of date, hence wider, which is sound.
"""

from __future__ import annotations

from turbo_fzn.base import floats
from turbo_fzn.base.domains import INFINITY
from turbo_fzn.base.errors import UnsupportedError
from turbo_fzn.lower import intervals


class Infeasible(Exception):
    """A domain is empty: the model has no solution."""


class Variables:
    """Variables are numbers; `lower`, `upper` and `parent` (in the class) are lists indexed by them."""

    def __init__(self) -> None:
        self.lower: list[int] = []
        self.upper: list[int] = []
        self.parent: list[int] = []
        self.constants: dict[int, int] = {}  # value -> variable
        self.numbers: dict[tuple[int, int], int] = {}  # real constants by the two codes that enclose them
        self.reals: set[int] = set()  # the variables that are real: their bounds are codes (floats.py)

    def variable(self, lower: int, upper: int) -> int:
        parent = self.parent
        number = len(parent)
        parent.append(number)
        self.lower.append(lower)
        self.upper.append(upper)
        return number

    def constant(self, value: int) -> int:
        known = self.constants.get(value)
        if known is None:
            if not -INFINITY < value < INFINITY:
                raise UnsupportedError(f"the integer {value}: the largest absolute value is 2**62 - 1")
            known = self.constants[value] = self.variable(value, value)
        return known

    def real(self, low: int = -INFINITY, high: int = INFINITY) -> int:
        """A real variable; its bounds are codes."""
        variable = self.variable(low, high)
        self.reals.add(variable)
        return variable

    def real_constant(self, value: floats.Real) -> int:
        """A constant; for a number without a code, a variable between the two nearest codes."""
        low, high = floats.interval(value)
        return self.constant(low) if low == high else self.real(low, high)

    def real_between(self, low: int, high: int) -> int:
        """A variable for an unknown constant between two codes; each pair of codes has one variable."""
        if low == high:
            return self.constant(low)
        known = self.numbers.get((low, high))
        if known is None:
            known = self.numbers[low, high] = self.real(low, high)
        return known

    def find(self, variable: int) -> int:
        parent = self.parent
        while parent[variable] != variable:
            parent[variable] = variable = parent[parent[variable]]
        return variable

    def value(self, variable: int) -> int | None:
        """The value of a fixed variable, else None."""
        return self.lower[variable] if self.lower[variable] == self.upper[variable] else None

    def is_boolean(self, variable: int) -> bool:
        return self.lower[variable] >= 0 and self.upper[variable] <= 1

    def are_open(self, y: int, z: int) -> bool:
        """Whether both are unfixed Booleans."""
        lower, upper = self.lower, self.upper
        return lower[y] == 0 == lower[z] and upper[y] == 1 == upper[z]

    def restrict(self, variable: int, low: int, high: int) -> None:
        """Narrows the domain to [low, high].

        An unbounded variable may have values in this interval that cannot be stored: that is no contradiction.
        """
        variable = self.find(variable)
        if low >= INFINITY <= self.upper[variable] or high <= -INFINITY >= self.lower[variable]:
            raise UnsupportedError(intervals.BEYOND)
        if low > self.lower[variable]:
            self.lower[variable] = low
        if high < self.upper[variable]:
            self.upper[variable] = high
        if self.lower[variable] > self.upper[variable]:
            raise Infeasible

    def merge(self, first: int, second: int) -> None:
        """Merges the classes of two variables. The representative is a constant if possible, else the older
        representative."""
        first, second = self.find(first), self.find(second)
        if first == second:
            return
        low, high = max(self.lower[first], self.lower[second]), min(self.upper[first], self.upper[second])
        if low > high:
            raise Infeasible
        if self.constants.get(low) == second or (second < first and self.constants.get(low) != first):
            first, second = second, first
        self.parent[second] = first
        for member in (first, second):
            self.lower[member], self.upper[member] = low, high
