"""A TNF model in the memory layout of the kernels: arrays, sizes, capacities.

`Layout` turns a TNF into the arrays that the kernels read and fixes every capacity; an engine copies the arrays to its
memory and fills in the pointers.
"""

from __future__ import annotations

import copy
import ctypes
from dataclasses import dataclass

import numpy as np

from turbo_fzn.base import memory
from turbo_fzn.base.domains import INFINITY
from turbo_fzn.engine.abi.abi import (
    FIRST_ANNOTATED,
    FREE_STRATEGY,
    METHODS,
    NO_INCUMBENT,
    WARM_START,
    Common,
    Decision,
    Island,
    Level,
    OwnValueChoice,
    Parcel,
    PoolSlot,
    Problem,
    RingSlot,
    TrailEntry,
    Units,
)
from turbo_fzn.engine.abi.aligned import align16, columns, line_aligned, make_common, power_of_two
from turbo_fzn.engine.abi.model_records import Row
from turbo_fzn.engine.abi.model_records import Strategy as StrategyRecord
from turbo_fzn.engine.contract import Found
from turbo_fzn.engine.layout import arranged, repair, stated, strategies
from turbo_fzn.engine.layout.holes import WHOLE_WORD, find_holes
from turbo_fzn.engine.layout.neighbours import decision_variables, owners
from turbo_fzn.engine.layout.order import ordered_rows
from turbo_fzn.engine.layout.packed import find_places, unmoved
from turbo_fzn.engine.layout.split import split_bits, splittable
from turbo_fzn.engine.layout.watch import watch_lists
from turbo_fzn.engine.tuning import TUNING
from turbo_fzn.tnf.arrays import distinct
from turbo_fzn.tnf.language import TNF, Restarts, Strategy, ValueChoice, VarChoice


@dataclass(frozen=True, eq=False, repr=False)
class Settings:
    """The settings of an engine for one run. `lns_percent` is the share of the blocks that search neighbourhoods."""

    blocks: int = 1
    seed: int = 0
    lns_percent: int = 0
    methods: frozenset[str] = frozenset(METHODS)  # methods that blocks may use
    roles: tuple[str, ...] = ()  # roles of the learners (LEARNERS), which are the last blocks; CPU only
    decides: tuple[tuple[str, ...], ...] = ()  # for each learner: the sets it decides first, in turn
    fuses: tuple[bool, ...] = ()  # for each learner: whether it has fused rows (tnf/fuse.py); () for all of them
    learn_bytes: int | None = None  # memory of each learner
    restarts: Restarts | None = None  # that the user asks for, instead of the model's; CPU only
    posts: bool = False  # whether there is a box for rows that the host posts to learners
    trail_capacity: int | None = None
    level_capacity: int | None = None
    queue_capacity: int | None = None
    ring_slots: int | None = None
    pool_path: int | None = None
    threads: int | None = None  # threads of a block, a multiple of a warp; GPU only
    store: str | None = None  # "shared" or "global"; GPU only
    memory_bytes: int | None = None  # the most memory of the device to use
    device: int | None = None  # the number of the GPU, where several work
    shares: bool = False  # shares the tree with other engines, and begins with no part of it
    macros: tuple[str, ...] = ()  # macros of the kernels, set by variants (variants.py), as the fields below
    fused: bool | None = None  # whether linear rows replace trees of rows (tnf/arrange.py, fuse.py); None: as it pays
    packed: bool | None = None  # whether truths are packed (core/store.h), where no block learns; None: as it pays
    bitsets: bool = False  # whether variables have holes; 32-bit stores, and no block that learns
    retires: bool | None = None  # whether entailed rows are skipped; None: the engine's default
    split: bool = False  # whether the tree is split ahead
    subproblems: int | None = None  # the number of parts then, a power of two
    sort: str | None = None  # the order of the rows (order.ORDERS)
    model: str | None = None  # "shared": rows in shared memory; GPU only
    profile: bool = False
    proof: int = 0  # the bytes of the log that the learners write, at most; CPU only
    trace: bool = False  # records the search tree; one block of a CPU only
    mailbox_entries: int | None = None  # changes that fit a message; hybrid engine only


