"""Lowering of linear (in)equalities: sum of c[i] * x[i] compared with k.

First the sum is normalised: equal variables joined, constants moved to k, coefficients divided by their gcd. Then
positive terms stay on the left and negative ones go to the right, so that no row negates: P <= N + k. Four cases need
fewer rows:

* one term: a bound of a variable, or a comparison with a constant;
* a clause: if all variables are Boolean and only one of their assignments violates P <= N + k, it is
  `all of P implies some of N`, with one row less than literals, and no sums;
* an equality has its constant or one of its variables as the root of the tree: `7 = a + b` is a single row;
* an inequality with a constant restricts the domain of the sum (see builder.py: no row).

Every function takes the truth value r of the relation, a variable; the plain constraint has r = true.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd, inf

from turbo_fzn.base.domains import INFINITY
from turbo_fzn.lower.builder import RowBuilder
from turbo_fzn.lower.trees import BOUNDED
from turbo_fzn.tnf.language import ADD, EQ, LEQ, MAX, MIN, MUL

Terms = list[tuple[int, int]]  # (coefficient, variable)


def normalise(b: RowBuilder, coefficients: Sequence[int], variables: Sequence[int], k: int) -> tuple[Terms, int, int]:
    """(terms, k, gcd): distinct unfixed variables, coefficients divided by their gcd; k is not divided."""
    lower, upper, parent = b.lower, b.upper, b.parent
    total: dict[int, int] = {}
    for c, v in zip(coefficients, variables):
        if parent[v] != v:
            v = b.find(v)
        if lower[v] == upper[v]:
            k -= c * lower[v]
        elif v in total:
            total[v] += c
        else:
            total[v] = c
    if b.share and not b.negated.keys().isdisjoint(total):
        k = _replace_negations(b, total, k)
    divisor = gcd(*total.values())
    if divisor > 1:
        return [(c // divisor, v) for v, c in total.items() if c], k, divisor
    return [(c, v) for v, c in total.items() if c], k, 1


def _replace_negations(b: RowBuilder, total: dict[int, int], k: int) -> int:
    """Replaces c * not(b) by c - c * b, after which not(b) may be unused. Returns the new k."""
    for v in list(total):
        base = _positive_form(b, v)
        if base != v:
            c = total.pop(v)
            total[base] = total.get(base, 0) - c
            k -= c
    return k


def _positive_form(b: RowBuilder, v: int) -> int:
    """The unfixed variable whose negation v is, or v itself."""
    if v not in b.negated:
        return v
    base = b.find(b.negated[v])
    return v if b.value(base) is not None else base


def split(b: RowBuilder, terms: Terms) -> tuple[list[int], list[int]]:
    """The positive terms, and the negative terms with their sign removed."""
    return b.scaled([t for t in terms if t[0] > 0]), b.scaled([(-c, v) for c, v in terms if c < 0])


def le(b: RowBuilder, coefficients: Sequence[int], variables: Sequence[int], k: int, r: int) -> None:
    """r = (sum <= k)."""
    if b.share and _is_plain_clause(b, coefficients, variables, k):
        if 1 not in coefficients:
            return _state_clause(b, list(variables), [], r)
        if -1 not in coefficients:
            return _state_clause(b, [], list(variables), r)
        signed = list(zip(coefficients, variables))
        return _state_clause(b, [v for c, v in signed if c < 0], [v for c, v in signed if c > 0], r)
    terms, k, divisor = normalise(b, coefficients, variables, k)
    k //= divisor
    truth = _truth_of_le(b, terms, k)
    if truth is not None:
        b.merge(r, b.true if truth else b.false)
    elif len(terms) == 1:
        _le_single(b, terms[0], k, r)
    elif _is_clause(b, terms, k):
        _state_clause(b, [v for c, v in terms if c < 0], [v for c, v in terms if c > 0], r)
    else:
        _le_general(b, terms, k, r)


def _truth_of_le(b: RowBuilder, terms: Terms, k: int) -> bool | None:
    """Whether sum <= k holds, if a quick test decides it: no terms, or the bounds for a large k; else None."""
    if terms and abs(k) < BOUNDED:
        return None
    least, most = _extent(b, terms)
    return True if most <= k else False if least > k else None


def _extent(b: RowBuilder, terms: Terms) -> tuple[float, float]:
    """The least and the greatest value of a sum within the bounds of its variables: exact integers, or ±inf."""
    low = [(c, b.lower[v] if c > 0 else b.upper[v]) for c, v in terms]
    high = [(c, b.upper[v] if c > 0 else b.lower[v]) for c, v in terms]
    return end_of(low, -inf), end_of(high, inf)


def end_of(products: Terms, unbounded: float) -> float:
    if any(abs(end) >= INFINITY for _, end in products):
        return unbounded
    return sum(c * end for c, end in products)


def _le_single(b: RowBuilder, term: tuple[int, int], k: int, r: int) -> None:
    """States r = (c * v <= k) with |c| = 1."""
    c, v = term
    if abs(k) >= INFINITY:
        if b.value(r) == 1:
            b.restrict(v, *((-INFINITY, k) if c > 0 else (-k, INFINITY)))
        else:
            b.define(r, LEQ, *balanced(b, *((v, b.false) if c > 0 else (b.false, v)), k))
    elif c > 0:
        b.define(r, LEQ, v, b.constant(k))
    else:
        b.define(r, LEQ, b.constant(-k), v)


def balanced(b: RowBuilder, left: int, right: int, k: int) -> tuple[int, int]:
    """Two variables whose difference is left - right - k. A large k is split between them, so that neither is large
    where left and right are small."""
    if abs(k) >= BOUNDED:
        half = k // 2
        return b.row(ADD, left, b.constant(-half)), b.row(ADD, right, b.constant(k - half))
    if k < 0:
        left = b.row(ADD, left, b.constant(-k))
    elif k > 0:
        right = b.row(ADD, right, b.constant(k))
    return left, right


def _is_plain_clause(b: RowBuilder, coefficients: Sequence[int], variables: Sequence[int], k: int) -> bool:
    """Whether the sum is a clause, by a quick test for the commonest sums: coefficients ±1 and nothing to normalise."""
    n_positive = coefficients.count(1)
    if k != n_positive - 1 or n_positive + coefficients.count(-1) != len(coefficients) or len(coefficients) < 2:
        return False
    return _are_plain_literals(b, variables)


def _are_plain_literals(b: RowBuilder, variables: Sequence[int]) -> bool:
    """Whether the variables are distinct unfixed Booleans, all of them representatives, without negations."""
    lower, upper, parent = b.lower, b.upper, b.parent
    for v in variables:
        if lower[v] != 0 or upper[v] != 1 or parent[v] != v:
            return False
    return len(set(variables)) == len(variables) and b.negated.keys().isdisjoint(variables)


def _is_clause(b: RowBuilder, terms: Terms, k: int) -> bool:
    """Whether all variables are Boolean and exactly the assignment with the largest sum violates sum <= k."""
    lower, upper = b.lower, b.upper
    largest, smallest_step = 0, INFINITY
    for c, v in terms:
        if lower[v] != 0 or upper[v] != 1:
            return False
        if c > 0:
            largest += c
        smallest_step = min(smallest_step, abs(c))
    return largest - smallest_step <= k < largest


def _le_general(b: RowBuilder, terms: Terms, k: int, r: int) -> None:
    positive, negative = split(b, terms)
    left, right = b.tree(ADD, positive, 0), b.tree(ADD, negative, 0)
    if not negative and abs(k) < INFINITY:
        return b.define(r, LEQ, left, b.constant(k))
    if not positive and abs(k) < INFINITY:
        return b.define(r, LEQ, b.constant(-k), right)
    if k == -1 and b.value(r) is not None:  # P < N is the negation of N <= P
        return b.define(b.negation(r), LEQ, right, left)
    return b.define(r, LEQ, *balanced(b, left, right, k))


def eq(b: RowBuilder, coefficients: Sequence[int], variables: Sequence[int], k: int, r: int) -> None:
    """r = (sum = k)."""
    terms, k, divisor = normalise(b, coefficients, variables, k)
    if k % divisor != 0 or not terms:
        return b.merge(r, b.true if k == 0 and not terms else b.false)
    k //= divisor
    if _is_out_of_reach(b, terms, k):
        return b.merge(r, b.false)
    if b.value(r) == 1 and len(terms) > 1 and abs(k) < INFINITY:
        return _state_eq(b, terms, k)
    if b.value(r) == 1 and len(terms) == 1 and abs(k) >= INFINITY:
        (c, v) = terms[0]
        return b.restrict(v, c * k, c * k)
    return b.define(r, EQ, *sides(b, terms, k))


def _is_out_of_reach(b: RowBuilder, terms: Terms, k: int) -> bool:
    """Whether a sum can never be the large k."""
    if abs(k) < BOUNDED:
        return False
    least, most = _extent(b, terms)
    return not least <= k <= most


def eq_variable(b: RowBuilder, coefficients: Sequence[int], variables: Sequence[int], total: int, r: int) -> None:
    """r = (sum = total), for a variable total."""
    eq(b, [*coefficients, -1], [*variables, total], 0, r)


def ne(b: RowBuilder, coefficients: Sequence[int], variables: Sequence[int], k: int, r: int) -> None:
    """r = (sum != k)."""
    if b.value(r) is not None:
        return eq(b, coefficients, variables, k, b.negation(r))
    terms, k, divisor = normalise(b, coefficients, variables, k)
    if k % divisor != 0 or not terms:
        return b.merge(r, b.false if k == 0 and not terms else b.true)
    k //= divisor
    if _is_out_of_reach(b, terms, k):
        return b.merge(r, b.true)
    return b.define_not(r, EQ, *sides(b, terms, k))


def sides(b: RowBuilder, terms: Terms, k: int) -> tuple[int, int]:
    """Two variables whose equality is sum = k."""
    if len(terms) == 1 and abs(k) < INFINITY:
        (c, v) = terms[0]
        return v, b.constant(c * k)
    positive, negative = split(b, terms)
    left, right = b.tree(ADD, positive, 0), b.tree(ADD, negative, 0)
    if (not negative or not positive) and abs(k) < INFINITY:
        return (left, b.constant(k)) if positive else (right, b.constant(-k))
    return balanced(b, left, right, k)


def _state_eq(b: RowBuilder, terms: Terms, k: int) -> None:
    """States P = N + k, with k or the cheaper side as the root of the other's tree."""
    if len(terms) == 2 and k == terms[0][0] == terms[1][0] == 1 and all(b.is_boolean(v) for _, v in terms):
        older, younger = sorted(v for _, v in terms)
        return b.define(younger, EQ, older, b.false)
    root = [(c, v) for c, v in terms if c > 0]
    rest = [(-c, v) for c, v in terms if c < 0]
    if not root or (rest and cost(rest) < cost(root)):
        root, rest, k = rest, root, -k
    if not rest:
        return b.define_tree(b.constant(k), ADD, b.scaled(root), 0)
    top = b.tree(ADD, b.scaled(root), 0)
    if len(rest) == 1 and k == 0:
        (c, v) = rest[0]
        return b.define(top, MUL, v, b.constant(c))
    return b.define_tree(top, ADD, b.scaled(rest) + ([b.constant(k)] if k else []), 0)


