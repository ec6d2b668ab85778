"""The rows of a learner that logs: those of the encoding, and fused rows (tnf/fuse.py), which follow from them.

A fused row stands for a tree of rows. Where the inequalities of its rows are added up, each link cancels with its
definition, and what remains is an inequality over the terms of the fused row: one `pol` step, written where a proof
first needs it. So nothing more than the encoding has to be trusted, and an explanation over many terms is one more step
(refutation.py), as that of a single row is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from turbo_fzn.proof.encoding import Alternative, Encoding, Inequality, Split
from turbo_fzn.proof.log import Literal
from turbo_fzn.proof.refutation import Step
from turbo_fzn.tnf.fuse import Fused
from turbo_fzn.tnf.language import ELEMENT
from turbo_fzn.tnf.links import NOBODY


class Derived:
    """The rows by the numbers that the log has for them, and the clauses that replace rows, by their names there: -1
    for the first one, -2 for the next. An inequality of a fused row has a negative number: the place of the words of
    its `pol` step in `words`."""

    def __init__(self, encoding: Encoding, fused: Fused, stated: Sequence[int] = ()):
        """`stated`: the constraints of the linear rows without a root, which are the last ones."""
        tnf = encoding.tnf
        self.encoding, self.fused, self.stated = encoding, fused, stated
        self.x, self.y, self.z = tnf.x.tolist(), tnf.y.tolist(), tnf.z.tolist()
        self.is_element = (tnf.op == ELEMENT).tolist()
        self.n_rows = len(self.x) + fused.linears.n_rows
        self.definition = {self.x[row]: row for row in fused.order.tolist()}  # of each link
        self.users: dict[int, list[tuple[int, int]]] = {}  # operand -> rows of clauses, and its place there
        self.words: list[list[str]] = [[]]
        self.splits_of_fused: dict[int, tuple[Split, ...]] = {}
        self.variables_of_fused: dict[int, set[int]] = {}
        self.clauses: dict[int, list[Literal]] = {}
        self.steps: dict[int, Step] = {}  # of clauses
        for row in fused.clauses.absorbed.nonzero()[0].tolist():
            self.users.setdefault(self.y[row], []).append((row, 0))
            self.users.setdefault(self.z[row], []).append((row, 1))
        self.n_disjunctions = len(set(fused.clauses.roots.tolist()))  # each has one long clause; these come first

    # ---- linear rows

    def splits(self, row: int) -> tuple[Split, ...]:
        """The cases of a row."""
        number = row - len(self.x)
        if number < 0:
            return self.encoding.rows[row]
        if number not in self.splits_of_fused:
            root = int(self.fused.linears.roots[number])
            if root == NOBODY:
                return (Split((Alternative((), (self._stated(number),)),)),)
            cases = tuple(self._fused_split(root, split) for split in self.encoding.rows[root])
            self.splits_of_fused[number] = cases
        return self.splits_of_fused[number]

    def variables(self, row: int) -> Iterable[int]:
        """The variables that the row or its inequalities name, perhaps twice."""
        number = row - len(self.x)
        if number < 0:
            operands = self.x[row], self.y[row], self.z[row]
            return operands[:2] if self.is_element[row] else operands
        if number not in self.variables_of_fused:
            self.variables_of_fused[number] = self._variables(number, row)
        return self.variables_of_fused[number]

    def _variables(self, number: int, row: int) -> set[int]:
        """The variables of a fused row; a link's bound may name more than the sum does."""
        terms = [v for v, _ in self.fused.linears.terms(number)]
        cases = [one for split in self.splits(row) for one in split.alternatives]
        terms += [side >> 1 for one in cases for side, _ in one.guard]
        return {*terms, *(v for one in cases for inequality in one.inequalities for v, _ in inequality.terms)}

    def _stated(self, number: int) -> Inequality:
        """The inequality of a linear row without a root."""
        linears = self.fused.linears
        return Inequality(self.stated[number - linears.n_rows], tuple(linears.terms(number)), int(linears.low[number]))

    def _fused_split(self, root: int, split: Split) -> Split:
        cases = [
            Alternative(one.guard, tuple(self._fused_inequality(root, each) for each in one.inequalities))
            for one in split.alternatives
        ]
        return Split(tuple(cases), split.closing)

    def _fused_inequality(self, root: int, one: Inequality) -> Inequality:
        return self.expanded(root, one, self.definition)

    def expanded(self, root: int, one: Inequality, definition: dict[int, int]) -> Inequality:
        """What follows from an inequality of a tree's upper row by the rows that define its links."""
        if one.number:
            terms, least, words = dict(one.terms), one.least, [str(one.number)]
        else:  # it holds because of bounds of its links, which say more
            one = Inequality(0, tuple(pair for pair in one.terms if pair[0] in definition), 0)
            terms, least, words = dict(one.terms), 0, []
            for link, factor in one.terms:
                least += add_bound(self.encoding, words, 2 * link + (factor < 0), abs(factor))
        links = [v for v in terms if v in definition]
        while links:
            link = links.pop()
            factor, row = terms.pop(link, 0), definition[link]
            if not factor:  # it occurs twice, and was replaced
                continue
            part = None if row == root else self._opposite(row, link, factor)
            if part is None:
                least += add_bound(self.encoding, words, 2 * link + (factor > 0), abs(factor))
                continue
            words += [str(part.number), str(abs(factor)), "*", "+"]
            least += abs(factor) * part.least
            others = [(v, abs(factor) * a) for v, a in part.terms if v != link]
            links += [v for v, _ in others if v in definition]
            for v, a in others:
                terms[v] = terms.get(v, 0) + a
        return self._state(words, {v: a for v, a in terms.items() if a}, least, one)

    def _state(self, words: list[str], terms: dict[int, int], least: int, like: Inequality) -> Inequality:
        """The inequality of these words, with the conditions of another; without words, one that always holds."""
        if not words:
            return Inequality(0, (), least)
        self.words.append(words)
        kept = tuple(terms.items())
        return Inequality(1 - len(self.words), kept, least, like.conditions, like.chosen)

    def _opposite(self, row: int, variable: int, factor: int) -> Inequality | None:
        """The inequality of a definition in which the variable has the factor 1, with the sign opposite to this; None
        where it says no more than the variable's bound."""
        wanted = -1 if factor > 0 else 1
        inequalities = self.encoding.rows[row][0].alternatives[0].inequalities
        return next((one for one in inequalities if one.number and dict(one.terms).get(variable) == wanted), None)

    # ---- other sums

    def lemma(self, words: list[str]) -> Inequality:
        """What the words of a `pol` step derive: a clause, written where it is first used, for the whole proof."""
        return self._state(words, {}, 1, Inequality(0, (), 0))

    # ---- clauses

    def clause(self, name: int) -> list[Literal]:
        """The literals of a clause that replaces rows."""
        if name not in self.clauses:
            clauses = self.fused.clauses
            written = clauses.literals[clauses.starts[-1 - name] : clauses.starts[-name]].tolist()
            self.clauses[name] = [(literal, 1 - (literal & 1)) for literal in written]
        return self.clauses[name]

    def clause_step(self, name: int) -> Step:
        """The step of a clause: the sum of its rows is the clause, but for literals that occur several times."""
        if name not in self.steps:
            literals = self.clause(name)
            terms = {side >> 1: 1 - 2 * (side & 1) for side, _ in literals}
            root = int(self.fused.clauses.roots[-1 - name])
            is_long = -1 - name < self.n_disjunctions
            words = self._words_of_long(root) if is_long else self._words_of_pair(root, literals[1][0] >> 1)
            one = self._state([*words, "s"], terms, 1 - sum(side & 1 for side, _ in literals), Inequality(0, (), 0))
            assumed = tuple(sorted((side ^ 1, 1 - k) for side, k in literals))
            self.steps[name] = Step(assumed, (), one, (), 0)
        return self.steps[name]

    def _words_of_long(self, root: int) -> list[str]:
        """x implies one of the leaves of the tree below it, for a maximum; their negations, for a minimum."""
        words = self._fused_inequality(root, self._bounds(root)[2])
        return self.words[-words.number]

    def _words_of_pair(self, root: int, leaf: int) -> list[str]:
        """A leaf implies x, for a maximum, by the rows on the way up from the one to the other."""
        numbers = [self._bounds(row)[place].number for row, place in self._way(leaf, root)]
        return [str(numbers[0]), *(word for number in numbers[1:] for word in (str(number), "+"))]

    def _way(self, leaf: int, root: int) -> list[tuple[int, int]]:
        """The rows from a leaf up to the root of its tree, and the place of what leads there among their operands."""
        for first in self.users[leaf]:
            way = [first]
            while (x := self.x[way[-1][0]]) in self.definition:
                way += self.users[x]
            if way[-1][0] == root:
                return way
        raise LookupError("no row connects the literals of a clause")

    def _bounds(self, row: int) -> tuple[Inequality, ...]:
        """The inequalities of a row of truths: x and y, x and z, all three."""
        return self.encoding.rows[row][0].alternatives[0].inequalities


def add_constraint(words: list[str], number: int, factor: int) -> None:
    """Adds a constraint, times the factor, to the sum that these words make."""
    words += [str(number), str(factor), "*", *(["+"] if words else [])]


def add_bound(encoding: Encoding, words: list[str], side: int, factor: int) -> int:
    """Adds the bound of a side, times the factor, to the sum that these words make. Returns the bound, likewise."""
    variable = side >> 1
    if side & 1 and variable in encoding.domains:
        parts = [[str(encoding.domains[variable]), str(factor), "*"]]
    else:
        bits = enumerate(encoding.bits[variable])
        parts = [[encoding.spell(2 * bit + (side & 1)), str(factor << i), "*"] for i, bit in bits]
    for part in parts:
        words += [*part, "+"] if words else part
    return factor * encoding.first[side]
