"""A tree that is split ahead into parts (kernels/search/split.h): what of it is the host's."""

from __future__ import annotations

from dataclasses import replace

from turbo_fzn.errors import EngineError
from turbo_fzn.tnf.language import TNF, VarChoice

PARTS_A_BLOCK = 32  # Régin, Rezgui and Malapert found 30 and more to be best


def split_bits(parts: int | None, blocks: int) -> int:
    """The tree is split into two to this power: so many parts, or enough for each block."""
    return ((parts or PARTS_A_BLOCK * blocks) - 1).bit_length()


def splittable(tnf: TNF, shares: bool) -> TNF:
    """The same model, of which all blocks make the same parts: what follows failures, which change meanwhile, takes the
    smallest domain. Raises EngineError where that is not enough, and where engines share the tree."""
    if shares:
        raise EngineError("static-split is of one engine: several that share a tree split it on demand (--gpus 0,)")
    if tnf.floats is not None:
        raise EngineError("static-split is of integers: the domains of real variables depend on the order of rows")
    choices = {VarChoice.DOM_W_DEG: VarChoice.FIRST_FAIL}
    strategies = [replace(one, var_choice=choices.get(one.var_choice, one.var_choice)) for one in tnf.strategies]
    return replace(tnf, strategies=strategies)
