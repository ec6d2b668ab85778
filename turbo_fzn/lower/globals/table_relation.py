"""The tuples of a table, analysed once for all constraints that name it: by columns, each tuple once, in lexicographic
order.

Two tables with the same tuples are the same table, in any order and under any name.

Some tables are the join of their projections to pairs of columns: "all are different", an order, the colours of
neighbours. The join goes column by column: each prefix is extended by each value that is compatible with all of the
prefix. The join contains all rows of the table, so it is equal if it has no more rows; it is given up as soon as it has
more.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from turbo_fzn.lower.builder import RowBuilder
from turbo_fzn.lower.tuning import TUNING
from turbo_fzn.tnf.arrays import distinct_rows, ranked

Pair = tuple[int, int]
Pairs = dict[Pair, np.ndarray]  # by columns: which pairs of their values are compatible


@dataclass(eq=False, repr=False)
class Relation:
    """`values`: the values of each column, ascending; `places` (unsigned [column, row], of the narrowest type): the
    place of a row's value among them."""

    number: int
    values: list[np.ndarray]
    places: np.ndarray

    @property
    def n_rows(self) -> int:
        return self.places.shape[1]

    def is_same(self, values: Sequence[np.ndarray], places: np.ndarray) -> bool:
        return np.array_equal(self.places, places) and all(map(np.array_equal, self.values, values))

    @cached_property
    def is_all_different(self) -> bool:
        """Whether the rows are all rows of different values, with the same values in each of three columns or more:
        their number is right, and no row contains a value twice."""
        first, *others = self.values
        if len(others) < 2 or self.n_rows != math.perm(len(first), len(self.values)):
            return False
        is_twice = (np.any(one == other) for one, other in combinations(self.places, 2))
        return all(np.array_equal(first, other) for other in others) and not any(is_twice)

    @cached_property
    def pairs(self) -> Pairs | None:
        """The projections to pairs of columns with incompatible values; None if the table is stronger than their join,
        or too large."""
        sizes = [len(values) for values in self.values]
        pairs: Pairs = {}
        before = [np.arange(sizes[0])]
        for column in range(1, len(sizes)):
            if max(len(before[0]), *sizes[:column]) * sizes[column] > TUNING.relation_pairs:
                return None
            fits = np.ones((len(before[0]), sizes[column]), bool)
            for other in range(column):
                go_together = self._values_together(other, column)
                if not go_together.all():
                    pairs[other, column] = go_together
                    fits &= go_together[before[other]]
            row, value = np.nonzero(fits)
            if len(row) > self.n_rows:
                return None
            before = [places[row] for places in before] + [value]
        return pairs

    def _values_together(self, first: int, second: int) -> np.ndarray:
        """Whether values of two columns are in a row together (bool [values of first, values of second])."""
        found = np.zeros((len(self.values[first]), len(self.values[second])), bool)
        found[self.places[first], self.places[second]] = True
        return found

    @cached_property
    def different(self) -> list[int]:
        """Columns any two of which have the relation "the values differ"; no other pairs have it."""
        differ = {pair for pair, go_together in (self.pairs or {}).items() if self._is_difference(pair, go_together)}
        columns = sorted({column for pair in differ for column in pair})
        return columns if differ == set(combinations(columns, 2)) else []

    def _is_difference(self, pair: Pair, go_together: np.ndarray) -> bool:
        first, second = (self.values[column] for column in pair)
        return np.array_equal(go_together, first[:, None] != second)


def ranked_columns(columns: Iterable[np.ndarray]) -> tuple[list[np.ndarray], np.ndarray]:
    """The distinct values of each column, and their places in it, as narrow as they can be."""
    values, places = zip(*map(ranked, columns))
    return list(values), np.stack(places).astype(np.min_scalar_type(max(map(len, values))))


def columns_of(cells: Sequence[int], n_rows: int, width: int) -> tuple[list[np.ndarray], np.ndarray]:
    """The values and places of these cells, row by row."""
    return ranked_columns(distinct_rows(np.array(cells, np.int64).reshape(n_rows, width)).T)


def relation_of(b: RowBuilder, cells: Sequence[int], n_rows: int, width: int) -> Relation:
    """The relation of these cells, given row by row."""
    key = "cells", id(cells), width
    known: Any = b.plans.get(key)
    if known is None:
        content = columns_of(cells, n_rows, width)
        known = b.plans[key] = _known(b, *content), cells  # the cells are kept, since their identity is a key
    return known[0]


def relation_of_pair(b: RowBuilder, whole: Relation, pair: Pair, go_together: np.ndarray) -> Relation:
    """The relation of two columns of a table."""
    key = "pair", whole.number, *pair
    if key not in b.plans:
        columns = [whole.values[column][places] for column, places in zip(pair, np.nonzero(go_together))]
        b.plans[key] = _known(b, *ranked_columns(columns))
    return b.plans[key]


def _known(b: RowBuilder, values: list[np.ndarray], places: np.ndarray) -> Relation:
    """The relation of this content, of which there is one."""
    content = "content", places.shape, zlib.crc32(places.data), *(zlib.crc32(some.data) for some in values)
    equal = b.plans.setdefault(content, Relation(len(b.plans), values, places))
    return equal if equal.is_same(values, places) else Relation(len(b.plans), values, places)
