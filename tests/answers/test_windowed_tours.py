"""Tours with time windows, whose first solution is suggested: the answers are those of enumeration."""

from __future__ import annotations

from random import Random

import pytest

from support.tours import FORMS, Form, drawn, optimum, write
from turbo_fzn import solve_text
from turbo_fzn.lower.time_windows import suggested
from turbo_fzn.lower.tuning import TUNING
from turbo_fzn.read.flatzinc import parse_text


@pytest.mark.parametrize("form", FORMS, ids=str)
@pytest.mark.parametrize("states", [1, TUNING.tour_states])
def test_the_optimum_is_that_of_enumeration(form, states, monkeypatch):
    monkeypatch.setattr(TUNING, "tour_states", states)
    none = 0
    for seed in range(4):
        random = Random(seed)
        data = drawn(random, 6, 25, form.service)
        for _ in range(seed % 2 * 3):  # some of them later than anybody can be in time
            place = random.randrange(1, 6)
            data.closes[place] = max(data.opens[place], data.closes[place] - 30)
        best = optimum(data, form)
        result = solve_text(write(data, form), threads=1, seed=1, free_search=True)
        none += best is None
        assert str(result.status) == (
            "UNSATISFIABLE" if best is None else "OPTIMAL_SOLUTION" if form.wanted else "SATISFIED"
        )
        assert best is None or not form.wanted or result.objective == best
    assert none < 4


def test_a_constraint_beside_the_tour_is_respected():
    """The tour that is suggested violates it: another one is found, or none."""
    data, form = drawn(Random(1), 7, 150), Form(backward=False, wanted="travel")
    text = write(data, form)
    after = suggested(parse_text(text))["x0"]  # type: ignore[index]
    beside = solve_text(text.replace("solve ", f"constraint int_ne(x0,{after}); solve "), threads=1, seed=1)
    alone = solve_text(text, threads=1, seed=1)
    assert alone.solutions[-1]["x0"] == after != beside.solutions[-1]["x0"] and beside.objective > alone.objective


@pytest.mark.parametrize("backward", [True, False])
def test_the_first_tour_of_many_places_takes_no_conflict(backward):
    form = Form(backward=backward, wanted="")
    text = write(drawn(Random(5), 40, 40), form)
    result = solve_text(text, threads=1, seed=1, free_search=True, statistics=True)
    assert str(result.status) == "SATISFIED" and result.statistics["nogoods"] == 0
