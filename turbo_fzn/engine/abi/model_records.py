"""The records of the model that host and kernels share: rows, watch lists, strategies. A part of abi.py."""

import ctypes

from turbo_fzn.engine.abi.records import CACHE_LINE, i32, i64, record


@record(alignment=16)
class Row(ctypes.Structure):
    """A propagator x = y op z; 16 bytes, so that a lane loads it at once."""

    op: i32
    x: i32
    y: i32
    z: i32


@record(alignment=16)
class Watch(ctypes.Structure):
    """The rows to wake when a bound of a variable changes: watchers[start, both) for its lower bound only, [both,
    upper) for either, [upper, end) for its upper bound only."""

    start: i32
    both: i32
    upper: i32
    end: i32


@record(alignment=16)
class Strategy(ctypes.Structure):
    """A labelling strategy. From `start` on, `strategy_vars` has `count` variables to label, then as many whose bounds
    the variable choice compares (measured), then, for VAR_MAX_REGRET, count + 1 places in `tables`: from place i to
    place i + 1 are the gaps in the domain of measured variable i, in order, each as the last value before it and the
    first one behind it. For VAR_ROW come a place for each variable that is the first member of its row, the end of the
    row, and as many places for how many members of the row must be 1; both have 0 for other members."""

    var_choice: i32
    value_choice: i32
    start: i32
    count: i32


@record(alignment=16)
class Linear(ctypes.Structure):
    """A linear row (tnf/linear_rows.py) with the terms in terms[start, end). `truth` is a variable, or -1 in a
    LINEAR_RANGE and a LINEAR_CLAUSE. A missing end of the range is ±INFINITE_BOUND."""

    low: i64
    high: i64
    start: i32
    end: i32
    truth: i32
    kind: i32


@record(alignment=8)
class Term(ctypes.Structure):
    """`factor`, a positive number, times `side`: the side of the variable that grows with the sum."""

    side: i32
    factor: i32


@record(alignment=8)
class Stated(ctypes.Structure):
    """A variable of the neighbourhood that the model states, and the probability with which it is fixed, in
    SHARE_UNITs."""

    var: i32
    share: i32


@record(alignment=16)
class Definition(ctypes.Structure):
    """A row that defines a variable for walks (engine/layout/repair.py). `sign`: of the variable's term, where the row
    is an equation, else 0."""

    row: i32
    var: i32
    sign: i32
    spare: i32  # 16 bytes, so that a lane loads it at once


@record(alignment=16)
class Reach(ctypes.Structure):
    """What depends on a variable in a walk: readers[start, rows) are the sums that it is a term of, [rows, end) other
    rows. `definer`: the row that defines it, or -1."""

    start: i32
    rows: i32
    end: i32
    definer: i32


@record(alignment=16)
class Reader(ctypes.Structure):
    """A row that depends on a variable. `factor` of the variable in it, where it is a sum that the variable is a term
    of, else 0; `place` of the row among the definitions, or -1 where it is a constraint."""

    row: i32
    factor: i32
    place: i32
    spare: i32  # 16 bytes, so that a lane loads it at once


@record()
class Wide(ctypes.Structure):
    """A wide row (tnf/wide.py): the variables of its head and groups are wide_arguments[start, end)."""

    kind: i32
    start: i32
    end: i32


@record(alignment=CACHE_LINE)
class Postbox(ctypes.Structure):
    """Linear rows that the host posts to running learners (posted.h): followed by POSTED_ROWS of type Posted."""

    version: i64  # grows with each row


@record(alignment=CACHE_LINE)
class Posted(ctypes.Structure):
    """A row sum <= high; followed by POSTED_TERMS of type Term, of which `n_terms` are used."""

    sequence: i64  # odd while it is written
    high: i64
    used: i64  # explanations by the row, in all learners
    n_terms: i32


@record()
class LearnerSettings(ctypes.Structure):
    """How a block searches if it learns."""

    sets: i32  # bit s is set if it decides by DecisionSet s, in turn
    is_fused: i32  # whether it has fused rows (tnf/fuse.py)
