"""The meaning of the operators of an expression (read/model.py), in exact Python integers.

Written from the specification of XCSP3 (section on intension): division is truncated towards 0, the remainder has the
sign of the dividend, truth values are 0 and 1, and any number other than 0 is true. An expression with an undefined
operation (division by 0, a negative power of 0) does not hold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from turbo_fzn.base.domains import IntSet
from turbo_fzn.read.model import Expression

LARGEST_POWER_BITS = 4096  # formula: of a computed power; values of variables have at most a 60th of these bits


class Undefined(ArithmeticError):
    """An operation outside of its domain."""


def divide(x: int, y: int) -> int:
    if y == 0:
        raise Undefined
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


def power(x: int, y: int) -> int:
    if y < 0:
        return divide(1, x if y % 2 else x * x) if abs(x) <= 1 else 0
    if abs(x) > 1 and y * abs(x).bit_length() > LARGEST_POWER_BITS:
        raise Undefined
    return x**y if abs(x) > 1 else (x if y % 2 else abs(x)) if y else 1


def multiply(*factors: int) -> int:
    result = 1
    for factor in factors:
        result *= factor
    return result


def _contains(x: int, members: Any) -> bool:
    sets = (members,) if isinstance(members, IntSet) else members
    return any(x in one if isinstance(one, IntSet) else x == one for one in sets)


OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": lambda *x: sum(x),
    "sub": lambda x, y: x - y,
    "mul": multiply,
    "div": divide,
    "mod": lambda x, y: x - y * divide(x, y),
    "pow": power,
    "neg": lambda x: -x,
    "abs": abs,
    "sqr": lambda x: x * x,
    "dist": lambda x, y: abs(x - y),
    "min": lambda *x: min(x),
    "max": lambda *x: max(x),
    "if": lambda condition, x, y: x if condition else y,
    "eq": lambda *x: len(set(x)) <= 1,
    "ne": lambda x, y: x != y,
    "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y,
    "ge": lambda x, y: x >= y,
    "gt": lambda x, y: x > y,
    "not": lambda x: not x,
    "and": lambda *x: all(x),
    "or": lambda *x: any(x),
    "xor": lambda *x: sum(map(bool, x)) % 2 == 1,
    "iff": lambda *x: len(set(map(bool, x))) <= 1,
    "imp": lambda x, y: not x or bool(y),
    "set": lambda *members: members,
    "in": _contains,
    "notin": lambda x, members: not _contains(x, members),
}


def value_of(expression: Expression, operands: Sequence[int]) -> int:
    """The value of an expression. Raises Undefined."""
    stack: list[Any] = []
    for symbol, value in expression.code:
        if symbol == "arg":
            stack.append(operands[value])
        elif symbol == "int":
            stack.append(value)
        elif symbol == "interval":
            stack.append(IntSet.interval(*value))
        else:
            start = len(stack) - value
            stack[start:] = [OPERATIONS[symbol](*stack[start:])]
    return stack[0]


def holds(expression: Expression, operands: Sequence[int]) -> bool:
    """Whether an expression is defined, and true."""
    try:
        return bool(value_of(expression, operands))
    except Undefined:
        return False
