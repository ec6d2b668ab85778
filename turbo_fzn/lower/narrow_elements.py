"""Elements over one index within a linear row, before forms: the arcs of a tour that its time windows forbid.

`arrival[p] >= departure[previous[p]] + distance[previous[p], p]` is a row of two elements. Each alone has the hull of
its members, so a predecessor that is too late stays in the index's domain, and gets rows. Here the row is tried for
each value of the index, with the members for that value and the bounds of the other variables. Values for which it
cannot hold are removed, and the variables of the row get the weakest bounds that the other values leave. Rows and
maxima that have variables in common with such rows pass bounds on, so that time windows propagate through them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from turbo_fzn.base.domains import INFINITY, IntSet
from turbo_fzn.lower import bulk
from turbo_fzn.lower.builder import RowBuilder
from turbo_fzn.lower.narrow import Job, Left, elements_of
from turbo_fzn.lower.tuning import TUNING
from turbo_fzn.read.model import Constraint, Model, Ref

ELEMENTS = ("array_int_element", "array_var_int_element", "turbo_element")
MAXIMA = ("int_max", "array_int_maximum")
ROWS = ("int_lin_le", "int_lin_eq", "int_le", "int_lt", "int_plus")


class Row(NamedTuple):
    """The sum of coefficients * variables is at most a constant, or equal to it."""

    coefficients: Sequence[int]
    variables: Sequence[int]
    constant: int
    is_equation: bool


class Choice(NamedTuple):
    """Variables or constants of which an index, that begins with `first`, chooses the variable at a place of a row."""

    place: int
    first: int
    members: Sequence[int]
    are_constants: bool


def element_jobs(model: Model, bind: Callable[[Constraint], Sequence[Any]]) -> list[Job]:
    """The jobs of rows with two elements over one index, and of constraints that have variables in common with these.
    `bind` returns the arguments of a constraint as the builder's variables."""
    found = list(_rows_with_elements(model))
    jobs = [_choosing(bind, row, elements) for row, elements in found]
    if not jobs or sum(len(choice.members) for job in jobs for choice in job.arguments[2]) > TUNING.narrowed_cells:
        return []
    near = {x for row, elements in found for one in (row, *(element for _, element in elements))
            for x in _refs_of(one, model)}  # fmt: skip
    asked = {id(row) for row, _ in found}
    others = (one for one in model.constraints if one.name in (*ROWS, *MAXIMA) and id(one) not in asked)
    passing = [_passing(one.name, bind(one)) for one in others if not near.isdisjoint(_refs_of(one, model))]
    return jobs + passing


def _rows_with_elements(model: Model) -> Iterator[tuple[Constraint, list[tuple[int, Constraint]]]]:
    """Rows and, for each index over which two of their variables are elements, the places of these variables with the
    elements."""
    known: dict[Ref, list[Constraint]] = {}
    for one in model.constraints:
        if one.name in ELEMENTS and type(one.args[-1]) is Ref and type(_index_of(one)) is Ref:
            known.setdefault(one.args[-1], []).append(one)
    for row in model.constraints if known else ():
        if row.name in ROWS:
            by_index: dict[Ref, list[tuple[int, Constraint]]] = {}
            for place, x in enumerate(_variables_of(row, model)):
                for element in known.get(x, ()) if type(x) is Ref else ():
                    by_index.setdefault(_index_of(element), []).append((place, element))
            for elements in by_index.values():
                if len({place for place, _ in elements}) > 1:
                    yield row, elements


def _index_of(element: Constraint) -> Any:
    return element.args[2 if element.name == "turbo_element" else 0] if len(element.args) > 2 else None


def _variables_of(one: Constraint, model: Model) -> Iterator[Any]:
    """The variables and constants among the arguments of a row, a maximum or an element, arrays of them spread out, in
    their order; of a linear row only its variables."""
    for argument in one.args[1:2] if one.name.startswith("int_lin") else one.args:
        is_array = type(argument) is list or (type(argument) is Ref and argument in model.arrays)
        yield from elements_of(argument, model.arrays) if is_array else (argument,)


def _refs_of(one: Constraint, model: Model) -> Iterator[Ref]:
    return (x for x in _variables_of(one, model) if type(x) is Ref)


def row_of(name: str, arguments: Sequence[Any]) -> Row:
    """The row of a constraint with these bound arguments."""
    if name.startswith("int_lin"):
        coefficients, variables, constant = arguments
        return Row(coefficients, variables, constant, name == "int_lin_eq")
    if name == "int_plus":
        return Row((1, 1, -1), arguments, 0, True)
    return Row((1, -1), arguments, -int(name == "int_lt"), False)


