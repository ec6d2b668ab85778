"""Which variables are inner: made for a constraint with a wide row, and named by its rows alone."""

from __future__ import annotations

import numpy as np
import pytest

from turbo_fzn import solve_text
from turbo_fzn.lower.inner import Mark, Span, inner_variables
from turbo_fzn.tnf.language import ADD, ELEMENT, LEQ

# Variables 0 to 2 are the model's; 3 and 4 were made for a constraint, with single row 1 and bulk row 0.
LOW, HIGH = np.zeros(5, np.int64), np.full(5, 9)


def span(first: Mark, last: Mark, representative=(0, 1, 2, 3, 4)) -> Span:
    now = np.array(representative)[first.variables : last.variables]
    return Span(first, last, np.stack((now, LOW[now], HIGH[now])))


SPAN = span(Mark(3, 1, 0), Mark(5, 2, 1))
SINGLE = [(LEQ, 2, 0, 1), (ADD, 3, 0, 1)]
BULK = [(LEQ, 4, 3, 1), (ADD, 2, 0, 1)]


def inner(single=SINGLE, bulk=BULK, representative=(0, 1, 2, 3, 4), spans=(SPAN,), bounds=(LOW, HIGH)) -> list[int]:
    rows = np.array([*single, *bulk]).T
    return np.flatnonzero(inner_variables(spans, list(rows), len(single), np.array(representative), bounds)).tolist()


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
    merged = (0, 1, 2, 3, 3)
    spans = (span(Mark(3, 1, 0), Mark(4, 2, 1), merged), span(Mark(4, 2, 1), Mark(5, 2, 2), merged))
    assert inner(spans=spans, representative=merged) == []


def test_a_variable_of_which_something_was_stated_later_is_not():
    narrowed = np.array([0, 0, 0, 0, 1])
    assert inner(bounds=(narrowed, HIGH)) == inner(bounds=(LOW, HIGH - narrowed)) == [3]
    assert inner(bounds=(np.array([1, 1, 1, 0, 0]), HIGH)) == [3, 4]
    merged = (0, 1, 2, 3, 3)
    assert inner(representative=merged) == []
    assert inner(representative=merged, spans=(span(Mark(3, 1, 0), Mark(5, 2, 1), merged),)) == [3, 4]


@pytest.mark.parametrize(("low", "high"), [(4, 5), (40, 99), (0, 3)])
def test_what_a_later_constraint_states_of_an_inner_variable_holds_for_learners(low, high):
    """s1 + m is the last moment of the first task. The later constraint narrows its bounds, and makes no row."""
    tasks = "".join(f"var 0..50: s{i} :: output_var;\nvar 1..2: d{i} :: output_var;\n" for i in (1, 2, 3))
    stated = ["int_plus(d1, -1, m)", "turbo_cumulative([s1, s2, s3], [d1, d2, d3], [2, 2, 2], 3)"]
    stated.append(f"turbo_sliding_sum({low}, {high}, 2, [s1, m])")
    text = f"{tasks}var 0..1: m :: output_var;\n" + "".join(f"constraint {line};\n" for line in stated)
    result = solve_text(f"{text}solve satisfy;\n", arch="cpu", blocks=1, learn="prover", check=True)
    assert result.status == "SATISFIED"
