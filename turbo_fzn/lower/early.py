"""Lowers constraints that merge two variables or narrow a domain, before any row exists.

So every later row uses the final domains and representatives. Domains are exact sets here; a domain with holes becomes
rows only when all domains are known. Removed values become a table only where there are many: a few of them in a large
domain stay rows `0 = (x = value)`.

A handler gets the bound arguments, and returns whether it has stated the whole constraint. table.py maps predicates to
handlers.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby

from turbo_fzn.base.domains import INFINITY, IntSet
from turbo_fzn.lower import bulk
from turbo_fzn.lower.builder import RowBuilder, is_table
from turbo_fzn.lower.tuning import TUNING
from turbo_fzn.lower.variables import Infeasible
from turbo_fzn.read.model import Constraint
from turbo_fzn.tnf.language import EQ

Handler = Callable[..., bool]


class Domains:
    """Sets that variables must lie in and values that they must not take, until `define` makes rows of them."""

    def __init__(self, builder: RowBuilder):
        self.builder = builder
        self.sets: list[tuple[int, IntSet]] = []
        self.removed: list[tuple[int, int]] = []

    def define(self) -> None:
        """Narrows the domains of the builder's variables, by rows where there are holes."""
        domains = self.common()
        removed: dict[int, set[int]] = {}
        find, lower, upper = self.builder.find, self.builder.lower, self.builder.upper
        for variable, value in self.removed:
            removed.setdefault(find(variable), set()).add(value)

        def is_listed(variable: int) -> bool:
            return variable not in removed and is_table(domains[variable])

        for together, variables in groupby(sorted(domains.keys() | removed.keys()), is_listed):
            if together:
                numbers = list(variables)
                bulk.define_memberships(self.builder, numbers, [domains[variable] for variable in numbers])
                continue
            for variable in variables:
                domain = domains.get(variable) or IntSet.interval(lower[variable], upper[variable])
                self.define_one(variable, domain, removed.get(variable, set()))

    def common(self) -> dict[int, IntSet]:
        """For each variable that must lie in sets, the intersection of these and its bounds."""
        find, lower, upper = self.builder.find, self.builder.lower, self.builder.upper
        domains: dict[int, IntSet] = {}
        for variable, values in self.sets:
            variable = find(variable)
            known = domains.get(variable)
            if known is None:
                if values and lower[variable] <= values.lower and values.upper <= upper[variable]:
                    domains[variable] = values  # most variables have one set
                    continue
                known = IntSet.interval(lower[variable], upper[variable])
            domains[variable] = known & values
            if not domains[variable]:
                raise Infeasible
        return domains

    def define_one(self, variable: int, domain: IntSet, removed: set[int]) -> None:
        b = self.builder
        rest = without(domain, removed)
        if not rest:
            raise Infeasible
        n_removed = domain.size - rest.size
        if rest.size <= min(TUNING.domain_values, TUNING.values_per_gap * n_removed) or (
            domain.has_holes and n_removed
        ):
            domain, removed = rest, set()
        b.domains.pop(b.find(variable), None)  # known since the narrowing, it would fold the rows that state it
        b.define_membership(variable, domain & IntSet.interval(rest.lower, rest.upper))
        for value in sorted(removed):
            if rest.lower < value < rest.upper and value in domain:
                b.define(b.false, EQ, variable, b.constant(value))
        if rest.has_holes:
            b.domains[b.find(variable)] = rest


def without(domain: IntSet, removed: set[int]) -> IntSet:
    """The domain without some values."""
    if not removed:
        return domain
    ranges = []
    values = sorted(removed)
    position = 0
    for low, high in domain.ranges:
        while position < len(values) and values[position] <= high:
            value = values[position]
            if value >= low:
                ranges.append((low, value - 1))
                low = value + 1
            position += 1
        ranges.append((low, high))
    return IntSet.of_ranges(ranges)


def equal(domains: Domains, x: int, y: int) -> bool:
    domains.builder.merge(x, y)
    return True


def different(domains: Domains, x: int, y: int) -> bool:
    for variable, other in ((x, y), (y, x)):
        value = domains.builder.value(other)
        if value is not None:
            domains.removed.append((variable, value))
            return True
    return False


def less_or_equal(domains: Domains, x: int, y: int, strict: int = 0) -> bool:
    """Handles x + strict <= y."""
    b = domains.builder
    low, high = b.value(x), b.value(y)
    if low is not None:
        b.restrict(y, low + strict, INFINITY)
    elif high is not None:
        b.restrict(x, -INFINITY, high - strict)
    return low is not None or high is not None


def less(domains: Domains, x: int, y: int) -> bool:
    return less_or_equal(domains, x, y, 1)


def single_equal(domains: Domains, coefficients: list[int], variables: list[int], k: int) -> bool:
    (c,), (x,) = coefficients, variables
    if c == 0 or k % c:
        return c == 0 == k or contradiction()
    domains.builder.restrict(x, k // c, k // c)
    return True


def single_different(domains: Domains, coefficients: list[int], variables: list[int], k: int) -> bool:
    (c,), (x,) = coefficients, variables
    if c == 0:
        return k != 0 or contradiction()
    if k % c == 0:
        domains.removed.append((x, k // c))
    return True


def single_less_or_equal(domains: Domains, coefficients: list[int], variables: list[int], k: int) -> bool:
    (c,), (x,) = coefficients, variables
    if c == 0:
        return k >= 0 or contradiction()
    domains.builder.restrict(x, *((-INFINITY, k // c) if c > 0 else (-(k // -c), INFINITY)))
    return True


def member(domains: Domains, x: int, values: IntSet) -> bool:
    domains.sets.append((x, values))
    return True


def contradiction() -> bool:
    raise Infeasible


OF_CONSTANTS = frozenset((different, less_or_equal, less))  # handlers that need a fixed argument
OF_ONE = frozenset((single_equal, single_different, single_less_or_equal))  # handlers of sums of one variable


def may_take(handler: Handler, constraint: Constraint) -> bool:
    """Whether the handler may apply to this constraint, by the form of its arguments alone."""
    if handler not in OF_ONE:
        return True
    members = constraint.args[1] if len(constraint.args) == 3 else None
    return type(members) is list and len(members) == 1
