"""Rows in bulk: whole columns appended to the builder, for constraints that become thousands of rows at once.

A table of 100,000 rows or an automaton of 1,000 states is lowered in a few array operations. The rows made here are new
by construction, so they are neither shared nor folded (tnf/simplify.py does both to whole columns); expressions that
other constraints may have too, such as the truth of `x = v`, are made by the builder's `row`.

Variables are int64 arrays of the builder's numbers; an operand of one number stands for a column of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

import numpy as np

from turbo_fzn.base.domains import INFINITY, IntSet
from turbo_fzn.base.errors import UnsupportedError
from turbo_fzn.lower.blocks import compact
from turbo_fzn.lower.builder import RowBuilder
from turbo_fzn.lower.intervals import BEYOND
from turbo_fzn.lower.trees import KEY_BITS
from turbo_fzn.lower.tuning import TUNING
from turbo_fzn.lower.variables import Infeasible
from turbo_fzn.tnf.language import ADD, COMMUTATIVE, ELEMENT, EQ, LEQ

Column = np.ndarray | int


def variables(b: RowBuilder, low: Sequence[int], high: Sequence[int]) -> np.ndarray:
    """Makes variables with these bounds. Returns their numbers."""
    first = len(b.parent)
    b.lower.extend(low)
    b.upper.extend(high)
    b.parent.extend(range(first, first + len(low)))
    return np.arange(first, first + len(low))


def booleans(b: RowBuilder, count: int) -> np.ndarray:
    return variables(b, [0] * count, [1] * count)


def state(b: RowBuilder, op: int, x: Column, y: Column, z: Column) -> None:
    """States x = y op z, one row for each place of the columns."""
    count = max(np.size(x), np.size(y), np.size(z)) if np.size(y) and np.size(z) else 0
    if count:
        block = np.empty((4, count), np.int64)
        block[0], block[1], block[2], block[3] = op, x, y, z
        b.blocks.append(compact(block))


def truths(b: RowBuilder, op: int, y: Column, z: Column) -> np.ndarray:
    """New Booleans y op z: comparisons, or MIN and MAX of Booleans."""
    x = booleans(b, max(np.size(y), np.size(z)) if np.size(y) and np.size(z) else 0)
    state(b, op, x, y, z)
    return x


def constants(b: RowBuilder, values: np.ndarray) -> np.ndarray:
    """The variables of these constants."""
    distinct, place = np.unique(values, return_inverse=True)
    return np.array([b.constant(v) for v in distinct.tolist()], np.int64)[place.reshape(-1)]


def pairs(n: int) -> tuple[np.ndarray, np.ndarray]:
    """The places i < j of all pairs of n, as two arrays that must not be changed."""
    return _small_pairs(n) if n <= TUNING.bulk_leaves else np.triu_indices(n, 1)


@cache
def _small_pairs(n: int) -> tuple[np.ndarray, np.ndarray]:
    """`pairs` for small n, cached, since NumPy takes as long for a few as for hundreds."""
    places = np.triu_indices(n, 1)
    for side in places:
        side.flags.writeable = False
    return places


def keys(y: np.ndarray, z: np.ndarray) -> np.ndarray:
    """The keys of y and z in the builder's `results`."""
    return (y << KEY_BITS) + z


def comparisons(b: RowBuilder, y: np.ndarray, z: np.ndarray) -> np.ndarray:
    """The Booleans y <= z; existing ones are shared."""
    known = b.results[LEQ].get
    x = np.array([known(key, -1) for key in keys(y, z).tolist()], np.int64)
    new = np.flatnonzero(x < 0)
    x[new] = truths(b, LEQ, y[new], z[new])
    return x


def bounds(b: RowBuilder, x: Iterable[int]) -> tuple[np.ndarray, np.ndarray]:
    """The lower and the upper bounds of variables."""
    numbers = [b.find(int(v)) for v in x]
    return tuple(np.array([side[v] for v in numbers], np.int64) for side in (b.lower, b.upper))  # type: ignore


def trees(b: RowBuilder, op: int, leaves: np.ndarray, group: np.ndarray, n_groups: int) -> np.ndarray:
    """For each group the root of a balanced tree over its leaves, -1 for a group without leaves.

    `op` is MIN or MAX of Booleans, or ADD of anything; `group` (0 to n_groups - 1) ascends.
    """
    if len(leaves) <= TUNING.bulk_leaves:
        return _small_trees(b, op, leaves, group, n_groups)
    low, high = bounds(b, leaves if op == ADD else ())
    while True:
        size = np.bincount(group, minlength=n_groups)
        if size.max(initial=0) <= 1:
            break
        place = np.arange(len(group)) - (np.cumsum(size) - size)[group]
        left = np.flatnonzero((place % 2 == 0) & (place + 1 < size[group]))
        kept = np.flatnonzero(place % 2 == 0)
        if op == ADD:
            low[left], high[left] = _add_bounds(low[left], low[left + 1]), _add_bounds(high[left], high[left + 1])
            if np.any(low[left] >= INFINITY) or np.any(high[left] <= -INFINITY):
                raise UnsupportedError(BEYOND)
            x = variables(b, low[left].tolist(), high[left].tolist())
            low, high = low[kept], high[kept]
        else:
            x = booleans(b, len(left))
        state(b, op, x, leaves[left], leaves[left + 1])
        leaves = leaves.copy()
        leaves[left] = x
        leaves, group = leaves[kept], group[kept]
    roots = np.full(n_groups, -1)
    roots[group] = leaves
    return roots


