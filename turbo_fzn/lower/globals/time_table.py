"""A time table (Lahrichi 1982): the use of all running tasks at each time at which some task can start.

A task is running at a time if it has begun and not ended: two truth values for each pair of a task and a time, or a
single truth value where the other is certain. Used by cumulative and, for each direction, by diffn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from turbo_fzn.base.domains import INFINITY
from turbo_fzn.lower import bulk
from turbo_fzn.lower.builder import RowBuilder
from turbo_fzn.lower.globals.logic import all_of
from turbo_fzn.tnf.language import ADD, LEQ, MIN, MUL


class Tasks(NamedTuple):
    """The tasks that can have a positive or a negative use: their variables as columns, with their bounds."""

    s: np.ndarray
    d: np.ndarray
    r: np.ndarray
    s_low: np.ndarray
    s_high: np.ndarray
    d_low: np.ndarray
    d_high: np.ndarray
    r_low: np.ndarray
    r_high: np.ndarray

    def cells(self) -> int:
        """The number of pairs of a time and a task that may run then; INFINITY if a task is unbounded."""
        ends = np.stack((self.s_low, self.s_high, self.d_high))
        if np.any(np.abs(ends) >= INFINITY // max(3 * len(self.s), 1)):
            return INFINITY
        return int(np.sum(self.s_high - self.s_low + self.d_high))

    def may_give(self) -> bool:
        return bool(np.any(self.r_low < 0))


def tasks_of(b: RowBuilder, s: Sequence[int], d: Sequence[int], r: Sequence[int]) -> Tasks:
    columns = [np.array([b.find(v) for v in side], np.int64) for side in (s, d, r)]
    ends = [side for column in columns for side in bulk.bounds(b, column)]
    used = (ends[3] > 0) & ((ends[4] < 0) | (ends[5] > 0))
    return Tasks(*(column[used] for column in (*columns, *ends)))


def time_table(b: RowBuilder, tasks: Tasks, capacity: int, result: int) -> None:
    """States the sum for each time at which some task can start, if it can be too large."""
    task, time = _cells_of(tasks)
    times, place = np.unique(time, return_inverse=True)
    place = place.reshape(-1)
    starts = np.zeros(len(times), dtype=bool)
    starts[place[time <= tasks.s_high[task]]] = True
    most = np.bincount(place, weights=tasks.r_high[task].astype(float), minlength=len(times))
    kept = (starts & (most > b.lower[b.find(capacity)]))[place]
    task, time, place = task[kept], time[kept], place[kept]
    if len(task):
        runs = _truths_of_running(b, tasks, task, time)
        use = products(b, runs, tasks, task)
        totals = bulk.grouped(b, ADD, use, place, len(times))
        all_of(b, [(LEQ, total, capacity) for total in totals[totals >= 0].tolist()], result)
    elif b.value(result) != 1:
        b.merge(result, b.true)


def _cells_of(tasks: Tasks) -> tuple[np.ndarray, np.ndarray]:
    """The pairs of a task and a time at which it may run."""
    lengths = tasks.s_high - tasks.s_low + tasks.d_high
    task = np.repeat(np.arange(len(lengths)), lengths)
    offset = np.arange(len(task)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return task, tasks.s_low[task] + offset


def _truths_of_running(b: RowBuilder, tasks: Tasks, task: np.ndarray, time: np.ndarray) -> np.ndarray:
    """The truth of s <= time < s + d for each cell; a single comparison where the other is certain."""
    may_wait, may_end = time < tasks.s_high[task], time >= (tasks.s_low + tasks.d_low)[task]
    begun, going = np.full(len(task), b.true), np.full(len(task), b.true)
    begun[may_wait] = bulk.truths(b, LEQ, tasks.s[task[may_wait]], bulk.constants(b, time[may_wait]))
    fixed = tasks.d_low == tasks.d_high  # then t < s + d is t - d + 1 <= s
    last = np.array([s if known else bulk.shared(b, ADD, s, b.row(ADD, d, b.constant(-1)))
                     for s, d, known in zip(tasks.s.tolist(), tasks.d.tolist(), fixed.tolist())], np.int64)  # fmt: skip
    moment = bulk.constants(b, (time - np.where(fixed, tasks.d_low - 1, 0)[task])[may_end])
    going[may_end] = bulk.truths(b, LEQ, moment, last[task[may_end]])
    runs = np.where(may_wait, begun, going)
    both = may_wait & may_end
    runs[both] = bulk.truths(b, MIN, begun[both], going[both])
    return runs


def products(b: RowBuilder, runs: np.ndarray, tasks: Tasks, task: np.ndarray) -> np.ndarray:
    """The use of each cell: run * r."""
    use = runs.copy()
    scaled = np.flatnonzero((tasks.r_low[task] != 1) | (tasks.r_high[task] != 1))
    low, high = np.minimum(tasks.r_low, 0)[task[scaled]], np.maximum(tasks.r_high, 0)[task[scaled]]
    use[scaled] = bulk.variables(b, low.tolist(), high.tolist())
    bulk.state(b, MUL, use[scaled], runs[scaled], tasks.r[task[scaled]])
    return use
