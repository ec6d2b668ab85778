"""Learners of the build that checks each explanation, each learned clause and each fixpoint (kernels' check.h)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Protocol
from unittest.mock import patch

import pytest

from support.builds import little_optimised
from turbo_fzn import solve_text
from turbo_fzn.engine.library import library

CHECKED = ("-DCHECK_EXPLANATIONS", "-DCHECK_ASSERTIONS")


class Enumerated(Protocol):
    """A model that is to be minimised, and its optimum by enumeration; None without a solution."""

    @property
    def text(self) -> str: ...

    def least(self) -> int | None: ...


@contextmanager
def engine_with(flags: Iterable[str] = CHECKED) -> Iterator[None]:
    """The engine of this process is compiled with these flags; later it is the usual one again."""
    with patch.dict("os.environ", little_optimised(*flags)):
        library.cache_clear()
        try:
            yield
        finally:
            library.cache_clear()


@pytest.fixture
def checked() -> Iterator[None]:
    with engine_with():
        yield


@pytest.fixture(params=["usual", pytest.param("checked", marks=pytest.mark.slow)])
def maybe_checked(request: pytest.FixtureRequest) -> Iterator[None]:
    """The test is for both engines; the usual one counts no errors in explanations."""
    with engine_with() if request.param == "checked" else nullcontext():
        yield


def find_optima(models: Iterable[Enumerated]) -> int:
    """Solves the models by one learner, compares with enumeration, and returns how many explanations they took."""
    explanations = 0
    for model in models:
        result = solve_text(model.text, arch="cpu", blocks=1, learn="finder", relaxation="off", check=True)
        least = model.least()
        assert result.status == ("UNSATISFIABLE" if least is None else "OPTIMAL_SOLUTION"), model.text
        assert result.objective == least, model.text
        assert result.statistics.get("explanationErrors", 0) == 0, model.text
        assert result.statistics.get("fixpointErrors", 0) == 0, model.text
        explanations += result.statistics.get("explanations", 0)
    return explanations
