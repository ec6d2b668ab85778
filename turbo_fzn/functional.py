"""Which variables follow from others: when outputs determine everything, no two solutions print the same.

A row x = y op z gives x once y and z are known, and an addition any of its three variables from the two others. The
closure of what the rows give is computed in rounds over all rows at once, as many as the longest chain of definitions.
"""

from __future__ import annotations

import numpy as np

from turbo_fzn.tnf import TNF, Op


def determine_all(tnf: TNF, variables: np.ndarray) -> bool:
    """Whether values of `variables` (int array) leave at most one solution of the TNF."""
    known = tnf.lower == tnf.upper
    known[variables] = True
    x, y, z = tnf.x, tnf.y, np.where(tnf.op == Op.ELEMENT, tnf.y, tnf.z)
    is_sum = tnf.op == Op.ADD
    before = -1
    while before < (before := int(known.sum())):
        known[x[known[y] & known[z]]] = True
        known[y[is_sum & known[x] & known[z]]] = True
        known[z[is_sum & known[x] & known[y]]] = True
    return bool(known.all())
