"""The shape of a launch on a GPU: blocks, threads, and the contents of shared memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from turbo_fzn.base.errors import EngineError
from turbo_fzn.engine.abi.abi import STATE_BYTES
from turbo_fzn.engine.abi.aligned import align16
from turbo_fzn.engine.layout.layout import Layout, Settings

SHORT_LIST = 256  # the least entries of a propagation list (measured: docs/measurements/tree-search.md)
MAX_BLOCKS_PER_SM = 32
GLOBAL_BLOCKS_PER_SM = 8  # for stores in global memory
LNS_GLOBAL_BLOCKS_PER_SM = 2  # likewise with neighbourhoods: fewer at once, which end sooner, are better
WARP = 32
SHARED_GRANULE = 256  # bytes; a block's shared memory is a multiple of it (128 from sm_80 on)
FLOAT_THREADS = 256  # at most, with real variables: their rows need more registers
# Where at most so many blocks fit an SM, and so many times as many do without inner links, stores are without them.
FEW_BLOCKS_PER_SM, FUSED_GAIN = 2, 1.5
THREADS_BY_FIT = ((12, 32), (6, 64), (3, 128), (2, 256), (1, 512))  # (blocks that fit an SM, at least; threads a block)


@dataclass(frozen=True)
class Shape:
    """The shape of a launch."""

    blocks: int
    threads: int
    store_shared: bool
    model_shared: bool
    shared_bytes: int
    list_entries: int


def may_fuse(settings: Settings) -> bool:
    """Whether stores without inner links may be chosen for this run: not where the settings say where they lie."""
    return settings.store is None and settings.model is None and settings.sort is None and not settings.bitsets


def pays(fused: Shape, ternary: Shape, sms: int) -> bool:
    """Whether a launch without inner links is to be preferred (measured: docs/measurements/tree-search.md)."""
    if not fused.store_shared or not ternary.store_shared:
        return fused.store_shared
    return ternary.blocks <= FEW_BLOCKS_PER_SM * sms and fused.blocks >= FUSED_GAIN * ternary.blocks


def launch_shape(here: Any, layout: Layout, registers: dict[bool, int], settings: Settings) -> Shape:
    """The shape with as many blocks as fit; the fewer fit, the more threads each has. `here` is a context.Context,
    `registers` the number for each lane, by whether the store is in shared memory.

    Many one-warp blocks are best for small stores, one large block for a store that fills the shared memory (measured:
    docs/measurements/tree-search.md). The propagation lists get the rest of the shared memory. Raises EngineError where
    the store must be in shared memory and does not fit.
    """
    fixed = STATE_BYTES + here.shared_reserved
    granules = here.shared_per_sm // SHARED_GRANULE
    least_lists = 2 * align16(4 * min(max(layout.queue_capacity, layout.changed_capacity), SHORT_LIST))
    most_store = here.shared_per_block - STATE_BYTES - least_lists
    shared = settings.store != "global" and layout.store_bytes <= most_store
    if settings.store == "shared" and not shared:
        raise EngineError(f"store=shared: a store of {layout.store_bytes} bytes does not fit into {most_store}")
    store = layout.store_bytes if shared else 0
    with_rows = settings.model == "shared" and store + layout.rows_bytes <= most_store
    store += layout.rows_bytes if with_rows else 0
    fitting = max(granules // -(-(store + least_lists + fixed) // SHARED_GRANULE), 1)
    most = MAX_BLOCKS_PER_SM if shared else LNS_GLOBAL_BLOCKS_PER_SM if settings.lns_percent else GLOBAL_BLOCKS_PER_SM
    wanted = min(fitting, most)
    threads = settings.threads or next(t for least, t in THREADS_BY_FIT if wanted >= least)
    threads = threads if layout.tnf.floats is None else min(threads, FLOAT_THREADS)
    per_warp = -(-registers[shared] * WARP // 256) * 256
    by_registers = here.registers_per_sm // (per_warp * (threads // WARP))
    per_sm = max(min(wanted, by_registers, here.threads_per_sm // threads), 1)
    share = granules // per_sm * SHARED_GRANULE
    room = min(share - here.shared_reserved, here.shared_per_block) - STATE_BYTES - store
    entries = min(max(layout.queue_capacity, layout.changed_capacity), room // 2 // 16 * 16 // 4)
    blocks = settings.blocks or per_sm * here.sms
    return Shape(blocks, threads, shared, with_rows, store + 2 * align16(4 * entries), entries)
