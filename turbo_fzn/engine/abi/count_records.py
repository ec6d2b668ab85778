"""Counters of blocks besides `Statistics` of abi.py: records that host and kernels share."""

import ctypes

from turbo_fzn.engine.abi.records import i64, record


@record()
class DepthCounts(ctypes.Structure):
    """The counts at nodes with paths of certain lengths; in PROFILE builds only. Class c has the lengths of c bits."""

    nodes: i64
    length: i64  # the sum of the lengths
    iterations: i64
    propagations: i64


@record()
class LearnStatistics(ctypes.Structure):
    """The counters of a block that learns."""

    nogoods: i64  # clauses learned, and the sums of their sizes and LBDs
    literals: i64
    lbd: i64
    minimised: i64  # literals removed by minimisation
    backjumps: i64  # conflicts that went back more than one level
    reductions: i64  # of the clauses
    shortened: i64  # clauses, by vivification
    told: i64  # clauses sent to other blocks
    heard: i64  # clauses received from them
    explanations: i64  # of rows
    premises: i64
    cores: i64  # of the objective's terms (learn/analysis/cores.h)
    explanation_errors: i64  # counted by CHECK_EXPLANATIONS builds only
