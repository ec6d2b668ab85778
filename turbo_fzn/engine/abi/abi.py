"""The interface of host and kernels: constants, enums, structs. The kernels' headers are printed from this file.

`python -m turbo_fzn.engine.abi.header --write` prints kernels/core/abi.h, with the names, types and comments of this
file (records.py), and abi_check.h, by which every build asserts the offset of each field. A library that was compiled
for another interface is refused (agreement.py, library.py). A record with bounds, `bound_t`, has a ctypes structure for
each width, such as `Level.of(64)`.
"""

import ctypes
from enum import IntEnum
from typing import Annotated, NamedTuple

from turbo_fzn.base.domains import INFINITY
from turbo_fzn.engine.abi import hybrid_records as hybrid_records  # records that are printed, too
from turbo_fzn.engine.abi.count_records import DepthCounts as DepthCounts
from turbo_fzn.engine.abi.count_records import LearnStatistics as LearnStatistics
from turbo_fzn.engine.abi.log_records import HintKind, LogKind, TrimFault  # likewise
from turbo_fzn.engine.abi.model_records import Strategy  # likewise: all records of the model
from turbo_fzn.engine.abi.records import CACHE_LINE, OWN_LINE, Times, i32, i64, pointer, record
from turbo_fzn.engine.abi.search_records import Decision as Decision
from turbo_fzn.engine.abi.search_records import Implied  # likewise
from turbo_fzn.engine.abi.search_records import Level as Level
from turbo_fzn.engine.abi.search_records import Probes as Probes
from turbo_fzn.engine.abi.search_records import TrailEntry as TrailEntry
from turbo_fzn.engine.abi.trace_records import TraceStatus  # likewise
from turbo_fzn.tnf.language import Op, ValueChoice, VarChoice
from turbo_fzn.tnf.linear_rows import LinearKind
from turbo_fzn.tnf.wide import WideKind

INFINITE_BOUND = INFINITY  # "no bound", in 64-bit stores only: an upper one; negated, a lower
NO_INCUMBENT = 2**63 - 1  # in place of an objective value: nothing was found so far
FREE_STRATEGY = 0  # the strategy of restarts and neighbourhoods
WARM_START = 1  # that of the warm start
FIRST_ANNOTATED = 2  # the first one of the model
SHARE_UNIT = 65536  # the whole, of a share of variables
N_EXTENTS = 2  # of neighbourhoods: with and without whole arrays of variables set free
N_SIZES = 4  # of neighbourhoods: how long they may be searched
N_DEPTHS = 25  # classes of depths
STATE_BYTES = 544  # room for a block's state in the static shared memory of the GPU's kernel
EXCHANGE_SLOTS = 512  # of a learner's ring: how many of its clauses the others can still read
EXCHANGE_LITERALS = 8  # of a clause in it, at most
POSTED_ROWS = 32  # linear rows that the host posts to learners: bits of a word
POSTED_TERMS = 512  # of such a row, at most
HOLE_BITS = 30  # of a word of holes, each for a value; so many that a word is no negative number
MOST_HOLE_VALUES = 256  # of a variable with holes
CONSTANTS = (
    "INFINITE_BOUND", "NO_INCUMBENT", "FREE_STRATEGY", "WARM_START", "FIRST_ANNOTATED", "SHARE_UNIT", "N_EXTENTS",
    "N_SIZES", "N_METHODS", "N_ACTIVITIES", "N_DECISION_SETS", "FIRST_RESTART", "FIRST_LEARNER", "N_DEPTHS",
    "STATE_BYTES", "EXCHANGE_SLOTS", "EXCHANGE_LITERALS", "POSTED_ROWS", "POSTED_TERMS",
    "HOLE_BITS", "MOST_HOLE_VALUES")  # fmt: skip


class OwnValueChoice(IntEnum):
    """The value choices that MiniZinc does not have."""

    PHASE = 11  # as ValueOrder.mode says
    HINT = 12  # the value of the warm start


class Method(IntEnum):
    """How a block searches: the complete tree search, the neighbourhoods of an incumbent, restarts from the root, or
    learning from conflicts, each time to the end of the run."""

    TREE = 0
    RANDOM = 1
    WINDOW = 2
    GRAPH = 3
    OBJECTIVE = 4
    STATED = 5
    REPAIR = 6
    WEIGHTED = 7
    ANNOTATED = 8
    PROBE = 9
    PROVER = 10
    FINDER = 11
    FOLLOWER = 12
    SOLOIST = 13
    CORES = 14


class DecisionSet(IntEnum):
    """The variables that a learner decides before all others (decisions.py)."""

    ALL = 0
    TRUTHS = 1  # those in 0..1
    UNLINKED = 2  # all but the inner links of sums and of minima and maxima
    LABELLED = 3  # those of the search annotation, or that the model declares


