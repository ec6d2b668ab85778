"""Says which part of the package's lines and branches the tests have run; `make coverage` measures before.

Not counted: the folder bench, which measures and is no part of solving. gpu.py is run on a
CUDA driver in Python (fake_cuda.py).
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

DATA = Path(__file__).resolve().parent.parent.parent / "build" / "coverage"
LEAST_LINES, LEAST_BRANCHES = 95.0, 90.0


def main() -> int:
    coverage = [sys.executable, "-m", "coverage"]
    if list(DATA.glob("data.*")):
        subprocess.run([*coverage, "combine", "--quiet"], check=True)
    subprocess.run([*coverage, "json", "--quiet", "-o", str(DATA / "coverage.json")], check=True)
    files = json.loads((DATA / "coverage.json").read_text())["files"]
    totals = [0, 0, 0, 0]
    for name, file in sorted(files.items()):
        if Path(name).parent.name == "bench":
            continue
        summary = file["summary"]
        counts = [summary[key] for key in ("covered_lines", "num_statements", "covered_branches", "num_branches")]
        totals = [total + count for total, count in zip(totals, counts, strict=True)]
        print(f"{name:36} lines {percent(*counts[:2]):5.1f} %  branches {percent(*counts[2:]):5.1f} %")
    lines, branches = percent(*totals[:2]), percent(*totals[2:])
    print(f"{'all':36} lines {lines:5.1f} %  branches {branches:5.1f} %")
    return 0 if lines >= LEAST_LINES and branches >= LEAST_BRANCHES else 1


def percent(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 100.0


if __name__ == "__main__":
    sys.exit(main())
