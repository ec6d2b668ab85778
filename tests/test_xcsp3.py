"""XCSP3: each constraint with each kind of condition, against enumeration with a meaning of its own."""

from __future__ import annotations

import zlib

import pytest
from xcsp3_draw import Draw
from xcsp3_more_cases import FORMS
from xcsp3_random import random_instance

from turbo_fzn.api import solve_model
from turbo_fzn.read.xcsp3.reader import SOLUTION, parse_xcsp3

REPETITIONS = 3


def solutions_of(text: str, engine: str) -> list[tuple[int, ...]]:
    """All solutions, found by the solver and checked by the checker."""
    result = solve_model(parse_xcsp3(text), arch=engine, all_solutions=True, check=True)
    assert result.status in ("ALL_SOLUTIONS", "UNSATISFIABLE")
    return sorted(tuple(solution[SOLUTION]) for solution in result.solutions)


def seed_of(*parts: object) -> int:
    return zlib.crc32(repr(parts).encode())


@pytest.mark.parametrize(("name", "form"), [(name, form) for name, (_, forms) in FORMS.items() for form in forms])
def test_a_constraint_has_the_solutions_of_its_meaning(name, form, engine):
    make, _ = FORMS[name]
    for number in range(REPETITIONS):
        draw = Draw(seed_of(name, form, number))
        case = make(draw, form)
        expected = sorted(tuple(v.values()) for v in draw.assignments() if case.holds(v))
        assert solutions_of(draw.instance([case]), engine) == expected, case.text




@pytest.mark.parametrize("seed", range(150))
def test_random_instances_have_the_solutions_and_the_optimum_of_their_meaning(seed, engine):
    instance = random_instance(seed, core=False)
    if instance.goal:
        result = solve_model(parse_xcsp3(instance.text), arch=engine, check=True)
        assert result.status in ("ALL_SOLUTIONS", "UNSATISFIABLE")
        assert result.objective == instance.best(), instance.text
    else:
        expected = sorted(tuple(v.values()) for v in instance.solutions())
        assert solutions_of(instance.text, engine) == expected, instance.text
