"""The root of a relaxation: its linear program, then cuts in rounds while the bound moves; each bound is proved."""

from __future__ import annotations

import numpy as np

from turbo_fzn.base.domains import INFINITY
from turbo_fzn.bounds.cuts.cutter import Cutter, of_separators, select
from turbo_fzn.bounds.lp.highs import Answer, Outcome, Program
from turbo_fzn.bounds.lp.relaxation import LinearRows, Relaxation
from turbo_fzn.bounds.prove.certificate import Certificate, Certifier, fix
from turbo_fzn.bounds.prove.farkas import refute
from turbo_fzn.bounds.search.listener import NO_SOLUTION, RootListener
from turbo_fzn.bounds.search.probing import probe
from turbo_fzn.bounds.search.tree import is_integral
from turbo_fzn.bounds.search.tuning import TUNING


class Root:
    """The root: `listener` receives each bound and knows the best solution; `lower`, `upper` (int64 [n]) are bounds of
    all better solutions."""

    def __init__(self, relaxation: Relaxation, listener: RootListener):
        self.relaxation, self.listener = relaxation, listener
        self.lower, self.upper = relaxation.lower.copy(), relaxation.upper.copy()
        self.rows = relaxation.rows
        self.certifier = Certifier(relaxation, self.rows)
        self.program = Program(relaxation, listener.is_done, listener.account)
        self.bound = -NO_SOLUTION
        self.n_cuts = 0
        self.n_kept = len(self.rows)  # the first rows: rows of the model, or the rows of a tree
        self.value = -np.inf  # optimum of the linear program
        self.proof: tuple[np.ndarray, LinearRows] | None = None  # (multipliers, rows) of the last bound

    def settle(self) -> Answer | None:
        """Solves the program and publishes the bound it proves. Returns None where it has no optimum or was stopped."""
        if self.listener.is_done():
            return None
        box = self.listener.narrow(self.lower, self.upper)
        if box is None:
            self.publish(NO_SOLUTION)
            return None
        self.lower, self.upper = box
        self.publish_interval()
        self.program.restrict(*(self.without_cutoff() if self.value == -np.inf else box))
        answer = self.program.solve()
        self.prove(answer)
        self.listener.account(TUNING.node_estimate_seconds)
        if answer.outcome is not Outcome.OPTIMAL or not np.all(np.isfinite(answer.values)):
            return None
        self.value = self.relaxation.sense * float(answer.values[self.relaxation.objective])
        self.listener.suggest(answer.values)
        if is_integral(answer.values):
            self.listener.offer(self.relaxation, answer.values)
        return answer

    def without_cutoff(self) -> tuple[np.ndarray, np.ndarray]:
        """The bounds with the objective's end of the model, whatever the best solution is. With a cutoff the first
        program may be infeasible, and then has no duals for fixing and for learners."""
        box = self.lower.copy(), self.upper.copy()
        objective, side = self.relaxation.objective, int(self.relaxation.sense > 0)
        box[side][objective] = (self.relaxation.lower, self.relaxation.upper)[side][objective]
        return box

    def prove(self, answer: Answer) -> None:
        """Publishes the bound that the answer's duals prove, or NO_SOLUTION if its ray proves that there is none."""
        is_whole = len(answer.duals) == len(self.rows)
        if answer.outcome is Outcome.INFEASIBLE:
            refuted = refute(self.certifier, answer.duals, self.lower, self.upper) if is_whole else None
            self.listener.count_ray(refuted is not None)
            if refuted is not None:
                self.note(refuted)
                self.publish(NO_SOLUTION)
            return None
        if not is_whole:
            return None
        certificate = self.certifier.certify(answer.duals, self.lower, self.upper)
        if certificate.bound is not None:
            self.note(certificate)
            self.publish(self.relaxation.round_up(certificate.bound))
            self.fix(certificate)
            self.proof = certificate.multipliers, self.rows

    def note(self, certificate: Certificate) -> None:
        """Called with what proves a bound before it is published; does nothing here."""

    def publish(self, bound: int) -> None:
        self.bound = max(self.bound, bound)
        self.listener.publish(self.bound)

    def publish_interval(self) -> None:
        """Publishes the end of the objective's interval, since rounded duals may prove less than that."""
        sense, objective = self.relaxation.sense, self.relaxation.objective
        end = sense * int((self.lower if sense > 0 else self.upper)[objective])
        if abs(end) < INFINITY:
            self.publish(self.relaxation.round_up(end))

    def fix(self, certificate: Certificate) -> None:
        """Narrows the bounds of the columns by reduced-cost fixing, if a solution is known."""
        best = self.listener.best
        if best < NO_SOLUTION:
            columns, lows, highs = fix(certificate, best - 1, self.lower, self.upper)
            self.lower[columns], self.upper[columns] = lows, highs
            if np.any(lows > highs):
                self.publish(NO_SOLUTION)

    def cut(self) -> None:
        """Adds cuts in rounds until none is found, the gain is small or the time is used up.

        They are dropped again where they close little of the gap, since every node of a tree would pay for them."""
        first, own = self.value, self.relaxation.separators
        if self.relaxation.truths and not self.listener.is_done():
            implied = probe(self.relaxation, self.listener, self.lower, self.upper)
            self.relaxation.separators = (*own, implied)
        self.cut_in_rounds(-NO_SOLUTION, deep=False)
        best = self.listener.best
        if best < NO_SOLUTION and self.value - first < TUNING.closed_part * (best - first):
            self.relaxation.separators = own
            self.drop_cuts(self.relaxation.rows)

    def cut_deeper(self, rows: LinearRows, proved: int) -> None:
        """Adds zero-half cuts, too, at the root of a tree that has these rows and has `proved` this bound.

        They take long and make the program larger, so they are kept only where they prove a better bound than the
        tree."""
        self.replace(rows)
        self.n_kept = len(rows)
        self.cut_in_rounds(proved, deep=True)
        if self.bound <= proved:
            self.drop_cuts(rows)

    def drop_cuts(self, rows: LinearRows) -> None:
        """Drops all rows after these, which are the first rows of the program."""
        if len(self.rows) > len(rows):
            self.program.remove(np.arange(len(rows), len(self.rows)))
            self.replace(rows)

    def cut_in_rounds(self, goal: int, deep: bool) -> None:
        """Adds cuts until no round helps; after `trial_rounds` ends if less than half of the way to `goal` is done."""
        began, idle = self.listener.now(), 0
        answer = self.settle()
        first = self.value
        for number in range(TUNING.root_rounds):
            if answer is None or self.listener.is_done() or idle == TUNING.idle_rounds:
                return
            before = self.value
            if number == TUNING.trial_rounds and before - first < (goal - first) / 2:
                return
            if self.listener.now() - began > TUNING.cut_seconds or not self.add_cuts(answer, deep):
                return
            answer = self.settle()
            idle = idle + 1 if self.value - before < TUNING.round_gain * max(self.value - first, 1e-6) else 0

    def add_cuts(self, answer: Answer, deep: bool) -> bool:
        """Adds the deepest cuts at the answer's point. Returns whether it added a cut."""
        cutter = self.cutter(answer)
        self.listener.account(TUNING.round_estimate_seconds + TUNING.row_estimate_seconds * len(self.rows))
        found = [*cutter.of_rows(), *cutter.of_tableau(self.program, TUNING.tableau_rows)]
        found += cutter.of_duals(answer.duals, self.relaxation.objective)
        if deep:
            self.listener.account(TUNING.half_estimate_seconds * len(self.rows))
            found += cutter.of_halves()
        found += of_separators((self.relaxation.conflicts, *self.relaxation.separators), answer.values)
        chosen = select(found, TUNING.root_cuts)
        if chosen:
            self.drop_slack_cuts(answer)
            self.n_cuts += len(chosen)
            more = LinearRows.of(chosen)
            self.program.add(more)
            self.replace(self.rows.followed_by(more))
        return bool(chosen)

    def cutter(self, answer: Answer) -> Cutter:
        return Cutter(self.rows, self.lower, self.upper, answer.values)

    def drop_slack_cuts(self, answer: Answer) -> None:
        """Drops the cuts that do not help to prove the bound, when there are many."""
        slack = np.abs(answer.duals) < 1e-9
        slack[: self.n_kept] = False
        if slack.sum() > TUNING.root_cuts:
            self.program.remove(np.flatnonzero(slack))
            self.replace(self.rows.select(~slack))

    def give_reasons(self) -> None:
        """Passes the sum of rows that proves the bound to learners, and the cuts of largest weight in it."""
        if self.proof is None:
            return
        multipliers, rows = self.proof
        self.listener.reason(multipliers, rows, self.lower, self.upper, "root")
        of_cuts = np.abs(multipliers)
        of_cuts[: len(self.relaxation.rows)] = 0
        for cut in np.argsort(-of_cuts, kind="stable")[: TUNING.root_reasons].tolist():
            if of_cuts[cut]:
                alone = np.zeros(len(rows), np.int64)
                alone[cut] = np.sign(multipliers[cut])
                self.listener.reason(alone, rows, self.lower, self.upper)

    def replace(self, rows: LinearRows) -> None:
        self.rows = rows
        self.certifier = Certifier(self.relaxation, rows)
