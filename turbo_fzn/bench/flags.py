"""What different flags make of the same models.

    python -m turbo_fzn.bench.flags FILES --seconds 20 --with "-p 1" --with "-f"

Each run is a process of its own, `fzn-turbo --arch cpu FLAGS FILE`, which may take so many CPU seconds, all its threads
together: so the machine may have other work, and one thread is compared with several at equal cost. A cell of the table
has the CPU seconds until the end of the search, or else the best objective (`found` without one), or else `-`.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from turbo_fzn.bench.files import add_arguments, chosen_files, name_of
from turbo_fzn.bench.nodes import UNUSABLE, duration

POLL_SECONDS = 0.05
ENDED = re.compile(r"^(==========|=====UNSATISFIABLE=====)$", re.MULTILINE)
OBJECTIVE = re.compile(r"^%%%mzn-stat: objective=(-?\d+)$", re.MULTILINE)


def cell(path: Path, flags: str, seconds: float) -> str:
    """The outcome of one run."""
    command = [sys.executable, "-m", "turbo_fzn", "--arch", "cpu", "-s", *shlex.split(flags), str(path)]
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.DEVNULL)
        spent = wait(process.pid, seconds)
        output.seek(0)
        text = output.read()
    if ENDED.search(text):
        return f"{spent:.1f} s"
    objectives = OBJECTIVE.findall(text)
    return objectives[-1] if objectives else "found" if "----------" in text else "-"


def wait(process: int, seconds: float) -> float:
    """Waits for the end, and asks for it when so many CPU seconds are spent. Returns how many were."""
    asked = False
    while True:
        ended, _, usage = os.wait4(process, os.WNOHANG)
        if ended:
            return usage.ru_utime + usage.ru_stime
        if not asked and cpu_seconds(process) > seconds:
            os.kill(process, signal.SIGTERM)
            asked = True
        time.sleep(POLL_SECONDS)


def cpu_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m turbo_fzn.bench.flags", description=__doc__.splitlines()[0])
    add_arguments(parser, needed=True)
    parser.add_argument("--seconds", type=duration, default=20.0, help="CPU seconds of a run, all threads together")
    parser.add_argument("--with", dest="flags", action="append", required=True, help="the flags of a column")
    arguments = parser.parse_args()
    try:
        paths = chosen_files(arguments)
    except UNUSABLE as error:
        parser.error(str(error))
    print("|".join(["", " model ", *(f" `{flags or 'none'}` " for flags in arguments.flags), ""]))
    print("|".join(["", "---", *("---:" for _ in arguments.flags), ""]))
    for path in paths:
        cells = [cell(path, flags, arguments.seconds) for flags in arguments.flags]
        print("|".join(["", f" {name_of(path)} ", *(f" {text} " for text in cells), ""]), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
