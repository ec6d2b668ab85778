"""Integer programs near the best solution, for better ones.

Propagation moves one amount at a time. Where many amounts can only move together, as the coordinates of a layout, a
search that has found the best order of things is still far from the best places for them. So some truths of the best
solution stay as they are, and HiGHS solves what is left as an integer program for some seconds (a neighbourhood, as in
RINS, Danna, Rothberg and Le Pape 2005).

All truths stay where the solution has new ones. Else a part of them is released, connected by rows, which grows while
programs are solved in time, and shrinks when they are not. Nothing is proved here: what is found is a point that is
propagated, and checked as any solution is. One that is none, since the relaxation lacks some constraint, is passed on
as a suggestion.
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
        """How many solutions `narrow` and `offer` have led to."""
        ...

    def take_point(self) -> Store | None:
        """The bounds of the columns (int64 [columns]) in the best solution, if it is newer than the last call."""
        ...


class Near:
    """Programs near solutions. `root` has the relaxation and the bounds of all better solutions, `listener` takes what
    is found."""

    def __init__(self, root: Root, listener: NearListener, seed: int = 0):
        self.root, self.relaxation, self.listener = root, root.relaxation, listener
        self.are_truths = (self.relaxation.lower == 0) & (self.relaxation.upper == 1)
        self.random = np.random.default_rng(seed)
        self.part, self.seconds = TUNING.released_part, TUNING.sub_mip_seconds
        self.kept = np.empty(0, np.int64)  # the truths near which the last program was that released none
        self.may_keep = True  # the last program released some
        self.goes_on = False  # the last one released none, and was successful to the end of its time
        self.point: Store | None = None
        self.failures = 0  # in succession
        self.next = -np.inf  # when to look again

    def is_worth_it(self) -> bool:
        """Whether programs are small enough, and have truths to keep."""
        return len(self.relaxation.rows.values) <= TUNING.sub_mip_entries and bool(np.any(self.are_truths))

    def is_due(self) -> bool:
        return self.listener.now() >= self.next

    def look_again(self) -> None:
        """Looks near the newest solution. After looks in vain it rests: for twice as long, then four times, and so
        on."""
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
        equal). Returns whether there was one."""
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
        """A part of the known truths and what connects them (bool [columns]): grown from one at random, and from
        another one where nothing more is connected."""
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
        """Columns that are connected with one, in random order, until so many known ones are among them."""
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
        """The columns that share a short row with one."""
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
