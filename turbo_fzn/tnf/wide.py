"""Wide rows: constraints that propagate as a whole, beside the ternary rows that state the same.

The ternary rows define the solutions. A wide row propagates all arguments of a constraint at once. Every solution
satisfies it, so an engine may run it or leave it out; learners run it. A kind consists of its header in
kernels/learn/propagators/ (wide.h there describes its contents) and its row in KINDS.

A constraint over hundreds of tasks would have millions of ternary rows, too many for every engine. Then the wide row
stands `alone`, and only learners can search the model (run/policy.py).

The rows of a constraint may have variables that no other constraint names (`TNF.inner`): they only describe how the
constraint holds. A learner that has the wide row omits them (outsourced.py).

| kind          | head            | groups               | relation                                                   |
|---------------|-----------------|----------------------|------------------------------------------------------------|
| ALL_DIFFERENT |                 | (x)                  | no two of the x are the same                               |
| CUMULATIVE    | (capacity)      | (start, length, use) | at each time the tasks that run use at most the capacity   |
| ELEMENT       | (result, index, | (truth, member)      | where the index is first, first + 1, ... the next truth is |
|               | first)          |                      | true, and its member is the result                         |
| ENERGY        | (capacity)      | (start, length, use) | likewise, by what they use in windows of time              |
| CIRCUIT       | (n)             | (truth, from, to)    | edges that are true and no loops are one cycle             |
| REACHABLE     | (n, root)       | (truth, from, to)    | nodes that are in are reached over true edges              |

The nodes of a graph are 0..n-1; n, root, `from` and `to` are constants. Exactly one of the edges of a CIRCUIT from a
node is true, and exactly one of the edges to it: other rows state this. A node whose loop is true is left out.

The first n groups of a REACHABLE are (truth, i, i) for each node i in order, whose truth is that it is in. Nodes are
reached over nodes that are in, from the root, or from each other where the root is -1 and edges have no direction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np


class WideKind(IntEnum):
    """What a wide row says; the table above tells."""

    ALL_DIFFERENT = 0
    CUMULATIVE = 1
    ELEMENT = 2
    ENERGY = 3
    CIRCUIT = 4
    REACHABLE = 5


@dataclass(frozen=True, repr=False)
class Wide:
    """A wide row over variables: `head` (int64 [h]) and `groups` (int64 [k, w]), as the table has them for its kind.
    `alone`: no ternary rows state the same."""

    kind: WideKind
    head: np.ndarray
    groups: np.ndarray
    alone: bool = False

    @property
    def variables(self) -> np.ndarray:
        """Its arguments in order (int64 [h + k w])."""
        return np.concatenate((self.head, self.groups.reshape(-1)))

    def holds(self, values: np.ndarray) -> bool:
        """Whether it holds for these values (int64 [n]) of all variables of the model."""
        return KINDS[self.kind].holds(values[self.head].tolist(), values[self.groups].tolist())


def _all_differ(head: list[int], groups: list[list[int]]) -> bool:
    return len({x for (x,) in groups}) == len(groups)


def _tasks_fit(head: list[int], groups: list[list[int]]) -> bool:
    (capacity,), changes, use = head, Counter[int](), 0
    for start, length, needed in groups:
        if length > 0:
            changes[start] += needed
            changes[start + length] -= needed
    for time in sorted(changes):
        use += changes[time]
        if use > capacity:
            return False
    return True


def _member_is_result(head: list[int], groups: list[list[int]]) -> bool:
    (result, index, first), place = head, head[1] - head[2]
    told = [truth == (first + i == index) for i, (truth, _) in enumerate(groups)]
    return all(told) and 0 <= place < len(groups) and groups[place][1] == result


def _edges_tour(head: list[int], groups: list[list[int]]) -> bool:
    (n,), true = head, [(i, j) for truth, i, j in groups if truth]
    follows = dict(true)
    at = first = next((i for i, j in true if i != j), -1)
    seen = {first} if first >= 0 else set()
    while (at := follows.get(at, first)) not in seen | {-1}:
        seen.add(at)
    is_permutation = len(true) == len(follows) == len(set(follows.values())) == n
    return is_permutation and seen == {i for i, j in true if i != j}


def _all_reached(head: list[int], groups: list[list[int]]) -> bool:
    n, root = head
    is_in = [bool(truth) for truth, _, _ in groups[:n]]
    arcs = [(i, j) for truth, i, j in groups[n:] if truth]
    arcs += [(j, i) for i, j in arcs] if root < 0 else []
    seen = {root} if root >= 0 else {i for i in range(n) if is_in[i] and not any(is_in[:i])}
    while more := {j for i, j in arcs if i in seen and is_in[j]} - seen:
        seen |= more
    return all(i in seen for i in range(n) if is_in[i])


LOWER, UPPER = 0, 1  # format: sides of a variable
BOTH = (LOWER, UPPER)


@dataclass(frozen=True, eq=False, repr=False)
class Facts:
    """The facts about a kind: its relation of head and groups; and for each place in a head and in a group the bounds
    of a variable that wake the row when they change."""

    holds: Callable[[list[int], list[list[int]]], bool]
    head_wakes: tuple[tuple[int, ...], ...]
    group_wakes: tuple[tuple[int, ...], ...]


KINDS: dict[WideKind, Facts] = {
    WideKind.ALL_DIFFERENT: Facts(_all_differ, (), (BOTH,)),
    WideKind.CUMULATIVE: Facts(_tasks_fit, ((UPPER,),), (BOTH, (LOWER,), (LOWER,))),
    WideKind.ENERGY: Facts(_tasks_fit, ((UPPER,),), (BOTH, (LOWER,), (LOWER,))),
    WideKind.ELEMENT: Facts(_member_is_result, (BOTH, (), ()), (BOTH, BOTH)),
    WideKind.CIRCUIT: Facts(_edges_tour, ((),), (BOTH, (), ())),
    WideKind.REACHABLE: Facts(_all_reached, ((), ()), (BOTH, (), ())),
}


def named_by(wides: list[Wide]) -> np.ndarray:
    """The variables of all of them (int64)."""
    return np.concatenate([np.empty(0, np.int64), *(wide.variables for wide in wides)])


def renumbered(wides: list[Wide], number: np.ndarray) -> list[Wide]:
    """The wide rows with `number` (int64 [n]) of each variable."""
    return [replace(wide, head=number[wide.head], groups=number[wide.groups]) for wide in wides]


def all_of_class(mask: np.ndarray, representative: np.ndarray) -> np.ndarray:
    """The representatives (bool [n]) of classes whose members are all in the mask (bool [k], k <= n)."""
    result = np.ones(len(representative), bool)
    result[representative[len(mask) :]] = False
    result[representative[: len(mask)][~mask]] = False
    return result
