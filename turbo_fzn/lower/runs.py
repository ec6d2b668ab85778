"""Runs: sequences of constraints of one shape, which are lowered in columns (columns.py) up to odd ones.

These can be lowered in columns: comparisons (table.py), expressions (expression_columns.py), sums (linear_columns.py),
and all_different of lists of one length (globals/different.py). All others, short runs, and odd constraints are lowered
one at a time; both ways make the same rows. Where many are odd, most of a column would be dropped, so the length of the
columns is adapted to the number of places kept before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, islice, takewhile
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from turbo_fzn.lower import expression_columns as expressions
from turbo_fzn.lower import linear_columns as sums
from turbo_fzn.lower.builder import RowBuilder
from turbo_fzn.lower.columns import Column, Columns
from turbo_fzn.lower.scope import ONLY_NAMES, Scope
from turbo_fzn.lower.table import CONSTRAINTS
from turbo_fzn.lower.tuning import TUNING
from turbo_fzn.predicates.globals import ALL_DIFFERENT
from turbo_fzn.predicates.table import PREDICATES
from turbo_fzn.predicates.table import Form as Signature
from turbo_fzn.read.model import Constraint, Expression, Ref

NAME, ARGUMENTS = itemgetter(0), itemgetter(1)  # fields of a constraint
LowerOne = Callable[[Constraint], None]


class Form(NamedTuple):
    """The lowering of constraints of one shape: the function from a constraint's arguments to its operands, int or name
    (None where they are the arguments), the kind of each operand, the function that lowers columns of operands up to
    the first odd place and returns the number of places, and the number of places that fit into memory."""

    operands: Callable[[Sequence[Any]], Sequence[Any]] | None
    kinds: str
    lower: Callable[[RowBuilder, Sequence[Column]], int]
    most: int = TUNING.columns_most


def _in_slots(width: int, state: Callable[[Columns, Sequence[Column]], None]) -> Callable[..., int]:
    """A function that lowers places with `width` slots each, which `state` fills."""

    def lower(b: RowBuilder, operands: Sequence[Column]) -> int:
        made = Columns(b, len(operands[0]), width)
        state(made, operands)
        return made.commit()

    return lower


def comparison(kinds: tuple[str, ...], state: Callable[..., None]) -> Form:
    return Form(None, "".join(kinds), _in_slots(1, lambda c, operands: state(c, *operands)))


# The forms of comparisons, by the names of constraints.
COMPARISONS: dict[str, Form] = {
    name + suffix: comparison(Signature(PREDICATES[name], suffix).kinds, state)
    for name, how in CONSTRAINTS.items()
    for suffix, state in how.columns.items()
}
EXPRESSION = "int_expression"
SUM = "int_lin_le"


def _form_of(constraint: Constraint) -> Form | None:
    """The form of a constraint, the same object for all of its shape; None if it is lowered by itself."""
    name, arguments, _, _ = constraint
    if name == EXPRESSION and [type(argument) for argument in arguments] == [Expression, list]:
        if arguments[0].code[-1] not in expressions.STATED:
            return None
        return _form_of_shape(expressions.split(arguments[0])[0], len(arguments[1]))
    if name == SUM:
        shape = sums.shape_of(arguments)
        return None if shape is None else _form_of_sum(shape)
    if name == ALL_DIFFERENT and [type(argument) for argument in arguments] == [list]:
        return _form_of_list(len(arguments[0]))
    form = COMPARISONS.get(name)
    return form if form is not None and len(arguments) == len(form.kinds) else None


@lru_cache(maxsize=4096)
def _form_of_shape(shape: expressions.Shape, n_operands: int) -> Form | None:
    program = expressions.compiled(shape, n_operands)
    if program is None:
        return None
    return Form(expressions.given, "I" * program.n_given, _in_slots(program.width, program.run))


@lru_cache(maxsize=4096)
def _form_of_sum(shape: sums.Shape) -> Form:
    one = sums.Sum(shape)
    most = min(TUNING.columns_most, TUNING.columns_slots // one.width)
    return Form(sums.given, one.kinds, _in_slots(one.width, one.run), most)


@lru_cache(maxsize=4096)
def _form_of_list(length: int) -> Form | None:
    if length < 2:
        return None
    from turbo_fzn.lower.globals.different import differ_in_columns  # only here: few models have such constraints

    return Form(itemgetter(0), "I" * length, differ_in_columns)


def _length_of_run(form: Form | None, constraints: Sequence[Constraint]) -> int:
    """The number of first constraints of this form; 0 for no form."""
    if form is None:
        return 0
    if form.operands is None and _is_one_comparison(form, constraints):
        return len(constraints)
    return sum(1 for _ in takewhile(lambda constraint: _form_of(constraint) is form, constraints))


def _is_one_comparison(form: Form, constraints: Sequence[Constraint]) -> bool:
    """Whether all constraints are comparisons of this form; faster than finding the form of each."""
    names, lengths = set(map(NAME, constraints)), set(map(len, map(ARGUMENTS, constraints)))
    return len(names) == 1 and COMPARISONS.get(*names) is form and lengths == {len(form.kinds)}


class Runs:
    """Lowers constraints in runs or one at a time, by `lower_one`, with the names of `scope`."""

    def __init__(self, scope: Scope, lower_one: LowerOne, is_infeasible: Callable[[], bool]):
        self.scope, self.builder, self.lower_one, self.is_infeasible = scope, scope.builder, lower_one, is_infeasible

    def lower(self, constraints: Iterator[Constraint]) -> None:
        """Lowers all constraints. A long run contains the last constraint of some block, so only their forms are looked
        up."""
        form, run = None, []
        while block := list(islice(constraints, TUNING.columns_least)):
            n = _length_of_run(form, block)
            run += block[:n]
            if n == len(block):
                continue
            self.lower_run(form, run)
            form = _form_of(block[-1])
            start = max(len(block) - _length_of_run(form, block[::-1]), n)
            self.lower_run(None, block[n:start])
            run = block[start:]
        self.lower_run(form, run)

    def lower_run(self, form: Form | None, run: list[Constraint]) -> None:
        start, patience = 0, TUNING.columns_patience
        size = TUNING.columns_first if form is None else min(TUNING.columns_first, form.most)
        while form is not None and len(run) - start >= TUNING.columns_least and not self.is_infeasible():
            part = run[start : start + size]
            n = self.lower_columns(form, part)
            start += n
            if n == len(part):
                size, patience = min(2 * size, form.most), TUNING.columns_patience
                continue
            alone = 1
            if n < TUNING.columns_least:
                alone, patience = patience, min(2 * patience, TUNING.columns_patience_most)
            for constraint in run[start : start + alone]:
                self.lower_one(constraint)
            start += alone
            size = max(2 * n, 2 * TUNING.columns_least)
        for constraint in run[start:]:
            self.lower_one(constraint)

    def lower_columns(self, form: Form, run: list[Constraint]) -> int:
        """Lowers the first constraints of a run together. Returns their number."""
        columns = self.columns(form, run)
        n = min(map(len, columns))
        if n < TUNING.columns_least:
            return 0
        return form.lower(self.builder, [column[:n] for column in columns])

    def are_open(self, run: list[Constraint]) -> bool:
        """Whether these are many comparisons, all without fixed operands."""
        form = _form_of(run[0])
        if form is None or not TUNING.columns_least <= len(run) == _length_of_run(form, run):
            return False
        if set(map(type, chain.from_iterable(map(ARGUMENTS, run)))) != ONLY_NAMES:
            return False
        names, (lower, upper) = self.scope.variables["int"], (self.builder.lower, self.builder.upper)
        numbers = map(names.get, set(chain.from_iterable(map(ARGUMENTS, run))))
        return all(number is not None and lower[number] < upper[number] for number in numbers)

    def columns(self, form: Form, run: list[Constraint]) -> list[Column]:
        arguments = map(ARGUMENTS, run)
        operands = zip(*(arguments if form.operands is None else map(form.operands, arguments)))
        return [self.numbers(kind, column) for kind, column in zip(form.kinds, operands)]

    def numbers(self, kind: str, operands: Sequence[Any]) -> Column:
        """The variables of operands, up to the first operand that has no variable or is an error."""
        names, constants = self.scope.variables[KINDS[kind]], self.builder.constants if kind == "I" else {}
        if set(map(type, operands)) == ONLY_NAMES:
            found = list(map(names.get, operands))
        else:
            found = [
                names.get(operand) if type(operand) is Ref else constants.get(operand) if type(operand) is int else None
                for operand in operands
            ]
        return np.array(found[: found.index(None)] if None in found else found, np.int64)


KINDS = {"I": "int", "B": "bool"}
