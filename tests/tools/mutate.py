"""Breaks the solver on purpose, one mechanism after the other, and sees whether a test fails. `--help` says how.

Each mutation of engine_mutations.py and model_mutations.py is made in a copy of the source tree, where its tests are
run until one fails. If none does, the mutation has survived: a promise of docs/design/correctness.md could be broken,
and no test would notice (mutation testing: DeMillo, Lipton, Sayward, IEEE Computer 1978). First the tests are run
without a mutation, and must pass. The exit code is 1 if anything survives, hangs or is out of date. build/mutations.md
has a table of what was tried, with the test that failed.

With `--drawn N` operators and comparisons of the same functions are changed at random instead (operators.py). Some
that survive change no answer, or only the time: read them, and write a test or a mutation for the others.

Kernels are compiled with little optimisation, into a cache of their own. On two idle cores it takes a quarter of an
hour.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for who runs it as a script
from support.builds import little_optimised
from support.places import ROOT
from tools.engine_mutations import ENGINE_MUTATIONS
from tools.model_mutations import MODEL_MUTATIONS
from tools.mutation import Mutation, mutated, place_of
from tools.operators import draw

MUTATIONS = [*ENGINE_MUTATIONS, *MODEL_MUTATIONS]
PAGE = ROOT / "build" / "mutations.md"
FOLDERS = ("turbo_fzn", "lab", "kernels", "share", "tests", "examples", "docs")
PARTS = (*FOLDERS, "setup.cfg", "pyproject.toml", "README.md", "LICENSE")
PATIENCE = 120  # seconds that a test waits for what a mutation may have taken away
FAULTS = [-number for number in (signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT)]
MOST_SECONDS = 1800  # of one mutation's tests, on a busy machine
HEAD = "| mechanism | what is broken | where | the test that fails |\n|---|---|---|---|\n"


class Outcome(NamedTuple):
    """`test` is the one that failed; without one `fault` says what went wrong."""

    mutation: Mutation
    test: str = ""
    fault: str = ""


class Workshop(NamedTuple):
    """Where it is done: a copy of the source tree, so that it may be worked on meanwhile, and a cache of kernels."""

    tree: Path
    cache: Path


def copy_tree(source: Path, target: Path) -> None:
    ignore = shutil.ignore_patterns("__pycache__", ".*", "*.egg-info")
    for part in PARTS:
        if (source / part).is_dir():
            shutil.copytree(source / part, target / part, ignore=ignore)
        else:
            shutil.copy(source / part, target)


def run_tests(folder: Path, cache: Path, tests: list[str]) -> tuple[int | None, str]:
    """The exit code of pytest (None: it took too long) and what it said."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "TURBO_FZN_CACHE": str(cache),
        **little_optimised(),
        "TURBO_FZN_PATIENCE": str(PATIENCE),
    }
    words = [path_of(word, folder) for word in tests]
    command = [sys.executable, "-m", "pytest", "-v", "-x", "-p", "no:cacheprovider", "-m", "not gpu", *words]
    with tempfile.TemporaryFile("w+") as said:
        try:
            done = subprocess.run(command, cwd=folder, env=environment, stdout=said, stderr=said, timeout=MOST_SECONDS)
            code = done.returncode
        except subprocess.TimeoutExpired:
            code = None
        said.seek(0)
        return code, said.read()


def path_of(word: str, folder: Path) -> str:
    """Mutations name a file of tests without its folder, since no other has its name."""
    return str(next((folder / "tests").rglob(word)).relative_to(folder)) if word.endswith(".py") else word


def failed_test(code: int | None, said: str) -> str:
    """The name of the test that failed, or in which the process was killed by its own fault; empty where all passed."""
    if failed := re.search(r"^(?:FAILED|ERROR) tests/\S*?(test_\w+\.py)::([^\s\[]+)", said, re.MULTILINE):
        return f"`{failed[1]}` {failed[2].removeprefix('test_').replace('_', ' ')}"
    begun = re.findall(r"^tests/\S*?(test_\w+\.py)::([^\s\[]+)", said, re.MULTILINE)
    if code in FAULTS and begun:
        return f"`{begun[-1][0]}` {begun[-1][1].removeprefix('test_').replace('_', ' ')}"
    return ""


