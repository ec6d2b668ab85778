"""Boxes of real variables that are no solution yet: they are searched again in smaller ones, and never claimed."""

from __future__ import annotations

import math

import numpy as np
import pytest

from support.engines import search
from turbo_fzn import solve_text
from turbo_fzn.base import floats
from turbo_fzn.check.checker import Checker
from turbo_fzn.interface.api import Result
from turbo_fzn.lower.rewrite import lower
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.run.prepare import settle_root
from turbo_fzn.run.prepared import Prepared
from turbo_fzn.run.refinement import refine
from turbo_fzn.tnf.language import TNF


def solve(model: str, **settings: object) -> Result:
    return solve_text(model, **{"arch": "cpu", "threads": 1, "time_limit": 60_000, **settings})


def prepared(model: str) -> Prepared:
    lowered = lower(parse_text(model))
    return settle_root(Prepared(lowered.tnf, parse_text(model), lowered.origin), Interrupt())


def test_a_box_that_fails_its_check_is_searched_again_in_smaller_ones(monkeypatch):
    """Boxes a thousand times too wide: the check refuses their points, and smaller ones answer."""
    model = "var 1.0..2.0: x :: output_var; constraint float_times(x,x,2.0); solve satisfy;"
    ready = prepared(model)
    assert ready.tnf.floats is not None
    ready.tnf.floats.width = 0.1
    events = list(search(ready, Options(arch="cpu", threads=1), Interrupt(None)))
    ((_, values),) = events[0].outputs  # type: ignore[union-attr]
    assert abs(values[0] - math.sqrt(2)) < 1e-6 and len(events) == 2


def test_what_stays_undecided_is_never_claimed(monkeypatch):
    monkeypatch.setattr(Checker, "undecided", lambda self, values: "never mind")
    for goal in ("satisfy", "minimize x"):
        result = solve(f"var 1.0..2.0: x :: output_var; constraint float_times(x,x,2.0); solve {goal};")
        assert (result.status, result.solutions) == ("UNKNOWN", [])


def test_refining_ends_at_neighbouring_doubles_and_asks_for_better_solutions():
    ready = prepared("var 1.0..2.0: x :: output_var; solve minimize x;")
    tnf: TNF | None = ready.tnf
    widths = []
    while tnf is not None and tnf.floats is not None:
        widths.append(tnf.floats.width)
        tnf = refine(tnf, floats.below(1.5))
        if tnf is not None:
            assert floats.number(int(tnf.upper[tnf.objective])) < 1.5 - 1e-7
    assert len(widths) < 9 and widths[-1] == 0 and widths == sorted(widths, reverse=True)


@pytest.mark.parametrize(
    "settings",
    [
        {"threads": 1, "seed": 60},
        *(pytest.param(one, marks=pytest.mark.slow) for one in ({"threads": 2}, {"relaxation": "on"})),
    ],
    ids=str,
)
def test_numbers_beyond_a_store_in_the_second_search_are_no_error(settings):
    """The quotient has no greatest value; each box that is undecided asks for more."""
    model = (
        "var -50.375..49.625: y :: output_var; var -52.0..48.0: x :: output_var; var bool: a :: output_var;"
        "var 1..3: i :: output_var; var float: d :: output_var; var float: q :: output_var; var bool: b :: output_var;"
        "constraint float_lin_le_reif([-2.5,0.25],[y,x],1.4375,a); constraint float_lin_le_reif([3.0],[x],-5.875,b);"
        "constraint array_var_float_element(i,[y,2.75,-3.25],d); constraint float_div(x,d,q); solve maximize q;"
    )
    assert solve(model, time_limit=2000, **settings).status in ("UNKNOWN", "SATISFIED")


@pytest.mark.parametrize("sense", [1, -1])
@pytest.mark.parametrize("best", [1e150, floats.GREATEST])
def test_the_second_search_wants_better_where_the_objective_has_no_bound(sense, best):
    tnf = lower(parse_text(f"var float: x; solve {'minimize' if sense > 0 else 'maximize'} x;")).tnf
    with np.errstate(all="raise"):
        finer = refine(tnf, -sense * floats.below(best))
    end = finer.upper if sense > 0 else finer.lower
    assert floats.number(int(end[tnf.objective])) * sense < -best
