"""The linear relaxation of a proof's model, and the bound of the objective that its branch and bound proves.

Its columns are the variables of the TNF, its rows those inequalities of the encoding that are linear over them: sums,
comparisons and extremes, also under a condition that is a 0-1 variable itself. Others are left out, as nothing would
state them. Any sum of rows follows by cutting planes, and so do cuts (rounded.py) and what nodes prove (divided.py). No
row that is fused is needed, since a link cancels in the sum.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from turbo_fzn.base.domains import INFINITY
from turbo_fzn.bounds.lp.relaxation import LinearRows, Relaxation, RelaxationBuilder
from turbo_fzn.proof.divided import Division, Nodes, Path, Sum
from turbo_fzn.proof.encoding import TRUE, Assumed, Encoding, Inequality, Split
from turbo_fzn.proof.hints import NotJustified
from turbo_fzn.proof.rounded import Rounder, Rounding, said
from turbo_fzn.proof.steps import Steps
from turbo_fzn.proof.tuning import TUNING

if TYPE_CHECKING:
    from turbo_fzn.bounds.prove.certificate import Certificate


class Relaxed:
    """The relaxation of an encoding, whose rows are read by one thread while others may wait for `close`."""

    def __init__(self, encoding: Encoding):
        self.encoding = encoding
        self.builder = RelaxationBuilder()
        self.numbers: list[int] = []  # of each row: its constraint
        self.roundings: dict[tuple, Rounding] = {}  # how cuts follow, by what they say
        self.nodes = Nodes()
        self.proved: int | None = None  # sense * objective is at least this
        self.reading = threading.Lock()
        self.is_closed = False

    @property
    def goal(self) -> int:
        """The side of the TNF that is sense * objective."""
        tnf = self.encoding.tnf
        return 2 * tnf.objective + (tnf.sense < 0)

    @property
    def bound(self) -> int | None:
        """The proved bound of sense * objective, None without one; `beyond` where there is no solution."""
        return None if self.proved is None else min(self.proved, self.beyond)

    @property
    def beyond(self) -> int:
        """The least bound that no value of the objective meets."""
        return 1 - self.encoding.first[self.goal ^ 1]

    def close(self) -> None:
        """Ends the reading of rows: from now on, only the caller's thread uses the encoding. A bound that is proved
        later is not taken."""
        with self.reading:
            self.is_closed = True

    # ---- rows

    def make(self, is_over: Callable[[], bool]) -> Relaxation | None:
        """The relaxation; None if it is closed before, is too large, or does not have the objective."""
        encoding, tnf = self.encoding, self.encoding.tnf
        if not encoding.optimises or len(encoding.row_starts) > TUNING.relaxed_rows:
            return None
        for low, high in zip(encoding.lower, encoding.upper):
            self.builder.column(low, high)
        for row in range(len(encoding.row_starts)):
            with self.reading:
                if self.is_closed or is_over():
                    return None
                self._read(encoding.rows[row])
        lower, upper = (np.array(side, np.int64) for side in (encoding.lower, encoding.upper))
        rows, places = LinearRows.of(self.builder.rows), np.arange(tnf.n_vars)
        return Relaxation(lower, upper, rows, tnf.objective, tnf.sense, places, {}, _NoExclusions())

    def _read(self, splits: Iterable[Split]) -> None:
        for split in splits:
            for one in split.alternatives:
                for inequality in one.inequalities:
                    self._add(inequality)

    def _add(self, one: Inequality) -> None:
        """Adds the inequality, with its conditions as terms, unless it has no number or one of these is no column."""
        encoding = self.encoding
        if one.number <= 0 or one.chosen or not all(map(self._is_column, one.conditions)):
            return
        entries, least = dict(one.terms), one.least
        short = least - sum(a * encoding.lower[v] + min(a, 0) * encoding.most(v) for v, a in one.terms)
        for side, k in one.conditions:  # what a condition makes up for where it is false: short * (k - side)
            if encoding.literal((side, k)) != TRUE:
                sign = -1 if side & 1 else 1
                entries[side >> 1] = entries.get(side >> 1, 0) - sign * short
                least -= short * k
        before = len(self.builder.rows)
        if entries := {column: value for column, value in entries.items() if value}:
            self.builder.keep(entries, least, INFINITY)
        self.numbers += [one.number] * (len(self.builder.rows) - before)

    def _is_column(self, condition: Assumed) -> bool:
        variable = condition[0] >> 1
        return self.encoding.upper[variable] - self.encoding.lower[variable] <= 1

    # ---- the bound

    def names_of(self, rows: LinearRows) -> list[int | Rounding]:
        """The names of the relaxation's rows, behind which there may be cuts (rounded.py)."""
        own = len(self.builder.rows)
        cuts = (rows.row(number) for number in range(own, len(rows)))
        return [*range(own), *(self.roundings[said(entries, high)] for entries, _, high in cuts)]

    def prove(self, path: Path, certificate: Certificate, names: list[int | Rounding]) -> None:
        """Notes what proves the bound of a node, by rows of these names."""
        self.nodes.prove(path, Sum.of(certificate, names))

    def take(self, bound: int) -> bool:
        """Takes a bound that the nodes prove. Returns whether it is in time."""
        with self.reading:
            if not self.is_closed:
                self.proved = bound
            return not self.is_closed

    def state(self, writer: Steps) -> Inequality:
        """Writes the steps of the bound. Returns what they prove."""
        assert self.bound is not None, "trim.py has seen it"
        renumbered = self.encoding.renumbered
        numbers = [renumbered.get(number, number) for number in self.numbers]
        rounder = Rounder(self.builder.rows, numbers, writer)
        stated = Division(self.nodes, rounder, self.goal, self.bound).state()
        if stated is None:
            raise NotJustified("the relaxation's nodes do not prove its bound")
        return stated


class _NoExclusions:
    """No sets of literals that exclude each other: cuts would have no derivation."""

    def exclude(self, pairs: np.ndarray) -> None:
        return

    def cuts(self, values: np.ndarray) -> Iterator[tuple[dict[int, int], int, float]]:
        return iter(())
