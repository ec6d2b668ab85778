"""A formula without links, for the steps that need its symmetries: sums and clauses are constraints as a whole, of
which each permutation of equal terms is a symmetry, while in the encoding a tree gives each term a place.

`remove_links` derives the fused rows and clauses (tnf/fuse.py), as derived.py does, and deletes the constraints that
name a link. `restore_links` brings these back, under new numbers. First each link is defined anew, by a sum T of its
terms, whose bounds l <= T <= u are derived. Let r = T - l < 2^n. From the highest bit b to the lowest, of the weight
w, two steps of redundance define b as the truth of r >= w, and leave 0 <= r - w b < w for the next one; in the end the
link is T. Then a constraint with links is the sum of its fused row and of the definitions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from turbo_fzn.proof.derived import Derived, add_bound, add_constraint
from turbo_fzn.proof.encoding import TRUE, Assumed, Inequality
from turbo_fzn.proof.hints import NotJustified
from turbo_fzn.proof.steps import Steps
from turbo_fzn.tnf.fuse import Fused

Entries = dict[int, int]  # variable -> coefficient


class Unlinked:
    """Writes the steps; `numbers` are the new ones of the constraints that were deleted."""

    def __init__(self, steps: Steps, fused: Fused):
        encoding = steps.encoding
        self.steps, self.encoding, self.fused, self.line = steps, encoding, fused, steps.line
        self.links = set((fused.linears.links | fused.clauses.links).nonzero()[0].tolist())
        self.derived = Derived(encoding, fused)
        self.whole_of: dict[int, Inequality] = {}  # those of fused rows, by the number of what they replace
        self.clauses: dict[int, list[int]] = {}  # root -> constraints
        self.sums: dict[int, tuple[Entries, int]] = {}  # link -> its terms and constant
        self.bounds: dict[int, int] = {}  # side of a link -> the constraint that bounds its sum
        self.definitions: dict[int, tuple[int, int]] = {}  # link -> constraints: at least its sum, at most
        self.numbers: dict[int, int] = {}

    def inequalities(self, row: int) -> Iterator[Inequality]:
        """Yields the inequalities of a row that the file states."""
        for split in self.encoding.rows[row]:
            for case in split.alternatives:
                yield from (one for one in case.inequalities if one.number)

    def _names_link(self, one: Inequality) -> bool:
        return any(v in self.links for v, _ in one.terms)

    # ---- without links

    def remove_links(self) -> None:
        """Derives what has no links, and deletes the constraints that name one."""
        for row in self.fused.linears.order.tolist():
            self.sums[self.derived.x[row]] = self._sum_of(self.derived.x[row], row)
        for row in range(self.fused.linears.n_rows):
            self._derive_row(row)
        for name in range(-1, -1 - self.fused.clauses.n_clauses, -1):
            one = self.derived.clause_step(name).inequality
            assert one is not None
            root = int(self.fused.clauses.roots[-1 - name])
            self.clauses.setdefault(root, []).append(self._write_words(one))
        absorbed = self.fused.absorbed.nonzero()[0].tolist()
        self.last_whole = self.steps.count
        gone = [one.number for row in absorbed for one in self.inequalities(row) if self._names_link(one)]
        gone += [self.encoding.domains[v] for v in sorted(self.links) if v in self.encoding.domains]
        self.steps.delete(gone)

    def _derive_row(self, number: int) -> None:
        root = int(self.fused.linears.roots[number])
        wholes = self.derived.splits(len(self.derived.x) + number)
        for split, whole in zip(self.encoding.rows[root], wholes):
            for case, other in zip(split.alternatives, whole.alternatives):
                for one, derived in zip(case.inequalities, other.inequalities):
                    if derived.number < 0:
                        stated = derived._replace(number=self._write_words(derived))
                        if one.number:
                            self.whole_of[one.number] = stated
                        else:  # it says no more than the bounds of these links
                            self._take_bounds((self.derived.y[root], self.derived.z[root]), stated)

    def _write_words(self, one: Inequality) -> int:
        return self.line(f"pol {' '.join(self.derived.words[-one.number])}")

    # ---- with links again

    def restore_links(self) -> None:
        """Defines the links, and derives what was deleted."""
        rows = [one for row in self.fused.linears.absorbed.nonzero()[0].tolist() for one in self.inequalities(row)]
        rows = [one for one in rows if self._names_link(one)]
        self._find_bounds(rows)
        for link in self.sums:
            self._define(link)
        self.steps.delete([number for number in self.bounds.values() if number > self.last_whole])
        for one in rows:
            self._restore(one)
        self._restore_truths()

    def _restore_truths(self) -> None:
        """Defines the links of clauses, and derives the rows on top of their trees."""
        clauses = self.fused.clauses
        known: dict[int, list[int]] = {}  # root -> the constraints of its tree so far
        for row in clauses.order.tolist():
            known.setdefault(self._root_of(row), []).extend(self._define_truth(row))
        for root in dict.fromkeys(clauses.roots.tolist()):
            hints = " ".join(map(str, [*self.clauses[root], *known.get(root, [])]))
            for one in filter(self._names_link, self.inequalities(root)):
                self.numbers[one.number] = self.line(f"rup {self._words(dict(one.terms), one.least)} ; ~ {hints}")

    def _root_of(self, row: int) -> int:
        """The row on top of a tree of a clause."""
        while (x := self.derived.x[row]) in self.links:
            ((row, _),) = self.derived.users[x]
        return row

    # ---- sums

    def _sum_of(self, link: int, row: int) -> tuple[Entries, int]:
        """The terms and the constant of the sum that a row gives a link; those of its operands are known."""
        one = next(self.inequalities(row))
        sign = -dict(one.terms)[link]
        terms, constant = self._flat((v, sign * a) for v, a in one.terms if v != link)
        return terms, constant - sign * one.least

    def _flat(self, parts: Iterable[tuple[int, int]]) -> tuple[Entries, int]:
        """The terms and the constant of a sum, with those of its links."""
        terms: Entries = {}
        constant = 0
        for v, a in parts:
            others, more = self.sums.get(v, ({v: 1}, 0))
            constant += a * more
            for other, factor in others.items():
                terms[other] = terms.get(other, 0) + a * factor
        return {v: a for v, a in terms.items() if a}, constant

    def _is_definition(self, one: Inequality) -> bool:
        """Whether it says what a link is, so that nothing is left where its links are replaced."""
        return not self._flat(one.terms)[0]

    # ---- bounds of sums

    def _find_bounds(self, rows: list[Inequality]) -> None:
        """Derives that the sum of each link is within the link's bounds, each by a row and the bounds of its other
        variables, as linear_rows.py has seen."""
        wanted = {2 * link + end for link in self.sums for end in (0, 1)}
        for one in rows:
            whole = self.whole_of.get(one.number)
            if whole is not None and self._is_definition(one):  # the bounds of a link on top are a fused row
                self._take_bounds([v for v, _ in one.terms], whole)
        rows = [one for one in rows if not one.chosen and all(map(self._is_true, one.conditions))]
        while (n_known := len(self.bounds)) < len(wanted):
            for one in rows:
                for v, a in one.terms:
                    if (side := 2 * v + (a < 0)) in wanted and side not in self.bounds:
                        self._bound(side, one, abs(a))
            if len(self.bounds) == n_known:
                raise NotJustified("the bounds of sums do not follow from their rows")

    def _is_true(self, assumed: Assumed) -> bool:
        return self.encoding.literal(assumed) == TRUE

    def _take_bounds(self, variables: Iterable[int], whole: Inequality) -> None:
        """Takes a fused row for the bounds of these links that it states."""
        sides = [2 * v + end for v in variables if v in self.sums for end in (0, 1)]
        self.bounds |= dict.fromkeys((side for side in sides if self._bounds(whole, side)), whole.number)

    def _bounds(self, whole: Inequality, side: int) -> bool:
        """Whether a fused row says that a link's sum is within the link's bound. That of an operand may have the terms
        of the whole, too: their opposites, where a constant is added, or a multiple of it."""
        (terms, constant), sign = self.sums[side >> 1], 1 - 2 * (side & 1)
        is_of = dict(whole.terms) == {v: sign * a for v, a in terms.items()}
        return is_of and whole.least + sign * constant >= self.encoding.first[side]

    def _bound(self, side: int, one: Inequality, factor: int) -> None:
        """Derives the bound of a link's side by an inequality in which it has the factor, if that suffices."""
        encoding, whole = self.encoding, self.whole_of.get(one.number)
        is_definition = whole is None or self._is_definition(one)
        words = [] if is_definition else [str(whole.number)]  # type: ignore[union-attr]
        found = one.least
        for v, a in one.terms:
            if v == side >> 1:
                continue
            other = 2 * v + (a > 0)  # -a * v is at least this
            found += abs(a) * self.encoding.first[other]
            if v not in self.sums:
                add_bound(encoding, words, other, abs(a))
            elif other in self.bounds:
                add_constraint(words, self.bounds[other], abs(a))
            else:
                return
        if -(-found // factor) >= self.encoding.first[side]:
            self.bounds[side] = self.line(f"pol {' '.join(words)}{f' {factor} d' if factor > 1 else ''}")

    # ---- links

    def _define(self, link: int) -> None:
        """Defines a link of a sum by its terms, bit by bit."""
        encoding, (terms, constant) = self.encoding, self.sums[link]
        opposite, least = {v: -a for v, a in terms.items()}, encoding.lower[link] - constant
        down, up = self.bounds[2 * link], self.bounds[2 * link + 1]
        inner = []
        rest, against = self._spelt(terms), self._spelt(opposite)  # r and -r, without the bits so far
        for bit in reversed(encoding.bits[link]):
            size, name = 1 << bit - encoding.bits[link][0], encoding.spell(2 * bit)
            rest, against = f"{rest}-{size} {name} ", f"{against}{size} {name} "
            degree = self._degree(terms, least)
            down = self.steps.redundant(f"{rest}>= {degree}", f"{name} -> 0", [("#1", [down])])
            up = self.steps.redundant(f"{against}>= {1 - size - degree}", f"{name} -> 1", [("#1", [up])])
            inner += [down, up]
        self.definitions[link] = up, down
        if link in encoding.domains:
            self.numbers[encoding.domains[link]] = self.line(f"pol {self.bounds[2 * link + 1]} {down} +")
        self.steps.delete(inner[:-2])

    def _restore(self, one: Inequality) -> None:
        """Derives a constraint of sums anew: its fused row, if it is no definition, and its links' definitions."""
        whole = self.whole_of.get(one.number)
        words = [] if whole is None or self._is_definition(one) else [str(whole.number)]
        for v, a in one.terms:
            if v in self.definitions:
                add_constraint(words, self.definitions[v][a < 0], abs(a))
        self.numbers[one.number] = self.line(f"pol {' '.join(words)}")

    def _define_truth(self, row: int) -> list[int]:
        """Defines a link of truths by the three inequalities of its row. Returns their constraints."""
        link, found = self.derived.x[row], []
        name = self.encoding.spell(2 * self.encoding.bits[link][0])
        for one in self.inequalities(row):
            value = int(dict(one.terms)[link] > 0)
            number = self.line(f"red {self._words(dict(one.terms), one.least)} ; {name} -> {value}")
            self.numbers[one.number] = number
            found.append(number)
        return found

    # ---- words

    def _spelt(self, terms: Entries) -> str:
        return "".join(self.encoding.sum_of(v, a) for v, a in terms.items())

    def _degree(self, terms: Entries, least: int) -> int:
        return least - sum(a * self.encoding.lower[v] for v, a in terms.items())

    def _words(self, terms: Entries, least: int) -> str:
        return f"{self._spelt(terms)}>= {self._degree(terms, least)}"
