"""The examples of docs/guide/cpmpy.md and examples/cpmpy_*.py with PyPI's CPMpy: `make cpmpy`.

They run in a virtual environment that has CPMpy, OR-Tools, HiGHS and this solver in it, and HiGHS is loaded first, so
that they show whether all of these live in one process.

CPMpy asks for MiniZinc 2.8.2. Where an older one is here, CPMpy is told to take it: the examples need nothing that is
new, and what is tried is that it and the solver understand each other. Exit code 1 where an example does not print what
it must.
"""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for who runs it as a script
from support.doc_commands import commands
from support.places import ROOT

PAGE = ROOT / "docs" / "guide" / "cpmpy.md"
HOME = ROOT / "build" / "cpmpy"
PACKAGES = ("cpmpy==1.1.1", "minizinc", "--editable", str(ROOT))
BEFORE = """\
import highspy
from cpmpy.solvers import CPM_minizinc
from minizinc import default_driver
if default_driver.parsed_version < CPM_minizinc.required_version:
    print("MiniZinc", ".".join(map(str, default_driver.parsed_version)), "is older than CPMpy asks for, and taken")
    CPM_minizinc.required_version = default_driver.parsed_version
"""
# What the examples print, of each some parts.
EXPECTED = (
    ("True [ 0 ", " 11]", "ExitStatus.OPTIMAL"),
    ("4 solutions",),
    ("(x[0]) > (x[1])", "(x[1]) > (x[2])", "(x[2]) > (x[0])"),
    ("True [4 5 0] 8.25",),
    ("[(True, 28), (True, 28)]",),
    ("True ExitStatus.OPTIMAL 1", "shift[0,5] == 0", "shift[1,5] == 0"),  # of examples/; a core has no order
)


def main() -> int:
    python = HOME / "bin" / "python"
    if not python.exists():
        venv.create(HOME, with_pip=True)
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, *PACKAGES], check=True)
    solvers = HOME / "solvers"
    install = [python, "-m", "turbo_fzn", "--install-solver", solvers]
    subprocess.run(install, check=True, capture_output=True)
    examples = [command.text for command in commands(PAGE.read_text()) if command.language == "python"]
    examples += [path.read_text() for path in sorted((ROOT / "examples").glob("cpmpy_*.py"))]
    faults = 0
    for example, expected in zip(examples, EXPECTED, strict=True):
        variables = {**os.environ, "MZN_SOLVER_PATH": str(solvers), "PYTHONPATH": ""}
        call = [python, "-c", BEFORE + example]
        done = subprocess.run(call, env=variables, capture_output=True, text=True, timeout=600)
        print(done.stdout + done.stderr[-2000:], end="")
        faults += done.returncode != 0 or not all(text in done.stdout for text in expected)
    print(f"{len(examples) - faults} of {len(examples)} examples of CPMpy print what they must")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
