"""Functional expressions, `eq(add(x,3),mul(y,z))` -> postfix code, and what is linear among them.

A language of names, numbers, parentheses and commas needs no more than one regular expression and a stack: an
instance has a hundred thousand of them, and Lark's price is per token (read/grammar.py says it: 1.2 MB/s, for a reader
that is to do 5). The stack is a list, so depth costs no recursion.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, NamedTuple

from turbo_fzn.errors import ModelError
from turbo_fzn.read.model import Expression

MANY = 2**31
MAX_DIGITS = 19
# Operators of the specification (section on intension), and how many operands each takes.
ARITY: dict[str, tuple[int, int]] = {
    **dict.fromkeys(("neg", "abs", "sqr", "not"), (1, 1)),
    **dict.fromkeys(("sub", "div", "mod", "pow", "dist", "imp", "in", "notin", "ne", "lt", "le", "ge", "gt"), (2, 2)),
    **dict.fromkeys(("add", "mul", "min", "max", "and", "or", "xor", "iff", "eq"), (2, MANY)),
    "if": (3, 3),
    "set": (0, MANY),
}
ONE_IS_ENOUGH = {"add", "mul", "min", "max", "and", "or"}  # which the specification gives two; with one they are it
TOKEN = re.compile(r"([A-Za-z]+\s*\(|[A-Za-z_][\w\[\]]*|%\d+|[+-]?\d+(?:\.\.[+-]?\d+)?|\S)\s*")
OPERAND = re.compile(r"(%\d+|\b[A-Za-z_]\w*(?:\[[\d\]\[]*\])?(?![\w\[]|\s*\())")  # names, and no operators
MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}


class Term(NamedTuple):
    """An expression with its operands: names as they are written, parameters among them, or what they stand for."""

    expression: Expression
    operands: tuple[Any, ...]


def to_integer(text: str) -> int:
    """ModelError when it does not fit in 64 bits."""
    if len(text) <= MAX_DIGITS + 1 and -(2**63) <= int(text) < 2**63:
        return int(text)
    raise ModelError(f"the integer {text[: MAX_DIGITS + 1]} does not fit in 64 bits")


def read_expression(text: str) -> Term:
    """The code of an expression, its operands being the distinct names in it. ModelError says what is wrong."""
    code: list[tuple[str, Any]] = []
    places: dict[str, int] = {}
    open_calls: list[list] = []  # [operator, number of operands so far]
    wants_operand = True
    for token in TOKEN.findall(text):
        if (token in ",)") is wants_operand and token != ")":
            raise ModelError(f"unexpected `{token[:20]}` in an expression")
        if code and not open_calls:
            raise ModelError(f"unexpected `{token[:20]}` behind an expression")
        if token == ",":
            wants_operand = True
            continue
        if token[-1] == "(":
            open_call(token[:-1].rstrip(), open_calls)
            continue
        if token == ")":
            close(code, open_calls, wants_operand)
        elif token[0] in "+-0123456789":
            code.append(number(token, open_calls))
        elif token[0] == "%" or token[0].isalpha() or token[0] == "_":
            code.append(("arg", places.setdefault(token, len(places))))
        else:
            raise ModelError(f"unexpected `{token[:20]}` in an expression")
        if open_calls:
            open_calls[-1][1] += 1
        wants_operand = False
    if open_calls or not code:
        raise ModelError("the expression does not end" if code or open_calls else "an empty expression")
    return Term(Expression(tuple(code)), tuple(places))


def open_call(operator: str, open_calls: list[list]) -> None:
    if operator not in ARITY:
        raise ModelError(f"the operator `{operator}` is not read")
    open_calls.append([operator, 0])


def close(code: list[tuple[str, Any]], open_calls: list[list], wants_operand: bool) -> None:
    """The parenthesis that ends the innermost operator."""
    if not open_calls or (wants_operand and open_calls[-1] != ["set", 0]):
        raise ModelError("a parenthesis too many in an expression")
    operator, count = open_calls.pop()
    least, most = ARITY[operator]
    if not (1 if operator in ONE_IS_ENOUGH else least) <= count <= most:
        raise ModelError(f"the operator `{operator}` with {count} operands")
    if operator == "set" and not (open_calls and open_calls[-1][0] in ("in", "notin") and open_calls[-1][1] == 1):
        raise ModelError("`set` is read as the second operand of `in` and `notin`")
    if operator in ("in", "notin") and code[-1][0] not in ("set", "interval"):
        raise ModelError(f"the second operand of `{operator}` is to be a set")
    code.append((operator, count))


def number(token: str, open_calls: list[list]) -> tuple[str, Any]:
    """An integer, or an interval where a set may be."""
    low, dots, high = token.partition("..")
    if not dots:
        return "int", to_integer(token)
    allowed = [("set",), ("in", 1), ("notin", 1)]
    if not open_calls or (tuple(open_calls[-1]) not in allowed and open_calls[-1][0] != "set"):
        raise ModelError(f"the interval {low[:20]}..{high[:20]} is read in sets only")
    return "interval", (to_integer(low), to_integer(high))


class Linear(NamedTuple):
    """The sum of coefficients[i] * operand places[i] compared with k by `operator`, which is le, eq or ne."""

    operator: str
    coefficients: list[int]
    k: int
    places: list[int]


Sum = tuple[dict[int, int], int]


@lru_cache(maxsize=4096)
def as_comparison(expression: Expression) -> Linear | None:
    """A comparison of two linear expressions, as one sum compared with 0; None for anything else."""
    code = expression.code
    operator, count = code[-1]
    if operator not in MIRRORED or count != 2:
        return None
    values = linear_values(code[:-1])
    if values is None:
        return None
    (left, k), (right, j) = values
    coefficients, constant = combine(left, k, right, j, -1)
    return Linear(*at_most(operator, list(coefficients.values()), -constant), list(coefficients))


def at_most(operator: str, coefficients: list[int], k: int) -> tuple[str, list[int], int]:
    """A comparison of a sum with k, by le, eq or ne."""
    if operator in ("ge", "gt"):
        operator, coefficients, k = MIRRORED[operator], [-c for c in coefficients], -k
    return ("le", coefficients, k - 1) if operator == "lt" else (operator, coefficients, k)


@lru_cache(maxsize=4096)
def as_sum(expression: Expression) -> Sum | None:
    """A linear expression, as coefficients and a constant."""
    values = linear_values(expression.code)
    return None if values is None else values[0]


def combine(left: dict[int, int], k: int, right: dict[int, int], j: int, factor: int) -> Sum:
    total = dict(left)
    for place, c in right.items():
        total[place] = total.get(place, 0) + factor * c
    return {place: c for place, c in total.items() if c}, k + factor * j


def linear_values(code: tuple[tuple[str, Any], ...]) -> list[Sum] | None:
    """What is on the stack behind the code, where all of it is linear."""
    stack: list[Sum] = []
    for symbol, value in code:
        if symbol == "arg":
            stack.append(({value: 1}, 0))
        elif symbol == "int":
            stack.append(({}, value))
        elif symbol in ("add", "sub", "neg", "mul"):
            operands = stack[-value:]
            del stack[-value:]
            result = linear_operation(symbol, operands)
            if result is None:
                return None
            stack.append(result)
        else:
            return None
    return stack


def linear_operation(symbol: str, operands: list[Sum]) -> Sum | None:
    result = ({}, 0) if symbol == "neg" else operands[0]
    for coefficients, constant in operands if symbol == "neg" else operands[1:]:
        if symbol != "mul":
            result = combine(*result, coefficients, constant, 1 if symbol == "add" else -1)
        elif not coefficients:
            result = combine({}, 0, *result, constant)
        elif not result[0]:
            result = combine({}, 0, coefficients, constant, result[1])
        else:
            return None
    return result


@lru_cache(maxsize=4096)
def with_constants(expression: Expression, constants: tuple[int | None, ...]) -> Expression:
    """The expression where operand i is constants[i], if that is no None."""
    return Expression(
        tuple(
            ("int", constants[value]) if symbol == "arg" and constants[value] is not None else (symbol, value)
            for symbol, value in expression.code
        )
    )