def try_mutation(mutation: Mutation, workshop: Workshop) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="turbo-mutation-") as name:
        folder = Path(name)
        copy_tree(workshop.tree, folder)
        try:
            place = place_of(mutation, folder)
        except LookupError as error:
            return Outcome(mutation, fault=str(error))
        place.path.write_text(mutated(mutation, place), encoding="utf-8")
        code, said = run_tests(folder, workshop.cache, mutation.tests.split())
    if code == 0:
        return Outcome(mutation, fault="SURVIVED")
    test = failed_test(code, said)
    if not test:
        return Outcome(mutation, fault=f"no test could be run (exit code {code}):\n{said[-2000:]}")
    compiled = re.search(r"failed on the kernels: .*", said)
    return Outcome(mutation, fault=f"it cannot be compiled: {compiled[0]}") if compiled else Outcome(mutation, test)


def every_test(mutations: list[Mutation]) -> list[str]:
    """The arguments by which pytest runs all tests of the mutations: whole files, and parts of others."""
    wanted = {mutation.tests for mutation in mutations}
    files = {file for tests in wanted if " -k " not in tests for file in tests.split()}
    return sorted(files | {tests for tests in wanted if " -k " in tests and tests.split()[0] not in files})


def try_without(tests: str, workshop: Workshop) -> str:
    """The output of tests that fail without any mutation, or nothing."""
    code, said = run_tests(workshop.tree, workshop.cache, tests.split())
    return "" if code == 0 else f"{tests}:\n{said[-3000:]}"


def try_all(mutations: list[Mutation], processes: int) -> Iterator[Outcome]:
    with tempfile.TemporaryDirectory(prefix="turbo-mutations-") as name, ThreadPoolExecutor(processes) as pool:
        workshop = Workshop(Path(name) / "tree", Path(name) / "cache")
        workshop.tree.mkdir()
        copy_tree(ROOT, workshop.tree)
        if fault := "".join(pool.map(lambda tests: try_without(tests, workshop), every_test(mutations))):
            sys.exit(f"without a mutation a test fails: {fault}")
        yield from pool.map(lambda mutation: try_mutation(mutation, workshop), mutations)


def where(mutation: Mutation) -> str:
    return f"{mutation.file}: {mutation.function}".removesuffix(": ")


def table(outcomes: list[Outcome]) -> str:
    lines = [
        f"| {mutation.mechanism} | {mutation.fault} | `{where(mutation)}` | {test or fault.splitlines()[0]} |\n"
        for mutation, test, fault in outcomes
    ]
    return HEAD + "".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description="Breaks each mechanism of the solver, and expects a test to notice.")
    parser.add_argument("words", nargs="*", help="only those with one of these words in description or place")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="mutations that are tried at a time")
    parser.add_argument("--drawn", type=int, default=0, metavar="N", help="instead, change N operators at random")
    parser.add_argument("--seed", type=int, default=1, help="of what is drawn")
    arguments = parser.parse_args()
    words = arguments.words or [""]
    wanted = [mutation for mutation in MUTATIONS if any(word in " ".join(mutation[:4]) for word in words)]
    if arguments.drawn:
        wanted = draw(wanted, ROOT, arguments.seed, arguments.drawn)
    outcomes = []
    for outcome in try_all(wanted, arguments.processes):
        print(f"{outcome.mutation.mechanism}: {outcome.mutation.fault}: {outcome.test or outcome.fault}", flush=True)
        outcomes.append(outcome)
    faults = sum(not outcome.test for outcome in outcomes)
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(table(outcomes), encoding="utf-8")
    print(f"{len(outcomes)} mutations, {faults} not seen by any test: {PAGE}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
