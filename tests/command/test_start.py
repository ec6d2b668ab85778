"""What a start imports, which is most of the time of a small model: nothing that the run does not need."""

from __future__ import annotations

import subprocess
import sys

import pytest

from support.command import PATIENCE, compile_kernels, environment
from support.places import CORPUS
from turbo_fzn.base.resources import wanted_cache_folder

# What only other runs need, and what each of them is wanted for.
WANTED_BY = {
    "json": ["--json-stream"],
    "turbo_fzn.report.recorder": ["--report", "{page}"],
    "turbo_fzn.symmetry": ["--symmetry", "on"],
    "turbo_fzn.run.profiler": ["--cp-profiler", "1,9"],
}
NEVER = (
    "lark",
    "highspy",
    "pycuda",
    "subprocess",
    "tempfile",
    "lab.bench",
    "turbo_fzn.engine.together.team",
    "turbo_fzn.explain",
)


def imported(*arguments: str) -> set[str]:
    """The modules that a run on a small model has imported."""
    compile_kernels()
    cache = environment().get("TURBO_FZN_CACHE") or str(wanted_cache_folder())
    command = [sys.executable, "-X", "importtime", "-m", "turbo_fzn", "--arch", "cpu", *arguments]
    done = subprocess.run(
        [*command, str(CORPUS / "queens.fzn")],
        env=environment(TURBO_FZN_CACHE=cache),  # named, so that nobody asks where it is
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    )
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}


def test_a_plain_run_imports_what_it_needs_alone():
    found = imported()
    assert "numpy" in found and "turbo_fzn.engine.cpu" in found
    assert not found & {*WANTED_BY, *NEVER}


@pytest.mark.parametrize(("module", "flags"), WANTED_BY.items(), ids=WANTED_BY)
def test_what_a_flag_needs_is_imported_with_it(tmp_path, module, flags):
    assert module in imported(*(flag.format(page=tmp_path / "page.html") for flag in flags))
