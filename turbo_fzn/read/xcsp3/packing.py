"""noOverlap, cumulative and binPacking: constraints on space, time or a resource."""

from __future__ import annotations

from itertools import chain
from typing import Any

from turbo_fzn.base.domains import IntSet
from turbo_fzn.base.errors import ModelError, UnsupportedError
from turbo_fzn.read.model import Expression, Ref
from turbo_fzn.read.tuning import TUNING
from turbo_fzn.read.xcsp3.arguments import Arguments
from turbo_fzn.read.xcsp3.counting import same_length, state_sum
from turbo_fzn.read.xcsp3.emitter import Condition, Emitter
from turbo_fzn.read.xcsp3.expressions import Term

Items = list[Ref | int]
RUNS = (("arg", 0), ("arg", 2), ("le", 2), ("arg", 2), ("arg", 0), ("arg", 1), ("add", 2), ("lt", 2), ("and", 2))


# noOverlap


def _no_overlap(a: Arguments) -> None:
    e, ignored = a.emitter, a.flag("origins", "zeroIgnored", True)
    if a.needed("origins").text.startswith("("):
        origins, lengths = a.matrix("origins"), a.matrix("lengths")
        same_length(origins, lengths, "the origins and lengths of noOverlap")
        k = len(origins[0])
        same_length(origins[0], lengths[0], "the dimensions of noOverlap")
        name = "turbo_diffn_nonstrict_k" if ignored else "turbo_diffn_k"
        e.add(name, k, list(chain(*origins)), list(chain(*lengths)))
    else:
        starts, sizes = a.scalars("origins"), a.scalars("lengths")
        same_length(starts, sizes, "the origins and lengths of noOverlap")
        e.add("turbo_disjunctive" if ignored else "turbo_disjunctive_strict", starts, sizes)


# cumulative


def cumulative(a: Arguments) -> None:
    e, starts, heights = a.emitter, a.scalars("origins"), a.scalars("heights")
    same_length(starts, heights, "the origins and heights of cumulative")
    if not a.has("lengths") and not a.has("ends"):
        raise ModelError("<cumulative> without <lengths>")
    ends = a.scalars("ends") if a.has("ends") else None
    if a.has("lengths"):
        lengths = a.scalars("lengths")
    else:
        lengths = [difference(e, end, start) for start, end in zip(starts, ends or [])]
    same_length(starts, lengths, "the origins and lengths of cumulative")
    for start, length, end in zip(starts, lengths, ends or []):
        e.linear("eq", [1, 1, -1], [start, length, end], 0)
    condition = a.condition()
    operator, operand = condition
    capacity = operand if operator == "le" else difference(e, operand, 1) if operator == "lt" else None
    if capacity is not None and all((e.range(one) or (-1, 0))[0] >= 0 for one in (*lengths, *heights)):
        e.add("turbo_cumulative", starts, lengths, heights, capacity)
    else:
        _at_each_time(e, starts, lengths, heights, condition)


def difference(e: Emitter, x: Ref | int, y: Ref | int) -> Ref | int:
    if isinstance(x, int) and isinstance(y, int):
        return x - y
    return e.scalar(Term(Expression((("arg", 0), ("arg", 1), ("sub", 2))), (x, y)))


def _at_each_time(e: Emitter, starts: Items, lengths: Items, heights: Items, condition: Condition) -> None:
    """States that the sum of the heights at each time satisfies the condition, and so does 0, when no task is
    running."""
    spans = [(e.range(start), e.range(length)) for start, length in zip(starts, lengths)]
    if any(start is None or length is None for start, length in spans):
        raise UnsupportedError("a cumulative with such a condition over variables without bounds")
    first = min((start[0] for start, _ in spans if start), default=0)
    last = max((start[1] + length[1] for start, length in spans if start and length), default=0)
    if (last - first) * len(starts) > TUNING.made_cells:
        raise UnsupportedError(f"a cumulative with such a condition over more than {TUNING.made_cells} times and tasks")
    use = Expression((*RUNS, ("arg", 3), ("mul", 2)))
    e.require(0, condition)
    for time in range(first, last):
        terms = [Term(use, (s, d, time, h)) for s, d, h in zip(starts, lengths, heights)]
        state_sum(e, terms, [1] * len(terms), condition)


# binPacking


def bin_packing(a: Arguments) -> None:
    e, items, sizes = a.emitter, a.scalars(), a.integers("sizes")
    same_length(items, sizes, "the variables and sizes of binPacking")
    if a.has("condition"):
        _by_condition(e, items, sizes, a.condition())
        return
    if a.has("loads"):
        loads = a.scalars("loads")
    elif a.has("limits"):
        limits = a.scalars("limits")
        if all(isinstance(one, int) for one in limits) and min(sizes, default=0) >= 0:
            e.add("turbo_bin_packing_capa", limits, 0, items, sizes)
            return
        loads = [e.target(Condition("le", one), span(sizes)) for one in limits]
    else:
        conditions = a.bind(a.listed("conditions"))
        if not all(isinstance(one, Condition) for one in conditions):
            raise ModelError("<conditions> of <binPacking> are to be conditions, such as (le,5)")
        loads = [e.target(one, span(sizes)) for one in conditions]
    e.add("turbo_bin_packing_load", loads, 0, items, sizes)


def span(sizes: list[int]) -> IntSet:
    """The bounds of the sum of any subset of the sizes."""
    return IntSet.interval(sum(min(size, 0) for size in sizes), sum(max(size, 0) for size in sizes))


def _by_condition(e: Emitter, items: Items, sizes: list[int], condition: Condition) -> None:
    """States that the load of each used bin satisfies the condition."""
    operator, operand = condition
    if operator in ("le", "lt") and isinstance(operand, int) and min(sizes, default=0) >= 0:
        e.add("turbo_bin_packing", operand - (operator == "lt"), items, sizes)
        return
    bins = IntSet.of_ranges(pair for item in items for pair in e.domain(item).ranges)
    if bins.size * max(len(items), 1) > TUNING.made_cells:
        raise UnsupportedError(f"a binPacking with such a condition over more than {TUNING.made_cells} bins and items")
    related = relation(condition)
    operands = [operand] if isinstance(operand, (int, Ref)) else [0]
    for number in bins:
        load = e.variable(span(sizes))
        here = [Term(_is_value(number), (item,)) for item in items]
        state_sum(e, list(here), list(sizes), Condition("eq", load))
        some = [part for i in range(len(items)) for part in (("arg", i + 2), ("int", number), ("eq", 2))]
        code = (*some, ("or", len(items)), ("arg", 0), *related, ("imp", 2))
        e.holds(Term(Expression(code), (load, *operands, *items)))


def _is_value(number: int) -> Expression:
    return Expression((("arg", 0), ("int", number), ("eq", 2)))


def relation(condition: Condition) -> tuple[tuple[str, Any], ...]:
    """The code to append to that of a value for "it satisfies the condition", whose operand is the second argument."""
    operator, operand = condition
    if not isinstance(operand, IntSet):
        return ("arg", 1), (operator, 2)
    ranges = [("interval", pair) for pair in operand.ranges]
    return *ranges, ("set", len(ranges)), (operator, 2)


CONSTRAINTS = {
    "noOverlap": (_no_overlap, "origins lengths", "zeroIgnored"),
    "cumulative": (cumulative, "origins lengths ends heights condition", ""),
    "binPacking": (bin_packing, "list sizes condition limits loads conditions", ""),
}
