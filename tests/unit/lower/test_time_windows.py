"""First tours with time windows: the models that are seen to have them, and values that are a tour in time."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from support.tours import FORMS, HORIZON, Data, Form, drawn, times_of, write
from turbo_fzn.lower.time_windows import suggested
from turbo_fzn.options.options import Options
from turbo_fzn.process.interrupt import Interrupt
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.run.prepare import prepare

TWELVE = drawn(Random(3), 12, 30)
BACKWARD = Form(backward=True)


def values_of(text: str) -> dict[str, int]:
    return dict(suggested(parse_text(text)))


def order_of(values: dict[str, int], n: int, backward: bool) -> list[int]:
    """The places from 0 on, along the values of x."""
    order = [0]
    while len(order) < n:
        order.append(values[f"x{order[-1]}"] - 1)
    return [0, *reversed(order[1:])] if backward else order


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_the_values_are_a_tour_in_time(form):
    data = drawn(Random(3), 12, 30, form.service)
    values = values_of(write(data, form))
    order = order_of(values, 12, form.backward)
    times = times_of(data, form, order)
    assert sorted(order) == list(range(12)) and times is not None
    when = dict(zip(order[1:], times[1:]))
    assert {place: values[f"t{place}"] for place in when} == when


def edited(form: Form, old: str, new: str) -> str:
    text = write(TWELVE, form)
    assert old in text
    return text.replace(old, new)


@pytest.mark.parametrize(
    "text",
    [
        edited(BACKWARD, "turbo_circuit", "turbo_subcircuit"),
        edited(BACKWARD, "array_int_element(x3,", "array_int_element(x4,"),
        edited(BACKWARD, "int_lin_le([1,1,-1],[r3,d3,t3],0)", "int_lin_le([1,1,1],[r3,d3,t3],900)"),
        edited(BACKWARD, "int_lin_le([1,1,-1],[r3,d3,t3],0)", "int_lin_le([1,1,-1],[t3,d3,r3],0)"),
        edited(BACKWARD, "int_lin_le([1,1,-1],[r3,d3,t3],0)", "int_lin_le([1,1,-1],[r3,d3,own3],0)"),
        edited(BACKWARD, "int_lin_le([1,1,-1],[r3,d3,t3],0)", f"int_lin_le([1,{2**50},-1],[r3,d3,t3],0)"),
        edited(Form(backward=False), "var 0..2000: own0;", "var 0..2000: own0; constraint int_le(t0,own0);"),
    ],
    ids=["loops", "another index", "no growth", "both directions", "no link", "large numbers", "no depot"],
)
def test_other_models_get_no_tour(text):
    assert values_of(text) == {}


def test_windows_that_exclude_each_other_have_no_tour():
    ways = [[0, 9, 9, 9], [9, 0, 9, 9], [9, 9, 0, 9], [9, 9, 9, 0]]
    data = Data(ways, [0] * 4, [HORIZON, 10, 10, HORIZON])
    assert values_of(write(data, BACKWARD)) == {}


ORDERED = ":: int_search([x0],input_order,indomain_min,complete)"


@pytest.mark.parametrize(
    ("options", "wanted", "annotation", "starts"),
    [
        ({}, "end", "", True),
        ({"all_solutions": True}, "end", "", True),
        ({}, "", "", True),
        ({"all_solutions": True}, "", "", False),
        ({"n_solutions": 2}, "", "", False),
        ({}, "end", ORDERED, False),
        ({"free_search": True}, "end", ORDERED, True),
    ],
    ids=["optimum", "improvements", "one", "all", "two", "annotated", "free"],
)
def test_who_gets_a_warm_start(options, wanted, annotation, starts):
    text = write(TWELVE, BACKWARD._replace(wanted=wanted)).replace("solve ", f"solve {annotation} ")
    prepared = prepare(parse_text(text), Options(**options), Interrupt())
    assert (prepared.tnf.warm_start is not None) == starts


def test_the_users_own_warm_start_stays():
    text = write(TWELVE, BACKWARD).replace("solve ", "solve :: warm_start([x2],[5]) ")
    prepared = prepare(parse_text(text), Options(free_search=True), Interrupt())
    assert prepared.tnf.warm_start is not None and np.array_equal(prepared.tnf.warm_start[1], [5])
