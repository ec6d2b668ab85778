"""Builds the Model: auxiliary variables, constraints, and the conditions at the end of XCSP3's constraints.

`sum`, `count`, `maximum` and others have a value and a condition on it, such as (le,y). If the condition is an equation
the value is its variable or constant; else it is an auxiliary variable, whose domain is restricted by the condition, so
that a condition with a constant needs no row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

from turbo_fzn.base.domains import BOOLEAN, INFINITY, UNBOUNDED, IntSet
from turbo_fzn.base.errors import ModelError
from turbo_fzn.read.model import NO_ANNOTATIONS, Call, Expression, Model, Ref, Text, Variable
from turbo_fzn.read.model import Constraint as Item
from turbo_fzn.read.xcsp3.expressions import Term, as_comparison, at_most, with_constants
from turbo_fzn.read.xcsp3.ranges import Range, is_truth, range_of

INTRODUCED = [Ref("var_is_introduced")]
ONE_EACH = [1, -1], [-1, 1]
LINEAR = {operator: f"int_lin_{operator}" for operator in ("le", "eq", "ne")}
COMPARISONS = {operator: f"int_{operator}" for operator in ("eq", "ne")}
make: Callable[[tuple], Item] = partial(tuple.__new__, Item)  # in half the time that Item(…) takes
COMPARED = ("lt", "le", "ge", "gt", "eq", "ne")


class Condition(NamedTuple):
    """`operator` is lt, le, ge, gt, eq or ne with an int or a name, or in or notin with a set."""

    operator: str
    operand: Any


class Emitter:
    """Adds variables and constraints to a model. `position` is that of the current element."""

    def __init__(self, model: Model):
        self.model = model
        self.position = 0
        self.terms: dict[Term, Ref] = {}
        self.hulls: dict[tuple, IntSet] = {}

    def add(self, name: str, *arguments: Any) -> None:
        self.model.constraints.append(make((name, list(arguments), NO_ANNOTATIONS, self.position)))

    # Variables

    def variable(self, domain: IntSet = UNBOUNDED) -> Ref:
        """A new auxiliary variable; no instance can have its name."""
        name = Ref(f"#{len(self.model.variables)}")
        self.model.variables[name] = Variable(name, "int", domain, INTRODUCED, None, self.position)
        return name

    def domain(self, item: Ref | int) -> IntSet:
        if isinstance(item, int):
            return IntSet.interval(item, item)
        known = self.model.variables[item].domain
        return known if isinstance(known, IntSet) else UNBOUNDED

    def range(self, item: Ref | int) -> Range | None:
        """The bounds of a variable or integer; None if it is unbounded, or if the domain is empty."""
        domain = self.domain(item)
        return (domain.lower, domain.upper) if domain and domain is not UNBOUNDED else None

    def hull(self, items: Sequence[Ref | int]) -> IntSet:
        if set(map(type, items)) == {int}:
            return IntSet.interval(min(items), max(items))  # type: ignore[arg-type]
        key = tuple(items)
        if key not in self.hulls:
            ranges = [self.range(item) for item in items]
            known = [one for one in ranges if one is not None]
            bounds = min((low for low, _ in known), default=0), max((high for _, high in known), default=0)
            self.hulls[key] = IntSet.interval(*bounds) if 0 < len(known) == len(ranges) else UNBOUNDED
        return self.hulls[key]

    def scalar(self, item: Any) -> Ref | int:
        """A name or an integer; an expression becomes an auxiliary variable, which equal expressions share."""
        if not isinstance(item, Term):
            if not isinstance(item, (Ref, int)):
                raise ModelError(f"expected a variable or an integer, found {shown(item)}")
            return item
        known = self.terms.get(item)
        if known is None:
            expression, operands = item
            known = self.terms[item] = self.variable(self.domain_of(expression, operands))
            defines = [Call("defines_var", [known])]
            arguments = [shifted(expression), [known, *operands]]
            self.model.constraints.append(make(("int_expression", arguments, defines, self.position)))
        return known

    def domain_of(self, expression: Expression, operands: Sequence[Ref | int]) -> IntSet:
        """A domain that contains the values of an expression."""
        if is_truth(expression):
            return BOOLEAN
        low_high = range_of(expression, [self.range(one) for one in operands])
        return UNBOUNDED if low_high is None else IntSet.interval(*low_high)

    def scalars(self, items: Sequence[Any]) -> list[Ref | int]:
        if set(map(type, items)) == {Ref}:
            return list(items)
        return [self.scalar(one) for one in items]

    # Relations

    def holds(self, term: Term) -> None:
        """States a constraint given as an expression; linear constraints and membership become FlatZinc's builtins."""
        expression, operands = term
        linear = as_comparison(expression)
        if linear is None and int in map(type, operands):
            constants = tuple([one if type(one) is int else None for one in operands])
            expression = with_constants(expression, constants)
            linear = as_comparison(expression)
        if linear is not None:
            operator, coefficients, k, places = linear
            self.state(operator, coefficients, [operands[i] for i in places], k)
        else:
            self.add("int_expression", expression, list(operands))

    def linear(self, operator: str, coefficients: list[int], items: list[Ref | int], k: int) -> None:
        """States sum <operator> k."""
        operator, coefficients, k = at_most(operator, coefficients, k)
        self.state(operator, coefficients, items, k)

    def state(self, operator: str, coefficients: list[int], items: list[Ref | int], k: int) -> None:
        """States sum <operator> k, where the operator is le, eq or ne."""
        self.state_all(operator, coefficients, (items,), k)

    def state_all(self, operator: str, coefficients: list[int], members: Iterable[list[Ref | int]], k: int) -> None:
        """States sum <operator> k for each list of items, where the operator is le, eq or ne."""
        add = self.model.constraints.append
        if operator != "le" and k == 0 and coefficients in ONE_EACH:
            name = COMPARISONS[operator]
            for items in members:
                add(make((name, items, NO_ANNOTATIONS, self.position)))
        else:
            name = LINEAR[operator]
            for items in members:
                add(make((name, [coefficients, items, k], NO_ANNOTATIONS, self.position)))

    def compare(self, x: Ref | int, operator: str, y: Ref | int) -> None:
        self.linear(operator, [1, -1], [x, y], 0)

    def require(self, x: Ref | int, condition: Condition) -> None:
        """States that x satisfies the condition."""
        operator, operand = condition
        if operator == "in":
            self.add("set_in", x, operand)
        elif operator == "notin":
            self.add("set_in_reif", x, operand, False)
        elif isinstance(operand, int):
            self.linear(operator, [1], [x], operand)
        else:
            self.compare(x, operator, operand)

    def target(self, condition: Condition, domain: IntSet = UNBOUNDED) -> Ref | int:
        """A variable or constant that satisfies the condition, to which a value within the domain can be equated."""
        operator, operand = condition
        if operator == "eq":
            return operand
        allowed = allowed_by(condition)
        if allowed is not None and domain is not UNBOUNDED:
            return self.variable(domain & allowed)
        value = self.variable(domain)
        self.require(value, condition)
        return value


