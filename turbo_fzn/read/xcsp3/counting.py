"""sum, count, nValues, cardinality, knapsack: constraints on sums."""

from __future__ import annotations

from typing import Any

from turbo_fzn.base.domains import INFINITY, UNBOUNDED, IntSet
from turbo_fzn.base.errors import ModelError, UnsupportedError
from turbo_fzn.read.model import Expression, Ref
from turbo_fzn.read.xcsp3.arguments import Arguments
from turbo_fzn.read.xcsp3.emitter import COMPARED, Condition, Emitter
from turbo_fzn.read.xcsp3.expressions import Term, as_sum
from turbo_fzn.read.xcsp3.ranges import Range, corners

PRODUCT = Expression((("arg", 0), ("arg", 1), ("mul", 2)))


def same_length(one: list, other: list, what: str) -> None:
    if len(one) != len(other):
        raise ModelError(f"{what}: {len(one)} and {len(other)} elements")


# Sums


def _sum_(a: Arguments) -> None:
    items = a.listed()
    coefficients = a.listed("coeffs") if a.has("coeffs") else [1] * len(items)
    same_length(items, coefficients, "the coefficients of a sum")
    state_sum(a.emitter, items, coefficients, a.condition())


def state_sum(e: Emitter, items: list, coefficients: list, condition: Condition, constant: int = 0) -> None:
    """States that the sum of coefficients[i] * items[i] minus `constant` satisfies the condition."""
    terms: list[tuple[int, Ref]] = []
    if set(map(type, items)) == {Ref} and set(map(type, coefficients)) == {int}:  # nearly all sums
        terms, items = list(zip(coefficients, items)), []
    known = e.terms.get
    for item, c in zip(items, coefficients):
        if type(item) is Term and type(c) is int and (name := known(item)) is not None:
            terms.append((c, name))
        elif isinstance(c, int):
            constant -= _add_term(e, item, c, terms)
        else:
            terms.append((1, e.scalar(Term(PRODUCT, (e.scalar(c), e.scalar(item))))))  # type: ignore[arg-type]
    operator, operand = condition
    if operator not in COMPARED:
        value = e.target(condition, _domain_of_sum(e, terms, -constant))
        terms.append((-1, value))  # type: ignore[arg-type]
        operator, operand = "eq", 0
    if isinstance(operand, int):
        constant += operand
    else:
        terms.append((-1, operand))
    e.linear(operator, [c for c, _ in terms], [x for _, x in terms], constant)


def _add_term(e: Emitter, item: Any, c: int, terms: list[tuple[int, Ref]]) -> int:
    """Adds c * item to the terms; a linear expression is added term by term. Returns its constant part."""
    linear = as_sum(item.expression) if type(item) is Term else None
    if linear is not None:
        places, constant = linear
        return c * constant + sum(_add_term(e, item.operands[i], c * k, terms) for i, k in places.items())
    scalar = e.scalar(item)
    if isinstance(scalar, int):
        return c * scalar
    terms.append((c, scalar))
    return 0


def _domain_of_sum(e: Emitter, terms: list[tuple[int, Ref]], constant: int) -> IntSet:
    low = high = constant
    for c, x in terms:
        known = e.range(x)
        if known is None:
            return UNBOUNDED
        ends: Range = corners(lambda one, other: one * other, (c, c), known)
        low, high = low + ends[0], high + ends[1]
    return IntSet.interval(low, high) if -INFINITY < low and high < INFINITY else UNBOUNDED


def knapsack(a: Arguments) -> None:
    """States that the weights satisfy the first condition, or <limit>, and the profits the last condition."""
    items, weights, profits = a.scalars(), a.integers("weights"), a.integers("profits")
    same_length(items, weights, "the weights of a knapsack")
    same_length(items, profits, "the profits of a knapsack")
    conditions = a.conditions()
    if a.has("limit"):
        conditions.insert(0, Condition("le", a.scalar("limit")))
    if len(conditions) != 2:
        raise ModelError("a knapsack has two conditions")
    state_sum(a.emitter, items, weights, conditions[0])
    state_sum(a.emitter, items, profits, conditions[1])


