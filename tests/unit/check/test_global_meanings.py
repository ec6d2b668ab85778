"""What the checker holds for the meaning of a global constraint: on all assignments, against global_meanings.py.

MiniZinc passes a global whole, so the FlatZinc of a case has no variables but the case's own, and its constraint can be
evaluated on each assignment.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.global_cases import CASES
from support.global_models import Compiler, assignments, model_of, names_of
from support.global_notation import Case
from support.needs import needs_minizinc
from turbo_fzn.check.checker import Checker
from turbo_fzn.predicates.globals import GLOBALS
from turbo_fzn.read.flatzinc import parse_text
from turbo_fzn.read.model import Model

pytestmark = needs_minizinc


@pytest.fixture(scope="module")
def compiled() -> list[tuple[Case, Model]]:
    """The cases that arrive as they are: all variables are the case's, and no domain has been narrowed to a value."""
    compiler = Compiler()
    texts = [(case, compiler.flatten(model_of(case, "constraint {call};"))) for case in CASES]
    return [(case, parse_text(text)) for case, text in texts if text]


def values_of(case: Case, names: list[str]) -> Iterator[tuple[dict[str, int], bool]]:
    for assignment in assignments(case):
        flat = [v for value in assignment.values() for v in (value if isinstance(value, list) else [value])]
        yield dict(zip(names, map(int, flat))), bool(case.meaning(*assignment.values()))


def test_the_checker_agrees_with_the_meaning_on_every_assignment(compiled):
    seen: set[str] = set()
    for case, model in compiled:
        names = names_of(case, model)
        if names is None:
            continue
        checker = Checker(model)
        for values, holds in values_of(case, names):
            assert (checker.violation(values) is None) == holds, f"{case.name} {case.title}: {values}"
        seen.update(constraint.name for constraint in model.constraints)
    assert sorted({one.name for one in GLOBALS} - seen) == []
