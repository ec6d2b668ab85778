"""Which outputs determine everything, so that no two solutions print the same."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from fuzz.generate import draw_model
from support.naive import solutions
from turbo_fzn.base.errors import TurboError
from turbo_fzn.lower.rewrite import lower
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.run.answer.selection import output_determines_all

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
    assert output_determines_all(tnf) == expected


def test_outputs_that_determine_everything_are_never_shown_twice():
    """On random models, by enumeration of their rows."""
    decided = 0
    for number in range(400):
        model = draw_model(Random(f"functional/{number}"), "small")
        try:
            tnf = lower(model).tnf
        except TurboError:
            continue
        if tnf.infeasible or not tnf.outputs or not output_determines_all(tnf):
            continue
        decided += 1
        printed = [tuple(values[variable] for variable in shown(tnf)) for values in solutions(tnf)]
        assert len(printed) == len(set(printed))
    assert decided > 50
