"""Every builtin through FlatZinc text: the solver's set of all solutions is the one that enumeration finds."""

from __future__ import annotations

import pytest

from support.builtin_cases import PREDICATES, cases_of
from support.oracle import all_solutions, fingerprint, outputs_of
from turbo_fzn import solve_text

# (blocks, simplify). The cases of a predicate take turns, so that each predicate meets every configuration.
CONFIGURATIONS = [(1, True), (4, False), (4, True), (1, False)]


def configurations_of(engine: str, number: int) -> list[tuple[int, bool]]:
    runs = 2 if engine == "cpu" else 1  # others take longer to start
    return [CONFIGURATIONS[(number * runs + turn) % len(CONFIGURATIONS)] for turn in range(runs)]


@pytest.mark.parametrize("predicate", PREDICATES)
def test_all_solutions_of_a_builtin_are_those_of_the_oracle(predicate, engine):
    for number, case in enumerate(cases_of(predicate)):
        solutions = [outputs_of(case.model, solution) for solution in all_solutions(case.model)]
        expected = sorted(map(fingerprint, solutions))
        for blocks, simplify in configurations_of(engine, number):
            result = solve_text(
                case.model.text, arch=engine, blocks=blocks, simplify=simplify, all_solutions=True, check=True
            )
            where = f"{predicate}, {case.label}, blocks={blocks}, simplify={simplify}:\n{case.model.text}"
            assert sorted(map(fingerprint, result.solutions)) == expected, where
            assert result.status == ("ALL_SOLUTIONS" if expected else "UNSATISFIABLE"), where


@pytest.mark.parametrize("predicate", PREDICATES)
def test_the_cases_of_a_builtin_have_solutions_and_can_fail(predicate):
    """Guards the tests above: a predicate whose cases are all true or all false would pin nothing."""
    counts = [(len(all_solutions(case.model)), assignments_in(case.model)) for case in cases_of(predicate)]
    assert any(0 < found < tried for found, tried in counts)
    assert len(counts) >= 5


def assignments_in(model) -> int:
    product = 1
    for variable in model.variables.values():
        product *= 2 if variable.kind == "bool" else variable.domain.size if variable.domain else 121
    return product
