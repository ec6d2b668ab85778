"""Symmetry breaking by lex-leader constraints (Crawford et al. 1996): keeps the least of symmetric solutions.

Let the variables have an order. In a class of solutions that symmetries map to each other, the lexicographically least
solution in this order is no greater than its image under any symmetry g: for each g,

    (x1, x2, ...) <= (x_g(1), x_g(2), ...).

So these constraints, for any set of symmetries and any number of the first variables, leave at least one solution of
each class, and one with the best objective. Variables that g fixes can be left out, and so can the second variable of
each swapped pair.

If there are only few symmetries they are not broken: a proof gains little, while neighbourhoods lose solutions that are
not the least of their class and would have led to better solutions.
"""

from __future__ import annotations

import logging
import time
from itertools import islice

import numpy as np

from turbo_fzn.base.domains import BOOLEAN, IntSet
from turbo_fzn.read.model import Model
from turbo_fzn.symmetry.automorphisms import Automorphisms, Swap
from turbo_fzn.symmetry.graph import Graph, graph_of
from turbo_fzn.symmetry.tuning import TUNING

log = logging.getLogger("turbo_fzn")


Order = tuple[list[str], list[str]]  # names of variables: the first list is lexicographically no greater


def leaders(model: Model) -> list[Order]:
    """Orders that at least one solution of each class of symmetric solutions satisfies, and an optimal solution."""
    start = time.monotonic()
    graph = graph_of(model)
    if graph is None:
        return []
    found = [_order_of(graph, model, one) for one in islice(Automorphisms(graph).swaps(), TUNING.most_symmetries)]
    log.info("symmetry: %.2f s, %d generators", time.monotonic() - start, len(found))
    return [order for order in found if order[0]] if len(found) >= TUNING.least_symmetries else []


def _order_of(graph: Graph, model: Model, swap: Swap) -> Order:
    """The lex-leader constraint of one symmetry."""
    first = graph.rank[swap.moved] < graph.rank[swap.images]
    order = np.argsort(graph.rank[swap.moved[first]])
    sides = (side[first][order].tolist() for side in swap)
    pairs = [(graph.names[one], graph.names[other]) for one, other in zip(*sides)]
    chosen = [pair for pair in pairs if _has_small_values(model, pair[0])][: TUNING.compared_pairs]
    return [one for one, _ in chosen], [other for _, other in chosen]


def _has_small_values(model: Model, name: str) -> bool:
    """Whether its bounds are within `compared_value`. Symmetries keep domains, so its images have the same bounds."""
    variable = model.variables[name]
    domain = BOOLEAN if variable.kind == "bool" else variable.domain
    return isinstance(domain, IntSet) and bool(domain) and max(-domain.lower, domain.upper) <= TUNING.compared_value