class Activity(IntEnum):
    """The activities of a block, whose times PROFILE builds measure."""

    FIXPOINT = 0
    CHOICE = 1
    BACKTRACK = 2
    SOLUTION = 3
    DIVE = 4
    WAIT = 5


class Enumeration(NamedTuple):
    """An enum of abi.h: its name, the prefix of its values' names, and the Python enums that it is made of."""

    name: str
    prefix: str
    sources: tuple[type[IntEnum], ...]

    def values(self) -> list[tuple[str, int]]:
        return [(self.prefix + value.name, value.value) for source in self.sources for value in source]


ENUMERATIONS = (
    Enumeration("Operator", "OP_", (Op,)),
    Enumeration("LinearKind", "LINEAR_", (LinearKind,)),
    Enumeration("WideKind", "WIDE_", (WideKind,)),
    Enumeration("VarChoice", "VAR_", (VarChoice,)),
    Enumeration("ValueChoice", "VALUE_", (ValueChoice, OwnValueChoice)),
    Enumeration("Method", "METHOD_", (Method,)),
    Enumeration("DecisionSet", "DECIDE_", (DecisionSet,)),
    Enumeration("Activity", "ACTIVITY_", (Activity,)),
    Enumeration("TraceStatus", "TRACE_", (TraceStatus,)),
    Enumeration("LogKind", "LOG_", (LogKind,)),
    Enumeration("HintKind", "HINT_", (HintKind,)),
    Enumeration("TrimFault", "TRIM_", (TrimFault,)),
    Enumeration("Implied", "IMPLIES_", (Implied,)),
)
N_METHODS = len(Method)
FIRST_RESTART = Method.WEIGHTED.value  # the method from which on they are restarts
FIRST_LEARNER = Method.PROVER.value  # and from which on they learn from conflicts
N_ACTIVITIES = len(Activity)
N_DECISION_SETS = len(DecisionSet)
METHODS = tuple(method.name.lower() for method in Method)
LEARNERS = METHODS[FIRST_LEARNER:]  # the roles of blocks that learn from conflicts
DECISION_SETS = tuple(one.name.lower() for one in DecisionSet)
ACTIVITIES = tuple(activity.name.lower() for activity in Activity)


@record(alignment=CACHE_LINE)
class Common(ctypes.Structure):
    """Words shared by all blocks. The host writes `stop`, `consumed` and `host_*` while the kernel is running. Every
    node reads the first line; nodes of the tree search also read how full the pool is."""

    best: i64  # least value of sense * objective found so far
    stop: i32  # set by the host: leave at once
    consumed: i64  # solutions that the host has taken out of the ring
    ring_head: i64  # solutions put into the ring
    incomplete: i32  # a part was left unsearched (a capacity, an overflow): no proof of completeness
    bound: i64  # no solution has a smaller sense * objective
    host_bound: i64  # a bound like `bound` that only the host writes, at any time
    host_best: i64  # of a solution that was found elsewhere; `best` follows it. Only the host writes it
    improved_ns: i64  # when `best` was last improved, by now_ns()
    proved_by: i32  # the method that has raised `bound` last
    wished: i32  # set by the host: there are `wishes`
    turn_end: i64  # set by the host: the work after which a single learner waits for it; 0: never
    turn_over: i64  # the last `turn_end` at which it has waited
    pool_head: Annotated[i64, OWN_LINE]  # blocks that have asked the pool for a subproblem
    pool_tail: Annotated[i64, OWN_LINE]  # subproblems put into it
    outstanding: Annotated[i32, OWN_LINE]  # subproblems that exist, in pool or blocks; 0: nothing is open here
    shared: i32  # set by the host: other engines may still have parts of the tree
    wanted: Annotated[i64, OWN_LINE]  # set by the host: parcels that it asks for, in total
    sent: i64  # parcels put into the outbox
    brought: i64  # set by the host: parcels that it has put into the inbox
    fetched: i64  # twice the number of parcels taken out of the inbox; odd while one is being taken
    next_part: Annotated[i64, OWN_LINE]  # the next part of a tree that is split ahead (search/split.h)
    skipped_parts: i64  # parts that no block had to take

    @property
    def is_complete(self) -> bool:
        """Whether, after the last block has left, no solution is better than those published."""
        return (self.is_exhausted or self.proved >= self.best) and not self.incomplete

    @property
    def is_exhausted(self) -> bool:
        """Whether the tree, which other engines may share, is exhausted."""
        return self.outstanding == 0 and not self.shared

    @property
    def proved(self) -> int:
        """The lower bound of sense * objective that blocks or host have proved."""
        return max(self.bound, self.host_bound)

    def prover(self, engine: str) -> str:
        """The prover (see Engine.prover) of a complete engine; empty where the host has given it the bound."""
        if self.is_exhausted:
            return f"{engine} tree"
        return f"{engine} {METHODS[self.proved_by]}" if self.bound >= self.best else ""