@lru_cache(maxsize=4096)
def shifted(expression: Expression) -> Expression:
    """The code of `first operand = expression of the others`."""
    code = [("arg", value + 1) if symbol == "arg" else (symbol, value) for symbol, value in expression.code]
    return Expression((("arg", 0), *code, ("eq", 2)))


def allowed_by(condition: Condition) -> IntSet | None:
    """The values that satisfy a condition; None if it has a variable."""
    operator, operand = condition
    if operator == "in":
        return operand
    if operator == "notin":
        return complement(operand)
    if not isinstance(operand, int):
        return None
    low, high = -INFINITY, INFINITY
    ranges = {
        "lt": [(low, operand - 1)],
        "le": [(low, operand)],
        "ge": [(operand, high)],
        "gt": [(operand + 1, high)],
        "ne": [(low, operand - 1), (operand + 1, high)],
        "eq": [(operand, operand)],
    }
    return IntSet.of_ranges(ranges[operator])


def complement(values: IntSet) -> IntSet:
    starts = [-INFINITY, *(high + 1 for _, high in values.ranges)]
    ends = [*(low - 1 for low, _ in values.ranges), INFINITY]
    return IntSet.of_ranges(zip(starts, ends))


def shown(item: Any) -> str:
    """A description of an item for error messages."""
    if isinstance(item, Text):
        return f"`{str(item)[:40]}`"
    names = {Term: "an expression", Condition: "a condition", IntSet: "an interval", tuple: "a tuple"}
    return names.get(type(item), str(item)[:40])
