"""Runs the tests of answers over every variant of the engines: `make test-variants`; `--help` says how.

Builtins, random models and the flattened examples are solved with each variant alone, and with some that change each
other, by kernels that run every row once more at each fixpoint. The exit code is 1 where a test fails.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for who runs it as a script
from support.corpus import EXPECTED, has_floats, text_of
from support.places import ROOT
from turbo_fzn.engine import variants

TESTS = ("tests/answers/test_builtins.py", "tests/answers/test_random_models.py", "tests/answers/test_corpus.py")
FLAGS = "-DCHECK_FIXPOINT"
TOGETHER = (
    "sweep,no-retire", "sweep,retire=scan", "warp-sweep,retire=scan", "sweep,recompute,static-split",
    "plain-bounds,sweep", "plain-bounds,warp-sweep,no-retire", "sweep,no-sync", "sweep,retire", "retire,recompute",
    "bitset,sweep", "bitset,recompute", "bitset,plain-bounds", "packed,sweep", "packed,recompute",
)  # fmt: skip


def combinations(arch: str) -> list[str]:
    """The variants to try on an engine."""
    alone = [one.name for one in variants.VARIANTS if not one.needs]
    return [names for names in (*alone, *TOGETHER) if can_be_had(names, arch)]


def can_be_had(names: str, arch: str) -> bool:
    found = [variants.BY_NAME[name] for name in names.split(",")]
    return not list(variants.faults(found, arch))


def left_out(names: str) -> list[str]:
    """Examples with real variables, where a tree is to be split ahead."""
    if variants.SPLIT not in names.split(","):
        return []
    real = [entry["model"] for entry in EXPECTED if has_floats(text_of(entry))]
    return ["-k", " and ".join(f"not {model}" for model in real)]


def run(names: str, arch: str, more: list[str]) -> bool:
    """Whether all tests pass."""
    start = time.monotonic()
    marks = "gpu and not slow" if arch == "gpu" else "not gpu and not slow"
    command = [sys.executable, "-m", "pytest", "-q", "-m", marks, "--variant", names, *TESTS, *left_out(names), *more]
    own = os.environ.get("TURBO_FZN_KERNEL_FLAGS", "")
    environment = {"HYPOTHESIS_PROFILE": "quick", **os.environ, "TURBO_FZN_KERNEL_FLAGS": f"{FLAGS} {own}"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    passed = done.returncode == 0
    print(f"{names:40}{'passed' if passed else 'FAILED'}  {time.monotonic() - start:.0f} s", flush=True)
    if not passed:
        print(done.stdout[-5000:], done.stderr[-2000:])
    return passed


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--arch", choices=variants.BY_ARCH["auto"], default="cpu")
    parser.add_argument("--only", metavar="NAMES", help="the variants that have one of these words in them")
    parser.add_argument("more", nargs="*", help="flags for pytest, behind --")
    arguments = parser.parse_args()
    words = (arguments.only or "").split(",")
    wanted = [names for names in combinations(arguments.arch) if any(word in names for word in words)]
    passed = [run(names, arguments.arch, arguments.more) for names in wanted]
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
