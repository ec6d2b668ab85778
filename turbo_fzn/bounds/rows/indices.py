"""Indices computed from several variables, as in an array of two dimensions: each value of an index determines theirs.

So a truth of the index, [index = v], is the product of the truths [x = a] and [y = b] whose values give v, and these
products sum up to each factor: [x = a] = sum over b of [x = a] [y = b]. Where the variables all differ, at most one of
several y has the value b, and this inequality is multiplied by [x = a], too (the reformulation-linearisation technique
of Adams and Sherali 1986; for the quadratic assignment Adams and Johnson 1994):

    sum over y of [x = a] [y = b]  <=  [x = a]
"""

from __future__ import annotations

from itertools import product
from math import prod

from turbo_fzn.bounds.lp.relaxation import Affine, collect
from turbo_fzn.bounds.rows.linearizer import Linearizer
from turbo_fzn.bounds.rows.tuning import TUNING

Products = dict[tuple[int, int], Affine]  # by values of two variables: the truth that they have these values


def add_places(m: Linearizer) -> None:
    """The rows of all indices that equations make."""
    groups = [{term.column for term in terms} for terms in m.distinct]
    met: dict[tuple[int, int], Products] = {}
    left = TUNING.index_values_in_all
    for factors, terms, k in m.places:
        entries, constant = collect(zip(factors, terms))
        sizes = {column: m.domain(column).size for column in entries}
        index = max(sizes, key=sizes.__getitem__, default=-1)
        size = prod(sizes.values()) // max(sizes.get(index, 0), 1)
        if len(entries) < 3 or abs(entries[index]) != 1 or size > min(left, TUNING.index_values):
            continue
        left -= size
        sign = entries.pop(index)
        are_distinct = any(group.issuperset(entries) for group in groups)
        literals = _add_index(m, Affine(index, sign, 0), entries, k - constant, are_distinct)
        if are_distinct and len(entries) == 2:
            met[min(entries), max(entries)] = literals if min(entries) == next(iter(entries)) else _transposed(literals)
    if sum(map(len, met.values())) <= TUNING.index_products:
        for group in groups:
            _add_products(m, {pair: literals for pair, literals in met.items() if group.issuperset(pair)})


def _transposed(literals: Products) -> Products:
    return {(b, a): literal for (a, b), literal in literals.items()}


def _add_index(m: Linearizer, index: Affine, others: dict[int, int], k: int, are_distinct: bool) -> Products:
    """index + the sum of the others = k; the truth of each choice of their values. Where the index has no truths, the
    truths of the others are not needed."""
    if not m.encoding.has_all(index):
        return {}
    literals = m.encoding.all_values(index)
    values = [m.encoding.all_values(Affine(column, 1, 0)) for column in others]
    by_index: dict[int, tuple[int, ...]] = {}
    if literals is None or None in values:
        return {}
    for chosen in product(*values):  # type: ignore[arg-type]
        value = k - sum(factor * v for factor, v in zip(others.values(), chosen))
        if value in literals and not (are_distinct and len(set(chosen)) < len(chosen)):
            if value in by_index:
                return {}  # the index does not determine the values
            by_index[value] = chosen
    for value, literal in literals.items():
        if value not in by_index:
            m.builder.add([(1, literal)], high=0)
    for place, truths in enumerate(values):
        sums: dict[int, list[tuple[int, Affine]]] = {}
        for value, chosen in by_index.items():
            sums.setdefault(chosen[place], []).append((1, literals[value]))
        for value, truth in truths.items():  # type: ignore[union-attr]
            m.builder.add([*sums.get(value, ()), (-1, truth)], 0, 0)
    return {chosen: literals[value] for value, chosen in by_index.items()}  # type: ignore[misc]


def _add_products(m: Linearizer, met: dict[tuple[int, int], Products]) -> None:
    """Adds the rows of variables that all differ: where x = a, at most one y has the value b."""
    sums: dict[tuple[int, int, int], list[tuple[int, Affine]]] = {}  # by (x, a, b)
    for (x, y), literals in met.items():
        for (a, b), literal in literals.items():
            sums.setdefault((x, a, b), []).append((1, literal))
            sums.setdefault((y, b, a), []).append((1, literal))
    for (x, a, _), terms in sums.items():
        if len(terms) > 1:
            m.builder.add([*terms, (-1, m.encoding.equals(Affine(x, 1, 0), a))], high=0)
