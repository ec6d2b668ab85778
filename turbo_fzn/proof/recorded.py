"""Root, cuts, and branch and bound of a relaxation, with records of what proves their conclusions (relaxed.py)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from turbo_fzn.bounds.cuts.cutter import Cut, Cutter, Slack
from turbo_fzn.bounds.lp.highs import Answer
from turbo_fzn.bounds.lp.relaxation import LinearRows, Relaxation
from turbo_fzn.bounds.prove.certificate import Certificate
from turbo_fzn.bounds.search.listener import Listener, RootListener
from turbo_fzn.bounds.search.root import Root
from turbo_fzn.bounds.search.tree import Node, Tree
from turbo_fzn.proof.divided import Path
from turbo_fzn.proof.relaxed import Relaxed
from turbo_fzn.proof.rounded import Rounding, said, scaled


class StatedCutter(Cutter):
    """A cutter that records how its cuts follow, by what they say (`said`); `names` are those of the rows, each of
    which has one side."""

    def __init__(
        self,
        rows: LinearRows,
        lower: np.ndarray,
        upper: np.ndarray,
        values: np.ndarray,
        names: list[int | Rounding],
        roundings: dict[tuple, Rounding],
    ):
        super().__init__(rows, lower, upper, values)
        self.names, self.roundings = names, roundings

    def round_by(self, d: int, entries: dict[int, int], b: int, slacks: Sequence[Slack]) -> Cut | None:
        cut = super().round_by(d, entries, b, slacks)
        if cut is not None:
            columns = [(v, -a if self.from_upper[v] else a, self.from_upper[v]) for v, a in entries.items()]
            rows = [(self.names[slack.number], slack.coefficient) for slack in slacks]
            rounding = Rounding(scaled(cut.entries, -1), -cut.side, tuple(columns), tuple(rows), d)
            self.roundings[said(cut.entries, cut.side)] = rounding
        return cut


class StatedRoot(Root):
    """A root whose bounds and cuts a proof can state."""

    def __init__(self, relaxation: Relaxation, listener: RootListener, relaxed: Relaxed):
        self.relaxed, self.names = relaxed, list[int | Rounding]()
        super().__init__(relaxation, listener)
        self.replace(self.rows)

    def replace(self, rows: LinearRows) -> None:
        super().replace(rows)
        self.names = self.relaxed.names_of(rows)

    def note(self, certificate: Certificate) -> None:
        """Notes what proves a better bound, or that there is no solution."""
        if certificate.objective == 0 or (certificate.bound is not None and certificate.bound > self.bound):
            self.relaxed.prove((), certificate, self.names)

    def fix(self, certificate: Certificate) -> None:
        """Does nothing: columns keep the bounds of the model."""

    def cutter(self, answer: Answer) -> StatedCutter:
        return StatedCutter(self.rows, self.lower, self.upper, answer.values, self.names, self.relaxed.roundings)


class StatedTree(Tree):
    """A branch and bound whose nodes a proof can state."""

    def __init__(self, root: StatedRoot, listener: Listener, relaxed: Relaxed):
        super().__init__(root.relaxation, root.program, root.certifier, listener)
        self.relaxed, self.nodes, self.names = relaxed, relaxed.nodes, root.names
        self.path: Path = ()

    def push(self, node: Node) -> None:
        self.nodes.add(node.changes)
        super().push(node)

    def is_full(self) -> bool:
        return self.nodes.is_full or super().is_full()

    def step(self) -> None:
        self.path = self.open[0][2].changes
        super().step()

    def certify(self, answer: Answer, lower: np.ndarray, upper: np.ndarray) -> Certificate | None:
        certificate = super().certify(answer, lower, upper)
        if certificate is not None:
            self.relaxed.prove(self.path, certificate, self.names)
        return certificate

    def tighten(self, node: Node, certificate: Certificate | None, lower: np.ndarray, upper: np.ndarray) -> tuple:
        """The node's changes: no reduced-cost fixing."""
        return node.changes
