"""The rows of tables, automata and decision diagrams, with a column for each row of a table or each edge.

A solution chooses one row of a table, which gives the hull of the table (disjunctive programming, Balas 1979). A word
that an automaton accepts is a flow of one unit through its unrolled states (Côté, Gendron and Rousseau 2007); the
polytope of such flows is integral. Hulls that share a variable share the truths of its values: together they are then
the local polytope of a weighted constraint network (Schlesinger 1976; Werner, PAMI 2007).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from turbo_fzn.base.domains import IntSet
from turbo_fzn.bounds.lp.relaxation import TRUE, Affine, Meaning
from turbo_fzn.bounds.rows.linearizer import Linearizer
from turbo_fzn.bounds.rows.thresholds import imply_member
from turbo_fzn.bounds.rows.tuning import TUNING
from turbo_fzn.lower.globals.table_relation import Relation, columns_of
from turbo_fzn.read.model import Ref

# Tables


def table(m: Linearizer, x: Any, n_rows: Any, cells: Any) -> None:
    """Adds a column for each row of the table that the domains allow, and ties the terms to these columns."""
    terms = m.array(x)
    if not terms:
        return None
    relation = _relation_of(m, cells, len(terms))
    if relation.is_all_different:
        return _add_arrangements(m, terms, IntSet.of_values(relation.values[0].tolist()))
    rows = _rows_left(m, terms, relation)
    if not rows:
        return None
    chosen = [m.builder.choice(is_row(terms, row)) for row in rows]
    m.builder.add([(1, column) for column in chosen], 1, 1)
    for place, term in enumerate(terms):
        _tie(m, term, [(row[place], column) for row, column in zip(rows, chosen)])
    return None


def _add_arrangements(m: Linearizer, terms: list[Affine], values: IntSet) -> None:
    """The rows of a table of all choices of different values: the terms differ, and each has one of the values."""
    m.distinct.append(terms)
    for term in terms:
        domain = _domain(m, term)
        if domain & values != domain:
            imply_member(m, term, values, TRUE)


def _relation_of(m: Linearizer, cells: Any, width: int) -> Relation:
    """The tuples of a table, read once for all constraints that name it."""
    relation = m.relations.get((cells, width)) if type(cells) is Ref else None
    if relation is None:
        numbers = m.integers(cells)
        relation = Relation(0, *columns_of(numbers, len(numbers) // width, width))
        if type(cells) is Ref:
            m.relations[cells, width] = relation
    return relation


def _domain(m: Linearizer, term: Affine) -> IntSet:
    return m.domain(term.column) if term.column >= 0 else IntSet.interval(term.constant, term.constant)


def is_row(terms: list[Affine], row: tuple[int, ...]) -> Meaning:
    return lambda value_of: int(all(value_of(term) == cell for term, cell in zip(terms, row)))


def _rows_left(m: Linearizer, terms: list[Affine], relation: Relation) -> list[tuple[int, ...]]:
    """The rows whose cells are all in their domains; empty where there are too many rows."""
    is_left = np.ones(relation.n_rows, bool)
    for term, values, places in zip(terms, relation.values, relation.places):
        domain = _domain(m, term)
        is_left &= np.array([value in domain for value in values.tolist()], bool)[places]
    if np.count_nonzero(is_left) * len(terms) > TUNING.table_cells:
        return []
    columns = [values[places[is_left]].tolist() for values, places in zip(relation.values, relation.places)]
    return list(zip(*columns))


def _tie(m: Linearizer, term: Affine, uses: list[tuple[int, Affine]]) -> None:
    """Records that the term has the value of the one column that is 1; `add_ties` adds the rows."""
    m.hulls.setdefault(m.encoding.source(term).column, []).append((term, uses))


def add_ties(m: Linearizer) -> None:
    """Ties the terms of hulls to the columns that give them values: value by value where a variable has truths, or gets
    them here, else by one sum. One sum would tie hulls that share a variable by the mean of its values only."""
    for column, hulls in m.hulls.items():
        term, _ = hulls[0]
        are_tied = len(hulls) > 1 or m.is_named(term) or m.is_small(term) or m.encoding.has_all(term)
        for term, uses in hulls:
            truths = m.encoding.all_values(term) if are_tied and column >= 0 else None
            if truths is None:
                m.builder.add([*uses, (-1, term)], 0, 0)
            else:
                _add_ties(m, truths, uses)


def _add_ties(m: Linearizer, truths: dict[int, Affine], uses: list[tuple[int, Affine]]) -> None:
    """Adds a row for each value: its truth is the sum of the columns that give it."""
    by_value: dict[int, list[Affine]] = {}
    for value, column in uses:
        by_value.setdefault(value, []).append(column)
    for value, literal in truths.items():
        m.builder.add([*((1, column) for column in by_value.get(value, ())), (-1, literal)], 0, 0)


# Paths


class _Edge(NamedTuple):
    source: int
    value: int
    target: int
    cost: int


def _add_paths(m: Linearizer, x: list[Affine], layers: list[list[_Edge]], start: int, total: Affine | None) -> None:
    """Adds the rows of one unit of flow from `start` along an edge of each layer: the edges' values are those of x,
    their costs sum up to `total`."""
    columns: list[dict[_Edge, Affine]] = []
    for place, layer in enumerate(layers):
        columns.append({edge: m.builder.choice(_uses_edge(x, layers, start, total, place, edge)) for edge in layer})
    for place, (term, used) in enumerate(zip(x, columns)):
        flow: dict[int, list[tuple[int, Affine]]] = {}
        for edge, column in used.items():
            flow.setdefault(edge.source, []).append((1, column))
        for edge, column in columns[place - 1].items() if place else ():
            flow.setdefault(edge.target, []).append((-1, column))
        for terms in flow.values():
            m.builder.add(terms, int(place == 0), int(place == 0))
        _tie(m, term, [(edge.value, column) for edge, column in used.items()])
    if total is not None:
        costs = [(edge.cost, column) for used in columns for edge, column in used.items()]
        m.builder.add([*costs, (-1, total)], 0, 0)


def _uses_edge(
    x: list[Affine], layers: list[list[_Edge]], start: int, total: Affine | None, place: int, edge: _Edge
) -> Meaning:
    def value(value_of: Callable[[Affine], int]) -> int:
        path = _path_of([value_of(term) for term in x], layers, start, None if total is None else value_of(total))
        return int(path[place] == edge)

    return value


def _path_of(word: list[int], layers: list[list[_Edge]], start: int, total: int | None) -> tuple[_Edge, ...]:
    """The first path that reads the word at the cost `total`; there must be one."""

    @cache
    def ways(place: int, state: int, cost: int) -> tuple[_Edge, ...] | None:
        if place == len(layers):
            return () if total is None or cost == total else None
        for edge in layers[place]:
            if edge.source == state and edge.value == word[place]:
                rest = ways(place + 1, edge.target, cost + edge.cost)
                if rest is not None:
                    return (edge, *rest)
        return None

    path = ways(0, start, 0)
    assert path is not None
    return path


def _trim(layers: Iterable[Iterable[_Edge]], start: int, final: Callable[[int], bool]) -> list[list[_Edge]] | None:
    """The edges of each layer that lie on paths from the start to a final state; None where there are too many."""
    states, kept, n_edges = {start}, [], 0
    for layer in layers:
        edges = list(islice((edge for edge in layer if edge.source in states), TUNING.automaton_edges + 1))
        n_edges += len(edges)
        if n_edges > TUNING.automaton_edges:
            return None
        states = {edge.target for edge in edges}
        kept.append(edges)
    states = {state for state in states if final(state)}
    for place in reversed(range(len(kept))):
        kept[place] = [edge for edge in kept[place] if edge.target in states]
        states = {edge.source for edge in kept[place]}
    return kept


def _automaton(m: Linearizer, x: Any, n: Any, letters: Any, d: Any, first: Any, final: Any, *priced: Any) -> None:
    terms, start, accepted = m.array(x), m.term(first).constant, m.set(final)
    alphabet, targets = m.set(letters), m.integers(d)
    costs = m.integers(priced[0]) if priced else [0] * len(targets)
    if alphabet.has_holes or len(targets) * len(terms) > TUNING.automaton_steps:
        return
    cells = [
        _Edge(state, letter, targets[cell], costs[cell])
        for cell, (state, letter) in enumerate((s, a) for s in range(1, m.term(n).constant + 1) for a in alphabet)
        if targets[cell]
    ]
    _add_layers(m, terms, lambda place: cells, start, accepted.__contains__, m.term(priced[1]) if priced else None)


def _diagram(m: Linearizer, x: Any, n: Any, level: Any, n_edges: Any, source: Any, label: Any, *rest: Any) -> None:
    """The rows of turbo_mdd and turbo_cost_mdd; `rest` is the targets, or the costs, the targets and the total."""
    levels, sources, targets = m.integers(level), m.integers(source), m.integers(rest[-1 if len(rest) == 1 else 1])
    costs = m.integers(rest[0]) if len(rest) > 1 else [0] * len(targets)
    labels = m.sets(label)

    def layer(place: int) -> Iterable[_Edge]:
        for source, values, target, cost in zip(sources, labels, targets, costs):
            if levels[source - 1] == place + 1:
                yield from (_Edge(source, value, target, cost) for value in values)

    _add_layers(m, m.array(x), layer, 1, lambda node: node == 0, m.term(rest[2]) if len(rest) > 1 else None)


def _add_layers(
    m: Linearizer,
    terms: list[Affine],
    layer: Callable[[int], Iterable[_Edge]],
    start: int,
    final: Callable[[int], bool],
    total: Affine | None,
) -> None:
    """Adds the paths that the domains and the final states leave, unless there are too many edges."""
    domains = [_domain(m, term) for term in terms]
    layers = _trim(([e for e in layer(i) if e.value in domain] for i, domain in enumerate(domains)), start, final)
    if layers is not None and all(layers):
        _add_paths(m, terms, layers, start, total)


FORMS: dict[str, Callable[..., None]] = {
    "turbo_table_int": table,
    "turbo_table_bool": table,
    "turbo_regular": _automaton,
    "turbo_cost_regular": _automaton,
    "turbo_mdd": _diagram,
    "turbo_cost_mdd": _diagram,
}
