"""The kernels' tunable constants, a table for each folder of kernels/; header.py prints its `tuning.h`.

They are compiled in, so that no run can try another value: to measure, edit one here and print the headers. The
annotation of an attribute says which type it has in C.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeVar

from turbo_fzn.engine.abi import abi
from turbo_fzn.tuning import Table, tunable

Int64 = int
UInt32 = int
Single = float
C_TYPES = {"int": "i32", "Int64": "i64", "UInt32": "u32", "float": "double", "Single": "float"}

WHOLE = abi.SHARE_UNIT
N = TypeVar("N", int, float)


def compiled(value: N, unit: str, trades: str) -> N:
    """An attribute of a table, as `tunable` makes it."""
    return tunable(value, unit, trades, kept="compiled in")


class Core(Table):
    CREEP_ROUNDS: int = compiled(
        500,
        "rounds of a fixpoint before the first look for cycles of differences; then twice as many",
        "time against cycles found sooner",
    )
    ROUNDS_A_ROW: int = compiled(1, "more of these rounds for each row", "as CREEP_ROUNDS")
    CYCLE_PASSES: int = compiled(16, "most passes over all rows in a look", "longer cycles against time")
    CYCLE_TERMS: int = compiled(
        4, "most terms without a value, in a row that differences are made of", "more differences against time"
    )
    STOP_POLL_ROUNDS: int = compiled(
        16, "rounds between looks at the host's stop flag", "fewer looks against a late stop"
    )
    LONG_ROUND: int = compiled(
        32,
        "runs of propagators for each lane, in a round before which the flag is read in any case",
        "fewer looks against a late stop",
    )
    LOCAL_PASSES: int = compiled(
        64, "most passes of a warp over its rows in a round", "fewer rounds against a late stop"
    )


class Floats(Table):
    SMALL_STEP: float = compiled(
        2**-4, "of an interval, the least part that a row of arithmetic may cut off", "time against a true fixpoint"
    )
    ARITHMETIC_LIMIT: float = compiled(
        2.0**40,
        "up to which the middle of an interval is that of its numbers, beyond that of their codes",
        "large numbers against usual ones",
    )
    USUAL_LIMIT: float = compiled(
        2.0**20, "where an interval that reaches beyond ARITHMETIC_LIMIT is split first", "large numbers against small"
    )


class Free(Table):
    # Which variables a neighbourhood sets free.
    STEPS_A_VARIABLE: int = compiled(
        4, "steps of walks for each variable to be set free", "large neighbourhoods against small"
    )
    HUB_DEGREE: int = compiled(
        64,
        "rows of a variable above which a walk may turn back for that",
        "walks that go through against walks that stay near",
    )
    RETURN_ODDS: int = compiled(8, "steps, one of which goes back to the beginning", "far variables against near ones")
    DEEPEST_DESCENT: int = compiled(64, "most rows that a descent draws", "the variables that decide against time")
    STEPS_A_DESCENT: int = compiled(8, "steps of a walk after each descent", "as RETURN_ODDS")
    SHARE_LEAST: int = compiled(
        WHOLE // 50, "least share of variables that stay fixed (of SHARE_UNIT)", "small neighbourhoods against large"
    )
    SHARE_MOST: int = compiled(WHOLE - WHOLE // 100, "the greatest such share", "as SHARE_LEAST")
    SHARE_STEP: int = compiled(
        WHOLE // 50,
        "change of the learned share by one neighbourhood, divided by the number of blocks",
        "fast learning against a steady share",
    )
    SHARE_SPREAD: int = compiled(
        WHOLE // 4, "greatest distance of a neighbourhood from the learned share", "variety against the best size"
    )

    # How long a neighbourhood is searched, and for what.
    FAILURE_LIMIT: int = compiled(
        100,
        "failures in a neighbourhood of the smallest size; each next size has twice as many",
        "thoroughness against more neighbourhoods",
    )
    WORK_UNIT: int = compiled(
        64, "runs of propagators, besides one for each row, in a neighbourhood of the smallest size", "as FAILURE_LIMIT"
    )
    MOST_DOUBLINGS: int = compiled(10, "sizes above the smallest", "as FAILURE_LIMIT")
    FAILURES_SURE: int = compiled(
        10,
        "failures for which the limit of work does not count",
        "thoroughness where propagation is slow against more neighbourhoods",
    )
    AMBITION: int = compiled(
        16,
        "parts of the possible gain, one of which is the most that a neighbourhood must reach",
        "no neighbourhoods in vain against large steps",
    )
    PROBE_DEPTHS: int = compiled(
        12, "halvings of the gap at which a proof from below tries a value", "small steps against large"
    )
    FLIP_SIZES: int = compiled(
        8, "powers of two from which the rate of flipped branchings is drawn, of 1024", "variety against nearness"
    )
    RESTART_UNIT: int = compiled(400, "failures of the first restart", "depth against variety")
    RESTART_WORK: int = compiled(
        1024, "runs of each row in the first restart, where there are few blocks", "as RESTART_UNIT"
    )
    READ_TRIES: int = compiled(
        8, "attempts to read a solution that others may be writing", "no mixtures of solutions against time"
    )

    # Islands: solutions that are kept apart from the record.
    DISTANCES: int = compiled(
        5,
        "distances of islands from the record: 1/32 of the gap to the bound, 1/128, 1/512, ...",
        "quality against variety",
    )
    LIVELY: int = compiled(
        8,
        "parts of the run; for one after an improvement the record counts as improving",
        "work on islands against work on the record",
    )
    SETTLE_TRIES: int = compiled(
        64,
        "neighbourhoods before another block tries to settle an island",
        "work on the record against work on islands",
    )
    SETTLE_FLIPS: int = compiled(
        256, "of 1024 branchings, how many are flipped to settle an island", "variety against quality"
    )

    # The shares of the methods.
    EVEN_SHARE: Single = compiled(0.3, "of the time, spread evenly", "trying all methods against using the best")
    PROBE_WEIGHT: Single = compiled(0.25, "weight of proofs from below", "rare proofs against solutions")
    FIRST_REPAIR_WEIGHT: Single = compiled(2, "weight of walks before a solution is known", "walks against restarts")
    REPAIR_WEIGHT: Single = compiled(0.5, "and afterwards", "walks against neighbourhoods")
    PRIOR_NS: int = compiled(
        20_000_000, "ns of a block that are added to the time of each method", "even shares against fast learning"
    )
    PRIOR_TRY_NS: int = compiled(1_000_000, "expected ns of a first try", "as PRIOR_NS")
    RECENT_NS: int = compiled(
        500_000_000, "ns of a block after which the recent figures are halved", "steady shares against fast learning"
    )


class Hybrid(Table):
    LOOKS_A_STOP: UInt32 = compiled(
        32, "looks for a message between two at the host's stop flag", "a fast answer against a late stop"
    )
    LOOKS_A_PAUSE: UInt32 = compiled(
        4096, "looks without a message before a block pauses between them", "a fast answer against load"
    )
    EAGER_LOOKS: int = compiled(
        64, "looks of a thread for its answer before it yields the processor", "a fast answer against load"
    )


class Learn(Table):
    # Clauses: which are kept, made shorter, exported.
    REDUCTION_STEP: int = compiled(
        300, "clauses that each reduction lets the store grow by", "stronger propagation against faster"
    )
    KEPT_LBD: int = compiled(2, "LBD up to which a clause is kept, unless memory is full", "as REDUCTION_STEP")
    KEPT_WHILE_USED: int = compiled(
        6, "LBD up to which a clause is kept that was a reason since the last reduction", "as REDUCTION_STEP"
    )
    MOST_FULL_RESTARTS: int = compiled(
        3, "restarts in succession because memory is full, before the learner gives up", "patience against time"
    )
    VIVIFIED_SHARE: int = compiled(
        10, "units of work, one of which is for vivification", "more conflicts against shorter clauses"
    )
    MOST_VIVIFIED: int = compiled(64, "most literals of a clause that is vivified", "shorter clauses against time")
    DEEPEST_MINIMISATION: int = compiled(
        30, "premises of premises that minimisation follows", "shorter clauses against time"
    )
    TOLD_SIZE: int = compiled(
        3, "literals up to which a clause is exported", "what others learn against time to import it"
    )
    TOLD_LBD: int = compiled(2, "LBD up to which a longer one is", "as TOLD_SIZE")

    # Propagation: its polls, and bounds that creep.
    POLL_EVERY: int = compiled(
        1024, "rows or fixpoints between looks at the host's stop flag", "fewer looks against a late stop"
    )
    CREEP_ENTRIES: int = compiled(
        2000,
        "entries of the trail, besides one for each side, before propagation is suspended",
        "a true fixpoint against time where bounds creep",
    )
    CREEP_WARNING: int = compiled(
        256,
        "parts of these; one of them, of sides that move again, makes the costliest rows run first",
        "large steps where bounds creep against cheap rows first",
    )
    CREEP_DOMAIN: int = compiled(8, "upper less lower bound that a creeping variable must exceed", "as CREEP_ENTRIES")
    CREEP_LOOK_BACK: int = compiled(
        200, "entries among which the creeping side is looked for", "the right side against time"
    )
    ROOT_PATIENCE: int = compiled(20, "times as many entries at level 0, which is propagated once", "as CREEP_ENTRIES")
    LONGEST_DELAY: int = compiled(
        63,
        "most runs of a costly row that are left out after it has found nothing: 1, 3, 7, ...",
        "time against propagation",
    )
    SHORT_ROW: int = compiled(64, "most arguments of an all_different that never waits", "propagation against time")
    MOST_STEPS: int = compiled(
        8,
        "steps of its own length in which a task passes a piece of the profile; where it takes more, it passes at once",
        "short explanations against time",
    )
    FEW_MOVED: int = compiled(8, "tasks whose sure parts changed, up to which events are sorted by insertion", "time")
    BISECTIONS: int = compiled(
        12, "trials for the weakest premise of a ternary row", "more general clauses against time"
    )
    CHECK_PASSES: int = compiled(
        100, "passes of the check of explanations, which only tests compile", "a sure verdict against time"
    )
    SHAVED_AT_ONCE: int = compiled(64, "values that a step of it tries to remove", "as CHECK_PASSES")

    # Work: the clock of learners, the same on each machine.
    RUN_WORK: int = compiled(
        40, "units: a run of a row with the clauses that it wakes", "shares of the parts of the search"
    )
    NODE_WORK: int = compiled(500, "units: a node", "as RUN_WORK")
    CONFLICT_WORK: int = compiled(20_000, "units: a conflict", "as RUN_WORK")
    TERMS_A_RUN: int = compiled(8, "terms of a linear row that cost a run", "as RUN_WORK")
    ARGUMENTS_A_RUN: int = compiled(2, "arguments of a wide row that cost a run", "as RUN_WORK")
    PAIRS_A_RUN: int = compiled(64, "pairs of arguments that do", "as RUN_WORK")

    # Restarts and activities.
    LUBY_UNIT: int = compiled(100, "conflicts of the first restart", "depth against variety")
    GLUCOSE_LEAST: int = compiled(50, "least conflicts between restarts by LBD", "as LUBY_UNIT")
    GLUCOSE_EXCESS: float = compiled(1.2, "times the usual LBD that the recent one must exceed", "as LUBY_UNIT")
    RECENT_SHARE: float = compiled(1 / 32, "of the recent LBD, the last clause", "variety against depth")
    USUAL_SHARE: float = compiled(1 / 8192, "of the usual LBD, the last clause", "as LUBY_UNIT")
    PROBE_EVERY: int = compiled(
        3, "runs of a prover, one of which tries a bound of the objective", "clauses against bounds"
    )
    WISH_EVERY: int = compiled(4, "runs of a finder, one of which begins with a wish", "variety against good values")
    TURN_CONFLICTS: int = compiled(
        500,
        "conflicts of each of a soloist's first turns; each next round of turns has as many more",
        "depth against variety",
    )
    FIRST_FADING: float = compiled(
        0.05, "of the activities, lost with a conflict at first", "recent conflicts against all"
    )
    LAST_FADING: float = compiled(0.01, "and in the end", "as FIRST_FADING")
    FADING_CONFLICTS: float = compiled(50_000, "conflicts between the two", "as FIRST_FADING")

    # Cores of the objective.
    TRIAL_CONFLICTS: int = compiled(
        30, "conflicts to refute a core without one of its literals", "smaller cores against more"
    )
    STRATUM_CONFLICTS: int = compiled(
        100, "conflicts without a core, after which literals of less weight are assumed", "heavy cores against more"
    )
    PIECES_A_COUNTER: int = compiled(
        32,
        "pieces of cost there is room for, for each counter, besides one for each term and counter",
        "higher bounds against memory",
    )
    MOST_COUNTERS: int = compiled(1000, "counters of cores", "more cores against memory")
    LITERALS_A_COUNTER: int = compiled(64, "literals of one, in the mean", "as MOST_COUNTERS")
    MOST_COUNTED: int = compiled(1024, "literals of one, at most", "as MOST_COUNTERS")


class Repair(Table):
    TASK_WORK: Int64 = compiled(
        2**18, "readers that are visited in a short task", "one long walk against other methods"
    )
    MOST_TASK_DOUBLINGS: int = compiled(6, "sizes of tasks above the smallest", "as TASK_WORK")
    STALE_WORK: Int64 = compiled(
        2**18, "samples without a gain after which a walk begins anew", "depth against variety"
    )
    STEPS_A_LOOK: int = compiled(64, "steps between looks at the news", "fewer looks against an old objective")
    LONGEST_REST: int = compiled(
        10, "more steps in which a moved variable rests, fewer than this", "variety against descent"
    )
    FRESH_VALUES: int = compiled(16, "moves, one of which takes a random value", "descent against variety")
    EASING: int = compiled(
        128, "steps without a move, one of which lowers the weights of rows", "old weights against new"
    )
    DEEPEST_WISH: int = compiled(100, "definitions that a wish is handed down", "wishes that come true against time")
    TERM_TRIES: int = compiled(12, "most draws of a term of a sum for a wish", "as DEEPEST_WISH")
    INDEX_TRIES: int = compiled(64, "indices of an element that it compares", "as DEEPEST_WISH")


class Search(Table):
    TRIES_A_VARIABLE: int = compiled(
        20, "neighbourhoods in vain for each variable, before an island is given up", "patience against variety"
    )
    RUN_NS: int = compiled(
        50,
        "ns that a run of a propagator counts for, where one block must act alike on each machine",
        "shares of methods against each other",
    )
    NODE_NS: int = compiled(1000, "ns that a node counts for", "as RUN_NS")
    BLOCKS_A_RESERVE: int = compiled(
        16, "blocks for which one subproblem is kept in reserve", "large subproblems against no waiting"
    )
    OPEN_LEVELS: int = compiled(
        2, "open levels from which a subproblem is worth being divided", "large subproblems against no waiting"
    )
    SMALL_NODES: int = compiled(16, "nodes after which it is in any case", "as OPEN_LEVELS")
    COUNT_NODES: int = compiled(
        64, "nodes between two writings of the counts that the host reads", "time against old figures"
    )
    RANDOM_SIZE: int = compiled(
        65_536, "values of a domain up to which a random value is tried", "variety against values that mean something"
    )


class Constant(NamedTuple):
    """A constant as C defines it: type, name, value as text, and what it counts."""

    type: str
    name: str
    value: str
    unit: str


TABLES: dict[str, Core | Floats | Free | Hybrid | Learn | Repair | Search] = {
    "core": Core(),
    "floats": Floats(),
    "free": Free(),
    "hybrid": Hybrid(),
    "learn": Learn(),
    "repair": Repair(),
    "search": Search(),
}  # by the folder of kernels/


def constants(folder: str) -> Iterator[Constant]:
    """The constants of a folder of kernels/, in the order of its table."""
    table = type(TABLES[folder])
    for name, row in table.rows.items():
        kind, value = C_TYPES[table.__annotations__[name]], row.value
        text = {"float": f"{float(value)}f", "double": repr(float(value))}.get(kind, str(value))
        yield Constant(kind, name, text, row.unit)
