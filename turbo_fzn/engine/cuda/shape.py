"""The shape of a launch on a GPU: blocks, threads, and the contents of shared memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from turbo_fzn.base.errors import EngineError
from turbo_fzn.engine.abi.abi import STATE_BYTES
from turbo_fzn.engine.abi.aligned import align16
from turbo_fzn.engine.layout.layout import Layout, Settings
from turbo_fzn.engine.tuning import TUNING

WARP = 32  # format: lanes of a warp
SHARED_GRANULE = 256  # format: bytes; a block's shared memory is a multiple of it (128 from sm_80 on)
# Pairs of blocks that fit an SM, at least, and threads a block.
THREADS_BY_FIT = ((12, 32), (6, 64), (3, 128), (2, 256), (1, 512))  # formula: about as many lanes in each case


@dataclass(frozen=True)
class Shape:
    """The shape of a launch."""

    blocks: int
    threads: int
    store_shared: bool
    model_shared: bool
    shared_bytes: int
    list_entries: int


def may_choose(settings: Settings) -> bool:
    """Whether other forms of the store may be chosen for this run: only if the settings do not fix their place."""
    return settings.store is None and settings.model is None and settings.sort is None and not settings.bitsets


def fusing_pays(fused: Shape, ternary: Shape, sms: int) -> bool:
    """Whether a launch without inner links is to be preferred (measured: docs/measurements/tree-search.md)."""
    if not fused.store_shared or not ternary.store_shared:
        return fused.store_shared
    return ternary.blocks <= TUNING.few_blocks_per_sm * sms and fused.blocks >= TUNING.fused_gain * ternary.blocks


def packing_pays(packed: Shape, usual: Shape, layout: Layout) -> bool:
    """Whether a launch whose stores have packed truths is to be preferred: where far more stores fit into shared
    memory, or, in global memory, the caches hold far more of them (measured: docs/measurements/tree-search.md)."""
    if usual.store_shared:
        return packed.blocks >= TUNING.packed_gain * usual.blocks
    return layout.store_bytes >= TUNING.packed_gain * layout.packed_store_bytes


def launch_shape(
    here: Any, layout: Layout, registers: dict[bool, int], settings: Settings, store_bytes: int | None = None
) -> Shape:
    """The shape with as many blocks as fit; the fewer blocks fit, the more threads each block has. `here` is a
    context.Context, `registers` the number for each lane, by whether the store is in shared memory; `store_bytes` is
    the size of a store of another form than the layout's.

    Many one-warp blocks are best for small stores, one large block for a store that fills the shared memory (measured:
    docs/measurements/tree-search.md). The propagation lists get the rest of the shared memory. Raises EngineError where
    the store must be in shared memory and does not fit.
    """
    fixed = STATE_BYTES + here.shared_reserved
    granules = here.shared_per_sm // SHARED_GRANULE
    least_lists = 2 * align16(4 * min(max(layout.queue_capacity, layout.changed_capacity), TUNING.short_list))
    most_store = here.shared_per_block - STATE_BYTES - least_lists
    size = layout.store_bytes if store_bytes is None else store_bytes
    shared = settings.store != "global" and size <= most_store
    if settings.store == "shared" and not shared:
        raise EngineError(f"store=shared: a store of {size} bytes does not fit into {most_store}")
    store = size if shared else 0
    with_rows = settings.model == "shared" and store + layout.rows_bytes <= most_store
    store += layout.rows_bytes if with_rows else 0
    fitting = max(granules // -(-(store + least_lists + fixed) // SHARED_GRANULE), 1)
    in_global = TUNING.lns_global_blocks_per_sm if settings.lns_percent else TUNING.global_blocks_per_sm
    most = TUNING.blocks_per_sm if shared else in_global
    wanted = min(fitting, most)
    threads = settings.threads or next(t for least, t in THREADS_BY_FIT if wanted >= least)
    threads = threads if layout.tnf.floats is None else min(threads, TUNING.float_threads)
    per_warp = -(-registers[shared] * WARP // 256) * 256
    by_registers = here.registers_per_sm // (per_warp * (threads // WARP))
    per_sm = max(min(wanted, by_registers, here.threads_per_sm // threads), 1)
    share = granules // per_sm * SHARED_GRANULE
    room = min(share - here.shared_reserved, here.shared_per_block) - STATE_BYTES - store
    entries = min(max(layout.queue_capacity, layout.changed_capacity), room // 2 // 16 * 16 // 4)
    blocks = settings.blocks or per_sm * here.sms
    return Shape(blocks, threads, shared, with_rows, store + 2 * align16(4 * entries), entries)