class Layout:
    """The arrays and sizes of one run. `bits` is the width of a bound, `arrays` the read-only arrays of the kernels."""

    def __init__(self, tnf: TNF, exports: np.ndarray, settings: Settings):
        memory.require(tnf.n_rows * TUNING.bytes_per_row)
        tnf = tnf if settings.sort is None else ordered_rows(tnf, settings.sort)
        self.arranged = tnf.arranged if settings.fused is not False and not settings.bitsets else None
        self.tnf = splittable(tnf, settings.shares) if settings.split else tnf
        self.settings = settings
        self.stored = arranged.stored(self.tnf, self.arranged)
        self.exports = np.ascontiguousarray(exports, np.int32)
        self.neighbours = decision_variables(tnf, tnf.n_vars if tnf.arranged is None else tnf.arranged.n_vars)
        self.packed, self.places = bool(settings.packed), unmoved(tnf.n_vars, self.stored.n_vars)
        self.bits = 32 if tnf.is_narrow() else 64
        self.holes = find_holes(self.tnf) if settings.bitsets and self.bits == 32 and not settings.roles else None
        if self.packed and self.can_pack:
            self._pack_truths()
        self.bound_type = np.int32 if self.bits == 32 else np.int64
        self.arrays = self._read_only_arrays()
        self.weights = self._degrees()
        self._set_capacities()

    @property
    def can_pack(self) -> bool:
        """Whether truths can be packed: where no block learns, in stores of 32 bits without holes."""
        return self.bits == 32 and self.holes is None and not self.settings.roles

    def _pack_truths(self) -> None:
        """Brings all that names variables into the order of a store with packed truths."""
        self.places = places = find_places(self.tnf, self.stored.n_vars)
        self.tnf = places.moved(self.tnf)
        self.arranged = None if self.arranged is None else self.tnf.arranged
        self.stored = arranged.stored(self.tnf, self.arranged)
        variables, groups = self.neighbours
        self.neighbours = places.place[variables].astype(np.int32), groups
        self.exports = places.place[self.exports].astype(np.int32)

    def with_settings(self, settings: Settings) -> Layout:
        """A layout with these arrays and the capacities of other settings."""
        other = copy.copy(self)
        other.settings = settings
        other._set_capacities()
        return other

    def _read_only_arrays(self) -> dict[str, np.ndarray]:
        tnf, settings = self.tnf, self.settings
        walks = settings.lns_percent > 0 and "repair" in settings.methods and not (settings.bitsets or self.packed)
        fused_rows = None if self.arranged is None else arranged.watched(self.arranged)
        watches, watchers = watch_lists(self.stored, self.holes, fused_rows)
        neighbours, groups = self.neighbours
        records, variables, gaps = self._strategies(neighbours)
        if tnf.floats is not None:
            records, gaps = strategies.with_floats(records, gaps, len(tnf.tables), tnf.floats)
        return {
            **({} if self.holes is None else {"holes": self.holes.records}),
            "rows": columns(Row, op=tnf.op, x=tnf.x, y=tnf.y, z=tnf.z),
            "store_watches": watches,
            "store_watchers": watchers,
            **arranged.pack(self.arranged),
            "tables": np.concatenate((tnf.tables, gaps)).astype(self.bound_type),
            "root_lower": self._with_words(tnf.lower, 0),
            "root_upper": self._with_words(tnf.upper, WHOLE_WORD),
            "strategies": records,
            "strategy_vars": variables,
            "exports": self.exports,
            "neighbours": neighbours,
            "neighbour_groups": groups,
            "owners": owners(tnf, neighbours),
            "hints": self.hints,
            **stated.pack(tnf, settings.restarts),
            **repair.arrays(tnf, self.stored, self.arranged, neighbours, walks),
        }

    def _with_words(self, bounds: np.ndarray, word: int) -> np.ndarray:
        """The bounds in the form of a store, with the same bound for each word of holes."""
        words = self.store_vars - self.stored.n_vars
        return np.append(bounds, np.full(words, word)).astype(self.bound_type)

    def _strategies(self, neighbours: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(records, lists, gaps) of all strategies, as strategies.pack: for neighbourhoods, for the warm start, then
        the strategies of the model. The lists end with the output variables, and with all variables in the order of
        the TNF where the store has another."""
        warm, self.hints = self._warm_start()
        own = {
            FREE_STRATEGY: Strategy(VarChoice.DOM_W_DEG, OwnValueChoice.PHASE, neighbours),
            WARM_START: Strategy(VarChoice.INPUT_ORDER, OwnValueChoice.HINT, warm),
        }
        tnf, shown = self.tnf, self._output_variables()
        every = [*(own[i] for i in range(FIRST_ANNOTATED)), *tnf.strategies]
        records, lists, gaps = strategies.pack(every, tnf.lower, tnf.upper, len(tnf.tables))
        self.outputs = StrategyRecord(VarChoice.INPUT_ORDER, ValueChoice.MIN, len(lists), len(shown))
        rest = self.places.place[: self.stored.n_vars if self.places.moves else 0]
        self.rest = len(lists) + len(shown) if self.places.moves else -1
        return records, np.concatenate((lists, shown, rest)).astype(np.int32), gaps

    def _warm_start(self) -> tuple[np.ndarray, np.ndarray]:
        """The unfixed variables of the warm start (int32), and a value for each, clipped to its bounds."""
        tnf = self.tnf
        variables, values = tnf.warm_start or (np.empty(0, np.int32), np.empty(0, np.int64))
        unfixed = tnf.lower[variables] < tnf.upper[variables]
        variables, values = variables[unfixed], values[unfixed].clip(1 - INFINITY, INFINITY - 1)
        return variables, np.clip(values, tnf.lower[variables], tnf.upper[variables]).astype(self.bound_type)

    def _output_variables(self) -> np.ndarray:
        """The unfixed variables of the output items, distinct (int32)."""
        shown = [np.asarray(item.variables, np.int64) for item in self.tnf.outputs]
        every = distinct(np.concatenate(shown)) if shown else np.empty(0, np.int64)
        return every[self.tnf.lower[every] < self.tnf.upper[every]].astype(np.int32)

    def _degrees(self) -> np.ndarray:
        """Initial failure weights (int32 [n]): the rows that watch a variable (dom/wdeg, Boussemart et al. 2004)."""
        watches = self.arrays["store_watches"]
        weights = np.zeros(self.tnf.n_vars, np.int32)
        weights[: self.stored.n_vars] = (watches[:, 3] - watches[:, 0])[: self.stored.n_vars]
        return weights

    def _set_capacities(self) -> None:
        settings, n = self.settings, self.store_vars
        self.level_capacity = power_of_two((settings.level_capacity or strategies.most_levels(self.tnf)) + 1)
        self.path_capacity = self.level_capacity + 1024
        self.trail_capacity = max(settings.trail_capacity or 4 * n + 65536, n)
        self.queue_capacity = settings.queue_capacity or self.n_running
        self.changed_capacity = settings.queue_capacity or n
        self.decision_bytes = decision = ctypes.sizeof(Decision.of(self.bits))
        self.pool_slots = power_of_two(max(2 * settings.blocks, 64))
        fitting = max(TUNING.pool_bytes // self.pool_slots // decision, TUNING.parcel_path if settings.shares else 64)
        self.pool_path = min(self.path_capacity, fitting if settings.pool_path is None else settings.pool_path)
        self.pool_slot_bytes = align16(ctypes.sizeof(PoolSlot) + self.pool_path * decision)
        self.split_bits = split_bits(settings.subproblems, settings.blocks) if settings.split else 0
        self.parcels = TUNING.parcels if settings.shares else 0
        self.parcel_path = min(self.pool_path, TUNING.parcel_path)
        self.parcel_bytes = align16(ctypes.sizeof(Parcel) + self.parcel_path * decision)
        self.ring_slot_bytes = align16(ctypes.sizeof(RingSlot) + len(self.exports) * self.bits // 8)
        self.ring_slots = settings.ring_slots or min(
            TUNING.ring_slots, max(TUNING.ring_bytes // self.ring_slot_bytes, 2)
        )

    @property
    def store_vars(self) -> int:
        """The number of pairs of bounds in a store: variables, and words of holes."""
        return self.stored.n_vars + (0 if self.holes is None else self.holes.n_words)

    @property
    def n_wide(self) -> int:
        """The number of pairs of bounds beside packed truths."""
        return self.places.n_wide + self.store_vars - self.stored.n_vars

    @property
    def n_running(self) -> int:
        """The number of rows that a block runs."""
        return self.stored.n_rows + (0 if self.arranged is None else self.arranged.sums.n_rows)

    @property
    def n_islands(self) -> int:
        """The number of islands: one for the best solution, and others for solutions that neighbourhoods start from."""
        return 1 + min(self.settings.blocks * self.settings.lns_percent // 100, TUNING.islands - 1)

    @property
    def tree_blocks(self) -> int:
        """The number of blocks that search the tree: blocks that neither learn nor search neighbourhoods, but at least
        one block where no block learns."""
        settings = self.settings
        if "tree" not in settings.methods and settings.lns_percent:
            return 0
        rest = settings.blocks - len(settings.roles)
        return max(rest - rest * settings.lns_percent // 100, 0 if settings.roles else 1)

    @property
    def repeats(self) -> bool:
        """Whether a solution may be found twice: by the warm start or a restart, and by the tree search."""
        return len(self.hints) > 0 or self.settings.lns_percent > 0

    @property
    def store_bytes(self) -> int:
        """The size of one block's store on a GPU: bounds, flags, queued rows, and marks of retired rows if any."""
        return self.plain_store_bytes + bool(self.settings.retires) * self.marks_bytes

    @property
    def plain_store_bytes(self) -> int:
        return self._store_bytes(self.n_wide, self.packed)

    @property
    def packed_store_bytes(self) -> int:
        """The size that a store with packed truths would have on a GPU."""
        plain = self._store_bytes(find_places(self.tnf, self.stored.n_vars).n_wide, True)
        return plain + bool(self.settings.retires) * self.marks_bytes

    def _store_bytes(self, n_wide: int, packed: bool) -> int:
        per_word = 4 if packed else 8  # variables by the word of their flags
        flags = align16(-(-self.store_vars // per_word) * 4)
        return 2 * align16(n_wide * self.bits // 8) + flags + self.marks_bytes

    @property
    def marks_bytes(self) -> int:
        """The size of an array with one bit for each row that runs."""
        return align16((self.n_running + 31) // 32 * 4)

    @property
    def rows_bytes(self) -> int:
        return self.arrays["rows"].nbytes

    @property
    def list_bytes(self) -> int:
        return align16(self.changed_capacity * 4) + align16(self.queue_capacity * 4)

    @property
    def stack_bytes(self) -> int:
        """The size of one block's trail, retired rows, levels and path, and of values of variables beyond the store."""
        decision, entry, level = (ctypes.sizeof(record.of(self.bits)) for record in (Decision, TrailEntry, Level))
        return (
            align16(self.trail_capacity * entry)
            + align16(self.n_running * 4)
            + align16(self.level_capacity * level)
            + align16(self.path_capacity * decision)
            + align16((self.tnf.n_vars - self.stored.n_vars) * self.bits // 8)
            + repair.walk_bytes(self.stored.n_vars, self.n_running, self.bits, self.arrays)
        )

    def learn_bytes(self) -> int:
        """Memory of each block that learns, in bytes: its share, but no more than the fastest learner fills in days."""
        n = self.tnf.n_vars
        return min(self.settings.learn_bytes or memory.share() // max(len(self.settings.roles), 1), 2**30 + 2**10 * n)

    def first_units(self) -> np.ndarray:
        """The initial units (uint8): the root bounds."""
        tnf = self.tnf
        words = np.column_stack((tnf.lower, -tnf.upper)).astype(self.bound_type)
        units = line_aligned(ctypes.sizeof(Units) + words.nbytes)
        units[ctypes.sizeof(Units) :] = words.reshape(-1).view(np.uint8)
        return units

    def fill(self, problem: Problem, workspace_bytes: int) -> None:
        """Sets every field of `problem` that is not a pointer."""
        tnf, settings = self.tnf, self.settings
        problem.workspace_bytes = workspace_bytes
        problem.pool_slot_bytes, problem.ring_slot_bytes = self.pool_slot_bytes, self.ring_slot_bytes
        problem.seed = settings.seed
        problem.n_vars, problem.n_rows, problem.n_exports = tnf.n_vars, tnf.n_rows, len(self.exports)
        problem.n_strategies = len(self.arrays["strategies"]) - (tnf.floats is not None)
        problem.n_neighbours = len(self.arrays["neighbours"])
        problem.n_groups = len(distinct(self.arrays["neighbour_groups"]))
        problem.n_hints = len(self.hints)
        problem.objective, problem.sense = tnf.objective, tnf.sense
        alone = settings.blocks == 1 and "tree" in settings.methods  # a single block must search the tree
        problem.lns_percent = 0 if alone else settings.lns_percent
        problem.methods = sum(1 << i for i, method in enumerate(METHODS) if method in settings.methods)
        problem.n_blocks, problem.n_islands = settings.blocks, self.n_islands
        in_model = any(strategy.var_choice == VarChoice.DOM_W_DEG for strategy in tnf.strategies)
        problem.use_weights = int(in_model or problem.lns_percent > 0)
        problem.project, problem.outputs = int(tnf.sense == 0), self.outputs
        problem.learn_bytes = self.learn_bytes() if settings.roles else 0
        problem.n_hole_words = self.store_vars - self.stored.n_vars
        problem.packed, problem.n_wide_vars, problem.rest = int(self.packed), self.n_wide, self.rest
        arranged.count(problem, tnf, self.arranged)
        repair.count(problem, self.arrays)
        stated.count(problem, self.arrays)
        problem.split_bits, problem.needs_learners = self.split_bits, int(tnf.needs_learners)
        for name in ("changed_capacity", "queue_capacity", "trail_capacity", "level_capacity", "path_capacity",
                     "pool_slots", "pool_path", "ring_slots", "parcels", "parcel_path", "parcel_bytes"):  # fmt: skip
            setattr(problem, name, getattr(self, name))

    @property
    def begins_with_root(self) -> bool:
        """Whether the pool begins with a subproblem, the root: not if engines share the tree, nor if the tree is split
        ahead. The pool's tail and its slots must agree: a block that takes a slot beyond the tail would wait for ever,
        without reading a stop."""
        return not (self.settings.shares or self.settings.split)

    def first_sequences(self) -> np.ndarray:
        """The initial sequence numbers of the pool's slots (int64): slot i is free for ticket i, but where the pool
        begins with the root, slot 0 holds it."""
        sequences = np.arange(self.pool_slots, dtype=np.int64)
        sequences[0] += self.begins_with_root
        return sequences

    def first_common(self, incumbent: Found | None = None) -> Common:
        """The initial state that all blocks share: the number of open subproblems (the root; 0 where engines share the
        tree; all parts of a tree that is split ahead), and the incumbent's objective, to be improved. Raises
        InternalError if a searching block would ignore a constraint."""
        self.tnf.require_learners(len(self.settings.roles), self.settings.blocks)
        best = NO_INCUMBENT if incumbent is None else self.tnf.sense * incumbent.objective
        bound = self.root_bound()
        words = {"best": best, "bound": bound, "host_bound": bound, "host_best": NO_INCUMBENT}
        begun = int(self.begins_with_root)
        open_work = 1 << self.split_bits if self.settings.split else begun
        return make_common(pool_tail=begun, outstanding=open_work, shared=int(self.settings.shares), **words)

    def first_islands(self, incumbent: Found | None = None) -> tuple[np.ndarray, np.ndarray]:
        """(islands uint8, incumbents [(islands + 1) * n]), with the host's island last: the incumbent on island 0, the
        others empty."""
        islands = line_aligned((self.n_islands + 1) * ctypes.sizeof(Island))
        incumbents = np.zeros((self.n_islands + 1) * self.tnf.n_vars, self.bound_type)
        if incumbent is not None:
            first = Island.from_buffer(islands.data)
            first.version, first.value = 2, self.tnf.sense * incumbent.objective
            incumbents[self.exports] = incumbent.values
        return islands, incumbents

    def is_whole(self, solution: Found | None) -> bool:
        """Whether the solution has the values of all variables, which neighbourhoods need."""
        return solution is not None and len(self.exports) == self.tnf.n_vars

    def root_bound(self) -> int:
        """The lower bound of sense * objective at the root; -NO_INCUMBENT without an objective."""
        tnf = self.tnf
        if tnf.sense == 0:
            return -NO_INCUMBENT
        return int(tnf.lower[tnf.objective] if tnf.sense > 0 else -tnf.upper[tnf.objective])
