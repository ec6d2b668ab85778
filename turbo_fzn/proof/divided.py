"""The tree of a relaxation's branch and bound, and the steps of a proof that state the bound it proves.

A node is the path to it: the intervals of columns that were chosen, newest last. Of each node the multipliers of rows
are kept whose sum has proved its bound. Where the sum contradicts the path and a better objective, a cutting planes
step gives the clause that not all of these hold; the clauses of two children resolve to that of their parent.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from turbo_fzn.process.interrupt import Interrupted
from turbo_fzn.proof.encoding import Assumed, Encoding, Inequality
from turbo_fzn.proof.refutation import Bounds, Step, contradiction, cutting_planes
from turbo_fzn.proof.rounded import Rounder, Rounding
from turbo_fzn.proof.tuning import TUNING

if TYPE_CHECKING:
    from turbo_fzn.bounds.prove.certificate import Certificate

Path = tuple[tuple[int, int, int], ...]  # (column, lower, upper)
NODE_TERMS = 40  # formula: a node without its path and multipliers takes as much memory as so many multipliers


@dataclass(frozen=True, eq=False)
class Sum:
    """A sum of rows by their names, which all have one side, with multipliers (integers) / denominator."""

    names: list[int | Rounding]
    multipliers: Sequence[int]
    denominator: int

    @staticmethod
    def of(certificate: Certificate, names: list[int | Rounding]) -> Sum:
        used = np.flatnonzero(certificate.multipliers).tolist()
        multipliers = array("q", np.abs(certificate.multipliers[used]).tolist())
        return Sum([names[row] for row in used], multipliers, certificate.denominator)

    def rounded(self, denominator: int) -> Sum:
        """The multipliers as multiples of a larger part."""
        multipliers = [(2 * m * denominator + self.denominator) // (2 * self.denominator) for m in self.multipliers]
        pairs = [(name, m) for name, m in zip(self.names, multipliers) if m]
        return Sum([name for name, _ in pairs], [m for _, m in pairs], denominator)

    def forms(self) -> Iterator[Sum]:
        """The sum with small multipliers, which are tried first, and as it is."""
        for denominator in range(1, min(TUNING.denominator, self.denominator - 1) + 1):
            if TUNING.denominator % denominator == 0:
                yield self.rounded(denominator)
        yield self


class Nodes:
    """The nodes of branch and bound: of each, what proves its bound, and its children."""

    def __init__(self) -> None:
        self.proofs: dict[Path, list[Sum]] = {}
        self.children: dict[Path, list[Path]] = {}
        self.n_terms = 0  # by the memory that they take

    def prove(self, path: Path, one: Sum) -> None:
        self.proofs.setdefault(path, []).append(one)
        self.n_terms += len(one.names)

    def add(self, path: Path) -> None:
        self.n_terms += NODE_TERMS + len(path)
        if path:
            self.children.setdefault(path[:-1], []).append(path)

    @property
    def is_full(self) -> bool:
        return self.n_terms > TUNING.relaxed_terms


class _Clause(NamedTuple):
    """Constraint `number`: not all of `assumed` hold."""

    number: int
    assumed: frozenset[Assumed]


class Division:
    """Writes what the nodes prove: that the objective's side `goal` is at least `bound`."""

    def __init__(self, nodes: Nodes, rounder: Rounder, goal: int, bound: int):
        self.nodes, self.rounder, self.goal, self.bound = nodes, rounder, goal, bound
        self.writer, self.encoding = rounder.writer, rounder.encoding
        self.clauses: dict[Path, _Clause] = {}

    def state(self) -> Inequality | None:
        """Writes the bound as an inequality of the objective, or a contradiction where there is no solution. Returns
        None where the nodes do not prove it."""
        root = self._clause_of_root()
        if root is None:
            return None
        if not root.assumed:
            return Inequality(root.number, (), 1)
        writer, encoding, variable, number = self.writer, self.encoding, self.goal >> 1, root.number
        if encoding.upper[variable] - encoding.lower[variable] > 1:
            low = encoding.lower[variable]
            weight = self.bound + low + encoding.most(variable) if self.goal & 1 else self.bound - low
            definition = writer.define((self.goal, self.bound))[self.goal & 1]
            number = writer.line(f"pol {definition} {number} {weight} * +")
        return Inequality(number, ((variable, -1 if self.goal & 1 else 1),), self.bound)

    def _clause_of_root(self) -> _Clause | None:
        """The clause that no better objective is left, from the leaves to the root; None where a leaf has no proof."""
        way: list[Path] = [()]
        inner: set[Path] = set()
        while way:
            if self.writer.interrupt:
                raise Interrupted
            path = way[-1]
            leaf = None if path in inner else self._leaf(path)
            if leaf is not None:
                self.clauses[path] = leaf
                way.pop()
                continue
            inner.add(path)
            children = self.nodes.children.get(path, [])
            if len(children) != 2:
                return None
            children = [child for child in children if not self._is_worse(child)]
            missing = [child for child in children if child not in self.clauses]
            way += missing[:1]
            if not missing:
                self.clauses[path] = self._resolved(children)
                way.pop()
        return self.clauses[()]

    def _is_worse(self, path: Path) -> bool:
        """Whether a node that divides the objective has no better one: the clause of its sibling is that of both."""
        column, low, high = path[-1]
        return column == self.goal >> 1 and (-high if self.goal & 1 else low) >= self.bound

    def _resolved(self, children: list[Path]) -> _Clause:
        """The clause of a node, from those of its children that have one."""
        if len(children) == 1:
            return self.clauses.pop(children[0])
        below, above = (self.clauses.pop(child) for child in children)
        column, _, value = children[0][-1]
        for child, literal in ((below, (2 * column + 1, -value)), (above, (2 * column, value + 1))):
            if literal not in child.assumed:
                return child
        assumed = (below.assumed | above.assumed) - {(2 * column + 1, -value), (2 * column, value + 1)}
        clause = [(side ^ 1, 1 - k) for side, k in sorted(assumed)]
        number = self.writer.rup(clause, [str(below.number), str(above.number)])
        self.writer.delete((below.number, above.number))
        return _Clause(number, assumed)

    def _leaf(self, path: Path) -> _Clause | None:
        """The clause of a node whose own proof suffices."""
        within = self._within(path)
        for one in self.nodes.proofs.get(path, []):
            for form in one.forms():
                entries, least = self.rounder.total(form.names, form.multipliers)
                terms = tuple((v, a) for v, a in entries.items() if a)
                step = contradiction(self.encoding, Inequality(1, terms, least), _Sides(self.encoding, within))
                if step is not None:
                    return self._written(step, self.rounder.words(form.names, form.multipliers), terms, least)
        return None

    def _within(self, path: Path) -> Bounds:
        """The bounds of the path, and of a better objective."""
        within = {self.goal ^ 1: 1 - self.bound}
        for column, low, high in path:
            for side, k in ((2 * column, low), (2 * column + 1, -high)):
                within[side] = max(within.get(side, k), k)
        return within

    def _written(self, step: Step, words: list[str], terms: tuple[tuple[int, int], ...], least: int) -> _Clause:
        number = self.writer.line(f"pol {' '.join(words)}")
        line = cutting_planes(self.encoding, Inequality(number, terms, least), step.assumed, self.writer.define)
        if line is not None:
            self.writer.line(line)
            self.writer.delete((number,))
            number = self.writer.count
        return _Clause(number, frozenset(step.assumed))


class _Sides(dict[int, int]):
    """The bound of each side: that of the path, or of the model."""

    def __init__(self, encoding: Encoding, within: Bounds):
        super().__init__(within)
        self.encoding = encoding

    def __missing__(self, side: int) -> int:
        return self.encoding.first[side]
