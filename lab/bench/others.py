"""Runs other FlatZinc solvers, and takes down when they improve: on the clock of the wall, or of the processors that
they use, which does not mind how busy the machine is.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from turbo_fzn.read.files import read_text

INTERVAL_SECONDS = 0.05  # between two looks at what a process has used
AMPLE = 1000.0  # how many times its processor time a solver may take by the clock of the wall


class WallClock:
    """Seconds since the process began, which ends by its own time limit."""

    def __init__(self, process: subprocess.Popen[str], seconds: float):
        self.start = time.monotonic()

    def now(self) -> float:
        return time.monotonic() - self.start


class ProcessorClock:
    """Seconds of processors that the process has used, all its threads together; it is ended after so many."""

    def __init__(self, process: subprocess.Popen[str], seconds: float):
        self.process, self.seconds, self.used = process, seconds, 0.0
        threading.Thread(target=self.watch, daemon=True).start()

    def now(self) -> float:
        """The processor seconds of the process so far; after its end, those of the last look."""
        try:
            fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return self.used
        self.used = max(self.used, (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"))
        return self.used

    def watch(self) -> None:
        while self.process.poll() is None and self.now() < self.seconds:
            time.sleep(INTERVAL_SECONDS)
        self.process.kill()


def run_side(
    path: Path,
    command: str,
    seconds: float,
    line: str | None = None,
    clock: type[WallClock | ProcessorClock] = WallClock,
) -> list[tuple[float, int]]:
    """The improvements of another FlatZinc solver, as (seconds, objective).

    `command` has {file}, and {ms} or {s}, in it. The objective is read from the lines that print the solve item's
    variable: the copy of the file that the solver gets has it as an output; or from those that begin as the pattern
    `line`, whose group it is.
    """
    text = read_text(str(path))
    goal = re.search(r"\bsolve\b[^;]*\b(?:minimize|maximize)\s+(\w+)\s*;", text)
    if goal is None:
        return []
    name = goal[1]
    shown = re.sub(rf"(var [^:;]*:\s*{name}\b)(?![^;]*output_var)", r"\1 :: output_var", text, count=1)
    limit = seconds if clock is WallClock else seconds * AMPLE
    with tempfile.NamedTemporaryFile("w", suffix=".fzn") as copy:
        copy.write(shown)
        copy.flush()
        words = [word.format(file=copy.name, ms=int(limit * 1000), s=limit) for word in command.split()]
        patterns = [rf"{name} = (-?\d+);", *([line] if line else [])]
        found = []
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
            measured = clock(process, seconds)
            for printed in process.stdout or ():
                for match in filter(None, (re.match(pattern, printed) for pattern in patterns)):
                    found.append((measured.now(), int(match[1])))
    return found
