"""The rows of linear and of Boolean constraints. See linearise.FORMS.

A function gets the Linearizer and the arguments of the constraint. A literal is a term that is 0 or 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from turbo_fzn.base.domains import INFINITY, IntSet
from turbo_fzn.bounds.lp.relaxation import TRUE, Affine, negation
from turbo_fzn.bounds.rows.linearizer import Linearizer
from turbo_fzn.bounds.rows.thresholds import at_most, imply_at_most, imply_member
from turbo_fzn.bounds.rows.tuning import TUNING
from turbo_fzn.predicates.signature import SUFFIXES

Form = Callable[..., Any]


# Sums


def sums(low: bool) -> Form:
    """The rows of sum = k, or with `low` False of sum <= k; k may be a variable."""

    def form(m: Linearizer, coefficients: Any, variables: Any, k: Any, condition: Any = True) -> None:
        terms = [*zip(m.integers(coefficients), m.array(variables)), (-1, m.term(k))]
        m.builder.imply(m.term(condition), terms, 0 if low else -INFINITY, 0)

    return form


def _sum_at_most_reified(m: Linearizer, coefficients: Any, variables: Any, k: Any, truth: Any) -> None:
    literal = m.term(truth)
    terms = [*zip(m.integers(coefficients), m.array(variables)), (-1, m.term(k))]
    at_most(m, terms, literal)


def _sum_at_most_implied(m: Linearizer, coefficients: Any, variables: Any, k: Any, condition: Any) -> None:
    terms = [*zip(m.integers(coefficients), m.array(variables)), (-1, m.term(k))]
    imply_at_most(m, terms, m.term(condition))


def comparison(strict: int) -> tuple[Form, Form, Form]:
    """The rows of x + strict <= y: its plain, reified and implied forms."""

    def terms_of(m: Linearizer, x: Any, y: Any) -> list:
        return [(1, m.term(x)), (-1, m.term(y)), (strict, TRUE)]

    def plain(m: Linearizer, x: Any, y: Any) -> None:
        m.builder.add(terms_of(m, x, y), high=0)

    def reified(m: Linearizer, x: Any, y: Any, truth: Any) -> None:
        at_most(m, terms_of(m, x, y), m.term(truth))

    def implied(m: Linearizer, x: Any, y: Any, condition: Any) -> None:
        imply_at_most(m, terms_of(m, x, y), m.term(condition))

    return plain, reified, implied


def equal(m: Linearizer, x: Any, y: Any, condition: Any = True) -> None:
    """The rows of condition -> x = y. The relaxation of a reified equation is tighter with these rows and the literals
    x = v."""
    first, second, literal = m.term(x), m.term(y), m.term(condition)
    if first.column < 0 or second.column < 0:
        if literal.column >= 0:
            return  # named, see encoding.py
    m.builder.imply(literal, [(1, first), (-1, second)], 0, 0)


def _equal_implied(m: Linearizer, x: Any, y: Any, condition: Any) -> None:
    first, second = m.term(x), m.term(y)
    if second.column >= 0:
        first, second = second, first
    if second.column >= 0:
        return equal(m, x, y, condition)
    return imply_member(m, first, IntSet.interval(second.constant, second.constant), m.term(condition))


def _equal_reified(m: Linearizer, x: Any, y: Any, truth: Any) -> None:
    equal(m, x, y, truth)
    first, second, literal = m.term(x), m.term(y), m.term(truth)
    if first.column >= 0 and second.column >= 0 and literal.column >= 0:
        _equal_by_values(m, first, second, literal)


def _different_reified(m: Linearizer, x: Any, y: Any, truth: Any) -> None:
    first, second, literal = m.term(x), m.term(y), negation(m.term(truth))
    if first.column < 0 or second.column < 0:
        return
    m.builder.imply(literal, [(1, first), (-1, second)], 0, 0)
    if literal.column >= 0:
        _equal_by_values(m, first, second, literal)


def _equal_by_values(m: Linearizer, first: Affine, second: Affine, literal: Affine) -> None:
    """The rows of literal = (x = y) for each value: two of the truths x = v, y = v and `literal` imply the third."""
    shared = m.domain(first.column) & m.domain(second.column)
    size = max(m.domain(first.column).size, m.domain(second.column).size)
    m.n_split += size
    if size > (TUNING.split_few if m.n_split > TUNING.split_in_all else TUNING.split_values):
        return
    for value in shared:
        here, there = m.encoding.equals(first, value), m.encoding.equals(second, value)
        for a, b, c in ((here, there, literal), (here, literal, there), (there, literal, here)):
            m.builder.add([(1, a), (1, b), (-1, c)], high=1)


def different(m: Linearizer, x: Any, y: Any) -> None:
    m.differ(m.term(x), m.term(y), 0)


def _sum_different(m: Linearizer, coefficients: Any, variables: Any, k: Any) -> None:
    """Records x - y != k; sums of other shapes give no rows."""
    factors, terms = m.integers(coefficients), m.array(variables)
    if len(terms) == 2 and factors[0] == -factors[1] and abs(factors[0]) == 1:
        x, y = terms if factors[0] == 1 else reversed(terms)
        m.differ(x, y, m.term(k).constant)


# Clauses


def clause(m: Linearizer, positive: Any, negative: Any) -> None:
    terms = [(1, term) for term in m.array(positive)] + [(1, negation(term)) for term in m.array(negative)]
    m.builder.add(terms, low=1)


def _clause_implied(m: Linearizer, positive: Any, negative: Any, condition: Any) -> None:
    literals = [*m.array(positive), *map(negation, m.array(negative)), negation(m.term(condition))]
    m.builder.add([(1, literal) for literal in literals], low=1)


def _clause_reified(m: Linearizer, positive: Any, negative: Any, truth: Any) -> None:
    _disjunction_of(m, m.array(positive) + list(map(negation, m.array(negative))), m.term(truth))


def disjunction(m: Linearizer, members: Any, truth: Any) -> None:
    _disjunction_of(m, m.array(members), m.term(truth))


def conjunction(m: Linearizer, members: Any, truth: Any) -> None:
    _disjunction_of(m, list(map(negation, m.array(members))), negation(m.term(truth)))


def _conjunction_implied(m: Linearizer, members: Any, condition: Any) -> None:
    for member in m.array(members):
        m.builder.add([(1, m.term(condition)), (-1, member)], high=0)


def _disjunction_implied(m: Linearizer, members: Any, condition: Any) -> None:
    _clause_implied(m, members, [], condition)


def _disjunction_of(m: Linearizer, literals: list[Affine], truth: Affine) -> None:
    """The rows of truth = (one of the literals is 1)."""
    if truth != TRUE:
        for literal in literals:
            m.builder.add([(1, truth), (-1, literal)], low=0)
    m.builder.add([*((1, literal) for literal in literals), (-1, truth)], low=0)


def either(m: Linearizer, x: Any, y: Any, truth: Any) -> None:
    _disjunction_of(m, [m.term(x), m.term(y)], m.term(truth))


def both(m: Linearizer, x: Any, y: Any, truth: Any) -> None:
    _disjunction_of(m, [negation(m.term(x)), negation(m.term(y))], negation(m.term(truth)))


def exclusive(m: Linearizer, x: Any, y: Any, truth: Any = True) -> None:
    """An even number of the three is 1, so x + y + z is at most 2, and each is at most the sum of the others."""
    literals = [m.term(x), m.term(y), m.term(truth)]
    m.builder.add([(1, literal) for literal in literals], high=2)
    for alone in range(3):
        m.builder.add([(-1 if i == alone else 1, literal) for i, literal in enumerate(literals)], low=0)


def _equivalent(m: Linearizer, x: Any, y: Any, truth: Any = True) -> None:
    literals = [m.term(x), m.term(y), negation(m.term(truth))]
    m.builder.add([(1, literal) for literal in literals], high=2)
    for alone in range(3):
        m.builder.add([(-1 if i == alone else 1, literal) for i, literal in enumerate(literals)], low=0)


# Sets


def _member_reified(m: Linearizer, x: Any, values: Any, truth: Any) -> None:
    """The row that makes `truth` the sum of the truths x = v over the set."""
    chosen: Any = values if isinstance(values, IntSet) else m.model.parameters[values]
    literals = m.encoding.all_values(m.term(x))
    if literals is not None:
        inside = [literal for value, literal in literals.items() if value in chosen]
        m.builder.add([*((1, literal) for literal in inside), (-1, m.term(truth))], 0, 0)


def _member_implied(m: Linearizer, x: Any, values: Any, condition: Any) -> None:
    imply_member(m, m.term(x), m.set(values), m.term(condition))


EQUATION = sums(True), sums(True), sums(True)
SUM_AT_MOST = sums(False), _sum_at_most_reified, _sum_at_most_implied
LESS, AT_MOST = comparison(1), comparison(0)

# For each predicate: the functions for its forms in the order of SUFFIXES; None, or a shorter tuple, for missing forms.
ROWS: dict[str, tuple[Form | None, ...]] = {
    "int_lin_eq": EQUATION,
    "int_lin_le": SUM_AT_MOST,
    "bool_lin_eq": EQUATION,
    "bool_lin_le": SUM_AT_MOST,
    "int_le": AT_MOST,
    "int_lt": LESS,
    "bool_le": AT_MOST,
    "bool_lt": LESS,
    "int_eq": (equal, _equal_reified, _equal_implied),
    "int_ne": (different, _different_reified),
    "int_lin_ne": (_sum_different,),
    "bool_eq": (equal, _equivalent, _equal_implied),
    "bool2int": (equal,),
    "bool_not": (exclusive, exclusive),
    "bool_xor": (exclusive,),
    "bool_and": (both,),
    "bool_or": (either,),
    "bool_clause": (clause, _clause_reified, _clause_implied),
    "array_bool_and": (conjunction, None, _conjunction_implied),
    "array_bool_or": (disjunction, None, _disjunction_implied),
    "set_in": (None, _member_reified, _member_implied),
}
FORMS: dict[str, Form] = {
    name + suffix: form for name, forms in ROWS.items() for suffix, form in zip(SUFFIXES, forms) if form is not None
}
