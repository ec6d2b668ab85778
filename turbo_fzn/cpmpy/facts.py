"""The translation from CPMpy to a Builder: variables, and facts, which are predicates with arguments."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, Union

import numpy as np
from cpmpy.exceptions import NotSupportedError
from cpmpy.expressions.core import BoolVal
from cpmpy.expressions.variables import NegBoolView, _NumVarImpl

from turbo_fzn.base.domains import INFINITY
from turbo_fzn.interface.building import Builder, Var

Literal = Union[Var, bool]  # a Boolean variable, or a truth value
Number = Union[Var, int]  # an integer variable, or an integer


class Fact(NamedTuple):
    """A predicate of the tables with its arguments; its negation if `holds` is false."""

    predicate: str
    arguments: list[Any]
    holds: bool = True


def refused(expression: object) -> NotSupportedError:
    """The error for an expression that is not known."""
    return NotSupportedError(f"turbo does not support {type(expression).__name__} {expression!s:.300}")


def is_constant(expression: object) -> bool:
    return isinstance(expression, (BoolVal, int, float, np.generic))


def whole(value: Any) -> int:
    """A constant as an integer. Raises NotSupportedError for a fraction."""
    if not isinstance(value, BoolVal) and value != value // 1:
        raise refused(value)
    return int(value)


class Facts:
    """Adds facts to a Builder; `known` maps CPMpy's names to the variables of the builder."""

    def __init__(self) -> None:
        self.builder = Builder()
        self.known: dict[str, Any] = {}
        self._names: set[str] = set()
        self._numbers: dict[str, Var] = {}  # Boolean variables as 0 and 1
        self._negations: dict[str, Var] = {}

    # ---- variables

    def variable(self, cpm_var: _NumVarImpl) -> Var:
        """The builder's variable for a variable of CPMpy, made at the first use. Raises NotSupportedError for bounds
        that are too large."""
        found: Any = self.known.get(cpm_var.name)
        if found is None:
            if isinstance(cpm_var, NegBoolView):
                found = self.negation(self.variable(cpm_var._bv))
            elif cpm_var.is_bool():
                found = self.truth(cpm_var.name)
            elif -INFINITY < cpm_var.lb and cpm_var.ub < INFINITY:
                found = self.builder.ints(self.name(cpm_var.name), int(cpm_var.lb), int(cpm_var.ub))
            else:
                raise NotSupportedError(f"turbo: the bounds of {cpm_var}, {cpm_var.lb} and {cpm_var.ub}, are too far")
            self.known[cpm_var.name] = found
        return found

    def name(self, wanted: str) -> str:
        """A name that is not in use yet, without separators of names."""
        name = "".join("_" if one == "," or one.isspace() else one for one in wanted) or "_"
        while name in self._names:
            name += "'"
        self._names.add(name)
        return name

    def truth(self, name: str = "truth") -> Var:
        """A new Boolean variable."""
        return self.builder.bools(self.name(name))

    def literal(self, expression: Any) -> Literal:
        """A Boolean variable or constant of CPMpy."""
        if isinstance(expression, _NumVarImpl) and expression.is_bool():
            return self.variable(expression)
        if is_constant(expression) and whole(expression) in (0, 1):
            return bool(expression)
        raise refused(expression)

    def number(self, expression: Any) -> Number:
        """A variable or constant of CPMpy as an integer; Booleans are 0 and 1."""
        if is_constant(expression):
            return whole(expression)
        if not isinstance(expression, _NumVarImpl):
            raise refused(expression)
        return self.number_of(self.variable(expression))

    def number_of(self, variable: Number | Literal) -> Number:
        """A variable or constant of the builder as an integer."""
        if not isinstance(variable, Var):
            return int(variable)
        if variable.kind == "int":
            return variable
        if variable.name not in self._numbers:
            number = self.builder.ints(self.name(f"number of {variable.name}"), 0, 1)
            self._numbers[variable.name] = number
            self.builder.bool2int(variable, number)
        return self._numbers[variable.name]

    def numbers(self, expressions: Iterable[Any]) -> list[Number]:
        return [self.number(one) for one in expressions]

    def literals(self, expressions: Iterable[Any]) -> list[Literal]:
        return [self.literal(one) for one in expressions]

    def negation(self, literal: Literal) -> Literal:
        if isinstance(literal, bool):
            return not literal
        if literal.name not in self._negations:
            opposite = self.truth(f"not {literal.name}")
            self.builder.bool_not(literal, opposite)
            self._negations |= {literal.name: opposite, opposite.name: literal}
        return self._negations[literal.name]

    def clause(self, expressions: Iterable[Any], holds: bool = True) -> Fact:
        """The disjunction of Boolean variables and constants of CPMpy, or its negation."""
        positive: list[Literal] = []
        negative: list[Literal] = []
        for one in expressions:
            if isinstance(one, NegBoolView):
                negative.append(self.literal(one._bv))
            else:
                positive.append(self.literal(one))
        return Fact("bool_clause", [positive, negative], holds)

    # ---- statements

    def state(self, facts: Iterable[Fact]) -> None:
        """States that all of the facts are true."""
        for predicate, arguments, holds in facts:
            if holds:
                self.builder.post(predicate, *arguments)
            else:
                self.builder.post(f"{predicate}_reif", *arguments, False)

    def imply(self, truth: Literal, facts: Iterable[Fact]) -> None:
        """States that the literal implies each of the facts."""
        for fact in facts:
            predicate, arguments, holds = fact
            if not holds:
                self.builder.bool_clause([], [truth, self._truth_of(fact._replace(holds=True))])
            elif predicate == "bool_clause":
                self.builder.bool_clause(arguments[0], [*arguments[1], truth])
            else:
                self.builder.post(f"{predicate}_imp", *arguments, truth)

    def equate(self, truth: Literal, facts: list[Fact]) -> None:
        """States that the literal is true if and only if all of the facts are."""
        if len(facts) == 1:
            ((predicate, arguments, holds),) = facts
            self.builder.post(f"{predicate}_reif", *arguments, truth if holds else self.negation(truth))
        else:
            self.builder.array_bool_and([self._truth_of(fact) for fact in facts], truth)

    def _truth_of(self, fact: Fact) -> Literal:
        if fact.predicate == "bool_clause" and sum(map(len, fact.arguments)) == 1:
            positive, negative = fact.arguments
            return (positive or negative)[0] if bool(positive) == fact.holds else self.negation(*(positive or negative))
        truth = self.truth()
        self.equate(truth, [fact])
        return truth
