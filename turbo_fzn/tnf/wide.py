"""Wide rows: constraints that reason as a whole, beside the ternary rows that say the same.

Rows decide what a solution is. A wide row only sees more: all arguments of a constraint at once. Every solution of the
rows satisfies it, so an engine may run it or leave it out; learners run it (engine/layout/wide.py, kernels/learn/wide.h).

| kind          | head       | groups                   | relation                                                  |
|---------------|------------|--------------------------|-----------------------------------------------------------|
| ALL_DIFFERENT |            | (x)                      | no two of the x are the same                              |
| CUMULATIVE    | (capacity) | (start, length, use)     | at each time the tasks that run use at most the capacity  |

A group may be left out: what is left is weaker, and still true (of CUMULATIVE since no use or length is negative).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np


class WideKind(IntEnum):
    """What a wide row says; the table above tells."""

    ALL_DIFFERENT = 0
    CUMULATIVE = 1


@dataclass(frozen=True)
class Wide:
    """A wide row over variables: `head` (int64 [h]) and `groups` (int64 [k, w]), as the table has them for its kind."""

    kind: WideKind
    head: np.ndarray
    groups: np.ndarray

    @property
    def variables(self) -> np.ndarray:
        """Its arguments in order (int64 [h + k w])."""
        return np.concatenate((self.head, self.groups.reshape(-1)))


def named_by(wides: list[Wide]) -> np.ndarray:
    """The variables of all of them (int64)."""
    return np.concatenate([np.empty(0, np.int64), *(wide.variables for wide in wides)])


def renumbered(wides: list[Wide], number: np.ndarray) -> list[Wide]:
    """The wide rows with `number` (int64 [n]) of each variable; where that is -1 for one of a group, without the group.
    A row with a head that has none, or with fewer than two groups, is left out."""
    renamed = [Wide(wide.kind, number[wide.head], number[wide.groups]) for wide in wides]
    whole = [Wide(wide.kind, wide.head, wide.groups[(wide.groups >= 0).all(axis=1)]) for wide in renamed]
    return [wide for wide in whole if (wide.head >= 0).all() and len(wide.groups) > 1]
