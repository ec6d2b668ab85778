"""Integer programs near the best solution, for better ones.

Propagation changes a single variable at a time. Where many variables can only change together, as the coordinates of a
layout, a search that has found the best order of objects is still far from their best positions. So some truths of the
best solution stay fixed, and HiGHS solves the rest as an integer program for some seconds (a neighbourhood, as in RINS,
Danna, Rothberg and Le Pape 2005).

All truths stay fixed where the solution has new truths. Else a part of them is released, connected by rows, which grows
while programs are solved in time, and shrinks when they are not. Nothing is proved here: each point found is
propagated, and checked as any solution is. A point that violates a constraint that the relaxation lacks is passed on as
a suggestion.
"""

from __future__ import annotations

from functools import cached_property
from typing import Protocol

import numpy as np

from turbo_fzn.bounds.lp.highs import Outcome, solve_integers
from turbo_fzn.bounds.search.listener import RootListener, Store
from turbo_fzn.bounds.search.root import Root
from turbo_fzn.bounds.search.tuning import TUNING


class NearListener(RootListener, Protocol):
    """A driver that knows solutions."""

    @property
    def n_found(self) -> int:
        """The number of solutions found by `narrow` and `offer`."""
        ...

    def take_point(self) -> Store | None:
        """The bounds of the columns (int64 [columns]) in the best solution, if it is newer than the last call."""
        ...


class Near:
    """Programs near solutions. `root` has the relaxation and the bounds of all better solutions, `listener` takes the
    points found."""

    def __init__(self, root: Root, listener: NearListener, seed: int = 0):
        self.root, self.relaxation, self.listener = root, root.relaxation, listener
        self.are_truths = (self.relaxation.lower == 0) & (self.relaxation.upper == 1)
        self.random = np.random.default_rng(seed)
        self.part, self.seconds = TUNING.released_part, TUNING.sub_mip_seconds
        self.kept = np.empty(0, np.int64)  # the truths fixed in the last program that released none
        self.may_keep = True  # the last program released truths
        self.goes_on = False  # the last program released none, found a solution and ran out of time
        self.point: Store | None = None
        self.failures = 0  # looks without a solution, in succession
        self.next = -np.inf  # time of the next look, in seconds

    def is_worth_it(self) -> bool:
        """Whether programs are small enough, and have truths to keep."""
        return len(self.relaxation.rows.values) <= TUNING.sub_mip_entries and bool(np.any(self.are_truths))

    def is_due(self) -> bool:
        return self.listener.now() >= self.next

    def look_again(self) -> None:
        """Looks near the newest solution. After the k-th look in succession without a solution it rests for 2^k times
        the seconds of the look, or `sub_mip_rest` times."""
        self.point = self.listener.take_point() or self.point
        if self.point is None:
            return
        began = self.listener.work_time()
        self.failures = 0 if self.look(self.point) else self.failures + 1
        spent = self.listener.work_time() - began
        rest = min(2**self.failures, TUNING.sub_mip_rest) if self.failures else 0
        self.next = self.listener.now() + rest * spent

    def look(self, point: Store) -> bool:
        """Looks for a better solution near a solution (int64 [columns], fixed where its lower and upper bound are
        equal). Returns whether it found a solution."""
        possible = (self.root.lower <= point[0]) & (point[0] <= self.root.upper)  # in better solutions
        known = self.are_truths & (point[0] == point[1]) & possible
        truths = np.where(known, point[0], -1)
        keeps = self.goes_on or (self.may_keep and not np.array_equal(truths, self.kept))
        before = self.listener.n_found
        outcome = self.solve(known if keeps else known & ~self.some_of(known), point[0])
        found, is_late = self.listener.n_found > before, outcome is Outcome.UNFINISHED
        if keeps:
            self.kept, self.goes_on = truths, is_late and found
            self.seconds = (
                min(2 * self.seconds, TUNING.longest_sub_mip_seconds) if is_late and not found else self.seconds
            )
        elif not is_late:
            self.part = min(TUNING.part_growth * self.part, 1.0)
        elif not found:
            self.part = max(TUNING.part_decay * self.part, TUNING.least_released_part)
        self.may_keep = not keeps
        return found

    def solve(self, stay: np.ndarray, values: np.ndarray) -> Outcome:
        """Solves the program in which the columns `stay` (bool [columns]) have these values, and passes on the points
        that it finds on the way."""
        lower, upper = self.root.lower.copy(), self.root.upper.copy()
        lower[stay] = upper[stay] = values[stay]
        box = self.listener.narrow(lower, upper) if np.all(lower <= upper) else None
        if box is None:
            return Outcome.INFEASIBLE
        return solve_integers(self.relaxation, *box, self.seconds, self.listener.is_done, self.take)

    def take(self, values: np.ndarray) -> None:
        """Takes a point (float [columns]) that satisfies all rows."""
        before = self.listener.n_found
        self.listener.offer(self.relaxation, values)
        if self.listener.n_found == before:
            self.listener.suggest(values)

    def some_of(self, known: np.ndarray) -> np.ndarray:
        """A part of the known truths with the columns that connect them (bool [columns]): grown from a random truth,
        and from another random truth where nothing more is connected."""
        wanted = int(np.ceil(self.part * known.sum()))
        chosen = np.zeros(len(known), bool)
        for start in self.random.permutation(np.flatnonzero(known)).tolist():
            if wanted <= 0:
                break
            if not chosen[start]:
                grown = self.grow(start, known, wanted)
                chosen[grown] = True
                wanted -= int(known[grown].sum())
        return chosen

    def grow(self, start: int, known: np.ndarray, wanted: int) -> list[int]:
        """Columns connected to `start`, in random order, until `wanted` known columns are among them."""
        grown: list[int] = []
        edge, seen, count = [start], {start}, 0
        while edge and count < wanted:
            at = int(self.random.integers(len(edge)))
            edge[at], edge[-1] = edge[-1], edge[at]
            column = edge.pop()
            grown.append(column)
            count += bool(known[column])
            new = self.connected(column) - seen
            seen |= new
            edge += sorted(new)
        return grown

    def connected(self, column: int) -> set[int]:
        """The columns that share a short row with `column`, itself included."""
        start, columns, first, rows = self.links
        of_column = rows[first[column] : first[column + 1]].tolist()
        return {near for row in of_column for near in columns[start[row] : start[row + 1]].tolist()}

    @cached_property
    def links(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """(start, columns, first, rows): the short rows' columns, row by row, and the rows of each column, which are
        rows[first[c]] up to rows[first[c + 1] - 1]."""
        short = self.relaxation.rows.select(np.diff(self.relaxation.rows.start) <= TUNING.connecting_row)
        rows = np.repeat(np.arange(len(short)), np.diff(short.start))
        counts = np.bincount(short.columns, minlength=self.relaxation.n_columns)
        order = np.argsort(short.columns, kind="stable")
        return short.start, short.columns, np.concatenate(([0], np.cumsum(counts))), rows[order]
