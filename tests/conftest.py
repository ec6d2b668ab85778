"""Shared by all tests: the engines, MiniZinc, and how hypothesis draws its examples.

`HYPOTHESIS_PROFILE=explore` looks for new failures; the default draws the same examples in every run.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from fake_gpu import fake_gpu  # noqa: F401
from hypothesis import settings

from turbo_fzn.install import install_solver

settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=100, database=None)
settings.register_profile("explore", deadline=None, max_examples=3000, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


@pytest.fixture(scope="session", params=["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
def engine(request: pytest.FixtureRequest) -> str:
    """The value of `arch`: every test that solves runs on each engine."""
    return request.param


needs_minizinc = pytest.mark.skipif(
    shutil.which("minizinc") is None, reason="minizinc is not installed (apt-get install minizinc)"
)
needs_gecode = pytest.mark.skipif(
    shutil.which("fzn-gecode") is None, reason="fzn-gecode is not installed (apt-get install flatzinc)"
)


@pytest.fixture(scope="session")
def solvers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with our solver configuration."""
    folder = tmp_path_factory.mktemp("solvers")
    install_solver(folder)
    return folder


@pytest.fixture(scope="session")
def start_minizinc(solvers: Path) -> Callable[..., subprocess.Popen[str]]:
    """A function that starts minizinc with our solver."""

    def start(*arguments: object, **changes: str) -> subprocess.Popen[str]:
        command = ["minizinc", *map(str, arguments)]
        if "--solver" not in command:
            command[1:1] = ["--solver", "turbo"]
        environment = {**os.environ, "MZN_SOLVER_PATH": str(solvers), **changes}
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    return start


@pytest.fixture(scope="session")
def minizinc(start_minizinc: Callable) -> Callable[..., subprocess.CompletedProcess[str]]:
    """A function that runs minizinc with our solver and gives the finished process."""

    def run(*arguments: object, timeout: float = 60, **changes: str) -> subprocess.CompletedProcess[str]:
        with start_minizinc(*arguments, **changes) as process:
            try:
                output, errors = process.communicate(timeout=timeout)
            except subprocess.TimeoutExpired:
                process.terminate()  # not kill: minizinc then stops the solver too
                raise
        return subprocess.CompletedProcess(process.args, process.returncode, output, errors)

    return run


@pytest.fixture
def model(tmp_path: Path) -> Callable[[str], Path]:
    """A function that writes a model's text to a file and gives its path."""

    def write(text: str) -> Path:
        path = tmp_path / "model.mzn"
        path.write_text(text)
        return path

    return write
