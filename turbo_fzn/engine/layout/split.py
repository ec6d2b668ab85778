"""The host's part in splitting a tree ahead into parts (kernels/search/split.h)."""

from __future__ import annotations

from dataclasses import replace

from turbo_fzn.base.errors import EngineError
from turbo_fzn.engine.tuning import TUNING
from turbo_fzn.tnf.language import TNF, VarChoice


def split_bits(parts: int | None, blocks: int) -> int:
    """The least b so that 2^b is at least the number of parts, by default `parts_per_block` for each block."""
    return ((parts or TUNING.parts_per_block * blocks) - 1).bit_length()


def splittable(tnf: TNF, shares: bool) -> TNF:
    """The model, changed so that all blocks make the same parts: dom/wdeg, whose weights change during the search,
    becomes first_fail. Raises EngineError for real variables, and where engines share the tree."""
    if shares:
        raise EngineError("static-split is of one engine: several that share a tree split it on demand (--gpus 0,)")
    if tnf.floats is not None:
        raise EngineError("static-split is of integers: the domains of real variables depend on the order of rows")
    choices = {VarChoice.DOM_W_DEG: VarChoice.FIRST_FAIL}
    strategies = [replace(one, var_choice=choices.get(one.var_choice, one.var_choice)) for one in tnf.strategies]
    return replace(tnf, strategies=strategies)
