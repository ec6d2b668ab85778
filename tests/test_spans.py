"""Bounds from things that stand in a row: never above the least value, and what each form of a model gives."""

from __future__ import annotations

import naive
import numpy as np
import pytest
from hypothesis import given
from oracle import all_solutions
from span_models import TEXT_FORMS, Text, refuted, sheets, state_pair, stretched, texts
from test_simplify import check_simplified

from turbo_fzn.lower.rewrite import lower
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.tnf.simplify import simplify

# ---- never too much


@given(sheets())
def test_no_solution_is_below_a_bound(sheet):
    tnf = sheet.tnf()
    for variable, bound in stretched(tnf).items():
        assert refuted(tnf, variable, bound), (variable, bound)


@given(sheets(large=False))
def test_what_stands_in_a_row_neither_loses_nor_invents_solutions(sheet):
    check_simplified(sheet.tnf())


@given(texts())
def test_no_solution_of_a_text_is_below_a_bound(text):
    lowered = lower(parse_text(text.text()))
    solutions = all_solutions(parse_text(text.plain()))
    assert not (lowered.tnf.infeasible and solutions)
    found = {} if lowered.tnf.infeasible else stretched(lowered.tnf)
    simplified = simplify(lowered.tnf, naive.propagate)
    small, back = simplified.tnf, simplified.reconstruction
    assert not (small.infeasible and solutions)
    for name in solutions[0] if solutions else ():
        variable, values = lowered.origin[name], [one[name] for one in solutions]
        assert found.get(variable, -100) <= min(values), name
        place = back.position[back.representative[variable]]
        assert place < 0 or small.lower[place] <= min(values) <= max(values) <= small.upper[place], name
