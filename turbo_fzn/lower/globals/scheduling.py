"""cumulative: the resource used at some times does not exceed the capacity.

Use rises only where a task starts, so two sets of times are sufficient: all times at which some task can start, or the
starts of the tasks themselves. The first is a time table (Lahrichi 1982); its size grows with the horizon. The second
compares each pair of tasks (Schutt et al. 2009), and is stronger by stating that of two tasks which together exceed the
capacity one follows the other. The smaller is taken; a cell of the time table costs half of a pair. If a use may be
negative (not in MiniZinc), use also rises where such a task ends: then the second is taken, with these times.
Constraints for which the model's rows do not suffice (budget.py) are left to wide rows alone, where the run allows it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from turbo_fzn.lower import bulk
from turbo_fzn.lower.builder import RowBuilder
from turbo_fzn.lower.globals.logic import all_of, conclude, truth
from turbo_fzn.lower.globals.packing import one_follows_the_other, state_as_a_whole
from turbo_fzn.lower.globals.time_table import Tasks, products, tasks_of, time_table
from turbo_fzn.lower.inner import Choice, span
from turbo_fzn.lower.tuning import TUNING
from turbo_fzn.tnf.language import ADD, LEQ, MIN


def cumulative(b: RowBuilder, s: Sequence[int], d: Sequence[int], r: Sequence[int], capacity: int, result: int) -> None:
    """result = (at each time the tasks from s to s + d use at most the capacity, r each)."""
    if not s:
        return b.merge(result, b.true)
    parts: list[int] = []
    all_of(b, [(LEQ, b.false, capacity)], truth(b, result, parts))
    tasks = tasks_of(b, s, d, r)
    if b.value(result) == 1 and not tasks.may_give() and b.share:
        return b.wides.waiting.append(_choice(b, (s, d, r), capacity))
    _state_rows(b, tasks, capacity, truth(b, result, parts))
    conclude(b, result, parts)
    return None


def _choice(b: RowBuilder, columns: Sequence[Sequence[int]], capacity: int) -> Choice:
    """The ways to state a cumulative of tasks (starts, lengths, uses) without negative uses."""

    def state(alone: bool) -> None:
        start, tasks = b.mark(), tasks_of(b, *columns)
        if not len(tasks.s):
            return
        if not alone:
            _state_rows(b, tasks, capacity, b.true)
        groups = np.column_stack((tasks.s, tasks.d, tasks.r))
        state_as_a_whole(b, capacity, groups, span(b, start, b.mark()), alone)

    return Choice(lambda: min(_sizes(tasks_of(b, *columns))), state, gains=False)


def _state_rows(b: RowBuilder, tasks: Tasks, capacity: int, result: int) -> None:
    cells, of_pairs = _sizes(tasks)
    form = time_table if cells <= of_pairs and not tasks.may_give() else _task_pairs
    form(b, tasks, capacity, result)


def _sizes(tasks: Tasks) -> tuple[int, int]:
    """The number of cells of a time table, and the cost of the pairs of tasks, in cells."""
    return tasks.cells(), TUNING.time_cells * len(tasks.s) * (len(tasks.s) - 1)


def _task_pairs(b: RowBuilder, tasks: Tasks, capacity: int, result: int) -> None:
    """States the sum over the running tasks at each moment at which use can rise, and pairs that cannot overlap."""
    totals = _totals_at_moments(b, tasks)
    parts: list[int] = []
    all_of(b, [(LEQ, total, capacity) for total in totals], truth(b, result, parts))
    conclude(b, result, parts)
    if b.value(result) == 1 and not tasks.may_give():
        _state_followers(b, tasks, b.upper[b.find(capacity)])


def _totals_at_moments(b: RowBuilder, tasks: Tasks) -> list[int]:
    """The use at the start of each task with a positive use, and at the end of each task with a negative use."""
    ends = [bulk.shared(b, ADD, s, b.row(ADD, d, b.constant(-1))) for s, d in zip(tasks.s.tolist(), tasks.d.tolist())]
    last = np.array(ends, np.int64)
    last_low, last_high = bulk.bounds(b, last)
    users, givers = np.flatnonzero(tasks.r_high > 0), np.flatnonzero(tasks.r_low < 0)
    after = [bulk.shared(b, ADD, s, d) for s, d in zip(tasks.s[givers].tolist(), tasks.d[givers].tolist())]
    moments = np.concatenate((tasks.s[users], np.array(after, np.int64)))
    low, high = bulk.bounds(b, moments)
    j, i = (side.reshape(-1) for side in np.indices((len(moments), len(tasks.s))))
    meet = (np.concatenate((users, givers))[j] != i) & (tasks.s_low[i] <= high[j]) & (low[j] <= last_high[i])
    i, j = i[meet], j[meet]
    begun, going = np.full(len(i), b.true), np.full(len(i), b.true)
    may_wait, may_end = tasks.s_high[i] > low[j], last_low[i] < high[j]
    begun[may_wait] = bulk.comparisons(b, tasks.s[i[may_wait]], moments[j[may_wait]])
    going[may_end] = bulk.comparisons(b, moments[j[may_end]], last[i[may_end]])
    runs = np.where(may_wait, begun, going)
    both = may_wait & may_end
    runs[both] = bulk.truths(b, MIN, begun[both], going[both])
    own = np.array([b.row(LEQ, b.true, d) for d in tasks.d[users].tolist()], np.int64)
    task, place = np.concatenate((users, i)), np.concatenate((np.arange(len(users)), j))
    use = products(b, np.concatenate((own, runs)), tasks, task)
    totals: list[int] = bulk.grouped(b, ADD, use, place, len(moments)).tolist()
    return [total for total in totals if total >= 0]


def _state_followers(b: RowBuilder, tasks: Tasks, capacity: int) -> None:
    """States for each two tasks that use too much together that one follows the other."""
    i, j = bulk.pairs(len(tasks.s))
    sure = (tasks.d_low > 0)[i] & (tasks.d_low > 0)[j]
    crowded = sure & (tasks.r_low[i].astype(object) + tasks.r_low[j] > capacity).astype(bool)
    one_follows_the_other(b, [(tasks.s.tolist(), tasks.d.tolist())], True, (i[crowded], j[crowded]), b.true)


LOWERINGS: dict[str, Callable[..., None]] = {
    "turbo_cumulative": cumulative,
}
