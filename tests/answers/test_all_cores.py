"""`Cores`: all minimal sets without a solution, against enumeration of all sets."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest

from support.command import LEAST_SUM, NO_SOLUTION_BY_SEARCH, golomb
from support.infeasible_models import draw
from support.oracle import all_solutions
from turbo_fzn import Cores
from turbo_fzn.explain.explainer import Explainer


def minimal_sets(named) -> set[frozenset[str]]:
    """Sets of names, by size: one that has a smaller one of these within it is not minimal."""
    found: set[frozenset[str]] = set()
    for size in range(len(named.needed) + 1):
        for titles in map(frozenset, combinations(named.needed, size)):
            if not any(known <= titles for known in found) and not all_solutions(named.only(titles)):
                found.add(titles)
    return found


@pytest.mark.parametrize("seeds", [range(1), pytest.param(range(1, 40), marks=pytest.mark.slow)], ids=str)
def test_they_are_those_of_enumeration(seeds, engine):
    for seed in seeds:
        named = draw(Random(seed))
        cores = Cores(named.model.text, arch=engine)
        found = [core.titles for core in cores]
        assert cores.complete and len(found) == len({frozenset(titles) for titles in found})
        assert {frozenset(titles) for titles in found} == minimal_sets(named), seed


def test_a_model_with_a_solution_has_none_and_time_may_be_too_short():
    assert list(cores := Cores(LEAST_SUM, arch="cpu")) == [] and cores.complete
    assert [len(core.constraints) for core in Cores(NO_SOLUTION_BY_SEARCH, arch="cpu")] == [3]
    assert list(cores := Cores(golomb(9), arch="cpu", time_limit=-1)) == [] and not cores.complete


def test_domains_that_contradict_each_other_are_the_only_core():
    (core,) = Cores("var 1..2: x;\nvar 3..4: y = x;\nconstraint int_ne(x,2);\nsolve satisfy;\n", arch="cpu")
    assert core.constraints == [] and core.minimal


def test_of_a_core_that_is_not_minimal_nobody_says_that_it_is_all(monkeypatch):
    monkeypatch.setattr(Explainer, "shrunk", lambda self, members: frozenset(members))
    cores = Cores(
        "var 1..3: x;\nconstraint int_le(3,x);\nconstraint int_le(x,2);\nconstraint int_le(x,1);\nsolve satisfy;\n"
    )
    assert {core.minimal for core in cores} == {False} and not cores.complete
