"""What blocks count beside `Statistics` of abi.py: records that host and kernels share, printed with those."""

import ctypes

from turbo_fzn.engine.abi.records import i64, record


@record()
class DepthCounts(ctypes.Structure):
    """What was counted where a path from the root has a certain length; counted by PROFILE builds only. Class c has the
    lengths of c bits."""

    nodes: i64
    length: i64  # the sum of the lengths
    iterations: i64
    propagations: i64


@record()
class LearnStatistics(ctypes.Structure):
    """What a block that learns has counted."""

    nogoods: i64  # clauses learned, and the sums of their sizes and LBDs
    literals: i64
    lbd: i64
    minimised: i64  # literals that minimisation left out
    backjumps: i64  # conflicts that went back more than a level
    reductions: i64  # of the clauses
    told: i64  # clauses given to other blocks
    heard: i64  # and taken from them
    explanations: i64  # of rows
    premises: i64
    explanation_errors: i64  # counted by CHECK_EXPLANATIONS builds only
