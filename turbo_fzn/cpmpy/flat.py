"""Flat constraints of CPMpy as facts: in them the arguments of operators and functions are variables and constants.

    Var, or([Var]), and([Var]), not(Global)       a Boolean expression
    Numexpr <op> Var                              a comparison, which is one, too
    Boolexpr == Var, Boolexpr -> Var, Var -> Boolexpr

What is not known raises NotSupportedError, which names it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cpmpy.expressions.core import Comparison, Expression, Operator
from cpmpy.expressions.globalconstraints import GlobalConstraint
from cpmpy.expressions.variables import NegBoolView, _NumVarImpl

from turbo_fzn.cpmpy.facts import Fact, Facts, is_constant, refused, whole
from turbo_fzn.cpmpy.globals import CONSTRAINTS, COUNTS, FUNCTIONS
from turbo_fzn.interface.building import Var

LINEAR = frozenset({"sum", "wsum", "sub", "-"})
TURNED = {">": "<", ">=": "<="}  # by taking both sides negative
SUMS = {  # the predicate of a sum, and the number to subtract from the right side
    "==": ("int_lin_eq", 0), "!=": ("int_lin_ne", 0), "<=": ("int_lin_le", 0), "<": ("int_lin_le", 1),
}  # fmt: skip


def post(facts: Facts, constraint: Any) -> None:
    """States a flat constraint."""
    name = getattr(constraint, "name", "")
    if name == "->" and isinstance(constraint, Operator):
        left, right = constraint.args
        facts.imply(_truth(facts, left), facts_of(facts, right))
    elif name == "==" and all(map(_is_truth, constraint.args)) and not all(map(_is_simple, constraint.args)):
        left, right = sorted(constraint.args, key=_is_simple)
        facts.equate(_truth(facts, right), facts_of(facts, left))
    else:
        facts.state(facts_of(facts, constraint))


def facts_of(facts: Facts, expression: Any) -> list[Fact]:
    """Facts whose conjunction is a flat Boolean expression."""
    if _is_simple(expression):
        return [facts.clause([expression])]
    if isinstance(expression, Operator) and expression.name in OPERATORS:
        return OPERATORS[expression.name](facts, expression)
    if isinstance(expression, Comparison):
        return _compare(facts, expression.name, *expression.args)
    if isinstance(expression, GlobalConstraint) and expression.name in CONSTRAINTS:
        return CONSTRAINTS[expression.name](facts, expression)
    raise refused(expression)


def _is_simple(expression: Any) -> bool:
    return isinstance(expression, _NumVarImpl) or is_constant(expression)


def _is_truth(expression: Any) -> bool:
    """Whether it is Boolean; the integers 0 and 1 are not."""
    return expression.is_bool() if isinstance(expression, Expression) else isinstance(expression, bool)


def _truth(facts: Facts, expression: Any) -> Any:
    """A literal that is equivalent to a Boolean expression."""
    if _is_simple(expression):
        return facts.literal(expression)
    truth = facts.truth()
    facts.equate(truth, facts_of(facts, expression))
    return truth


def _either(facts: Facts, expression: Operator) -> list[Fact]:
    return [Fact("bool_clause", [[_truth(facts, one) for one in expression.args], []])]


def _both(facts: Facts, expression: Operator) -> list[Fact]:
    return [fact for one in expression.args for fact in facts_of(facts, one)]


def _follows(facts: Facts, expression: Operator) -> list[Fact]:
    left, right = (_truth(facts, one) for one in expression.args)
    return [Fact("bool_clause", [[right], [left]])]


def _opposite(facts: Facts, expression: Operator) -> list[Fact]:
    return [Fact("bool_clause", [[], [_truth(facts, expression.args[0])]])]


OPERATORS: dict[str, Callable[[Facts, Operator], list[Fact]]] = {
    "or": _either, "and": _both, "->": _follows, "not": _opposite,
}  # fmt: skip


def _compare(facts: Facts, operator: str, left: Any, right: Any) -> list[Fact]:
    if _is_simple(left) and not _is_simple(right):
        turned = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(operator, operator)
        return _compare(facts, turned, right, left)
    if operator in ("==", "!=") and _is_truth(left) and _is_truth(right):
        return [Fact("bool_eq", [_truth(facts, left), _truth(facts, right)], operator == "==")]
    name = left.name if isinstance(left, Expression) and not _is_simple(left) else ""
    if name == "count":
        values, value = left.args
        return [Fact(COUNTS[operator], [facts.numbers(values), facts.number(value), _value(facts, right)])]
    if name in FUNCTIONS and operator == "==":
        return [FUNCTIONS[name](facts, left, _value(facts, right))]
    return _linear(facts, operator, [*_terms(facts, left, 1), *_terms(facts, right, -1)])


def _value(facts: Facts, expression: Any) -> Any:
    """An integer variable or constant; a Boolean expression is 0 or 1."""
    if _is_simple(expression):
        return facts.number(expression)
    if not _is_truth(expression):
        raise refused(expression)
    return facts.number_of(_truth(facts, expression))


def _terms(facts: Facts, expression: Any, sign: int) -> list[tuple[int, Any]]:
    """Weights, and variables or constants of CPMpy or of the builder, whose sum is the expression times the sign."""
    if _is_simple(expression):
        return [(sign, expression)]
    if expression.name not in LINEAR:
        return [(sign, _value(facts, expression))]
    if not isinstance(expression, Operator):
        raise refused(expression)
    if expression.name == "wsum":
        weights, parts = expression.args
    else:
        parts = expression.args
        weights = {"sub": (1, -1), "-": (-1,)}.get(expression.name, (1,) * len(parts))
    return [
        (whole(weight) * factor, one)
        for weight, part in zip(weights, parts, strict=True)
        for factor, one in _terms(facts, part, sign)
    ]


def _linear(facts: Facts, operator: str, terms: list[tuple[int, Any]]) -> list[Fact]:
    """Compares a sum of terms with 0."""
    if operator in TURNED:
        return _linear(facts, TURNED[operator], [(-weight, one) for weight, one in terms])
    weights: list[int] = []
    variables: list[Var] = []
    predicate, constant = SUMS[operator][0], -SUMS[operator][1]
    for weight, one in terms:
        if isinstance(one, NegBoolView):  # 1 - b
            constant, weight, one = constant - weight, -weight, one._bv
        number = one if isinstance(one, Var) else facts.number(one)
        if isinstance(number, int):
            constant -= weight * number
        else:
            weights.append(weight)
            variables.append(number)
    return [Fact(predicate, [weights, variables, constant])]