# Counts


def values_of(a: Arguments, name: str) -> list:
    """The integers and variables of a child; an interval is replaced by its integers."""
    found: list = []
    for item in a.listed(name):
        found += list(small(item)) if isinstance(item, IntSet) else [a.emitter.scalar(item)]
    return found


def small(values: IntSet) -> IntSet:
    if values.size > 10**6:
        raise UnsupportedError("an interval of more than a million values, to be counted one by one")
    return values


def count(a: Arguments) -> None:
    e, items, values = a.emitter, a.scalars(), a.listed("values")
    if all(isinstance(value, (int, IntSet)) for value in values):
        wanted = IntSet.of_ranges(
            pair for one in values for pair in (one.ranges if isinstance(one, IntSet) else [(one, one)])
        )
        number = e.target(a.condition(), IntSet.interval(0, len(items)))
        e.add("turbo_among", number, items, wanted)
    elif len(values) == 1:
        number = e.target(a.condition(), IntSet.interval(0, len(items)))
        e.add("turbo_count_eq", items, e.scalar(values[0]), number)
    else:
        scalars = values_of(a, "values")
        inside = [Term(_member_of(len(scalars)), (item, *scalars)) for item in items]
        state_sum(e, inside, [1] * len(items), a.condition())


def _member_of(n: int) -> Expression:
    """The expression "the first operand equals one of the n others"."""
    others = [("arg", i) for i in range(1, n + 1)]
    return Expression((("arg", 0), *others, ("set", n), ("in", 2)))


def n_values(a: Arguments) -> None:
    e, items = a.emitter, a.scalars()
    left_out = sorted(set(a.integers("except"))) if a.has("except") else []
    condition = a.condition()
    if not left_out:
        e.add("turbo_nvalue", e.target(condition, IntSet.interval(0, len(items))), items)
        return
    # The excepted values are counted, too, so there are that many more.
    number = e.target(condition, IntSet.interval(0, len(items)))
    more = e.variable(IntSet.interval(0, len(items) + len(left_out)))
    e.linear("eq", [1, -1], [more, number], len(left_out))
    e.add("turbo_nvalue", more, [*items, *left_out])


def cardinality(a: Arguments) -> None:
    e, items, values, occurs = a.emitter, a.scalars(), values_of(a, "values"), a.listed("occurs")
    same_length(values, occurs, "the values and occurs of a cardinality")
    closed = a.flag("values", "closed", False)
    if any(isinstance(occur, IntSet) and not occur for occur in occurs):
        raise ModelError("an empty set among the occurs of a cardinality")
    if not all(isinstance(value, int) for value in values):
        for value, occur in zip(values, occurs):
            e.add("turbo_count_eq", items, value, _as_count(e, occur))
        for item in items if closed else []:
            e.holds(Term(_member_of(len(values)), (item, *values)))
    elif all(isinstance(occur, int) or (isinstance(occur, IntSet) and not occur.has_holes) for occur in occurs):
        ends = [(one, one) if isinstance(one, int) else (one.lower, one.upper) for one in occurs]
        name = "turbo_global_cardinality_low_up" + "_closed" * closed
        e.add(name, items, values, [low for low, _ in ends], [high for _, high in ends])
    else:
        name = "turbo_global_cardinality" + "_closed" * closed
        e.add(name, items, values, [_as_count(e, occur) for occur in occurs])


def _as_count(e: Emitter, occur: Any) -> Ref | int:
    return e.variable(occur) if isinstance(occur, IntSet) else e.scalar(occur)


CONSTRAINTS = {
    "sum": (_sum_, "list coeffs condition", ""),
    "count": (count, "list values condition", ""),
    "nValues": (n_values, "list except condition", ""),
    "cardinality": (cardinality, "list values occurs", "closed"),
    "knapsack": (knapsack, "list weights profits condition limit", ""),
}
