"""Blocks: rows of the builder as columns op, x, y, z (int32 or int64 [4, k])."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def compact(block: np.ndarray) -> np.ndarray:
    """The block in 32 bits if its numbers fit, which fails only for offsets of very large tables."""
    return block.astype(np.int32) if not block.size or np.abs(block).max() < 2**31 else block


def count_rows(blocks: Sequence[np.ndarray]) -> int:
    return sum(block.shape[1] for block in blocks)