def _small_trees(b: RowBuilder, op: int, leaves: np.ndarray, group: np.ndarray, n_groups: int) -> np.ndarray:
    """`trees` one at a time by the builder, which is faster for a few leaves, and shares and folds."""
    members: list[list[int]] = [[] for _ in range(n_groups)]
    for leaf, number in zip(leaves.tolist(), group.tolist()):
        members[number].append(leaf)
    return np.array([b.tree(op, some, 0) if some else -1 for some in members], np.int64)


def _add_bounds(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The sums of lower (or of upper) bounds; ±INFINITY without a bound, and for sums beyond it."""
    total = np.where(np.abs(first) == INFINITY, first, np.where(np.abs(second) == INFINITY, second, first + second))
    return np.clip(total, -INFINITY, INFINITY)


def tree(b: RowBuilder, op: int, leaves: np.ndarray) -> int:
    """The root of one tree over at least one leaf."""
    return int(trees(b, op, np.asarray(leaves), np.zeros(len(leaves), np.int64), 1)[0])


def grouped(b: RowBuilder, op: int, leaves: np.ndarray, group: np.ndarray, n_groups: int) -> np.ndarray:
    """`trees` of groups in any order."""
    order = np.argsort(group, kind="stable")
    return trees(b, op, leaves[order], group[order], n_groups)


def merge(b: RowBuilder, first: np.ndarray, second: np.ndarray) -> None:
    """Merges first[i] and second[i] for all i."""
    for one, other in zip(first.tolist(), second.tolist()):
        b.merge(one, other)


# Values


def shared(b: RowBuilder, op: int, y: int, z: int) -> int:
    """The variable that equals y op z, shared by all constraints: shared truth values propagate between globals."""
    known = b.known(op, z, y) if z < y and op in COMMUTATIVE else b.known(op, y, z)
    return b.row(op, y, z) if known is None else known


def domain(b: RowBuilder, x: int) -> IntSet:
    """The values that a variable can have; `are_finite`: whether they can be listed. Raises Infeasible if no value is
    left, which narrowing of bounds alone does not detect in a domain with holes."""
    x = b.find(x)
    interval = IntSet.interval(b.lower[x], b.upper[x])
    values = b.domains[x] & interval if x in b.domains else interval
    if not values:
        raise Infeasible
    return values


def are_finite(b: RowBuilder, x: Iterable[int], most: int) -> bool:
    """Whether the variables have at most `most` values together, so that each value may get a truth value."""
    return sum(b.upper[v] - b.lower[v] + 1 for v in map(b.find, x)) <= most


def possible(b: RowBuilder, x: int, values: np.ndarray) -> np.ndarray:
    """Whether x can have each of the values (bool)."""
    x = b.find(x)
    if x not in b.domains:
        return (b.lower[x] <= values) & (values <= b.upper[x])
    ranges = np.array(domain(b, x).ranges, np.int64).reshape(-1, 2)
    place = np.searchsorted(ranges[:, 0], values, side="right") - 1
    return (place >= 0) & (values <= ranges[place, 1])


def define_memberships(b: RowBuilder, x: Sequence[int], domains: Sequence[IntSet]) -> None:
    """States that each variable, of which only bounds are known, is in its domain, which lies within these bounds and
    becomes a table (builder.is_table). Many variables share a domain, the same object."""
    tables: dict[int, tuple[int, ...]] = {}
    for variable, values in zip(x, domains):
        table = tables.get(id(values))
        if table is None:
            table = tables[id(values)] = values.lower, values.upper, b.table(tuple(values)), values.size - 1
        b.lower[variable], b.upper[variable], _, _ = table
    offsets, last = ([tables[id(values)][k] for values in domains] for k in (2, 3))
    index = variables(b, [0] * len(x), last)
    block = np.stack([np.full(len(x), ELEMENT), np.array(x, np.int64), index, np.array(offsets, np.int64)])
    b.add_rows(block)
    b.results[ELEMENT].update(zip(keys(block[2], block[3]).tolist(), x))
    b.domains.update(zip(x, domains))
    b.index_of.update(zip(x, index.tolist()))


def truths_of_values(b: RowBuilder, x: int, values: Iterable[int]) -> np.ndarray:
    """The truth of x = v for each of the values, shared with other constraints."""
    return np.array([shared(b, EQ, x, b.constant(int(v))) for v in values], np.int64)


def restrict_to(b: RowBuilder, x: int, values: Iterable[int]) -> None:
    """States that x has one of these values, without rows for values that its domain excludes."""
    allowed = domain(b, x) & (values if isinstance(values, IntSet) else IntSet.of_values(map(int, values)))
    if allowed != domain(b, x):
        b.define_membership(x, allowed)


def imply(b: RowBuilder, condition: Column, conclusion: Column) -> None:
    """States that each condition implies its conclusion."""
    state(b, LEQ, b.true, condition, conclusion)