@record()
class Statistics(ctypes.Structure):
    """The counters of a block."""

    nodes: i64
    failures: i64
    propagations: i64
    iterations: i64
    solutions: i64
    donations: i64
    replays: i64
    restarts: i64
    peak_level: i64
    busy_ns: i64
    idle_ns: i64
    moves: i64  # that walks have tried (repair/repair.h)
    fixpoint_errors: i64  # rows that could still tighten at a fixpoint; counted by CHECK_FIXPOINT builds only
    activity_ticks: Annotated[i64, Times(N_ACTIVITIES)]


@record(alignment=CACHE_LINE)
class Island(ctypes.Structure):
    """A solution that neighbourhoods start from, written version / 2 times; an odd version is being written."""

    version: i64
    value: i64  # sense * objective
    patience: i64  # neighbourhoods that may fail before the island is resettled; for the host's see incumbent.h


@record(alignment=CACHE_LINE)
class Units(ctypes.Structure):
    """Root bounds (search/units.h): `version` is 0 until one was set; followed by 2 n_vars of type bound_t."""

    version: i64


@record(alignment=CACHE_LINE)
class MethodBook(ctypes.Structure):
    """The costs and gains of a method over all blocks. Recent figures are halved at intervals."""

    tries: i64
    busy_ns: i64
    improvements: i64
    recent_ns: i64
    recent_gain: i64
    running: i64  # blocks that use it now
    share: Annotated[i32, Times(N_EXTENTS, N_SIZES)]  # of variables that its neighbourhoods fix, in SHARE_UNITs


@record(alignment=16)
class PoolSlot(ctypes.Structure):
    """A subproblem; followed by pool_path decisions."""

    length: i32


@record(alignment=16)
class Parcel(ctypes.Structure):
    """A subproblem on its way to another engine, or from one; followed by parcel_path decisions."""

    sequence: i64  # in the outbox: the number of the parcel, from 1 on
    length: i32


@record()
class RingSlot(ctypes.Structure):
    """A solution; followed by n_exports values of type bound_t."""

    sequence: i64
    objective: i64
    block: i64
    method: i64


