"""Which lines and branches of the operators the tests run, by gcov of the CPU build:
`python tests/tools/kernel_coverage.py`.

The kernels are compiled anew, without optimisation or inlining and with counters, by a compiler that is a script; the
tests of the operators run; gcov reads the counters. Exit code 1 where a line or a branch of propagate.h was never taken
by either width.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

TESTS = Path(__file__).resolve().parent.parent
OPERATORS = "propagate.h"
RUN = ["test_propagators.py", "test_limits.py", "test_capacities.py", "test_overflow.py"]
ON_A_GPU = (
    "if (is_empty(x) || is_empty(y) || is_empty(z)) return refute(b, row);"  # one lane empties what another reads
)
LEFT_OUT = "not race and not undefined"  # they compile in their own way

COMPILER = r"""#!/bin/sh
for argument in "$@"; do case "$argument" in -DBOUND_BITS=*) bits="${argument#*=}" ;; esac; done
source="$(basename "$argument" .cpp)"
exec g++ "$@" -O0 -Dalways_inline=noinline -Wno-attributes -fno-exceptions --coverage -fprofile-update=atomic \
  -fprofile-note="$NOTES/$source$bits.gcno"
"""


def run_tests(folder: Path) -> None:
    """Runs the tests; the counters of each width end up in `folder`."""
    compiler = folder / "c++"
    compiler.write_text(COMPILER)
    compiler.chmod(0o755)
    environment = {
        **os.environ,
        "CXX": str(compiler),
        "NOTES": str(folder),
        "TURBO_FZN_CACHE": str(folder / "cache"),
        "GCOV_PREFIX": str(folder / "data"),
        "GCOV_PREFIX_STRIP": "99",
    }
    command = [sys.executable, "-m", "pytest", "-q", "-m", "not gpu", "-k", LEFT_OUT, "-p", "no:cacheprovider"]
    subprocess.run(
        [*command, *(str(next(TESTS.rglob(name))) for name in RUN)], env=environment, check=True, cwd=TESTS.parent
    )


def counters(folder: Path) -> dict[str, dict[int, tuple[int, list[int]]]]:
    """For each file and line: how often it ran, and how often each of its branches was taken; widths added up."""
    found: dict[str, dict[int, tuple[int, list[int]]]] = {}
    for data in (folder / "data").rglob("*.gcda"):
        bits, source = re.match(r"\D*(\d\d).*-(\w+)\.gcda", data.name).groups()  # type: ignore[union-attr]
        notes = folder / f"{source}{bits}.gcno"
        (folder / data.with_suffix(".gcno").name).write_bytes(notes.read_bytes())
        (folder / data.name).write_bytes(data.read_bytes())
        command = ["gcov", "--json-format", "--stdout", "--branch-probabilities", str(folder / data.name)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=TESTS.parent)
        for file in json.loads(done.stdout)["files"]:
            lines = found.setdefault(Path(file["file"]).name, {})
            for line in file["lines"]:
                count, branches = lines.get(line["line_number"], (0, []))
                taken = [branch["count"] for branch in line["branches"]]
                if len(branches) == len(taken):
                    both = [a + b for a, b in zip(branches, taken, strict=True)]
                else:  # a branch that only 64-bit stores have
                    both = max(branches, taken, key=len)
                lines[line["line_number"]] = (count + line["count"], both)
    return found


def main() -> int:
    with TemporaryDirectory() as name:
        folder = Path(name)
        run_tests(folder)
        found = counters(folder)
    for file, lines in sorted(found.items()):
        if file.endswith(".h"):
            ran = sum(count > 0 for count, _ in lines.values())
            branches = [count for _, taken in lines.values() for count in taken]
            both_ways = sum(count > 0 for count in branches)
            print(f"{file}: {ran} of {len(lines)} lines, {both_ways} of {len(branches)} branches")
    source = (TESTS.parent / "kernels" / "core" / OPERATORS).read_text().splitlines()
    left = [
        (number, count, taken)
        for number, (count, taken) in sorted(found[OPERATORS].items())
        if (not count or 0 in taken) and source[number - 1].strip() != ON_A_GPU
    ]
    for number, count, taken in left:
        print(
            f"{OPERATORS}:{number}: {'never run' if not count else f'branches {taken}'}: {source[number - 1].strip()}"
        )
    print(f"{OPERATORS}: {'every line and branch was run' if not left else f'{len(left)} lines are not fully run'}")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
