"""The source distribution: whole, its own tests and examples run, and pip installs from it what solves."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.builds import quick_compiler
from support.command import PATIENCE
from support.installation import Installation, install, shared_sdist
from support.needs import needs_minizinc
from support.places import ROOT
from turbo_fzn.version import __version__

FOLDERS = (".ci", "docs", "examples", "kernels", "lab", "share", "site", "tests", "turbo_fzn")


@pytest.fixture(scope="module")
def sdist() -> Path:
    return shared_sdist()


@pytest.fixture(scope="module")
def unpacked(sdist) -> Path:
    (folder,) = sdist.parent.glob("turbo_fzn-*/")
    return folder


def files(folder: Path) -> set[str]:
    """The files of the source, without generated ones."""
    places = [folder / name for name in FOLDERS]
    found = {path for place in places for path in place.rglob("*") if path.is_file()}
    made = (".pyc", ".so", ".cubin")
    return {path.relative_to(folder).as_posix() for path in found if path.suffix not in made}


@pytest.mark.slow
def test_it_holds_every_source_file_test_example_and_page(unpacked):
    assert files(unpacked) == files(ROOT)
    tops = {"CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md", "setup.py"}
    assert {name for name in tops if not (unpacked / name).is_file()} == set()


@pytest.mark.slow
def test_its_own_tests_run(unpacked, tmp_path):
    """Some tests that take a second; a further one checks that they import the package of this source."""
    source = shutil.copytree(unpacked, tmp_path / "source")
    shown = source / "tests" / "test_place.py"
    asked = f"turbo_fzn.__file__.startswith({str(source)!r})"
    shown.write_text(f"import turbo_fzn\ndef test_place():\n    assert {asked}\n")
    alone = {name: text for name, text in os.environ.items() if not name.startswith(("PYTEST", "PYTHONPATH"))}
    names = ("place", "house", "manual", "tnf_text", "reference", "docs")
    metadata = "tests/command/test_doctor.py::test_the_oldest_python_and_the_packages_are_those_of_the_metadata"
    some = [*(str(next(shown.parent.rglob(f"test_{name}.py"))) for name in names), metadata]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *some]
    done = subprocess.run(
        command, cwd=source, capture_output=True, text=True, timeout=PATIENCE, env={**alone, "PYTHONPATH": "."}
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@needs_minizinc
def test_pip_installs_it_and_the_first_model_of_the_readme_is_solved(sdist, unpacked, tmp_path):
    compiler = str(quick_compiler(tmp_path))
    install(tmp_path, sdist, CXX=compiler)
    there = Installation(tmp_path).begin(tmp_path)
    assert len(list(there.compiled.glob("*.so"))) == len((tmp_path / "runs").read_text().split())
    assert there.run("--install-solver", tmp_path / "solvers").returncode == 0
    demo = [unpacked / "examples" / name for name in ("demo.mzn", "demo.dzn")]
    changes = {"MZN_SOLVER_PATH": str(tmp_path / "solvers"), "HOME": str(tmp_path), "PYTHONPATH": ""}
    done = subprocess.run(
        ["minizinc", "--solver", "turbo", *demo], capture_output=True, text=True, timeout=PATIENCE,
        env={**os.environ, **changes},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.endswith("==========\n")


def test_the_changes_and_the_citation_are_of_this_version():
    assert f"\n## {__version__}" in (ROOT / "CHANGELOG.md").read_text()
    citation = (ROOT / "CITATION.cff").read_text()
    assert f"\nversion: {__version__}\n" in citation
    assert all(f"\n{key}:" in f"\n{citation}" for key in ("cff-version", "message", "title", "authors", "license"))