def cost(terms: Terms) -> int:
    """The number of rows that the sum needs."""
    return len(terms) - 1 + sum(c != 1 for c, _ in terms)


def clause(b: RowBuilder, positive: Sequence[int], negative: Sequence[int], r: int) -> None:
    """r = (some of `positive` or not all of `negative`); the first is a maximum, the second a minimum."""
    if b.share and (positive or negative) and _are_plain_literals(b, [*positive, *negative]):
        return _state_clause(b, list(positive), list(negative), r)
    some, every = literals(b, positive, negative)
    lower, upper = b.lower, b.upper
    if 1 in [lower[v] for v in some] or 0 in [upper[v] for v in every] or not some.isdisjoint(every):
        return b.merge(r, b.true)
    some, every = ({v for v in side if lower[v] < upper[v]} for side in (some, every))
    return _state_clause(b, list(some), list(every), r) if some or every else b.merge(r, b.false)


def _state_clause(b: RowBuilder, some: list[int], every: list[int], r: int) -> None:
    """r = (some of `some` or not all of `every`), for distinct unfixed variables, at least one."""
    if not every:
        return b.define_tree(r, MAX, some, 0)
    if some:
        return b.define(r, LEQ, b.tree(MIN, every, 1), b.tree(MAX, some, 0))
    if b.value(r) is not None:
        return b.define_tree(b.negation(r), MIN, every, 1)
    return b.define(r, EQ, b.tree(MIN, every, 1), b.false)


def literals(b: RowBuilder, positive: Sequence[int], negative: Sequence[int]) -> tuple[set[int], set[int]]:
    """The variables of the positive and of the negative literals, with negations replaced by their operands."""
    some: set[int] = set()
    every: set[int] = set()
    for here, there, members in ((some, every, positive), (every, some, negative)):
        for v in members:
            v = b.find(v)
            base = _positive_form(b, v) if b.share else v
            (here if base == v else there).add(base)
    return some, every
