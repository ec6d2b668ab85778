"""The linear relaxation of a proof's model at its root, and the `pol` step of the bound that it proves.

Its columns are the variables of the TNF, its rows those inequalities of the encoding that are linear over them: sums,
comparisons and extremes, also under a condition that is a 0-1 variable itself. Others are left out, as nothing would
state them. Any sum of rows follows by cutting planes, so the multipliers of a certificate (bounds/prove) are the step:
the sum of these rows, and of the bounds of the variables that remain. No row that is fused is needed, since a link
cancels in the sum.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from turbo_fzn.base.domains import INFINITY
from turbo_fzn.bounds.lp.relaxation import LinearRows, Relaxation, RelaxationBuilder
from turbo_fzn.proof.derived import add_bound
from turbo_fzn.proof.encoding import TRUE, Assumed, Encoding, Inequality, Split
from turbo_fzn.proof.tuning import TUNING

if TYPE_CHECKING:
    from turbo_fzn.bounds.prove.certificate import Certificate, Certifier


class Relaxed:
    """The relaxation of an encoding, whose rows are read by one thread while others may wait for `close`."""

    def __init__(self, encoding: Encoding):
        self.encoding = encoding
        self.builder = RelaxationBuilder()
        self.numbers: list[int] = []  # of each row: its constraint
        self.certificate: Certificate | None = None  # of the best bound
        self.reading = threading.Lock()
        self.is_closed = False

    @property
    def goal(self) -> int:
        """The side of the TNF that is sense * objective."""
        tnf = self.encoding.tnf
        return 2 * tnf.objective + (tnf.sense < 0)

    @property
    def bound(self) -> int | None:
        """The proved bound of sense * objective, None without one."""
        if self.certificate is None or self.certificate.bound is None:
            return None
        return min(self.certificate.bound, -self._end(self.goal ^ 1))

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

    def _end(self, side: int) -> int:
        """The least value of a side in the model."""
        return -self.encoding.upper[side >> 1] if side & 1 else self.encoding.lower[side >> 1]

    # ---- the bound

    def prove(self, certifier: Certifier, duals: np.ndarray) -> int | None:
        """Takes the bound that the duals prove, by the least denominator that does; returns it, or None where it says
        no more than the objective's domain."""
        lower, upper = certifier.relaxation.lower, certifier.relaxation.upper
        best = certifier.certify(duals, lower, upper)
        for denominator in range(TUNING.denominator, 0, -1):
            other = certifier.certify_with(denominator, certifier.multiples(duals, denominator), lower, upper)
            if best.bound is None or (other.bound is not None and other.bound >= best.bound):
                best = other
        if best.bound is None or best.bound <= self._end(self.goal):
            return None
        with self.reading:
            if not self.is_closed:
                self.certificate = best
        return self.bound

    def words(self) -> list[str]:
        """The words of the `pol` step that derives the bound."""
        one, encoding = self.certificate, self.encoding
        assert one is not None, "there is a bound"
        words: list[str] = []
        for row in np.flatnonzero(one.multipliers).tolist():
            part = [str(self.numbers[row]), str(one.multipliers[row]), "*"]
            words += [*part, "+"] if words else part
        for column in np.flatnonzero(one.reduced).tolist():
            factor = int(one.reduced[column])
            add_bound(encoding, words, 2 * column + (factor < 0), abs(factor))
        return [*words, *([str(one.denominator), "d"] if one.denominator > 1 else [])]

    def inequality(self, number: int) -> Inequality:
        """What the step says, as constraint `number`."""
        tnf, one = self.encoding.tnf, self.certificate
        assert one is not None and one.bound is not None, "there is a bound"
        return Inequality(number, ((tnf.objective, tnf.sense),), one.bound)


class _NoExclusions:
    """No sets of literals that exclude each other: cuts would have no derivation."""

    def exclude(self, pairs: np.ndarray) -> None:
        return

    def cuts(self, values: np.ndarray) -> Iterator[tuple[dict[int, int], int, float]]:
        return iter(())
