"""allDifferent, allEqual, ordered, lex, precedence: constraints that compare the elements of lists."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, pairwise

from turbo_fzn.base.domains import IntSet
from turbo_fzn.base.errors import ModelError
from turbo_fzn.read.model import Expression, Ref
from turbo_fzn.read.xcsp3.arguments import Arguments
from turbo_fzn.read.xcsp3.emitter import Emitter
from turbo_fzn.read.xcsp3.expressions import Term

OPERATORS = ("lt", "le", "ge", "gt")
Items = list[Ref | int]


def _operator_of(a: Arguments) -> str:
    child = a.child("operator")
    text = child.text if child is not None else a.element.attributes.get("case", "").strip()
    if text not in OPERATORS:
        raise ModelError(f"the operator `{text[:20]}` of <{a.element.name}>: one of lt, le, ge, gt is expected")
    return text


def sides(matrix: list[Items]) -> list[Items]:
    """The rows and the columns."""
    return [*matrix, *map(list, zip(*matrix))]


# Equal or different


def all_different(a: Arguments) -> None:
    e = a.emitter
    lists = a.variable_lists()
    if len(lists) > 1:
        _lists_differ(a, lists)
        return
    left_out = IntSet.of_values(a.integers("except")) if a.has("except") else None
    for items in sides(a.matrix()) if a.has("matrix") else [a.scalars()]:
        if left_out is None:
            e.add("turbo_all_different", items)
        else:
            e.add("turbo_all_different_except", items, left_out)


def _lists_differ(a: Arguments, lists: list[Items]) -> None:
    """States that no two lists are equal, except lists that are one of the excepted tuples."""
    width = len(lists[0])
    if any(len(items) != width for items in lists) or width == 0:
        raise ModelError("lists of different lengths, or empty, in <allDifferent>")
    left_out = a.scope.tuples(a.needed("except").text) if a.has("except") else []
    if any(len(row) != width or not all(isinstance(v, int) for v in row) for row in left_out):
        raise ModelError("<except> of <allDifferent> is to be tuples of integers as long as the lists")
    code = [("ne", 2)]
    body = [part for i in range(width) for part in (("arg", i), ("arg", width + i), *code)]
    for row in left_out:
        body += [part for i, v in enumerate(row) for part in (("arg", i), ("int", v), ("eq", 2))]
        body.append(("and", width))
    differ = Expression((*body, ("or", width + len(left_out))))
    for one, other in combinations(lists, 2):
        a.emitter.holds(Term(differ, (*one, *other)))


def all_equal(a: Arguments) -> None:
    e, lists = a.emitter, a.variable_lists()
    if len(lists) > 1:
        if len(set(map(len, lists))) > 1:
            raise ModelError("lists of different lengths in <allEqual>")
        for items in zip(*lists):
            e.add("turbo_all_equal", list(items))
    elif not a.has("except"):
        e.add("turbo_all_equal", a.scalars())
    else:
        _equal_but_for(e, a.scalars(), a.integers("except"))


def _equal_but_for(e: Emitter, items: Items, left_out: list[int]) -> None:
    """States that any two items are equal, or one of them has an excepted value."""
    members = [("int", v) for v in left_out] + [("set", len(left_out)), ("in", 2)]
    code = (("arg", 0), ("arg", 1), ("eq", 2), ("arg", 0), *members, ("arg", 1), *members, ("or", 3))
    for one, other in combinations(items, 2):
        e.holds(Term(Expression(code), (one, other)))


# Orders


def ordered(a: Arguments) -> None:
    """States that each element, plus its length if there are lengths, is in the relation with the next element."""
    items, operator = a.scalars(), _operator_of(a)
    lengths: Items = a.scalars("lengths") if a.has("lengths") else [0] * len(items)
    if len(lengths) < len(items) - 1:
        raise ModelError(f"{len(lengths)} lengths for {len(items)} variables in <ordered>")
    for (x, y), length in zip(pairwise(items), lengths):
        if isinstance(length, int):
            a.emitter.linear(operator, [1, -1], [x, y], -length)
        else:
            a.emitter.linear(operator, [1, 1, -1], [x, length, y], 0)


def lexicographic(a: Arguments) -> None:
    operator = _operator_of(a)
    if a.has("matrix"):
        rows = a.matrix()
        chains = [rows, [list(column) for column in zip(*rows)]]
    else:
        chains = [a.variable_lists()]
    for chain in chains:
        for one, other in pairwise(chain):
            if len(one) != len(other):
                raise ModelError("lists of different lengths in <lex>")
            if operator in ("ge", "gt"):
                one, other = other, one
            a.emitter.add("turbo_lex_less_int" if operator in ("lt", "gt") else "turbo_lex_lesseq_int", one, other)


def precedence(a: Arguments) -> None:
    """States that each value occurs only after its predecessor; the default is all values of the variables."""
    e, items = a.emitter, a.scalars()
    if a.has("values"):
        values = a.integers("values")
    else:
        domains = [e.domain(item) for item in items]
        union = IntSet.of_ranges(pair for domain in domains for pair in domain.ranges)
        if union.size > 10**5:
            raise ModelError("<precedence> without values over domains of more than 100,000")
        values = list(union)
    e.add("turbo_value_precede_chain", values, items)
    if a.flag("values", "covered", False):
        for value in values:
            e.add("turbo_member_int", items, value)


CONSTRAINTS: dict[str, tuple[Callable[[Arguments], None], str, str]] = {
    "allDifferent": (all_different, "list matrix except", ""),
    "allEqual": (all_equal, "list except", ""),
    "ordered": (ordered, "list lengths operator", "case"),
    "lex": (lexicographic, "list matrix operator", "case"),
    "precedence": (precedence, "list values", "covered"),
}
