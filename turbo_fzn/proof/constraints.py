"""Pseudo-Boolean constraints, for the checker of proofs: normal form, sums, negation, substitution and propagation.

The checker is checker.py and this file alone: they use no other module of this package.

A literal is a number, twice its variable's and 1 more where it is negated. A constraint is normal: distinct variables,
positive coefficients; it means that the sum of the coefficients of its true literals is at least its degree.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Constraint(NamedTuple):
    """Literals, their coefficients, and the degree."""

    literals: tuple[int, ...]
    coefficients: tuple[int, ...]
    degree: int

    @property
    def is_false(self) -> bool:
        return sum(self.coefficients) < self.degree


class Sum:
    """A constraint that is being put together: `terms` are its literals, with positive coefficients."""

    def __init__(self, literals: Iterable[int] = (), coefficients: Iterable[int] = (), degree: int = 0):
        self.terms = dict(zip(literals, coefficients))
        self.degree = degree

    def add(self, literals: Iterable[int], coefficients: Iterable[int], degree: int) -> None:
        """Adds another constraint, whose literals may occur twice and have any coefficients."""
        terms, degree = self.terms, max(self.degree, 0) + degree
        for literal, coefficient in zip(literals, coefficients):
            if coefficient < 0:
                literal, coefficient, degree = literal ^ 1, -coefficient, degree - coefficient
            against = terms.pop(literal ^ 1, 0)
            degree -= min(against, coefficient)
            if coefficient > against:
                terms[literal] = terms.get(literal, 0) + coefficient - against
            elif coefficient < against:
                terms[literal ^ 1] = against - coefficient
        self.degree = degree

    def constraint(self) -> Constraint:
        return Constraint(tuple(self.terms), tuple(self.terms.values()), max(self.degree, 0))


def normal(literals: Sequence[int], coefficients: Sequence[int], degree: int) -> Constraint:
    """The normal form of a sum that is at least `degree`."""
    if degree >= 0 and min(coefficients, default=1) > 0 and len({one >> 1 for one in literals}) == len(literals):
        return Constraint(tuple(literals), tuple(coefficients), degree)
    found = Sum()
    found.add(literals, coefficients, degree)
    return found.constraint()


def negated(one: Constraint) -> Constraint:
    """The negation of the constraint. Its degree is no less than 0, as that of any constraint: `s` relies on it."""
    degree = max(sum(one.coefficients) - one.degree + 1, 0)
    return Constraint(tuple(literal ^ 1 for literal in one.literals), one.coefficients, degree)


def implies(one: Constraint, other: Constraint) -> bool:
    """Whether `other` follows from `one` by adding axioms of literals."""
    known = dict(zip(other.literals, other.coefficients))
    lost = sum(max(a - known.get(literal, 0), 0) for literal, a in zip(one.literals, one.coefficients))
    return one.degree - lost >= other.degree


def weight(one: Constraint, true: set[int]) -> int:
    return sum([a for literal, a in zip(one.literals, one.coefficients) if literal in true])


def substituted(one: Constraint, image: dict[int, int | bool]) -> Constraint:
    pairs = list(zip(one.literals, one.coefficients))
    found = Sum(degree=one.degree)
    found.terms = {literal: a for literal, a in pairs if literal >> 1 not in image}
    for literal, a in pairs:
        value = image.get(literal >> 1)
        if isinstance(value, bool):
            found.degree -= a * (value != bool(literal & 1))
        elif value is not None:
            found.add((value ^ (literal & 1),), (a,), 0)
    return found.constraint()


Terms = tuple[tuple[int, int], ...]  # pairs of a literal and its coefficient, in order


class Index:
    """The numbers of constraints by their terms, whatever the order of these. What is new is read only when somebody
    asks, and what is deleted is passed over, so no other step is slower for it."""

    def __init__(self) -> None:
        self.numbers: dict[Terms, list[str]] = defaultdict(list)
        self.read = 0  # the last number that was read

    def kept(
        self,
        touched: dict[str, Constraint],
        image: dict[int, int | bool],
        constraints: dict[str, Constraint],
        count: int,
    ) -> set[str]:
        """The names of constraints whose image is among the constraints, where the variables are permuted: most of an
        automorphism's goals, found without making them."""
        if {None if isinstance(value, bool) else value >> 1 for value in image.values()} != image.keys():
            return set()
        self._read(constraints, count)
        to = {2 * variable + sign: value ^ sign for variable, value in image.items() for sign in (0, 1)}
        found = set()
        for name, (literals, coefficients, degree) in touched.items():
            terms = tuple(sorted(zip([to.get(literal, literal) for literal in literals], coefficients)))
            if self._knows(terms, degree, constraints):
                found.add(name)
        return found

    def _read(self, constraints: dict[str, Constraint], count: int) -> None:
        for word in map(str, range(self.read + 1, count + 1)):
            if (new := constraints.get(word)) is not None:
                self.numbers[terms_of(new)].append(word)
        self.read = count

    def _knows(self, terms: Terms, degree: int, constraints: dict[str, Constraint]) -> bool:
        known = map(constraints.get, self.numbers.get(terms, ()))
        return any(other is not None and other.degree >= degree for other in known)


def terms_of(one: Constraint) -> Terms:
    return tuple(sorted(zip(one.literals, one.coefficients)))


class Assignment:
    """The literals that are true, and their negations; propagation of one constraint after the other."""

    def __init__(self) -> None:
        self.true: set[int] = set()
        self.false: set[int] = set()

    def fails(self, constraints: Iterable[Constraint]) -> bool:
        """Propagates all constraints to a fixpoint. Returns whether that leads to a contradiction."""
        true, false = self.true, self.false
        news = True
        while news:
            news = False
            for literals, coefficients, degree in constraints:
                if degree == 1:  # any of them will do
                    left = [literal for literal in literals if literal not in false]
                    slack = len(left) - 1
                else:
                    able = [(a, literal) for literal, a in zip(literals, coefficients) if literal not in false]
                    slack = sum([a for a, _ in able]) - degree
                    left = [literal for a, literal in able if a > slack]
                if slack < 0:
                    return True
                if slack == 0 or degree > 1:
                    for literal in left:
                        if literal not in true:
                            true.add(literal)
                            false.add(literal ^ 1)
                            news = True
        return False
