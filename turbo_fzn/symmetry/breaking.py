"""Of solutions that are symmetric to each other, only the least: lex-leader constraints (Crawford et al. 1996).

Let the variables have an order. Among all solutions that symmetries take to each other, the one whose values in that
order are lexicographically least is no greater than what any symmetry g makes of it: for each g,

    (x1, x2, ...) <= (x_g(1), x_g(2), ...).

So these constraints, for as many symmetries as are known and as many of the first variables as one likes, leave at
least one solution of each class, and one with the best objective. A variable that g leaves alone says nothing, and
neither does the second one of a pair that it swaps.

Few symmetries are left alone: a proof gains little by them, while neighbourhoods lose what would have led to better
solutions that are not the least of their class.
"""

from __future__ import annotations

import logging
import time
from itertools import islice

import numpy as np

from turbo_fzn.domains import BOOLEAN, IntSet
from turbo_fzn.read.model import Model
from turbo_fzn.symmetry.automorphisms import Automorphisms, Swap
from turbo_fzn.symmetry.graph import Graph, graph_of

log = logging.getLogger("turbo_fzn")

MOST_PAIRS = 40  # of variables, for each symmetry
LARGEST = 2**28  # value of a variable that is compared: sums of a few are nowhere near the limits of a store
LEAST_SYMMETRIES, MOST_SYMMETRIES = 4, 100

Order = tuple[list[str], list[str]]  # names of variables: the first list is lexicographically no greater


def leaders(model: Model) -> list[Order]:
    """What at least one solution of each class of symmetric ones satisfies, and one that is optimal."""
    start = time.monotonic()
    graph = graph_of(model)
    if graph is None:
        return []
    found = [_order_of(graph, model, one) for one in islice(Automorphisms(graph).swaps(), MOST_SYMMETRIES)]
    log.info("symmetry: %.2f s, %d generators", time.monotonic() - start, len(found))
    return [order for order in found if order[0]] if len(found) >= LEAST_SYMMETRIES else []


def _order_of(graph: Graph, model: Model, swap: Swap) -> Order:
    """What the variables say of one symmetry."""
    first = graph.rank[swap.moved] < graph.rank[swap.images]
    order = np.argsort(graph.rank[swap.moved[first]])
    sides = (side[first][order].tolist() for side in swap)
    pairs = [(graph.names[one], graph.names[other]) for one, other in zip(*sides)]
    chosen = [pair for pair in pairs if _has_small_values(model, pair[0])][:MOST_PAIRS]
    return [one for one, _ in chosen], [other for _, other in chosen]


def _has_small_values(model: Model, name: str) -> bool:
    """Symmetries keep domains, so what is left out here is left out of all orders alike."""
    variable = model.variables[name]
    domain = BOOLEAN if variable.kind == "bool" else variable.domain
    return isinstance(domain, IntSet) and bool(domain) and max(-domain.lower, domain.upper) <= LARGEST
