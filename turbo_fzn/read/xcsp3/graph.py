"""circuit."""

from __future__ import annotations

from turbo_fzn.read.model import Expression
from turbo_fzn.read.xcsp3.arguments import Arguments
from turbo_fzn.read.xcsp3.counting import state_sum
from turbo_fzn.read.xcsp3.emitter import Condition
from turbo_fzn.read.xcsp3.expressions import Term


def circuit(a: Arguments) -> None:
    """A tour through some of the nodes, at least two, or as many as the size says; the others lead to themselves."""
    e, items, first = a.emitter, a.scalars(), a.start("list")
    e.add("turbo_subcircuit", items, first)
    moved = [Term(Expression((("arg", 0), ("int", i), ("ne", 2))), (item,)) for i, item in enumerate(items, first)]
    sizes = [Condition("ge", 2), *([Condition("eq", a.scalar("size"))] if a.has("size") else [])]
    for size in sizes:
        state_sum(e, moved, [1] * len(items), size)


CONSTRAINTS = {"circuit": (circuit, "list size", "startIndex")}
