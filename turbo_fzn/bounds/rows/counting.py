"""The rows of globals that count values: sums of the truths of x = v. See linearise.FORMS.

Every variable that is counted gets a column for each of its values (encoding.py); most of these rows are then as strong
as linear rows can be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any

from turbo_fzn.base.domains import INFINITY
from turbo_fzn.bounds.lp.relaxation import Affine, Meaning
from turbo_fzn.bounds.rows.linearizer import Linearizer
from turbo_fzn.bounds.rows.tuning import TUNING

Form = Callable[..., Any]


def values_of(m: Linearizer, terms: Sequence[Affine]) -> list[dict[int, Affine]] | None:
    """The truths of all values of each term; None where there are too many values."""
    if sum(m.domain(term.column).size for term in terms if term.column >= 0) > TUNING.counted_truths:
        return None
    found = [m.encoding.all_values(term) for term in terms]
    return None if any(values is None for values in found) else found  # type: ignore[return-value]


# All different


def add_distinct(m: Linearizer, terms: list[Affine]) -> None:
    """At most one term has a given value, and one has it if there are as many values as terms."""
    truths = values_of(m, terms)
    if truths is None:
        return _add_least_sums(m, terms)
    every = sorted({value for values in truths for value in values})
    for value in every:
        literals = [values[value] for values in truths if value in values]
        m.builder.add([(1, literal) for literal in literals], int(len(every) == len(terms)), 1)
    if every and len(every) == len(terms):
        _add_permuted(m, terms, every)
    return None


def _add_permuted(m: Linearizer, terms: list[Affine], values: list[int]) -> None:
    """The elements that a permutation reads from an array have the sum of the whole array."""
    taken = {term.constant for term in terms if term.column < 0}
    columns = [term.column for term in terms if term.column >= 0]
    for array, results in m.reads.items():
        if values[0] >= 1 and values[-1] <= len(array) and all(column in results for column in columns):
            left = [(-1, array[value - 1]) for value in values if value not in taken]
            m.builder.add([*((1, results[column]) for column in columns), *left], 0, 0)


def _add_least_sums(m: Linearizer, terms: list[Affine]) -> None:
    """The sum of integers that differ is at least the sum of the least distinct values above their lower bounds; from
    above the same holds with the greatest values."""
    for sign in (1, -1):
        total, last = 0, -INFINITY
        for low in sorted(m.builder.range([(sign, term)])[0] for term in terms):
            if low == -INFINITY:
                break
            last = max(low, last + 1)
            total += last
        else:
            m.builder.add([(sign, term) for term in terms], low=total)


def all_different(m: Linearizer, x: Any) -> None:
    m.distinct.append(m.array(x))


def all_different_except(m: Linearizer, x: Any, exceptions: Any) -> None:
    truths, allowed = values_of(m, m.array(x)), m.set(exceptions)
    for value in sorted({value for values in truths or () for value in values}):
        if value not in allowed:
            m.builder.add([(1, values[value]) for values in truths or () if value in values], high=1)


def inverse(m: Linearizer, f: Any, first_f: Any, g: Any, first_g: Any) -> None:
    """The rows of two inverse functions: [f_i = j] = [g_j = i]."""
    there, back = m.array(f), m.array(g)
    m.distinct += [there, back]
    truths, others = values_of(m, there), values_of(m, back)
    if truths is not None and others is not None:
        i_0, j_0 = m.term(first_f).constant, m.term(first_g).constant
        for i, values in enumerate(truths):
            inside = {j: literal for j, literal in values.items() if 0 <= j - j_0 < len(others)}
            m.builder.add([(1, literal) for literal in inside.values()], 1, 1)
            for j, literal in inside.items():
                opposite = others[j - j_0].get(i + i_0)
                m.builder.add([(1, literal), *([(-1, opposite)] if opposite else [])], 0, 0)


def symmetric_all_different(m: Linearizer, x: Any, first: Any) -> None:
    inverse(m, x, first, x, first)


# Counts


def count(sign: int, low: int, high: int) -> Form:
    """low <= sign (occurrences - c) <= high."""

    def form(m: Linearizer, x: Any, y: Any, c: Any) -> None:
        members, value, number = m.array(x), m.term(y), m.term(c)
        if len(members) * 2 > TUNING.counted_truths or not (value.column < 0 or m.is_small(value)):
            return
        for chosen, literal in (m.encoding.all_values(value) or {}).items():
            terms = [(sign, m.encoding.equals(member, chosen)) for member in members]
            m.builder.imply(literal, [*terms, (-sign, number)], low, high)

    return form


def among(m: Linearizer, n: Any, x: Any, values: Any) -> None:
    counted, chosen = values_of(m, m.array(x)), m.set(values)
    if counted is not None:
        inside = [literal for truths in counted for value, literal in truths.items() if value in chosen]
        m.builder.add([*((1, literal) for literal in inside), (-1, m.term(n))], 0, 0)


def member(m: Linearizer, x: Any, y: Any) -> None:
    count(1, 1, INFINITY)(m, x, y, 0)


def _number_of_values(m: Linearizer, n: Any, x: Any) -> None:
    """A value is used exactly if one of the terms has it; `n` is the number of used values."""
    terms = m.array(x)
    truths = values_of(m, terms)
    if truths is None:
        return
    used = []
    for value in sorted({value for values in truths for value in values}):
        literals = [values[value] for values in truths if value in values]
        used.append(m.builder.choice(_is_used(terms, value)))
        m.builder.add([*((1, literal) for literal in literals), (-1, used[-1])], low=0)
        for literal in literals:
            m.builder.add([(1, used[-1]), (-1, literal)], low=0)
    m.builder.add([*((1, column) for column in used), (-1, m.term(n))], 0, 0)


def _is_used(terms: list[Affine], value: int) -> Meaning:
    return lambda value_of: int(any(value_of(term) == value for term in terms))


def cardinality(closed: bool) -> Form:
    """The rows of "each value of the cover occurs `counts` times", where each count is a number or a variable."""

    def form(m: Linearizer, x: Any, cover: Any, counts: Any) -> None:
        numbers = m.array(counts)
        _limit_counts(m, m.array(x), m.integers(cover), numbers, numbers, closed)

    return form


def _cardinality_within(closed: bool) -> Form:
    def form(m: Linearizer, x: Any, cover: Any, low: Any, high: Any) -> None:
        _limit_counts(m, m.array(x), m.integers(cover), m.array(low), m.array(high), closed)

    return form


def _limit_counts(
    m: Linearizer,
    members: list[Affine],
    cover: list[int],
    lows: list[Affine],
    highs: list[Affine],
    closed: bool,
) -> None:
    truths = values_of(m, members)
    if truths is None:
        return
    for value, low, high in zip(cover, lows, highs):
        terms = [(1, values[value]) for values in truths if value in values]
        m.builder.add([*terms, (-1, low)], low=0)
        m.builder.add([*terms, (-1, high)], high=0)
    for values in truths if closed else ():
        m.builder.add([(1, values[value]) for value in set(cover) if value in values], 1, 1)


# Bins


def _bin_loads(exactly: bool) -> Form:
    """The weights in each bin sum up to its load, or to no more than its capacity."""

    def form(m: Linearizer, sizes: Any, first: Any, bins: Any, weights: Any) -> None:
        truths, start, limits = values_of(m, m.array(bins)), m.term(first).constant, m.array(sizes)
        if truths is None:
            return
        heavy = list(zip(m.integers(weights), truths))
        for place, limit in enumerate(limits, start):
            terms = [(weight, values[place]) for weight, values in heavy if place in values]
            m.builder.add([*terms, (-1, limit)], 0 if exactly else -INFINITY, 0)
        for values in truths:
            inside = [literal for place, literal in values.items() if 0 <= place - start < len(limits)]
            m.builder.add([(1, literal) for literal in inside], 1, 1)

    return form


def _bins_alike(m: Linearizer, capacity: Any, bins: Any, weights: Any) -> None:
    """No bin that is used exceeds the capacity. Empty bins may, so a capacity below 0 gives no rows."""
    truths = values_of(m, m.array(bins)) if m.term(capacity).constant >= 0 else None
    for place in sorted({place for values in truths or () for place in values}):
        terms = [(w, values[place]) for w, values in zip(m.integers(weights), truths or ()) if place in values]
        m.builder.add([*terms, (-1, m.term(capacity))], high=0)


# Sequences


def sliding_sum(m: Linearizer, low: Any, high: Any, length: Any, x: Any) -> None:
    members, width = m.array(x), m.term(length).constant
    for start in range(len(members) - width + 1):
        window = [(1, term) for term in members[start : start + width]]
        m.builder.add(window, m.term(low).constant, m.term(high).constant)


def steps(low: int, high: int) -> Form:
    """low <= next - this <= high."""

    def form(m: Linearizer, x: Any) -> None:
        for this, following in pairwise(m.array(x)):
            m.builder.add([(1, following), (-1, this)], low, high)

    return form


def _precede(m: Linearizer, s: Any, t: Any, x: Any) -> None:
    _precede_chain(m, [s, t], x)


def _precede_chain(m: Linearizer, chain: Any, x: Any) -> None:
    """x_j is t only if an earlier member is s."""
    members = m.array(x)
    _add_precedence(m, pairwise(m.integers(chain)), members)


def _sequence_precede(m: Linearizer, x: Any) -> None:
    """Each value v > 1 appears only after v - 1, so the first member is at most 1."""
    members = m.array(x)
    most = min(len(members), max((m.builder.range([(1, term)])[1] for term in members), default=0))
    _add_precedence(m, pairwise(range(1, int(most) + 1)), members)


def _add_precedence(m: Linearizer, pairs: Iterable[tuple[int, int]], members: list[Affine]) -> None:
    for s, t in pairs:
        if len(members) ** 2 > TUNING.counted_truths:
            return
        before: list[tuple[int, Affine]] = []
        for term in members:
            m.builder.add([*before, (-1, m.encoding.equals(term, t))], low=0)
            before.append((1, m.encoding.equals(term, s)))


def sort(m: Linearizer, x: Any, y: Any) -> None:
    """y, the sorted x, has the sum of x; its first and last members bound all of x."""
    members, ordered = m.array(x), m.array(y)
    m.builder.add([*((1, term) for term in members), *((-1, term) for term in ordered)], 0, 0)
    for term in members if ordered else ():
        m.builder.add([(1, term), (-1, ordered[0])], low=0)
        m.builder.add([(1, term), (-1, ordered[-1])], high=0)
    steps(0, INFINITY)(m, y)


def _argument_sort(m: Linearizer, x: Any, first: Any, p: Any) -> None:
    m.distinct.append(m.array(p))


FORMS: dict[str, Form] = {
    "turbo_all_different": all_different,
    "turbo_all_different_except": all_different_except,
    "turbo_inverse": inverse,
    "turbo_symmetric_all_different": symmetric_all_different,
    "turbo_count_eq": count(1, 0, 0),
    "turbo_count_leq": count(1, 0, INFINITY),
    "turbo_count_lt": count(1, 1, INFINITY),
    "turbo_count_geq": count(-1, 0, INFINITY),
    "turbo_count_gt": count(-1, 1, INFINITY),
    "turbo_among": among,
    "turbo_nvalue": _number_of_values,
    "turbo_member_int": member,
    "turbo_member_bool": member,
    "turbo_global_cardinality": cardinality(False),
    "turbo_global_cardinality_closed": cardinality(True),
    "turbo_global_cardinality_low_up": _cardinality_within(False),
    "turbo_global_cardinality_low_up_closed": _cardinality_within(True),
    "turbo_bin_packing": _bins_alike,
    "turbo_bin_packing_capa": _bin_loads(False),
    "turbo_bin_packing_load": _bin_loads(True),
    "turbo_sliding_sum": sliding_sum,
    "turbo_increasing_int": steps(0, INFINITY),
    "turbo_increasing_bool": steps(0, INFINITY),
    "turbo_strictly_increasing_int": steps(1, INFINITY),
    "turbo_value_precede": _precede,
    "turbo_value_precede_chain": _precede_chain,
    "turbo_seq_precede_chain": _sequence_precede,
    "turbo_sort": sort,
    "turbo_arg_sort": _argument_sort,
}
