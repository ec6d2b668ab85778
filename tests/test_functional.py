"""What follows from what, and that enumeration remembers solutions only where it must."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from fuzz.generate import draw_model
from naive import solutions

from turbo_fzn import session
from turbo_fzn.errors import TurboError
from turbo_fzn.functional import determine_all
from turbo_fzn.parse import parse_text
from turbo_fzn.rewrite import lower

TEXTS = [
    ("var 0..3: x :: output_var; var 0..3: y; constraint int_plus(x,y,4);", True),
    ("var 0..3: x; var 0..9: y :: output_var; constraint int_times(x,x,y);", False),
    ("var 0..3: x :: output_var; var 0..9: y; constraint int_times(x,x,y);", True),
    ("var 0..3: x :: output_var; var 0..3: y;", False),
    ("var 0..3: x :: output_var; var bool: b; constraint int_le_reif(x,2,b);", True),
    ("var 1..2: i :: output_var; var 0..9: y; constraint array_int_element(i,[4,7],y);", True),
]


def shown(tnf) -> np.ndarray:
    return np.concatenate([item.variables for item in tnf.outputs])


@pytest.mark.parametrize(("text", "expected"), TEXTS)
def test_what_follows_from_the_outputs(text, expected):
    tnf = lower(parse_text(text + "solve satisfy;")).tnf
    assert determine_all(tnf, shown(tnf)) == expected


def test_outputs_that_determine_everything_are_never_shown_twice():
    """On random models, by enumeration of their rows."""
    decided = 0
    for number in range(400):
        model = draw_model(Random(f"functional/{number}"), "small")
        try:
            tnf = lower(model).tnf
        except TurboError:
            continue
        if tnf.infeasible or not tnf.outputs or not determine_all(tnf, shown(tnf)):
            continue
        decided += 1
        printed = [tuple(values[variable] for variable in shown(tnf)) for values in solutions(tnf)]
        assert len(printed) == len(set(printed))
    assert decided > 50


@pytest.mark.parametrize(("text", "expected"), [(TEXTS[0][0], True), (TEXTS[1][0], False)])
def test_solutions_are_remembered_only_where_two_may_print_the_same(text, expected):
    options = session.Options(arch="cpu", all_solutions=True)
    prepared = session.prepare(parse_text(text + "solve satisfy;"), options, session.Interrupt())
    assert session.Distinct(session.Judge(prepared, options)).all_differ == expected
