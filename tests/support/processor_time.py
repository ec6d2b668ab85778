"""The cost of each test, in processor seconds of this process, of those that it has waited for, and of warm.py.

`--processor-times FILE` writes them as JSON. With `--quick` (`make test` where CI is set) a run names the tests that
are not marked `slow` and cost more than LIMIT. A fixture of a wider scope than one test is measured by itself, or the
test that comes first would pay for it.

No time fails a run: processor time rises too where caches and cores are shared (it doubled where twenty processes
shared two cores), and the first test that needs a kernel compiles it. So whatever seems to cost too much is run once
more in the end, by one process, and the lesser figure counts.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from pathlib import Path
from typing import NamedTuple

import pytest

from support import warm

LIMIT = 2.0  # processor seconds of a test that is not marked `slow`
PROPERTY = "processor seconds"


class Cost(NamedTuple):
    """The cost of a test, or of a fixture that several share; `test` is the id of the test run, `slow` its mark."""

    name: str
    seconds: float
    test: str
    slow: bool


def processor_seconds() -> float:
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime + warm.processor_seconds()


def add_options(parser: pytest.Parser) -> None:
    group = parser.getgroup("processor time")
    group.addoption("--processor-times", metavar="FILE", type=Path, help="write what each test costs to this JSON file")
    group.addoption("--quick", action="store_true", help=f"name the unmarked tests that take {LIMIT} processor seconds")


class Meter:
    """A plugin for the processes that run tests: a test's costs travel with the report of its end."""

    def __init__(self) -> None:
        self.began = self.shared = 0.0

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        self.began, self.shared = processor_seconds(), 0.0

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef, request: pytest.FixtureRequest) -> Generator:
        if fixturedef.scope == "function":
            return (yield)
        began, shared = processor_seconds(), self.shared
        try:
            return (yield)
        finally:
            spent = processor_seconds() - began - (self.shared - shared)  # without fixtures set up on the way
            self.shared += spent
            name = f"fixture {fixturedef.argname} of {request.node.nodeid or 'all tests'}"
            note(request._pyfuncitem, name, spent)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo) -> Generator:
        if call.when == "teardown":
            note(item, item.nodeid, processor_seconds() - self.began - self.shared)
        return (yield)


def note(item: pytest.Item, name: str, seconds: float) -> None:
    cost = Cost(name, round(seconds, 3), item.nodeid, item.get_closest_marker("slow") is not None)
    item.user_properties.append((PROPERTY, list(cost)))


class Bill:
    """A plugin for the process that the user started: gathers the costs, and names what is too dear."""

    def __init__(self, config: pytest.Config):
        self.file: Path | None = config.getoption("--processor-times")
        self.judges: bool = config.getoption("--quick")
        self.costs: dict[str, Cost] = {}
        self.verdict: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "teardown":
            for name, value in report.user_properties:
                if name == PROPERTY:
                    cost = Cost(*value)
                    self.costs[cost.name] = max(cost, self.costs.get(cost.name, cost), key=lambda cost: cost.seconds)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.judges and session.exitstatus == pytest.ExitCode.OK:
            self.verdict = [describe(cost) for cost in look_again(dear(self.costs))]
        if self.file:
            costs = sorted(self.costs.values(), key=lambda cost: -cost.seconds)
            self.file.write_text(json.dumps({cost.name: cost.seconds for cost in costs}, indent=0) + "\n")

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for line in self.verdict:
            terminalreporter.write_line(line)


def dear(costs: dict[str, Cost]) -> list[Cost]:
    return [cost for cost in costs.values() if not cost.slow and cost.seconds > LIMIT]


def look_again(costs: list[Cost]) -> list[Cost]:
    """The costs that are above the limit in a second run too, with the lesser of both figures."""
    if not costs:
        return []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "again.json"
        tests = sorted({cost.test for cost in costs})
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider"]
        subprocess.run([*command, f"--processor-times={file}", *tests], stdout=subprocess.DEVNULL)
        again = json.loads(file.read_text())
    lesser = [cost._replace(seconds=min(cost.seconds, again.get(cost.name, cost.seconds))) for cost in costs]
    return [cost for cost in lesser if cost.seconds > LIMIT]


def describe(cost: Cost) -> str:
    return f"SLOW {cost.name}: {cost.seconds:.1f} processor seconds; make it cheaper, or mark it `slow`"


def register(config: pytest.Config) -> None:
    config.pluginmanager.register(Meter(), "meter")
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Bill(config), "bill")
