"""The section <objectives>: one expression, or a sum, product, minimum, maximum, number of values, or lexicographic
order of several, with or without coefficients."""

from __future__ import annotations

from typing import Any

from turbo_fzn.base.domains import INFINITY, IntSet
from turbo_fzn.base.errors import ModelError, UnsupportedError
from turbo_fzn.read.model import Expression, Goal, Model, Ref
from turbo_fzn.read.xcsp3.arguments import Arguments
from turbo_fzn.read.xcsp3.counting import state_sum
from turbo_fzn.read.xcsp3.emitter import Condition, Emitter
from turbo_fzn.read.xcsp3.expressions import Term, as_sum

PRODUCT = Expression((("arg", 0), ("arg", 1), ("mul", 2)))


def first_to(n: int) -> IntSet:
    return IntSet.interval(1, n)


def read(model: Model, a: Arguments) -> None:
    """Sets the goal of the model."""
    if a.element.name not in ("minimize", "maximize"):
        raise UnsupportedError(f"<{a.element.name}> is not read among the objectives")
    if model.goal is not None:
        raise UnsupportedError("more than one objective is not read")
    kind = a.element.attributes.get("type", "expression").strip()
    define = OBJECTIVES.get(kind)
    if define is None:
        raise UnsupportedError(f"an objective of type {kind[:40]} is not read")
    items = a.listed()
    coefficients = a.listed("coeffs") if a.has("coeffs") else None
    if not items or (coefficients is not None and len(coefficients) != len(items)):
        raise ModelError("an objective without terms, or with another number of coefficients")
    objective = define(a.emitter, items, coefficients)
    if isinstance(objective, int):
        objective = a.emitter.variable(IntSet.interval(objective, objective))
    model.goal = Goal(a.element.name, objective, [], a.element.position)


def expression(e: Emitter, items: list, coefficients: list | None) -> Ref | int:
    if len(items) != 1 or coefficients is not None:
        raise ModelError("an objective of type expression is one expression")
    (item,) = items
    if isinstance(item, Term):
        linear = as_sum(item.expression)
        if linear is not None:  # as a sum, for which the relaxation has rows
            terms, constant = linear
            return total(e, [item.operands[i] for i in terms], list(terms.values()), constant)
    return e.scalar(item)


def total(e: Emitter, items: list, coefficients: list | None, constant: int = 0) -> Ref:
    """A variable that is the sum."""
    value = e.variable()
    ones = [1] * len(items) if coefficients is None else coefficients
    state_sum(e, items, ones, Condition("eq", value), -constant)
    return value


def weighted(e: Emitter, items: list, coefficients: list | None) -> list[Ref | int]:
    if coefficients is None or all(c == 1 for c in coefficients):
        return e.scalars(items)
    return [_product_of(e, e.scalar(item), e.scalar(c)) for item, c in zip(items, coefficients)]


def _product_of(e: Emitter, x: Ref | int, y: Ref | int) -> Ref | int:
    return x * y if isinstance(x, int) and isinstance(y, int) else e.scalar(Term(PRODUCT, (x, y)))


def product(e: Emitter, items: list, coefficients: list | None) -> Ref | int:
    result: Ref | int = 1
    for item in weighted(e, items, coefficients):
        result = item if result == 1 else _product_of(e, result, item)
    return result


def extreme(name: str) -> Any:
    def define(e: Emitter, items: list, coefficients: list | None) -> Ref:
        members = weighted(e, items, coefficients)
        value = e.variable(e.hull(members))
        e.add(f"array_int_{name}", value, members)
        return value

    return define


def n_values(e: Emitter, items: list, coefficients: list | None) -> Ref:
    members = weighted(e, items, coefficients)
    value = e.variable(IntSet.interval(0, len(members)))
    e.add("turbo_nvalue", value, members)
    return value


def lexicographic(e: Emitter, items: list, coefficients: list | None) -> Ref:
    """A number in the lexicographic order of the tuples: each term weighs more than all later terms together."""
    members = weighted(e, items, coefficients)
    weights: list[int] = []
    weight, constant = 1, 0
    for member in reversed(members):
        low_high = e.range(member)
        if low_high is None or weight * max(map(abs, low_high)) >= INFINITY // (2 * len(members)):
            raise UnsupportedError("a lexicographic objective whose terms are too large for one number")
        weights.insert(0, weight)
        constant -= weight * low_high[0]
        weight *= low_high[1] - low_high[0] + 1
    return total(e, list(members), list(weights), constant)


OBJECTIVES = {
    "expression": expression,
    "sum": total,
    "product": product,
    "minimum": extreme("minimum"),
    "maximum": extreme("maximum"),
    "nValues": n_values,
    "lex": lexicographic,
}
