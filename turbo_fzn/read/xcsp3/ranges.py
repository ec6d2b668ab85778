"""Bounds of expressions by interval arithmetic, as domains of the auxiliary variables for them.

The lowering finds tighter bounds. An unknown range, or one that cannot be stored, is None.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from turbo_fzn.base.domains import INFINITY
from turbo_fzn.read.model import Expression

Range = tuple[int, int]
TRUTH = (0, 1)  # format: the bounds of a truth value


def corners(operation: Callable[[int, int], int], x: Range, y: Range) -> Range:
    values = [operation(a, b) for a in x for b in y]
    return min(values), max(values)


def add(*operands: Range) -> Range:
    return sum(low for low, _ in operands), sum(high for _, high in operands)


def subtract(x: Range, y: Range) -> Range:
    return x[0] - y[1], x[1] - y[0]


def multiply(*operands: Range) -> Range:
    result = (1, 1)
    for operand in operands:
        result = corners(lambda a, b: a * b, result, operand)
    return result


def absolute(x: Range) -> Range:
    return max(x[0], -x[1], 0), max(-x[0], x[1])


def modulo(x: Range, y: Range) -> Range:
    most = max(abs(y[0]), abs(y[1]), 1) - 1
    return max(min(x[0], 0), -most), min(max(x[1], 0), most)


def power(x: Range, y: Range) -> Range | None:
    """The range of a power; None if a power is too large to compute."""
    base, exponent = max(map(abs, x)), max(y[1], 0)
    if exponent * base.bit_length() > 62:
        return None
    most = max(base**exponent, 1)
    return (-most if x[0] < 0 else 0), most


RANGES: dict[str, Callable[..., Range | None]] = {
    "add": add,
    "sub": subtract,
    "neg": lambda x: (-x[1], -x[0]),
    "mul": multiply,
    "sqr": lambda x: (absolute(x)[0] ** 2, absolute(x)[1] ** 2),
    "abs": absolute,
    "dist": lambda x, y: absolute(subtract(x, y)),
    "div": lambda x, y: (-max(map(abs, x)), max(map(abs, x))) if min(x[0], y[0]) < 0 else (0, x[1]),
    "mod": modulo,
    "pow": power,
    "min": lambda *operands: (min(low for low, _ in operands), min(high for _, high in operands)),
    "max": lambda *operands: (max(low for low, _ in operands), max(high for _, high in operands)),
    "if": lambda _, x, y: (min(x[0], y[0]), max(x[1], y[1])),
    "set": lambda *_: TRUTH,
}


def is_truth(expression: Expression) -> bool:
    """Whether the outermost operator of the expression is a comparison or a connective."""
    symbol, _ = expression.code[-1]
    return symbol not in RANGES and symbol not in ("arg", "int")


def range_of(expression: Expression, operands: Sequence[Range | None]) -> Range | None:
    """The range of the expression, given those of its operands."""
    stack: list[Any] = []
    for symbol, value in expression.code:
        if symbol in ("arg", "int", "interval"):
            known = operands[value] if symbol == "arg" else (value, value) if symbol == "int" else TRUTH
            stack.append(known)
        else:
            inputs = stack[len(stack) - value :]
            del stack[len(stack) - value :]
            result = TRUTH if symbol not in RANGES else None if None in inputs else RANGES[symbol](*inputs)
            stack.append(result if result is not None and _is_stored(result) else None)
    return stack[0]


def _is_stored(one: Range) -> bool:
    return -INFINITY < one[0] and one[1] < INFINITY
