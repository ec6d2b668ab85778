"""Functional expressions, such as `eq(add(x,3),mul(y,z))` -> postfix code, and the linear expressions among them.

A language of names, numbers, parentheses and commas is read by one regular expression and a stack: an instance may have
a hundred thousand expressions, and Lark takes time for each token (1.2 MB/s, where 5 are needed). The stack is a list,
so deep expressions need no recursion.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, NamedTuple

from turbo_fzn.base.errors import ModelError
from turbo_fzn.read.model import Expression

MANY = 2**31  # format: operands, where any number is allowed
MAX_DIGITS = 19  # format: of a number of 64 bits
# Operators of the specification (section on intension), and the number of operands of each.
ARITY: dict[str, tuple[int, int]] = {
    **dict.fromkeys(("neg", "abs", "sqr", "not"), (1, 1)),
    **dict.fromkeys(("sub", "div", "mod", "pow", "dist", "imp", "in", "notin", "ne", "lt", "le", "ge", "gt"), (2, 2)),
    **dict.fromkeys(("add", "mul", "min", "max", "and", "or", "xor", "iff", "eq"), (2, MANY)),
    "if": (3, 3),
    "set": (0, MANY),
}
ONE_IS_ENOUGH = {"add", "mul", "min", "max", "and", "or"}  # two in the specification; one is its own result
MEMBERSHIP = ("in", "notin")
ORDINARY = ARITY.keys() - {"set", *MEMBERSHIP}
OPENS = {f"{operator}(": operator for operator in ARITY}
TOKEN = re.compile(r"([A-Za-z]+\(|[A-Za-z_][\w\[\]]*|%\d+|[+-]?\d+(?:\.\.[+-]?\d+)?|\S)\s*")
WORD = re.compile(r"\s*((?:[A-Za-z]+\()*)(?:([+-]?\d{1,18})|(%\d+|[A-Za-z_]\w*(?:\[[\d\]\[]*\])?))(\)*)\s*", re.ASCII)
OPERAND = re.compile(r"(%\d+|\b[A-Za-z_]\w*(?:\[[\d\]\[]*\])?(?![\w\[]|\s*\())")  # names, and no operators
MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}


class Term(NamedTuple):
    """An expression with its operands: names and parameters as written, or their values."""

    expression: Expression
    operands: tuple[Any, ...]


def to_integer(text: str) -> int:
    """The integer of a text. Raises ModelError if it does not fit 64 bits."""
    if len(text) <= MAX_DIGITS + 1 and -(2**63) <= int(text) < 2**63:
        return int(text)
    raise ModelError(f"the integer {text[: MAX_DIGITS + 1]} does not fit in 64 bits")


class _Word(NamedTuple):
    """The text between two commas: the operators that it opens, with no operands so far, its operand (a name, or the
    code of an integer), and the number of operators that it closes."""

    opened: list[str]
    counts: list[int]
    operand: str | tuple[str, int]
    n_closed: int


def read_expression(text: str) -> Term:
    """The code of an expression; its operands are the distinct names in it. Raises ModelError."""
    return _read_words(text) or _read_tokens(text)


def _read_words(text: str) -> Term | None:
    """The term of an expression read word by word, which is fast since words repeat; None for sets and most errors."""
    code: list[tuple[str, Any]] = []
    names: dict[str, tuple[str, int]] = {}
    operators: list[str] = []  # the open operators
    counts: list[int] = [0]  # operands of each so far; first, the number of expressions
    for text_of_word in text.split(","):
        word = _word_of(text_of_word)
        if word is None or (code and not operators):
            return None
        opened, zeros, operand, n_closed = word
        operators += opened
        counts += zeros
        if type(operand) is str:
            operand = names.get(operand) or names.setdefault(operand, ("arg", len(names)))
        code.append(operand)  # type: ignore[arg-type]
        counts[-1] += 1
        if n_closed > len(operators):
            return None
        for _ in range(n_closed):
            code.append(call(operators.pop(), counts.pop()))
            counts[-1] += 1
    return None if operators else Term(Expression(tuple(code)), tuple(names))


@lru_cache(maxsize=2**14)
def _word_of(text: str) -> _Word | None:
    match = WORD.fullmatch(text)
    if match is None:
        return None
    opened, integer, name, closed = match.groups()
    operators = opened.split("(")[:-1]
    if not ORDINARY.issuperset(operators):
        return None
    return _Word(operators, [0] * len(operators), name or ("int", int(integer)), len(closed))


@lru_cache(maxsize=4096)
def call(operator: str, count: int) -> tuple[str, int]:
    """The code of an operator with `count` operands."""
    least, most = ARITY[operator]
    if not least <= count <= most and not (count == 1 and operator in ONE_IS_ENOUGH):
        raise ModelError(f"the operator `{operator}` with {count} operands")
    return operator, count


def _read_tokens(text: str) -> Term:
    """The term of any expression, read token by token. Raises ModelError."""
    code: list[tuple[str, Any]] = []
    places: dict[str, int] = {}
    operators: list[str] = []  # the open operators
    counts: list[int] = [0]  # operands of each so far; first, the expressions: must be 1
    wants_operand = True
    for token in TOKEN.findall(text):
        if token == ",":
            if wants_operand or not operators:
                raise unexpected(token)
            wants_operand = True
            continue
        if token == ")":
            close(code, operators, counts, wants_operand)
        elif not wants_operand or counts[0]:
            raise unexpected(token)
        elif token in OPENS:
            operators.append(OPENS[token])
            counts.append(0)
            continue
        elif token[0] in "+-0123456789":
            code.append(number(token, operators, counts[-1]))
        elif token[0] == "%" or (token.isidentifier() or "[" in token) and token[0] != "[":
            code.append(("arg", places.setdefault(token, len(places))))
        else:
            raise unexpected(token)
        counts[-1] += 1
        wants_operand = False
    if operators or not code:
        raise ModelError("the expression does not end" if operators else "an empty expression")
    return Term(Expression(tuple(code)), tuple(places))


def unexpected(token: str) -> ModelError:
    if token[-1] == "(" and token[0].isalpha():
        operator = token[:-1].rstrip()
        if operator not in ARITY:
            return ModelError(f"the operator `{operator[:20]}` is not read")
    return ModelError(f"unexpected `{token[:20]}` in an expression")


def close(code: list[tuple[str, Any]], operators: list[str], counts: list[int], wants_operand: bool) -> None:
    """Processes the parenthesis that ends the innermost operator."""
    if not operators or (wants_operand and (operators[-1] != "set" or counts[-1])):
        raise ModelError("a parenthesis too many in an expression")
    operator, count = called = call(operators.pop(), counts.pop())
    if operator == "set" and not (operators and operators[-1] in MEMBERSHIP and counts[-1] == 1):
        raise ModelError("`set` is read as the second operand of `in` and `notin`")
    if operator in MEMBERSHIP and code[-1][0] not in ("set", "interval"):
        raise ModelError(f"the second operand of `{operator}` is to be a set")
    code.append(called)


def number(token: str, operators: list[str], count: int) -> tuple[str, Any]:
    """The code of an integer, or of an interval within a set."""
    low, dots, high = token.partition("..")
    if not dots:
        return "int", int(token) if len(token) < MAX_DIGITS else to_integer(token)
    if not operators or not (operators[-1] == "set" or (operators[-1] in MEMBERSHIP and count == 1)):
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
    """A comparison of two linear expressions, as one sum compared with 0; None for other expressions."""
    code = expression.code
    operator, count = code[-1]
    if operator not in MIRRORED or count != 2:
        return None
    values = _linear_values(code[:-1])
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
    """A linear expression as coefficients and a constant; None for other expressions."""
    values = _linear_values(expression.code)
    return None if values is None else values[0]


def combine(left: dict[int, int], k: int, right: dict[int, int], j: int, factor: int) -> Sum:
    total = dict(left)
    for place, c in right.items():
        total[place] = total.get(place, 0) + factor * c
    return {place: c for place, c in total.items() if c}, k + factor * j


def _linear_values(code: tuple[tuple[str, Any], ...]) -> list[Sum] | None:
    """The stack after running the code, if all expressions are linear; else None."""
    stack: list[Sum] = []
    for symbol, value in code:
        if symbol == "arg":
            stack.append(({value: 1}, 0))
        elif symbol == "int":
            stack.append(({}, value))
        elif symbol in ("add", "sub", "neg", "mul"):
            operands = stack[-value:]
            del stack[-value:]
            result = _linear_operation(symbol, operands)
            if result is None:
                return None
            stack.append(result)
        else:
            return None
    return stack


def _linear_operation(symbol: str, operands: list[Sum]) -> Sum | None:
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
    """The expression with operand i replaced by constants[i], where that is not None."""
    return Expression(
        tuple(
            ("int", constants[value]) if symbol == "arg" and constants[value] is not None else (symbol, value)
            for symbol, value in expression.code
        )
    )
