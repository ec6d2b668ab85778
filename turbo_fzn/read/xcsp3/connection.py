"""minimum, maximum, their positions, element and channel: constraints between a value and a list."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from turbo_fzn.base.domains import IntSet
from turbo_fzn.base.errors import ModelError, UnsupportedError
from turbo_fzn.read.model import Expression, Ref
from turbo_fzn.read.xcsp3.arguments import Arguments
from turbo_fzn.read.xcsp3.emitter import Condition, Emitter
from turbo_fzn.read.xcsp3.expressions import Term

Items = list[Ref | int]


def extreme(name: str) -> Callable[[Arguments], None]:
    def post(a: Arguments) -> None:
        items = a.scalars()
        if not items:
            raise ModelError(f"<{a.element.name}> of nothing")
        if not a.has("index"):
            a.emitter.add(f"array_int_{name}", a.emitter.target(a.condition(), a.emitter.hull(items)), items)
            return
        first, rank = a.start("list"), a.attribute("index", "rank", "any").strip()
        most = _place_of(a, name, items, a.scalar("index"), first, rank)
        if a.has("condition"):
            a.emitter.require(most, a.condition())

    return post


def _extreme_place(name: str) -> Callable[[Arguments], None]:
    """The function that states the position of an extreme element: any, the first, or the last extreme element."""

    def post(a: Arguments) -> None:
        e, items = a.emitter, a.scalars()
        first, rank = a.start("list"), a.attribute("list", "rank", "any").strip()
        if not items:
            raise ModelError(f"<{a.element.name}> of nothing")
        place = e.target(a.condition(), IntSet.interval(first, first + len(items) - 1))
        _place_of(a, name, items, place, first, rank)

    return post


def _place_of(a: Arguments, name: str, items: Items, place: Ref | int, first: int, rank: str) -> Ref:
    """States that an extreme element, or the first or last of them, is at the place; returns its value."""
    if rank not in ("any", "first", "last"):
        raise ModelError(f"<{a.element.name}> of rank {rank[:20]!r}")
    e = a.emitter
    most = e.variable(e.hull(items))
    e.add(f"array_int_{name}", most, items)
    e.add("turbo_element", items, first, place, most)
    for i, item in enumerate(items, first):
        if rank != "any":  # i is on the right side of the place, or is not extreme
            side = "ge" if rank == "first" else "le"
            code = (("int", i), ("arg", 0), (side, 2), ("arg", 1), ("arg", 2), ("ne", 2), ("or", 2))
            e.holds(Term(Expression(code), (place, item, most)))
    return most


# Element


def element(a: Arguments) -> None:
    """States that the element at an index satisfies a condition; without an index, that some element is the value."""
    e = a.emitter
    if not a.has("condition") and not a.has("value"):
        raise ModelError("<element> without <value> or <condition>")
    condition = a.condition() if a.has("condition") else Condition("eq", a.scalar("value"))
    if a.has("matrix"):
        _element_of_matrix(a, condition)
        return
    if a.attribute("index", "rank", "any").strip() != "any":
        raise UnsupportedError("an <element> with a rank is not read")
    items = a.scalars()
    value = e.target(condition, e.hull(items))
    if a.has("index"):
        e.add("turbo_element", items, a.start("list"), a.scalar("index"), value)
    else:
        e.add("turbo_member_int", items, value)


def _element_of_matrix(a: Arguments, condition: Condition) -> None:
    """States an element of a matrix, by the number of the cell, counted row by row."""
    e, rows, index = a.emitter, a.matrix(), a.scalars("index")
    if len(index) != 2 or not rows or not rows[0]:
        raise ModelError("an <element> of a matrix has two indices, and the matrix some cell")
    n, m = len(rows), len(rows[0])
    (i, first), (j, first_column) = zip(index, (a.start("matrix", "startRowIndex"), a.start("matrix", "startColIndex")))
    e.add("set_in", i, IntSet.interval(first, first + n - 1))
    e.add("set_in", j, IntSet.interval(first_column, first_column + m - 1))
    place = e.variable(IntSet.interval(0, n * m - 1))
    e.linear("eq", [m, 1, -1], [i, j, place], m * first + first_column)
    items = [cell for row in rows for cell in row]
    e.add("turbo_element", items, 0, place, e.target(condition, e.hull(items)))


# Channel


def channel(a: Arguments) -> None:
    e = a.emitter
    lists = a.variable_lists() if a.element.children else [a.scalars()]
    starts = [_start_of(child) for child in a.children("list")] or [0]
    if a.has("value"):
        for i, item in enumerate(lists[0], starts[0]):  # the variable at the value is 1, all others are 0
            here = Expression((("arg", 0), ("arg", 1), ("int", i), ("eq", 2), ("eq", 2)))
            e.holds(Term(here, (item, a.scalar("value"))))
        e.add("set_in", a.scalar("value"), IntSet.interval(starts[0], starts[0] + len(lists[0]) - 1))
    elif len(lists) == 1:
        e.add("turbo_inverse", lists[0], starts[0], lists[0], starts[0])
    elif len(lists) != 2:
        raise ModelError("<channel> has one or two lists")
    elif len(lists[0]) == len(lists[1]):
        e.add("turbo_inverse", lists[0], starts[0], lists[1], starts[1])
    else:
        _channel_into(e, lists, starts)


def _start_of(child: Any) -> int:
    text = child.attributes.get("startIndex", "0").strip()
    if not text.lstrip("-").isdecimal() or len(text) > 9:
        raise ModelError(f"startIndex={text[:20]!r} is no index")
    return int(text)


def _channel_into(e: Emitter, lists: list[Items], starts: list[int]) -> None:
    """States a channel between lists of different lengths: if element i of the shorter is j, element j of the longer is
    i."""
    if len(lists[0]) > len(lists[1]):
        lists, starts = lists[::-1], starts[::-1]
    for i, item in enumerate(lists[0], starts[0]):
        e.add("turbo_element", lists[1], starts[1], item, i)


CONSTRAINTS: dict[str, tuple[Callable[[Arguments], None], str, str]] = {
    "minimum": (extreme("minimum"), "list index condition", "startIndex rank"),
    "maximum": (extreme("maximum"), "list index condition", "startIndex rank"),
    "minimumArg": (_extreme_place("minimum"), "list condition", "startIndex rank"),
    "maximumArg": (_extreme_place("maximum"), "list condition", "startIndex rank"),
    "element": (element, "list matrix index value condition", "startIndex startRowIndex startColIndex rank"),
    "channel": (channel, "list value", "startIndex"),
}
