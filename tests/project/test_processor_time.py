"""A run with `--quick` names the unmarked tests that take too much processor time, and fails of none."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from itertools import product

import pytest

from support.command import PATIENCE
from support.places import ROOT, TESTS

CONFTEST = f"""
import sys
sys.path.append({str(TESTS)!r})
from support import processor_time
processor_time.LIMIT = 0.1
pytest_addoption = processor_time.add_options
pytest_configure = processor_time.register
"""
CASES = """
import subprocess, sys, time
from pathlib import Path
import pytest

BURN = "import time\\nwhile time.process_time() < 0.15: pass"

def burn():
    end = time.process_time() + 0.15
    while time.process_time() < end:
        pass

@pytest.fixture(scope="module")
def hot():
    burn()

def test_cheap():
    time.sleep(0.15)
def test_busy():
    burn()
def test_process():
    subprocess.run([sys.executable, "-c", BURN])
@pytest.mark.slow
def test_marked():
    burn()
def test_only_at_first():
    if not Path("seen").exists():
        Path("seen").touch()
        burn()
def test_fixture(hot):
    pass
"""
DEAR = ("fixture hot of test_cases.py", "test_cases.py::test_busy", "test_cases.py::test_process")


@pytest.fixture
def run(tmp_path):
    """A function that runs the cases."""

    def run(*flags: str) -> subprocess.CompletedProcess[str]:
        (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = slow\n")
        (tmp_path / "conftest.py").write_text(CONFTEST)
        (tmp_path / "test_cases.py").write_text(CASES)
        alone = {name: text for name, text in os.environ.items() if not name.startswith("PYTEST")}
        alone["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # their imports take longer than the cases
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *flags]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, env=alone)

    return run


def complaints(output: str) -> list[str]:
    return sorted(line.partition(": ")[0] for line in output.splitlines() if line.startswith("SLOW "))


@pytest.mark.parametrize("flags", [(), ("-p", "xdist", "-n", "1")], ids=["alone", "workers"])
def test_what_is_too_slow_is_named_and_fails_no_run(run, tmp_path, flags):
    done = run("--quick", "--processor-times", "times.json", *flags)
    assert done.returncode == 0 and "6 passed" in done.stdout, done.stdout + done.stderr
    assert complaints(done.stdout) == [f"SLOW {name}" for name in DEAR]
    times = json.loads((tmp_path / "times.json").read_text())
    assert times["test_cases.py::test_marked"] > 0.1 > times["test_cases.py::test_cheap"]
    assert times["test_cases.py::test_fixture"] < 0.1 and times["test_cases.py::test_only_at_first"] > 0.1


def test_ci_runs_every_test_that_needs_no_gpu():
    """Each once, those of hypothesis again with more examples."""
    makefile, ci = ((ROOT / name).read_text(encoding="utf-8") for name in ("Makefile", ".ci/run"))
    marked = dict(re.findall(r"^([\w-]+): MARKED = (.*)$", makefile, re.MULTILINE))
    runs = re.findall(r"^make ([\w-]+) \| unskipped$", ci, re.MULTILINE)
    for gpu, slow, drawn in product((False, True), repeat=3):
        taken = [target for target in marked if eval(marked[target], {"gpu": gpu, "slow": slow, "hypothesis": drawn})]
        times = 0 if gpu else 1 + (drawn and not slow)
        assert ("test-all" in taken, len(set(taken) & set(runs))) == (not gpu, times)


def test_no_other_run_complains(run):
    done = run()
    assert done.returncode == 0 and "SLOW" not in done.stdout
