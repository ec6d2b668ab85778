"""What is kept of branch and bound for its proof."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from turbo_fzn.bounds.prove.certificate import Certificate
from turbo_fzn.proof.divided import Nodes, Path, Sum
from turbo_fzn.proof.tuning import TUNING

N_NODES, TERM_BYTES = 200, 20


@pytest.mark.parametrize(("depth", "n_used"), [(3, 1), (400, 2), (30, 80), (10, 1000)])
def test_the_memory_of_nodes_is_limited(depth, n_used):
    """By what they count, whether paths are long, sums are, or nodes are many."""
    names = list(range(2 * n_used))
    path: Path = tuple((number, -number, number) for number in range(depth - 1))
    tracemalloc.start()
    try:
        nodes = Nodes()
        for number in range(N_NODES):
            child = (*path, (number, 1000 + number, 2000 + number))
            nodes.add((*path, (number, -number, 999 + number)))
            nodes.add(child)
            multipliers = np.repeat([number - 2**59, 0], n_used)
            nodes.prove(child, Sum.of(Certificate(2**30, multipliers, multipliers, 0, 0), names))
            path = (*path[1:], child[-1])
        size = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert size < TERM_BYTES * nodes.n_terms and not nodes.is_full
    nodes.n_terms += TUNING.relaxed_terms
    assert nodes.is_full
