"""Models of many kinds: what is proved is what trying everything finds, and what is worse than before is told."""

from __future__ import annotations

import re
from itertools import pairwise, permutations, product
from random import Random

import pytest

from lab.bench import kinds, structured
from lab.bench.kinds import Figures, complaints, read_table, solve, table
from support.needs import needs_minizinc

PROVED = Figures("tour", 10, 20, 0.25, "7", "7", 1.5)
SATISFIED = Figures("colours", 1, 2, 0.0, "SATISFIED", None, None)
ROWS = [PROVED, Figures("layout", 3, 4, 0.1, "-236", None, None), SATISFIED]


def test_the_table_of_a_page_is_read_as_it_was_written():
    page = kinds.INTRODUCTION.format(seconds=8, where="here") + table(ROWS)
    assert read_table(page) == {one.kind: one for one in ROWS}


@pytest.mark.parametrize(
    ("now", "sense", "wanted"),
    [
        (PROVED, 1, []),
        (PROVED._replace(startup=9.0, proof=3.9), 1, []),
        (PROVED._replace(rows=21), 1, ["rows 20 -> 21"]),
        (PROVED._replace(proof=None), 1, ["the proof is lost"]),
        (PROVED._replace(objective="8"), 1, ["objective 7 -> 8"]),
        (PROVED._replace(objective="8"), -1, []),
        (PROVED._replace(objective="6"), -1, ["objective 7 -> 6"]),
        (PROVED._replace(objective=None, proof=None), 1, ["the proof is lost", "objective 7 -> None"]),
    ],
)
def test_what_is_worse_than_before_is_told(now, sense, wanted):
    assert complaints(now, PROVED, sense, 8) == wanted


def test_a_proof_that_took_nearly_all_of_the_time_may_get_lost():
    late = PROVED._replace(proof=4.5)
    assert complaints(late._replace(proof=None), late, 1, 8) == []


@pytest.mark.parametrize(("objective", "is_told"), [("-230", False), ("-220", True), ("-250", False)])
def test_an_objective_that_was_not_proved_is_worse_where_it_is_so_by_much(objective, is_told):
    before = ROWS[1]
    found = complaints(before._replace(objective=objective), before, 1, 8)
    assert found == ([f"objective -236 -> {objective}"] if is_told else [])


def test_a_model_without_a_solution_where_there_was_one_is_worse():
    assert complaints(ROWS[2]._replace(objective="UNKNOWN"), ROWS[2], 1, 8) == ["objective SATISFIED -> UNKNOWN"]
    assert complaints(ROWS[2], ROWS[2], 1, 8) == []


def test_every_structured_model_is_drawn_from_the_seed():
    for make in structured.MODELS.values():
        assert make(Random(1)) == make(Random(1)) != make(Random(2))


def numbers(text: str, name: str) -> list[int]:
    """The numbers of an array of the model."""
    found = re.search(rf"int: {name} = (\[.*?\]);", text, re.DOTALL)
    assert found
    return [int(n) for n in re.findall(r"-?\d+", found[1])]


@needs_minizinc
def test_the_cheapest_orders_are_those_that_trying_all_finds(monkeypatch):
    monkeypatch.setitem(kinds.MODELS, "prices", lambda random: structured.prices(random, 4, 4, 2))
    text = kinds.MODELS["prices"](Random(kinds.SEED))
    flat = numbers(text, "price")
    cost = {(flat[k], flat[k + 2]): flat[k + 1] for k in range(0, len(flat), 3)}
    pairs = product(cost.items(), repeat=2)
    wanted = min(c + d for ((s, g), c), ((t, h), d) in pairs if s != t and g != h and g + h >= 4)
    figures, sense = solve("prices", 60)
    assert (figures.objective, sense, figures.proof is not None) == (str(wanted), 1, True)


@needs_minizinc
def test_the_earliest_end_of_a_tour_is_that_which_trying_all_orders_finds(monkeypatch):
    n = 6
    monkeypatch.setitem(kinds.MODELS, "windows", lambda random: structured.windows(random, n))
    text = kinds.MODELS["windows"](Random(kinds.SEED))
    distance, opens, closes = (numbers(text, name) for name in ("distance", "opens", "closes"))

    def end(order: tuple[int, ...]) -> int | None:
        arrivals = [0]
        for before, here in pairwise((0, *order)):
            arrivals.append(max(opens[here], arrivals[-1] + distance[before * n + here]))
            if arrivals[-1] > closes[here]:
                return None
        return max(time + distance[here * n] for here, time in zip(order, arrivals[1:]))

    wanted = min(found for order in permutations(range(1, n)) if (found := end(order)) is not None)
    figures, _ = solve("windows", 60)
    assert figures.objective == str(wanted)
