"""cumulative: the resource used at some times does not exceed the capacity.

Use rises only where a task starts, so there are two sets of times that are enough: all at which some task can start,
or the starts of the tasks themselves. The first is a time table (Lahrichi 1982); its size grows with the horizon. The
second compares each pair of tasks (Schutt et al. 2009), and gains from saying of two that together use too much that
one follows the other. The smaller is taken; a cell of the time table costs half of a pair. Where a use may be negative
(MiniZinc allows none) a sum is no longer the greater for each task that runs: then there are the starts only, and only
those of tasks that have a length.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from turbo_fzn.lower import bulk
from turbo_fzn.lower.builder import Builder
from turbo_fzn.lower.globals.logic import all_of, conclude, truth
from turbo_fzn.lower.globals.packing import one_follows_the_other
from turbo_fzn.lower.globals.time_table import Tasks, products, tasks_of, time_table
from turbo_fzn.tnf.language import ADD, LEQ, MAX, MIN

CELLS_FOR_EACH_PAIR = 2


def cumulative(b: Builder, s: Sequence[int], d: Sequence[int], r: Sequence[int], capacity: int, result: int) -> None:
    """result = (at each time the tasks from s to s + d use at most the capacity, r each)."""
    if not s:
        return b.merge(result, b.true)
    parts: list[int] = []
    all_of(b, [(LEQ, b.false, capacity)], truth(b, result, parts))
    tasks = tasks_of(b, s, d, r)
    n_pairs = len(tasks.s) * (len(tasks.s) - 1)
    is_small = tasks.cells() <= CELLS_FOR_EACH_PAIR * n_pairs and not tasks.may_give()
    form = time_table if is_small else task_pairs
    form(b, tasks, capacity, truth(b, result, parts))
    return conclude(b, result, parts)


def task_pairs(b: Builder, tasks: Tasks, capacity: int, result: int) -> None:
    """At the start of each task j, the sum over the tasks i that run then; and one follows the other."""
    n = len(tasks.s)
    ends = [bulk.shared(b, ADD, s, b.row(ADD, d, b.constant(-1))) for s, d in zip(tasks.s.tolist(), tasks.d.tolist())]
    last = np.array(ends, np.int64)
    last_low, last_high = bulk.bounds(b, last)
    j, i = (side.reshape(-1) for side in np.indices((n, n)))
    meet = (i != j) & (tasks.s_low[i] <= tasks.s_high[j]) & (tasks.s_low[j] <= last_high[i])
    i, j = i[meet], j[meet]
    begun, going = np.full(len(i), b.true), np.full(len(i), b.true)
    may_wait, may_end = tasks.s_high[i] > tasks.s_low[j], last_low[i] < tasks.s_high[j]
    begun[may_wait] = bulk.comparisons(b, tasks.s[i[may_wait]], tasks.s[j[may_wait]])
    going[may_end] = bulk.comparisons(b, tasks.s[j[may_end]], last[i[may_end]])
    runs = np.where(may_wait, begun, going)
    both = may_wait & may_end
    runs[both] = bulk.truths(b, MIN, begun[both], going[both])
    own = np.array([b.row(LEQ, b.true, d) for d in tasks.d.tolist()], np.int64)
    task, place = np.concatenate((np.arange(n), i)), np.concatenate((np.arange(n), j))
    use = products(b, np.concatenate((own, runs)), tasks, task)
    totals = bulk.grouped(b, ADD, use, place, n)
    parts: list[int] = []
    if tasks.may_give():
        for total, length in zip(totals.tolist(), tasks.d.tolist()):
            b.define(truth(b, result, parts), MAX, b.row(LEQ, total, capacity), b.row(LEQ, length, b.false))
        return conclude(b, result, parts)
    all_of(b, [(LEQ, total, capacity) for total in totals.tolist()], truth(b, result, parts))
    conclude(b, result, parts)
    if b.value(result) == 1:
        state_followers(b, tasks, b.upper[b.find(capacity)])
    return None


def state_followers(b: Builder, tasks: Tasks, capacity: int) -> None:
    """Of two tasks that use too much together, one follows the other."""
    i, j = np.triu_indices(len(tasks.s), 1)
    sure = (tasks.d_low > 0)[i] & (tasks.d_low > 0)[j]
    crowded = sure & (tasks.r_low[i].astype(object) + tasks.r_low[j] > capacity).astype(bool)
    one_follows_the_other(b, [(tasks.s.tolist(), tasks.d.tolist())], True, (i[crowded], j[crowded]), b.true)
