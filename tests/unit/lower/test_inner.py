"""Which variables are inner: made for a constraint with a wide row, and named by its rows alone."""

from __future__ import annotations

import numpy as np

from turbo_fzn.lower.inner import Mark, inner_variables
from turbo_fzn.tnf.language import ADD, ELEMENT, LEQ

# Variables 0 to 2 are the model's; 3 and 4 were made for a constraint, with single row 1 and bulk row 0.
SPAN = (Mark(3, 1, 0), Mark(5, 2, 1))
SINGLE = [(LEQ, 2, 0, 1), (ADD, 3, 0, 1)]
BULK = [(LEQ, 4, 3, 1), (ADD, 2, 0, 1)]


def inner(single=SINGLE, bulk=BULK, representative=(0, 1, 2, 3, 4), spans=(SPAN,)) -> list[int]:
    rows = np.array([*single, *bulk]).T
    return np.flatnonzero(inner_variables(spans, list(rows), len(single), np.array(representative))).tolist()


def test_a_variable_that_only_rows_of_the_constraint_name_is_inner():
    assert inner() == [3, 4]


def test_without_a_constraint_nothing_is_inner():
    assert inner(spans=()) == []


def test_a_variable_that_a_row_of_another_names_is_not():
    assert inner(single=[*SINGLE, (LEQ, 2, 4, 1)]) == [3]
    assert inner(bulk=[*BULK, (LEQ, 3, 0, 1)]) == [4]
    assert inner(single=[(LEQ, 4, 0, 1), SINGLE[1]]) == [3]


def test_the_offset_of_a_table_is_no_variable():
    assert inner(bulk=[BULK[0], (ELEMENT, 2, 0, 3)]) == [3, 4]


def test_a_variable_that_is_one_of_the_models_is_not():
    assert inner(representative=(0, 1, 2, 3, 2)) == [3]
    assert inner(representative=(0, 1, 4, 3, 4)) == [3]


def test_a_variable_that_is_one_of_another_constraint_is_not():
    second = (Mark(4, 2, 1), Mark(5, 2, 2))
    assert inner(spans=((Mark(3, 1, 0), Mark(4, 2, 1)), second), representative=(0, 1, 2, 3, 3)) == []
