"""Shared by all tests: the engines, MiniZinc, and how hypothesis draws its examples.

`HYPOTHESIS_PROFILE=explore` looks for new failures; the default draws the same examples in every run, and so does
`quick` (`make test`): fewer, and mostly others. None minds how long that takes, which is a question of how busy the
machine is.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.register_assert_rewrite("support")  # its failures are told as those of tests are

from hypothesis import HealthCheck, settings

from support import builds, processor_time, watchdog
from support.checked_learners import checked, maybe_checked  # noqa: F401
from support.command import PATIENCE, without_home
from support.fake_gpu import fake_gpu  # noqa: F401
from support.hybrid_runs import hybrid_device  # noqa: F401
from turbo_fzn.command.install import install_solver
from turbo_fzn.interface import api
from turbo_fzn.options.options import Options
from turbo_fzn.ranks.world import SIZES
from turbo_fzn.run.tuning import TUNING

UNHURRIED = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("repeatable", **UNHURRIED, derandomize=True, max_examples=100, database=None)
settings.register_profile("quick", settings.get_profile("repeatable"), max_examples=40)
settings.register_profile("explore", **UNHURRIED, max_examples=3000, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


def pytest_addoption(parser: pytest.Parser) -> None:
    processor_time.add_options(parser)
    parser.addoption("--variant", metavar="NAMES", help="what solve_text searches with, as the command's --variant")


def pytest_configure(config: pytest.Config) -> None:
    config.add_cleanup(builds.open_place())
    config.pluginmanager.register(watchdog)
    processor_time.register(config)


@pytest.fixture(scope="session", params=["cpu", pytest.param("gpu", marks=pytest.mark.gpu)])
def engine(request: pytest.FixtureRequest) -> str:
    """The value of `arch`: every test that solves runs on each engine."""
    return request.param


@pytest.fixture(autouse=True)
def signals_arrive() -> None:
    """The processes that a test starts and stops inherit what is ignored or held back here.

    A shell has its background jobs ignore SIGINT, `nohup` SIGHUP; turbo_fzn/__main__.py, imported, holds back some. A
    handler, unlike SIG_IGN, is not inherited by another program, and this process goes on as it was to.
    """
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD, signal.SIGALRM):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else lambda *_: None)


@pytest.fixture
def no_probing(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test tells of the search or of the relaxation is not found before it, by the presolve of all truths."""
    monkeypatch.setattr(TUNING, "truth_work", 0)
    monkeypatch.setattr(TUNING, "truth_work_per_row", 0)


@pytest.fixture(scope="session", autouse=True)
def variant(request: pytest.FixtureRequest) -> Iterator[None]:
    """With --variant: all that is solved is solved by it, and no row could tighten anything at a fixpoint, where the
    kernels look (-DCHECK_FIXPOINT)."""
    names = request.config.getoption("--variant")
    if names is None:
        yield
        return
    options_of, result = api.options_of, api.Result

    def with_variant(settings: dict) -> Options:
        return options_of({"variant": names, **settings})

    def without_errors(status: str, solutions: list, objective: float | None, statistics: dict) -> api.Result:
        assert statistics.get("fixpointErrors", 0) == 0
        return result(status, solutions, objective, statistics)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(api, "options_of", with_variant)
        patch.setattr(api, "Result", without_errors)
        yield


@pytest.fixture(scope="session", autouse=True)
def home_of_nobody(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder that stands for the user's own: the solver that is installed there must not be what is tested. Within a
    job of a cluster, no process of a test is one of its ranks."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        for name in (*SIZES, *SIZES.values(), "SLURM_NTASKS"):
            patch.delenv(name, raising=False)
        for name, value in without_home(home).items():
            patch.setenv(name, value)
        yield home


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

    def run(*arguments: object, timeout: float = PATIENCE, **changes: str) -> subprocess.CompletedProcess[str]:
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
