"""Statistics of an engine besides its blocks' counts: memory by kind, and subproblems."""

from __future__ import annotations

from turbo_fzn.engine.abi.abi import Common
from turbo_fzn.engine.layout.layout import Layout


def memory_by_kind(layout: Layout, retires: bool) -> dict[str, int]:
    """The bytes of the model and of each block's parts; with `retires`, including the marks of retired rows."""
    arrays = layout.arrays
    return {
        "memoryRows": layout.rows_bytes,
        "memoryWatches": arrays["store_watches"].nbytes + arrays["store_watchers"].nbytes,
        "memoryStore": layout.plain_store_bytes + retires * layout.marks_bytes,
        "memoryLists": layout.list_bytes,
        "memoryStack": layout.stack_bytes,
    }


def subproblem_counts(layout: Layout, common: Common) -> dict[str, int]:
    """The numbers of subproblems made, taken, solved and skipped. Each block counts the subproblems that it gives
    away."""
    made = 1 << layout.split_bits if layout.settings.split else common.pool_tail
    return {
        "subproblems": made,
        "subproblems_taken": min(common.pool_head, common.pool_tail),
        "subproblems_solved": made - common.outstanding - common.skipped_parts,
        "subproblems_skipped": common.skipped_parts,
    }
