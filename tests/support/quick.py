"""Parameters of tests of which `make test` runs a part and `make test-slow` the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def slow_if(is_slow: bool) -> list[pytest.MarkDecorator]:
    return [pytest.mark.slow] * is_slow


def first_of_each(cases: Iterable[Any], kind: Callable[[Any], object], name: Callable[[Any], str]) -> list:
    """The cases, of which the first one of each kind is quick; `name` gives the id of a case."""
    parameters, seen = [], set()
    for case in cases:
        parameters.append(pytest.param(case, marks=slow_if(kind(case) in seen), id=name(case)))
        seen.add(kind(case))
    return parameters


def few_or(few: int, many: int) -> list:
    """Numbers of random examples for a loop: `few` are quick, `many` are slow."""
    return [few, pytest.param(many, marks=pytest.mark.slow)]