def _choosing(
    bind: Callable[[Constraint], Sequence[Any]], row: Constraint, elements: list[tuple[int, Constraint]]
) -> Job:
    choices: list[Choice] = []
    variables: list[int] = []
    at = -1
    for place, element in elements:
        arguments = bind(element)
        if element.name == "turbo_element":
            members, first, at, _ = arguments
        else:
            (at, members, _), first = arguments, 1
        constant = element.name == "array_int_element"
        choices.append(Choice(place, first, members, constant))
        variables += [] if constant else members
    stated = row_of(row.name, bind(row))
    return Job(values_left, (at, stated, choices), [at, *stated.variables, *variables])


def _passing(name: str, arguments: Sequence[Any]) -> Job:
    if name in ROWS:
        row = row_of(name, arguments)
        return Job(bounds_left, (row,), list(row.variables))
    z, x = (arguments[2], arguments[:2]) if name == "int_max" else arguments
    return Job(greatest, (z, x), [z, *x])


def _ends(b: RowBuilder, x: int) -> tuple[float, float]:
    """The bounds of a variable, infinite where it is unbounded."""
    x = b.find(x)
    low, high = b.lower[x], b.upper[x]
    return (low if low > -INFINITY else -math.inf), (high if high < INFINITY else math.inf)


def _interval(low: float, high: float) -> IntSet:
    return IntSet.interval(-INFINITY if low == -math.inf else int(low), INFINITY if high == math.inf else int(high))


def _least(coefficient: int, ends: tuple[float, float]) -> float:
    """The least value of coefficient * x, for x between the ends."""
    return 0 if coefficient == 0 else coefficient * ends[coefficient < 0]


def values_left(b: RowBuilder, at: int, row: Row, choices: Sequence[Choice]) -> Left:
    """The values that a row leaves to its variables and to the index that chooses some of them."""
    domain = bulk.domain(b, at)
    for choice in choices:
        domain &= IntSet.interval(choice.first, choice.first + len(choice.members) - 1)
    by_value = {value: ends for value in domain if (ends := _chosen(b, row, choices, value)) is not None}
    for sign in (1, -1) if row.is_equation else (1,):
        others = [(sign * c, x) for place, (c, x) in enumerate(zip(row.coefficients, row.variables))
                  if all(place != choice.place for choice in choices)]  # fmt: skip
        rest = sum(_least(c, _ends(b, x)) for c, x in others)
        least = {value: sum(_least(sign * row.coefficients[place], at_place) for place, at_place in ends.items())
                 for value, ends in by_value.items()}  # fmt: skip
        by_value = {value: ends for value, ends in by_value.items() if least[value] + rest <= sign * row.constant}
        yield from _rooms(b, others, sign * row.constant - min((least[value] for value in by_value), default=0))
    yield at, IntSet.of_values(by_value)
    for place in {choice.place for choice in choices} if by_value else ():
        lows, highs = zip(*(ends[place] for ends in by_value.values()))
        yield row.variables[place], _interval(min(lows), max(highs))


def _chosen(b: RowBuilder, row: Row, choices: Sequence[Choice], value: int) -> dict[int, tuple[float, float]] | None:
    """The bounds of the variable at each place of a choice if the index has this value, or None."""
    found: dict[int, tuple[float, float]] = {}
    for place, first, members, are_constants in choices:
        member = members[value - first]
        low, high = (member, member) if are_constants else _ends(b, member)
        known = found.get(place) or _ends(b, row.variables[place])
        found[place] = max(low, known[0]), min(high, known[1])
        if found[place][0] > found[place][1]:
            return None
    return found


def _rooms(b: RowBuilder, terms: Sequence[tuple[int, int]], most: float) -> Left:
    """The values of each variable if the sum of the terms (coefficient, variable) is at most `most`."""
    leasts = [_least(c, _ends(b, x)) for c, x in terms]
    total = sum(leasts)
    if math.isinf(total) or math.isinf(most):
        return
    for (c, x), least in zip(terms, leasts):
        room = int(most) - int(total) + int(least)
        if c:
            yield x, _interval(-math.inf, room // c) if c > 0 else _interval(-(room // -c), math.inf)


def bounds_left(b: RowBuilder, row: Row) -> Left:
    """The values that a row leaves to its variables."""
    for sign in (1, -1) if row.is_equation else (1,):
        yield from _rooms(b, [(sign * c, x) for c, x in zip(row.coefficients, row.variables)], sign * row.constant)


def greatest(b: RowBuilder, z: int, x: Sequence[int]) -> Left:
    """z is the greatest of x."""
    ends = [_ends(b, v) for v in x]
    if ends:
        yield z, _interval(max(low for low, _ in ends), max(high for _, high in ends))
        for v in x:
            yield v, _interval(-math.inf, _ends(b, z)[1])
