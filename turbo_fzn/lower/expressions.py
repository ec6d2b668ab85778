"""int_expression: an expression over integers (read/model.py), such as XCSP3's `intension`, as rows.

Each operator is a function of the variables of its operands, so its result is fixed when these are, and equal
expressions share one row wherever they occur. The outermost comparison of a constraint is stated, not computed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from turbo_fzn.base.domains import INFINITY, IntSet
from turbo_fzn.lower import constraints_bool as boolean
from turbo_fzn.lower import constraints_int as integer
from turbo_fzn.lower import linear, power
from turbo_fzn.lower.builder import RowBuilder
from turbo_fzn.lower.variables import Infeasible
from turbo_fzn.read.model import Expression
from turbo_fzn.tnf.language import ADD, DIV, EQ, LEQ, MAX, MIN, MOD, MUL

Operands = list[Any]  # variables; a set is a list of variables and IntSets


def int_expression(b: RowBuilder, expression: Expression, x: list[int], r: int) -> None:
    """r = (the expression of the variables x is defined, and true)."""
    code, (operator, count) = expression.code[:-1], expression.code[-1]
    evaluation = _Evaluation(b, b.value(r) == 1)
    operands = evaluation.run(code, x) if operator not in ("arg", "int") else []
    if evaluation.certain and operator in STATED and count == len(operands):
        return STATED[operator](b, operands)
    stack = evaluation.run(expression.code, x)
    boolean.conjunction(b, [*evaluation.defined, _truth_of(b, stack[0])], r)
    return None


class _Evaluation:
    """Evaluates an expression to variables. If `certain`, the constraint holds, so undefined operations are excluded;
    else `defined` collects the truths of "this operation is defined"."""

    def __init__(self, b: RowBuilder, certain: bool):
        self.b, self.certain = b, certain
        self.defined: list[int] = []

    def run(self, code: Any, x: list[int]) -> Operands:
        """The stack after the code has run."""
        b, parent = self.b, self.b.parent
        stack: Operands = []
        for symbol, value in code:
            if symbol == "arg":
                v = x[value]
                stack.append(v if parent[v] == v else b.find(v))
            elif symbol == "int":
                stack.append(b.constant(value))
            elif value == 2 and symbol in BINARY:
                last = stack.pop()
                stack[-1] = BINARY[symbol](b, stack[-1], last)
            elif symbol == "interval":
                stack.append(IntSet.interval(*value))
            else:
                start = len(stack) - value
                operands = stack[start:]
                del stack[start:]
                if symbol in PARTIAL:
                    stack.append(PARTIAL[symbol](self, *operands))
                else:
                    stack.append(OPERATIONS[symbol](b, operands))
        return stack

    def exclude(self, condition: int) -> None:
        """States or records that the Boolean is false where the expression is defined."""
        if self.certain:
            self.b.merge(condition, self.b.false)
        else:
            self.defined.append(self.b.negation(condition))

    def divide(self, op: int, x: int, y: int) -> int:
        b = self.b
        if self.certain:
            if b.value(y) == 0:
                raise Infeasible
            b.define(b.false, EQ, y, b.false)
            return b.row(op, x, b.find(y))
        zero = b.row(EQ, y, b.false)
        self.exclude(zero)
        return b.row(op, x, b.row(ADD, y, zero))

    def power(self, x: int, y: int) -> int:
        """A variable that equals x^y; a negative power of 0 is undefined, and computed as a power of 1."""
        b = self.b
        if b.lower[y] < 0 and b.lower[x] <= 0 <= b.upper[x]:
            wrong = b.row(MIN, b.row(LEQ, y, b.constant(-1)), b.row(EQ, x, b.false))
            self.exclude(wrong)
            x = b.row(ADD, x, wrong) if not self.certain else x
        result = b.variable(-INFINITY, INFINITY)
        power.power(b, x, y, result, b.true)
        return b.find(result)


PARTIAL: dict[str, Callable[..., int]] = {
    "div": lambda evaluation, x, y: evaluation.divide(DIV, x, y),
    "mod": lambda evaluation, x, y: evaluation.divide(MOD, x, y),
    "pow": _Evaluation.power,
}


def _truth_of(b: RowBuilder, v: int) -> int:
    """The truth of v != 0."""
    return v if b.lower[v] >= 0 and b.upper[v] <= 1 else b.negation(b.row(EQ, v, b.false))


def truths_of(b: RowBuilder, operands: Operands) -> list[int]:
    return [_truth_of(b, v) for v in operands]


# Arithmetic


def difference(b: RowBuilder, x: int, y: int) -> int:
    return b.row(ADD, x, b.negative(y))


def absolute(b: RowBuilder, x: int) -> int:
    if b.lower[x] >= 0:
        return x
    return b.negative(x) if b.upper[x] <= 0 else b.row(MAX, x, b.negative(x))


def choose(b: RowBuilder, operands: Operands) -> int:
    """A variable that equals the second operand where the first is true, else the third."""
    condition, x, y = operands
    index = b.row(ADD, _truth_of(b, condition), b.true)
    result = b.variable(-INFINITY, INFINITY)
    integer.define_element(b, result, index, [y, x])
    return b.find(result)


def product(b: RowBuilder, operands: Operands) -> int:
    result = operands[0]
    for v in operands[1:]:
        result = b.row(MUL, result, v)
    return result


# Relations


def less(b: RowBuilder, x: int, y: int) -> int:
    """The truth of x < y."""
    truth = b.variable(0, 1)
    integer.lt(b, x, y, truth)
    return b.find(truth)


def equal(b: RowBuilder, operands: Operands) -> int:
    first, *others = operands
    return b.tree(MIN, [b.row(EQ, first, v) for v in others], 1)


def _equivalent(b: RowBuilder, operands: Operands) -> int:
    return equal(b, truths_of(b, operands))


def parity(b: RowBuilder, operands: Operands) -> int:
    truth, result = truths_of(b, operands), b.false
    for v in truth:
        result = b.negation(b.row(EQ, result, v))
    return result


def member(b: RowBuilder, operands: Operands) -> int:
    """The truth of "the first operand is in the set", whose members may be variables."""
    x, members = operands
    values, others = constants_of(b, members)
    truths = [b.row(EQ, x, v) for v in others]
    if values:
        inside = b.variable(0, 1)
        integer.member(b, x, values, inside)
        truths.append(b.find(inside))
    return b.tree(MAX, truths, 0)


def constants_of(b: RowBuilder, members: Any) -> tuple[IntSet, list[int]]:
    """(constants, variables) among the members of a set."""
    members = [members] if isinstance(members, IntSet) else members
    ranges: list[tuple[int, int]] = []
    others: list[int] = []
    for one in members:
        if isinstance(one, IntSet):
            ranges.extend(one.ranges)
        elif (value := b.value(one)) is not None:
            ranges.append((value, value))
        else:
            others.append(one)
    return IntSet.of_ranges(ranges), others


# Operators of two operands; some also take more, or a single operand.
BINARY: dict[str, Callable[[RowBuilder, int, int], int]] = {
    "add": lambda b, x, y: b.find(b.row(ADD, x, y)),
    "sub": difference,
    "dist": lambda b, x, y: absolute(b, difference(b, x, y)),
    "eq": lambda b, x, y: b.row(EQ, x, y),
    "ne": lambda b, x, y: b.negation(b.row(EQ, x, y)),
    "lt": less,
    "gt": lambda b, x, y: less(b, y, x),
    "le": lambda b, x, y: b.row(LEQ, x, y),
    "ge": lambda b, x, y: b.row(LEQ, y, x),
    "and": lambda b, x, y: b.find(b.row(MIN, _truth_of(b, x), _truth_of(b, y))),
    "or": lambda b, x, y: b.find(b.row(MAX, _truth_of(b, x), _truth_of(b, y))),
    "imp": lambda b, x, y: b.row(LEQ, _truth_of(b, x), _truth_of(b, y)),
}

OPERATIONS: dict[str, Callable[[RowBuilder, Operands], Any]] = {
    "add": lambda b, operands: b.tree(ADD, operands, 0),
    "mul": product,
    "neg": lambda b, operands: b.negative(operands[0]),
    "abs": lambda b, operands: absolute(b, *operands),
    "sqr": lambda b, operands: b.row(MUL, operands[0], operands[0]),
    "min": lambda b, operands: b.tree(MIN, operands, 0),
    "max": lambda b, operands: b.tree(MAX, operands, 0),
    "if": choose,
    "eq": equal,
    "not": lambda b, operands: b.negation(_truth_of(b, *operands)),
    "and": lambda b, operands: b.tree(MIN, truths_of(b, operands), 1),
    "or": lambda b, operands: b.tree(MAX, truths_of(b, operands), 0),
    "xor": parity,
    "iff": _equivalent,
    "set": lambda b, operands: operands,
    "in": member,
    "notin": lambda b, operands: b.negation(member(b, operands)),
}

# The functions that state a constraint with fewer rows than its truth value needs.


def _state_equal(b: RowBuilder, operands: Operands) -> None:
    for v in operands[1:]:
        b.merge(operands[0], v)


def _state_member(b: RowBuilder, operands: Operands) -> None:
    x, members = operands
    values, others = constants_of(b, members)
    if others:
        b.merge(b.true, member(b, operands))
    else:
        integer.member(b, x, values, b.true)


STATED: dict[str, Callable[[RowBuilder, Operands], None]] = {
    "eq": _state_equal,
    "ne": lambda b, operands: integer.ne(b, operands[0], operands[1], b.true),
    "lt": lambda b, operands: integer.lt(b, operands[0], operands[1], b.true),
    "gt": lambda b, operands: integer.lt(b, operands[1], operands[0], b.true),
    "le": lambda b, operands: integer.le(b, operands[0], operands[1], b.true),
    "ge": lambda b, operands: integer.le(b, operands[1], operands[0], b.true),
    "and": lambda b, operands: boolean.conjunction(b, truths_of(b, operands), b.true),
    "or": lambda b, operands: linear.clause(b, truths_of(b, operands), [], b.true),
    "imp": lambda b, operands: linear.clause(b, [_truth_of(b, operands[1])], [_truth_of(b, operands[0])], b.true),
    "in": _state_member,
}
