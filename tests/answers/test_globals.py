"""Global constraints through our MiniZinc library: all solutions of each small call, against enumeration.

MiniZinc compiles the call in three places: as a constraint, as the truth value of a variable, and negated. The
library has other decompositions for each of them.
"""

from __future__ import annotations

import pytest

from support.global_cases import CASES
from support.global_models import FORMS, Compiler, assignments, model_of, plain_name
from support.global_notation import Case, identify
from support.needs import needs_minizinc
from support.quick import slow_if
from turbo_fzn import solve_text

pytestmark = needs_minizinc


@pytest.fixture(scope="module")
def solutions_of():
    """A function from a model's text to its solutions, as compiled with our library."""
    compiler = Compiler()

    def solve(text: str) -> list[dict]:
        flat = compiler.flatten(text)
        if flat is None:
            return []
        result = solve_text(flat, arch="cpu", all_solutions=True, check=True)
        assert result.complete
        return [{**compiler.fixed_values(), **solution} for solution in result.solutions]

    return solve


def frozen(names: list[str], assignment: dict) -> tuple:
    return tuple(tuple(v) if isinstance(v, list) else v for v in (assignment[name] for name in names))


def calls() -> list:
    """Each case posted and reified; the first one of each global negated as well. Quick are the posted ones, and the
    first one of each global reified."""
    first = {case.name: case for case in reversed(CASES)}

    def is_slow(case: Case, form: str) -> bool:
        return form == "negated" or (form == "reified" and case is not first[case.name])

    return [
        pytest.param(case, form, id=f"{identify(case)}-{form}", marks=slow_if(is_slow(case, form)))
        for case in CASES
        for form in FORMS
        if form != "negated" or case is first[case.name]
    ]


@pytest.mark.parametrize("case, form", calls())
def test_a_global_has_the_solutions_that_its_meaning_has(solutions_of, case, form):
    item, is_wanted = FORMS[form]
    truth_name = ["truth"] if form == "reified" else []
    names = [*case.variables, *truth_name]
    plain_names = [plain_name(name, variables) for name, variables in case.variables.items()]
    truths = [False, True] if form == "reified" else [True]
    wanted = {
        frozen(names, {**assignment, "truth": truth})
        for assignment in assignments(case)
        for truth in truths
        if is_wanted(case.meaning(*assignment.values()), truth)
    }
    found = [frozen([*plain_names, *truth_name], solution) for solution in solutions_of(model_of(case, item))]
    assert len(found) == len(set(found))
    assert set(found) == wanted
