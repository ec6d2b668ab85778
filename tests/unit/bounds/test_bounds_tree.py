"""Which column a branch and bound over the relaxation divides."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from turbo_fzn.bounds.cliques import Conflicts
from turbo_fzn.bounds.relaxation import LinearRows, Relaxation
from turbo_fzn.bounds.tree import Tree


def tree_of(n_truths: int, n_columns: int) -> Tree:
    """The first columns are truths."""
    ends = np.zeros(n_columns, np.int64), np.full(n_columns, 9, np.int64)
    truths = {column: (n_columns - 1, column) for column in range(n_truths)}
    rows = LinearRows.of([({0: 1}, 0, 9)])
    relaxation = Relaxation(*ends, rows, n_columns - 1, 1, np.arange(n_columns), truths, Conflicts())
    return Tree(relaxation, SimpleNamespace(), SimpleNamespace(rows=rows), SimpleNamespace())  # type: ignore[arg-type]


@pytest.mark.parametrize(("values", "chosen"), [([0.2, 0.9, 1, 4.5], 1), ([0.2, 0, 1, 4.5], 0), ([0, 1, 1, 4.5], 3)])
def test_of_few_truths_the_one_nearest_to_1_comes_first(values: list[float], chosen: int) -> None:
    tree = tree_of(3, 12)
    point = np.array(values + [0.0] * 8)
    tree.gains[:, 3] = tree.counts[:, 3] = 5  # by what it has brought this one would be chosen
    assert tree.choose(point, *tree_ends(tree)) == chosen


def test_many_truths_are_columns_like_others() -> None:
    tree = tree_of(6, 12)
    tree.gains[:, 8], tree.counts[:, 8] = 50, 5
    point = np.array([0.9, 0.4, 0, 0, 0, 0, 0, 0, 4.5, 0, 0, 0])
    assert tree.choose(point, *tree_ends(tree)) == 8


def test_a_fixed_column_is_not_divided() -> None:
    tree = tree_of(3, 12)
    lower, upper = tree_ends(tree)
    lower[0] = upper[0] = 1
    point = np.where(np.arange(12) == 4, 2.5, np.where(np.arange(12) == 0, 1.0, 0.0))
    assert tree.choose(point, lower, upper) == 4
    assert tree.choose(np.zeros(12), upper, upper) is None


def tree_ends(tree: Tree) -> tuple[np.ndarray, np.ndarray]:
    return tree.relaxation.lower.copy(), tree.relaxation.upper.copy()
