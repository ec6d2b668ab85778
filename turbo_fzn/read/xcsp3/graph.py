"""circuit and flow: constraints on the nodes and arcs of a graph."""

from __future__ import annotations

from collections.abc import Callable

from turbo_fzn.base.errors import ModelError
from turbo_fzn.read.model import Expression, Ref
from turbo_fzn.read.xcsp3.arguments import Arguments
from turbo_fzn.read.xcsp3.counting import same_length, state_sum
from turbo_fzn.read.xcsp3.emitter import Condition
from turbo_fzn.read.xcsp3.expressions import Term

Items = list[Ref | int]


def circuit(a: Arguments) -> None:
    """States a tour through at least two nodes, or as many as the size; other nodes are their own successors."""
    e, items, first = a.emitter, a.scalars(), a.start("list")
    e.add("turbo_subcircuit", items, first)
    moved = [Term(Expression((("arg", 0), ("int", i), ("ne", 2))), (item,)) for i, item in enumerate(items, first)]
    sizes = [Condition("ge", 2), *([Condition("eq", a.scalar("size"))] if a.has("size") else [])]
    for size in sizes:
        state_sum(e, moved, [1] * len(items), size)


def flow(a: Arguments) -> None:
    """States that the outflow of each node minus its inflow is its balance; nodes are numbered from the least node on.

    With weights, the sum of the flows times their weights satisfies a condition.
    """
    e, flows, balances, arcs = a.emitter, a.scalars(), a.scalars("balance"), a.matrix("arcs")
    same_length(flows, arcs, "the list and the arcs of a flow")
    numbers = [node for arc in arcs for node in arc if isinstance(node, int)]
    if len(numbers) != 2 * len(arcs) or any(len(arc) != 2 for arc in arcs):
        raise ModelError("the arcs of a flow are to be pairs of integers")
    least = min(numbers, default=0)
    if max(numbers, default=0) - least >= len(balances):
        raise ModelError(f"the node {max(numbers)} of a flow has no balance")
    nodes: list[tuple[list[int], Items]] = [([], []) for _ in balances]
    for place, node in enumerate(numbers):  # sources and targets in turn
        signs, amounts = nodes[node - least]
        signs.append(-1 if place % 2 else 1)
        amounts.append(flows[place // 2])
    for (signs, amounts), balance in zip(nodes, balances):
        state_sum(e, amounts, signs, Condition("eq", balance))
    if a.has("weights"):
        weights = a.scalars("weights")
        same_length(flows, weights, "the list and the weights of a flow")
        state_sum(e, flows, weights, a.condition())


CONSTRAINTS: dict[str, tuple[Callable[[Arguments], None], str, str]] = {
    "circuit": (circuit, "list size", "startIndex"),
    "flow": (flow, "list balance arcs weights condition", ""),
}
