"""int_expression in columns: many expressions of one shape, as in groups of XCSP3.

The shape of an expression is its code without the values of its integers. It is compiled into steps of columns.py, in
the order in which expressions.py makes rows, and run by depth: independent operations are one step, so that places find
shared expressions of others. Shapes with other operators than the tables contain are left to expressions.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from turbo_fzn.lower.columns import Column, Columns, Request
from turbo_fzn.read.model import Expression
from turbo_fzn.tnf.language import ADD, EQ, LEQ, MAX, MIN

Shape = tuple[tuple[str, int], ...]
NEGATIVE = -1  # format: instead of a row's operator: the negative of a value
TRUTHS = frozenset((EQ, LEQ))


class _UnusualError(Exception):
    """The expression cannot be lowered in columns."""


class Node(NamedTuple):
    """`op` of two values, given by their numbers: first the operands, then the integers of the code, then the nodes."""

    op: int
    left: int
    right: int
    depth: int


class Program:
    """The nodes of an expression, one slot each, and the relation `truth = left op right` that it states."""

    def __init__(self, shape: Shape, n_args: int):
        if any(symbol == "arg" and value >= n_args for symbol, value in shape):
            raise _UnusualError("an operand is missing")
        self.n_args = n_args
        self.n_given = self.n_args + sum(symbol == "int" for symbol, _ in shape)
        self.nodes: list[Node] = []
        self.truths: set[int] = set()  # values that must be Booleans
        self.mixed: set[int] = set()  # values that must be able to be negative and positive
        self.literals: list[int] = []
        *code, statement = shape
        values = self.evaluate(code)
        if len(values) != 2 or statement not in STATED:
            raise _UnusualError
        left, right = values
        self.stated = STATED[statement](self, left, right)
        self.width = len(self.nodes) + 1

    def evaluate(self, code: Sequence[tuple[str, int]]) -> list[int]:
        stack: list[int] = []
        n_integers = self.n_args
        for symbol, value in code:
            if symbol == "arg":
                stack.append(value)
            elif symbol == "int":
                stack.append(n_integers)
                n_integers += 1
            elif (symbol, value) not in OPERATIONS:
                raise _UnusualError(symbol)
            else:
                start = len(stack) - value
                operands = stack[start:]
                del stack[start:]
                stack.append(OPERATIONS[symbol, value](self, *operands))
        return stack

    def node(self, op: int, left: int, right: int = -1) -> int:
        depths = [self.nodes[v - self.n_given].depth for v in (left, right) if v >= self.n_given]
        self.nodes.append(Node(op, left, right, 1 + max(depths, default=-1)))
        return self.n_given + len(self.nodes) - 1

    def difference(self, x: int, y: int) -> int:
        return self.node(ADD, x, self.node(NEGATIVE, y))

    def absolute(self, x: int) -> int:
        self.mixed.add(x)
        return self.node(MAX, x, self.node(NEGATIVE, x))

    def logical(self, op: int, *values: int) -> int:
        self.require_truths(values)
        return self.node(op, *values)

    def require_truths(self, values: Sequence[int]) -> None:
        nodes, first = self.nodes, self.n_given
        self.truths |= {v for v in values if v < first or nodes[v - first].op not in TRUTHS}

    def clause(self, op: int, left: int, right: int) -> tuple[bool, int, int, int]:
        self.require_truths((left, right))
        self.literals = [left, right]
        return True, op, left, right

    def run(self, c: Columns, given: Sequence[Column]) -> None:
        values: list[Column] = [*given, *([given[0]] * len(self.nodes))]
        for x in given[: self.n_args]:
            c.require_representatives(x)
        for depth in range(1 + max((node.depth for node in self.nodes), default=-1)):
            requests = []
            for slot, (op, left, right, at) in enumerate(self.nodes):
                if at == depth and op == NEGATIVE:
                    values[self.n_given + slot] = c.negative(slot, values[left])
                elif at == depth:
                    requests.append(Request(slot, op, values[left], values[right]))
            if requests:
                for request, x in zip(requests, c.rows(*requests)):
                    values[self.n_given + request.slot] = x
        self.check(c, values)
        truth, op, left, right = self.stated
        c.define(self.width - 1, c.b.true if truth else c.b.false, op, values[left], values[right])

    def check(self, c: Columns, values: Sequence[Column]) -> None:
        """Makes places odd where the bounds do not fit the chosen nodes."""
        for v in self.truths:
            low, high = c.bounds(values[v])
            c.require((low >= 0) & (high <= 1))
        for v in self.mixed:
            low, high = c.bounds(values[v])
            c.require((low < 0) & (high > 0))
        for v in self.literals:
            c.require_representatives(values[v])
            c.require_no_negations(values[v])


Operation = Callable[..., int]
OPERATIONS: dict[tuple[str, int], Operation] = {
    ("add", 2): lambda p, x, y: p.node(ADD, x, y),
    ("sub", 2): Program.difference,
    ("neg", 1): lambda p, x: p.node(NEGATIVE, x),
    ("abs", 1): Program.absolute,
    ("dist", 2): lambda p, x, y: p.absolute(p.difference(x, y)),
    ("min", 2): lambda p, x, y: p.node(MIN, x, y),
    ("max", 2): lambda p, x, y: p.node(MAX, x, y),
    ("eq", 2): lambda p, x, y: p.node(EQ, x, y),
    ("le", 2): lambda p, x, y: p.node(LEQ, x, y),
    ("ge", 2): lambda p, x, y: p.node(LEQ, y, x),
    ("and", 2): lambda p, x, y: p.logical(MIN, x, y),
    ("or", 2): lambda p, x, y: p.logical(MAX, x, y),
    ("imp", 2): lambda p, x, y: p.logical(LEQ, x, y),
}
STATED: dict[tuple[str, int], Callable[[Program, int, int], tuple[bool, int, int, int]]] = {
    ("ne", 2): lambda p, x, y: (False, EQ, x, y),
    ("le", 2): lambda p, x, y: (True, LEQ, x, y),
    ("ge", 2): lambda p, x, y: (True, LEQ, y, x),
    ("or", 2): lambda p, x, y: p.clause(MAX, x, y),
    ("imp", 2): lambda p, x, y: p.clause(LEQ, x, y),
}


@lru_cache(maxsize=4096)
def split(expression: Expression) -> tuple[Shape, list[int]]:
    """The shape of an expression, and its integers."""
    return (
        tuple((symbol, 0 if symbol == "int" else value) for symbol, value in expression.code),
        [value for symbol, value in expression.code if symbol == "int"],
    )


def compiled(shape: Shape, n_args: int) -> Program | None:
    """The program of a shape, or None if it is left to expressions.py. `n_args` may exceed the operands that the
    expression uses."""
    try:
        return Program(shape, n_args)
    except _UnusualError:
        return None


def given(arguments: Sequence[Any]) -> list[Any]:
    """The operands and the integers of a constraint with the arguments of int_expression."""
    expression, operands = arguments
    return [*operands, *split(expression)[1]]
