"""Neighbourhoods that a MiniZinc model states: relax_and_reconstruct, and on_restart of newer releases."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.minizinc_output import objectives, status
from support.needs import needs_minizinc, needs_npm
from support.releases import RELEASES, Newest, Refused
from turbo_fzn import solve_text

LEAST = 12  # of four different numbers, and the product of the first two
RELAXED = """
include "turbo.mzn";
array [1..4] of var 1..6: x;
var bool: b;
constraint forall (i, j in 1..4 where i < j) (x[i] != x[j]);
constraint b <-> x[1] > x[2];
solve :: int_search(x, first_fail, indomain_max) :: restart_luby(100) :: ANNOTATION minimize sum(x) + x[1] * x[2];
"""
ANNOTATIONS = [
    "relax_and_reconstruct(x, 80)",
    "relax_and_reconstruct(x ++ [b, x[1] + 2], 50)",
    "relax_and_reconstruct(x, 80, [6, 5, 4, 3])",
]
RESTARTED = """
include "experimental/on_restart.mzn";
var 1..9: x; var 1..9: y; var bool: b; var 0.0..9.0: f;
constraint x + y > 3;
predicate change() = BODY;
solve :: on_restart("change") :: restart_constant(9) minimize x;
"""


@pytest.fixture(params=["installed", pytest.param("newest", marks=[needs_npm, pytest.mark.slow])])
def release(request) -> Iterator:
    opened = RELEASES[request.param]()
    yield opened
    opened.close()


@pytest.mark.covers("A10")
@needs_minizinc
@pytest.mark.parametrize("annotation", ANNOTATIONS)
def test_a_model_that_states_a_neighbourhood_has_its_optimum(release, engine, annotation):
    flat = release.flatten(RELAXED.replace("ANNOTATION", annotation))
    assert ":: relax_and_reconstruct(" in flat
    for free in (True, False):
        result = solve_text(flat, arch=engine, free_search=free, blocks=3, check=True)
        assert (result.status, result.objective) == ("OPTIMAL_SOLUTION", LEAST)


@pytest.mark.covers("A10")
@needs_minizinc
@pytest.mark.parametrize(("flags", "said"), [(["-f"], 0), (["-f", "-p", 3], 0), ([], 1), (["-f", "-p", 1], 1)])
def test_minizinc_shows_one_line_where_a_stated_neighbourhood_is_ignored(minizinc, model, flags, said):
    text = RELAXED.replace("ANNOTATION", ANNOTATIONS[0])
    done = minizinc(*flags, "--arch", "cpu", "--output-objective", model(text))
    assert (status(done), objectives(done)[-1]) == ("==========", LEAST)
    assert done.stderr.count("\n") == done.stderr.count("relax_and_reconstruct is ignored") == said, done.stderr


@pytest.mark.covers("A14")
@needs_npm
@pytest.mark.slow
def test_what_asks_for_values_at_a_restart_is_refused_by_minizinc():
    newest = Newest()
    bodies = {
        "x < last_val(x)": "last val int", "b -> last_val(b)": "last val bool", "f <= last_val(f)": "last val float",
        "x < sol(y)": "sol int", "complete()": "complete", "if status() = START then x > 3 else true endif": "status",
        "x <= uniform_on_restart(1, 5)": "uniform int", "f <= uniform_on_restart(1.0, 5.0)": "uniform float",
    }  # fmt: skip
    for body, feature in bodies.items():
        with pytest.raises(Refused, match=f"on_restart feature `{feature}' not supported by target solver"):
            newest.flatten(RESTARTED.replace("BODY", body))
    newest.close()


@pytest.mark.covers("A14")
@needs_npm
@pytest.mark.slow
def test_a_predicate_of_on_restart_without_such_values_is_a_constraint():
    newest = Newest()
    result = solve_text(newest.flatten(RESTARTED.replace("BODY", "x + y >= 13")), arch="cpu")
    assert (result.status, result.objective) == ("OPTIMAL_SOLUTION", 4)
    newest.close()
