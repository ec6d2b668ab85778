"""What `pip install` brings: the kernels, the MiniZinc library and the grammar, found where resources.py looks."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from command import PATIENCE

from turbo_fzn import resources

SOURCE = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """A wheel, built from a copy so that nothing is left in the source tree."""
    copy = tmp_path_factory.mktemp("source")
    for name in ("turbo_fzn", "kernels", "share"):
        shutil.copytree(SOURCE / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("setup.cfg", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(SOURCE / name, copy)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", "out", "."]
    run = subprocess.run(command, cwd=copy, capture_output=True, text=True, timeout=PATIENCE)
    assert run.returncode == 0, run.stdout + run.stderr
    return next((copy / "out").glob("turbo_fzn-*.whl"))


def source_files(folder: Path, *patterns: str) -> set[str]:
    return {path.relative_to(folder).as_posix() for pattern in patterns for path in folder.rglob(pattern) if path.is_file()}


def test_the_wheel_holds_every_source_file_that_is_needed_to_run(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    kernels = source_files(SOURCE / "kernels", "*")
    library = source_files(SOURCE / "share", "*.mzn")
    package = source_files(SOURCE / "turbo_fzn", "*.py", "*.lark")
    assert kernels and library and any(name.endswith(".lark") for name in package)
    assert {f"turbo_fzn/kernels/{name}" for name in kernels} <= names
    assert {f"turbo_fzn/share/{name}" for name in library} <= names
    assert {f"turbo_fzn/{name}" for name in package} <= names


def test_the_wheel_holds_nothing_outside_the_package(wheel):
    top = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert {name for name in top if not name.endswith(".dist-info")} == {"turbo_fzn"}


def test_an_unpacked_wheel_finds_its_own_kernels_and_library(wheel, tmp_path):
    zipfile.ZipFile(wheel).extractall(tmp_path)
    script = "from turbo_fzn import resources as r; print(r.kernels_folder()); print(r.share_folder())"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    run = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert run.stdout.splitlines() == [str(tmp_path / "turbo_fzn" / name) for name in ("kernels", "share")], run.stderr


def test_the_wheel_declares_the_console_script(wheel):
    archive = zipfile.ZipFile(wheel)
    name = next(name for name in archive.namelist() if name.endswith("entry_points.txt"))
    assert "fzn-turbo = turbo_fzn.cli:main" in archive.read(name).decode()


def test_the_source_tree_finds_its_own_kernels_and_library():
    assert list(resources.kernels_folder().glob("*.h"))
    assert (resources.share_folder() / "minizinc" / "turbo" / "redefinitions.mzn").is_file()


def test_a_missing_folder_is_an_error_that_names_it(tmp_path, monkeypatch):
    monkeypatch.setattr(resources, "PACKAGE", tmp_path / "turbo_fzn")
    with pytest.raises(resources.InternalError, match="no folder kernels"):
        resources.kernels_folder()
