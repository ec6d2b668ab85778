"""Probing: the bounds that each value of a variable implies for all other columns, as cuts.

A column z has a bound at the root, and a better bound, low_v, once the truth of x = v has been propagated. At most one
truth of a variable is 1, so

    z >= low + sum over v of (low_v - low) [x = v]

and the same for upper bounds. Where z is a cost of x through several constraints (a product of an element and a truth,
say) none of their rows implies this: each alone has to allow for the other's worst case. Probing is as old as presolve
(Savelsbergh, ORSA Journal on Computing 1994). Here all values of a variable make one row, as strong as the hull of z
and the bounds that x implies. There are too many rows to add all of them, so the rows that a point violates are added
as cuts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from turbo_fzn.bounds.lp.relaxation import Relaxation
from turbo_fzn.bounds.lp.tuning import TUNING as LP
from turbo_fzn.bounds.search.listener import RootListener
from turbo_fzn.bounds.search.tuning import TUNING


class Implied(NamedTuple):
    """Rows sign * z >= base + sum of gains * truths, a row for each of the columns z.

    truths: int64 [k]; columns, base: int64 [m]; gains: int64 [k, m], at least 0; sign: 1 or -1.
    """

    truths: np.ndarray
    columns: np.ndarray
    base: np.ndarray
    gains: np.ndarray
    sign: int

    def violated(self, values: np.ndarray) -> Iterator[tuple[float, int]]:
        """(excess, place of the column) of the rows that the point (float [n]) violates."""
        excess = self.base + values[self.truths] @ self.gains - self.sign * values[self.columns]
        for place in np.flatnonzero(excess > TUNING.implied_excess).tolist():
            yield float(excess[place]), place

    def row(self, place: int) -> tuple[dict[int, int], int]:
        """(entries, side) of entries <= side."""
        gains = self.gains[:, place]
        entries = {int(truth): int(gain) for truth, gain in zip(self.truths, gains) if gain}
        return {**entries, int(self.columns[place]): -self.sign}, -int(self.base[place])


class Implications:
    """The rows of all variables that were probed, as a separator."""

    def __init__(self, families: list[Implied]):
        self.families = families

    def cuts(self, values: np.ndarray) -> Iterator[tuple[dict[int, int], int, float]]:
        """(entries, side, excess) of the rows that the point (float [n]) violates most."""
        found = [
            (excess, number, place)
            for number, family in enumerate(self.families)
            for excess, place in family.violated(values)
        ]
        for excess, number, place in sorted(found, reverse=True)[: TUNING.implied_cuts]:
            yield *self.families[number].row(place), excess


Changes = tuple[np.ndarray, np.ndarray]  # columns in rising order, and by how much the bound of each is better


def probe(relaxation: Relaxation, listener: RootListener, lower: np.ndarray, upper: np.ndarray) -> Implications:
    """Probes the truths of each variable within the bounds (int64 [n]) of all better solutions.

    A truth that is 0 in all better solutions is fixed: `upper` is changed.
    """
    truths_of: dict[int, dict[int, int]] = {}  # by column and value: a single truth, or two of them could be 1
    for truth, (column, value) in relaxation.truths.items():
        if lower[truth] < upper[truth]:
            truths_of.setdefault(column, {})[value] = truth
    families: list[Implied] = []
    began = listener.work_time()

    def is_over() -> bool:
        return listener.is_done() or listener.work_time() - began > TUNING.root_probing_seconds

    n_left = min(TUNING.root_probes, TUNING.root_probe_work // max(relaxation.n_columns, 1))
    for column, truths in sorted(truths_of.items(), key=lambda item: len(item[1])):
        n_left -= len(truths)
        n_cells = sum(family.gains.size for family in families)
        if n_left < 0 or n_cells > TUNING.implied_bounds or is_over():
            break
        raised: dict[int, Changes] = {}
        lowered: dict[int, Changes] = {}
        for truth in truths.values():
            if is_over():  # truths that are not probed give no cuts
                break
            listener.account(TUNING.probe_estimate_seconds)
            low = lower.copy()
            low[truth] = 1
            box = listener.narrow(low, upper.copy())
            if box is None:
                upper[truth] = 0
            else:
                raised[truth], lowered[truth] = changes(box[0], lower), changes(-box[1], -upper)
        own = np.array([column, *truths.values()])
        families += family_of(raised, own, lower, 1)
        families += family_of(lowered, own, -upper, -1)
    return Implications(families)


def changes(now: np.ndarray, before: np.ndarray) -> Changes:
    columns = np.flatnonzero(now > before)
    return columns, now[columns] - before[columns]


def family_of(implied: dict[int, Changes], own: np.ndarray, bounds: np.ndarray, sign: int) -> Iterator[Implied]:
    """The rows, if any, from the bounds of sign * z that each truth implies, without the variable's `own` columns.

    bounds: int64 [n], the least values of sign * z."""
    touched = [columns for columns, _ in implied.values()]
    columns = np.setdiff1d(np.concatenate(touched), own) if touched else own[:0]
    columns = columns[np.abs(bounds[columns]) <= LP.side]
    gains = np.zeros((len(implied), len(columns)), np.int64)
    for row, (changed, by) in zip(gains, implied.values()):
        known = np.isin(changed, columns)
        row[np.searchsorted(columns, changed[known])] = by[known]
    small = gains.max(axis=0, initial=0) <= LP.coefficient
    if small.any():
        yield Implied(np.array(list(implied)), columns[small], bounds[columns[small]], gains[:, small], sign)
