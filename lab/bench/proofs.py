"""The cost of proofs: the log, the seconds of the run with the writing, its peak of memory, and the checker's seconds.

    python -m lab.bench.proofs MODEL.fzn ... --seconds 20

A line of a table for each model that is closed within the seconds, by one thread. Its seconds are of the processor.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from turbo_fzn.proof.checking import check_files

COLUMNS = ("model", "conflicts", "log MB", "run s", "peak MB", "proof MB", "steps", "checking s")
WRITTEN = re.compile(r"proof: ([\d.]+) s, (\w+), log of ([\d.]+) MB")
KILO, MEGA = 1e3, 1e6


def measure(model: Path, seconds: float, folder: Path) -> list[str]:
    """The cells of a model's line; only its name if it was not closed, or has no proof."""
    proof, text = folder / "a.pbp", folder / "text"
    command = [sys.executable, "-m", "turbo_fzn", "-f", "-s", "-v", "-t", str(int(seconds * KILO))]
    command += ["--arch", "cpu", "-p", "1"]
    with text.open("w") as out:
        process = subprocess.Popen([*command, "--proof", str(proof), str(model)], stdout=out, stderr=out)
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    said = text.read_text()
    written = WRITTEN.search(said)
    if written is None or written[2] == "NONE":
        return [model.stem]
    conflicts = re.findall(r"failures=(\d+)", said)[-1]
    start = time.process_time()
    steps = check_files(str(folder / "a.opb"), str(proof)).steps
    checking = time.process_time() - start
    peak, size = used.ru_maxrss / KILO, proof.stat().st_size / MEGA
    run = used.ru_utime + used.ru_stime
    cells = f"{float(written[3]):.0f}", f"{run:.1f}", f"{peak:.0f}", f"{size:.1f}", f"{steps:,}", f"{checking:.1f}"
    return [model.stem, f"{int(conflicts):,}", *cells]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--seconds", type=float, default=20)
    options = parser.parse_args()
    print(f"| {' | '.join(COLUMNS)} |\n|---|{'--:|' * (len(COLUMNS) - 1)}")
    for model in options.models:
        with tempfile.TemporaryDirectory() as folder:
            print(f"| {' | '.join(measure(model, options.seconds, Path(folder)))} |", flush=True)


if __name__ == "__main__":
    main()
