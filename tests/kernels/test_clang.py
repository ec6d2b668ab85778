"""The kernels compile with clang, too, strictly and without a warning, and what it makes gives the same answers."""

from __future__ import annotations

import subprocess

import pytest

from support.builds import kernel_cache
from support.command import run
from support.needs import needs_clang
from support.places import CORPUS, ROOT
from turbo_fzn.engine.toolchain.compiler import CPU_VARIANTS, cpu_flags

pytestmark = needs_clang
LINKED = "-shared"  # which the look at a text takes no notice of


@pytest.mark.parametrize("source", ["solve.cpp", "hybrid.cpp"])
@pytest.mark.parametrize(("bits", "kind"), CPU_VARIANTS, ids=lambda value: str(value))
def test_it_finds_nothing_to_complain_of(source, bits, kind):
    flags = [flag for flag in cpu_flags(bits, *kind) if flag != LINKED]
    command = ["clang++", *flags, "-Werror", "-fsyntax-only", str(ROOT / "kernels" / source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["golomb", "queens", "magic_square", "loan"])
def test_its_engine_gives_the_answers_of_the_usual_one(name):
    model, flags = CORPUS / f"{name}.fzn", ("--arch", "cpu", "-p", "1")
    usual, other = run(*flags, model), run(*flags, model, CXX="clang++", **kernel_cache())
    assert other.code == 0 and other.errors == ""
    assert (other.solutions, other.markers) == (usual.solutions, usual.markers)
