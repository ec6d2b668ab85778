"""What a start imports, which is most of the time of a small model: nothing that the run does not need."""

from __future__ import annotations

import subprocess
import sys

import pytest

from support.command import PATIENCE, compile_kernels, environment
from support.fake_machine import build_driver
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
    "argparse",
    "shutil",
    "platformdirs",
    "fractions",
    "numpy.ma",
    "numpy.random",
    "numpy.fft",
    "scipy",
    "concurrent.futures",
    "lark",
    "highspy",
    "pycuda",
    "subprocess",
    "tempfile",
    "lab.bench",
    "turbo_fzn.engine.together.team",
    "turbo_fzn.explain",
    "turbo_fzn.lower.float_table",
    "turbo_fzn.lower.globals.table",
    "turbo_fzn.lower.globals.scheduling",
    "turbo_fzn.engine.toolchain.compilation",
    "turbo_fzn.engine.cuda.gpu",
)
ON_THE_WAY = """
import sys
from turbo_fzn.__main__ import main
from turbo_fzn.process.leaving import before_leaving
before_leaving(lambda: print("libcuda" in open("/proc/self/maps").read(), file=sys.stderr, flush=True))
main()
"""


def imported(*arguments: str, model: str = "queens") -> set[str]:
    """The modules that a run on a small model has imported."""
    compile_kernels()
    cache = environment().get("TURBO_FZN_CACHE") or str(wanted_cache_folder())
    command = [sys.executable, "-X", "importtime", "-m", "turbo_fzn", "--arch", "cpu", *arguments]
    done = subprocess.run(
        [*command, str(CORPUS / f"{model}.fzn")],
        env=environment(TURBO_FZN_CACHE=cache),  # named, so that nobody asks where it is
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    )
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}


@pytest.mark.parametrize("model", ["queens", "hundred_fowls"], ids=["annotated", "without an order of its own"])
def test_a_plain_run_imports_what_it_needs_alone(model):
    found = imported(model=model)
    assert "numpy" in found and "turbo_fzn.engine.cpu" in found
    assert not found & {*WANTED_BY, *NEVER}


def test_free_search_imports_no_more_but_what_breaks_symmetries():
    found = imported("-f")
    assert "turbo_fzn.symmetry.breaking" in found
    assert not found & ({*WANTED_BY, *NEVER} - {"turbo_fzn.symmetry"})


def test_a_driver_is_not_loaded_for_a_model_that_is_solved_at_once(tmp_path):
    compile_kernels()
    changes = {"LD_LIBRARY_PATH": str(build_driver(tmp_path))}
    command = [sys.executable, "-c", ON_THE_WAY, "-f", "--arch", "auto", str(CORPUS / "queens.fzn")]
    done = subprocess.run(command, env=environment(**changes), capture_output=True, text=True, timeout=PATIENCE)
    assert (done.returncode, done.stderr) == (0, "False\n")


@pytest.mark.parametrize(("module", "flags"), WANTED_BY.items(), ids=WANTED_BY)
def test_what_a_flag_needs_is_imported_with_it(tmp_path, module, flags):
    assert module in imported(*(flag.format(page=tmp_path / "page.html") for flag in flags))
