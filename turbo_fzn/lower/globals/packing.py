"""Boxes that must not overlap: diffn in any number of dimensions, and disjunctive, which is diffn in one dimension.

For any two boxes, one follows the other in some dimension: a clause for each pair. Besides, the rectangles on a line
across the space are together no longer than the space: a time table for each of two dimensions (see time_table.py), if
the rectangles fill enough of the space, and if the table is not much larger than the clauses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from turbo_fzn.base.domains import INFINITY
from turbo_fzn.lower import bulk
from turbo_fzn.lower import constraints_bool as boolean
from turbo_fzn.lower.builder import RowBuilder
from turbo_fzn.lower.globals.logic import all_of, conclude, truth
from turbo_fzn.lower.globals.time_table import tasks_of, time_table
from turbo_fzn.lower.inner import Choice, Span
from turbo_fzn.lower.tuning import TUNING
from turbo_fzn.lower.variables import Infeasible
from turbo_fzn.tnf.language import ADD, EQ, LEQ, MAX, MIN
from turbo_fzn.tnf.wide import WideKind

Dimension = tuple[Sequence[int], Sequence[int]]  # positions and sizes, variables
Pairs = tuple[np.ndarray, np.ndarray]


def disjunctive(b: RowBuilder, s: Sequence[int], d: Sequence[int], r: int) -> None:
    tasks(b, s, d, False, r)


def disjunctive_strict(b: RowBuilder, s: Sequence[int], d: Sequence[int], r: int) -> None:
    tasks(b, s, d, True, r)


def tasks(b: RowBuilder, s: Sequence[int], d: Sequence[int], strict: bool, r: int) -> None:
    """r = (no two tasks from s to s + d overlap, and no d is negative)."""
    parts: list[int] = []
    all_of(b, [(LEQ, b.false, length) for length in d], truth(b, r, parts))
    have_sizes = not strict or all(b.lower[b.find(length)] > 0 for length in d)
    is_whole = b.value(r) == 1 and len(s) >= TUNING.whole_least
    if is_whole and have_sizes and b.share:
        return b.wides.waiting.append(_choice(b, s, d, strict))
    one_follows_the_other(b, [(s, d)], strict, bulk.pairs(len(s)), truth(b, r, parts))
    conclude(b, r, parts)
    if is_whole:
        _state_whole(b, s, d, False)
    return None


def _choice(b: RowBuilder, s: Sequence[int], d: Sequence[int], strict: bool) -> Choice:
    """The ways to state that tasks do not overlap; unless `strict`, tasks of length 0 may lie within others."""

    def state(alone: bool) -> None:
        if not alone:
            one_follows_the_other(b, [(s, d)], strict, bulk.pairs(len(s)), b.true)
        _state_whole(b, s, d, alone)

    return Choice(lambda: len(s) * (len(s) - 1) // 2, state, gains=True)


def _state_whole(b: RowBuilder, s: Sequence[int], d: Sequence[int], alone: bool) -> None:
    state_as_a_whole(b, b.true, np.array([(start, length, b.true) for start, length in zip(s, d)]), None, alone)


def state_as_a_whole(b: RowBuilder, capacity: int, tasks: np.ndarray, made: Span | None, alone: bool) -> None:
    """States by wide rows that tasks (start, length, use; int64 [k, 3]) use at most the capacity. `made`: the span of
    the ternary rows, if they were all made for this constraint; `alone`: there are no ternary rows."""
    b.wides.add(WideKind.CUMULATIVE, [capacity], tasks, made, alone)
    if len(tasks) <= TUNING.energy_tasks:
        b.wides.add(WideKind.ENERGY, [capacity], tasks)


def diffn(b: RowBuilder, x: Sequence[int], y: Sequence[int], dx: Sequence[int], dy: Sequence[int], r: int) -> None:
    boxes(b, [(x, dx), (y, dy)], True, r)


def diffn_nonstrict(
    b: RowBuilder, x: Sequence[int], y: Sequence[int], dx: Sequence[int], dy: Sequence[int], r: int
) -> None:
    boxes(b, [(x, dx), (y, dy)], False, r)


def diffn_k(b: RowBuilder, k: int, positions: Sequence[int], sizes: Sequence[int], r: int) -> None:
    boxes(b, [(positions[i::k], sizes[i::k]) for i in range(k)], True, r)


def diffn_nonstrict_k(b: RowBuilder, k: int, positions: Sequence[int], sizes: Sequence[int], r: int) -> None:
    boxes(b, [(positions[i::k], sizes[i::k]) for i in range(k)], False, r)


def boxes(b: RowBuilder, dimensions: list[Dimension], strict: bool, r: int) -> None:
    """r = (no two boxes overlap); with `strict`, no box of size 0 lies within another."""
    n = len(dimensions[0][0]) if dimensions else 0
    one_follows_the_other(b, dimensions, strict, bulk.pairs(n), r)
    if b.value(r) == 1 and len(dimensions) == 2:
        across, along = dimensions
        _state_crossing(b, across, along)
        _state_crossing(b, along, across)


def one_follows_the_other(b: RowBuilder, dimensions: list[Dimension], strict: bool, pairs: Pairs, r: int) -> None:
    """r = (in each pair, one box ends in some dimension where the other begins, or before)."""
    done = np.zeros(len(pairs[0]), dtype=bool)
    literals: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []  # (numbers of pairs, ends, positions)
    for positions, sizes in dimensions:
        end = np.array([bulk.shared(b, ADD, *span) for span in zip(positions, sizes)], np.int64)
        position = np.array(positions, np.int64)
        (low, high), (end_low, end_high) = bulk.bounds(b, position), bulk.bounds(b, end)
        for first, second in (pairs, pairs[::-1]):
            done |= end_high[first] <= low[second]
            literals.append((np.flatnonzero(end_low[first] <= high[second]), end[first], position[second]))
    zeros = [] if strict else _truths_of_no_size(b, dimensions, pairs, done)
    leaves, groups = [], []
    for numbers, end, position in literals:
        kept = numbers[~done[numbers]]
        leaves.append(bulk.comparisons(b, end[kept], position[kept]))
        groups.append(kept)
    for numbers, zero in zeros:
        kept = ~done[numbers]
        leaves.append(zero[kept])
        groups.append(numbers[kept])
    clauses(b, leaves, groups, done, r)


def _truths_of_no_size(
    b: RowBuilder, dimensions: list[Dimension], pairs: Pairs, done: np.ndarray
) -> list[tuple[np.ndarray, np.ndarray]]:
    """(pairs, truths of "a size is 0"); sets `done` for the pairs where that is certain."""
    found = []
    for _, sizes in dimensions:
        zero = np.array([bulk.shared(b, EQ, size, b.false) for size in sizes], np.int64)
        low, high = bulk.bounds(b, zero)
        for side in pairs:
            done |= low[side] == 1
            numbers = np.flatnonzero(high[side] == 1)
            found.append((numbers, zero[side][numbers]))
    return found


def clauses(b: RowBuilder, leaves: list[np.ndarray], groups: list[np.ndarray], done: np.ndarray, r: int) -> None:
    """r = (for each group that is not done, some leaf is true)."""
    roots = bulk.grouped(b, MAX, np.concatenate([*leaves, []]).astype(np.int64),
                         np.concatenate([*groups, []]).astype(np.int64), len(done))  # fmt: skip
    if np.any(~done & (roots < 0)):
        if b.value(r) == 1:
            raise Infeasible
        return b.merge(r, b.false)
    return boolean.conjunction(b, roots[~done].tolist(), r)


def _state_crossing(b: RowBuilder, across: Dimension, along: Dimension) -> None:
    """States a time table: boxes at the same place across are together no longer than the space along."""
    crossing = tasks_of(b, across[0], across[1], along[1])
    n = len(crossing.s)
    if n < 2 or crossing.cells() > TUNING.crossing_cells * n * (n - 1):
        return
    space = spans(b, across, along)
    if space is None or float(np.sum(crossing.d_low * crossing.r_low)) < TUNING.filled_part * space:
        return
    present = [i for i in range(len(along[0])) if b.upper[b.find(across[1][i])] > 0 < b.upper[b.find(along[1][i])]]
    greatest = b.tree(MAX, [bulk.shared(b, ADD, along[0][i], along[1][i]) for i in present], 0)
    least = b.tree(MIN, [along[0][i] for i in present], 0)
    time_table(b, crossing, b.row(ADD, greatest, b.negative(least)), b.true)


def spans(b: RowBuilder, *dimensions: Dimension) -> float | None:
    """The area or volume in which all boxes lie; None if it is unbounded, or if a size may be negative."""
    volume = 1.0
    for positions, sizes in dimensions:
        (low, high), (least, most) = bulk.bounds(b, positions), bulk.bounds(b, sizes)
        if np.any(np.abs(np.stack((low, high, least, most))) >= INFINITY // 4) or np.any(least < 0):
            return None
        volume *= float(np.max(high + most) - np.min(low))
    return volume


LOWERINGS: dict[str, Callable[..., None]] = {
    "turbo_disjunctive": disjunctive,
    "turbo_disjunctive_strict": disjunctive_strict,
    "turbo_diffn": diffn,
    "turbo_diffn_nonstrict": diffn_nonstrict,
    "turbo_diffn_k": diffn_k,
    "turbo_diffn_nonstrict_k": diffn_nonstrict_k,
}
