"""The CPU engine: the kernels compiled by the host's C++ compiler, one OS thread a block."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import numpy as np

from turbo_fzn.base import memory
from turbo_fzn.base.errors import EngineError, UsageError
from turbo_fzn.base.tuning import TUNING as BASE
from turbo_fzn.engine.abi.abi import LEARN_STATISTICS, STATISTICS, Common, Problem, Units
from turbo_fzn.engine.abi.aligned import first_books, first_depths, line_aligned
from turbo_fzn.engine.abi.trace_records import Trace, TraceRecord
from turbo_fzn.engine.contract import (
    BOOKED,
    NO_WISH,
    Found,
    Inequality,
    Roots,
    depth_statistics,
    merge_statistics,
)
from turbo_fzn.engine.figures import memory_by_kind, subproblem_counts
from turbo_fzn.engine.layout import fused, goals, learners, wide
from turbo_fzn.engine.layout.layout import Layout, Settings
from turbo_fzn.engine.library import check_sums, flags, library, point_to
from turbo_fzn.engine.parcels import Parcels
from turbo_fzn.engine.posted import ROW_BYTES, Places, first_postbox, terms_of, without
from turbo_fzn.engine.ring import Ring
from turbo_fzn.engine.root import close_holes
from turbo_fzn.engine.tuning import TUNING
from turbo_fzn.tnf.language import TNF

if TYPE_CHECKING:
    from turbo_fzn.engine.logged import Log

TRACE_RECORD = np.dtype(TraceRecord)


class _Tracer:
    """Reads the records of kernels/search/trace.h; at most one in a process at a time."""

    def __init__(self, layout: Layout, compiled: ctypes.CDLL):
        self.compiled = compiled
        self.records = np.zeros(TUNING.trace_records, TRACE_RECORD)
        self.branches = np.zeros((layout.level_capacity, 2), np.int32)
        self.shared = Trace(self.records.ctypes.data, self.branches.ctypes.data, TUNING.trace_records, tree=-1)
        compiled.set_trace.argtypes = [ctypes.c_void_p]
        compiled.set_trace(ctypes.addressof(self.shared))

    def take(self, most: int) -> np.ndarray:
        written = self.shared.written
        self.compiled.memory_fence()
        count = min(written - self.shared.taken, most)
        places = (self.shared.taken + np.arange(count)) % TUNING.trace_records
        taken = self.records[places]
        self.compiled.memory_fence()
        self.shared.taken += count
        return taken

    def close(self) -> None:
        self.compiled.set_trace(None)


_logs: WeakSet[Log] = WeakSet()  # those that engines write to
_choosing = threading.Lock()  # held to change it


def _first_log(layout: Layout, compiled: ctypes.CDLL) -> Log:
    """The log of the learners; the kernels have a place for one. Raises UsageError if another engine of this process
    writes one."""
    from turbo_fzn.engine.logged import Log

    log = Log(layout.tnf, layout.settings.proof, layout.bits, len(layout.settings.roles))
    with _choosing:
        if _logs:
            raise UsageError("--proof: another run in this process has not ended; one at a time can write a proof")
        _logs.add(log)
    compiled.set_log.argtypes = [ctypes.c_void_p]
    compiled.set_log(ctypes.addressof(log.shared))
    log.start(compiled.memory_fence)
    return log


class _OwnMemory:
    """Access to the memory of an engine in this process, for its parcels (parcels._Reach)."""

    def __init__(self, common: Common, inbox: np.ndarray, fence: Callable[[], None]):
        self.shared, self.inbox, self.fence = common, inbox, fence

    def common(self) -> Common:
        self.fence()
        return self.shared

    def send_word(self, name: str, value: int) -> None:
        self.fence()
        setattr(self.shared, name, value)

    def put_parcel(self, place: int, parcel: np.ndarray) -> None:
        self.inbox[place : place + len(parcel)] = parcel


class CpuEngine:
    """`settings.blocks` threads search `tnf`, whose root must be at its fixpoint. See contract.Engine."""

    name = "cpu"

    def __init__(self, tnf: TNF, exports: np.ndarray, settings: Settings):
        self.layout = layout = Layout(tnf, exports, settings)
        close_holes(layout)
        self.library = library(layout.bits, *flags(tnf, settings))
        self.common = layout.first_common()
        self.blocks_statistics = np.zeros((settings.blocks, len(STATISTICS)), np.int64)
        self.learn_statistics = np.zeros((settings.blocks, len(LEARN_STATISTICS)), np.int64)
        self.books = first_books()
        self.memory = self._first_memory(layout)
        self.problem = Problem()
        layout.fill(self.problem, layout.stack_bytes)
        check_sums(layout, self.problem)
        point_to(self.problem, {**layout.arrays, **self.memory})
        if settings.roles:
            fused.count(self.problem, self.memory)
            wide.count(self.problem, self.memory)
            goals.count(self.problem, self.memory)
        self.problem.common = ctypes.addressof(self.common)
        self.problem.posted_bytes = ROW_BYTES
        self.places = Places(self.memory["posted"]) if "posted" in self.memory else None
        self.units_read = 0  # the last version of the units that was read
        self.ring = Ring(layout, self.memory["ring"], self.library.memory_fence)
        reach = _OwnMemory(self.common, self.memory["inbox"], self.library.memory_fence)
        self.parcels = Parcels(layout, self.memory["outbox"], reach, self.library.memory_fence)
        self.shape: dict[str, Any] = {
            "blocks": settings.blocks,
            **memory_by_kind(layout, settings.retires is not False),
        }
        self.repeats = layout.repeats
        self.tracer = _Tracer(layout, self.library) if settings.trace else None
        self.log = _first_log(layout, self.library) if settings.proof else None
        self.failures: list[int] = []
        self.threads = [
            threading.Thread(target=self._run, args=(index,), name=f"block-{index}", daemon=True)
            for index in range(settings.blocks)
        ]

    def _first_memory(self, layout: Layout) -> dict[str, np.ndarray]:
        """The initial arrays that the blocks write to, by their names in Problem."""
        islands, incumbents = layout.first_islands()
        settings, n_learners = layout.settings, len(layout.settings.roles)
        memory = {
            "weights": layout.weights,
            "islands": islands,
            "incumbents": incumbents,
            "phases": np.zeros(layout.tnf.n_vars, layout.bound_type),
            "wishes": np.zeros(layout.tnf.n_vars, layout.bound_type),
            "units": layout.first_units(),
            "books": self.books,
            "statistics": self.blocks_statistics,
            "learn_statistics": self.learn_statistics,
            "depths": first_depths(),
            "roles": learners.methods_of(settings.blocks, settings.roles),
            "learners": learners.records(settings.blocks, n_learners, settings.fuses, settings.decides),
            "decision_sets": learners.decision_sets(layout.tnf) if n_learners else np.zeros(1, np.uint8),
            "pool_sequences": layout.first_sequences(),
            "pool": np.zeros(layout.pool_slots * layout.pool_slot_bytes, np.uint8),
            "ring": np.zeros(layout.ring_slots * layout.ring_slot_bytes, np.uint8),
            "workspace": np.zeros(layout.settings.blocks * layout.stack_bytes, np.uint8),
            "outbox": line_aligned(layout.parcels * layout.parcel_bytes),
            "inbox": line_aligned(layout.parcels * layout.parcel_bytes),
        }
        if n_learners > 1:
            memory["exchange"] = learners.first_exchange(settings.blocks, layout.bits, settings.proof > 0)
        if layout.settings.posts and layout.settings.roles:
            memory["posted"] = first_postbox()
        if not n_learners:
            return memory
        return memory | learners.rows(layout.tnf, settings.fused is not False, settings.proof > 0)

    def _run(self, index: int) -> None:
        if self.library.solve_block(ctypes.byref(self.problem), index) != 0:
            self.failures.append(index)
            self.common.stop = 1

    def start(self, incumbent: Found | None = None) -> None:
        """Starts the threads. Raises EngineError if the system refuses one."""
        if self.layout.is_whole(incumbent):
            self.common.best = self.layout.first_common(incumbent).best
            self.memory["islands"][:], self.memory["incumbents"][:] = self.layout.first_islands(incumbent)
        try:
            for thread in self.threads:
                thread.start()
        except RuntimeError as error:
            why = error if memory.has_room(BASE.stack_bytes) else "out of memory"
            raise EngineError(f"cannot run {len(self.threads)} threads: {why}") from error

    @property
    def running(self) -> bool:
        """Whether a thread is alive. Raises EngineError if a block had no memory."""
        if any(thread.is_alive() for thread in self.threads):
            return True
        if self.failures:
            raise EngineError("not enough memory for the store of a block")
        return False

    @property
    def complete(self) -> bool:
        return not self.running and self.common.is_complete

    def poll(self) -> list[Found]:
        found = [Found(*solution, self.name) for solution in self.ring.take()]
        self.common.consumed = self.ring.taken
        return found

    @property
    def bound(self) -> int:
        return int(self.common.proved)

    @property
    def prover(self) -> str:
        return self.common.prover(self.name) if self.complete else ""

    def adopt(self, found: Found) -> None:
        if self.layout.is_whole(found):
            values = np.ascontiguousarray(self.layout.places.into(found.values), self.layout.bound_type)
            value = self.layout.tnf.sense * found.objective
            self.library.adopt_solution(ctypes.byref(self.problem), values.ctypes.data, value)

    def suggest(self, values: np.ndarray) -> None:
        """Suggests values that learners try first in some of their runs. A mixture of two suggestions is harmless."""
        self.memory["wishes"][:] = np.where(values == NO_WISH, np.iinfo(self.layout.bound_type).min, values)
        self.common.wished = 1

    def post(self, row: Inequality) -> None:
        """Posts the row to learners, without variables that they lack, if a solution is as good as `under`."""
        if self.places is None or self.common.best > row.under:
            return
        tnf = self.layout.tnf
        kept = without(row, self.memory["links"].astype(bool), tnf.lower, tnf.upper)
        if kept is not None:
            terms = terms_of(kept)
            place = self.places.take(row.name)
            self.library.post_row(ctypes.byref(self.problem), place, kept.high, terms.ctypes.data, len(terms))

    def raise_bound(self, bound: int) -> None:
        self.common.host_bound = max(self.common.host_bound, bound)

    def end_turn_at(self, work: int) -> None:
        """Makes a learner that is the only block wait after this much work in total (learn/search/turns.h); with 0 it
        does not wait again."""
        self.common.turn_end = work

    @property
    def turn_over(self) -> int:
        """The end of the turn after which the learner waits, its solutions being in the ring; 0 while it works."""
        over = self.common.turn_over
        self.library.memory_fence()
        return int(over) if over == self.common.turn_end else 0

    def roots(self) -> Roots | None:
        """The root bounds proved since the last call, or None."""
        version = Units.from_buffer(self.memory["units"].data).version
        if version == self.units_read:
            return None
        self.units_read = version
        words = np.empty(2 * self.layout.tnf.n_vars, self.layout.bound_type)
        under = self.library.read_units(ctypes.byref(self.problem), words.ctypes.data)
        sides = self.layout.places.back(words.reshape(-1, 2)).reshape(-1)
        return Roots(sides.astype(np.int64), under)

    def tighten(self, roots: Roots) -> None:
        if self.common.best <= roots.under:
            words = self.layout.places.into(roots.sides.reshape(-1, 2)).astype(self.layout.bound_type)
            self.library.write_units(ctypes.byref(self.problem), words.ctypes.data)

    @property
    def open_work(self) -> int:
        return int(self.common.outstanding)

    def stop(self) -> None:
        self.common.stop = 1

    def halt(self) -> None:
        self.stop()

    def trace(self, most: int) -> np.ndarray:
        """The next records of the search tree (TRACE_RECORD, at most `most`); only with the setting `trace`."""
        assert self.tracer is not None
        return self.tracer.take(most)

    def statistics(self) -> dict[str, int]:
        """The counts of all blocks together; counts of running blocks may lack the last few nodes."""
        counted = merge_statistics(self.blocks_statistics, STATISTICS) | subproblem_counts(self.layout, self.common)
        counted |= depth_statistics(self.memory["depths"]) if self.layout.settings.profile else {}
        return counted | merge_statistics(self.learn_statistics, LEARN_STATISTICS)

    def methods(self) -> np.ndarray:
        return self.books[:, :BOOKED].copy()

    def close(self) -> None:
        """Stops the threads and waits for their end."""
        self.stop()
        while running := [
            thread for thread in self.threads if thread.is_alive()
        ]:  # without threads that could not be started
            self.poll()  # a block may be waiting for room in the ring
            for thread in running:
                thread.join(0.001)
        if self.tracer is not None:
            self.tracer.close()
        if self.log is not None:
            self.library.set_log(None)
            self.log.finish()
            _logs.discard(self.log)