@record()
class Problem(ctypes.Structure):
    """The input of a kernel."""

    rows: Annotated[pointer, "const Row"]
    watches: Annotated[pointer, "const Watch"]
    watchers: Annotated[pointer, "const i32"]
    tables: Annotated[pointer, "const bound_t"]
    root_lower: Annotated[pointer, "const bound_t"]
    root_upper: Annotated[pointer, "const bound_t"]
    strategies: Annotated[pointer, "const Strategy"]
    strategy_vars: Annotated[pointer, "const i32"]
    exports: Annotated[pointer, "const i32"]
    neighbours: Annotated[pointer, "const i32"]  # the variables that large neighbourhood search fixes
    neighbour_groups: Annotated[pointer, "const i32"]  # for each of them: the number of its array
    owners: Annotated[pointer, "const i32"]  # for each variable: a near one of these, or -1
    hints: Annotated[pointer, "const bound_t"]  # the warm start: a value for each variable of the strategy WARM_START
    weights: Annotated[pointer, "i32"]  # failure weights of the variables, for VAR_DOM_W_DEG
    islands: Annotated[pointer, "Island"]  # island 0 holds the best solution so far; behind the last is the host's
    incumbents: Annotated[pointer, "bound_t"]  # n_vars values an island
    phases: Annotated[pointer, "bound_t"]  # the value that each variable was last fixed to, by a decision of any block
    wishes: Annotated[pointer, "bound_t"]  # the suggested value of each variable, or one out of range
    units: Annotated[pointer, "Units"]
    books: Annotated[pointer, "MethodBook"]  # one a method
    common: Annotated[pointer, "Common"]
    statistics: Annotated[pointer, "Statistics"]  # one a block
    pool_sequences: Annotated[pointer, "i64"]  # one a slot
    pool: Annotated[pointer, "char"]
    ring: Annotated[pointer, "char"]  # in host memory
    outbox: Annotated[pointer, "char"]  # in host memory
    inbox: Annotated[pointer, "char"]
    workspace: Annotated[pointer, "char"]  # workspace_bytes a block
    workspace_bytes: i64
    pool_slot_bytes: i64
    ring_slot_bytes: i64

    seed: i64
    n_vars: i32
    n_rows: i32
    n_strategies: i32
    n_exports: i32
    n_neighbours: i32
    n_groups: i32
    n_islands: i32

    objective: i32
    sense: i32

    changed_capacity: i32
    queue_capacity: i32
    trail_capacity: i32
    level_capacity: i32
    path_capacity: i32

    pool_slots: i32
    pool_path: i32
    ring_slots: i32
    parcels: i32  # that fit the outbox and the inbox; 0 where no other engines share the tree
    parcel_path: i32
    parcel_bytes: i32
    n_goal_terms: i32
    lns_percent: i32  # share of the blocks that search neighbourhoods once there is an incumbent
    n_blocks: i32
    use_weights: i32
    project: i32  # one solution for each assignment of the output variables is enough
    methods: i32  # bit m: method m may be used
    n_hints: i32
    n_linears: i32
    n_terms: i32
    n_links: i32
    n_stated: i32
    n_restart_limits: i32
    n_definitions: i32
    n_wides: i32
    most_arguments: i32
    most_terms: i32  # of a linear row
    walks: i32  # whether blocks may walk on the model
    outputs: Strategy  # the output variables, as a list in strategy_vars
    roles: Annotated[pointer, "const i32"]  # for each block: its method if it learns, else METHOD_TREE
    decision_sets: Annotated[pointer, "const char"]  # for each variable: bit s is set if it is in DecisionSet s
    learners: Annotated[pointer, "const LearnerSettings"]  # for each block
    learn_statistics: Annotated[pointer, "LearnStatistics"]  # one a block
    exchange: Annotated[pointer, "char"]  # between learners (learn/exchange/exchange.h); null with fewer than two
    learn_bytes: i64  # of a learner's memory
    depths: Annotated[pointer, "DepthCounts"]  # for each class of depths, of all blocks; in PROFILE builds
    split_bits: i32  # a tree that is split ahead has 2^split_bits parts
    needs_learners: i32  # whether only wide rows say all that a solution is
    linears: Annotated[pointer, "const Linear"]  # rows that replace others for learners (tnf/fuse.py)
    terms: Annotated[pointer, "const Term"]
    linear_wakes: Annotated[pointer, "const i32"]  # for each side and one more: where its rows begin in this list
    clauses: Annotated[pointer, "const i32"]  # in the form of `linear_wakes`: for each clause its sides of truth values
    absorbed: Annotated[pointer, "const char"]  # for each row: whether linear rows or clauses replace it
    links: Annotated[pointer, "const char"]  # for each variable: whether it has left with such rows
    link_rows: Annotated[pointer, "const i32"]  # the rows that define these, operands first
    n_clauses: i32
    n_clause_literals: i32
    n_hole_words: i32
    n_wide_vars: i32
    packed: i32
    rest: i32
    n_levels: i32  # of `defining_rows`
    wides: Annotated[pointer, "const Wide"]  # rows that learners run beside all others (tnf/wide.py)
    wide_arguments: Annotated[pointer, "const i32"]
    holes: Annotated[pointer, "const i32"]  # for each variable two numbers (core/holes.h); null where none has any
    wide_wakes: Annotated[pointer, "const i32"]  # as `linear_wakes`
    posted: Annotated[pointer, "Postbox"]  # null where the host posts no rows
    posted_bytes: i32  # of a row in it, with its terms
    n_counters: i32  # of a learner, in its own copy (learn/propagators/counters.h)
    n_store_vars: i32  # the first variables are in a block's store (tnf/arrange.py)
    n_store_rows: i32  # and the first rows run in it, with sums
    n_sums: i32
    n_short_sums: i32  # the first ones
    store_watches: Annotated[pointer, "const Watch"]
    store_watchers: Annotated[pointer, "const i32"]
    sums: Annotated[pointer, "const Linear"]  # the rows behind these
    sum_terms: Annotated[pointer, "const Term"]
    defining_rows: Annotated[pointer, "const i32"]  # of the variables that are not in the store
    defining_levels: Annotated[pointer, "const i32"]  # where each level begins among these, and the last one ends
    goal_terms: Annotated[pointer, "const Term"]  # sense * objective is goal_constant and the sum of these
    goal_constant: Annotated[pointer, "const i64"]
    definitions: Annotated[pointer, "const Definition"]  # of walks, in their order (kernels/repair)
    definition_places: Annotated[pointer, "const i32"]  # for each row of a block: its place among these, or -1
    reaches: Annotated[pointer, "const Reach"]  # one a variable of the store
    readers: Annotated[pointer, "const Reader"]
    sum_scales: Annotated[pointer, "const i32"]  # one a sum: a violation of so much counts as one
    stated: Annotated[pointer, "const Stated"]  # the neighbourhood that the model states
    restart_limits: Annotated[pointer, "const i32"]  # failures before each (search/schedule.h); none: its own


STATISTICS = [name for name in Statistics.__annotations__ if name != "activity_ticks"]
STATISTICS += [f"{activity}_ticks" for activity in ACTIVITIES]
LEARN_STATISTICS = list(LearnStatistics.__annotations__)
