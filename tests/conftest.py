"""Shared by all tests: the engines, and how hypothesis draws its examples.

`HYPOTHESIS_PROFILE=explore` looks for new failures; the default draws the same examples in every run.
"""

from __future__ import annotations

import os

import pytest
from fake_cuda import fake_gpu  # noqa: F401
from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=100, database=None)
settings.register_profile("explore", deadline=None, max_examples=3000, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


@pytest.fixture(scope="session", params=["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
def engine(request: pytest.FixtureRequest) -> str:
    """The value of `arch`: every test that solves runs on each engine."""
    return request.param
