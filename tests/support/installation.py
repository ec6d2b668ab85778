"""Wheels, source distributions and environments that have one of them installed, as `pip` makes them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import venv
from pathlib import Path

import lark
import numpy
import setuptools

from support.builds import build_once, quick_compiler
from support.command import LEAST_SUM, PATIENCE, Answer, read, write
from support.places import ROOT
from turbo_fzn.engine.toolchain import compiler

BUILT_FROM = ("setup.py", "setup.cfg", "pyproject.toml", "README.md", "LICENSE")
LEFT_OUT = ("__pycache__", ".git*", ".venv", ".hypothesis", ".pytest_cache", ".*_cache", "build", "dist", "*.egg-info")


def build(folder: Path, **changes: str) -> subprocess.CompletedProcess[str]:
    """`pip wheel`, of a copy, so that nothing is left in the source tree; the wheel goes to `folder`/out."""
    copy = folder / "source"
    for name in ("turbo_fzn", "kernels", "share"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in BUILT_FROM:
        shutil.copy(ROOT / name, copy)
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-w", folder / "out", copy]
    environment = {**os.environ, **changes}
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, env=environment)


def build_wheel(folder: Path, **changes: str) -> Path:
    run = build(folder, **changes)
    assert run.returncode == 0, run.stdout + run.stderr
    (wheel,) = (folder / "out").iterdir()
    return wheel


def install(folder: Path, wheel: Path, **changes: str) -> None:
    """Makes an environment that has the wheel, or what else pip installs, and what it depends on, but no compiler.
    `changes`: environment variables of pip's."""
    venv.create(folder / "venv", symlinks=True)
    (packages,) = (folder / "venv" / "lib").glob("python*/site-packages")
    needed = {str(Path(module.__file__).parent.parent) for module in (numpy, lark, setuptools)}
    (packages / "needed.pth").write_text("\n".join(needed))
    command = [sys.executable, "-m", "pip", "--python", folder / "venv" / "bin" / "python", "install"]
    command += ["--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--ignore-installed", wheel]
    alone = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}  # which may hold the source
    subprocess.run(command, check=True, timeout=PATIENCE, env={**alone, **changes})


class Installation:
    """The environment that `install` has made in a folder."""

    def __init__(self, folder: Path):
        self.scripts = folder / "venv" / "bin"
        (packages,) = (folder / "venv" / "lib").glob("python*/site-packages")
        self.package = packages / "turbo_fzn"
        self.compiled = self.package / compiler.PACKAGED

    def begin(self, folder: Path) -> Installation:
        """For a test: from now on the user's home and cache are there."""
        self.home, self.cache = folder, folder / "cache"
        return self

    def run(self, *arguments: object, **changes: str) -> subprocess.CompletedProcess[str]:
        """`fzn-turbo`, with nothing of this process's environment but `changes`."""
        environment = {"PATH": "", "HOME": str(self.home), "TURBO_FZN_CACHE": str(self.cache), **changes}
        command = [self.scripts / "fzn-turbo", *map(str, arguments)]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE)

    def solve(self, text: str, *flags: object, **changes: str) -> Answer:
        done = self.run("--arch", "cpu", *flags, write(self.home, text), **changes)
        return read(done.stdout, done.stderr, done.returncode)

    def refuses(self, **changes: str) -> bool:
        answer = self.solve(LEAST_SUM, **changes)
        return answer.code == 1 and "no C++ compiler found for the CPU engine" in answer.errors

    def compiled_here(self) -> list[Path]:
        return list(self.cache.glob("*.so"))


# ---- built once a run


def shared_wheel() -> Path:
    """With the engine compiled by a quick compiler."""
    folder = build_once(
        "wheel", lambda folder: build_wheel(folder, TURBO_FZN_ALL_ENGINES="1", CXX=str(quick_compiler(folder)))
    )
    (wheel,) = (folder / "out").iterdir()
    return wheel


def shared_installation() -> Installation:
    """The installation of the wheel that several tests share, and must not change."""
    wheel = shared_wheel()
    return Installation(build_once("installation", lambda folder: install(folder, wheel)))


def shared_sdist() -> Path:
    """The source distribution, beside a folder `source` of which it was made and one into which it was unpacked."""
    (path,) = build_once("sdist", make_sdist).glob("*.tar.gz")
    return path


def make_sdist(folder: Path) -> None:
    """Makes the source distribution from a copy of the source tree, which stays clean."""
    shutil.copytree(ROOT, folder / "source", ignore=shutil.ignore_patterns(*LEFT_OUT))
    command = [sys.executable, "-c", "from setuptools import build_meta; build_meta.build_sdist('..')"]
    subprocess.run(command, cwd=folder / "source", check=True, timeout=PATIENCE, stdout=subprocess.DEVNULL)
    (path,) = folder.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        archive.extractall(folder)
