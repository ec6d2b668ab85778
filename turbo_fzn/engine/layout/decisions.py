"""The sets of variables that a learner decides first: for each variable a bit for each set of abi.DecisionSet.

The ternary form gives a sum of many terms a variable for each of its nodes, and a disjunction a chain of maxima. A
decision on such a link decides a partial sum that the model does not name; some proofs need this, in others it delays
the decisions that matter. No set is best on every model (docs/measurements/learning.md), so learners take them in turn.
"""

from __future__ import annotations

import numpy as np

from turbo_fzn.engine.abi.abi import DecisionSet
from turbo_fzn.tnf.language import TNF, Op

TREES = (Op.ADD, Op.MIN, Op.MAX)  # the operators of trees; a tree has rows of one operator


def links(tnf: TNF) -> np.ndarray:
    """The inner links of sums and of chains of minima or maxima (bool [n]): variables defined by one row and used by
    one row of the same operator."""
    ternary = tnf.op != Op.ELEMENT
    operands = np.concatenate((tnf.y, tnf.z[ternary]))
    uses = np.bincount(operands, minlength=tnf.n_vars)
    definitions = np.bincount(tnf.x, minlength=tnf.n_vars)
    found = np.zeros(tnf.n_vars, bool)
    for op in TREES:
        rows = tnf.op == op
        defined = np.bincount(tnf.x[rows], minlength=tnf.n_vars) == 1
        used = np.bincount(np.concatenate((tnf.y[rows], tnf.z[rows])), minlength=tnf.n_vars) == 1
        found |= defined & used & (uses == 1) & (definitions == 1)
    if tnf.objective >= 0:
        found[tnf.objective] = False
    return found


def decision_sets(tnf: TNF, labelled: np.ndarray) -> np.ndarray:
    """The bits of each variable (uint8 [n]). `labelled` (int32) are the variables of the search annotation, or, without
    an annotation, the declared variables."""
    members = {
        DecisionSet.ALL: np.ones(tnf.n_vars, bool),
        DecisionSet.TRUTHS: (tnf.lower >= 0) & (tnf.upper <= 1),
        DecisionSet.UNLINKED: ~links(tnf),
        DecisionSet.LABELLED: np.isin(np.arange(tnf.n_vars), labelled),
    }
    bits = np.zeros(tnf.n_vars, np.uint8)
    for one, mask in members.items():
        bits |= mask.astype(np.uint8) << np.uint8(one)
    return bits
