"""Families of interchangeable blocks: each two of them can be swapped, variable by variable, with the others fixed."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from turbo_fzn.symmetry.automorphisms import Swap

Block = tuple[int, ...]  # variables; those at the same place of two blocks are swapped with each other


def families(swaps: Iterable[Swap], rank: np.ndarray) -> list[list[Block]]:
    """The families that swaps (automorphisms.py) generate, their blocks and the places of each in the order of `rank`.
    A swap that continues no family begins one of two blocks."""
    found: list[list[Block]] = []
    for swap in swaps:
        image = dict(zip(swap.moved.tolist(), swap.images.tolist()))
        if not any(_continues(family, image) for family in found):
            first = sorted((v for v in image if rank[v] < rank[image[v]]), key=rank.__getitem__)
            found.append([tuple(first), tuple(image[v] for v in first)])
    for family in found:
        family.sort(key=lambda block: int(rank[block[0]]))
    return found


def _continues(family: list[Block], image: dict[int, int]) -> bool:
    """Whether the swap exchanges a block of the family for a new one and moves nothing else; the family then has it."""
    touched = [block for block in family if image.keys() & set(block)]
    if len(touched) != 1 or len(image) != 2 * len(touched[0]):
        return False
    new = tuple(image.get(v, v) for v in touched[0])
    if set(new) & set(touched[0]):
        return False
    family.append(new)
    return True
