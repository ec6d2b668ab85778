"""Branch and bound over the linear relaxation, every leaf of it proved (prove/certificate.py).

A node is a box of bounds, narrowed by propagation; its bound comes from its certificate. A node is dropped only by
propagation, or by a certificate that the box has no solution, or none better than the best known. So the least bound of
the open nodes is a proved bound on the objective. The node with the least bound is next (best first), and the column to
divide is chosen by the gains of its earlier divisions (pseudo-costs, Benichou et al. 1971). A few columns with few
divisions are tried first, by some iterations on both sides (reliability branching, Achterberg, Koch and Martin 2005).
The relaxation's separators, such as tours and loads, add cuts at nodes, too; these hold in all boxes. Points that are
integral are offered as solutions.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from turbo_fzn.bounds.cuts.cutter import of_separators, select
from turbo_fzn.bounds.lp.highs import Answer, Outcome, Program
from turbo_fzn.bounds.lp.relaxation import LinearRows, Relaxation
from turbo_fzn.bounds.prove.certificate import Certificate, Certifier, fix
from turbo_fzn.bounds.prove.farkas import refute
from turbo_fzn.bounds.search.listener import NO_SOLUTION, Listener
from turbo_fzn.bounds.search.tuning import TUNING


@dataclass
class Node:
    """An open node: a proved bound, the changes (columns, lower, upper) on the way from the root, newest last, and the
    basis to start from."""

    bound: int
    changes: tuple[tuple[Any, Any, Any], ...]
    basis: Any
    divided: tuple[int, int, float, float] | None = None  # column, side, distance moved, objective of the parent


class Tree:
    """The open nodes. `listener` knows the best solution, and is offered points that may be solutions; `lower`, `upper`
    (int64 [n]) are bounds of all better solutions."""

    def __init__(self, relaxation: Relaxation, program: Program, certifier: Certifier, listener: Listener):
        self.relaxation, self.program, self.certifier, self.listener = relaxation, program, certifier, listener
        self.lower, self.upper = relaxation.lower.copy(), relaxation.upper.copy()
        self.open: list[tuple[int, int, Node]] = []
        self.numbers = itertools.count()
        self.gains = np.zeros((2, relaxation.n_columns))
        self.counts = np.zeros((2, relaxation.n_columns))
        self.n_nodes = self.n_cuts = 0
        self.probing = 0.0  # seconds of probes
        self.least_point: int | None = None  # the least bound of boxes of one point, which need not be a solution

    def push(self, node: Node) -> None:
        heapq.heappush(self.open, (node.bound, -next(self.numbers), node))

    @property
    def bound(self) -> int | None:
        """A lower bound of sense * objective of better solutions; None where no better solution exists."""
        bounds = [self.open[0][0]] if self.open else []
        bounds += [] if self.least_point is None else [self.least_point]
        return min(bounds, default=None)

    def can_rise(self) -> bool:
        """Whether dividing a node can raise the bound."""
        return bool(self.open) and (self.least_point is None or self.open[0][0] < self.least_point)

    def is_full(self) -> bool:
        return len(self.open) * (self.relaxation.n_columns + len(self.certifier.rows)) > TUNING.tree_bytes

    def step(self) -> None:
        """Takes the node with the least bound, and replaces it by its children where it is not closed."""
        node = heapq.heappop(self.open)[2]
        if self.is_cut_off(node.bound):
            return
        self.n_nodes += 1
        self.listener.account(TUNING.node_estimate_seconds)
        box = self.listener.narrow(*self.box(node))
        if box is None:
            return
        lower, upper = box
        self.program.restrict(lower, upper)
        if node.basis is not None:
            self.program.start_from(node.basis)
        bound = node.bound
        for _ in range(TUNING.node_rounds):
            answer = self.program.solve()
            certificate = self.certify(answer, lower, upper)
            if certificate is not None and answer.outcome is Outcome.INFEASIBLE:
                return self.give_reason(certificate)
            if certificate is not None and certificate.bound is not None and certificate.objective:
                bound = max(bound, self.relaxation.round_up(certificate.bound))
            if self.is_cut_off(bound):
                return self.give_reason(certificate)
            if not self.add_cuts(answer):
                break
        self.give_reason(certificate)
        self.learn(node, answer)
        changes = self.tighten(node, certificate, lower, upper)
        if np.all(lower <= upper):
            self.divide(bound, changes, answer, lower, upper)

    def give_reason(self, certificate: Certificate | None) -> None:
        """Passes the proof of a node's bound, or that it has no solution, to the listener."""
        if certificate is not None and self.listener.wants_reason():
            self.listener.reason(certificate.multipliers, self.certifier.rows, self.lower, self.upper)

    def add_cuts(self, answer: Answer) -> bool:
        """Adds the deepest cuts of the separators at the answer's point. Returns whether it added a cut."""
        if (
            answer.outcome is not Outcome.OPTIMAL
            or self.n_cuts >= TUNING.tree_cuts
            or not np.all(np.isfinite(answer.values))
        ):
            return False
        chosen = select(list(of_separators(self.relaxation.separators, answer.values)), TUNING.node_cuts)
        if chosen:
            self.n_cuts += len(chosen)
            rows = LinearRows.of(chosen)
            self.program.add(rows)
            self.certifier = Certifier(self.relaxation, self.certifier.rows.followed_by(rows))
        return bool(chosen)

    def is_cut_off(self, bound: int) -> bool:
        return bound >= self.listener.best

    def box(self, node: Node) -> tuple[np.ndarray, np.ndarray]:
        """(lower, upper), int64 [n] each: the bounds of the root with the changes of a node."""
        lower, upper = self.lower.copy(), self.upper.copy()
        for columns, lows, highs in node.changes:
            lower[columns] = np.maximum(lower[columns], lows)
            upper[columns] = np.minimum(upper[columns], highs)
        return lower, upper

    def certify(self, answer: Answer, lower: np.ndarray, upper: np.ndarray) -> Certificate | None:
        """The certificate of a bound, or of an empty box where the program is infeasible; None without a proof."""
        is_whole = len(answer.duals) == len(self.certifier.rows)
        if answer.outcome is not Outcome.INFEASIBLE:
            return self.certifier.certify(answer.duals, lower, upper) if is_whole else None
        certificate = refute(self.certifier, answer.duals, lower, upper) if is_whole else None
        self.listener.count_ray(certificate is not None)
        return certificate

    def tighten(self, node: Node, certificate: Certificate | None, lower: np.ndarray, upper: np.ndarray) -> tuple:
        """Reduced-cost fixing within the node. Returns its changes with those of the fixing."""
        if certificate is None:
            return node.changes
        columns, lows, highs = fix(certificate, self.listener.best - 1, lower, upper)
        if len(columns) == 0:
            return node.changes
        lower[columns], upper[columns] = lows, highs
        return (*node.changes, (columns, lows, highs))

    def learn(self, node: Node, answer: Answer) -> None:
        """Records the gain in the bound from dividing the parent's column, per unit that the column moved."""
        if node.divided is not None and answer.outcome is Outcome.OPTIMAL:
            column, side, distance, before = node.divided
            self.count(side, column, self.objective(answer) - before, distance)

    def count(self, side: int, column: int, gain: float, distance: float) -> None:
        """Records a gain in the bound from moving the column by this distance on a side."""
        if 0 <= gain < TUNING.largest_gain:
            self.gains[side, column] += gain / distance
            self.counts[side, column] += 1

    def probe(self, column: int, values: np.ndarray, before: float, basis: Any) -> None:
        """Records the gains of a few iterations on each side of the column, and restores the program."""
        lower, upper = self.program.lower.copy(), self.program.upper.copy()
        below = int(np.floor(values[column]))
        best = self.listener.best
        most = best - before if best < NO_SOLUTION else max(abs(before), 1.0)  # a larger gain would close the node
        for side, ends in ((0, upper), (1, lower)):
            end, ends[column] = int(ends[column]), below + side
            self.program.restrict(lower, upper)
            answer = self.program.look(TUNING.branch_iterations, self.listener.work_time, TUNING.branch_probe_seconds)
            if answer.outcome is Outcome.INFEASIBLE or len(answer.values):
                gain = most if answer.outcome is Outcome.INFEASIBLE else min(self.objective(answer) - before, most)
                self.count(side, column, gain, abs(float(values[column]) - below - side))
            ends[column] = end
        self.program.restrict(lower, upper)
        self.program.start_from(basis)

    def objective(self, answer: Answer) -> float:
        return self.relaxation.sense * float(answer.values[self.relaxation.objective])

    def divide(self, bound: int, changes: tuple, answer: Answer, lower: np.ndarray, upper: np.ndarray) -> None:
        """Pushes two children: column <= value and column > value."""
        if answer.outcome is Outcome.OPTIMAL and np.all(np.isfinite(answer.values)):
            self.listener.suggest(answer.values)
            if is_integral(answer.values):
                self.listener.offer(self.relaxation, answer.values)
            values = np.clip(answer.values, lower.astype(float), upper.astype(float))
        else:
            values = (lower.astype(float) + upper) / 2
        basis = self.program.basis() if answer.outcome is Outcome.OPTIMAL else None
        before = self.objective(answer) if basis is not None else 0.0
        probe = partial(self.probe, values=values, before=before, basis=basis) if basis is not None else _know_nothing
        column = self.choose(values, lower, upper, probe)
        if column is None:
            self.least_point = bound if self.least_point is None else min(bound, self.least_point)
            return
        value = float(values[column])
        below = int(np.clip(np.floor(value + TUNING.fractional), lower[column], upper[column] - 1))
        for side, low, high in ((0, int(lower[column]), below), (1, below + 1, int(upper[column]))):
            distance = value - below if side == 0 else below + 1 - value
            divided = (column, side, distance, before) if basis is not None and distance > TUNING.fractional else None
            self.push(Node(bound, (*changes, (column, low, high)), basis, divided))

    def choose(
        self, values: np.ndarray, lower: np.ndarray, upper: np.ndarray, probe: Callable[[int], None]
    ) -> int | None:
        """The fractional column with the best score after probes of the most promising columns; else the narrowest
        column that is not fixed; None where all are fixed."""
        above = values - np.floor(values)
        candidates = np.flatnonzero((above > TUNING.fractional) & (above < 1 - TUNING.fractional) & (lower < upper))
        if len(candidates) == 0:
            free = np.flatnonzero(lower < upper)
            return int(free[np.argmin((upper.astype(float) - lower)[free])]) if len(free) else None
        score = self.score(candidates, above[candidates])
        likely = candidates[np.argsort(-score, kind="stable")[: TUNING.branch_probes]]
        before = self.listener.work_time()
        for column in likely.tolist():
            if self.counts[:, column].min() < TUNING.reliable:
                probe(column)
        self.probing += self.listener.work_time() - before
        return int(likely[np.argmax(self.score(likely, above[likely]))])

    def score(self, candidates: np.ndarray, share: np.ndarray) -> np.ndarray:
        """The products of the expected gains of both sides."""
        mean = self.gains.sum(axis=1) / np.maximum(self.counts.sum(axis=1), 1)
        expected = (self.gains[:, candidates] + mean[:, None]) / (self.counts[:, candidates] + 1)
        down, up = expected[0] * share, expected[1] * (1 - share)
        return np.maximum(down, 1e-6) * np.maximum(up, 1e-6) + 1e-9 * share * (1 - share)


def _know_nothing(column: int) -> None:
    """A probe that does nothing, where there is no basis to continue from."""


def is_integral(values: np.ndarray) -> bool:
    return bool(np.all(np.abs(values - np.rint(values)) <= TUNING.fractional))
